"""Lists of tensors with arithmetic, by torch's multi-tensor calls: what optimizer formulas compute with.

A product or quotient waits for the sum that it is part of, which torch computes in one pass; a sum waits until its
value is needed, and is then computed once. So a formula that is written as mathematics takes as many passes over
memory as the same calls written by hand.
"""

from collections.abc import Callable, Sequence
from math import inf
from typing import Any

import torch
from torch import Tensor

from ..._kernels.optimizer.tensor_lists import uniform

_NUMBERS = frozenset((int, float))
Tensors = Any  # a list or tuple of tensors: torch's stubs of multi-tensor calls disagree about which


class PerTensor:
    """A number for each tensor of a list, with arithmetic; the numbers may be tensors without axes."""

    def __init__(self, values: Sequence[Any]) -> None:
        self.values = list(values)

    def _map(self, function: Callable[..., Any], other: Any = None) -> "PerTensor":
        others = other.values if isinstance(other, PerTensor) else [other] * len(self.values)
        return PerTensor([function(a, b) for a, b in zip(self.values, others, strict=True)])

    def __add__(self, other: Any) -> "PerTensor":
        return self._map(lambda a, b: a + b, other)

    def __rsub__(self, other: Any) -> "PerTensor":
        return self._map(lambda a, b: b - a, other)

    def __mul__(self, other: Any) -> Any:
        return NotImplemented if isinstance(other, Value) else self._map(lambda a, b: a * b, other)

    def __truediv__(self, other: Any) -> "PerTensor":
        return self._map(lambda a, b: a / b, other)

    def __rtruediv__(self, other: Any) -> "PerTensor":
        return self._map(lambda a, b: b / a, other)

    __radd__, __rmul__ = __add__, __mul__


def per_tensor(numbers: Sequence[Any]) -> Any:
    """The numbers of a list of tensors: one for all where they agree, as they mostly do."""
    if _NUMBERS.issuperset(map(type, numbers)):
        return numbers[0] if uniform(numbers) else PerTensor(numbers)
    some = next((number for number in numbers if isinstance(number, Tensor)), None)
    if some is not None:
        return PerTensor([n if isinstance(n, Tensor) else some.new_full((), n) for n in numbers])
    return numbers[0] if all(number == numbers[0] for number in numbers) else PerTensor(numbers)


def _is(number: Any, value: float) -> bool:
    return isinstance(number, (int, float)) and number == value


class Value:
    """A list of tensors, or what will be one: `tensors` computes it."""

    @property
    def tensors(self) -> Tensors:
        raise NotImplementedError

    @property
    def terms(self) -> "list[Term]":
        """The value as a sum."""
        return [Term(self.tensors)]

    def compute(self) -> "Value":
        """The value, computed now."""
        return Plain(self.tensors)

    def __add__(self, other: Any) -> "Value":
        if isinstance(other, Value):
            return Sum([*self.terms, *other.terms])
        return self if _is(other, 0) else Plain(_added(self.tensors, other))

    def __sub__(self, other: "Value") -> "Value":
        return Sum([*self.terms, *(term.scaled(-1.0) for term in other.terms)])

    def __rsub__(self, zero: float) -> "Value":
        return Sum([term.scaled(-1.0) for term in self.terms])

    def __mul__(self, other: Any) -> "Value":
        if isinstance(other, Value):
            return Term(self.tensors, times=other.tensors)
        return Sum([term.scaled(other) for term in self.terms])

    def __truediv__(self, other: "Value") -> "Value":
        return Term(self.tensors, over=other.tensors)

    __radd__, __rmul__ = __add__, __mul__

    def clamp(self, low: float, high: float) -> "Value":
        """The value cut off at two numbers."""
        if high == inf:
            return self
        result = torch._foreach_clamp_min(self.tensors, low)
        torch._foreach_clamp_max_(result, high)
        return Plain(result)

    def sqrt(self) -> "Value":
        return Plain(torch._foreach_sqrt(self.tensors))

    def sign(self) -> "Value":
        """-1, 0 or 1; 0 for NaN, as two comparisons give."""
        return Plain([t.sign().nan_to_num_(0.0) for t in self.tensors])

    def absolute(self) -> "Value":
        return Plain(torch._foreach_abs(self.tensors))

    def maximum(self, other: "Value") -> "Value":
        return Plain(torch._foreach_maximum(self.tensors, other.tensors))

    def shrunk(self, by: float) -> "Value":
        """Nearer to zero by a number, and zero within it; the sign stays."""
        return Plain([torch.nn.functional.softshrink(t, by) for t in self.tensors])

    def row_mean(self) -> "Value":
        return Plain([t.flatten(1).mean(1).view(-1, *[1] * (t.dim() - 1)) for t in self.tensors])


