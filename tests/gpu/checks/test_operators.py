"""Every registered operator's samples on `gpu(0)`: device, context, values and gradients are those of the CPU."""

from pathlib import Path

import numpy as np
import pytest
import simulated
from operator_cases import Recorded, cases, compare, operators
from synchronizing import IN_FLOAT64, SELDOM, SYNCHRONIZING

import mxnet as mx
from mxnet import autograd, nd
from mxnet._device import late
from mxnet._ops.registry.registry import load
from mxnet.base import MXNetError

GPU = mx.gpu(0)
PIXELS = Path(__file__).resolve().parents[2] / "data" / "pixels.png"
LARGEST = 20_000  # elements in the inputs of a sample
# Their numbers come from another stream on a GPU, as in MXNet: only shape, dtype and device are compared.
RANDOM = {"Dropout", "RNN", "_contrib_dgl_csr_neighbor_uniform_sample", "LeakyReLU"}
DECODERS = {"_cvimdecode", "_cvimread", "_imdecode"}  # to the CPU's memory, as in MXNet
_ONEDNN = "computes by oneDNN, which has the CPU only, as in MXNet"
_PART = "a part of graphs and of autograd that no program calls by name"
# Operators of the registry that have no samples, and why; those of `mx.np` are in test_numpy_operators.py.
WITHOUT_SAMPLES = {
    "Custom": "runs the user's code: test_models.py, test_backward_threads.py",
    "_CachedOp": _PART,
    "_CachedOpThreadSafe": _PART,
    "_CustomFunction": "runs the user's code: test_backward_threads.py",
    "_NDArray": "MXNet's first form of custom operators, which runs the user's code",
    "_Native": "MXNet's first form of custom operators, which runs the user's code",
    "_NoGradient": _PART,
    "_cond": "takes graphs: test_control_flow.py",
    "_foreach": "takes graphs: test_control_flow.py",
    "_while_loop": "takes graphs: test_control_flow.py",
    "_sg_mkldnn_conv": _ONEDNN,
    "_sg_mkldnn_fully_connected": _ONEDNN,
    "_sg_mkldnn_selfatt_qk": _ONEDNN,
    "_sg_mkldnn_selfatt_valatt": _ONEDNN,
}


def on(ctx, case):
    """Outputs, inputs afterwards, gradients: all as arrays of NumPy; events of the call and of backward."""
    with ctx:
        arrays = [nd.array(a, ctx=ctx, dtype=a.dtype) for a in case.inputs]
        for i in case.grads or ():
            arrays[i].attach_grad()
        if case.seed is not None:
            mx.random.seed(case.seed)
        heads = [nd.array(h, ctx=ctx, dtype=h.dtype) for h in case.heads] if case.grads else None
        with simulated.watched() as events:
            if case.grads:
                with autograd.record(train_mode=case.train):
                    outputs = call(case, arrays)
                autograd.backward(outputs, heads, train_mode=case.train)
            else:
                with autograd.train_mode() if case.train else autograd.predict_mode():
                    outputs = call(case, arrays)
    gradients = [arrays[i].grad for i in case.grads or ()]
    results = [] if case.operator in DECODERS else outputs
    for array in [*results, *arrays, *gradients]:
        assert array.context == ctx, f"{case}: {array.context}"
        assert array._t.device.type == ("cuda" if ctx == GPU else "cpu"), f"{case}: {array._t.device}"
    return outputs, arrays, gradients, events


def call(case, arrays):
    result = getattr(nd._internal, case.operator)(*arrays, **case.attrs)
    return list(result) if isinstance(result, (list, tuple)) else [result]


@pytest.mark.parametrize("operator", operators())
def test_equals_the_cpu(operator, exact_products):
    seen, in_float64 = set(), False
    for case in cases(operator):
        if case.size > LARGEST:
            continue
        simulated.forget()
        want, found = on(mx.cpu(), case), on(GPU, case)
        assert not any(name.endswith(" tf32") for name in simulated.seen()), f"{case} computes under torch's settings"
        if "float64" not in str(case.attrs) and not any(a.dtype == "float64" for a in case.inputs):
            in_float64 |= any(name.endswith(" f64") for name in simulated.seen())
        for kind, left, right in zip(("output", "input", "gradient"), want, found, strict=False):
            assert len(left) == len(right)
            for i, (a, b) in enumerate(zip(left, right, strict=True)):
                a, b = a.asnumpy(), b.asnumpy()
                assert (a.dtype, a.shape) == (b.dtype, b.shape), f"{case} {kind} {i}"
                if case.seed is None and not (operator in RANDOM and case.train):
                    compare(f"{case} {kind} {i}", b, a, scale=10)
        events = found[3]
        assert not simulated.of_kind(events, "race", "assert"), (case, events)
        seen |= {(e.what, e.lines) for e in simulated.of_kind(events, "sync")}
    if seen:
        assert operator in SYNCHRONIZING, f"{operator} waits for the device: {sorted(seen)}"
    else:
        assert operator not in SYNCHRONIZING, f"{operator} does not wait for the device any more"
    assert not in_float64 or operator in IN_FLOAT64, f"{operator} computes in float64"
    assert operator not in SELDOM or not seen, f"{operator} waits for the device: {sorted(seen)}"


