"""Checks on symbols: forward and backward against expected arrays, gradients against finite differences."""

import json
import time

import numpy as np

from .. import ndarray as nd
from .. import symbol
from ..context import current_context
from .comparison import (
    assert_almost_equal,
    default_dtype,
    default_numeric_eps,
    get_tolerance,
    get_tols,
)

Symbol = symbol.Symbol
np_symbol = symbol.numpy._Symbol


def simple_forward(sym, ctx=None, is_train=False, **inputs):
    """A symbol's outputs for NumPy inputs, as NumPy arrays."""
    inputs = {k: nd.array(v) for k, v in inputs.items()}
    executor = sym.bind(ctx or current_context(), args=inputs)
    executor.forward(is_train=is_train)
    outputs = [o.asnumpy() for o in executor.outputs]
    return outputs[0] if len(outputs) == 1 else outputs


def _as_nd(value, ctx, dtype):
    if isinstance(value, nd.NDArray):
        return value
    return nd.array(value, ctx=ctx, dtype=getattr(value, "dtype", dtype) if dtype == "asnumpy" else dtype)


def _located(sym, location, ctx, dtype):
    """Arguments by name, as NDArrays."""
    if isinstance(location, dict):
        if set(location) != set(sym.list_arguments()):
            raise ValueError(
                "Symbol arguments and keys of the given location do not match. "
                f"symbol args:{set(sym.list_arguments())}, "
                f"location.keys():{set(location)}"
            )
    else:
        location = dict(zip(sym.list_arguments(), location, strict=False))
    return {k: _as_nd(v, ctx, dtype) for k, v in location.items()}


def _auxiliary(sym, aux_states, ctx, dtype):
    if aux_states is None:
        return None
    if not isinstance(aux_states, dict):
        aux_states = dict(zip(sym.list_auxiliary_states(), aux_states, strict=True))
    elif set(aux_states) != set(sym.list_auxiliary_states()):
        raise ValueError(
            "Symbol aux_states names and given aux_states do not match. "
            f"symbol aux_names:{set(sym.list_auxiliary_states())}, aux_states.keys:{set(aux_states)}"
        )
    return {k: _as_nd(v, ctx, dtype) for k, v in aux_states.items()}


def numeric_grad(executor, location, aux_states=None, eps=1e-4, use_forward_train=True, dtype=default_dtype()):
    """Gradients of the sum of the first output, by central differences, for each floating argument."""

    def total():
        if aux_states is not None:
            for name, value in aux_states.items():
                executor.aux_dict[name][:] = value
        executor.forward(is_train=use_forward_train)
        return float(executor.outputs[0].asnumpy().astype(np.float64).sum())

    for name, value in location.items():
        executor.arg_dict[name][:] = value
    result = {}
    for name, value in location.items():
        value = np.array(value, order="C")
        result[name] = np.zeros(value.shape, dtype=np.dtype(dtype))
        if value.dtype.kind == "f":
            _differences(executor.arg_dict[name], value, total, eps, result[name].reshape(-1))
    return result


def _differences(argument, value, total, eps, slopes):
    """Fill `slopes` with what `total` gains when each element of the argument does."""
    flat = value.reshape(-1)
    for i, before in enumerate(flat.copy()):
        heights = []
        for step in (eps / 2, -eps / 2):
            flat[i] = before + step
            argument[:] = value
            heights.append(total())
        flat[i] = before
        slopes[i] = (heights[0] - heights[1]) / eps
    argument[:] = value


def _requests(sym, grad_nodes):
    if grad_nodes is None:
        return dict.fromkeys(sym.list_arguments(), "write")
    if isinstance(grad_nodes, (list, tuple)):
        return dict.fromkeys(grad_nodes, "write")
    if isinstance(grad_nodes, dict):
        return dict(grad_nodes)
    raise ValueError(f"grad_nodes must be a list or a dict, got {type(grad_nodes)}")


