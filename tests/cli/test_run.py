"""`remx run` and `mxnet.compat`: old programs on new versions of Python, NumPy and others."""

import json
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import mxnet.compat
from mxnet._compat import imp_module, scipy_misc
from mxnet._compat.names import MODULES, OLD, instead_of
from mxnet.cli import main
from mxnet.cli.check import remarks_on


def run(*arguments, cwd, env=None):
    return subprocess.run(
        [sys.executable, "-m", "mxnet.cli", "run", *arguments], cwd=cwd, capture_output=True, text=True, env=env
    )


OLD_PROGRAM = """
import collections, inspect, sys
import numpy as np
from PIL import Image
import helper
print(sys.argv[1:], __name__, helper.WHO)
print(np.array([[1, 2], [3]]).dtype, np.float is float, np.product([2, 3]), np.asscalar(np.ones(1)))
print(np.float32(22.494442), [np.float32(1.5)], (np.int64(3), np.NaN), np.zeros(1, np.bool), np.ma.masked)
print(isinstance({}, collections.Mapping), inspect.getargspec(lambda a, b=1: 0).args, Image.ANTIALIAS == Image.LANCZOS)
sys.exit(3)
"""


def test_a_program_with_the_names_of_its_time(tmp_path):
    (tmp_path / "train.py").write_text(OLD_PROGRAM)
    (tmp_path / "helper.py").write_text("WHO = 'beside it'\n")
    done = run("train.py", "--epochs", "1", cwd=tmp_path)
    assert done.stdout.splitlines() == [
        "['--epochs', '1'] __main__ beside it",
        "object True 6 1.0",
        "22.494442 [1.5] (3, nan) [False] --",
        "True ['a', 'b'] True",
    ]
    assert done.returncode == 3
    (line,) = done.stderr.splitlines()
    assert line == (
        "remx run: names of older versions were used: arrays of lists of different lengths, numpy.float, "
        "numpy.product, numpy.asscalar, numpy.NaN, collections.Mapping, inspect.getargspec, PIL.Image.ANTIALIAS; "
        "`remx check` says where and what to write instead"
    )


def test_numbers_are_read_from_bytes_as_before(tmp_path):
    """MNIST's readers of old programs: a copy that can be written, while text with a separator is read as today."""
    program = "import numpy as np\na = np.fromstring(b'\\1\\2', dtype=np.int8)\na[0] = 5\n"
    program += "print(a, np.fromstring('1 2', sep=' '))"
    (tmp_path / "old.py").write_text(program)
    done = run("old.py", cwd=tmp_path)
    assert done.stdout == "[5 2] [1. 2.]\n"
    assert "names of older versions were used: numpy.fromstring;" in done.stderr
    (remark,) = remarks_on(program)
    assert (remark.line, remark.kind, remark.name) == (2, "old", "numpy.fromstring")
    assert "write numpy.frombuffer(…).copy()" in remark.reason


def test_a_module_and_a_program_that_needs_nothing(tmp_path):
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "__init__.py").write_text("")
    (tmp_path / "pack" / "__main__.py").write_text("from . import words\nimport sys\nprint(words.A, sys.argv[1:])\n")
    (tmp_path / "pack" / "words.py").write_text("A = 'a'\nif __name__ == '__main__':\n    print('alone')\n")
    for arguments, expected in ((["pack", "x"], "a ['x']\n"), (["pack.words"], "alone\n")):
        done = run("-m", *arguments, cwd=tmp_path)
        assert (done.returncode, done.stdout, done.stderr) == (0, expected, "")


