"""`remx run PROGRAM ARGUMENTS…`: run an old program with the names put back that other packages have dropped."""

import argparse
import os
import sys
import traceback
from importlib.util import find_spec
from types import ModuleType

from .._compat.restore import restore, told
from ._python2 import what_is_wrong

_HELP = "the program and its arguments; `-m MODULE` runs a module, as Python's -m does"


class _CannotRun(Exception):
    """The sentence that says why."""


def _parser():
    parser = argparse.ArgumentParser(prog="remx run", description=__doc__)
    parser.add_argument("program", nargs=argparse.REMAINDER, metavar="[-m MODULE | PROGRAM] ARGUMENTS…", help=_HELP)
    return parser


def _compiled(source, path):
    try:
        return compile(source, path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        raise _CannotRun(what_is_wrong(source, path, error)) from None


def _file(path):
    """(code, module) of a program file; its folder is where it imports from first."""
    if os.path.isdir(path) or not os.path.exists(path):
        raise _CannotRun(f"there is no file {path}")
    with open(path, "rb") as file:
        source = file.read()
    code = _compiled(source, path)
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    return code, _main_module(path)


def _module(name):
    """(code, module) of a module that is run by its name; of a package, its `__main__`."""
    sys.path.insert(0, os.getcwd())
    try:
        spec = find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = find_spec(f"{name}.__main__")
    except ModuleNotFoundError:
        spec = None
    if spec is None or spec.origin is None or not hasattr(spec.loader, "get_source"):
        raise _CannotRun(f"there is no module {name} that can be run")
    source = spec.loader.get_source(spec.name)
    module = _main_module(spec.origin)
    module.__package__, module.__spec__ = spec.parent, spec
    return _compiled(source, spec.origin), module


def _main_module(path):
    module = ModuleType("__main__")
    module.__file__ = path
    vars(module)["__builtins__"] = __builtins__
    return module


def _execute(code, module):
    """The program's exit code; what it does not catch is shown as Python shows it."""
    sys.modules["__main__"] = module  # the program's classes are pickled by this name
    try:
        exec(code, vars(module))
    except Exception as error:
        shown = error.__traceback__.tb_next if error.__traceback__ else None
        traceback.print_exception(type(error), error, shown)
        return 1
    return 0


def main(arguments):
    """Run it; 2 if there is nothing to run."""
    given = list(arguments)
    if not given or given[0] in ("-h", "--help"):
        parser = _parser()
        parser.print_help(sys.stdout if given else sys.stderr)
        return 0 if given else 2
    by_name = given[0] == "-m"
    given = given[by_name:]
    restore()
    try:
        if not given:
            raise _CannotRun("-m needs the name of a module")
        code, module = _module(given[0]) if by_name else _file(given[0])
    except _CannotRun as error:
        print(f"remx run: {error}", file=sys.stderr)
        return 2
    sys.argv = [module.__file__, *given[1:]]
    try:
        return _execute(code, module)
    finally:
        line = told()
        if line:
            sys.stdout.flush()
            print(f"remx run: {line}", file=sys.stderr)
