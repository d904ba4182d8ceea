"""Writes docs/reference/: a page for each public module, and one for each family of operators, from the code itself."""

import importlib
import inspect
import shutil
import sys
from itertools import groupby
from pathlib import Path

FOLDER = Path(__file__).with_name("reference")
SOURCES = FOLDER.parents[1] / "src"
sys.path.insert(0, str(SOURCES))
sys.path.insert(0, str(FOLDER.parent))

from docstring_pages import markdown, summary  # noqa: E402 - its folder is on the path now
from summaries_zh import MODULES as MODULES_ZH  # noqa: E402
from summaries_zh import SUMMARIES  # noqa: E402

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
WIDTH = 88  # a signature that is longer is written with one argument a line
WIDE = "---\nhide: [navigation]\n---\n\n"  # pages of the reference are not in the menu, whose column stays empty
WORDS = {
    "en": {
        "title": "Reference",
        "text": "Made from the code. Operators are at `mx.nd`, `mx.sym` and `F`.",
        "modules": "Modules",
        "operators": "Operators",
        "source": "source",
        "extends": "Extends {}.",
        "also": "Also {}.",
    },
    "zh": {
        "title": "接口参考",
        "text": "由代码生成：摘要和小标题是中文，详细说明是英文。算子在 `mx.nd`、`mx.sym` 和 `F` 里都能用。",
        "modules": "模块",
        "operators": "算子",
        "source": "源代码",
        "extends": "继承自 {}。",
        "also": "别名：{}。",
    },
}


def signature(name, thing):
    """The call, wrapped if it is long."""
    try:
        found = inspect.signature(thing)
    except (TypeError, ValueError):
        return f"{name}(…)"
    line = f"{name}{found}"
    if len(line) <= WIDTH:
        return line
    shown, kind = [], None
    for parameter in found.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and kind not in (parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL):
            shown.append("*")
        kind = parameter.kind
        shown.append(str(parameter))
    return f"{name}(\n    " + ",\n    ".join(shown) + "\n)"


def own(module):
    """Public names of a module that are ReMX's, each with its thing."""
    listed = getattr(module, "__all__", None) or [name for name in dir(module) if not name.startswith("_")]
    for name in sorted(set(listed)):
        thing = getattr(module, name, None)
        if (inspect.isclass(thing) or inspect.isroutine(thing)) and str(thing.__module__).startswith("mxnet"):
            yield name, thing


WHOLE = {"NDArray", "Symbol"}  # put together from parts that are not public, so their methods are shown here
CALLED = {"forward", "hybrid_forward"}  # of a layer, which is called; the docstring of its class says with what


def methods(kind):
    """Public methods that a class, or a private base of it, defines; of the two classes in WHOLE, all."""
    for name, member in sorted(inspect.getmembers(kind)):
        if name.startswith("_") or not (inspect.isroutine(member) or isinstance(member, property)):
            continue
        owner = next(base for base in kind.__mro__ if name in vars(base))
        if (owner is kind or owner.__name__.startswith("_") or kind.__name__ in WHOLE) and _is_shown(kind, name):
            yield name, member


def _is_shown(kind, name):
    return name not in CALLED or kind.__name__ in ("Block", "HybridBlock") or not hasattr(kind, "collect_params")


def public_bases(kind):
    """The nearest public base classes: those of a private base in its place."""
    for base in kind.__bases__:
        if base.__name__.startswith("_") or "._" in base.__module__:
            yield from public_bases(base)
        elif base is not object:
            yield base


def source(thing, depth, words):
    """A link to the line that defines it, in the pages of the source; nothing for what is made at run time."""
    try:
        thing = inspect.unwrap(thing.fget if isinstance(thing, property) else thing)
        file = Path(inspect.getsourcefile(thing)).resolve().relative_to(SOURCES.resolve())
        line = inspect.getsourcelines(thing)[1]
    except (TypeError, OSError, ValueError):
        return ""
    up = "../" * (depth + (words is WORDS["zh"]))
    return f'<a class="source" href="{up}source/{file.with_suffix(".html")}#L-{line}">{words["source"]}</a>\n\n'


def call(text):
    return f'<div class="signature" markdown>\n\n```python\n{text}\n```\n\n</div>\n\n'


