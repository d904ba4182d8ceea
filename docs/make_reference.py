"""Writes docs/reference/: a page for each public module, and one for each family of operators, from the code itself."""

import importlib
import inspect
import shutil
import sys
from itertools import groupby
from pathlib import Path

FOLDER = Path(__file__).with_name("reference")
sys.path.insert(0, str(FOLDER.parents[1] / "src"))

MODULES = (
    "autograd callback context contrib.amp contrib.onnx contrib.svrg_optimization contrib.tensorboard contrib.text"
    " contrib.torch deploy engine executor"
    " gluon gluon.contrib.estimator gluon.contrib.nn gluon.contrib.rnn gluon.data gluon.data.batchify gluon.data.vision"
    " gluon.data.vision.transforms gluon.loss gluon.model_zoo.vision gluon.nn gluon.rnn gluon.utils image initializer"
    " io kvstore lr_scheduler metric model module monitor name ndarray.ndarray ndarray.random ndarray.sparse numpy"
    " numpy.linalg numpy.random numpy_extension onnx"
    " operator optimizer profiler random recordio rnn runtime symbol.random symbol.symbol test_utils util visualization"
).split()


def paragraph(thing):
    """The first paragraph of a docstring, on one line; what Markdown would take for markup is left alone."""
    text = inspect.getdoc(thing) or ""
    return " ".join(text.split("\n\n")[0].split())


def signature(thing):
    try:
        return str(inspect.signature(thing))
    except (TypeError, ValueError):
        return "(…)"


def own(module):
    """Public names of a module that are ReMX's, each with its thing."""
    listed = getattr(module, "__all__", None) or [name for name in dir(module) if not name.startswith("_")]
    for name in sorted(set(listed)):
        thing = getattr(module, name, None)
        if (inspect.isclass(thing) or inspect.isroutine(thing)) and str(thing.__module__).startswith("mxnet"):
            yield name, thing


WHOLE = {"NDArray", "Symbol"}  # put together from parts that are not public, so their methods are shown here


def methods(kind):
    """Public methods that a class defines itself; of the two classes in WHOLE, all."""
    for name, member in sorted(inspect.getmembers(kind)):
        if name.startswith("_") or not (inspect.isroutine(member) or isinstance(member, property)):
            continue
        if name in vars(kind) or kind.__name__ in WHOLE:
            yield name, member


def entry(name, thing):
    """One class or function."""
    lines = [f"## {name}", f"```text\n{name}{signature(thing)}\n```", paragraph(thing), ""]
    if inspect.isclass(thing):
        bases = ", ".join(base.__name__ for base in thing.__bases__ if base is not object)
        lines += [f"Extends {bases}.\n"] if bases else []
        for method, member in methods(thing):
            shown = method if isinstance(member, property) else f"{method}{signature(member)}"
            lines.append(f"- `{shown}`: {paragraph(member)}".rstrip(": "))
    return "\n".join(lines) + "\n"


def module_page(name):
    module = importlib.import_module(f"mxnet.{name}")
    entries = [entry(*pair) for pair in own(module)]
    return f"# mxnet.{name}\n\n{paragraph(module)}\n\n" + "\n".join(entries)


def operator_entry(operator):
    """Inputs and attributes with their types, and the other names."""
    inputs = [*operator.inputs, *([f"*{operator.variadic}"] if operator.variadic else [])]
    names = sorted(alias for alias in operator.aliases if alias != operator.name)
    lines = [f"## {operator.name}", paragraph(operator.fn), ""]
    lines += [f"Also {', '.join(f'`{name}`' for name in names)}.\n"] if names else []
    lines += [f"- inputs: {', '.join(f'`{name}`' for name in inputs)}"] if inputs else []
    lines += [f"- `{attribute.describe()}`" for attribute in operator.attrs.values()]
    return "\n".join(lines) + "\n"


def operator_pages():
    """(family, page) for each file of operators."""
    from mxnet._ops import registry

    found = {}
    for name, operator in registry.load().items():
        found.setdefault(id(operator), (operator, set()))[1].add(name)
    for operator, names in found.values():
        operator.aliases = names
    operators = sorted((o for o, _ in found.values()), key=lambda o: (o.fn.__module__, o.name))
    for module, group in groupby(operators, key=lambda o: o.fn.__module__):
        family = module.rsplit(".", 1)[-1]
        head = paragraph(importlib.import_module(module)) if module.startswith("mxnet") else ""
        yield family, f"# {family}\n\n{head}\n\n" + "\n".join(map(operator_entry, group))


def main():
    shutil.rmtree(FOLDER, ignore_errors=True)
    (FOLDER / "operators").mkdir(parents=True)
    index = ["# Reference\n", "Made from the code. Operators are at `mx.nd`, `mx.sym` and `F` alike.\n", "## Modules\n"]
    for name in MODULES:
        (FOLDER / f"{name}.md").write_text(module_page(name), encoding="utf-8")
        index.append(f"- [mxnet.{name}]({name}.md)")
    index.append("\n## Operators\n")
    for family, page in operator_pages():
        (FOLDER / "operators" / f"{family}.md").write_text(page, encoding="utf-8")
        index.append(f"- [{family}](operators/{family}.md)")
    (FOLDER / "index.md").write_text("\n".join(index) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