def test_what_a_program_raises_is_shown_as_python_shows_it(tmp_path):
    (tmp_path / "fails.py").write_text("def f():\n    raise ValueError('mine')\nf()\n")
    done = run("fails.py", cwd=tmp_path)
    assert done.returncode == 1 and done.stderr.endswith("ValueError: mine\n")
    assert 'File "fails.py", line 3' in done.stderr and "cli" not in done.stderr


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("none.py", None, "there is no file none.py"),
        ("two.py", "import os\nprint 'a', 3\n", "two.py:2 is Python 2: `print 'a', 3` is `print('a', 3)` in Python 3; "
         "`2to3 -w two.py` rewrites the whole file"),
        ("e.py", "try:\n    pass\nexcept E, e:\n    pass\n", "`except E, e:` is `except E as e:`"),
        ("o.py", "mode = 0755\n", "`mode = 0755` is `mode = 0o755`"),
        ("l.py", "big = 10L\n", "`big = 10L` is `big = 10`"),
        ("r.py", "if a <> b:\n    raise E, 'no'\n", "`if a <> b:` is `if a != b:`"),
        ("b.py", "x = `y`\n", "`x = `y`` is `x = repr(y)`"),
        ("x.py", "if a: exec 'b'\n", "`if a: exec 'b'` is `if a: exec('b')`"),
        ("p.py", "print 3 <> 4\n", "`print 3 <> 4` is `print(3 != 4)`"),
        ("u.py", "def f(a, (b, c)):\n    pass\n", "one name for each tuple"),
        ("t.py", "if 1:\n\tx = 1\n        y = 2\n", "one kind of indentation"),
        ("not.py", "This is a letter, isn't it\n", "not.py:1 is not Python 3"),
        ("zero.py", "x = 1\0\n", "is no"),
    ],
)  # fmt: skip
def test_what_cannot_be_run_is_one_sentence(tmp_path, name, content, words):
    if content is not None:
        (tmp_path / name).write_text(content)
    done = run(name, cwd=tmp_path)
    assert done.returncode == 2 and done.stdout == ""
    assert words.removeprefix("is no") in done.stderr and len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("arguments", [["-m", "nosuch"], ["-m", "nosuch.deep"], ["-m"]])
def test_a_module_that_is_not_there(tmp_path, arguments):
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1


