"""Functions that merge samples into a batch: stacking, padding, appending, and one function per field."""

import numpy as np

from ... import ndarray as nd
from ...util import default_array
from .dataloader import default_batchify_fn

__all__ = ["Stack", "Pad", "Append", "Group", "AsList"]


def _as_numpy(sample):
    return sample.asnumpy() if isinstance(sample, nd.NDArray) else np.asarray(sample)


class Stack:
    """Stack samples of equal shape along a new first axis.

    Examples
    --------
    >>> mx.gluon.data.batchify.Stack()([mx.nd.zeros((2,)), mx.nd.ones((2,))]).asnumpy()
    array([[0., 0.],
           [1., 1.]], dtype=float32)
    """

    def __call__(self, data):
        return default_batchify_fn(data)


class Pad:
    """Pad samples to the length of the longest, then stack them.

    Parameters
    ----------
    axis : int, optional
        The axis to pad; None: all axes.
    val : number, default 0
        The number to pad with.
    dtype : str, optional
        The data type of the batch; None: that of the samples.
    ret_length : bool, default False
        Whether the lengths before padding are returned as well.
    round_to : int, optional
        The padded length is a multiple of this.

    Examples
    --------
    >>> mx.gluon.data.batchify.Pad(val=-1)([[1, 2], [3]]).asnumpy()
    array([[ 1,  2],
           [ 3, -1]])
    """

    def __init__(self, axis=None, val=0, dtype=None, ret_length=False, round_to=None):
        self._axis = axis
        self._value = val
        self._dtype = dtype
        self._ret_length = ret_length
        self._round_to = round_to

    def __call__(self, data):
        samples = [_as_numpy(sample) for sample in data]
        dtype = self._dtype or samples[0].dtype
        shape = self._common_shape([sample.shape for sample in samples])
        batch = np.full((len(samples), *shape), self._value, dtype=dtype)
        for row, sample in zip(batch, samples, strict=True):
            row[tuple(slice(extent) for extent in sample.shape)] = sample
        padded = default_array(batch, dtype=dtype)
        if not self._ret_length:
            return padded
        lengths = np.array([sample.shape[self._axis or 0] for sample in samples], dtype="int32")
        return padded, default_array(lengths, dtype="int32")

    def _common_shape(self, shapes):
        longest = [max(extents) for extents in zip(*shapes, strict=True)]
        axes = range(len(longest)) if self._axis is None else [self._axis % len(longest)]
        for axis, extent in enumerate(longest):
            if axis not in axes and any(shape[axis] != extent for shape in shapes):
                raise ValueError(f"Pad(axis={self._axis}): axis {axis} differs between samples of shapes {shapes}")
            if axis in axes and self._round_to:
                longest[axis] = -(-extent // self._round_to) * self._round_to
        return tuple(longest)


class Append:
    """Keep the samples apart, each as an array of its own.

    Parameters
    ----------
    expand : bool, default True
        Whether each gets a batch axis of length 1.
    batch_axis : int, default 0
        The place of that axis.

    Examples
    --------
    >>> [x.shape for x in mx.gluon.data.batchify.Append()([mx.nd.zeros((2,)), mx.nd.ones((3,))])]
    [(1, 2), (1, 3)]
    """

    def __init__(self, expand=True, batch_axis=0):
        self._expand = expand
        self._batch_axis = batch_axis

    def __call__(self, data):
        arrays = [_as_numpy(sample) for sample in data]
        if self._expand:
            arrays = [np.expand_dims(array, self._batch_axis) for array in arrays]
        return [default_array(array, dtype=array.dtype) for array in arrays]


class AsList:
    """Give the samples back as a list.

    Examples
    --------
    >>> mx.gluon.data.batchify.AsList()(["a", "b"])
    ['a', 'b']
    """

    def __call__(self, data):
        return list(data)


class Group:
    """Apply one function to each field of samples that are tuples.

    Parameters
    ----------
    fn : callable or list of callables
        The function of the first field, or all functions.
    *args : callable
        The functions of the other fields.

    Examples
    --------
    >>> from mxnet.gluon.data import batchify
    >>> data, label = batchify.Group(batchify.Pad(), batchify.Stack())([([1, 2], 0), ([3], 1)])
    >>> data.asnumpy(), label.asnumpy()
    (array([[1, 2],
           [3, 0]]), array([0, 1]))
    """

    def __init__(self, fn, *args):
        self._functions = list(fn) if isinstance(fn, (list, tuple)) else [fn, *args]

    def __call__(self, data):
        fields = list(zip(*data, strict=True))
        if len(fields) != len(self._functions):
            raise ValueError(f"Group has {len(self._functions)} functions, but samples have {len(fields)} fields")
        return tuple(function(list(field)) for function, field in zip(self._functions, fields, strict=True))
