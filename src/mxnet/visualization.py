"""Pictures of a network: `print_summary` as a table of text, `plot_network` as a graphviz drawing."""

import json
import re
import warnings

from ._core.extras import load as load_extra
from .symbol import Symbol, var

__all__ = ["plot_network", "print_summary"]

_COLUMNS = ("Layer (type)", "Output Shape", "Param #", "Previous Layer")
_PARAMETERS = (
    "_weight", "_bias", "_beta", "_gamma", "_moving_var", "_moving_mean", "_running_var", "_running_mean",
)  # fmt: skip


def _symbol_of(network):
    """A symbol, or the symbol that a hybrid block computes."""
    if isinstance(network, Symbol):
        return network
    if hasattr(network, "hybrid_forward"):
        return network(var("data"))
    raise TypeError(f"symbol must be Symbol, or a HybridBlock, got {type(network)}")


def _numbers(text):
    return re.findall(r"\d+", text)


def _outputs(symbol, method, known, complaint):
    """What inference says of every output inside the symbol, by name."""
    inner = symbol.get_internals()
    _, found, _ = getattr(inner, method)(**known)
    if found is None:
        raise ValueError(complaint)
    return dict(zip(inner.list_outputs(), found, strict=True))


class _Summary:
    """One table: rows of the nodes, and the parameters counted so far."""

    def __init__(self, symbol, shape, line_length, positions):
        self.shapes = _outputs(symbol, "infer_shape", shape, "Input shape is incomplete") if shape is not None else {}
        graph = json.loads(symbol.tojson())
        self.nodes, self.heads = graph["nodes"], set(graph["heads"][0])
        self.length = line_length
        self.positions = [int(line_length * p) for p in positions] if positions[-1] <= 1 else positions
        self.total = 0

    def row(self, fields):
        line = ""
        for field, end in zip(fields, self.positions, strict=False):
            line = (line + str(field))[:end].ljust(end)
        print(line)

    def key(self, node):
        return node["name"] if node["op"] == "null" else f"{node['name']}_output"

    def shape(self, node):
        return self.shapes.get(self.key(node), ())[1:]

    def previous(self, node):
        """Nodes before this one that are layers, and how many channels they hand over."""
        shown, channels = [], 0
        for number, *_ in node["inputs"]:
            before = self.nodes[number]
            if before["op"] == "null" and number not in self.heads:
                continue
            shown.append(before["name"])
            channels += int((self.shape(before) or (0,))[0])
        return shown, channels

    def parameters(self, node, channels):
        attrs = node.get("attrs", {})
        biased = attrs.get("no_bias") != "True"
        if node["op"] == "Convolution":
            filters = int(attrs["num_filter"])
            count = channels * filters // int(attrs.get("num_group", "1"))
            for size in _numbers(attrs["kernel"]):
                count *= int(size)
            return count + (filters if biased else 0)
        if node["op"] == "FullyConnected":
            return (channels + biased) * int(attrs["num_hidden"])
        if node["op"] == "BatchNorm":
            return int((self.shape(node) or (0,))[0]) * 2
        if node["op"] == "Embedding":
            return int(attrs["input_dim"]) * int(attrs["output_dim"])
        return 0

    def layer(self, number, node):
        before, channels = self.previous(node)
        count = self.parameters(node, channels)
        shape = self.shape(node) if node["op"] != "null" or number in self.heads else ()
        self.row([f"{node['name']}({node['op']})", "x".join(map(str, shape)), count, before[0] if before else ""])
        for name in before[1:]:
            self.row(["", "", "", name])
        self.total += count

    def print(self):
        print("_" * self.length)
        self.row(_COLUMNS)
        print("=" * self.length)
        for number, node in enumerate(self.nodes):
            if node["op"] == "null" and number > 0:
                continue
            self.layer(number, node)
            print(("=" if number == len(self.nodes) - 1 else "_") * self.length)
        print(f"Total params: {self.total}")
        print("_" * self.length)


def print_summary(symbol, shape=None, line_length=120, positions=(0.44, 0.64, 0.74, 1.0)):
    """Print a table of the layers; with `shape` also output shapes and the number of parameters.

    Parameters
    ----------
    symbol : Symbol
        The network.
    shape : dict of str to tuple, optional
        The shapes of the inputs.
    line_length : int, default 120
        The width of the table.
    positions : list of float, default (0.44, 0.64, 0.74, 1.0)
        Where the columns end, as parts of the width.

    Examples
    --------
    >>> net = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc")
    >>> mx.viz.print_summary(net, shape={"data": (1, 3)}, line_length=60)
    ____________________________________________________________
    Layer (type)              Output ShapeParam Previous Layer
    ============================================================
    data(null)                3           0
    ____________________________________________________________
    fc(FullyConnected)        2           8     data
    ============================================================
    Total params: 8
    ____________________________________________________________
    """
    _Summary(_symbol_of(symbol), shape, line_length, list(positions)).print()


