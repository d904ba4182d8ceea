"""Shapes and dtypes of one operator's inputs and outputs, by its declarations, else by a trial run.

A shape is a tuple or None (nothing known); a size of 0 is unknown. For unknown sizes the function is run twice with
different primes in their place: an output size that differs between the runs is unknown, one that does not is known.
"""

from collections.abc import Sequence
from typing import Any

import torch

from ..._core.errors import MXNetError, cause
from ..._core.hints import advice
from ..._core.lru import Recent
from ..._device.errors import explained
from ...context import cpu
from .registry import Attrs, Op
from .shape_rules import bracket
from .torch_dtypes import NAME, TORCH

Shape = tuple[int, ...]
PRIMES = ((7919, 7927, 7933, 7937), (6007, 6011, 6029, 6037))
MAX_CACHED = 1 << 10  # trial runs; bounds the memo of programs whose shapes never repeat
_MEMO: Recent[Any, Any] = Recent(MAX_CACHED)
# What a function may raise when the sizes or types it got cannot be combined.
_REFUSALS = (RuntimeError, IndexError, ValueError, TypeError, NotImplementedError, MemoryError)


def known(shape: Shape | None) -> bool:
    """Are the rank and every size known?"""
    return shape is not None and all(s > 0 for s in shape)


def unify(a: Shape | None, b: Shape | None, where: str) -> Shape | None:
    """Merge two partial shapes of one value; raise if they disagree."""
    if a is None or b is None:
        return b if a is None else a
    if len(a) != len(b) or any(x and y and x != y for x, y in zip(a, b, strict=False)):
        raise MXNetError(f"{where}: expected shape {list(a)}, got {list(b)}")
    return tuple(x or y for x, y in zip(a, b, strict=True))


def _broadcast(shapes: Sequence[Shape | None]) -> Shape | None:
    if any(s is None for s in shapes):
        return None
    given = [s for s in shapes if s is not None]
    ndim = max(len(s) for s in given)
    result: list[int] = []
    for axis in range(ndim):
        sizes = {s[axis - ndim + len(s)] for s in given if axis - ndim + len(s) >= 0}
        large = {s for s in sizes if s > 1}
        if len(large) > 1:
            raise MXNetError(f"operands could not be broadcast together with shapes {' '.join(map(bracket, given))}")
        result.append(large.pop() if large else 0 if 0 in sizes else 1)
    return tuple(result)


def infer_shape(
    op: Op, attrs: Attrs, shapes: Sequence[Shape | None], dtypes: Sequence[str | None] = ()
) -> tuple[list[Shape | None], list[Shape | None]]:
    """Completed input shapes and the output shapes; None where they are not known yet. `attrs` are parsed."""
    inputs = list(shapes)
    if op.fill is not None:
        filled = op.fill(op.full(attrs), list(inputs))
        names = op.input_names(attrs, len(inputs))
        inputs = [unify(a, b, f"{op.name}, input {n}") for a, b, n in zip(inputs, filled, names, strict=True)]
    count = len(op.output_names(attrs))
    if op.shape == "same":
        merged: Shape | None = None
        for i, s in enumerate(inputs):
            merged = unify(merged, s, f"{op.name}, input {i}")
        return [merged] * len(inputs), [merged] * count
    if op.shape == "broadcast":
        return inputs, [_broadcast(inputs)] * count
    if callable(op.shape):
        declared = op.shape(op.full(attrs), list(inputs))
        if declared is not None:
            return inputs, list(declared)
    if any(s is None for s in inputs):
        return inputs, [None] * count
    return inputs, _by_running(op, attrs, inputs, dtypes, count)


def _by_running(
    op: Op, attrs: Attrs, shapes: Sequence[Shape | None], dtypes: Sequence[str | None], count: int
) -> list[Shape | None]:
    """Output shapes by a trial run; two runs with primes for unknown sizes tell which output sizes are known."""
    all_known = all(known(s) for s in shapes)
    try:
        first = _run(op, attrs, with_primes(shapes, PRIMES[0]), dtypes)
    except MXNetError:
        if all_known:
            raise
        return [None] * count
    if all_known:
        return [s for s, _ in first]
    try:
        second = _run(op, attrs, with_primes(shapes, PRIMES[1]), dtypes)
    except MXNetError:
        return [None] * count
    return [stable(a, b) for (a, _), (b, _) in zip(first, second, strict=True)]


def stable(a: Shape, b: Shape) -> Shape | None:
    """The sizes that do not depend on the primes that stood for unknown ones; the others become 0."""
    return tuple(x if x == y else 0 for x, y in zip(a, b, strict=True)) if len(a) == len(b) else None


def with_primes(shapes: Sequence[Shape | None], primes: tuple[int, ...]) -> tuple[Shape, ...]:
    """Shapes with unknown sizes replaced by primes."""
    return tuple(tuple(s or primes[i % len(primes)] for i, s in enumerate(shape or ())) for shape in shapes)


