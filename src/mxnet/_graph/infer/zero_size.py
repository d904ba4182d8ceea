"""Shapes under NumPy's semantics (`mx.util.np_shape`), where a size of 0 is known and -1 is not.

The rules of single operators read 0 as unknown. So inference runs twice, each time with another large prime in place
of every zero. A size that is equal in both runs is known; one that differs is extrapolated linearly to a prime of 0.
"""

from collections.abc import Iterable
from typing import Any

from ..._core.errors import MXNetError
from ..._ops.registry.output_shapes import known
from ...util import is_np_shape
from ..ir.node import Entry
from .fixpoint import Facts, encode_shape, shape_facts

Shape = tuple[int, ...]
PRIMES = 1000003, 1000033


def user_shape_facts(heads: Iterable[Entry], given: dict[str, Shape], strict: bool = True) -> Facts:
    """Infer all shapes from those that a user gives, under the current shape semantics."""
    heads = list(heads)
    if not is_np_shape():
        return shape_facts(heads, {name: encode_shape(s, 0) for name, s in given.items() if s}, strict)
    try:
        first, second = (
            shape_facts(heads, {name: encode_shape(s, p) for name, s in given.items()}, strict, p) for p in PRIMES
        )
    except MXNetError as error:
        raise MXNetError(_primes_to_zeros(str(error))) from None
    for node, shapes in first.values.items():
        pairs = zip(shapes, second.values[node], strict=True)
        first.values[node] = tuple(tuple(map(_size, a, b)) if a is not None else None for a, b in pairs)
    return first


def fully_known(shape: Any) -> bool:
    """Is every size of a user's shape known, under the current semantics?"""
    return shape is not None and all(s >= 0 for s in shape) if is_np_shape() else known(shape)


def _size(one: int, other: int) -> int:
    if one == 0:
        return -1
    slope = (other - one) // (PRIMES[1] - PRIMES[0])
    return max(one - slope * PRIMES[0], 0)


def _primes_to_zeros(text: str) -> str:
    for prime in PRIMES:
        text = text.replace(str(prime), "0")
    return text