def test_importing_mxnet_changes_nothing():
    code = (
        "import numpy, collections, sys; before = numpy.array, numpy.get_printoptions(), list(sys.meta_path);"
        "import mxnet, mxnet.compat, mxnet.ndarray;"
        "assert before == (numpy.array, numpy.get_printoptions(), list(sys.meta_path));"
        "assert not hasattr(collections, 'Mapping') and not hasattr(numpy, 'product')"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.fixture
def old_names():
    mxnet.compat.enable()
    yield
    mxnet.compat.disable()


def test_names_go_away_again():
    mxnet.compat.enable()
    assert np.float is float and mxnet.compat.used() == ["numpy.float"]
    mxnet.compat.disable()
    assert not hasattr(np, "float") and mxnet.compat.used() == [] and repr(np.float32(1.5)) == "np.float32(1.5)"
    with pytest.raises(ValueError, match="inhomogeneous"):
        np.array([[1], [1, 2]])


@pytest.mark.parametrize(("module", "name"), [(m, n) for m, names in OLD.items() for n in names])
def test_every_name_of_the_table_can_be_asked_for(old_names, module, name):
    if module == "scipy.misc" and name in ("face", "ascent"):
        pytest.importorskip("pooch")
    owner = __import__(module, fromlist=["x"])
    assert getattr(owner, name) is not None
    assert instead_of(f"{module}.{name}")


def test_ragged_arrays_only_where_no_dtype_is_asked_for(old_names):
    assert np.asarray([[1], [1, 2]]).dtype == object
    with pytest.raises(ValueError, match="inhomogeneous"):
        np.array([[1], [1, 2]], dtype="float32")
    with pytest.raises(ValueError, match="inhomogeneous"):
        np.array([[1], [1, 2]], "float32")


def test_modules_that_are_gone(old_names, tmp_path, monkeypatch):
    """Stand-ins under their old names, for packages whose successor is here."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "joblib.py").write_text("def dump(): return 'dumped'\n")
    (tmp_path / "sklearn").mkdir()
    (tmp_path / "sklearn" / "__init__.py").write_text("")
    from sklearn.externals import joblib

    assert joblib.dump() == "dumped"
    assert "sklearn.externals" in mxnet.compat.used()
    with pytest.raises(ModuleNotFoundError):
        import sklearn.cross_validation  # noqa: F401 - there is no model_selection in this one
    monkeypatch.delitem(sys.modules, "sklearn.externals", raising=False)
    for name in ("sklearn", "joblib"):
        monkeypatch.delitem(sys.modules, name)


def test_imp(tmp_path, monkeypatch):
    (tmp_path / "one.py").write_text("N = 1\n")
    module = imp_module.load_source("one_for_imp", str(tmp_path / "one.py"))
    assert module.N == 1 and sys.modules["one_for_imp"] is module
    file, path, details = imp_module.find_module("one", [str(tmp_path)])
    with file:
        assert imp_module.load_module("one_again", file, path, details).N == 1
    assert imp_module.new_module("new").__name__ == "new"
    with pytest.raises(ImportError, match="nosuch"):
        imp_module.find_module("nosuch", [str(tmp_path)])
    for name in ("one_for_imp", "one_again"):
        monkeypatch.delitem(sys.modules, name)


def test_images_of_scipy_misc(tmp_path):
    image = np.arange(48, dtype=np.uint8).reshape(4, 4, 3) * 5
    assert scipy_misc.imresize(image, (2, 8)).shape == (2, 8, 3)
    assert scipy_misc.imresize(image, 50).shape == scipy_misc.imresize(image, 0.5).shape == (2, 2, 3)
    scipy_misc.imsave(tmp_path / "a.png", image)
    np.testing.assert_array_equal(scipy_misc.imread(tmp_path / "a.png"), image)
    assert scipy_misc.imread(tmp_path / "a.png", flatten=True).dtype == np.float32
    np.testing.assert_array_equal(scipy_misc.bytescale(np.array([0.0, 0.5, 1.0])), [0, 128, 255])
    assert scipy_misc.imrotate(image, 90).shape == image.shape
    with pytest.raises(ValueError, match="nearest"):
        scipy_misc.imresize(image, (2, 2), interp="sinc")


def test_a_notebook(capsys):
    registered = {}
    shell = SimpleNamespace(events=SimpleNamespace(register=registered.__setitem__))
    mxnet.compat.load_ipython_extension(shell)
    try:
        registered["post_run_cell"](None)
        assert np.product([2, 3]) == 6
        registered["post_run_cell"](None)
        registered["post_run_cell"](None)  # says it once
        assert capsys.readouterr().out.splitlines() == [
            "mxnet.compat: names of older versions were used: numpy.product; `remx check` says where and what to write "
            "instead"
        ]
    finally:
        mxnet.compat.unload_ipython_extension(shell)
    assert not hasattr(np, "product")


# ---------------------------------------------------------------------- remx check
def test_check_reports_old_names_with_what_to_write():
    text = (
        "import numpy as np, collections\nfrom inspect import getargspec\nfrom scipy.misc import imresize\n"
        "from sklearn.externals import joblib\nfrom PIL import Image\nimport imp\n"
        "x = np.float(3) + np.prod([1])\ny = collections.OrderedDict(), collections.Mapping\nImage.ANTIALIAS\n"
        "def f(np):\n    return np.float\n"
    )
    found = [(r.line, r.kind, r.name) for r in remarks_on(text)]
    assert found == [
        (2, "old", "inspect.getargspec"),
        (3, "old", "scipy.misc"),
        (3, "old", "scipy.misc.imresize"),
        (4, "old", "sklearn.externals"),
        (4, "old", "sklearn.externals.joblib"),
        (6, "old", "imp"),
        (7, "old", "numpy.float"),
        (8, "old", "collections.Mapping"),
        (9, "old", "PIL.Image.ANTIALIAS"),
    ]
    assert "write float;" in remarks_on(text)[6].reason


def test_check_ends_with_a_code(tmp_path, capsys):
    (tmp_path / "a.py").write_text("import numpy as np\nnp.product\n")
    assert main(["check", str(tmp_path / "a.py")]) == 1
    assert capsys.readouterr().out.endswith("1 file: 0 missing, 0 different, 0 not Python 3, 1 of older versions\n")
    (tmp_path / "b.ipynb").write_text(json.dumps({"cells": [{"cell_type": "code", "source": "print 'two'"}]}))
    assert main(["check", str(tmp_path / "b.ipynb")]) == 2
    assert "Python 2; write print('two')" in capsys.readouterr().out


def test_every_module_has_a_successor_or_says_so():
    assert all(successor and instead for successor, instead in MODULES.values())
