"""A network and its ONNX file on the same random data: how far their outputs are apart."""

import importlib.util

import numpy as np

from .._core.errors import MXNetError

ALLOWED = 1e-2  # of the largest output: what is above is no rounding


def _own_outputs(model, data):
    """The network's outputs; labels and other inputs that no shape was given for are zeros."""
    from .. import ndarray
    from ..context import cpu

    arrays = {name.split(":", 1)[-1]: value for name, value in model.arrays.items()}
    shapes = {name: value.shape for name, value in data.items()}
    names, states = model.symbol.list_arguments(), model.symbol.list_auxiliary_states()
    inferred, _, _ = model.symbol.infer_shape(**shapes)
    known = {**arrays, **{name: ndarray.array(value) for name, value in data.items()}}
    arguments = {n: known[n] if n in known else ndarray.zeros(s) for n, s in zip(names, inferred, strict=True)}
    bound = model.symbol.bind(cpu(), arguments, grad_req="null", aux_states={name: arrays[name] for name in states})
    return [output.asnumpy() for output in bound.forward(is_train=False)]


def _runtime_outputs(path, data):
    import onnxruntime

    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    wanted = {each.name: each.type for each in session.get_inputs()}
    feed = {name: value.astype(_dtype(wanted[name])) for name, value in data.items() if name in wanted}
    return session.run(None, feed)


def _dtype(kind):
    names = {"float": "float32", "double": "float64"}
    name = kind.removeprefix("tensor(").removesuffix(")")
    return names.get(name, name)


def largest_difference(model, path, inputs):
    """The largest absolute difference of an output; None without ONNX Runtime. Far too large a one is an error."""
    if importlib.util.find_spec("onnxruntime") is None:
        return None
    random = np.random.RandomState(0)
    data = {name: random.rand(*shape).astype("float32") for name, shape in inputs}
    ours, theirs = _own_outputs(model, data), _runtime_outputs(path, data)
    pairs = [(a.astype("float64"), np.asarray(b, "float64")) for a, b in zip(ours, theirs, strict=True)]
    difference = max(float(np.max(abs(a - b), initial=0.0)) for a, b in pairs)
    largest = max(float(np.max(abs(a), initial=0.0)) for a, _ in pairs)
    if not difference <= ALLOWED * max(largest, 1.0):
        raise MXNetError(
            f"{path} was written, but its outputs in ONNX Runtime differ from the network's by up to {difference:.3g} "
            f"(largest output {largest:.3g})"
        )
    return difference
