"""The tool that runs other people's programs twice finds them, and tells agreement from difference."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).parents[2] / "tools"


@pytest.fixture
def tool(monkeypatch):
    monkeypatch.syspath_prepend(TOOLS)
    import programs

    return programs


@pytest.fixture
def probe(tool):
    import programs_probe

    return programs_probe


def ran(output, code=0, files=()):
    return {"code": code, "output": output, "files": list(files)}


@pytest.mark.parametrize(
    ("theirs", "ours", "verdict"),
    [
        (ran("loss 0.12345\n"), ran("loss 0.12346\n"), "agrees"),
        (ran("loss 0.12\n"), ran("loss 0.13\n"), "differs"),
        (ran("loss 0.12\nSpeed: 3 samples/sec\n"), ran("loss 0.12\nSpeed: 5 samples/sec\n"), "agrees"),
        (ran("1 2"), ran("1 2 3"), "differs"),
        (ran("nan"), ran("nan"), "agrees"),
        (ran("nan"), ran("1"), "differs"),
        (ran("loss 0.5123"), ran("loss 0.5124"), "agrees"),
        (ran("1", files=["a"]), ran("1"), "differs"),
        (ran("1"), ran("1\nValueError: no", 1), "differs"),
        (ran("ValueError: x", 1), ran("ValueError: y", 1), "stops alike"),
        (ran("ValueError: x", 1), ran("KeyError: y", 1), "stops otherwise"),
        (ran("MXNetError: x", 1), ran("mxnet.base.MXNetError: y", 1), "stops alike"),
        (ran("ImportError: x", 1), ran("1"), "runs only here"),
        (ran("", "timeout"), ran("1"), "too long"),
        (ran("1"), ran("", "timeout"), "too slow"),
        (ran("done"), ran("done"), "prints nothing"),
    ],
)
def test_verdicts(tool, theirs, ours, verdict):
    assert tool.compared(theirs, ours)[0] == verdict


SYMBOL = """
import mxnet as mx
def get_symbol(num_classes, num_layers=3):
    data = mx.sym.Variable("data")
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(data, num_hidden=num_classes), name="softmax")
"""
BLOCK = """
from mxnet import gluon
class Net(gluon.HybridBlock):
    def __init__(self, classes):
        super().__init__()
        self.dense = gluon.nn.Dense(classes)
    def hybrid_forward(self, F, x):
        return F.relu(self.dense(x))
"""
CELL = (
    "%matplotlib inline\nimport mxnet as mx\nprint(mx.nd.ones(2).sum().asscalar(), len(mx.gluon.data.vision.MNIST()))"
)
SCRIPT = """
import argparse
import mxnet as mx
parser = argparse.ArgumentParser()
parser.add_argument("--num-epochs", type=int, default=10**9)
parser.add_argument("--gpus", default="0")
parser.add_argument("--network", required=False)
for epoch in range(parser.parse_args().num_epochs):
    print(epoch, mx.nd.ones(2, ctx=mx.gpu()).sum().asscalar())
"""
CHAPTER = """
```{.python .input}
import mxnet as mx
```
```{.python .input}
#@tab pytorch
raise SystemExit("a block for another library")
```
```{.python .input}
#@tab all
print(mx.nd.ones(3).sum().asscalar())
```
"""


def test_a_program_gets_small_values_for_its_own_options(tool):
    assert tool.arguments_of(SCRIPT) == ["--num-epochs", "1", "--gpus="]
    text = "p.add_argument('--gpu', type=int, default=0)\np.add_argument('--cpu', action='store_true')"
    assert tool.arguments_of(text) == ["--gpu=-1", "--cpu"]
    assert tool.arguments_of("p.add_argument('--ctx', choices=['gpu', 'none'])") == []


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processor times are read from /proc")
def test_a_program_that_waits_for_nothing_is_ended(probe, monkeypatch):
    monkeypatch.setattr(probe, "IDLE_SECONDS", 0.3)
    pid = os.fork()
    if pid == 0:
        os.execvp(sys.executable, [sys.executable, "-c", "import threading; threading.Event().wait()"])
    assert probe._waited(pid, 600)[0] == "timeout"


def test_programs_are_found_run_and_compared(tmp_path):
    checkout = tmp_path / "somebody+programs"
    checkout.mkdir()
    (checkout / "symbol.py").write_text(SYMBOL)
    (checkout / "block.py").write_text(BLOCK)
    (checkout / "other.py").write_text("import numpy\n")
    (checkout / "book.ipynb").write_text(json.dumps({"cells": [{"cell_type": "code", "source": CELL}]}))
    (checkout / "train.py").write_text(SCRIPT)
    (checkout / "chapter.md").write_text(CHAPTER)
    (checkout / "notes.md").write_text("Programs for mxnet.")
    command = [sys.executable, str(TOOLS / "programs.py"), "--mxnet", sys.executable, "--remx", sys.executable]
    source = str(TOOLS.parent / "src")
    command += ["--mxnet-path", source, "--remx-path", source, "--report", str(tmp_path / "r.json"), str(checkout)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout.endswith("5 programs of 1 checkouts: {'agrees': 5}\n"), done.stdout + done.stderr
    found = {r["program"].split("/")[1]: r["remx"]["output"] for r in json.loads((tmp_path / "r.json").read_text())}
    assert sorted(found) == ["block.py", "book.ipynb", "chapter.md", "symbol.py", "train.py"]
    assert "get_symbol gradients" in found["symbol.py"] and "Net hybrid 0" in found["block.py"]
    assert found["book.ipynb"].startswith("2.0 256") and found["chapter.md"] == "3.0\n"
