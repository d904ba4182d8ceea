"""What a converter sees of an ONNX node: its attributes, and its inputs as symbols, constants or sizes."""

import numpy as np

from .... import symbol
from ...._ops.registry import registry
from ....base import MXNetError
from ....symbol.register import make

MOST_DIMENSIONS = 32  # of an array
TABLE = {}


def converts(*names):
    """Register the decorated function as the converter of these ONNX operators."""

    def register(function):
        TABLE.update(dict.fromkeys(names, function))
        return function

    return register


class Unknown:
    """A size that only the data tell. Arithmetic with it gives another one."""

    def __init__(self, name=None, source=None):
        self.name, self.source = name, source  # (symbol, axis) that has the size
        self.unclear = name is None or name.startswith("unk__")  # ONNX's inference makes such names

    def _another(self, _):
        return Unknown()

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __floordiv__ = __rfloordiv__ = _another

    def __eq__(self, other):
        return isinstance(other, Unknown) and self.name is not None and self.name == other.name

    def __hash__(self):
        return hash(self.name)

    def __repr__(self):
        return self.name or "?"


class Node:
    """One ONNX node, for its converter."""

    def __init__(self, proto, importer):
        import onnx

        self.op, self.importer, self.opset = proto.op_type, importer, importer.opset
        self.inputs, self.outputs = list(proto.input), list(proto.output)
        self.name = importer.prefix + (proto.name or next(filter(None, self.outputs), proto.op_type))
        self.attrs = {a.name: _plain(onnx.helper.get_attribute_value(a)) for a in proto.attribute}
        self.graphs = [v for v in self.attrs.values() if isinstance(v, onnx.GraphProto)]

    def __repr__(self):
        return f"node {self.name} ({self.op})"

    def refuse(self, reason):
        """The error for a node that cannot be imported."""
        return MXNetError(f"{self}: {reason}")

    def attr(self, name, default=None):
        return self.attrs.get(name, default)

    def known(self, index):
        """Is the value of this input known at import?"""
        return self.has(index) and self.inputs[index] in self.importer.constants

    def has(self, index):
        return index < len(self.inputs) and self.inputs[index] != ""

    def sym(self, index=0):
        """The input as a symbol; a constant becomes a parameter."""
        if not self.has(index):
            raise self.refuse(f"its input number {index} is missing; the file is not as ONNX wants it")
        return self.importer.symbol_of(self.inputs[index], self)

    def syms(self):
        return [self.sym(i) for i in range(len(self.inputs))]

    def const(self, index, default=None):
        """The input's value, which must be known at import."""
        if not self.has(index):
            return default
        value = self.importer.constants.get(self.inputs[index])
        if value is None:
            raise self.refuse(
                f"its input {self.inputs[index]} must be a constant, MXNet's graphs have it as an attribute; "
                "fix the model's input shapes or fold its constants (onnxsim) first"
            )
        return value

    def ints(self, index, name):
        """A list of integers: an attribute in older versions, a constant input in newer ones; None if absent."""
        value = self.attrs.get(name)
        if value is None and index is not None and self.has(index):
            value = self.const(index).tolist()
        return value if value is None or isinstance(value, list) else [value]

    def sizes(self, index):
        """A shape given as input: numbers, and `Unknown` where only the data tell."""
        partial = self.importer.partial.get(self.inputs[index])
        found = self.const(index) if partial is None else partial
        if found.size > MOST_DIMENSIONS:
            raise self.refuse(f"a shape of {found.size} dimensions is not possible, at most {MOST_DIMENSIONS} are")
        return list(found.ravel()) if partial is not None else [int(n) for n in found.ravel()]

    def shape(self, index=0):
        """The input's shape: numbers and `Unknown`."""
        shape = self.importer.shape_of(self.inputs[index])
        if shape is None:
            raise self.refuse(
                f"the shape of its input {self.inputs[index]} cannot be inferred; give the model's inputs shapes"
            )
        return shape

    def rank(self, index=0):
        return len(self.shape(index))

    def dtype(self, index=0):
        return self.importer.types.get(self.inputs[index], "float32")

    def claim(self, *shape, width=8):
        """Room for a constant that the converter is about to make; refused if the model asks for too much."""
        self.importer.budget.claim(self, shape, width)

    def parameter(self, ending, value, learned=False):
        """A parameter made from constants of the node, under its name with an ending."""
        return self.importer.root.parameter(f"{self.name}_{ending}", value, learned)

    def call(self, operator, *args, **attrs):
        """A symbol named after the node."""
        return face(operator)(*args, name=self.name, **attrs)


def face(operator):
    """The symbol function of an operator."""
    if operator.startswith("_np"):  # NumPy's operators have faces of another kind of symbol
        return make(registry.find(operator), operator, symbol.__name__)
    space, _, short = operator.rpartition(".")
    if space:
        return getattr(getattr(symbol, space), short)
    return getattr(symbol._internal if operator.startswith("_") else symbol, operator)


def _plain(value):
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, (str, int, float)) or hasattr(value, "SerializeToString"):
        return value
    return [_plain(v) for v in value]


def apply_partial(node, values):
    """The node on shapes that are partly known, as arrays of numbers and `Unknown`; None if it is not for shapes."""
    compute = ON_SHAPES.get(node.op)
    return None if compute is None else compute(node, *values)


def _first(node, shape, *rest):
    return shape


def _joined(node, *parts):
    return np.concatenate([np.atleast_1d(part) for part in parts])


def _taken(node, shape, places):
    return np.take(shape, np.asarray(places, dtype=int), axis=node.attr("axis", 0))


def _in_one_row(node, shape, *rest):
    """One axis, or none for a single size."""
    scalar = node.op == "Squeeze" or (node.op == "Reshape" and np.size(rest[0]) == 0)
    return shape.reshape(()) if scalar and shape.size == 1 else shape.reshape(-1)


def _sliced(node, shape, start=None, end=None, axes=None, step=1):
    if start is None:  # attributes, before opset 10
        start, end = node.attr("starts"), node.attr("ends")
    start, end, step = (int(np.ravel(v)[0]) for v in (start, end, step))
    return shape[start:end:step]


def _equal(node, *values):
    """Asked in order to find the -1 of a shape, which no size is."""
    pairs = np.broadcast(*values)
    return np.asarray([a == b for a, b in pairs], dtype=object).reshape(pairs.shape)


def _chosen(node, condition, *values):
    return np.where(np.asarray(condition, dtype=bool), *values).astype(object)


def _computed(function):
    return lambda node, *values: np.asarray(function(*values), dtype=object) if len(values) == 2 else None


ON_SHAPES = {
    "Identity": _first,
    "Cast": _first,
    "Concat": _joined,
    "Gather": _taken,
    **dict.fromkeys(("Squeeze", "Unsqueeze", "Reshape"), _in_one_row),
    "Slice": _sliced,
    "Equal": _equal,
    "Where": _chosen,
    "Add": _computed(np.add),
    "Sub": _computed(np.subtract),
    "Mul": _computed(np.multiply),
    "Div": _computed(np.floor_divide),
}
