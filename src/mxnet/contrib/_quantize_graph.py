"""A graph rewritten for 8-bit integers: quantized operators, conversions to and from them, calibrated ranges."""

from .._core.errors import MXNetError
from .._graph.ir.node import Entry, Node, entry_name, variable, walk
from .._ops.registry.registry import find
from ._output_names import output_name

PREFIX, QUANTIZED = "quantized_", "_quantize"
# Operators with a quantized twin; what an attribute must be for that, if not every value will do.
TWINS = {
    "Activation": ("_contrib_quantized_act", lambda a: a["act_type"] == "relu"),
    "BatchNorm": ("_contrib_quantized_batch_norm", None),
    "Concat": ("_contrib_quantized_concat", lambda a: a["dim"] > 0),
    "Convolution": ("_contrib_quantized_conv", None),
    "Embedding": ("_contrib_quantized_embedding", lambda a: a["dtype"] == "float32"),
    "Flatten": ("_contrib_quantized_flatten", None),
    "FullyConnected": ("_contrib_quantized_fully_connected", None),
    "Pooling": ("_contrib_quantized_pooling", lambda a: a["pool_type"] in ("max", "avg")),
    "RNN": ("_contrib_quantized_rnn", lambda a: a["mode"] == "lstm" and not a["use_sequence_length"]),
    "elemwise_add": ("_contrib_quantized_elemwise_add", None),
    "elemwise_mul": ("_contrib_quantized_elemwise_mul", None),
}
WORTH = {"Convolution", "FullyConnected", "RNN"}  # what quantization is for; the others follow these in smart mode
SUMS = {"Convolution", "FullyConnected", "elemwise_add", "elemwise_mul"}  # 32-bit results, to be made 8-bit again
KEPT = {"BatchNorm": lambda i: i > 0, "Embedding": lambda i: i == 0, "RNN": lambda i: i > 0}  # inputs that stay reals
REAL_OUTPUT = {"RNN"}
BY_INPUT = {"_contrib_quantize_v2", "_contrib_quantize_asym", "_contrib_requantize"}  # calibrated by what comes in
BY_OUTPUT = {"_contrib_quantized_batch_norm"}


def quantizable(node, excluded_names, excluded_operators):
    """Can the node be quantized, and may it?"""
    if node.op is None or node.op.name not in TWINS or node.name in excluded_names:
        return False
    condition = TWINS[node.op.name][1]
    allowed = not excluded_operators & set(node.op.names)
    return allowed and (condition is None or condition(node.op.full(node.parsed)))


def chosen(nodes, excluded_names, excluded_operators, mode):
    """Ids of the nodes to quantize: all that can be, or in smart mode those between two that are worth it."""
    able = {id(n): n for n in nodes if quantizable(n, set(excluded_names), set(excluded_operators))}
    if mode == "full":
        return set(able)
    if mode != "smart":
        raise MXNetError(f"unrecognized quantize mode: {mode}; it is `full` or `smart`")
    users = {}
    for node in nodes:
        for entry in node.inputs:
            users.setdefault(id(entry.node), []).append(node)
    worth = [n for n in able.values() if n.op.name in WORTH]
    before = _reached(worth, lambda n: [e.node for e in n.inputs], able)
    after = _reached(worth, lambda n: users.get(id(n), ()), able)
    return {id(n) for n in worth} | (before & after)


def _reached(start, neighbours, able):
    """Ids of the nodes that lead from `start` through quantizable ones."""
    seen, left = set(), list(start)
    while left:
        for node in neighbours(left.pop()):
            if id(node) in able and node.op.name not in WORTH and id(node) not in seen:
                seen.add(id(node))
                left.append(node)
    return seen


