"""The table of dropped names: where each was, what it is, and what to write instead."""

import ast
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any


@dataclass(frozen=True)
class Old:
    """A dropped name: what it stands for now, found when it is asked for, and what to write instead."""

    value: Callable[[], Any]
    instead: str


def _same(value: Any, instead: str) -> Old:
    return Old(lambda: value, instead)


def _from(path: str, instead: str | None = None) -> Old:
    """Another module's name, `module:name`."""
    module, _, name = path.partition(":")
    return Old(lambda: getattr(import_module(module), name), instead or f"{module}.{name}")


def _asscalar(a: Any) -> Any:
    return a.item()


def _asfarray(a: Any, dtype: Any = None) -> Any:
    numpy = import_module("numpy")
    wanted = numpy.dtype(dtype or "float64")
    return numpy.asarray(a, dtype=wanted if numpy.issubdtype(wanted, numpy.inexact) else "float64")


def _find_common_type(array_types: Any, scalar_types: Any) -> Any:
    return import_module("numpy").result_type(*array_types, *scalar_types)


def _getargspec(function: Any) -> Any:
    """The first four fields of what `getfullargspec` returns, under their old names."""
    from collections import namedtuple

    full = import_module("inspect").getfullargspec(function)
    return namedtuple("ArgSpec", "args varargs keywords defaults")(full.args, full.varargs, full.varkw, full.defaults)


_NUMPY = {
    "float": _same(float, "float"),
    "int": _same(int, "int"),
    "bool": _same(bool, "bool"),  # NumPy 2 has it again, as numpy.bool_, and uses it itself
    "object": _same(object, "object"),
    "complex": _same(complex, "complex"),
    "str": _same(str, "str"),
    "unicode": _same(str, "str"),
    "product": _from("numpy:prod"),
    "cumproduct": _from("numpy:cumprod"),
    "sometrue": _from("numpy:any"),
    "alltrue": _from("numpy:all"),
    **dict.fromkeys(("NaN", "NAN"), _same(float("nan"), "numpy.nan")),
    **dict.fromkeys(("Inf", "Infinity", "infty", "PINF"), _same(float("inf"), "numpy.inf")),
    "NINF": _same(float("-inf"), "-numpy.inf"),
    "PZERO": _same(0.0, "0.0"),
    "NZERO": _same(-0.0, "-0.0"),
    "asscalar": _same(_asscalar, "a.item()"),
    "float_": _from("numpy:float64"),
    "complex_": _from("numpy:complex128"),
    "unicode_": _from("numpy:str_"),
    "string_": _from("numpy:bytes_"),
    "int0": _from("numpy:intp"),
    "uint0": _from("numpy:uintp"),
    "in1d": _from("numpy:isin"),
    "trapz": _from("numpy:trapezoid"),
    "row_stack": _from("numpy:vstack"),
    "mat": _from("numpy:asmatrix"),
    "round_": _from("numpy:round"),
    "msort": Old(lambda: lambda a: import_module("numpy").sort(a, axis=0), "numpy.sort(a, axis=0)"),
    "asfarray": _same(_asfarray, "numpy.asarray(a, dtype=float)"),
    "find_common_type": _same(_find_common_type, "numpy.result_type"),
    "safe_eval": _same(ast.literal_eval, "ast.literal_eval"),
    "typeDict": _from("numpy:sctypeDict"),
    **{
        name: _from(f"numpy.exceptions:{name}")
        for name in ("AxisError", "ComplexWarning", "RankWarning", "VisibleDeprecationWarning")
    },
}
_ABSTRACT = (
    "Awaitable Callable Container Coroutine Generator Hashable ItemsView Iterable Iterator KeysView Mapping MappingView"
    " MutableMapping MutableSequence MutableSet Sequence Set Sized ValuesView"
).split()
_PIL_FILTERS = {"ANTIALIAS": "LANCZOS", "LINEAR": "BILINEAR", "CUBIC": "BICUBIC"}
_IMAGES = {name: _from(f"mxnet._compat.scipy_misc:{name}", instead) for name, instead in {
    "imread": "imageio.imread or numpy.array(PIL.Image.open(path))",
    "imresize": "numpy.array(PIL.Image.fromarray(a).resize((width, height)))",
    "imsave": "PIL.Image.fromarray(a).save(path)",
    "imrotate": "PIL.Image.fromarray(a).rotate(angle)",
    "toimage": "PIL.Image.fromarray",
    "fromimage": "numpy.array(image)",
    "bytescale": "scale to 0 to 255 with NumPy",
}.items()}  # fmt: skip

# module -> name -> what it was
OLD: dict[str, dict[str, Old]] = {
    "numpy": _NUMPY,
    "collections": {name: _from(f"collections.abc:{name}") for name in _ABSTRACT},
    "inspect": {"getargspec": _same(_getargspec, "inspect.getfullargspec or inspect.signature")},
    "fractions": {"gcd": _from("math:gcd")},
    "time": {"clock": _from("time:perf_counter")},
    "PIL.Image": {old: _from(f"PIL.Image:{new}") for old, new in _PIL_FILTERS.items()},
    "scipy.misc": {
        **_IMAGES,
        "logsumexp": _from("scipy.special:logsumexp"),
        "comb": _from("scipy.special:comb"),
        "factorial": _from("scipy.special:factorial"),
        "face": _from("scipy.datasets:face"),
        "ascent": _from("scipy.datasets:ascent"),
    },
    "scipy": {name: _from(f"numpy:{name}") for name in "array zeros ones arange exp log sqrt pi mean dot".split()},
}
# module -> the module that does its work now, and what to write instead
MODULES: dict[str, tuple[str, str]] = {
    "imp": ("mxnet._compat.imp_module", "importlib"),
    "distutils": ("setuptools._distutils", "setuptools, packaging or shutil"),
    "scipy.misc": ("mxnet._compat.scipy_misc", "scipy.special, scipy.datasets or Pillow"),
    "sklearn.externals": ("mxnet._compat.sklearn_externals", "the packages joblib and six themselves"),
    "sklearn.externals.joblib": ("joblib", "joblib"),
    "sklearn.externals.six": ("six", "six"),
    "sklearn.cross_validation": ("sklearn.model_selection", "sklearn.model_selection"),
    "sklearn.grid_search": ("sklearn.model_selection", "sklearn.model_selection"),
}
# function -> the argument without which it is no longer accepted, and what to write instead of such a call
CHANGED: dict[str, tuple[str, str]] = {"numpy.fromstring": ("sep", "numpy.frombuffer(…).copy()")}
RAGGED = "arrays of lists of different lengths"  # noted under this name; instead: numpy.array(…, dtype=object)


def instead_of(dotted: str) -> str | None:
    """What to write instead of an old dotted name; None if it is not an old one.

    Parameters
    ----------
    dotted : str
        The name.

    Returns
    -------
    str or None

    Examples
    --------
    >>> mx.compat.instead_of("numpy.float")
    'float'
    """
    module, _, name = dotted.rpartition(".")
    if dotted in MODULES:
        return MODULES[dotted][1]
    found = OLD.get(module, {}).get(name)
    return found.instead if found else None
