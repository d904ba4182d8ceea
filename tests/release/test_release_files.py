"""The files of a release agree with one another and with the code."""

import itertools
import re
import sys
from pathlib import Path

import pytest

from mxnet._core.version import REMX_VERSION

yaml = pytest.importorskip("yaml")
if sys.version_info >= (3, 11):
    import tomllib
else:
    tomllib = pytest.importorskip("tomli")

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = [p for p in sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml")) if p.name != "config.yml"]


def loaded(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def test_the_version_is_semantic_and_the_same_everywhere():
    assert re.fullmatch(r"\d+\.\d+\.\d+(-[\w.]+)?", REMX_VERSION)
    assert loaded(ROOT / "CITATION.cff")["version"] == REMX_VERSION
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(
        rf"^## \[Unreleased\]\n\nTo become {re.escape(REMX_VERSION)}|^## \[{REMX_VERSION}\]", changes, re.M
    )


def combinations():
    """The combinations of the tests' matrix, with what `include` adds to those that it fits, as GitHub does it."""
    matrix = loaded(ROOT / ".github" / "workflows" / "tests.yml")["jobs"]["suite"]["strategy"]["matrix"]
    more, axes = matrix.pop("include"), list(matrix)
    made = [dict(zip(axes, values, strict=True)) for values in itertools.product(*matrix.values())]
    for entry in more:
        fitting = [one for one in made if all(one[axis] == entry[axis] for axis in axes if axis in entry)]
        assert fitting, f"{entry} would be a combination of its own"
        for one in fitting:
            one.update(entry)
    return made


def test_classifiers_name_the_pythons_that_are_tested():
    named = {c.rpartition(" ")[2] for c in PROJECT["classifiers"] if re.search(r"Python :: 3\.\d+$", c)}
    assert named == {one["python"] for one in combinations()}


def test_every_python_is_tested_everywhere_with_the_oldest_and_newest_versions():
    tested = {(one["os"], one["python"], one["versions"]) for one in combinations()}
    assert len(tested) == 3 * 5 * 2
    wanted = dict(re.findall(r"(?m)^(\w+)>=([\d.]+)$", "\n".join(PROJECT["dependencies"])))
    for name in ("torch", "numpy"):
        for one in combinations():
            assert (name in one) == (one["versions"] == "oldest")
        assert f"=={wanted[name]}.*" in {one.get(name) for one in combinations()}


def test_numba_is_asked_for_only_where_it_installs():
    (line,) = (line for line in PROJECT["dependencies"] if line.startswith("numba"))
    requirement = pytest.importorskip("packaging.requirements").Requirement(line)
    here = {"implementation_name": "cpython", "python_version": "3.13"}
    assert requirement.marker.evaluate({**here, "platform_machine": "x86_64"})
    assert requirement.marker.evaluate({**here, "platform_machine": "AMD64"})
    assert not requirement.marker.evaluate({**here, "platform_machine": "aarch64"})
    assert not requirement.marker.evaluate({**here, "platform_machine": "x86_64", "python_version": "3.15"})


def test_a_bare_install_has_what_the_extras_of_old_brought():
    names = {re.match(r"[\w-]+", line)[0] for line in PROJECT["dependencies"]}
    for extra in ("image", "progress", "speed"):
        assert {re.match(r"[\w-]+", line)[0] for line in PROJECT["optional-dependencies"][extra]} <= names


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda p: p.name)
def test_workflows_have_few_rights_and_call_targets_that_exist(path):
    workflow = loaded(path)
    assert workflow["permissions"] == {"contents": "read"}
    text = path.read_text(encoding="utf-8")
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
    assert set(re.findall(r"run: make ([\w-]+)", text)) <= targets
    for job in workflow["jobs"].values():
        for step in job.get("steps", ()):
            assert ("uses" in step) != ("run" in step)
            assert re.search(r"@(v\d+|release/v\d+)$", step.get("uses", "@v1"))


@pytest.mark.parametrize("path", FORMS, ids=lambda p: p.name)
def test_issue_forms_ask_for_what_a_report_needs(path):
    form = loaded(path)
    labels = " ".join(part["attributes"].get("label", "") for part in form["body"])
    assert form["name"] and form["description"]
    assert "remx info --json" in labels and "remx check" in labels
    ids = [part["id"] for part in form["body"] if "id" in part]
    assert len(ids) == len(set(ids))


def test_the_sdist_has_every_file_of_the_root():
    manifest = (ROOT / "MANIFEST.in").read_text(encoding="utf-8")
    automatic = {"LICENSE", "README.md", "pyproject.toml", "MANIFEST.in"}
    for path in ROOT.iterdir():
        if path.is_file() and not path.name.startswith("."):
            assert path.name in automatic or re.search(rf"\b{re.escape(path.name)}\b", manifest), path.name
