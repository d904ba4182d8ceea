"""What the README says, in both languages: its figures are measured ones, its commands and files exist."""

import re
from pathlib import Path

import pytest

from mxnet import cli

ROOT = Path(__file__).parents[2]
READMES = {name: (ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "README.zh.md")}
RESULTS = (ROOT / "benchmarks" / "results.md").read_text(encoding="utf-8").splitlines()


def cells(line):
    return [cell.strip() for cell in line.strip("|").split("|")]


def speeds(text):
    """The three times of each row of the table of speed, as they are written."""
    rows = [cells(line) for line in text.splitlines() if re.match(r"\|.*\| \*\*[\d.]+\*\* \|", line)]
    return [tuple(cell.strip("*") for cell in row[1:]) for row in rows]


def measured():
    """(ReMX, torch, MXNet) of all rows of one thread in the results."""
    names = next(cells(line) for line in RESULTS if line.startswith("| work "))
    rows = (dict(zip(names, cells(line), strict=False)) for line in RESULTS if re.match(r"\| .*\| 1 \|", line))
    return {tuple(row[name].partition(" ms")[0] for name in ("ReMX", "torch", "MXNet")) for row in rows}


@pytest.mark.parametrize("name", READMES)
def test_figures_of_speed_are_those_of_the_results(name):
    found = speeds(READMES[name])
    assert len(found) >= 5 and set(found) <= measured()


def test_both_languages_show_the_same_figures_and_programs():
    english, chinese = READMES.values()
    assert speeds(english) == speeds(chinese)
    commands = (re.findall(r"^(?:pip|remx) [^#\n]*\b", text, re.M) for text in (english, chinese))
    assert next(commands) == next(commands)


@pytest.mark.parametrize("name", READMES)
def test_commands_and_files_exist(name):
    known = {*cli._COMMANDS, *cli._TOOLS}
    (listed,) = re.findall(r"`remx ((?:\w+ \| )+\w+)`", READMES[name])
    assert set(listed.split(" | ")) == known
    assert set(re.findall(r"(?:^|`)remx (\w+)", READMES[name], re.M)) <= known
    for target in re.findall(r"\]\((?!http)([^)#]+)", READMES[name]):
        assert (ROOT / target).exists(), target


@pytest.mark.parametrize("name", READMES)
def test_what_comes_first(name):
    """What it is, two commands, a picture and the table of speed, before the first heading of a section."""
    top = READMES[name].partition("\n## ")[0]
    assert len(re.findall(r"^(?:pip install remx|remx demo)", top, re.M)) == 2
    assert "docs/images/demo.png" in top and speeds(top) and "numba" in top
