"""Elements picked and placed by indices that are data."""

import numpy as np

from ..... import symbol as sym
from .._node import Unknown, converts
from .elementwise import fold
from .shapes import coordinates_first, zeros_of_size

COMBINE = {"add": "broadcast_add", "mul": "broadcast_mul", "max": "broadcast_maximum", "min": "broadcast_minimum"}
MOST = 64  # placements one after another


def _element_places(node, indices):
    """Rows of coordinates for indices along one axis: the others are the element's own."""
    rank = node.rank(1)
    axis = node.attr("axis", 0) % rank
    own = sym.contrib.index_array(indices)
    parts = [sym.slice_axis(own, axis=-1, begin=0, end=axis)] if axis else []
    parts.append(sym.expand_dims(sym.cast(indices, dtype="int64"), axis=-1))
    parts += [sym.slice_axis(own, axis=-1, begin=axis + 1, end=rank)] if axis + 1 < rank else []
    places = sym.concat(*parts, dim=-1) if len(parts) > 1 else parts[0]
    return coordinates_first(places, rank + 1)


@converts("GatherElements")
def _gather_elements(node):
    return node.call("gather_nd", node.sym(0), _element_places(node, node.sym(1)))


@converts("Scatter", "ScatterElements")
def _scatter_elements(node):
    axis, combine = node.attr("axis", 0), node.attr("reduction", "none")
    if combine == "none":
        return _put(node, node.sym(), _element_places(node, node.sym(1)), node.sym(2))
    result, size = node.sym(), _few(node, node.shape(1)[axis])
    for i in range(size):  # along the axis one by one: no place comes twice in a step
        indices, updates = (sym.slice_axis(node.sym(n), axis=axis, begin=i, end=i + 1) for n in (1, 2))
        result = _combined(node, result, _element_places(node, indices), updates, combine)
    return result


@converts("ScatterND")
def _scatter_nd(node):
    rank, combine = node.rank(1), node.attr("reduction", "none")
    places = coordinates_first(node.sym(1), rank)
    if combine == "none":
        return _put(node, node.sym(), places, node.sym(2))
    sizes = node.shape(1)[:-1]
    count = _few(node, Unknown() if any(isinstance(n, Unknown) for n in sizes) else int(np.prod(sizes)))
    # all places in a row, all updates in a row
    places = sym.reshape(places, shape=(0, -1))
    updates = sym.reshape(node.sym(2), shape=(-1, *_tail(node, rank - 1)))
    result = node.sym()
    for i in range(count):
        place = sym.slice_axis(places, axis=1, begin=i, end=i + 1)
        result = _combined(node, result, place, sym.slice_axis(updates, axis=0, begin=i, end=i + 1), combine)
    return result


def _tail(node, front):
    sizes = node.shape(2)[front:]
    if any(isinstance(n, Unknown) for n in sizes):
        raise node.refuse("its updates need known sizes")
    return sizes


def _few(node, count):
    if isinstance(count, Unknown) or count > MOST:
        raise node.refuse(
            f"reduction {node.attr('reduction')} is possible for up to {MOST} updates, their number known"
        )
    return count


def _combined(node, x, places, updates, combine):
    return _put(node, x, places, fold(COMBINE[combine], [sym.gather_nd(x, places), updates]))


def _put(node, x, places, updates):
    shape = tuple(0 if isinstance(n, Unknown) else n for n in node.shape())
    return sym._internal._scatter_set_nd(x, updates, places, shape=shape)


@converts("NonZero")
def _non_zero(node):
    flat = sym.reshape(sym.cast(node.sym(), dtype="float32"), shape=(-1,))
    rank = max(node.rank(), 1)
    places = sym.reshape(sym.contrib.index_array(node.sym()), shape=(-1, rank))
    return node.call("transpose", sym.contrib.boolean_mask(places, flat != 0))


@converts("Compress")
def _compress(node):
    axis, x = node.attr("axis"), node.sym()
    if axis is None:
        x, axis = sym.reshape(x, shape=(-1,)), 0
    turned = sym.swapaxes(x, dim1=0, dim2=axis) if axis else x
    size = node.shape(1)[0]
    if isinstance(size, int):  # the condition may be shorter than the axis
        turned = sym.slice_axis(turned, axis=0, begin=0, end=size)
    kept = sym.contrib.boolean_mask(turned, sym.cast(node.sym(1), dtype="float32"))
    return sym.swapaxes(kept, dim1=0, dim2=axis) if axis else kept


@converts("Range")
def _range(node):
    """Up to a size of the data, which is all that is open where a network counts positions."""
    start, step = (int(node.const(i).ravel()[0]) for i in (0, 2))
    size = node.sizes(1)[0]
    if start < 0 or step < 1 or not isinstance(size, Unknown):
        raise node.refuse("only a range up to a size of the data can be imported; fold the model's constants first")
    zeros = zeros_of_size(node, size)
    if start:
        zeros = sym.slice_axis(zeros, axis=0, begin=start, end=None)
    places = sym.contrib.arange_like(sym.cast(zeros, dtype="float64"), start=float(start))
    places = sym.slice(places, begin=(0,), end=(None,), step=(step,)) if step > 1 else places
    return node.call("cast", places, dtype=node.dtype(1))


@converts("EyeLike")
def _eye_like(node):
    from onnx.helper import tensor_dtype_to_np_dtype

    shape = node.shape()
    if any(isinstance(n, Unknown) for n in shape):
        raise node.refuse("it needs an input of known size")
    kind = node.attr("dtype")
    dtype = tensor_dtype_to_np_dtype(kind).name if kind else node.dtype()
    node.claim(*shape)
    return node.parameter("eye", np.eye(*shape, k=node.attr("k", 0), dtype=dtype))


@converts("ReverseSequence")
def _reverse_sequence(node):
    along_batch = node.attr("batch_axis", 1) == 0
    x = sym.swapaxes(node.sym(), dim1=0, dim2=1) if along_batch else node.sym()
    lengths = sym.cast(node.sym(1), dtype="float32")
    x = sym.SequenceReverse(x, lengths, use_sequence_length=True)
    return sym.swapaxes(x, dim1=0, dim2=1) if along_batch else x


@converts("Shape")
def _shape(node):
    return node.call("shape_array", node.sym())


@converts("Size")
def _size(node):
    return node.call("size_array", node.sym())


@converts("RandomNormalLike", "RandomUniformLike")
def _random_like(node):
    if node.op == "RandomNormalLike":
        attrs = {"loc": node.attr("mean", 0.0), "scale": node.attr("scale", 1.0)}
        return node.call("random.normal_like", node.sym(), **attrs)
    return node.call("random.uniform_like", node.sym(), low=node.attr("low", 0.0), high=node.attr("high", 1.0))


@converts("Multinomial")
def _multinomial(node):
    from onnx.helper import tensor_dtype_to_np_dtype

    drawn = sym._internal._sample_multinomial(sym.softmax(node.sym()), shape=(node.attr("sample_size", 1),))
    return node.call("cast", drawn, dtype=tensor_dtype_to_np_dtype(node.attr("dtype", 6)).name)
