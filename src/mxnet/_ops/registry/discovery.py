"""Lazy imports: the module that defines each operator, imported when the operator is first looked up."""

from functools import cache
from importlib import import_module
from pathlib import Path

from .index import INDEX

OPERATORS = __name__.rpartition(".registry.")[0]
KNOWN = {name: module for module, names in INDEX.items() for name in names.split()}


def load(name: str) -> None:
    """Import the module that defines an operator; all of them, if it is not in the index."""
    module = KNOWN.get(name)
    if module is None:
        load_all()
    else:
        import_module(f"{OPERATORS}.{module}")


def load_all() -> None:
    """Import every module that defines operators."""
    for module in modules():
        import_module(f"{OPERATORS}.{module}")


@cache
def modules() -> list[str]:
    """Every module of the operators' chapters, as `chapter.module`; the registry itself is left out."""
    root = Path(__file__).parents[1]
    files = (path.relative_to(root) for path in root.rglob("*.py") if path.name != "__init__.py")
    return sorted(".".join(path.with_suffix("").parts) for path in files if path.parts[0] != "registry")
