"""Every operator against what real MXNet 1.9.1 gave: outputs, states changed in place, gradients."""

import pytest
from operator_cases import cases, compare, operators

import mxnet as mx
from mxnet import autograd, nd


def call(case, arrays):
    if case.seed is not None:
        mx.random.seed(case.seed)
    result = getattr(nd._internal, case.operator)(*arrays, **case.attrs)
    return list(result) if isinstance(result, (list, tuple)) else [result]


def arrays_of(case):
    return [nd.array(a, dtype=a.dtype) for a in case.inputs]


@pytest.mark.parametrize("operator", operators())
def test_outputs(operator):
    for case in cases(operator):
        arrays = arrays_of(case)
        with autograd.train_mode() if case.train else autograd.predict_mode():
            outputs = call(case, arrays)
        assert len(outputs) == len(case.outputs), case
        for i, want in enumerate(case.outputs):
            compare(f"{case} output {i}", outputs[i].asnumpy(), want)
        for i, want in case.mutated.items():
            compare(f"{case} input {i} afterwards", arrays[i].asnumpy(), want)


@pytest.mark.parametrize("operator", [name for name in operators() if any(c.grads for c in cases(name))])
def test_gradients(operator):
    for case in cases(operator):
        if not case.grads:
            continue
        arrays = arrays_of(case)
        for i in case.grads:
            arrays[i].attach_grad()
        with autograd.record(train_mode=case.train):
            outputs = call(case, arrays)
        autograd.backward(outputs, [nd.array(h, dtype=h.dtype) for h in case.heads], train_mode=case.train)
        for i, want in case.grads.items():
            compare(f"{case} gradient of input {i}", arrays[i].grad.asnumpy(), want, scale=10)
