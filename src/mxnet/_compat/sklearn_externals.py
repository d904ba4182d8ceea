"""`sklearn.externals`, whose packages are on their own now."""

from importlib import import_module


def __getattr__(name):
    if name not in ("joblib", "six"):
        raise AttributeError(f"module 'sklearn.externals' has no attribute {name!r}")
    return import_module(name)
