"""`mx.sym.npx.image`: operators on images, as nodes of a graph."""

from .._later import later


def __getattr__(name):
    if name not in later("numpy_extension.image").NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = made = later("numpy._symbolic").network_function(name, f"_image_{name}")
    return made


def __dir__():
    return sorted({*globals(), *later("numpy_extension.image").NAMES})