def check_numeric_gradient(
    sym, location, aux_states=None, numeric_eps=None, rtol=None, atol=None, grad_nodes=None, use_forward_train=True,
    ctx=None, grad_stype_dict=None, dtype=default_dtype(),
):  # fmt: skip
    """Compare a symbol's gradient, projected on a random direction, with finite differences."""
    assert dtype in (np.float16, np.float32, np.float64)
    ctx = ctx or current_context()
    location = _located(sym, location, ctx, dtype)
    values = {k: v.asnumpy() for k, v in location.items()}
    states = _auxiliary(sym, aux_states, ctx, dtype)
    state_values = None if states is None else {k: v.asnumpy() for k, v in states.items()}
    requests = _requests(sym, grad_nodes)
    _, out_shapes, _ = sym.infer_shape(**{k: v.shape for k, v in location.items()})
    loss = symbol.make_loss(sym * symbol.Variable("__random_proj"))
    projection = np.random.rand(*out_shapes[0]) + 0.1  # away from zero, so that every output counts
    location["__random_proj"] = nd.array(projection, ctx=ctx, dtype=dtype)
    before = {k: np.random.normal(0, 0.01, size=location[k].shape) for k in requests}
    stypes = grad_stype_dict or {}
    buffers = {k: nd.array(v, ctx=ctx, dtype=dtype).tostype(stypes.get(k, "default")) for k, v in before.items()}
    buffers["__random_proj"] = nd.zeros(out_shapes[0], ctx=ctx, dtype=dtype)
    executor = loss.bind(
        ctx, grad_req={**requests, "__random_proj": "write"}, args=location, args_grad=buffers, aux_states=states
    )
    executor.forward(is_train=True)
    eps = get_tolerance(executor.outputs[0], numeric_eps, default_numeric_eps())
    executor.backward()
    found = {k: executor.grad_dict[k].asnumpy() for k in requests}
    numeric = numeric_grad(executor, values, state_values, eps, use_forward_train, dtype)
    for name, request in requests.items():
        label = (f"NUMERICAL_{name}", f"BACKWARD_{name}")
        want = _requested(request, numeric[name], before[name])
        assert_almost_equal(want.astype(found[name].dtype), found[name], rtol, atol, label)


def _expected_list(names, expected):
    if isinstance(expected, dict):
        return [expected[k] for k in names]
    return list(expected)


def check_symbolic_forward(
    sym, location, expected, rtol=None, atol=None, aux_states=None, ctx=None, equal_nan=False, dtype=default_dtype()
):
    """Compare a symbol's outputs with expected arrays; returns the outputs."""
    ctx = ctx or current_context()
    args = _located(sym, location, ctx, dtype)
    buffers = {k: nd.empty(v.shape, ctx=ctx, dtype=v.dtype) for k, v in args.items()}
    executor = sym.bind(ctx, args=args, args_grad=buffers, aux_states=_auxiliary(sym, aux_states, ctx, dtype))
    for gradient in executor.grad_arrays:
        if gradient is not None:
            gradient[:] = 0
    executor.forward(is_train=False)
    outputs = [o.asnumpy() for o in executor.outputs]
    for name, want, got in zip(sym.list_outputs(), _expected_list(sym.list_outputs(), expected), outputs, strict=False):
        assert_almost_equal(want, got, rtol, atol, (f"EXPECTED_{name}", f"FORWARD_{name}"), equal_nan=equal_nan)
    return executor.outputs


