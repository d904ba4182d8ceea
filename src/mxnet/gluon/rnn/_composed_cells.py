"""Cells made of other cells: stacks, dropout, zoneout, residual connections and both directions."""

from ... import ndarray
from ...base import numeric_types
from ..utils import _indent
from ._base_cells import _MODIFIED, HybridRecurrentCell, RecurrentCell
from ._sequence import Sequence, begin_state_of, is_tensor, masked, reversed_steps


class _Stack:
    """Cells one above another; shared by the plain and the hybrid class."""

    def __repr__(self):
        lines = "\n".join(f"({i}): {_indent(repr(m), 2)}" for i, m in self._children.items())
        return f"{type(self).__name__}(\n{lines}\n)"

    def add(self, cell):
        """Put a cell on top: its inputs are the outputs of the cell below.

        Parameters
        ----------
        cell : RecurrentCell
            The cell.

        Examples
        --------
        >>> stack = mx.gluon.rnn.SequentialRNNCell()
        >>> stack.add(mx.gluon.rnn.LSTMCell(4))
        >>> stack.add(mx.gluon.rnn.GRUCell(3))
        >>> len(stack)
        2
        """
        self.register_child(cell)

    def state_info(self, batch_size=0):
        return [info for cell in self._children.values() for info in cell.state_info(batch_size)]

    def begin_state(self, **kwargs):
        assert not self._modified, _MODIFIED
        return [state for cell in self._children.values() for state in cell.begin_state(**kwargs)]

    def _with_states(self, states):
        """Each cell with its own part of the states."""
        start = 0
        for cell in self._children.values():
            count = len(cell.state_info())
            yield cell, states[start : start + count]
            start += count

    def __call__(self, inputs, states):
        self._counter += 1
        assert not any(isinstance(cell, BidirectionalCell) for cell in self._children.values()), (
            "a BidirectionalCell cannot be stepped; unroll the stack"
        )
        after = []
        for cell, own in self._with_states(states):
            inputs, own = cell(inputs, own)
            after += own
        return inputs, after

    def unroll(self, length, inputs, begin_state=None, layout="NTC", merge_outputs=None, valid_length=None):
        self.reset()
        sequence = Sequence(length, inputs, layout)
        begin = begin_state_of(self, sequence.F, begin_state, inputs, sequence.batch_size)
        last, after = len(self._children) - 1, []
        for i, (cell, own) in enumerate(self._with_states(begin)):
            inputs, own = cell.unroll(
                length,
                inputs=inputs,
                begin_state=own,
                layout=layout,
                merge_outputs=None if i < last else merge_outputs,
                valid_length=valid_length,
            )
            after += own
        return inputs, after

    def __getitem__(self, i):
        return self._children[str(i)]

    def __len__(self):
        return len(self._children)


class SequentialRNNCell(_Stack, RecurrentCell):
    """A stack of cells: the output of each is the input of the next, in every time step.

    Parameters
    ----------
    prefix : str, optional
        Prefix of the names of the parameters.
    params : ParameterDict, optional
        Parameters to share with another block.

    Examples
    --------
    >>> stack = mx.gluon.rnn.SequentialRNNCell()
    >>> stack.add(mx.gluon.rnn.LSTMCell(4))
    >>> stack.add(mx.gluon.rnn.LSTMCell(5))
    >>> stack.initialize()
    >>> outputs, states = stack.unroll(3, mx.nd.ones((2, 3, 6)), merge_outputs=True)
    >>> outputs.shape, len(states)
    ((2, 3, 5), 4)
    """

    __module__ = "mxnet.gluon.rnn.rnn_cell"

    def __init__(self, prefix=None, params=None):
        super().__init__(prefix=prefix, params=params)

    def hybrid_forward(self, *args, **kwargs):
        """A plain stack has none; use HybridSequentialRNNCell."""
        raise NotImplementedError


class HybridSequentialRNNCell(_Stack, HybridRecurrentCell):
    """A stack of cells that can be hybridized.

    Parameters
    ----------
    prefix : str, optional
        Prefix of the names of the parameters.
    params : ParameterDict, optional
        Parameters to share with another block.

    Examples
    --------
    >>> stack = mx.gluon.rnn.HybridSequentialRNNCell()
    >>> stack.add(mx.gluon.rnn.GRUCell(4))
    >>> stack.add(mx.gluon.rnn.GRUCell(5))
    >>> stack.initialize()
    >>> outputs, states = stack.unroll(3, mx.nd.ones((2, 3, 6)), merge_outputs=True)
    >>> outputs.shape
    (2, 3, 5)
    """

    __module__ = "mxnet.gluon.rnn.rnn_cell"

    def __init__(self, prefix=None, params=None):
        super().__init__(prefix=prefix, params=params)

    def hybrid_forward(self, F, inputs, states):
        """One step."""
        return self.__call__(inputs, states)


