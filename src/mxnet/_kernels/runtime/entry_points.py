"""Entry points by which native threads call compiled kernels without Python; importing this module imports numba.

A thread gets the address of a table of integers (see `task_layout`). It takes parts of the work until none are left and
calls the kernel for each part. It starts with its own share, whose memory it also processed in the previous task and
may still have in its cache. A chain is the work of several kernels, one after the other.
"""

import functools
import inspect
import platform
from collections.abc import Callable
from typing import Any
from zlib import crc32

from llvmlite import ir
from numba import cfunc, types
from numba.extending import intrinsic

from .task_layout import (
    ARGUMENTS,
    BEGIN,
    BOUNDS,
    COUNT,
    DONE,
    KERNEL,
    LENGTH,
    LINKS,
    PARTS,
    RANK,
    SCRATCH_SIZE,
    SLOT,
    TAKEN,
    THREADS,
    UNIT,
    YIELD,
)

PATIENCE = 1_000  # looks at the others' work before they get the processor, if they wait for it
_INT64, _FLOAT, _NOTHING = ir.IntType(64), ir.FloatType(), ir.FunctionType(ir.VoidType(), [])


def _reads(kind: Any, read: Callable[..., Any]) -> Any:
    """Return a compiled function that reads the value at an address."""

    @intrinsic
    def reads(typing: Any, address: Any) -> Any:
        return kind(types.int64), lambda context, builder, signature, arguments: read(builder, arguments[0])

    return reads


read_int64 = _reads(types.int64, lambda builder, address: builder.load(builder.inttoptr(address, _INT64.as_pointer())))
single = _reads(types.float32, lambda builder, address: builder.load(builder.inttoptr(address, _FLOAT.as_pointer())))
pointer = _reads(types.voidptr, lambda builder, address: builder.inttoptr(address, ir.IntType(8).as_pointer()))
# The number before it is one more: no two threads see the same
take = _reads(
    types.int64,
    lambda builder, address: builder.atomic_rmw(
        "add", builder.inttoptr(address, _INT64.as_pointer()), _INT64(1), "acq_rel"
    ),
)
# A value that another thread may have written meanwhile
current = _reads(
    types.int64,
    lambda builder, address: builder.load_atomic(builder.inttoptr(address, _INT64.as_pointer()), "acquire", SLOT),
)


@intrinsic
def call(typing: Any, function: Any, argument: Any) -> Any:
    """Call the function at an address with an integer."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(ir.VoidType(), [_INT64])
        builder.call(builder.inttoptr(arguments[0], kind.as_pointer()), [arguments[1]])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), generate


def invoking(kinds: list[str], place: int) -> Any:
    """Return a function that calls a compiled function through its address in a table.

    The callee's code is therefore not inlined into the caller and compiled again.
    """
    signature = [getattr(types, kind) for kind in kinds]

    def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        convention, (table, *given) = context.call_conv, arguments
        kind = convention.get_function_type(types.void, signature).as_pointer()
        slot = builder.inttoptr(builder.add(table, _INT64(place * SLOT)), _INT64.as_pointer())
        convention.call_function(builder, builder.inttoptr(builder.load(slot), kind), types.void, signature, given)
        return context.get_dummy_value()

    names = ", ".join(f"a{i}" for i in range(len(kinds)))  # numba needs a name for each argument
    made: dict[str, Any] = {"answer": (types.void(types.int64, *signature), generate)}
    exec(f"def invoke(typing, table, {names}): return answer", made)
    return intrinsic(made["invoke"])


@intrinsic
def asked(typing: Any, function: Any) -> Any:
    """Return the C int that the function at an address returns; 0 without an address."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        small = ir.IntType(32)
        with builder.if_else(builder.icmp_signed("!=", arguments[0], _INT64(0))) as (there, missing):
            with there:
                kind = ir.FunctionType(small, [])
                found, here = builder.call(builder.inttoptr(arguments[0], kind.as_pointer()), []), builder.block
            with missing:
                elsewhere = builder.block
        made = builder.phi(small)
        made.add_incoming(found, here)
        made.add_incoming(small(0), elsewhere)
        return builder.sext(made, _INT64)

    return types.int64(types.int64), generate


