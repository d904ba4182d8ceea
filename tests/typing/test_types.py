"""mypy and pyright accept programs as users write them: a long typical one, and every example."""

import importlib.util
import json
import os
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


WRONG = """import mxnet as mx
from mxnet.gluon import nn
x = mx.nd.ones((2, 3))
mx.gluon.nn.Densee(3)
nn.Conv2D(3, 3, activaton="relu")
nn.Dense(3, use_bais=True)
mx.sym.Convolution(mx.sym.var("x"), num_filtr=3)
mx.nd.Convolution(x, num_filtr=3)
mx.optimizer.SGD(learning_rat=0.1)
mx.nd.softmaxx(x)
x.summ()
"""
MISTAKES = "Densee activaton use_bais num_filtr num_filtr learning_rat softmaxx summ".split()
TYPES = {
    "x + 1": "NDArray",
    "2 ** x": "NDArray",
    "x[0]": "NDArray",
    "x.sum(axis=1)": "NDArray",
    "x.shape": "tuple[int, ...]",
    "x.asnumpy()": "ndarray[Any, Any]",
    "mx.nd.concat(x, x, dim=0)": "NDArray",
    "mx.sym.var('x') + 1": "Symbol",
    "mx.sym.relu(mx.sym.var('x'))": "Symbol",
    "mx.np.ones((2,)) + 1": "ndarray",
    "mx.np.ones((2,)).sum()": "ndarray",
    "mx.np.sum(mx.np.ones((2,)))": "ndarray",
    "mx.npx.relu(mx.np.ones((2,)))": "ndarray",
    "nn.Dense(3).weight.data()": "NDArray",
    "nn.Dense(3)(x)": "NDArray",
    "mx.gluon.loss.L2Loss()(x, x)": "NDArray",
    "nn.HybridSequential().collect_params()": "ParameterDict",
}


def test_pyright_sees_mistakes(programs):
    if importlib.util.find_spec("pyright") is None:
        pytest.skip("pyright comes with make lint")
    code, said = checked_alone(programs, WRONG, "pyright", "--pythonpath", sys.executable)
    assert code == 1 and [m for m in MISTAKES if f'"{m}"' not in said] == [] and said.count(" error: ") == len(MISTAKES)


def test_mypy_sees_mistakes(programs):
    if importlib.util.find_spec("mypy") is None:
        pytest.skip("mypy comes with make lint")
    (programs / "mypy.ini").write_text(f"[mypy]\nmypy_path = {SOURCES}\n")
    code, said = checked_alone(programs, WRONG, "mypy", "--cache-dir", ".cache")
    assert code == 1 and [m for m in MISTAKES if f'"{m}"' not in said] == [] and said.count(" error: ") == len(MISTAKES)


def test_the_types_of_expressions(programs):
    if importlib.util.find_spec("pyright") is None:
        pytest.skip("pyright comes with make lint")
    lines = "".join(f"reveal_type({expression})\n" for expression in TYPES)
    _, said = checked_alone(
        programs, "".join(WRONG.splitlines(True)[:3]) + lines, "pyright", "--pythonpath", sys.executable
    )
    assert [line.rpartition(" is ")[2].strip('"') for line in said.splitlines() if "Type of" in line] == [
        *TYPES.values()
    ]


def checked_alone(folder, program, *command):
    """What a checker says of one program."""
    path = folder / "alone.py"
    path.write_text(program)
    settings = {"include": ["alone.py"], "typeCheckingMode": "basic", "extraPaths": [str(SOURCES)]}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    code, said = checked(folder, *command, *(["-p", "."] if command[0] == "pyright" else ["alone.py"]))
    path.unlink()
    return code, said


def test_public_names_have_types():
    if importlib.util.find_spec("pyright") is None:
        pytest.skip("pyright comes with make lint")
    command = ["pyright", "--verifytypes", "mxnet", "--ignoreexternal", "--outputjson"]
    environment = {**os.environ, "PYTHONPATH": str(SOURCES)}
    done = subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True, env=environment)
    said = json.loads(done.stdout)["typeCompleteness"]
    assert Path(said["packageRootDirectory"]) == SOURCES / "mxnet" and said["completenessScore"] >= 0.98
