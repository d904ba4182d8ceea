"""Nested inputs and outputs of blocks: flattening lists of lists, and putting them together again.

A format describes the structure: 0 is one array, -1 is None, n > 1 a symbol with n outputs, a list a list of formats.
"""

from itertools import chain

from ..ndarray import NDArray
from ..symbol import Symbol


def _flatten(args, inout_str):
    """A flat list of the arrays or symbols in `args`, and the format."""
    if isinstance(args, NDArray):
        return [args], 0
    if isinstance(args, Symbol):
        outputs = len(args.list_outputs())
        return [args], outputs if outputs > 1 else 0
    if args is None:
        return [None], -1
    if not isinstance(args, (list, tuple)):
        raise ValueError(
            f"When hybridized, the input of HybridBlock {inout_str} must be (nested) list of Symbol"
            f" or NDArray, but got {args} of type {type(args)}"
        )
    parts = [_flatten(arg, inout_str) for arg in args]
    return list(chain.from_iterable(flat for flat, _ in parts)), [fmt for _, fmt in parts]


def _regroup(args, fmt):
    """The structure that `fmt` describes, filled with the flat `args`."""
    return _take(args, fmt)[0]


def _take(args, fmt):
    """What `fmt` asks for out of the flat `args`, and what is left of them."""
    if not isinstance(fmt, int):
        if not isinstance(args, (list, tuple)):
            raise ValueError(
                "When hybridized, the output of HybridBlock must be (nested) list of Symbol or NDArray, "
                f"but got {args} of type {type(args)}"
            )
        grouped = []
        for part in fmt:
            value, args = _take(args, part)
            grouped.append(value)
        return grouped, args
    if fmt > 0:
        return args[:fmt], args[fmt:]
    if fmt < -1:
        raise ValueError(f"Unsupported encoded format {fmt}.")
    if fmt == -1 and args[0] is not None:
        raise ValueError(
            "We do not support passing types that are not None when the initial HybridBlock has received NoneType and"
            f" has been hybridized. Received arg = {args[0]}, fmt = {fmt}."
        )
    return args[0], args[1:]


def _fits(fmt, stored):
    """Whether inputs of format `fmt` can run a graph traced with `stored`: one may end with Nones the other lacks."""
    shorter, longer = sorted((fmt, stored), key=len)
    common = len(shorter)
    return len(longer) > common and longer[:common] == shorter and all(part == -1 for part in longer[common:])


def _gather_type_ctx_info(args):
    """(has a symbol, has an array, the contexts of the arrays, the first of them), looking into nested lists."""
    if isinstance(args, NDArray):
        return False, True, {args.ctx}, args.ctx
    if isinstance(args, Symbol):
        return True, False, set(), None
    has_symbol, has_ndarray, contexts, first = False, False, set(), None
    for arg in args if isinstance(args, (list, tuple)) else ():
        inner_symbol, inner_ndarray, inner_contexts, inner_first = _gather_type_ctx_info(arg)
        has_symbol |= inner_symbol
        has_ndarray |= inner_ndarray
        contexts |= inner_contexts
        first = first or inner_first
    return has_symbol, has_ndarray, contexts, first