def _pooling(attrs):
    kernel = "x".join(_numbers(attrs["kernel"])) if "kernel" in attrs else "[]"
    return f"Pooling\n{attrs.get('pool_type', 'max')}, {kernel}/{_stride(attrs)}"


def _stride(attrs):
    return "x".join(_numbers(attrs["stride"])) if "stride" in attrs else "1"


# operator -> (colour, label from the attributes; None: the node's name)
_STYLES = {
    "Convolution": (
        "#fb8072",
        lambda a: f"Convolution\n{'x'.join(_numbers(a['kernel']))}/{_stride(a)}, {a['num_filter']}",
    ),
    "FullyConnected": ("#fb8072", lambda a: f"FullyConnected\n{a['num_hidden']}"),
    "BatchNorm": ("#bebada", None),
    "Activation": ("#ffffb3", lambda a: f"Activation\n{a['act_type']}"),
    "LeakyReLU": ("#ffffb3", lambda a: f"LeakyReLU\n{a.get('act_type', 'Leaky')}"),
    "Pooling": ("#80b1d3", _pooling),
    "Concat": ("#fdb462", None),
    "Flatten": ("#fdb462", None),
    "Reshape": ("#fdb462", None),
    "Softmax": ("#b3de69", None),
    "Custom": ("#fccde5", lambda a: a["op_type"]),
}
_VARIABLE, _OTHER = "#8dd3c7", "#fccde5"


def _warn_of_twins(nodes):
    names = [node["name"] for node in nodes]
    twins = {name for name in names if names.count(name) > 1}
    if twins:
        warnings.warn(
            "There are multiple variables with the same name in your graph, this may result in cyclic graph. "
            f"Repeated names: {','.join(twins)}",
            RuntimeWarning,
            stacklevel=3,
        )


def _draw_nodes(dot, nodes, style, hide_weights):
    """Draw the nodes; returns the names of those left out."""
    hidden = set()
    for node in nodes:
        name, op = node["name"], node["op"]
        if op == "null":
            if name.endswith(_PARAMETERS):
                if hide_weights:
                    hidden.add(name)
                continue
            dot.node(name=name, label=name, **{**style, "shape": "oval", "fillcolor": _VARIABLE})
            continue
        colour, label = _STYLES.get(op, (_OTHER, None))
        text = label(node.get("attrs", {})) if label is not None else name
        dot.node(name=name, label=text, **{**style, "fillcolor": colour})
    return hidden


def _edge_label(node, shapes, types):
    """What flows along an edge: the shape without its batch, and the dtype."""
    key = node["name"]
    if node["op"] != "null":
        key += "_output"
        count = node.get("attrs", {}).get("num_outputs")
        key += str(int(count) - 1) if count is not None else ""
    label = "x".join(map(str, shapes[key][1:])) if shapes is not None else ""
    return label + f"({types[key].__name__})" if types is not None else label


def plot_network(symbol, title="plot", save_format="pdf", shape=None, dtype=None, node_attrs=None, hide_weights=True):
    """A picture of the network, as a graphviz Digraph.

    Parameters
    ----------
    symbol : Symbol
        The network.
    title : str, default 'plot'
        The title.
    save_format : str, default 'pdf'
        The format of the file that `render` writes.
    shape : dict of str to tuple, optional
        The shapes of the inputs.
    dtype : dict of str to dtype, optional
        The data types of the inputs.
    node_attrs : dict of str to str, optional
        Attributes of all nodes, such as their shape or size.
    hide_weights : bool, default True
        Whether parameters are left out.

    Returns
    -------
    graphviz.Digraph

    Examples
    --------
    >>> net = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc")
    >>> picture = mx.viz.plot_network(net, shape={"data": (1, 3)})
    >>> "fc" in picture.source
    True
    """
    graphviz = load_extra("Draw network requires graphviz library", "plot", "graphviz", kind=ImportError)
    symbol = _symbol_of(symbol)
    shapes = _outputs(symbol, "infer_shape", shape, "Input shape is incomplete") if shape is not None else None
    types = _outputs(symbol, "infer_type", dtype, "Input type is incomplete") if dtype is not None else None
    nodes = json.loads(symbol.tojson())["nodes"]
    _warn_of_twins(nodes)
    dot = graphviz.Digraph(name=title, format=save_format)
    style = {"shape": "box", "fixedsize": "true", "width": "1.3", "height": "0.8034", "style": "filled"}
    hidden = _draw_nodes(dot, nodes, {**style, **(node_attrs or {})}, hide_weights)
    for node in nodes:
        inputs = node["inputs"][:1] if node["op"] == "_contrib_BilinearResize2D" else node["inputs"]
        for number, *_ in inputs:
            before = nodes[number]
            if before["name"] not in hidden:
                label = _edge_label(before, shapes, types)
                dot.edge(tail_name=node["name"], head_name=before["name"], dir="back", arrowtail="open", label=label)
    return dot
