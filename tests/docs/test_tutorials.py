"""Tutorials run from top to bottom in their quick form, and their outputs are shown below the blocks."""

import importlib
import json
import logging
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
sys.path.insert(0, str(DOCS))

import run_tutorials  # noqa: E402 - it lives in docs/
import tutorial_blocks  # noqa: E402

pytest.importorskip("matplotlib")
NEEDS = {"interchange": ("onnx", "onnxruntime", "safetensors"), "saving_serving": ("uvicorn", "starlette")}


@pytest.fixture
def outputs(tmp_path, monkeypatch):
    """An empty folder to run in, and one for the outputs."""
    handlers, level = list(logging.getLogger().handlers), logging.getLogger().level
    folder = tmp_path / "outputs"
    folder.mkdir()
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setattr(run_tutorials, "OUTPUTS", folder)
    yield folder
    logging.getLogger().handlers[:] = handlers
    logging.getLogger().setLevel(level)


@pytest.mark.parametrize("name", tutorial_blocks.names())
@pytest.mark.filterwarnings("ignore")
def test_a_tutorial_runs(name, outputs):
    for module in NEEDS.get(name, ()):
        pytest.importorskip(module)
    run_tutorials.run(name, is_quick=True)
    report = json.loads((outputs / f"{name}.json").read_text(encoding="utf-8"))
    shown = [each for block in report["outputs"] for each in block]
    assert any(each["kind"] == "text" for each in shown)
    files = [each["file"] for each in shown if each["kind"] == "png"]
    assert files and all((outputs / file).read_bytes()[:4] == b"\x89PNG" for file in files)


def test_the_gallery_shows_pictures_that_the_tutorials_draw():
    """Each card names a block that ends in a picture: an image, or a plot that is left open."""
    hooks = (DOCS / "tutorials" / "index.md").read_text(encoding="utf-8")
    for name in tutorial_blocks.names():
        number = int(hooks.split(f"({name}.md) <!-- picture ")[1].split(" ")[0])
        code = tutorial_blocks.blocks((DOCS / "tutorials" / f"{name}.md").read_text(encoding="utf-8"))[number - 1]
        assert "show_images" in code or "plt." in code or "plot_curves" in code, (name, number)


def test_quick_marks_change_the_numbers_and_are_not_shown():
    code = "epochs = 20  # quick: 1\nwidth, height = 480, 320  # quick: 60, 40\nrate = 0.1  # of the first layer\n"
    assert tutorial_blocks.quick(code) == "epochs = 1\nwidth, height = 60, 40\nrate = 0.1  # of the first layer\n"
    assert tutorial_blocks.shown(code) == "epochs = 20\nwidth, height = 480, 320\nrate = 0.1  # of the first layer\n"


def test_outputs_are_texts_values_and_pictures(outputs, tmp_path, monkeypatch):
    folder = tmp_path / "tutorials"
    folder.mkdir()
    (folder / "small.md").write_text(
        "# Small\n\n```python\nimport matplotlib.pyplot as plt\nprint('hello')\nplt.plot([1, 2]);\n```\n\n"
        "```python\nimport mxnet as mx\nmx.nd.ones((2,))\n```\n\n```python\nmx.sym.var('x') + 1\n```\n",
        encoding="utf-8",
    )
    monkeypatch.setattr(run_tutorials, "FOLDER", folder)
    run_tutorials.run("small")
    first, second, third = json.loads((outputs / "small.json").read_text(encoding="utf-8"))["outputs"]
    assert first == [{"kind": "text", "text": "hello\n"}, {"kind": "png", "file": "small-1-0.png"}]
    assert second == [{"kind": "text", "text": "[1. 1.]\n<NDArray 2 @cpu(0)>\n"}]
    assert third[0]["kind"] == "html" and "<svg" in third[0]["text"]


def test_a_block_that_fails_is_named(outputs, tmp_path, monkeypatch, capsys):
    folder = tmp_path / "tutorials"
    folder.mkdir()
    (folder / "bad.md").write_text("```python\nx = 1\n```\n\n```python\n1 / 0\n```\n", encoding="utf-8")
    monkeypatch.setattr(run_tutorials, "FOLDER", folder)
    with pytest.raises(ZeroDivisionError):
        run_tutorials.run("bad")
    assert "bad.md, block 2, failed" in capsys.readouterr().err


def test_the_site_puts_outputs_below_blocks(outputs, monkeypatch):
    pytest.importorskip("mkdocs")
    pytest.importorskip("latex2mathml")
    hooks = importlib.import_module("site_hooks")
    monkeypatch.setattr(hooks, "OUTPUTS", outputs)
    report = {"outputs": [[{"kind": "text", "text": "a < b\n\nc\n"}, {"kind": "png", "file": "x-1-0.png"}]]}
    (outputs / "x.json").write_text(json.dumps(report), encoding="utf-8")
    text = hooks._with_outputs("before\n\n```python\nn = 9  # quick: 1\n```\n\nafter $x^2$\n", "x", "../outputs")
    assert "n = 9\n```" in text and "a &lt; b\n&nbsp;\nc" in text and "(../outputs/x-1-0.png)" in text
    assert text.index("```python") < text.index("a &lt; b") < text.index("after")
    assert "<msup>" in hooks._formulas(text) and "<msup>" not in hooks._formulas("`$x^2$`\n```\n$x^2$\n```\n")
