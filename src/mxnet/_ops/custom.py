"""The `Custom` operator: forward, gradient, shapes and types come from a user's Python class.

`mxnet.operator` fills `PROPERTIES`, `RUNNER` (which runs one on tensors) and `CALLER` (on arrays of any storage); this
file only ties them to the registry.
"""

import functools
import traceback
from collections.abc import Callable, Sequence
from typing import Any

from .._core.dtypes import SCALARS, dtype_name
from .._core.errors import MXNetError
from .registry.registry import Attrs, op
from .registry.sparse_outputs import INCONSISTENT, KINDS

PROPERTIES: dict[str, Callable[..., Any]] = {}
RUNNER: list[Callable[..., Any]] = []
CALLER: list[Callable[..., Any]] = []


def properties(attrs: Attrs) -> Any:
    """A new property object of the user's class for these attributes, which it gets as text."""
    made, given = _factory(attrs)
    return made(**given)


def _factory(attrs: Attrs) -> tuple[Callable[..., Any], dict[str, str]]:
    name = attrs.get("op_type")
    if name not in PROPERTIES:
        known = ", ".join(sorted(PROPERTIES)) or "none"
        raise MXNetError(f"Cannot find custom operator {name}: register it with mx.operator.register (known: {known})")
    given = {k: v for k, v in attrs.items() if k not in ("op_type", "num_args") and not k.startswith("_")}
    return PROPERTIES[name], given


@functools.lru_cache(maxsize=256)
def _shared(factory: Callable[..., Any], given: tuple[tuple[str, str], ...]) -> Any:
    return factory(**dict(given))


def _asked(attrs: Attrs) -> Any:
    """The property object that is only asked for names, shapes and types: one for all calls with these attributes."""
    factory, given = _factory(attrs)
    return _shared(factory, tuple(sorted(given.items())))


def _inputs(attrs: Attrs) -> tuple[str, ...]:
    made = _asked(attrs)
    return (*made.list_arguments(), *made.list_auxiliary_states())


def _outputs(attrs: Attrs) -> tuple[str, ...]:
    return tuple(_asked(attrs).list_outputs())


def _aux(attrs: Attrs) -> tuple[str, ...]:
    return tuple(_asked(attrs).list_auxiliary_states())


def _shapes(attrs: Attrs, shapes: list[Any]) -> tuple[list[Any], list[Any]]:
    """(input shapes, output shapes) as the user's class infers them; nothing while an argument is unknown."""
    made = _asked(attrs)
    arguments = len(made.list_arguments())
    if any(s is None for s in shapes[:1]):
        return list(shapes), [None] * len(made.list_outputs())
    given = [list(s) if s is not None else [] for s in shapes[:arguments]]
    found = made.infer_shape(given)
    inputs, outputs = found[0], found[1]
    states = found[2] if len(found) > 2 else []
    return [tuple(s) for s in (*inputs, *states)], [tuple(s) for s in outputs]


def _fill(attrs: Attrs, shapes: list[Any]) -> list[Any]:
    return _shapes(attrs, shapes)[0]


def _shape(attrs: Attrs, shapes: list[Any]) -> list[Any]:
    return _shapes(attrs, shapes)[1]


def types(attrs: Attrs, dtypes: list[str | None]) -> tuple[list[str], list[str]]:
    """(input dtypes, output dtypes) as the user's class infers them."""
    made = _asked(attrs)
    arguments = len(made.list_arguments())
    given = [SCALARS[d or next((e for e in dtypes if e), "float32")] for d in dtypes[:arguments]]
    found = made.infer_type(given)
    states = found[2] if len(found) > 2 else []
    return [dtype_name(t) for t in (*found[0], *states)], [dtype_name(t) for t in found[1]]


def storage(attrs: Attrs, given: Sequence[str]) -> list[str]:
    """The storage of the outputs, as the user's class infers it from that of arguments and states."""
    made = _asked(attrs)
    arguments, count = len(made.list_arguments()), len(made.list_auxiliary_states())
    if len(given) != arguments + count:
        raise MXNetError(
            f"Operator Custom expects {arguments + count} inputs, but got {len(given)} instead "
            f"(op_type {attrs['op_type']})"
        )
    found = _told(attrs, made.infer_storage_type, list(given[:arguments]))
    inputs, outputs, states = _lists(attrs, found, arguments, len(made.list_outputs()), count)
    _agree([*given], [*inputs, *states])
    return list(outputs)


def storage_backward(attrs: Attrs, given: Sequence[Sequence[str]]) -> list[list[str]]:
    """The storage of all that the backward pass sees: gradients of outputs, inputs, outputs, gradients, states.

    Gradients of outputs come in the storage that is asked for; what else is given must stay what it is.
    """
    found = _told(attrs, _asked(attrs).infer_storage_type_backward, *(list(kinds) for kinds in given))
    lists = _lists(attrs, found, *map(len, given))
    for before, after in list(zip(given, lists, strict=True))[1:]:
        _agree(before, after)
    return lists


def _told(attrs: Attrs, method: Callable[..., Any], *given: Any) -> Any:
    """What a method of the user's class answers; whatever it raises is an error of the operator."""
    try:
        return method(*given)
    except Exception as error:
        raise MXNetError(f"Error in {attrs['op_type']}.{method.__name__}: {traceback.format_exc()}") from error


def _lists(attrs: Attrs, found: Any, *sizes: int) -> list[list[str]]:
    """The lists of storage types that a user's class gave, of these lengths; the last, of states, may be left out."""
    lists = [list(kinds) for kinds in found]
    lists += [[]] * (len(lists) == len(sizes) - 1)
    if [len(kinds) for kinds in lists] != list(sizes) or not set().union(*lists) <= set(KINDS):
        raise MXNetError(
            f"Error in operator {attrs['op_type']}: expecting lists of {', '.join(map(str, sizes))} storage types, "
            f"each one of {', '.join(KINDS)}, got {found}"
        )
    return lists


def _agree(given: Sequence[str], found: Sequence[str]) -> None:
    for provided, inferred in zip(given, found, strict=True):
        if provided not in (inferred, "undefined"):
            raise MXNetError(INCONSISTENT.format(provided, inferred))


def _fill_types(attrs: Attrs, dtypes: list[str | None]) -> list[str | None]:
    return list(types(attrs, dtypes)[0]) if any(dtypes) else dtypes


@op(
    "Custom",
    inputs=_inputs,
    outputs=_outputs,
    aux=_aux,
    fill=_fill,
    shape=_shape,
    fill_types=_fill_types,
    dtype="any",
    storage=storage,
)
def custom(*data, op_type: str, _train: bool, _ctx: Any, _kept: Any, _stypes: Any, **attrs: str):
    """An operator that a user wrote in Python and registered with `mx.operator.register`."""
    if not RUNNER:
        raise MXNetError(f"Cannot find custom operator {op_type}: none is registered")
    return RUNNER[0](data, {"op_type": op_type, **attrs}, _train, _ctx, _kept, _stypes)