def check_symbolic_backward(
    sym, location, out_grads, expected, rtol=None, atol=None, aux_states=None, grad_req="write", ctx=None,
    grad_stypes=None, equal_nan=False, dtype=default_dtype(),
):  # fmt: skip
    """Compare a symbol's gradients with expected arrays; returns the gradients."""
    ctx = ctx or current_context()
    args = _located(sym, location, ctx, dtype)
    expected = _by_argument(sym, expected)
    before = {k: np.random.normal(size=np.shape(v)) for k, v in expected.items()}
    stypes = {k: getattr(v, "stype", "default") for k, v in expected.items()}
    stypes.update({k: v for k, v in _by_argument(sym, grad_stypes or {}).items() if v is not None})
    buffers = {
        k: nd.array(v, ctx=ctx, dtype=_gradient_dtype(expected[k], dtype)).tostype(stypes.get(k, "default"))
        for k, v in before.items()
    }
    requests = _by_argument(sym, [grad_req] * len(sym.list_arguments()) if isinstance(grad_req, str) else grad_req)
    states = _auxiliary(sym, aux_states, ctx, dtype)
    executor = sym.bind(ctx, args=args, args_grad=buffers, aux_states=states, grad_req=requests)
    executor.forward(is_train=True)
    executor.backward(_heads(sym, out_grads, executor.outputs, ctx, dtype))
    found = {k: v.asnumpy() for k, v in executor.grad_dict.items() if v is not None and k in expected}
    for name, want in expected.items():
        label = (f"EXPECTED_{name}", f"BACKWARD_{name}")
        want = want.asnumpy() if hasattr(want, "asnumpy") else np.asarray(want)
        want = _requested(requests.get(name, "write"), want, before[name])
        assert_almost_equal(want.astype(found[name].dtype), found[name], rtol, atol, label, equal_nan=equal_nan)
    return buffers


def _by_argument(sym, values):
    """Values by the names of the arguments, in whose order a list stands."""
    return values if isinstance(values, dict) else dict(zip(sym.list_arguments(), values, strict=False))


def _heads(sym, out_grads, outputs, ctx, dtype):
    """The outputs' gradients as NDArrays, or None."""
    if out_grads is None:
        return None
    given = _expected_list(sym.list_outputs(), out_grads)
    return [
        g if isinstance(g, nd.NDArray) else nd.array(g, ctx=ctx, dtype=None if dtype == "asnumpy" else o.dtype)
        for g, o in zip(given, outputs, strict=False)
    ]


def _requested(request, gradient, before):
    """What a buffer holds after a gradient was written, added, or left out."""
    return {"write": gradient, "add": gradient + before, "null": before}[request]


def _gradient_dtype(expected, dtype):
    return getattr(expected, "dtype", None) if dtype == "asnumpy" else dtype


def check_speed(sym, location=None, ctx=None, N=20, grad_req=None, typ="whole", **kwargs):
    """Seconds of one forward (and, for `typ="whole"`, backward) run."""
    ctx = ctx or current_context()
    shapes = kwargs if location is None else {k: v.shape for k, v in location.items()}
    executor = sym.simple_bind(grad_req=grad_req or "write", ctx=ctx, **shapes)
    for name, array in executor.arg_dict.items():
        array[:] = np.random.normal(size=array.shape) if location is None else location[name]
    if typ not in ("whole", "forward"):
        raise ValueError('typ can only be "whole" or "forward".')

    def once():
        executor.forward(is_train=typ == "whole")
        if typ == "whole":
            executor.backward(out_grads=executor.outputs)

    once()
    nd.waitall()
    start = time.time()
    for _ in range(N):
        once()
    nd.waitall()
    return (time.time() - start) / N


def _narrower(a, b):
    return a if b is None or np.dtype(a).itemsize < np.dtype(b).itemsize else b


