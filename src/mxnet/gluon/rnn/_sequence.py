"""Sequences as one array or as a list of steps: turning one into the other, masking, reversing."""

from ... import ndarray, symbol
from ...base import _as_list


def is_tensor(x):
    """One array (or symbol), not a list of them."""
    return isinstance(x, (ndarray.NDArray, symbol.Symbol))


def namespace(x):
    """`mx.sym` for symbols, `mx.nd` for arrays, decided by the first element of a list."""
    first = x if is_tensor(x) else x[0]
    return symbol if isinstance(first, symbol.Symbol) else ndarray


class Sequence:
    """A sequence given to `unroll`: its steps or its whole, with what is known of it."""

    def __init__(self, length, inputs, layout):
        if inputs is None:
            raise AssertionError("unroll needs its inputs: create input variables outside unroll and pass them")
        self.length, self.data, self.axis = length, inputs, layout.find("T")
        self.F = namespace(inputs)
        self.batch_size = 0
        if self.F is ndarray:
            self.batch_size = inputs.shape[layout.find("N")] if is_tensor(inputs) else inputs[0].shape[0]

    def steps(self):
        """A list with one array a step."""
        if not is_tensor(self.data):
            assert self.length is None or len(self.data) == self.length, (
                f"unroll of {self.length} steps got {len(self.data)} inputs"
            )
            return list(self.data)
        if self.F is symbol:
            assert len(self.data.list_outputs()) == 1, (
                "unroll does not take a grouped symbol; convert it with list(inputs) or pass one output"
            )
            length = self.length
        else:
            length = self.data.shape[self.axis]
            assert self.length is None or self.length == length, (
                f"unroll of {self.length} steps got an array with {length}"
            )
        return _as_list_of(self.F.split(self.data, axis=self.axis, num_outputs=length, squeeze_axis=1))

    def whole(self):
        """One array with a time axis."""
        return self.data if is_tensor(self.data) else self.F.stack(*self.data, axis=self.axis)

    def as_asked(self, merge):
        """Whole if `merge` is True, steps if it is False, as it is if None."""
        return self.data if merge is None else self.whole() if merge else self.steps()


def format_sequence(length, inputs, layout, merge, in_layout=None):
    """MXNet's helper for cells that unroll by themselves: (sequence, time axis, `mx.nd` or `mx.sym`, batch size).

    The sequence is merged, split or left as it is; one array of another layout than `layout` is transposed.
    """
    given = Sequence(length, inputs, layout)
    axis, split_axis = given.axis, (in_layout or layout).find("T")
    if is_tensor(inputs):
        given.axis = split_axis
    found = given.as_asked(merge)
    if is_tensor(inputs) and is_tensor(found) and axis != split_axis:
        found = given.F.swapaxes(found, dim1=axis, dim2=split_axis)
    return found, axis, given.F, given.batch_size


def _as_list_of(split):
    return list(split) if isinstance(split, symbol.Symbol) else _as_list(split)


def masked(F, data, length, valid_length, axis, merge):
    """Zeros after each sequence's own length."""
    whole = data if is_tensor(data) else F.stack(*data, axis=axis)
    out = F.SequenceMask(whole, sequence_length=valid_length, use_sequence_length=True, axis=axis)
    return out if merge else _as_list_of(F.split(out, num_outputs=length, axis=axis, squeeze_axis=True))


def reversed_steps(steps, length, valid_length=None):
    """Steps from last to first, padding staying behind."""
    if valid_length is None:
        return list(reversed(steps))
    F = namespace(steps)
    out = F.SequenceReverse(F.stack(*steps, axis=0), sequence_length=valid_length, use_sequence_length=True)
    return _as_list_of(F.split(out, axis=0, num_outputs=length, squeeze_axis=True))


def begin_state_of(cell, F, begin_state, inputs, batch_size):
    """The given state, or zeros where the inputs are."""
    if begin_state is not None:
        return begin_state
    if F is symbol:
        return cell.begin_state(func=F.zeros, batch_size=batch_size)
    with (inputs if is_tensor(inputs) else inputs[0]).context:
        return cell.begin_state(func=F.zeros, batch_size=batch_size)