def test_every_operator_has_samples():
    sampled = set(operators())
    registered = [op for op in load().values() if not op.name.startswith("_np")]
    assert {op.name for op in registered if not sampled & set(op.names)} == WITHOUT_SAMPLES.keys()


NO_RECORDED_GRADIENT = [name for name in operators() if not any(case.grads for case in cases(name))]


def _gradients(ctx, case):
    """Gradients of a sample's inputs as arrays of NumPy, and events; None: the operator has none."""
    arrays = [nd.array(a, ctx=ctx, dtype=a.dtype) for a in case.inputs]
    inputs = [a for a in arrays if np.dtype(a.dtype).kind == "f"]
    for array in inputs:
        array.attach_grad()
    with simulated.watched() as events:
        with ctx, autograd.record(train_mode=case.train):
            outputs = call(case, arrays)
        heads = [o for o in outputs if o._ag is not None and np.dtype(o.dtype).kind == "f"]
        if not heads:
            return None, events
        autograd.backward(heads, [nd.ones(h.shape, ctx=ctx, dtype=h.dtype) for h in heads], train_mode=case.train)
    for array in inputs:
        assert array.grad.context == ctx and array.grad._t.device.type == ("cuda" if ctx == GPU else "cpu")
    return [a.grad.asnumpy() for a in inputs], events


@pytest.mark.parametrize("operator", NO_RECORDED_GRADIENT)
def test_gradients_that_nobody_recorded_equal_the_cpus(operator):
    """Of operators that have none a GPU has none either. Updates of optimizers write their inputs: nobody asks."""
    for case in cases(operator):
        if case.size > LARGEST or operator in DECODERS or case.mutated:
            continue
        want, found = [], []
        for ctx, results in ((mx.cpu(), want), (GPU, found)):
            try:
                results += _gradients(ctx, case)
            except MXNetError as error:
                results += [str(error).splitlines()[0], ()]
        assert type(want[0]) is type(found[0]), (case, want[0], found[0])
        assert not simulated.of_kind(found[1], "race", "assert"), case
        assert operator in SYNCHRONIZING or not simulated.of_kind(found[1], "sync"), (case, found[1])
        if isinstance(want[0], list) and case.seed is None:
            for a, b in zip(want[0], found[0], strict=True):
                compare(f"{case} gradient", b, a, scale=10)


def test_decoders_give_arrays_of_the_cpu():
    content = PIXELS.read_bytes()
    with GPU:
        for image in (mx.image.imdecode(content), mx.image.imread(str(PIXELS)), mx.nd.imdecode(content)):
            assert image.context == mx.cpu() and image._t.device.type == "cpu"


def _spoilt(array, value):
    """An input whose numbers are wrong: indices, lengths, classes and sizes that nobody meant."""
    info = np.iinfo(array.dtype) if array.dtype.kind in "iu" else None
    if info is not None:
        value = min(max(value, info.min), info.max)
    return np.full_like(array, value)


@pytest.mark.slow
@pytest.mark.parametrize("value", [-1000, 1000])
@pytest.mark.parametrize("operator", operators())
def test_wrong_values_leave_the_gpu_usable(operator, value):
    """A kernel that reads where no memory is would end the process's use of its GPU: bounds are checked before."""
    for case in cases(operator)[:3]:
        for i in range(len(case.inputs)):
            if case.size > 500 or operator in DECODERS:
                continue
            inputs = [_spoilt(a, value) if i == j else a for j, a in enumerate(case.inputs)]
            with simulated.watched() as events:
                try:
                    changed = Recorded(**{**vars(case), "inputs": inputs})
                    outputs, _, gradients, _ = on(GPU, changed)
                    for result in (*outputs, *gradients):
                        result.wait_to_read()
                except (MXNetError, IndexError, ValueError) as error:
                    assert "two devices" not in str(error), error
                    late.discard()
            assert not simulated.of_kind(events, "race", "assert"), (case, i, events)


@pytest.mark.parametrize("alpha", [-1.0, np.inf, np.nan])
def test_invalid_parameters_of_gamma(alpha):
    for ctx in (mx.cpu(), GPU):
        with pytest.raises(MXNetError, match="positive"):
            nd.random.gamma(alpha, 1.0, shape=(3,), ctx=ctx)
        with pytest.raises(MXNetError, match="positive"):
            nd.random.gamma(nd.array([1.0, alpha], ctx=ctx), nd.ones(2, ctx=ctx)).asnumpy()
        with pytest.raises(ValueError, match="scale < 0"):
            mx.np.random.normal(0, mx.np.array([-1.0], ctx=ctx)).asnumpy()