class Pages:
    """The pages in one language."""

    def __init__(self, language):
        self.words, self.chinese = WORDS[language], language == "zh"

    def translated(self, name):
        return SUMMARIES.get(name) if self.chinese else None

    def text(self, name, thing):
        return markdown(inspect.getdoc(thing), self.chinese, self.translated(name))

    def entry(self, name, thing, depth=2):
        """One class or function."""
        parts = [f"## {name}\n\n", source(thing, depth, self.words), call(signature(name, thing))]
        parts.append(self.text(name, thing))
        if inspect.isclass(thing):
            bases = ", ".join(dict.fromkeys(base.__name__ for base in public_bases(thing)))
            parts += [f"\n{self.words['extends'].format(bases)}\n"] if bases else []
            parts += [self.method(name, *pair) for pair in methods(thing)]
        return "".join(parts) + "\n"

    def method(self, owner, name, member):
        """One method or property of a class."""
        shown = "" if isinstance(member, property) else call(signature(name, member))
        return f"\n### {owner}.{name}\n\n{shown}{self.text(f'{owner}.{name}', member)}"

    def module(self, name):
        """The page of a module."""
        module = importlib.import_module(f"mxnet.{name}")
        entries = "\n".join(self.entry(*pair) for pair in own(module))
        return f"{WIDE}# mxnet.{name}\n\n{self.module_summary(name, module)}\n\n{entries}"

    def module_summary(self, name, module):
        return (MODULES_ZH.get(name) if self.chinese else None) or summary(module)

    def operator(self, operator, aliases):
        """One operator: its call at `mx.nd`, its other names, its docstring with every attribute."""
        names = sorted(alias for alias in aliases if alias != operator.name)
        function = _function(operator.name)
        parts = [f"## {operator.name}\n\n", source(operator.fn, 3, self.words)]
        parts += [call(signature(operator.name, function))] if function is not None else []
        documented = function if function is not None and inspect.getdoc(function) else operator.fn
        parts.append(self.text(operator.name, documented))
        parts += [f"\n{self.words['also'].format(', '.join(f'`{name}`' for name in names))}\n"] if names else []
        return "".join(parts) + "\n"

    def index(self, families):
        """Links to every page."""
        words, lines = self.words, []
        lines += [f"# {words['title']}\n", f"{words['text']}\n", f"## {words['modules']}\n"]
        for name in MODULES:
            text = self.module_summary(name, importlib.import_module(f"mxnet.{name}"))
            lines.append(f"- [mxnet.{name}]({name}.md): {text}")
        lines += [f"\n## {words['operators']}\n"]
        lines += [f"- [{family}](operators/{family}.md): {self.family(family, head)}" for family, head in families]
        return "\n".join(lines) + "\n"

    def family(self, name, head):
        return (MODULES_ZH.get(f"operators/{name}") if self.chinese else None) or head


def _function(name):
    """The operator's function in `mx.nd`, if it is public."""
    import mxnet as mx

    for place in (mx.nd, mx.nd.contrib, mx.nd.linalg, mx.nd.image):
        short = name.removeprefix("_contrib_").removeprefix("_linalg_").removeprefix("_image_")
        found = getattr(place, name, None) or (getattr(place, short, None) if place is not mx.nd else None)
        if inspect.isroutine(found):
            return found
    return None


def operator_families():
    """[(file of operators, what it is, [(operator, its names)])]."""
    from mxnet._ops.registry import registry

    found = {}
    for name, operator in registry.load().items():
        found.setdefault(id(operator), (operator, set()))[1].add(name)
    ordered = sorted(found.values(), key=lambda pair: (pair[0].fn.__module__, pair[0].name))
    for module, group in groupby(ordered, key=lambda pair: pair[0].fn.__module__):
        name = module.partition("._ops.")[2] or module
        yield name, summary(importlib.import_module(module)) if module.startswith("mxnet") else "", list(group)


def write(language, folder, families):
    """All pages of one language."""
    pages = Pages(language)
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "operators").mkdir(parents=True)
    texts = {f"{name}.md": pages.module(name) for name in MODULES}
    for name, head, operators in families:
        body = "\n".join(pages.operator(*pair) for pair in operators)
        texts[f"operators/{name}.md"] = f"{WIDE}# {name}\n\n{pages.family(name, head)}\n\n{body}"
    texts["index.md"] = pages.index([(name, head) for name, head, _ in families])
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")


def main():
    """Write both languages."""
    families = list(operator_families())
    for language, folder in (("en", FOLDER), ("zh", FOLDER.parent / "zh" / "reference")):
        write(language, folder, families)


if __name__ == "__main__":
    main()
