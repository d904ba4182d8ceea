"""Operators on batches of sequences of different lengths: SequenceMask, SequenceLast, SequenceReverse."""

from typing import Any

import torch

from ..._core.errors import MXNetError
from ..._device import late
from ..elementwise.masks import kept
from ..registry.fill_rules import assign
from ..registry.registry import op
from ..registry.torch_dtypes import number_for


def _lengths_input(attrs):
    return ("data", "sequence_length") if attrs["use_sequence_length"] else ("data",)


def _lengths_shape(attrs, shapes):
    if len(shapes) > 1 and shapes[0]:
        assign(shapes, 1, (shapes[0][1 - attrs["axis"]],), "Sequence operators", "sequence_length")
    return shapes


def _as_data(attrs, shapes):
    return [shapes[0]] if shapes[0] and len(shapes[0]) > 1 and attrs["axis"] in (0, 1) else None


def _last_shape(attrs, shapes):
    """The data's without the axis of time."""
    data, axis = shapes[0], attrs["axis"]
    return [(data[1 - axis], *data[2:])] if _as_data(attrs, shapes) else None


SEQUENCE: dict[str, Any] = {"inputs": _lengths_input, "fill": _lengths_shape, "dtype": "any"}


def _check(data, axis, lengths, operator):
    if data.dim() < 2 or axis not in (0, 1):
        raise MXNetError(
            f"{operator}: the data array must be of rank 2 or greater and axis 0 or 1, got shape "
            f"{tuple(data.shape)} and axis {axis}"
        )
    if lengths is not None and lengths.shape != (data.shape[1 - axis],):
        raise MXNetError(
            f"{operator}: Shape inconsistent, sequence_length {tuple(lengths.shape)} for a batch of "
            f"{data.shape[1 - axis]}"
        )


def _steps(data, axis, lengths):
    """The step numbers and the lengths, shaped to meet on the first two axes of the data."""
    steps = torch.arange(data.shape[axis], device=data.device)
    lengths = lengths.detach().long()
    return (steps.unsqueeze(1), lengths.unsqueeze(0)) if axis == 0 else (steps.unsqueeze(0), lengths.unsqueeze(1))


def _over_features(plane, data):
    return plane.view(plane.shape + (1,) * (data.dim() - 2))


@op("SequenceMask", shape=_as_data, **SEQUENCE)
def sequence_mask(data, sequence_length=None, *, use_sequence_length: bool = False, value: float = 0.0, axis: int = 0):
    """The data with everything after the end of each sequence set to `value`; time is `axis`.

    Parameters
    ----------
    data
        The sequences, (time, batch, …), or (batch, time, …) if `axis` is 1.
    sequence_length
        The number of valid steps of each sequence, (batch,); an input only if `use_sequence_length` is True.
    use_sequence_length
        Whether `sequence_length` is given; otherwise the data is returned unchanged.
    value
        What elements after the end of a sequence become.
    axis
        The axis of time, 0 or 1.
    """
    _check(data, axis, sequence_length, "SequenceMask")
    if sequence_length is None:
        return data.clone()
    steps, lengths = _steps(data, axis, sequence_length)
    if data.is_floating_point() and value == 0:
        return kept(data, _over_features((steps < lengths).to(data.dtype), data))
    return torch.where(_over_features(steps < lengths, data), data, number_for(value, data.dtype))


@op("SequenceLast", shape=_last_shape, **SEQUENCE)
def sequence_last(data, sequence_length=None, *, use_sequence_length: bool = False, axis: int = 0):
    """The last element of each sequence; time is `axis`."""
    _check(data, axis, sequence_length, "SequenceLast")
    if sequence_length is None:
        return data.select(axis, data.shape[axis] - 1).clone()
    last = sequence_length.detach().long() - 1
    rows = torch.arange(data.shape[1 - axis], device=data.device)
    return data[last, rows] if axis == 0 else data[rows, last]


@op("SequenceReverse", **SEQUENCE)
def sequence_reverse(data, sequence_length=None, *, use_sequence_length: bool = False, axis: int = 0):
    """Each sequence back to front, what lies behind its end stays; time is axis 0."""
    if axis != 0:
        raise MXNetError("SequenceReverse: Current implementation expects axis to be 0.")
    _check(data, axis, sequence_length, "SequenceReverse")
    if sequence_length is None:
        return data.flip(0)
    steps, lengths = _steps(data, axis, sequence_length)
    source = torch.where(steps < lengths, lengths - 1 - steps, steps)
    batch = data.shape[1]
    source = late.bounded(source, len(data), "SequenceReverse: sequence_length")
    places = source * batch + torch.arange(batch, device=data.device)
    return data.flatten(0, 1).index_select(0, places.reshape(-1)).view(data.shape)
