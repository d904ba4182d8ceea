"""Entries by which native threads call compiled kernels without Python; importing this module asks for numba.

A thread is given the address of a table of whole numbers (see `tables`). It takes one part of the work after the other,
until there are none, and calls the kernel for each. A chain is work of several kernels, one after the other.
"""

import functools
import inspect
import platform
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import cfunc, types
from numba.extending import intrinsic

from .tables import (
    ARGUMENTS,
    BEGIN,
    BOUNDS,
    COUNT,
    DONE,
    LENGTH,
    LINKS,
    PARTS,
    SCRATCH_SIZE,
    SLOT,
    TAKEN,
    TICKETS,
    UNIT,
    YIELD,
)

PATIENCE = 1_000  # looks at the others' work before they get the processor, if they wait for it
_WHOLE, _FLOAT, _NOTHING = ir.IntType(64), ir.FloatType(), ir.FunctionType(ir.VoidType(), [])


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
        "add", builder.inttoptr(address, _WHOLE.as_pointer()), _WHOLE(1), "acq_rel"
    ),
)
# What another thread may have written meanwhile
current = _reads(
    types.int64,
    lambda builder, address: builder.load_atomic(builder.inttoptr(address, _WHOLE.as_pointer()), "acquire", SLOT),
)


@intrinsic
def call(typing: Any, function: Any, argument: Any) -> Any:
    """Call what is at an address with a whole number."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(ir.VoidType(), [_WHOLE])
        builder.call(builder.inttoptr(arguments[0], kind.as_pointer()), [arguments[1]])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), generate


@intrinsic
def rest(typing: Any) -> Any:
    """A moment's rest for the processor, in a loop that waits."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if platform.machine() in ("x86_64", "AMD64"):
            builder.call(builder.module.declare_intrinsic("llvm.x86.sse2.pause", fnty=_NOTHING), [])
        return context.get_dummy_value()

    return types.void(), generate


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
        take(table + {done})
"""
_SLOTS = {
    "taken": TAKEN,
    "done": DONE,
    "parts": PARTS,
    "tickets": TICKETS,
    "begin": BEGIN,
    "count": COUNT,
    "unit": UNIT,
}
_READS = {
    "int64": "whole(table + {})",
    "float32": "single(table + {})",
}


def entry(kernel: Any, signature: str) -> int | None:
    """The address of the kernel's entry; None, if it has an argument that no table holds, or does not work in parts."""
    names = list(inspect.signature(kernel.py_func).parameters)
    kinds = [kind.strip() for kind in signature.removeprefix("void(").removesuffix(")").split(",")]
    if sum(name in BOUNDS for name in names) != 2 or len(kinds) != len(names) or not set(kinds) <= set(_READS):
        return None
    slots = {name: slot * SLOT for name, slot in _SLOTS.items()}
    text = _SOURCE.format(name=kernel.__name__, arguments=_arguments(names, kinds), **slots)
    made: dict[str, Any] = {"kernel": kernel, "take": take, "whole": whole, "single": single}
    exec(compile(text, kernel.py_func.__code__.co_filename, "exec"), made)  # compiled code is kept beside that file
    function = made[f"entry_{kernel.__name__}"]
    function.__module__ = kernel.py_func.__module__
    kernel.held_entry = _callback(function)
    return kernel.held_entry.address


def _callback(function: Callable[..., None]) -> Any:
    """A function of a table that native threads can call."""
    try:
        return cfunc("void(int64)", cache=True)(function)
    except (RuntimeError, OSError):  # nowhere to keep it
        return cfunc("void(int64)")(function)


def _arguments(names: list[str], kinds: list[str]) -> str:
    """The arguments of a call, read from the table; a thread's scratch memory is one of several behind one another."""
    found, slot = [], ARGUMENTS
    for name, kind in zip(names, kinds, strict=True):
        if name in BOUNDS:
            found.append(BOUNDS[name])
            continue
        text = _READS[kind].format(slot * SLOT)
        found.append(f"{text} + ticket * whole(table + {SCRATCH_SIZE * SLOT})" if name == "scratch" else text)
        slot += 1
    return ", ".join(found)


def _chain(table):
    """Take part in the work of each kernel; no thread begins with one before all parts of the last are done."""
    for link in range(whole(table + LENGTH * SLOT)):
        place = table + (LINKS + 2 * link) * SLOT
        own = whole(place + SLOT)
        call(whole(place), own)
        looks = 0
        while current(own + DONE * SLOT) < whole(own + PARTS * SLOT):
            rest()
            looks += 1
            if looks % PATIENCE == 0:
                call(whole(table + YIELD * SLOT), 0)


@functools.cache
def chain() -> Any:
    """The entry of chains."""
    return _callback(_chain)
