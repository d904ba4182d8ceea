"""CPU kernels and their runtime; imports `_core`, torch and numba, but not the operators above."""

from importlib import import_module
from pathlib import Path
from typing import Any

_COMPILED = "_kernels.py"  # modules of this ending are compiled when they are imported


def all_kernels() -> list[Any]:
    """Every registered kernel, by name; modules that compile nothing are imported for it."""
    root = Path(__file__).parent
    for path in sorted(root.rglob("*.py")):
        if not path.name.endswith(_COMPILED) and path.parent.name not in ("runtime", root.name):
            if path.name != "__init__.py":
                import_module(".".join((__name__, *path.relative_to(root).with_suffix("").parts)))
    from .registry import KERNELS

    return [KERNELS[name] for name in sorted(KERNELS)]
