"""Limits of an import: how many bytes of constants and how many nodes a few bytes of a file may ask for."""

import math

import numpy as np

from ...._core.environment import whole_number
from ....base import MXNetError

BYTES, NODES = 1 << 28, 100_000  # defaults of the two settings
_GROWN = 4  # times the bytes of the file's own tensors: weights that are transposed or converted are made again
SHOWN = 4096  # elements of a constant from which shapes may follow
# How many elements come out depends on the values that go in, at most so many times their number.
_BY_VALUES = {"NonZero": 32, "Compress": 1, "Unique": 4, "If": 1}
_SLOW = frozenset("Conv ConvTranspose ConvInteger MatMul MatMulInteger Gemm Einsum LSTM GRU RNN Resize Upsample DFT "
                  "STFT AveragePool MaxPool LpPool GridSample RoiAlign DeformConv Col2Im LRN Det".split())  # fmt: skip
_WORK = 10**8  # multiplications of a node that is computed at import; others stay in the graph
_STEPS = 10**8  # elements that nodes computed at import go through, all together; the rest stays in the graph
# Operators that the package onnx computes element by element in Python; each element counts as so many of NumPy's.
_BY_ELEMENT = frozenset("ScatterElements ScatterND GatherElements GatherND Scatter Erf Gelu Unique Hardmax "
                        "ReverseSequence MaxUnpool".split())  # fmt: skip
_PER_ELEMENT = 100
# Never computed at import: their time follows from attributes, from the square of their inputs, or has no bound.
_UNBOUNDED = frozenset("TfIdfVectorizer RegexFullMatch ImageDecoder NonMaxSuppression StringNormalizer".split())
_TEXTS = "OSU"  # kinds of NumPy's types of texts
_MOST_LEVELS = 100  # that functions call each other


class Budget:
    """What is left of both limits; the importers of one model share it."""

    def __init__(self, model=None):
        there = sum(tensor.ByteSize() for tensor in model.graph.initializer) if model is not None else 0
        self.limit = whole_number("MXNET_ONNX_MAX_CONSTANT_BYTES", BYTES, "a number of bytes") + _GROWN * there
        self.most_nodes = whole_number("MXNET_ONNX_MAX_NODES", NODES, "a number of nodes")
        self.bytes = self.nodes = 0
        self.steps = _STEPS + _GROWN * there

    def node(self, name):
        """Count a node; bodies of functions and loops count each time they are written out."""
        self.nodes += 1
        if self.nodes > self.most_nodes:
            raise MXNetError(_too_many_nodes(name, self.most_nodes))

    def goes_through(self, node, elements):
        """Count the elements that a node would go through; False if all nodes together would take too long."""
        elements *= _PER_ELEMENT if node.op in _BY_ELEMENT else 1
        if elements > self.steps:
            return False
        self.steps -= elements
        return True

    def claim(self, node, shape, width):
        """Room for an array of elements of `width` bytes, before it is made."""
        if any(n < 0 for n in shape):
            raise node.refuse(f"a constant of shape {list(shape)} is not possible")
        self.bytes += math.prod(shape) * width
        if self.bytes > self.limit:
            raise node.refuse(
                f"a constant of shape {list(shape)} is too large: constants computed at import would have "
                f"{self.bytes} bytes, {self.limit} are allowed; if you trust the file, raise "
                "MXNET_ONNX_MAX_CONSTANT_BYTES"
            )


def _too_many_nodes(name, most):
    return (
        f"{name}: the model has more than {most} nodes with its functions and loops written out; if you trust "
        "the file, raise MXNET_ONNX_MAX_NODES"
    )


def check_nodes(model, budget):
    """Refuse functions that call each other into more nodes than allowed, before they are written out.

    And counts that no node of the file bears: ONNX's inference makes lists as long.
    """
    functions = {(f.domain, f.name): f for f in model.functions}
    known = {}

    def count(nodes, above):
        total = 0
        for node in nodes:
            key = (node.domain, node.op_type)
            _check_counts(node)
            total += 1 + sum(count(g.node, above) for a in node.attribute for g in (a.g, *a.graphs))
            if key in functions:
                if key in above:
                    raise MXNetError(f"node {node.name or node.op_type}: the function {node.op_type} calls itself")
                if len(above) >= _MOST_LEVELS:
                    raise MXNetError(f"{node.op_type}: functions call each other on more than {_MOST_LEVELS} levels")
                if key not in known:
                    known[key] = count(functions[key].node, {*above, key})
                total += known[key]
        return total

    if count(model.graph.node, set()) > budget.most_nodes:
        raise MXNetError(_too_many_nodes("the graph", budget.most_nodes))