class Plain(Value):
    """Tensors that are there."""

    def __init__(self, tensors: Any) -> None:
        self._tensors = tensors

    @property
    def tensors(self) -> Tensors:
        return self._tensors


class State(Plain):
    """Tensors that a formula may write: weights and what optimizers keep of them."""

    def assign(self, value: Value) -> "State":
        """Write the value into these tensors."""
        own, (first, *others) = self._tensors, value.terms
        if not first.is_multiple_of(own) or any(term.reads(own) for term in others):
            torch._foreach_copy_(own, value.tensors)
            return self
        if not _is(first.factor, 1):
            torch._foreach_mul_(own, _scalars(first.factor))
        for term in others:
            term.add_to(own)
        return self


class Term(Value):
    """factor * left, times another list or over one."""

    def __init__(self, left: Tensors, factor: Any = 1.0, times: Tensors | None = None, over: Tensors | None = None):
        self.left, self.factor, self.times, self.over = left, factor, times, over
        self._value: Tensors | None = None

    @property
    def terms(self) -> "list[Term]":
        return [self]

    def is_multiple_of(self, tensors: Tensors) -> bool:
        return self.left is tensors and self.times is None and self.over is None

    def reads(self, tensors: Tensors) -> bool:
        return tensors is self.left or tensors is self.times or tensors is self.over

    def scaled(self, factor: Any) -> "Term":
        return self if _is(factor, 1) else Term(self.left, self.factor * factor, self.times, self.over)

    @property
    def tensors(self) -> Tensors:
        if self._value is None:
            self._value = self.computed()
        return self._value

    def computed(self) -> Tensors:
        """The value in new memory, unless it is `left` itself."""
        if self.times is not None:
            result = torch._foreach_mul(self.left, self.times)
        elif self.over is not None:
            result = torch._foreach_div(self.left, self.over)
        elif _is(self.factor, 1):
            return self.left
        else:
            return torch._foreach_mul(self.left, _scalars(self.factor))
        if not _is(self.factor, 1):
            torch._foreach_mul_(result, _scalars(self.factor))
        return result

    def added_to(self, tensors: Tensors) -> Tensors:
        """tensors + this, in new memory."""
        if self.times is None and self.over is None and isinstance(self.factor, (int, float)):
            return torch._foreach_add(tensors, self.left, alpha=self.factor)
        result = torch._foreach_clone(tensors)
        self.add_to(result)
        return result

    def add_to(self, tensors: Tensors) -> None:
        """tensors += this."""
        factor: Any = self.factor
        if _is(factor, 0):
            return
        listed = isinstance(factor, PerTensor)
        if listed and (self.times is self.over is None or isinstance(factor.values[0], Tensor)):
            torch._foreach_add_(tensors, self.tensors)
        elif self.times is not None:
            torch._foreach_addcmul_(tensors, self.left, self.times, _scalars(factor))
        elif self.over is not None:
            torch._foreach_addcdiv_(tensors, self.left, self.over, _scalars(factor))
        else:
            torch._foreach_add_(tensors, self.left, alpha=_scalars(factor))


class Sum(Value):
    """Terms that are added when the value is needed; multiples of one list are one term."""

    def __init__(self, terms: list[Term]) -> None:
        merged: list[Term] = []
        for term in terms:
            same = next((i for i, m in enumerate(merged) if m.is_multiple_of(term.left)), None)
            if same is None or not term.is_multiple_of(term.left):
                merged.append(term)
            else:
                merged[same] = Term(term.left, merged[same].factor + term.factor)
        self._terms = [term for term in merged if not _is(term.factor, 0)] or merged[:1]
        self._value: Tensors | None = None

    @property
    def terms(self) -> list[Term]:
        return self._terms if self._value is None else [Term(self._value)]

    @property
    def tensors(self) -> Tensors:
        if self._value is None:
            first, *others = self._terms
            value = first.computed()
            if value is first.left and others:
                value, others = others[0].added_to(value), others[1:]
            for term in others:
                term.add_to(value)
            self._value = value
        return self._value


def _scalars(factor: Any) -> Any:
    return factor.values if isinstance(factor, PerTensor) else factor


def _added(tensors: Tensors, number: Any) -> Any:
    return torch._foreach_add(tensors, _scalars(number))
