"""Parameters of a quantized symbol: 8-bit integers with the ends of their ranges."""

from .. import ndarray
from ._quantize_graph import QUANTIZED


def _quantize_params(qsym, params, th_dict):
    """The parameters that the quantized symbol asks for: 8-bit ones with their ranges, the others as they are."""
    by_channel = {name for name, attributes in qsym.attr_dict().items() if "__shape__" in attributes}
    quantized = {}
    for name in qsym.list_arguments():
        original = name.removesuffix(QUANTIZED)
        if name.endswith(QUANTIZED) and original in params:
            made = (_by_channel if f"{name}_min" in by_channel else _whole)(params[original])
            quantized.update(zip((name, f"{name}_min", f"{name}_max"), made, strict=True))
        elif name in params:
            quantized[name] = params[name]
        elif name.endswith(("_min", "_max")) and name[:-4] in th_dict:
            quantized[name] = ndarray.array([th_dict[name[:-4]][name.endswith("_max")]])
    return quantized


def _whole(value):
    """(integers, the ends of their range) of an array."""
    return ndarray.contrib.quantize(value, ndarray.min(value), ndarray.max(value), out_type="int8")


def _by_channel(value):
    """(integers, the ends of their ranges) of a weight, where each output channel has a range of its own."""
    reaches = ndarray.max(ndarray.abs(value.reshape((value.shape[0], -1))), axis=1)
    widest = float(ndarray.max(reaches).asscalar()) or 1.0
    reaches = ndarray.where(reaches > 0, reaches, ndarray.ones_like(reaches) * widest)  # zeros are exact in any range
    steps = ndarray.broadcast_mul(value, (127 / reaches).reshape((-1, *[1] * (value.ndim - 1))))
    return ndarray.clip(ndarray.rint(steps), -127, 127).astype("int8"), -reaches, reaches
