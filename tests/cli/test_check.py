"""`remx check`: what it finds in programs, and that it is silent about what is fine."""

import json
import re
from pathlib import Path

import pytest

import mxnet
from mxnet.cli import main
from mxnet.cli._differences import DIFFERENT, VARIABLES
from mxnet.cli._names import follow
from mxnet.cli.check import remarks_on


def said(text):
    return [(r.line, r.kind, r.name) for r in remarks_on(text)]


def test_a_usual_program_is_fine():
    text = """
import mxnet as mx
import mxnet.ndarray as nd
from mxnet import gluon, autograd as ag
from mxnet.gluon import nn as layers
class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x, weight=None):
        return F.relu(F.FullyConnected(x, weight, no_bias=True, num_hidden=3, name="fc"))
net = layers.Dense(3, activation="relu")
net.initialize(mx.init.Xavier(rnd_type="gaussian"), ctx=mx.cpu())
with ag.record():
    y = net(nd.random.uniform(0, 1, shape=(2, 3)))
sym = mx.sym.Variable("data", shape=(1, 2))
"""
    assert said(text) == []


def test_names_that_are_not_there():
    text = "import mxnet as mx\nfrom mxnet import gluon\nx = mx.nd.no_such_thing(3)\nnet = gluon.nn.Densee(2)\n"
    assert said(text) == [(3, "missing", "mxnet.ndarray.no_such_thing"), (4, "missing", "mxnet.gluon.nn.Densee")]
    assert "did you mean mxnet.gluon.nn.Dense?" in remarks_on(text)[1].reason


@pytest.mark.parametrize(
    ("statement", "name"),
    [
        ("from mxnet import nothing", "mxnet.nothing"),
        ("import mxnet.nothing.deep", "mxnet.nothing"),
        ("from mxnet.gluon.nn import Nothing", "mxnet.gluon.nn.Nothing"),
        ("from mxnet.gluon import *\nnn.Nothing()", "mxnet.gluon.nn.Nothing"),
        ("import mxnet\nlayers = mxnet.gluon.nn\nlayers.Nothing()", "mxnet.gluon.nn.Nothing"),
        ("import mxnet as mx\nclass A(mx.gluon.nn.Nothing): pass", "mxnet.gluon.nn.Nothing"),
        ("import mxnet as mx\n@mx.nothing\ndef f(): pass", "mxnet.nothing"),
    ],
)
def test_every_way_to_name_something(statement, name):
    assert [r[1:] for r in said(statement)][-1] == ("missing", name)


def test_unknown_arguments():
    assert said("import mxnet as mx\nmx.gluon.nn.Dense(3, in_unit=2)") == []  # **kwargs go to the base class
    assert said("import mxnet as mx\nmx.nd.array([1], kind=2)") == [(2, "missing", "mxnet.ndarray.array(kind=)")]


def test_arguments_of_operators():
    assert said("import mxnet as mx\nmx.nd.sum(x, axs=1)") == [(2, "missing", "mxnet.ndarray.sum(axs=)")]
    assert said("import mxnet as mx\nmx.nd.zeros_like(x, dtype='int64')") == []  # MXNet takes anything here too
    assert said("import mxnet as mx\nmx.nd.Custom(x, op_type='mine', depth=3)") == []


def test_the_face_of_a_hybrid_block_is_arrays_or_symbols():
    text = (
        "class Net(Block):\n    def hybrid_forward(self, F, x):\n        return F.array(x), F.Variable, F.nothing(x)\n"
    )
    assert said(text) == [(3, "missing", "mxnet.symbol.nothing")]


def test_what_is_different_has_a_reason():
    found = remarks_on("from mxnet import engine\nwith engine.bulk(30):\n    pass\n")
    assert [(r.line, r.kind, r.name) for r in found] == [(2, "differs", "mxnet.engine.bulk")]
    assert "without effect" in found[0].reason
    (found,) = remarks_on("import os\nos.environ['MXNET_CPU_WORKER_NTHREADS'] = '4'")
    assert (found.line, found.name) == (2, "MXNET_CPU_WORKER_NTHREADS")
    assert remarks_on("import os\ntitle = 'MXNET_C_API'\nseed = os.getenv('MXNET_MODULE_SEED')") == []
    (found,) = remarks_on("from mxnet.base import _LIB")
    assert "C library" in found.reason


