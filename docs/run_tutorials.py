"""Runs the tutorials and guides and keeps what they print and draw in docs/outputs/, where the site takes it from.

`python docs/run_tutorials.py` runs those whose code has changed, `--fresh` runs all, names after it run only these.
Each runs in a process and in a folder of its own, from top to bottom, as a reader would run it.
"""

import argparse
import ast
import io
import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import redirect_stdout
from pathlib import Path

from tutorial_blocks import FOLDER, blocks, digest, names, quick

OUTPUTS = FOLDER.with_name("outputs")
SOURCES = FOLDER.parents[1] / "src"
LIMIT = 400  # seconds for one tutorial


def page_of(name):
    """The file of a tutorial; other pages, whose blocks are run in the same way, are called `home` or `page-….`."""
    pages = {"home": "index.md", "page-start": "start.md"}
    if name in pages:
        return FOLDER.with_name(pages[name])
    if name.startswith("page-"):
        return FOLDER.with_name("guide") / f"{name.removeprefix('page-')}.md"
    return FOLDER / f"{name}.md"


def others():
    """The pages with Python blocks that are no tutorials: the home page, the first steps and the guides."""
    guides = sorted(FOLDER.with_name("guide").glob("*.md"))
    return ["home", "page-start", *(f"page-{p.stem}" for p in guides if blocks(p.read_text(encoding="utf-8")))]


def run_block(code, space, name):
    """Run a block; its printed text, and the value of its last line if that is an expression."""
    tree = ast.parse(code)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    out = io.StringIO()
    with redirect_stdout(out):
        exec(compile(tree, name, "exec"), space)
        value = eval(compile(ast.Expression(last.value), name, "eval"), space) if last is not None else None
    return out.getvalue(), None if _is_plot(value) else value


def _is_plot(value):
    """Whether it is what a call of pyplot returns: a line, a text, a legend or a list of them; the figure is shown."""
    first = value[0] if isinstance(value, list | tuple) and value else value
    return type(first).__module__.startswith("matplotlib")


def pictures(value):
    """PNG files of a block: figures of pyplot that it left open, and its value if that is a picture."""
    found = []
    if "matplotlib.pyplot" in sys.modules:
        from matplotlib import pyplot

        for number in pyplot.get_fignums():
            found.append(_png(pyplot.figure(number)))
        pyplot.close("all")
    if hasattr(value, "_repr_png_"):
        found.append(_png(value))
    return found


def _png(figure):
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=110, bbox_inches="tight")
    return file.getvalue()


def outputs(value, printed, place):
    """What is shown below a block: texts, drawings and pictures, in this order."""
    found = [{"kind": "text", "text": printed}] if printed.strip() else []
    for number, png in enumerate(pictures(value)):
        file = f"{place}-{number}.png"
        (OUTPUTS / file).write_bytes(png)
        found.append({"kind": "png", "file": file})
    if value is None or hasattr(value, "_repr_png_"):
        return found
    if hasattr(value, "_repr_mimebundle_") and type(value).__name__ == "Digraph":
        return [*found, {"kind": "html", "text": value._repr_mimebundle_()["image/svg+xml"]}]
    if type(value).__name__ in ("Symbol", "CompositeEvalMetric"):
        return [*found, {"kind": "html", "text": value._repr_html_()}]
    return [*found, {"kind": "text", "text": f"{value!r}".strip("\n") + "\n"}]


def run(name, is_quick=False):
    """Run one tutorial in this process and write its outputs."""
    os.environ["TQDM_DISABLE"] = "1"
    import matplotlib

    matplotlib.use("agg")
    pictures(None)  # closes figures that the process had before
    page = page_of(name)
    codes = blocks(page.read_text(encoding="utf-8"))
    space, shown, began = {"__name__": "__main__"}, [], time.perf_counter()
    for number, code in enumerate(codes):
        try:
            printed, value = run_block(quick(code) if is_quick else code, space, f"{name}, block {number + 1}")
        except Exception:
            print(f"{page.name}, block {number + 1}, failed:\n{code}", file=sys.stderr)
            raise
        shown.append(outputs(value, printed, f"{name}-{number + 1}"))
    report = {"digest": digest(codes), "seconds": round(time.perf_counter() - began, 1), "outputs": shown}
    (OUTPUTS / f"{name}.json").write_text(json.dumps(report, ensure_ascii=False, indent=1), encoding="utf-8")
    return report["seconds"]


def is_fresh(name):
    """Whether the outputs are those of the code as it is now."""
    file = OUTPUTS / f"{name}.json"
    codes = blocks(page_of(name).read_text(encoding="utf-8"))
    return file.is_file() and json.loads(file.read_text(encoding="utf-8"))["digest"] == digest(codes)


def start(name, options):
    """Run one tutorial in a process of its own, in an empty folder."""
    command = [sys.executable, str(Path(__file__).resolve()), "--here", name, "--outputs", str(OUTPUTS.resolve())]
    command += ["--quick"] if options.quick else []
    path = os.pathsep.join([str(SOURCES), *filter(None, [os.environ.get("PYTHONPATH")])])
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(command, cwd=folder, env={**os.environ, "PYTHONPATH": path}, check=True, timeout=LIMIT)
    print(f"{name}: {time.perf_counter() - began:.1f} s", flush=True)


def main(arguments=None):
    """Run what was asked for."""
    global OUTPUTS
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="tutorials to run; those whose code has changed if left out")
    parser.add_argument("--fresh", action="store_true", help="run all of them")
    parser.add_argument("--quick", action="store_true", help="with the small numbers of the tests")
    parser.add_argument("--outputs", type=Path, default=OUTPUTS, help="where the outputs go")
    parser.add_argument("--here", action="store_true", help="in this process and folder")
    options = parser.parse_args(arguments)
    OUTPUTS = options.outputs
    OUTPUTS.mkdir(parents=True, exist_ok=True)
    chosen = options.names or [name for name in [*others(), *names()] if options.fresh or not is_fresh(name)]
    for name in chosen:
        run(name, options.quick) if options.here else start(name, options)


if __name__ == "__main__":
    main()