class DropoutCell(HybridRecurrentCell):
    """Applies dropout to its input in every time step; it has no state.

    Parameters
    ----------
    rate : float
        The probability of an element to be dropped.
    axes : tuple of int, default ()
        Axes along which the same elements are dropped.
    prefix : str, optional
        Prefix of the names of the parameters.
    params : ParameterDict, optional
        Parameters to share with another block.

    Examples
    --------
    >>> cell = mx.gluon.rnn.DropoutCell(0.5)
    >>> cell(mx.nd.ones((1, 2)), [])[0].asnumpy()  # prediction: nothing is dropped
    array([[1., 1.]], dtype=float32)
    """

    __module__ = "mxnet.gluon.rnn.rnn_cell"

    def __init__(self, rate, axes=(), prefix=None, params=None):
        super().__init__(prefix, params)
        assert isinstance(rate, numeric_types), "rate must be a number"
        self._rate, self._axes = rate, axes

    def __repr__(self):
        return f"{type(self).__name__}(rate={self._rate}, axes={self._axes})"

    def state_info(self, batch_size=0):
        """It has no state."""
        return []

    def _alias(self):
        return "dropout"

    def hybrid_forward(self, F, inputs, states):
        """One step."""
        if self._rate > 0:
            inputs = F.Dropout(data=inputs, p=self._rate, axes=self._axes, name=f"t{self._counter}_fwd")
        return inputs, states

    def unroll(self, length, inputs, begin_state=None, layout="NTC", merge_outputs=None, valid_length=None):
        """All steps at once where the sequence is one array."""
        self.reset()
        sequence = Sequence(length, inputs, layout)
        inputs = sequence.as_asked(merge_outputs)
        if is_tensor(inputs):
            return self.hybrid_forward(sequence.F, inputs, begin_state or [])
        return super().unroll(length, inputs, begin_state, layout, merge_outputs, None)


class ModifierCell(HybridRecurrentCell):
    """Base class of cells that change what another cell does. The other cell is then only called through this one.

    Parameters
    ----------
    base_cell : HybridRecurrentCell
        The cell inside, which owns the parameters.

    Examples
    --------
    >>> cell = mx.gluon.rnn.ResidualCell(mx.gluon.rnn.GRUCell(3))  # a subclass
    >>> cell.initialize()
    >>> cell(mx.nd.ones((2, 3)), cell.begin_state(batch_size=2))[0].shape
    (2, 3)
    """

    __module__ = "mxnet.gluon.rnn.rnn_cell"

    def __init__(self, base_cell):
        assert not base_cell._modified, f"Cell {base_cell.name} is already modified. One cell cannot be modified twice"
        base_cell._modified = True
        super().__init__(prefix=base_cell.prefix + self._alias(), params=None)
        self.base_cell = base_cell

    @property
    def params(self):
        """The parameters of the cell inside."""
        return self.base_cell.params

    def state_info(self, batch_size=0):
        return self.base_cell.state_info(batch_size)

    def begin_state(self, func=ndarray.zeros, **kwargs):
        """Initial states of the cell inside."""
        assert not self._modified, _MODIFIED
        self.base_cell._modified = False
        try:
            return self.base_cell.begin_state(func=func, **kwargs)
        finally:
            self.base_cell._modified = True

    def hybrid_forward(self, F, inputs, states):
        """One step."""
        raise NotImplementedError

    def __repr__(self):
        return f"{type(self).__name__}({self.base_cell})"


class ZoneoutCell(ModifierCell):
    """Keeps randomly chosen outputs and states of the step before during training (zoneout).

    Parameters
    ----------
    base_cell : HybridRecurrentCell
        The cell inside.
    zoneout_outputs : float, default 0.0
        The probability that an output keeps its previous value.
    zoneout_states : float, default 0.0
        The probability that a state keeps its previous value.

    Examples
    --------
    >>> cell = mx.gluon.rnn.ZoneoutCell(mx.gluon.rnn.RNNCell(3), zoneout_states=0.1)
    >>> cell.initialize()
    >>> cell(mx.nd.ones((2, 3)), cell.begin_state(batch_size=2))[0].shape
    (2, 3)
    """

    __module__ = "mxnet.gluon.rnn.rnn_cell"

    def __init__(self, base_cell, zoneout_outputs=0.0, zoneout_states=0.0):
        assert not isinstance(base_cell, BidirectionalCell), (
            "a BidirectionalCell goes through whole sequences, so no step of it can be kept back: "
            "put a ZoneoutCell around each of its two cells"
        )
        super().__init__(base_cell)
        self.zoneout_outputs, self.zoneout_states = zoneout_outputs, zoneout_states
        self._prev_output = None

    def __repr__(self):
        return f"{type(self).__name__}(p_out={self.zoneout_outputs}, p_state={self.zoneout_states}, {self.base_cell})"

    def _alias(self):
        return "zoneout"

    def reset(self):
        """Forget the step before."""
        super().reset()
        self._prev_output = None

    def hybrid_forward(self, F, inputs, states):
        """One step."""

        def mix(rate, new, old):
            return F.where(F.Dropout(F.ones_like(new), p=rate), new, old) if rate != 0.0 else new

        output, after = self.base_cell(inputs, states)
        before = F.zeros_like(output) if self._prev_output is None else self._prev_output
        output = mix(self.zoneout_outputs, output, before)
        self._prev_output = output
        return output, [mix(self.zoneout_states, new, old) for new, old in zip(after, states, strict=True)]