@intrinsic
def claim(typing: Any, address: Any, bit: Any) -> Any:
    """Atomically set a bit of the number at an address; return the previous number. Only one thread sees it unset."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = builder.inttoptr(arguments[0], _INT64.as_pointer())
        return builder.atomic_rmw("or", place, builder.shl(_INT64(1), arguments[1]), "acq_rel")

    return types.int64(types.int64, types.int64), generate


@intrinsic
def rest(typing: Any) -> Any:
    """The processor's pause instruction, for loops that wait."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if platform.machine() in ("x86_64", "AMD64"):
            builder.call(builder.module.declare_intrinsic("llvm.x86.sse2.pause", fnty=_NOTHING), [])
        return context.get_dummy_value()

    return types.void(), generate


_SOURCE = """
def {name}(table):
    rank = asked(read_int64(table + {rank}))
    parts, begin = read_int64(table + {parts}), read_int64(table + {begin})
    count, unit = read_int64(table + {count}), read_int64(table + {unit})
    units = (count + unit - 1) // unit
    part = rank * parts // read_int64(table + {threads})
    for _ in range(parts):
        if part >= parts:
            part -= parts
        mine = not (current(table + {taken}) >> part) & 1 and not (claim(table + {taken}, part) >> part) & 1
        part += 1
        if not mine:
            continue
        first = begin + min((part - 1) * units // parts * unit, count)
        last = begin + min(part * units // parts * unit, count)
        invoke(table, {arguments})
        take(table + {done})
"""
_SLOTS = {
    "taken": TAKEN,
    "done": DONE,
    "parts": PARTS,
    "threads": THREADS,
    "rank": RANK,
    "begin": BEGIN,
    "count": COUNT,
    "unit": UNIT,
}
_CALLED = {"asked": asked, "claim": claim, "current": current, "single": single, "take": take, "read_int64": read_int64}
_READS = {
    "int64": "read_int64(table + {})",
    "float32": "single(table + {})",
}


def entry(kernel: Any, signature: str) -> int | None:
    """Return the address of the kernel's entry point; None if a table cannot hold an argument or it has no parts."""
    names = list(inspect.signature(kernel.py_func).parameters)
    kinds = [kind.strip() for kind in signature.removeprefix("void(").removesuffix(")").split(",")]
    if sum(name in BOUNDS for name in names) != 2 or len(kinds) != len(names) or not set(kinds) <= set(_READS):
        return None
    slots = {name: slot * SLOT for name, slot in _SLOTS.items()}
    parts = {"arguments": _arguments(names, kinds), **slots}
    # Code is kept by name and by the age of the kernel's file: tables and entries may have changed since
    name = f"entry_{kernel.__name__}_{crc32(_SOURCE.format(name='', **parts).encode()):x}"
    text = _SOURCE.format(name=name, **parts)
    made: dict[str, Any] = {"invoke": invoking(kinds, KERNEL), **_CALLED}
    exec(compile(text, kernel.py_func.__code__.co_filename, "exec"), made)  # compiled code is kept beside that file
    function = made[name]
    function.__module__ = kernel.py_func.__module__
    (found,) = kernel.overloads.values()
    kernel.address, kernel.kinds = found.library.get_pointer_to_function(found.fndesc.llvm_func_name), kinds
    kernel.held_entry = _callback(function)
    return kernel.held_entry.address


def _callback(function: Callable[..., None]) -> Any:
    """Return a function of a table that native threads can call."""
    try:
        return cfunc("void(int64)", cache=True)(function)
    except (RuntimeError, OSError):  # no cache folder
        return cfunc("void(int64)")(function)


def _arguments(names: list[str], kinds: list[str]) -> str:
    """The arguments of a call, read from the table; a thread's scratch memory is one of several behind one another."""
    found, slot = [], ARGUMENTS
    for name, kind in zip(names, kinds, strict=True):
        if name in BOUNDS:
            found.append(BOUNDS[name])
            continue
        text = _READS[kind].format(slot * SLOT)
        found.append(f"{text} + rank * read_int64(table + {SCRATCH_SIZE * SLOT})" if name == "scratch" else text)
        slot += 1
    return ", ".join(found)


def _chain(table):
    """Take part in the work of each kernel; a kernel starts only when all parts of the previous one are done."""
    for link in range(read_int64(table + LENGTH * SLOT)):
        place = table + (LINKS + 2 * link) * SLOT
        own = read_int64(place + SLOT)
        call(read_int64(place), own)
        looks = 0
        while current(own + DONE * SLOT) < read_int64(own + PARTS * SLOT):
            rest()
            looks += 1
            if looks % PATIENCE == 0:
                call(read_int64(table + YIELD * SLOT), 0)


@functools.cache
def chain() -> Any:
    """The entry of chains."""
    return _callback(_chain)
