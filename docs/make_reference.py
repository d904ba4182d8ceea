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
    "attribute autograd base callback checkpoint compat context contrib.amp contrib.autograd contrib.io contrib.onnx "
    "contrib.quantization contrib.svrg_optimization contrib.tensorboard contrib.text contrib.torch deploy "
    "engine error executor executor_manager gluon gluon.contrib.cnn gluon.contrib.data gluon.contrib.estimator "
    "gluon.contrib.nn gluon.contrib.rnn gluon.data gluon.data.batchify gluon.data.vision "
    "gluon.data.vision.transforms gluon.loss gluon.model_zoo.vision gluon.nn gluon.rnn gluon.utils image "
    "initializer io kvstore libinfo log lr_scheduler metric misc model module monitor name ndarray.functions "
    "ndarray.ndarray ndarray.random ndarray.sparse ndarray.utils notebook.callback numpy numpy.linalg numpy.random "
    "numpy_extension numpy_extension.random onnx operator optimizer profiler random recordio registry rnn runtime "
    "symbol.random symbol.symbol test_utils util visualization"
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
    """(module, what it is, page) for each file of operators."""
    from mxnet._ops.registry import registry

    found = {}
    for name, operator in registry.load().items():
        found.setdefault(id(operator), (operator, set()))[1].add(name)
    for operator, names in found.values():
        operator.aliases = names
    operators = sorted((o for o, _ in found.values()), key=lambda o: (o.fn.__module__, o.name))
    for module, group in groupby(operators, key=lambda o: o.fn.__module__):
        name = module.partition("._ops.")[2] or module
        head = paragraph(importlib.import_module(module)) if module.startswith("mxnet") else ""
        yield name, head, f"# {name}\n\n{head}\n\n" + "\n".join(map(operator_entry, group))


WORDS = {  # language -> (title, what it is, modules, operators)
    "en": (
        "Reference",
        "Made from the code. Operators are at `mx.nd`, `mx.sym` and `F`.",
        "Modules",
        "Operators",
    ),
    "zh": ("接口参考", "由代码生成（英文）。算子在 `mx.nd`、`mx.sym` 和 `F` 里都能用。", "模块", "算子"),
}


def index_page(language, families):
    """Links to every page."""
    title, text, modules, operators = WORDS[language]
    lines = [f"# {title}\n", f"{text}\n", f"## {modules}\n"]
    lines += [f"- [mxnet.{name}]({name}.md): {paragraph(importlib.import_module(f'mxnet.{name}'))}" for name in MODULES]
    lines += [f"\n## {operators}\n", *(f"- [{family}](operators/{family}.md): {head}" for family, head in families)]
    return "\n".join(lines) + "\n"


def main():
    pages = {f"{name}.md": module_page(name) for name in MODULES}
    families = list(operator_pages())
    pages |= {f"operators/{family}.md": page for family, _, page in families}
    for language, folder in (("en", FOLDER), ("zh", FOLDER.parent / "zh" / "reference")):
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "operators").mkdir(parents=True)
        index = index_page(language, [(family, head) for family, head, _ in families])
        for name, text in {**pages, "index.md": index}.items():
            (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
