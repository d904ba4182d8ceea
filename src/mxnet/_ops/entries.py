"""Entries by which native threads call compiled kernels without Python; importing this module asks for numba.

A thread is given the address of a table of whole numbers (see `tables`). It takes one part of the work after the other,
until there are none, and calls the kernel for each.
"""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import carray, cfunc, types
from numba.extending import intrinsic

from .tables import ARGUMENTS, BEGIN, BOUNDS, COUNT, PARTS, SCRATCH_SIZE, SLOT, TAKEN, TICKETS, UNIT

_WHOLE, _FLOAT = ir.IntType(64), ir.FloatType()


def _reads(kind: Any, read: Callable[..., Any]) -> Any:
    """What is at an address, for compiled functions."""

    @intrinsic
    def reads(typing: Any, address: Any) -> Any:
        return kind(types.int64), lambda context, builder, signature, arguments: read(builder, arguments[0])

    return reads


whole = _reads(types.int64, lambda builder, address: builder.load(builder.inttoptr(address, _WHOLE.as_pointer())))
single = _reads(types.float32, lambda builder, address: builder.load(builder.inttoptr(address, _FLOAT.as_pointer())))
pointer = _reads(types.voidptr, lambda builder, address: builder.inttoptr(address, ir.IntType(8).as_pointer()))
# The number before it is one more: no two threads see the same
take = _reads(
    types.int64,
    lambda builder, address: builder.atomic_rmw(
        "add", builder.inttoptr(address, _WHOLE.as_pointer()), _WHOLE(1), "monotonic"
    ),
)

_SOURCE = """
def entry_{name}(table):
    ticket = take(table + {tickets})
    parts, begin = whole(table + {parts}), whole(table + {begin})
    count, unit = whole(table + {count}), whole(table + {unit})
    units = (count + unit - 1) // unit
    while True:
        part = take(table + {taken})
        if part >= parts:
            break
        first = begin + min(part * units // parts * unit, count)
        last = begin + min((part + 1) * units // parts * unit, count)
        kernel({arguments})
"""
_SLOTS = {"taken": TAKEN, "parts": PARTS, "tickets": TICKETS, "begin": BEGIN, "count": COUNT, "unit": UNIT}
_READS = {
    "int64": "whole(table + {0})",
    "float32": "single(table + {0})",
    "boolean": "whole(table + {0}) != 0",
    "float32[::1]": "carray(pointer(whole(table + {0})), (whole(table + {1}),), float32)",
}


def entry(kernel: Any, signature: str) -> int | None:
    """The address of the kernel's entry; None, if it has an argument that no table holds, or does not work in parts."""
    names = list(inspect.signature(kernel.py_func).parameters)
    kinds = [kind.strip() for kind in signature.removeprefix("void(").removesuffix(")").split(",")]
    if sum(name in BOUNDS for name in names) != 2 or len(kinds) != len(names) or not set(kinds) <= set(_READS):
        return None
    slots = {name: slot * SLOT for name, slot in _SLOTS.items()}
    text = _SOURCE.format(name=kernel.__name__, arguments=_arguments(names, kinds), **slots)
    made: dict[str, Any] = {
        "kernel": kernel, "take": take, "whole": whole, "single": single, "pointer": pointer, "carray": carray,
        "float32": np.float32,
    }  # fmt: skip
    exec(compile(text, kernel.py_func.__code__.co_filename, "exec"), made)  # compiled code is kept beside that file
    function = made[f"entry_{kernel.__name__}"]
    function.__module__ = kernel.py_func.__module__
    try:
        compiled = cfunc("void(int64)", cache=True)(function)
    except (RuntimeError, OSError):  # nowhere to keep it
        compiled = cfunc("void(int64)")(function)
    kernel.held_entry = compiled
    return compiled.address


def _arguments(names: list[str], kinds: list[str]) -> str:
    """The arguments of a call, read from the table; a thread's scratch memory is one of several behind one another."""
    found, slot = [], ARGUMENTS
    for name, kind in zip(names, kinds, strict=True):
        if name in BOUNDS:
            found.append(BOUNDS[name])
            continue
        text = _READS[kind].format(slot * SLOT, (slot + 1) * SLOT)
        found.append(f"{text} + ticket * whole(table + {SCRATCH_SIZE * SLOT})" if name == "scratch" else text)
        slot += 2 if kind.endswith("]") else 1
    return ", ".join(found)
