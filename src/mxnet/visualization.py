"""Pictures: a network as a table or a drawing, images as a grid, a training as curves."""

import json
import shutil
import warnings

import numpy as np

from ._core.extras import load as load_extra
from ._training.curves import draw, picture
from .ndarray import NDArray
from .symbol import Symbol, var
from .symbol._drawing import OTHER, PARAMETERS, STYLES, VARIABLE, numbers, outputs, svg

__all__ = ["plot_curves", "plot_network", "print_summary", "show_images"]

_COLUMNS = ("Layer (type)", "Output Shape", "Param #", "Previous Layer")


def _symbol_of(network):
    """A symbol, or the symbol that a hybrid block computes."""
    if isinstance(network, Symbol):
        return network
    if hasattr(network, "hybrid_forward"):
        return network(var("data"))
    raise TypeError(f"symbol must be Symbol, or a HybridBlock, got {type(network)}")


class _Summary:
    """One table: rows of the nodes, and the parameters counted so far."""

    def __init__(self, symbol, shape, line_length, positions):
        self.shapes = outputs(symbol, "infer_shape", shape, "Input shape is incomplete") if shape is not None else {}
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
            for size in numbers(attrs["kernel"]):
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
            if name.endswith(PARAMETERS):
                if hide_weights:
                    hidden.add(name)
                continue
            dot.node(name=name, label=name, **{**style, "shape": "oval", "fillcolor": VARIABLE})
            continue
        colour, label = STYLES.get(op, (OTHER, None))
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


def _drawing_class(graphviz):
    """graphviz's `Digraph`, which a notebook shows even where the program `dot` is missing."""

    class Digraph(graphviz.Digraph):
        without_dot = None

        def _repr_mimebundle_(self, include=None, exclude=None, **options):
            if shutil.which("dot") or self.without_dot is None:
                return super()._repr_mimebundle_(include, exclude, **options)
            return {"image/svg+xml": self.without_dot()}

    return Digraph


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
    shapes = outputs(symbol, "infer_shape", shape, "Input shape is incomplete") if shape is not None else None
    types = outputs(symbol, "infer_type", dtype, "Input type is incomplete") if dtype is not None else None
    nodes = json.loads(symbol.tojson())["nodes"]
    _warn_of_twins(nodes)
    dot = _drawing_class(graphviz)(name=title, format=save_format)
    dot.without_dot = lambda: svg(symbol, shape, weights=not hide_weights)
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


def show_images(images, titles=None, columns=None, scale=1.5, cmap="gray"):
    """Show images side by side in a grid.

    Parameters
    ----------
    images : NDArray, numpy.ndarray or list of them
        A batch of shape (N, H, W), (N, C, H, W) or (N, H, W, C), one image, or a list of images of any sizes. One
        channel is drawn in grey, three in colour, four with transparency. Floats that lie in [0, 1] and integers that
        lie in [0, 255] are drawn as they are; other ranges are stretched, for each image by itself.
    titles : sequence, optional
        A title for each image; anything that `str` turns into text.
    columns : int, optional
        Images in a row; by default up to 8.
    scale : float, default 1.5
        Width and height of a cell in inches.
    cmap : str, default "gray"
        matplotlib's colour map for images of one channel.

    Returns
    -------
    matplotlib.figure.Figure
        The picture. A notebook shows it; in a program, save it with `savefig`.

    Examples
    --------
    >>> figure = mx.viz.show_images(mx.nd.random.uniform(shape=(4, 3, 8, 8)), titles=["a", "b", "c", "d"])
    >>> [axes.get_title() for axes in figure.axes]
    ['a', 'b', 'c', 'd']
    """
    arrays = _images_of(images)
    columns = columns or min(8, len(arrays))
    rows = -(-len(arrays) // columns)
    titles = [] if titles is None else [str(t.asscalar() if isinstance(t, NDArray) else t) for t in titles]
    figure = picture(figsize=(columns * scale, rows * (scale + (0.3 if titles else 0))))
    for number, array in enumerate(arrays):
        axes = figure.add_subplot(rows, columns, number + 1)
        limits = (0, 255 if array.dtype == np.uint8 else 1) if array.ndim == 2 else (None, None)
        axes.imshow(array, cmap=cmap, vmin=limits[0], vmax=limits[1])
        axes.set_axis_off()
        if number < len(titles):
            axes.set_title(titles[number], fontsize=9)
    return figure


def _images_of(images):
    """A list of arrays that matplotlib draws: (H, W) or (H, W, 3 or 4), of uint8 or of floats in [0, 1]."""
    if not isinstance(images, (list, tuple)):
        array = _as_numpy(images)
        single = array.ndim == 2 or (array.ndim == 3 and (array.shape[-1] in (3, 4) or array.shape[0] in (1, 3, 4)))
        images = [array] if single else list(array)
    if not len(images):
        raise ValueError("show_images needs at least one image")
    return [_drawable(_as_numpy(image)) for image in images]


def _as_numpy(array):
    return array.asnumpy() if isinstance(array, NDArray) else np.asarray(array)


def _drawable(image):
    if image.ndim == 3 and image.shape[-1] not in (1, 3, 4) and image.shape[0] in (1, 3, 4):
        image = image.transpose(1, 2, 0)
    if image.ndim == 3 and image.shape[-1] == 1:
        image = image[:, :, 0]
    if image.ndim != 2 and not (image.ndim == 3 and image.shape[-1] in (3, 4)):
        raise ValueError(
            f"an image has shape (H, W), (C, H, W) or (H, W, C) with 1, 3 or 4 channels, got {image.shape}; "
            "to see the channels of a feature map, pass it without its batch axis as images of shape (H, W)"
        )
    low, high = (image.min(), image.max()) if image.size else (0, 0)
    whole = image.dtype.kind in "iub"
    if low >= 0 and high <= (255 if whole else 1):
        return image.astype(np.uint8) if whole else image.astype(np.float32)
    if not whole and low >= 0 and high > 1 and high <= 255 and image.ndim == 3:
        return (image / 255).astype(np.float32)  # a picture of floats in bytes' range, as mx.image augmenters return
    return ((image - low) / max(high - low, 1e-12)).astype(np.float32)


def plot_curves(curves, xlabel="epoch", title=None):
    """Draw the curves of a training in one call.

    Curves of the same quantity share a panel: names are compared without the words train, training, val, validation
    and test, so "training accuracy" and "validation accuracy" are drawn together, the loss beside them.

    Parameters
    ----------
    curves : dict of str to sequence, Estimator, or sequence of numbers
        Values by name, one for each epoch; an `Estimator` after `fit` has them in its `history`. A sequence of numbers
        alone is one curve, called "loss".
    xlabel : str, default "epoch"
        What one step along the x axis is.
    title : str, optional
        Title of the picture.

    Returns
    -------
    matplotlib.figure.Figure
        The picture. A notebook shows it; in a program, save it with `savefig`.

    Examples
    --------
    >>> figure = mx.viz.plot_curves({"training loss": [2.3, 0.9, 0.5], "validation loss": [1.1, 0.7, 0.6]})
    >>> [axes.get_ylabel() for axes in figure.axes]
    ['loss']
    """
    curves = getattr(curves, "history", curves)
    return draw(curves if hasattr(curves, "items") else {"loss": curves}, xlabel, title)
