"""mypy and pyright accept programs as users write them: a long typical one, and every example."""

import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import mxnet

ROOT = Path(__file__).parents[2]
SOURCES = Path(mxnet.__file__).parents[1]


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """A folder outside the project, as a user's is, with the programs in it."""
    folder = tmp_path_factory.mktemp("programs")
    for path in (Path(__file__).with_name("typical.py"), *(ROOT / "examples").glob("*.py")):
        shutil.copy(path, folder)
    return folder


def checked(folder, *command):
    """What a checker says, run with this Python on the package under test."""
    result = subprocess.run([sys.executable, "-m", *command], cwd=folder, capture_output=True, text=True)
    return result.returncode, result.stdout + result.stderr


def test_pyright(programs):
    if importlib.util.find_spec("pyright") is None:
        pytest.skip("pyright comes with make lint")
    settings = {"include": ["."], "typeCheckingMode": "basic", "extraPaths": [".", str(SOURCES)]}
    (programs / "pyrightconfig.json").write_text(json.dumps(settings))
    code, said = checked(programs, "pyright", "--pythonpath", sys.executable, "-p", ".")
    assert code == 0, said


def test_mypy(programs):
    if importlib.util.find_spec("mypy") is None:
        pytest.skip("mypy comes with make lint")
    (programs / "mypy.ini").write_text(f"[mypy]\nmypy_path = {SOURCES}\n")
    code, said = checked(programs, "mypy", "--cache-dir", ".cache", ".")
    assert code == 0, said


def test_a_mistake_is_seen(programs):
    if importlib.util.find_spec("pyright") is None:
        pytest.skip("pyright comes with make lint")
    wrong = programs / "wrong.py"
    wrong.write_text("import mxnet as mx\nmx.gluon.nn.Densee(3)\n")
    code, said = checked(programs, "pyright", "--pythonpath", sys.executable, "wrong.py")
    wrong.unlink()
    assert code == 1 and "Densee" in said
