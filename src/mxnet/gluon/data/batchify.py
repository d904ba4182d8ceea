"""Functions that merge samples into a batch: stacking, padding, appending, and one function per field."""

import numpy as np

from ... import ndarray as nd
from ...util import default_array
from .dataloader import default_batchify_fn

__all__ = ["Stack", "Pad", "Append", "Group", "AsList"]


def _as_numpy(sample):
    return sample.asnumpy() if isinstance(sample, nd.NDArray) else np.asarray(sample)


class Stack:
    """Stacks samples of equal shape along a new first axis."""

    def __call__(self, data):
        return default_batchify_fn(data)


class Pad:
    """Pads samples to the largest extent on every axis (or only on `axis`), then stacks them."""

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
    """Keeps samples apart, each as an NDArray of its own, with a batch axis of one unless `expand` is false."""

    def __init__(self, expand=True, batch_axis=0):
        self._expand = expand
        self._batch_axis = batch_axis

    def __call__(self, data):
        arrays = [_as_numpy(sample) for sample in data]
        if self._expand:
            arrays = [np.expand_dims(array, self._batch_axis) for array in arrays]
        return [default_array(array, dtype=array.dtype) for array in arrays]


class AsList:
    """Gives the samples back as a list."""

    def __call__(self, data):
        return list(data)


class Group:
    """Applies one function to each field of samples that are tuples."""

    def __init__(self, fn, *args):
        self._functions = list(fn) if isinstance(fn, (list, tuple)) else [fn, *args]

    def __call__(self, data):
        fields = list(zip(*data, strict=True))
        if len(fields) != len(self._functions):
            raise ValueError(f"Group has {len(self._functions)} functions, but samples have {len(fields)} fields")
        return tuple(function(list(field)) for function, field in zip(self._functions, fields, strict=True))
