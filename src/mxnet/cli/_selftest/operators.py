"""The part of `remx selftest` that runs every operator's samples on a device and on the CPU."""

import json
import math
from importlib import resources

import numpy as np

TOLERANCE = {"float16": (2e-1, 2e-2), "float32": (1e-2, 1e-4), "float64": (1e-4, 1e-7)}  # as the tests have it
# Their masks come from the device's own stream.
DRAWING = {"Dropout", "RNN", "LeakyReLU", "_image_random_brightness", "_image_random_contrast"}


def samples():
    """(operator, attributes, inputs, training?, inputs with gradients) of every sample."""
    with resources.files("mxnet._data").joinpath("operator_samples.npz").open("rb") as file, np.load(file) as archive:
        table, content, at = json.loads(archive["table"].tobytes()), archive["content"], 0
    for name, attrs, kinds, train, grads in table:
        inputs = []
        for dtype, shape in kinds:
            size = math.prod(shape) * np.dtype(dtype).itemsize
            inputs.append(content[at : at + size].view(dtype).reshape(shape))
            at += size
        yield name, attrs, inputs, train, grads


def _run(ctx, name, attrs, inputs, train, grads):
    from ... import autograd, nd

    arrays = [nd.array(a, ctx=ctx, dtype=a.dtype) for a in inputs]
    for i in grads:
        arrays[i].attach_grad()
    with ctx, autograd.record(train_mode=train) if grads else autograd.pause(train_mode=train):
        results = getattr(nd._internal, name)(*arrays, **attrs)
    results = list(results) if isinstance(results, (list, tuple)) else [results]
    if grads:
        autograd.backward(results, [_head(r) for r in results], train_mode=train)
    found = [*results, *arrays, *(arrays[i].grad for i in grads)]
    for array in found:
        if array.context != ctx:
            raise AssertionError(f"a result is on {array.context}")
    return [array.asnumpy() for array in found]


def _head(result):
    """A gradient of a result that is not the same everywhere, of which norms have none."""
    from ... import nd

    values = (np.arange(result.size) % 7 - 3).reshape(result.shape) / 3
    return nd.array(values, ctx=result.context, dtype=result.dtype)


def _difference(want, found):
    """What differs between the CPU's arrays and the device's, or None."""
    for i, (a, b) in enumerate(zip(want, found, strict=True)):
        if a.shape != b.shape or a.dtype != b.dtype:
            return f"array {i} is {b.dtype}{b.shape} instead of {a.dtype}{a.shape}"
        relative, absolute = TOLERANCE.get(str(a.dtype), (0, 0))
        scale = max(1.0, float(np.abs(a[np.isfinite(a)]).max(initial=0))) if a.dtype.kind == "f" else 1.0
        if not np.allclose(b, a, relative, absolute * scale, equal_nan=True):
            return f"array {i} differs by up to {np.nanmax(np.abs(a.astype('float64') - b.astype('float64'))):.3g}"
    return None


def check(ctx, progress=lambda done: None):
    """How many samples passed, and the failures as (operator, what is wrong)."""
    from ...context import cpu

    passed, failures = 0, []
    for done, (name, attrs, inputs, train, grads) in enumerate(samples()):
        progress(done)
        try:
            want = _run(cpu(), name, attrs, inputs, train, grads)
            wrong = _difference(want, _run(ctx, name, attrs, inputs, train, grads))
        except Exception as error:  # whatever a device raises is what this report is for
            wrong = f"{type(error).__name__}: {str(error).strip().splitlines()[0][:200]}"
        if wrong is None or (name in DRAWING and train and "differs" in wrong):
            passed += 1
        else:
            failures.append((name, wrong))
    return passed, failures