def check_consistency(
    sym, ctx_list, scale=1.0, grad_req="write", arg_params=None, aux_params=None, rtol=None, atol=None,
    raise_on_err=True, ground_truth=None, equal_nan=False, use_uniform=False, rand_type=np.float64,
):  # fmt: skip
    """Bind a symbol in several contexts and dtypes; outputs and gradients must agree with the most precise."""
    assert len(ctx_list) > 1
    symbols = [sym] * len(ctx_list) if isinstance(sym, Symbol) else sym
    executors = [s.simple_bind(grad_req=grad_req, **ctx) for s, ctx in zip(symbols, ctx_list, strict=True)]
    _fill_executors(executors, scale, grad_req, dict(arg_params or {}), dict(aux_params or {}), use_uniform, rand_type)
    compare = _Comparison(executors, rtol, atol, equal_nan, raise_on_err)
    best, names = compare.best, symbols[0].list_outputs()
    for executor in executors:
        executor.forward(is_train=False)
    truth = dict(best.output_dict) if ground_truth is None else ground_truth
    compare.all(truth, lambda executor: zip(names, executor.outputs, strict=True))
    if grad_req == "null":
        return truth
    _backward_all(executors)
    truth = {**best.output_dict, **best.grad_dict} if ground_truth is None else ground_truth
    names = names + symbols[0].list_arguments()
    compare.all(truth, lambda executor: zip(names, [*executor.outputs, *executor.grad_arrays], strict=True))
    return truth


class _Comparison:
    """Executors beside the most precise of them, as closely as the narrower type of two arrays allows."""

    def __init__(self, executors, rtol, atol, equal_nan, raise_on_err):
        self.executors, self.raise_on_err = executors, raise_on_err
        self.tolerances, self.equal_nan = (rtol, atol), equal_nan
        self.dtypes = [np.dtype(e.outputs[0].dtype) for e in executors]
        self.place = int(np.argmax(self.dtypes))
        self.best = executors[self.place]

    def all(self, truth, named):
        """Compare what `named` finds in each executor but the best: pairs of names and arrays."""
        for position, executor in enumerate(self.executors):
            if position != self.place:
                for name, array in named(executor):
                    self._one(position, name, array, truth[name])

    def _one(self, position, name, array, wanted):
        if wanted is None:
            assert array is None
            return
        narrow = _narrower(array.dtype, self.dtypes[position]), _narrower(wanted.dtype, self.dtypes[self.place])
        rtol, atol = get_tols(array.astype(narrow[0]), wanted.astype(narrow[1]), *self.tolerances)
        try:
            assert_almost_equal(array, wanted, rtol=rtol, atol=atol, equal_nan=self.equal_nan)
        except AssertionError as error:
            words = f"context {position} against {self.place} at {name}: {error}"
            if self.raise_on_err:
                raise AssertionError(words) from error
            print(words)


def _fill_executors(executors, scale, grad_req, arg_params, aux_params, use_uniform, rand_type):
    for name, array in sorted(executors[0].arg_dict.items()):
        if name not in arg_params:
            if use_uniform:
                drawn = np.random.uniform(-0.92 * scale, 0.92 * scale, size=array.shape)
            else:
                drawn = np.random.normal(size=array.shape, scale=scale)
            arg_params[name] = drawn.astype(rand_type)
    for executor in executors:
        for name, array in executor.arg_dict.items():
            array[:] = arg_params[name]
        for name, array in executor.aux_dict.items():
            array[:] = aux_params.get(name, 0)
        if grad_req == "add":
            for array in executor.grad_arrays:
                array[:] = 0


def _backward_all(executors):
    for executor in executors:
        executor.forward(is_train=True)
    narrow = [o.dtype for o in executors[0].outputs]
    for executor in executors:
        narrow = [_narrower(o.dtype, d) for o, d in zip(executor.outputs, narrow, strict=True)]
    heads = [o.astype(d).asnumpy() for o, d in zip(executors[0].outputs, narrow, strict=True)]
    for executor in executors:
        executor.backward(
            [nd.array(h, ctx=executor._ctx, dtype=o.dtype) for h, o in zip(heads, executor.outputs, strict=True)]
        )


def same_symbol_structure(sym1, sym2):
    """Have two symbols the same operators in the same order? As in MXNet, as far as the shorter of them goes."""
    return all(one == other for one, other in zip(_operators(sym1), _operators(sym2), strict=False))


def _operators(sym):
    return [node["op"] for node in json.loads(sym.tojson())["nodes"]]


__all__ = [n for n, v in list(globals().items()) if getattr(v, "__module__", None) == __name__ and n[0] != "_"]
