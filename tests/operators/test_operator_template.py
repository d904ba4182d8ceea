"""What every registered operator must do, found by walking the registry: an operator without samples fails."""

import numpy as np
import pytest
import torch
from operator_cases import cases, compare, operators

import mxnet as mx
from mxnet import nd
from mxnet._core.streams import Stream
from mxnet._ops.registry.output_shapes import infer_shape, infer_type
from mxnet._ops.registry.registry import load
from mxnet.base import MXNetError
from mxnet.ndarray.ndarray import wrap

REGISTRY = load()
OPERATORS = {op.name: op for op in REGISTRY.values()}
# Names that stand for something else in a graph, or take a Python object: nothing to feed them here.
UNCALLABLE = {
    "_NoGradient": "a mark in gradient graphs",
    "_CachedOp": "a hybridized block in a recorded graph",
    "_CachedOpThreadSafe": "a hybridized block in a recorded graph",
    "_CustomFunction": "an autograd.Function in a recorded graph",
    "_NDArray": "called through a C pointer",
    "_Native": "called through a C pointer",
    "Custom": "runs a registered Python operator; tested with mx.operator",
    "_foreach": "runs a subgraph; tested with control flow",
    "_while_loop": "runs a subgraph; tested with control flow",
    "_cond": "runs a subgraph; tested with control flow",
    "_sg_mkldnn_conv": "runs a subgraph; tested with graphs that oneDNN has fused",
    "_sg_mkldnn_fully_connected": "runs a subgraph; tested with graphs that oneDNN has fused",
    "_sg_mkldnn_selfatt_qk": "runs a subgraph; tested with graphs that oneDNN has fused",
    "_sg_mkldnn_selfatt_valatt": "runs a subgraph; tested with graphs that oneDNN has fused",
}
# MXNet's gradient is by design not the derivative of what the operator computes.
OWN_GRADIENT = {
    "SoftmaxOutput": "the gradient of a loss it does not return",
    "LinearRegressionOutput": "the gradient of a loss it does not return",
    "LogisticRegressionOutput": "the gradient of a loss it does not return",
    "MAERegressionOutput": "the gradient of a loss it does not return",
    "SVMOutput": "the gradient of a loss it does not return",
    "MakeLoss": "a constant",
    "make_loss": "a constant",
    "IdentityAttachKLSparseReg": "adds a penalty's gradient",
    "_contrib_gradientmultiplier": "multiplied by a factor",
    "_contrib_round_ste": "passes straight through",
    "_contrib_sign_ste": "passes straight through",
    "_contrib_box_nms": "passes rows back without their change of format",
    "_contrib_hawkesll": "its second output has none",
    "_image_flip_left_right": "passes augmentations unchanged",
    "_image_flip_top_bottom": "passes augmentations unchanged",
    "_image_adjust_lighting": "passes augmentations unchanged",
    "_image_random_saturation": "passes augmentations unchanged",
    "_image_random_hue": "passes augmentations unchanged",
    "_image_random_lighting": "passes augmentations unchanged",
}
# MXNet adds selu's scaled output to the unscaled alpha, and computes the others of float64 in single precision
OWN_GRADIENT_UNDER = {"LeakyReLU": ("act_type", ("selu", "gelu", "leaky", "prelu", "rrelu", None))}
# First derivatives that are right but, in MXNet too, cannot be differentiated again.
ONCE = {"BatchNorm": "MXNet has no second derivative", "RNN": "MXNet has no second derivative"}
# The size of the result depends on values.
DYNAMIC = {"_contrib_boolean_mask", "_cvimdecode", "_cvimread", "_imdecode", "_arange", "_set_value"}
LARGEST = 400


def samples(name):
    """All cases of an operator under any of its names, the smallest first."""
    found = [case for alias in OPERATORS[name].names if alias in operators() for case in cases(alias)]
    return sorted(found, key=lambda case: case.size)


# Operators of mx.np are compared with NumPy itself in tests/numpy/test_numpy.py.
SAMPLED = [name for name in OPERATORS if name not in UNCALLABLE and not name.startswith("_np")]
walk = pytest.mark.parametrize("name", SAMPLED)