def test_neighbours_have_a_successor():
    (found,) = remarks_on("from mxboard import SummaryWriter\nwriter = SummaryWriter('logs')\n")
    assert (found.line, found.kind, found.name) == (1, "differs", "mxboard")
    assert (
        "mxnet.contrib.tensorboard.SummaryWriter" in found.reason
        and not follow("mxnet.contrib.tensorboard.SummaryWriter").missing
    )


def test_other_meanings_of_a_name():
    assert said("import mxnet as mx\ndef f(mx):\n    return mx.whatever\n") == []
    assert said("from mxnet import nd\nnd = object()\nnd.whatever\n") == []
    assert said("from mxnet.image import image\ndef f(x):\n    y = [image.w for image in x]\n    image = y\n") == []
    assert said("from mxnet.image import image\ndef f(x):\n    global image\n    image = x\nimage.nothing\n") != []
    fallback = "try:\n    import mxnet as mx\nexcept ImportError:\n    mx = None\nmx.whatever\n"
    assert said(fallback) == [(5, "missing", "mxnet.whatever")]


def test_files_folders_and_notebooks(tmp_path, capsys):
    (tmp_path / "fine.py").write_text("import mxnet as mx\nmx.cpu()\n")
    assert main(["check", str(tmp_path)]) == 0
    assert capsys.readouterr().out == "1 file: 0 missing, 0 different, 0 not Python 3\n"
    cells = [
        {"cell_type": "markdown", "source": ["text"]},
        {"cell_type": "code", "source": ["%matplotlib inline\n", "import mxnet as mx"]},
        {"cell_type": "code", "source": ["x = 1\n", "mx.nd.nothing(x, '%d' \\\n", "  % 3)"]},
        {"cell_type": "code", "source": ["%%bash\n", "for f in *; do ls; done"]},
    ]
    (tmp_path / "book.ipynb").write_text(json.dumps({"cells": cells}))
    (tmp_path / "old.py").write_text("print 'two'\n")
    assert main(["check", str(tmp_path)]) == 2
    out = capsys.readouterr().out
    assert "book.ipynb[2]:2" in out and "old.py:1" in out
    assert out.endswith("3 files: 1 missing, 0 different, 1 not Python 3\n")


def test_the_table_of_variables_is_the_truth():
    package = Path(mxnet.__file__).parent
    read = set()
    for path in package.rglob("*.py"):
        if "cli" not in path.parts:
            read.update(re.findall(r"[\"'](MXNET_[A-Z_]+)[\"']", path.read_text(encoding="utf-8")))
    assert read == VARIABLES


@pytest.mark.parametrize("page", ["command_line.md", "zh/command_line.md"])
def test_every_variable_is_explained(page):
    text = (Path(__file__).parents[2] / "docs" / page).read_text(encoding="utf-8")
    assert re.findall(r"^\| `(MXNET_[A-Z_]+)` \|", text, re.M) == sorted(VARIABLES)


def test_the_page_of_differences_has_every_reason():
    page = (Path(__file__).parents[2] / "docs" / "differences.md").read_text(encoding="utf-8")
    assert [reason for _, reason in DIFFERENT if reason not in page] == []


def test_names_in_the_table_of_differences_exist():
    plain = [p for pattern, _ in DIFFERENT for p in pattern.split("|mxnet") if "(" not in p]
    names = ["mxnet" + p.removeprefix("mxnet").replace("\\.", ".") for p in plain]
    assert names and [name for name in names if follow(name).missing] == []


@pytest.mark.parametrize("name, data", [
    ("a.py", "x = " + "-" * 100_000 + "1"), ("b.py", "(" * 100_000), ("c.py", "x" + ".y" * 50_000),
    ("a.ipynb", "[" * 100_000), ("b.ipynb", '{"cells": 5}'), ("c.ipynb", '{"cells": [5]}'),
    ("d.ipynb", '{"cells": [{"cell_type": "code", "source": 5}]}'), ("e.ipynb", '{"cells": [], "worksheets": [3]}'),
], ids=lambda text: text[:40])  # fmt: skip
def test_hostile_programs_are_told_without_a_traceback(tmp_path, capsys, name, data):
    (tmp_path / name).write_text(data)
    assert main(["check", str(tmp_path / name)]) == 2
    assert "unread" in capsys.readouterr().out


@pytest.mark.parametrize("coding", ["rot13", "zlib", "hex"])
def test_a_coding_that_is_none_of_texts(tmp_path, capsys, coding):
    (tmp_path / "a.py").write_text(f"# coding: {coding}\nimport mxnet\n")
    assert main(["check", str(tmp_path / "a.py")]) == 2
    assert "no program: " in capsys.readouterr().out