def _check_counts(node):
    bounds = {("Split", "num_outputs"): len(node.output), ("Scan", "num_scan_inputs"): len(node.input)}
    for attribute in node.attribute:
        most = bounds.get((node.op_type, attribute.name))
        if most is not None and not 1 <= attribute.i <= most:
            name = node.name or next(iter(node.output), "")
            raise MXNetError(f"node {name} ({node.op_type}): {attribute.name} is {attribute.i}, the node has {most}")


def check_texts(message):
    """The message itself, if all its texts are UTF-8: protobuf gives others as bytes, which no name may be."""
    for field, value in message.ListFields():
        if field.type == field.TYPE_STRING:
            for text in (value,) if isinstance(value, (str, bytes)) else value:
                if isinstance(text, bytes):
                    raise MXNetError(f"{message.DESCRIPTOR.name}.{field.name} is no text in UTF-8: {text[:40]!r}")
        elif field.type == field.TYPE_MESSAGE:
            for part in (value,) if hasattr(value, "ListFields") else value:
                check_texts(part)
    return message


def foldable(node, proto, constants, opset, budget):
    """Shapes and types of what a node makes of constants; None if that is unknown, or too much work for now."""
    inputs = [constants[name] for name in proto.input if name]
    if node.op in _UNBOUNDED or any(np.asarray(value).dtype.kind in _TEXTS for value in inputs):
        return None  # texts have no bound: joined with itself 40 times, one is a terabyte
    elements = sum(np.size(value) for value in inputs)
    found = _made(node, proto, constants, opset, elements)
    if found is None or any(dtype.kind in _TEXTS for _, dtype in found):
        return None
    made = sum(math.prod(shape) for shape, _ in found)
    work = made * max(map(np.size, inputs), default=1) * math.prod(node.attr("kernel_shape", ()) or (1,))
    if node.op in _SLOW and work > _WORK:
        return None
    for shape, dtype in found:
        budget.claim(node, shape, dtype.itemsize)
    return found if budget.goes_through(node, elements + made) else None


def _made(node, proto, constants, opset, elements):
    factor = _BY_VALUES.get(node.op)
    if factor is not None:
        return [((factor * elements,), np.dtype(np.int64))]
    if node.op == "Range":
        return _range(node, [constants[name] for name in proto.input if name])
    return _outputs(node, proto, constants, opset)


def _range(node, inputs):
    """ONNX's inference wants numbers without axes; lists of one are usual too."""
    start, limit, step = (np.asarray(value).ravel()[0].item() for value in inputs)
    if not step or not all(map(math.isfinite, (start, limit, step))):
        raise node.refuse(f"a range from {start} to {limit} by {step} has no end")
    return [((max(0, math.ceil((limit - start) / step)),), np.asarray(inputs[0]).dtype)]


def _outputs(node, proto, constants, opset):
    import onnx

    try:
        schema = onnx.defs.get_schema(proto.op_type, opset, proto.domain)
    except onnx.defs.SchemaError:
        return None
    given = {name: constants[name] for name in proto.input if name}
    types = {name: _type_of(value) for name, value in given.items()}
    small = {name: onnx.numpy_helper.from_array(np.asarray(value), name)
             for name, value in given.items() if np.size(value) <= SHOWN}  # fmt: skip
    versions = [onnx.helper.make_opsetid(proto.domain, opset)]
    try:
        found = onnx.shape_inference.infer_node_outputs(schema, proto, types, small, opset_imports=versions)
    except (onnx.shape_inference.InferenceError, onnx.checker.ValidationError, RuntimeError, ValueError) as error:
        raise node.refuse(f"its constant inputs do not fit: {str(error).strip()}") from None
    pairs = [_shape_and_type(found.get(name)) for name in proto.output if name]
    return None if None in pairs else pairs


def _type_of(value):
    import onnx

    value = np.asarray(value)
    return onnx.helper.make_tensor_type_proto(onnx.helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)


def _shape_and_type(kind):
    """(shape, dtype) of a tensor whose sizes are all known."""
    import onnx

    if kind is None or not kind.HasField("tensor_type") or not kind.tensor_type.HasField("shape"):
        return None
    sizes = kind.tensor_type.shape.dim
    if not all(size.HasField("dim_value") for size in sizes):
        return None
    dtype = onnx.helper.tensor_dtype_to_np_dtype(kind.tensor_type.elem_type or onnx.TensorProto.DOUBLE)
    return tuple(size.dim_value for size in sizes), dtype