def run(op, case, tensors):
    """The operator's function on tensors, as the array layer would call it; visible outputs only."""
    attrs = op.parse(case.attrs)
    injected = {"_train": case.train, "_device": torch.device("cpu"), "_rng": Stream(0, case.seed or 0)}
    injected["_set_gamma"] = True
    names = op.input_names(attrs, len(tensors))
    tensors = [
        t.clone() if n in op.aux + op.mutates or op.variadic else t for n, t in zip(names, tensors, strict=False)
    ]
    result = op.fn(*tensors, **attrs, **{key: injected[key] for key in op.injected})
    results = list(result) if isinstance(result, (list, tuple)) else [result]
    return results[: op.visible_outputs(attrs)]


def face(name, case, arrays):
    if case.seed is not None:
        mx.random.seed(case.seed)
    with mx.autograd.train_mode() if case.train else mx.autograd.predict_mode():
        result = getattr(nd._internal, name)(*arrays, **case.attrs)
    return [r.asnumpy() for r in (result if isinstance(result, (list, tuple)) else [result])]


def symbolic(name):
    """The function that makes a graph node."""
    if hasattr(mx.sym._internal, name):
        return getattr(mx.sym._internal, name)
    for prefix, space in (
        ("_contrib_", "contrib"),
        ("_linalg_", "linalg"),
        ("_image_", "image"),
        ("_random_", "random"),
        ("_sparse_", "sparse"),
    ):
        if name.startswith(prefix) and hasattr(getattr(mx.sym, space), name[len(prefix) :]):
            return getattr(getattr(mx.sym, space), name[len(prefix) :])
    return getattr(mx.sym, name)


@walk
def test_has_samples(name):
    assert samples(name), f"{name} has neither a recorded case nor a sample"


@pytest.mark.parametrize("name", UNCALLABLE)
def test_uncallable_says_so(name):
    with pytest.raises((MXNetError, TypeError)):
        getattr(nd._internal, name)(nd.ones(2))


def _differentiable(case):
    """Inputs that MXNet gives a gradient other than zero, where all is finite."""
    everything = [*case.inputs, *case.outputs, *(case.grads or {}).values()]
    key, values = OWN_GRADIENT_UNDER.get(case.operator, ("", ()))
    if case.attrs.get(key) in values or not case.grads:
        return []
    if not all(np.isfinite(a).all() for a in everything if a.dtype.kind == "f"):
        return []
    return [i for i, grad in case.grads.items() if grad.any()]


def _double(case, chosen):
    """Inputs in float64; those to differentiate by are moved a little, off the kinks that round numbers sit on."""
    tensors = [torch.from_numpy(a.astype("float64") if a.dtype.kind == "f" else a.copy()) for a in case.inputs]
    generator = torch.Generator().manual_seed(5)
    for i in chosen:
        tensors[i] += torch.rand(tensors[i].shape, generator=generator, dtype=torch.float64) * 1e-3
        tensors[i].requires_grad_()
    return tensors


@pytest.mark.parametrize("name", [n for n in SAMPLED if n not in OWN_GRADIENT])
def test_gradient_is_the_derivative(name):
    op = OPERATORS[name]
    tried = [(c, _differentiable(c)) for c in samples(name) if c.size <= LARGEST]
    for case, chosen in [pair for pair in tried if pair[1]][:2]:
        tensors = _double(case, chosen)

        def function(*inputs, case=case):
            return tuple(r for r in run(op, case, inputs) if r.dtype == torch.float64 and r.requires_grad)

        if not function(*tensors):
            continue
        check = {"eps": 1e-6, "fast_mode": True}
        assert torch.autograd.gradcheck(function, tensors, atol=1e-4, rtol=1e-3, **check), case
        if name not in ONCE:
            assert torch.autograd.gradgradcheck(function, tensors, atol=1e-3, rtol=1e-2, **check), case