class ResidualCell(ModifierCell):
    """Adds the input to the output of a cell: y = x + cell(x). Both have the same size.

    Parameters
    ----------
    base_cell : HybridRecurrentCell
        The cell inside.

    Examples
    --------
    >>> cell = mx.gluon.rnn.ResidualCell(mx.gluon.rnn.RNNCell(3, i2h_weight_initializer="zeros"))
    >>> cell.initialize()
    >>> cell(mx.nd.ones((1, 3)), cell.begin_state(batch_size=1))[0].asnumpy()
    array([[1., 1., 1.]], dtype=float32)
    """

    __module__ = "mxnet.gluon.rnn.rnn_cell"

    def __init__(self, base_cell):
        super().__init__(base_cell)

    def hybrid_forward(self, F, inputs, states):
        """One step."""
        output, states = self.base_cell(inputs, states)
        return F.elemwise_add(output, inputs, name=f"t{self._counter}_fwd"), states

    def unroll(self, length, inputs, begin_state=None, layout="NTC", merge_outputs=None, valid_length=None):
        """Unroll the cell inside, then add the inputs."""
        self.reset()
        self.base_cell._modified = False
        outputs, states = self.base_cell.unroll(length, inputs, begin_state, layout, merge_outputs, valid_length)
        self.base_cell._modified = True
        merge = is_tensor(outputs) if merge_outputs is None else merge_outputs
        sequence = Sequence(length, inputs, layout)
        F, inputs = sequence.F, sequence.as_asked(merge)
        if valid_length is not None:
            inputs = masked(F, inputs, length, valid_length, sequence.axis, merge)
        if merge:
            return F.elemwise_add(outputs, inputs), states
        return [F.elemwise_add(o, i) for o, i in zip(outputs, inputs, strict=True)], states


class BidirectionalCell(HybridRecurrentCell):
    """Runs one cell forwards and another backwards over a sequence and concatenates their outputs.

    It can only be used through `unroll`, because the backward cell needs the whole sequence.

    Parameters
    ----------
    l_cell : HybridRecurrentCell
        The cell that reads the sequence from left to right.
    r_cell : HybridRecurrentCell
        The cell that reads it from right to left.
    output_prefix : str, default 'bi_'
        Prefix of the names of the outputs.

    Examples
    --------
    >>> cell = mx.gluon.rnn.BidirectionalCell(mx.gluon.rnn.LSTMCell(4), mx.gluon.rnn.LSTMCell(4))
    >>> cell.initialize()
    >>> cell.unroll(3, mx.nd.ones((2, 3, 5)), merge_outputs=True)[0].shape
    (2, 3, 8)
    """

    __module__ = "mxnet.gluon.rnn.rnn_cell"

    def __init__(self, l_cell, r_cell, output_prefix="bi_"):
        super().__init__(prefix="", params=None)
        self.register_child(l_cell, "l_cell")
        self.register_child(r_cell, "r_cell")
        self._output_prefix = output_prefix

    def __call__(self, inputs, states):
        raise NotImplementedError("Bidirectional cannot be stepped. Please use unroll")

    def __repr__(self):
        left, right = self._children.values()
        return f"{type(self).__name__}(forward={left}, backward={right})"

    state_info = _Stack.state_info
    begin_state = _Stack.begin_state

    def unroll(self, length, inputs, begin_state=None, layout="NTC", merge_outputs=None, valid_length=None):
        """Unroll both ways."""
        self.reset()
        sequence = Sequence(length, inputs, layout)
        F, steps = sequence.F, sequence.steps()
        states = begin_state_of(self, F, begin_state, steps, sequence.batch_size)
        left, right = self._children.values()
        count = len(left.state_info(sequence.batch_size))
        l_outputs, l_states = left.unroll(length, steps, states[:count], layout, merge_outputs, valid_length)
        backwards = reversed_steps(steps, length, valid_length)
        r_outputs, r_states = right.unroll(length, backwards, states[count:], layout, False, valid_length)
        r_outputs = reversed_steps(r_outputs, length, valid_length)
        merge = is_tensor(l_outputs) if merge_outputs is None else merge_outputs
        if merge:
            r_whole = F.stack(*r_outputs, axis=sequence.axis)
            outputs = F.concat(l_outputs, r_whole, dim=2, name=f"{self._output_prefix}out")
        else:
            pairs = enumerate(zip(Sequence(length, l_outputs, layout).steps(), r_outputs, strict=True))
            outputs = [F.concat(a, b, dim=1, name=f"{self._output_prefix}t{i}") for i, (a, b) in pairs]
        if valid_length is not None:
            outputs = masked(F, outputs, length, valid_length, sequence.axis, merge)
        return outputs, l_states + r_states
