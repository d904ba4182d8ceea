"""What a network costs: its parameters, their bytes, and the multiplications and additions of one forward pass.

FLOPs are counted for convolutions, dense layers, products of matrices and recurrent layers, where nearly all of them
are: a product and a sum are two. Activations, norms and pooling are left out, as is usual.
"""

import ast
import json
import math
import warnings

from .._core.errors import MXNetError

SIDES = (224, 28, 32, 299, 64, 96, 112, 128, 227, 256, 300, 384, 416, 512, 8, 16)  # sizes of images to try
GATES = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}


def _convolution(attrs, inputs, output):
    """Every output element is a sum over one filter."""
    return 2 * math.prod(output) * math.prod(inputs[1][1:])


def _deconvolution(attrs, inputs, output):
    """Every input element is spread over one filter."""
    return 2 * math.prod(inputs[0]) * math.prod(inputs[1][1:])


def _dense(attrs, inputs, output):
    return 2 * math.prod(output) * inputs[1][-1]


def _product(attrs, inputs, output):
    rows = -2 if attrs.get("transpose_a", "False") in ("True", "1", "true") else -1
    return 2 * math.prod(output) * inputs[0][rows if len(inputs[0]) > 1 else 0]


def _recurrent(attrs, inputs, output):
    """Each step multiplies all weights but the biases."""
    steps, batch, width = inputs[0]
    units, layers, gates = int(attrs["state_size"]), int(attrs["num_layers"]), GATES[attrs["mode"]]
    ways = 2 if attrs.get("bidirectional", "False") in ("True", "1") else 1
    weights = sum(gates * units * ways * ((width if not layer else units * ways) + units) for layer in range(layers))
    return 2 * steps * batch * weights


FLOPS = {
    "Convolution": _convolution,
    "Deconvolution": _deconvolution,
    "FullyConnected": _dense,
    "dot": _product,
    "batch_dot": _product,
    "_linalg_gemm2": _product,
    "RNN": _recurrent,
}


def _shapes(symbol, known):
    """The shape of every output inside, by name; raises where they contradict each other."""
    inner = symbol.get_internals()
    _, outputs, _ = inner.infer_shape_partial(**known)
    return dict(zip(inner.list_outputs(), outputs, strict=True))


def _output(shapes, name):
    return shapes.get(name) or shapes.get(f"{name}_output") or shapes.get(f"{name}_output0")


def layer_flops(symbol, known):
    """{layer: FLOPs} of the layers that have a formula; None for one whose shapes are not known."""
    shapes, nodes, found = _shapes(symbol, known), json.loads(symbol.tojson())["nodes"], {}
    for node in nodes:
        if node["op"] in FLOPS:
            inputs = [_output(shapes, nodes[number]["name"]) for number, *_ in node["inputs"]]
            output = _output(shapes, node["name"])
            whole = output and all(output) and all(shape and all(shape) for shape in inputs[:2])
            attrs = node.get("attrs", {})
            found[node["name"]] = FLOPS[node["op"]](attrs, inputs, output) if whole else None
    return found


def _channels(symbol, shapes, name):
    """How many channels the first convolution reads; None if no convolution reads this input."""
    nodes = json.loads(symbol.tojson())["nodes"]
    for node in nodes:
        if node["op"] == "Convolution" and len(node["inputs"]) > 1:
            weight = shapes.get(nodes[node["inputs"][1][0]]["name"])
            axes = len(ast.literal_eval(node["attrs"]["kernel"]))
            if weight and axes == 2:
                return weight[1] * int(node["attrs"].get("num_group", "1"))
    return None


def guessed_shape(symbol, shapes):
    """{input: shape} of one image or row that fits the parameters; {} if there is none to be found.

    Networks that end in dense layers fit one size; others fit any, and the first of the usual ones is taken.
    """
    inputs = [name for name in symbol.list_inputs() if name not in shapes and not name.endswith("label")]
    if len(inputs) != 1:
        return {}
    channels = _channels(symbol, shapes, inputs[0])
    tried = [(1, channels, side, side) for side in SIDES] if channels else _rows(symbol, shapes)
    return next(({inputs[0]: shape} for shape in tried if _fits(symbol, {**shapes, inputs[0]: shape})), {})


def _rows(symbol, shapes):
    nodes = json.loads(symbol.tojson())["nodes"]
    dense = (nodes[n["inputs"][1][0]]["name"] for n in nodes if n["op"] == "FullyConnected")
    return [(1, shapes[name][-1]) for name in dense if name in shapes][:1]


def _fits(symbol, known):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            _, outputs, _ = symbol.infer_shape_partial(**known)
        except (MXNetError, ValueError):
            return False
    return all(shape and all(shape) for shape in outputs)


def costs(symbol, arrays, given):
    """What `remx summary` tells of parameters and FLOPs, as one dictionary."""
    shapes = {name.split(":", 1)[-1]: tuple(array.shape) for name, array in arrays.items()}
    shapes = {name: shape for name, shape in shapes.items() if name in symbol.list_inputs()}
    assumed = {} if given else guessed_shape(symbol, shapes)
    flops = layer_flops(symbol, {**shapes, **(given or assumed)})
    known = all(value is not None for value in flops.values()) and (given or assumed)
    return {
        "parameters": sum(math.prod(array.shape) for array in arrays.values()) if arrays else None,
        "bytes": sum(math.prod(a.shape) * _itemsize(a) for a in arrays.values()) if arrays else None,
        "flops": sum(flops.values()) if known else None,
        "shape": {name: list(shape) for name, shape in (given or assumed).items()},
        "shape_assumed": bool(assumed),
        "layers": flops,
    }


def _itemsize(array):
    import numpy as np

    return np.dtype(array.dtype).itemsize
