"""Helpers of Gluon: splitting batches over contexts, clipping gradients, fetching files, hooks."""

import collections
import warnings
import weakref
from itertools import accumulate, pairwise, takewhile

import numpy as np

from .. import ndarray
from .._formats.fetch import check_sha1, download, replace_file
from .._formats.mirrors import repositories
from ..util import default_array, is_np_array, is_np_shape

__all__ = ["split_data", "split_and_load", "clip_global_norm", "check_sha1", "download", "replace_file"]


def split_data(data, num_slice, batch_axis=0, even_split=True):
    """Split a batch into several parts.

    Parameters
    ----------
    data : NDArray
        The batch.
    num_slice : int
        The number of parts.
    batch_axis : int, default 0
        The axis of the samples.
    even_split : bool, default True
        Whether a batch that cannot be divided evenly is an error.

    Returns
    -------
    list of NDArrays

    Examples
    --------
    >>> [part.shape for part in mx.gluon.utils.split_data(mx.nd.zeros((5, 2)), 2, even_split=False)]
    [(3, 2), (2, 2)]
    """
    size = data.shape[batch_axis]
    if even_split and size % num_slice:
        raise ValueError(
            f"data with shape {data.shape} cannot be evenly split into {num_slice} slices along axis {batch_axis}. "
            f"Use a batch size that's multiple of {num_slice} or set even_split=False to allow "
            "uneven partitioning of data."
        )
    each, longer = divmod(size, num_slice)
    bounds = accumulate([each + 1] * longer + [each] * (num_slice - longer), initial=0)
    if batch_axis == 0:
        return [data[begin:end] for begin, end in pairwise(bounds)]
    if is_np_array():
        index = (slice(None),) * batch_axis
        return [data[(*index, slice(begin, end))] for begin, end in pairwise(bounds)]
    return [ndarray.slice_axis(data, axis=batch_axis, begin=begin, end=end) for begin, end in pairwise(bounds)]


def split_and_load(data, ctx_list, batch_axis=0, even_split=True):
    """Split a batch into as many parts as there are devices, and copy each to its own.

    Parameters
    ----------
    data : NDArray
        The batch.
    ctx_list : list of Contexts
        The devices.
    batch_axis : int, default 0
        The axis of the samples.
    even_split : bool, default True
        Whether a batch that cannot be divided evenly is an error.

    Returns
    -------
    list of NDArrays

    Examples
    --------
    >>> parts = mx.gluon.utils.split_and_load(mx.nd.zeros((4, 2)), [mx.cpu(0), mx.cpu(1)])
    >>> [(part.shape, part.context) for part in parts]
    [((2, 2), cpu(0)), ((2, 2), cpu(1))]
    """
    if not isinstance(data, ndarray.NDArray):
        data = default_array(data, ctx_list[0])
    if len(ctx_list) == 1:
        return [data.as_in_context(ctx_list[0])]
    slices = split_data(data, len(ctx_list), batch_axis, even_split)
    return [part.as_in_context(ctx) for part, ctx in zip(slices, ctx_list, strict=True)]


def clip_global_norm(arrays, max_norm, check_isfinite=True):
    """Scale arrays in place so that the 2-norm of all of them together is at most `max_norm`.

    Parameters
    ----------
    arrays : list of NDArrays
        The arrays.
    max_norm : float
        The bound.
    check_isfinite : bool, default True
        Whether a norm that is not finite gives a warning; without the check the norm stays on the device.

    Returns
    -------
    float or NDArray
        The norm before.

    Examples
    --------
    >>> grads = [mx.nd.array([3.0]), mx.nd.array([4.0])]
    >>> mx.gluon.utils.clip_global_norm(grads, 1.0)
    np.float32(5.0)
    >>> [g.asnumpy().round(3).tolist() for g in grads]
    [[0.6000000238418579], [0.800000011920929]]
    """
    assert len(arrays) > 0
    ctx = arrays[0].context
    total_norm = ndarray.sqrt(ndarray.add_n(*[_squared_norm(array).as_in_context(ctx) for array in arrays]))
    norm = total_norm.asscalar() if check_isfinite else total_norm
    if check_isfinite and not np.isfinite(norm):
        warnings.warn(UserWarning("nan or inf is detected. Clipping results will be undefined."), stacklevel=2)
    scale = ndarray.min(ndarray.concat(max_norm / (total_norm + 1e-8), ndarray.ones(1, ctx=ctx), dim=0))
    for array in arrays:
        array *= scale.as_in_context(array.context)
    return norm


def _squared_norm(array):
    if array.stype != "default":
        return array.norm().square()
    flat = array.reshape((-1,))
    return ndarray.dot(flat, flat)


def _get_repo_url():
    """Address of the first repository of data sets and models."""
    return repositories()[0]


def _get_repo_file_url(namespace, filename):
    return f"{_get_repo_url()}{namespace}/{filename}"


def _indent(text, spaces):
    """`text` with every line but the first moved to the right."""
    return text.replace("\n", "\n" + " " * spaces)


def _brief_print_list(items, limit=7):
    """The items quoted and joined; of a long list only its two ends."""
    items = list(items)
    if len(items) > limit:
        head, tail = items[: limit // 2], items[-limit // 2 :]
        return f"{_brief_print_list(head, limit)}, ..., {_brief_print_list(tail, limit)}"
    return ", ".join(f"'{item}'" for item in items)


class HookHandle:
    """What registering a hook returns: `detach` takes the hook away again, and so does leaving a `with`."""

    def __init__(self):
        self._hooks_dict_ref = self._id = None

    def attach(self, hooks_dict, hook):
        """Put the hook among the others of its kind; once for each handle."""
        assert self._hooks_dict_ref is None, "this handle belongs to a hook already: make another HookHandle"
        self._hooks_dict_ref, self._id = weakref.ref(hooks_dict), id(hook)
        hooks_dict[self._id] = hook

    def detach(self):
        """Take the hook away; nothing happens if it is gone already."""
        hooks = self._hooks_dict_ref()
        if hooks is not None:
            hooks.pop(self._id, None)

    def __getstate__(self):
        return (self._hooks_dict_ref(), self._id)

    def __setstate__(self, state):
        hooks, self._id = state
        self._hooks_dict_ref = weakref.ref(collections.OrderedDict() if hooks is None else hooks)

    def __enter__(self):
        return self

    def __exit__(self, ptype, value, trace):
        self.detach()


def shape_is_known(shape):
    """Whether no size in `shape` is left open (0 means open, or -1 under NumPy shape semantics)."""
    if not shape:  # () is a scalar under NumPy shape semantics, unknown otherwise
        return shape is not None and is_np_shape()
    unknown = -1 if is_np_shape() else 0
    known = list(takewhile(lambda size: size != unknown, shape))
    assert min(known, default=0) >= unknown, f"a size cannot be less than {unknown}, got shape {tuple(shape)}"
    return len(known) == len(shape)
