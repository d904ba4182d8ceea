"""Makes whole programs runnable in seconds: `programs.py` uses it.

A notebook (`.ipynb`) or a book's chapter (`.md` with `{.python .input}` blocks) becomes a script; a program's own
options that say how long it runs and on which device (`--epochs`, `--gpus`, …) get small values.
"""

import ast
import json
import re

SMALL = {
    1: "epochs num-epochs num-epoch epoch n-epochs nepochs epoch-num niter end-epoch max-epoch total-epoch",
    8: "batch-size batchsize batch batch-num val-batch-size test-batch-size train-batch-size",
    4: "num-batches max-batches batch-num-limit",
    64: "num-examples",
    0: "num-workers workers num-gpus ngpus num-data-workers nworkers preprocess-threads",
    "cpu": "ctx context device",
    "local": "kv-store kvstore",
}  # fmt: skip
VALUES = {name: value for value, names in SMALL.items() for name in names.split()}
BLOCK = re.compile(r"^```\{\.python \.input[^}]*\}\n(.*?)^```", re.MULTILINE | re.DOTALL)
TAB = re.compile(r"^\s*(?:#@tab|%%tab)\s+(.*)$", re.MULTILINE)


def as_script(path, folder):
    """A notebook's or chapter's program in a file; a script as it is."""
    if path.suffix == ".py":
        return path
    text = path.read_text(encoding="utf-8")
    cells = _chapter(text) if path.suffix == ".md" else _notebook(text)
    lines = [re.sub(r"^(\s*)[%!?].*", r"\1pass", line) for line in "\n".join(cells).split("\n")]
    written = folder / (path.stem + ".py")
    written.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return written


def _notebook(text):
    """Sources of a notebook's code cells, in the old form too."""
    notebook = json.loads(text)
    cells = notebook.get("cells") or [c for sheet in notebook.get("worksheets", ()) for c in sheet["cells"]]
    return ["".join(c.get("source", c.get("input", ""))) for c in cells if c.get("cell_type") == "code"]


def _chapter(text):
    """A chapter's blocks that are for MXNet: those that name it, all, or nothing."""
    found = []
    for block in BLOCK.findall(text):
        tab = TAB.search(block)
        if tab is None or re.search(r"\b(mxnet|all)\b", tab[1]):
            found.append(block)
    return found


def is_notebook(text):
    """Is it a notebook whose program is Python?"""
    try:
        return any("mxnet" in cell for cell in _notebook(text))
    except (ValueError, KeyError, AttributeError):
        return False


def is_chapter(text):
    """Does a Markdown file hold a program for MXNet?"""
    return "mxnet" in text and any("import" in block for block in BLOCK.findall(text))


def is_program(text):
    """Does a Python file do something when it is run, other than define names?"""
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError):
        return False
    if "mxnet" not in text:
        return False
    if any(isinstance(n, ast.If) and "__main__" in ast.dump(n.test) for n in body):
        return True
    return any(isinstance(n, (ast.For, ast.While, ast.With)) or _is_call(n) for n in body)


def _is_call(node):
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)


def arguments_of(text):
    """Arguments for a short run on the CPU, of those options that a program has."""
    given = []
    for call in (n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Call)):
        if getattr(call.func, "attr", "") != "add_argument" or not call.args:
            continue
        names = [a.value for a in call.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
        flag = next((n for n in names if n.startswith("--")), None)
        if flag is None:
            continue
        options = {k.arg: ast.unparse(k.value) for k in call.keywords if k.arg}
        given += _argument(flag, flag[2:].replace("_", "-").lower(), options)
    return given


def _argument(flag, name, options):
    if "action" in options:
        return [flag] if name in ("cpu", "no-cuda", "use-cpu") and "store_true" in options["action"] else []
    if name in ("gpus", "gpu", "gpu-id", "gpu-ids"):
        return [flag + "=" + ("-1" if options.get("type") == "int" else "")] if options.get("default") != "None" else []
    value = VALUES.get(name)
    if value is None or (isinstance(value, str) and "choices" in options and repr(value) not in options["choices"]):
        return []
    return [flag, str(value)]