def _key(value: Any) -> Any:
    return tuple(_key(v) for v in value) if isinstance(value, (list, tuple)) else value


def _run(op: Op, attrs: Attrs, shapes: tuple[Shape, ...], dtypes: Sequence[str | None]) -> list[tuple[Shape, str]]:
    """(shape, dtype) of each output, memoised by operator, attributes and inputs."""
    types = tuple(d or "float32" for d in dtypes) + ("float32",) * (len(shapes) - len(dtypes))
    key = (op.name, tuple(sorted((k, _key(v)) for k, v in attrs.items())), shapes, types)
    found = _MEMO.get(key) or _MEMO.again(key)
    if found is None:
        found = _MEMO.keep(key, _outputs(op, attrs, shapes, types))
    return found


def _outputs(op: Op, attrs: Attrs, shapes: tuple[Shape, ...], types: tuple[str, ...]) -> list[tuple[Shape, str]]:
    result = None
    error: Exception | None = None
    size = sum(torch.Size(s).numel() for s in shapes)
    for device in _devices(0 if "_rng" in op.injected else size):  # drawing with parameters of zero may never end
        try:
            with torch.no_grad():
                tensors = [torch.zeros(s, dtype=TORCH[t], device=device) for s, t in zip(shapes, types, strict=True)]
                result = op.fn(*tensors, **attrs, **_injected(op, device))
            break
        except (MXNetError, *_REFUSALS) as refusal:  # an operator may refuse zeros as values though the shapes fit
            error = error or refusal
    if result is None:
        listed = ", ".join(str(tuple(s)) for s in shapes)
        found = error or MXNetError("nothing was computed")
        hint = advice(op.name, shapes, attrs)
        said = f"Error in operator {op.name}: inputs of shapes {listed}: {explained(found)}{hint}"
        raise MXNetError(said) from cause(found)
    results = result if isinstance(result, (tuple, list)) else (result,)
    return [(tuple(r.shape), NAME[r.dtype]) for r in results]


def _devices(size: int) -> tuple[str, ...]:
    """Where to run. Small inputs run on the CPU: many meta functions import torch's compiler, which takes seconds.

    Large inputs run on `meta`; a few functions read values and refuse that, so the CPU is the second choice.
    """
    if 0 < size <= 1 << 20:
        return "cpu", "meta"
    return ("meta", "cpu") if size <= 1 << 22 else ("meta",)


def _injected(op: Op, device: str) -> Attrs:
    values: Attrs = {}
    for name in op.injected:
        if name == "_train":
            values[name] = False
        elif name == "_device":
            values[name] = torch.device(device)
        elif name == "_ctx":
            values[name] = cpu()
        elif name in ("_kept", "_stypes"):
            values[name] = None
        elif name == "_set_gamma":
            values[name] = False
        else:
            from ..._core.streams import Stream

            values[name] = Stream(0, 0)
    return values


def infer_type(
    op: Op, attrs: Attrs, dtypes: Sequence[str | None], shapes: Sequence[Shape | None] = ()
) -> tuple[list[str | None], list[str | None]]:
    """Completed input dtypes and the output dtypes, as names; None where they are not known yet."""
    inputs = _completed_types(op, attrs, list(dtypes))
    count = len(op.output_names(attrs))
    if any(d is None for d in inputs):
        return inputs, [None] * count  # pyright: ignore[reportReturnType]
    # A creation operator may not be run before its size is known.
    unsized = not inputs and callable(op.shape) and not all(known(s) for s in op.shape(op.full(attrs), []))
    if (shapes or not inputs) and not unsized and all(known(s) for s in shapes):
        return inputs, [t for _, t in _run(op, attrs, tuple(s or () for s in shapes), inputs)]  # pyright: ignore[reportReturnType]
    dtype = op.full(attrs).get("dtype")
    return inputs, [dtype if dtype in TORCH else (inputs[0] if inputs else "float32")] * count  # pyright: ignore[reportReturnType]


def _completed_types(op: Op, attrs: Attrs, dtypes: list[str | None]) -> list[str | None]:
    """Input dtypes by the operator's rule; without one they are those of the first input."""
    if op.fill_types is not None:
        return list(op.fill_types(op.full(attrs), dtypes))
    if op.dtype == "same":
        return [_common_type(op, dtypes)] * len(dtypes)
    return [d or dtypes[0] for d in dtypes]


def _common_type(op: Op, dtypes: list[str | None]) -> str | None:
    """The one dtype of all inputs that have one."""
    first = next((d for d in dtypes if d is not None), None)
    for i, d in enumerate(dtypes):
        if d is not None and d != first:
            raise MXNetError(
                f"Incompatible attr in node {op.name} at {i}-th input: expected {first}, got {d}; "
                "convert one of them: x.astype, or net.cast for parameters"
            )
    return first