@pytest.mark.parametrize("name", [n for n in SAMPLED if n not in DYNAMIC])
def test_inference_equals_running(name):
    op = OPERATORS[name]
    for case in samples(name)[:3]:
        attrs = op.parse(case.attrs)
        shapes, dtypes = [a.shape for a in case.inputs], [str(a.dtype) for a in case.inputs]
        results = run(op, case, [torch.from_numpy(a.copy()) for a in case.inputs])
        if any(0 in shape for shape in shapes):
            continue
        filled, found = infer_shape(op, attrs, shapes, dtypes)
        assert [tuple(s) for s in filled] == shapes, case
        assert [tuple(s) for s in found][: len(results)] == [tuple(r.shape) for r in results], case
        types = infer_type(op, attrs, dtypes, shapes)[1]
        assert types[: len(results)] == [str(r.dtype).removeprefix("torch.") for r in results], case


@walk
def test_symbol_equals_array(name):
    op = OPERATORS[name]
    if name in DYNAMIC and name != "_arange":
        pytest.skip("its size depends on values: no graph can plan it")
    if op.variadic and op.mutates:
        pytest.skip("changes an unnamed number of inputs; MXNet's graphs cannot hold it either")
    for case in samples(name)[:1]:
        want = face(name, case, [nd.array(a, dtype=a.dtype) for a in case.inputs])
        variables = [mx.sym.var(f"input{i}") for i in range(len(case.inputs))]
        node = symbolic(name)(*variables, **case.attrs)
        given = {f"input{i}": nd.array(a, dtype=a.dtype) for i, a in enumerate(case.inputs)}
        states = {n: given[n] for n in node.list_auxiliary_states()}
        arguments = {n: given[n] for n in node.list_arguments()}
        if case.seed is not None:
            mx.random.seed(case.seed)
        executor = node.bind(mx.cpu(), arguments, aux_states=states, grad_req="null")
        for i, (got, expected) in enumerate(zip(executor.forward(is_train=case.train), want, strict=True)):
            compare(f"{case} output {i}", got.asnumpy(), expected)


@walk
def test_memory_order_does_not_matter(name):
    for case in samples(name)[:2]:
        arrays = []
        for a in case.inputs:
            backwards = tuple(range(a.ndim))[::-1]
            arrays.append(wrap(torch.from_numpy(a.transpose().copy()).permute(backwards), mx.cpu()))
        want = face(name, case, [nd.array(a, dtype=a.dtype) for a in case.inputs])
        for got, expected in zip(face(name, case, arrays), want, strict=True):
            compare(str(case), got, expected)


@walk
def test_nothing_in_gives_a_result_or_a_clear_error(name):
    case = next((c for c in samples(name) if c.inputs), None)
    if case is None:
        pytest.skip("takes no arrays")
    empty = [wrap(torch.from_numpy(a[:0].copy()), mx.cpu()) for a in case.inputs]
    try:
        face(name, case, empty)
    except MXNetError as error:
        assert str(error).strip()


@walk
def test_wrong_attribute_is_named(name):
    if not OPERATORS[name].attrs:
        pytest.skip("has no attributes; MXNet, too, does not look at them then")
    case = samples(name)[0]
    arrays = [nd.array(a, dtype=a.dtype) for a in case.inputs]
    with pytest.raises((MXNetError, TypeError), match="no_such_attribute"):
        getattr(nd._internal, name)(*arrays, **case.attrs, no_such_attribute=1)
    numbers = [a for a in OPERATORS[name].attrs.values() if a.kind.startswith(("int", "float"))]
    for attr in numbers[:1]:
        with pytest.raises((MXNetError, TypeError, ValueError), match=attr.name):
            getattr(nd._internal, name)(*arrays, **{**case.attrs, attr.name: "not a number"})


@walk
def test_wrong_shape_gives_a_result_or_a_clear_error(name):
    case = next((c for c in samples(name) if c.inputs), None)
    if case is None:
        pytest.skip("takes no arrays")
    first = nd.ones((2, 1, 3, 1, 2), dtype=case.inputs[0].dtype)
    others = [nd.array(a, dtype=a.dtype) for a in case.inputs[1:]]
    try:
        face(name, case, [first, *others])
    except MXNetError as error:
        assert str(error).strip()
