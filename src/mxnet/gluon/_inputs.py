"""Inputs and results of a HybridBlock's call: arrays or symbols, classic or NumPy's, and errors if they do not fit."""

from .. import symbol
from ..ndarray import NDArray
from ..util import is_np_array
from ._nesting import _gather_type_ctx_info

MIXED = (
    "In HybridBlock, we do not support mixed NDArrays and Symbols types for the input. "
    "Please check the type of the args.\n"
)
NEITHER = "In HybridBlock, there must be one NDArray or one Symbol in the input. Please check the type of the args.\n"


def neither(*args):
    return f"{NEITHER}Got: {', '.join(type(arg).__name__ for arg in args)}; make arrays with mx.nd.array."


def beside(x, args):
    """Are all of them arrays, plain ones, in the context of the first?"""
    return all(type(arg) is NDArray and arg._ctx is x._ctx for arg in args)


def survey(x, args):
    """(are the inputs symbols, the first array's context, all contexts)."""
    has_symbol, has_ndarray, contexts, first = _gather_type_ctx_info([x, *args])
    if has_symbol and has_ndarray:
        raise ValueError(MIXED)
    if not has_symbol and not has_ndarray:
        raise ValueError(neither(x, *args))
    return has_symbol, first, contexts


def variables_for(flat, args):
    """A variable for each input, `data` or `data0`, `data1`, …, and None for None."""
    number = sum(arg is not None for arg in flat)
    if number == 0:
        raise ValueError(f"All args are None and we do not support such a case. Received args={args}")
    names = iter(["data"] if number == 1 else [f"data{i}" for i in range(number)])
    made = [None if arg is None else symbol.var(next(names)) for arg in flat]
    return as_np(made) if is_np_array() else made


def check_all_np_ndarrays(out):
    """Refuse classic results, also inside lists."""
    if isinstance(out, (list, tuple)):
        for part in out:
            check_all_np_ndarrays(part)
    elif isinstance(out, (NDArray, symbol.Symbol)) and out.as_np_ndarray() is not out:  # those of mx.np give themselves
        raise TypeError(
            "Block's output ndarrays/symbols must be of type `mxnet.numpy.ndarray` or `mxnet.symbol.numpy._Symbol`, "
            f"while got output type {type(out)}; convert it with as_np_ndarray()"
        )


def as_np(out):
    """Classic operators give classic arrays; under NumPy's rules a block gives `mx.np` ones, nested as they were."""
    if isinstance(out, (list, tuple)):
        return type(out)([as_np(o) for o in out])
    return out.as_np_ndarray() if isinstance(out, (NDArray, symbol.Symbol)) else out


def misfitting_call(error, inputs, params):
    """The error of a call that does not fit the signature of `hybrid_forward`."""
    given = ", ".join(["self", "F", f"{inputs} input{'s' * (inputs > 1)}", *(f"{name}=…" for name in params)])
    return TypeError(
        f"{error}. It is called with {given}: F is mx.nd, or mx.sym in a hybridized block, and each parameter of the "
        "block is passed by the name of its attribute"
    )