class Quantizer:
    """The quantized copy of a graph: its heads, and the names of the values that calibration has to look at."""

    def __init__(
        self,
        heads,
        excluded_names=(),
        excluded_operators=(),
        dtype="int8",
        mode="full",
        parameters=(),
        by_channel=False,
    ):
        nodes = walk(heads)
        self.dtype, self.parameters, self.by_channel = dtype, set(parameters), by_channel
        self.chosen = chosen(nodes, excluded_names, excluded_operators, mode)
        self.images, self.reals, self.integers, self.stored = {}, {}, {}, {}
        self.sources = {}  # a node of the new graph -> the one it stands for
        for node in nodes:
            self._add(node)
        self.heads = [self.real(head) for head in heads]
        self.watched = [name for node in walk(self.heads) for name in self._watched(node)]

    def _add(self, node):
        new = self._twin(node) if id(node) in self.chosen else self._copy(node)
        self.images[id(node)], self.sources[id(new)] = new, node

    def _copy(self, node):
        return node.with_inputs([self.real(e) for e in node.inputs])

    def _twin(self, node):
        kept = KEPT.get(node.op.name, lambda i: False)
        inputs, ranges = [], []
        for i, entry in enumerate(node.inputs):
            if kept(i):
                inputs.append(self.real(entry))
            else:
                channels = _channels(node) if self.by_channel and i == 1 else None
                value, *ends = self.integer(entry, node.op.name == "RNN", channels)
                inputs.append(value)
                ranges += ends
        new = _node(TWINS[node.op.name][0], PREFIX + node.name, node.attrs, inputs + ranges)
        if node.op.name not in SUMS:
            return new
        return _node("_contrib_requantize", f"requantize_{node.name}", {"out_type": self.dtype}, _outputs(new))

    def real(self, entry):
        """The value as reals, in the new graph."""
        if not self._is_integer(entry):
            return Entry(self.images[id(entry.node)], entry.index, entry.version)
        if id(entry.node) not in self.reals:
            image = self.images[id(entry.node)]
            node = _node("_contrib_dequantize", f"{entry.node.name}_dequantize", {}, _outputs(image))
            self.reals[id(entry.node)] = Entry(node)
        return self.reals[id(entry.node)]

    def integer(self, entry, asymmetric, channels=None):
        """The value as integers, and the ends of its range: of one for all, or of one for each of so many channels."""
        if self._is_integer(entry):
            return _outputs(self.images[id(entry.node)])
        node = entry.node
        if node.op is None and node.name in self.parameters and not asymmetric:
            if id(node) not in self.stored:
                self.stored[id(node)] = _stored(node.name + QUANTIZED, channels)
            return self.stored[id(node)]
        key = (id(node), entry.index, asymmetric)
        if key not in self.integers:
            self.integers[key] = self._quantize(entry, asymmetric)
        return _outputs(self.integers[key])

    def _quantize(self, entry, asymmetric):
        node = entry.node
        name = node.name if node.op is None else f"{node.name}_{output_name(node, entry.index)}"
        name += QUANTIZED
        if asymmetric:
            return _node("_contrib_quantize_asym", name, {}, [self.real(entry)])
        return _node("_contrib_quantize_v2", name, {"out_type": self.dtype}, [self.real(entry)])

    def _is_integer(self, entry):
        return id(entry.node) in self.chosen and entry.node.op.name not in REAL_OUTPUT

    def _watched(self, node):
        """What the values are called in the graph of reals by which the node is calibrated."""
        if node.op is None:
            return []
        if node.op.name in BY_OUTPUT:
            return [entry_name(Entry(self.sources[id(node)]))]
        if node.op.name not in BY_INPUT:
            return []
        entry = node.inputs[0]
        source = self.sources[id(node)] if id(node) in self.sources else self.sources[id(entry.node)]
        return [entry_name(Entry(source, entry.index))]


def _channels(node):
    """How many channels a layer's weight has; None for other operators."""
    attribute = {"Convolution": "num_filter", "FullyConnected": "num_hidden"}.get(node.op.name)
    return attribute and node.parsed[attribute]


def _stored(name, channels):
    """Variables for integers that are quantized beforehand and for their range; a range by channel says its shape."""
    shape = {} if channels is None else {"__shape__": f"({channels},)"}
    return [Entry(variable(name)), *[Entry(variable(f"{name}_{end}", dict(shape))) for end in ("min", "max")]]


def _node(operator, name, attrs, inputs):
    node = Node(find(operator), name, dict(attrs), list(inputs))
    node.parse()
    return node


def _outputs(node):
    return [Entry(node, i) for i in range(3)]


def calibrate(heads, ranges):
    """Write the ranges, by the names of the values they belong to, into the nodes of a quantized graph, in place."""
    for node in walk(heads):
        if node.op is None or node.op.name not in BY_INPUT | BY_OUTPUT:
            continue
        entry = node.inputs[0] if node.op.name in BY_INPUT else Entry(node)
        found = ranges.get(entry_name(entry).removeprefix(PREFIX))
        if found is not None:
            node.attrs["min_calib_range"], node.attrs["max_calib_range"] = (_text(float(end)) for end in found)
            node.parse()


def _text(value):
    """Six decimals, as MXNet writes ranges, unless a small range needs more."""
    text = f"{value:f}"
    return text if abs(float(text) - value) <= 1e-6 * abs(value) else f"{value:.9g}"
