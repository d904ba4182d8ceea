"""What Python's `imp` had until 3.12, by `importlib`."""

import os
import sys
from importlib import invalidate_caches, reload
from importlib.machinery import BYTECODE_SUFFIXES, EXTENSION_SUFFIXES, SOURCE_SUFFIXES, PathFinder
from importlib.util import cache_from_source, module_from_spec, source_from_cache, spec_from_file_location
from types import ModuleType

__all__ = [
    "C_EXTENSION", "PKG_DIRECTORY", "PY_COMPILED", "PY_SOURCE", "acquire_lock", "cache_from_source", "find_module",
    "get_suffixes", "invalidate_caches", "load_module", "load_source", "lock_held", "new_module", "release_lock",
    "reload", "source_from_cache",
]  # fmt: skip
PY_SOURCE, PY_COMPILED, C_EXTENSION, PKG_DIRECTORY = 1, 2, 3, 5
_KINDS = (
    (SOURCE_SUFFIXES, "r", PY_SOURCE),
    (BYTECODE_SUFFIXES, "rb", PY_COMPILED),
    (EXTENSION_SUFFIXES, "rb", C_EXTENSION),
)


def get_suffixes():
    """(suffix, mode, kind) of every file that can be a module."""
    return [(suffix, mode, kind) for suffixes, mode, kind in _KINDS for suffix in suffixes]


def new_module(name):
    """An empty module."""
    return ModuleType(name)


def load_source(name, pathname, file=None):
    """The module `name` from a Python file, also put into `sys.modules`."""
    spec = spec_from_file_location(name, pathname)
    module = sys.modules.get(name) or module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def find_module(name, path=None):
    """(open file or None, path, (suffix, mode, kind)) of a module."""
    spec = PathFinder.find_spec(name, path)
    if spec is None or spec.origin is None:
        raise ImportError(f"No module named {name!r}", name=name)
    if spec.submodule_search_locations:
        return None, spec.submodule_search_locations[0], ("", "", PKG_DIRECTORY)
    found = next(each for each in get_suffixes() if spec.origin.endswith(each[0]))
    return open(spec.origin, found[1]), spec.origin, found


def load_module(name, file, filename, details):
    """The module that `find_module` found."""
    return load_source(name, os.path.join(filename, "__init__.py") if details[2] == PKG_DIRECTORY else filename)


def lock_held():
    """Imports have locks of their own now."""
    return False


def acquire_lock():
    """Nothing: imports have locks of their own now."""


release_lock = acquire_lock
