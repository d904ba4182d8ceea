"""Variational dropout, LSTM with projection, and unrolling as a loop operator."""

from ....base import _as_list
from ...rnn import BidirectionalCell, HybridRecurrentCell, ModifierCell, SequentialRNNCell  # noqa: F401 - MXNet's module shows it
from ...rnn._sequence import Sequence, begin_state_of, is_tensor, masked, namespace

__all__ = ["LSTMPCell", "VariationalDropoutCell", "dynamic_unroll"]


class VariationalDropoutCell(ModifierCell):
    """Dropout whose masks are the same for all steps, until `reset`.

    Parameters
    ----------
    base_cell : RecurrentCell
        The cell.
    drop_inputs : float, default 0.0
        The probability that an input is dropped.
    drop_states : float, default 0.0
        The probability that a state is dropped.
    drop_outputs : float, default 0.0
        The probability that an output is dropped.

    Examples
    --------
    >>> from mxnet.gluon import contrib, rnn
    >>> cell = contrib.rnn.VariationalDropoutCell(rnn.LSTMCell(4), drop_inputs=0.5)
    >>> cell.initialize()
    >>> cell.unroll(3, mx.nd.ones((2, 3, 5)))[0][0].shape
    (3, 4)
    """

    def __init__(self, base_cell, drop_inputs=0.0, drop_states=0.0, drop_outputs=0.0):
        assert not drop_states or not isinstance(base_cell, BidirectionalCell), (
            "a BidirectionalCell has no single state to drop: put a VariationalDropoutCell on each cell inside it"
        )
        super().__init__(base_cell)
        self.drop_inputs, self.drop_states, self.drop_outputs = drop_inputs, drop_states, drop_outputs
        self._forget()

    def _forget(self):
        self.drop_inputs_mask = self.drop_states_mask = self.drop_outputs_mask = None

    def _alias(self):
        return "vardrop"

    def reset(self):
        """Draw new masks at the next step."""
        super().reset()
        self._forget()

    def _dropped(self, F, which, x):
        """`x` under the mask of its kind, which the first step draws."""
        rate = getattr(self, f"drop_{which}")
        if not rate:
            return x
        if getattr(self, f"drop_{which}_mask") is None:
            setattr(self, f"drop_{which}_mask", F.Dropout(F.ones_like(x), p=rate))
        return x * getattr(self, f"drop_{which}_mask")

    def hybrid_forward(self, F, inputs, states):
        """One step."""
        states = [self._dropped(F, "states", states[0]), *states[1:]]
        output, after = self.base_cell(self._dropped(F, "inputs", inputs), states)
        return self._dropped(F, "outputs", output), after

    def __repr__(self):
        return f"{type(self).__name__}(p_out = {self.drop_outputs}, p_state = {self.drop_states})"

    def unroll(self, length, inputs, begin_state=None, layout="NTC", merge_outputs=None, valid_length=None):
        """Run `length` steps; without state dropout, whole sequences are masked at once."""
        if self.drop_states:
            return super().unroll(length, inputs, begin_state, layout, merge_outputs, valid_length)
        self.reset()
        sequence = Sequence(length, inputs, layout)
        F, whole, axis = sequence.F, sequence.whole(), sequence.axis
        states = begin_state_of(self, F, begin_state, whole, sequence.batch_size)
        if self.drop_inputs:
            whole = F.Dropout(whole, p=self.drop_inputs, axes=(axis,))
        outputs, states = self.base_cell.unroll(length, whole, states, layout, True, valid_length)
        if self.drop_outputs:
            outputs = F.Dropout(outputs, p=self.drop_outputs, axes=(axis,))
        merge = is_tensor(outputs) if merge_outputs is None else merge_outputs
        outputs = Sequence(length, outputs, layout).as_asked(merge)
        if valid_length is not None:
            outputs = masked(F, outputs, length, valid_length, axis, merge)
        return outputs, states


class LSTMPCell(HybridRecurrentCell):
    """An LSTM cell with a projection: the output, which is also what recurs, is the hidden state times a matrix.

    Parameters
    ----------
    hidden_size : int
        The size of the hidden state.
    projection_size : int
        The size of the output.
    i2h_weight_initializer : Initializer, optional
        How the input's weight is initialized.
    h2h_weight_initializer : Initializer, optional
        How the recurrent weight is initialized.
    h2r_weight_initializer : Initializer, optional
        How the projection is initialized.
    i2h_bias_initializer : str or Initializer, default 'zeros'
        How the input's bias is initialized.
    h2h_bias_initializer : str or Initializer, default 'zeros'
        How the recurrent bias is initialized.
    input_size : int, default 0
        The size of the input; 0: it is taken from the first batch.
    prefix : str, optional
        The prefix of the block's name and parameters.
    params : ParameterDict, optional
        Parameters to share.

    Examples
    --------
    >>> cell = mx.gluon.contrib.rnn.LSTMPCell(8, 4)
    >>> cell.initialize()
    >>> output, states = cell(mx.nd.ones((2, 3)), cell.begin_state(2))
    >>> output.shape, [state.shape for state in states]
    ((2, 4), [(2, 4), (2, 8)])
    """

    def __init__(
        self, hidden_size, projection_size, i2h_weight_initializer=None, h2h_weight_initializer=None,
        h2r_weight_initializer=None, i2h_bias_initializer="zeros", h2h_bias_initializer="zeros", input_size=0,
        prefix=None, params=None,
    ):  # fmt: skip
        super().__init__(prefix=prefix, params=params)
        self._hidden_size, self._projection_size, self._input_size = hidden_size, projection_size, input_size
        plan = {
            "i2h_weight": ((4 * hidden_size, input_size), i2h_weight_initializer),
            "h2h_weight": ((4 * hidden_size, projection_size), h2h_weight_initializer),
            "h2r_weight": ((projection_size, hidden_size), h2r_weight_initializer),
            "i2h_bias": ((4 * hidden_size,), i2h_bias_initializer),
            "h2h_bias": ((4 * hidden_size,), h2h_bias_initializer),
        }
        for name, (shape, init) in plan.items():
            setattr(self, name, self.params.get(name, shape=shape, init=init, allow_deferred_init=True))

    def state_info(self, batch_size=0):
        """The projected state and the memory."""
        sizes = self._projection_size, self._hidden_size
        return [{"shape": (batch_size, size), "__layout__": "NC"} for size in sizes]

    def _alias(self):
        return "lstmp"

    def __repr__(self):
        rows, columns = self.i2h_weight.shape
        return f"{type(self).__name__}({columns or None} -> {rows} -> {self.h2r_weight.shape[0]})"

    def hybrid_forward(self, F, inputs, states, i2h_weight, h2h_weight, h2r_weight, i2h_bias, h2h_bias):
        """One step."""
        p, units = f"t{self._counter}_", self._hidden_size * 4
        i2h = F.FullyConnected(data=inputs, weight=i2h_weight, bias=i2h_bias, num_hidden=units, name=f"{p}i2h")
        h2h = F.FullyConnected(data=states[0], weight=h2h_weight, bias=h2h_bias, num_hidden=units, name=f"{p}h2h")
        gates = F.SliceChannel(i2h + h2h, num_outputs=4, name=f"{p}slice")
        kinds = (("i", "sigmoid"), ("f", "sigmoid"), ("c", "tanh"), ("o", "sigmoid"))
        i, f, g, o = (F.Activation(gates[k], act_type=act, name=p + n) for k, (n, act) in enumerate(kinds))
        memory = F.elemwise_add(f * states[1], i * g, name=f"{p}state")
        hidden = F.elemwise_mul(o, F.Activation(memory, act_type="tanh"), name=f"{p}hidden")
        output = F.FullyConnected(
            data=hidden, num_hidden=self._projection_size, weight=h2r_weight, no_bias=True, name=f"{p}out"
        )
        return output, [output, memory]


def dynamic_unroll(cell, inputs, begin_state, drop_inputs=0, drop_outputs=0, layout="TNC", valid_length=None):
    """Unroll a cell as one loop operator, for any length.

    Parameters
    ----------
    cell : RecurrentCell
        The cell.
    inputs : NDArray or Symbol
        The sequences.
    begin_state : list of NDArrays or Symbols
        The states before the first step.
    drop_inputs : float, default 0
        The probability that an input is dropped, with one mask for all steps.
    drop_outputs : float, default 0
        The probability that an output is dropped, with one mask for all steps.
    layout : str, default 'TNC'
        TNC: time first, which is faster; NTC: batch first.
    valid_length : NDArray or Symbol, optional
        The length of each sequence.

    Returns
    -------
    (outputs, states)

    Examples
    --------
    >>> cell = mx.gluon.rnn.RNNCell(4, input_size=3)
    >>> cell.initialize()
    >>> outputs, states = mx.gluon.contrib.rnn.rnn_cell.dynamic_unroll(cell, mx.nd.ones((5, 2, 3)), cell.begin_state(2))
    >>> outputs.shape
    (5, 2, 4)
    """
    F = namespace(inputs)
    axis = layout.find("T")

    def time_major(x):
        """Time first, or back again."""
        return x if axis == 0 else F.swapaxes(x, dim1=0, dim2=axis)

    inputs = time_major(inputs)
    if drop_inputs:
        inputs = F.Dropout(inputs, p=drop_inputs, axes=(axis,))
    if valid_length is None:
        outputs, states = F.contrib.foreach(lambda x, s: cell(x, s), inputs, begin_state)
    else:

        def step(x, states):
            *own, number = states
            out, after = cell(x, own)
            alive = F.broadcast_greater(valid_length, number)
            return out, [*(F.where(alive, new, old) for new, old in zip(after, own, strict=True)), number + 1]

        outputs, states = F.contrib.foreach(step, inputs, [*_as_list(begin_state), F.zeros((1,))])
        states = states[:-1]
    if drop_outputs:
        outputs = F.Dropout(outputs, p=drop_outputs, axes=(axis,))
    outputs = time_major(outputs)
    if valid_length is not None:
        outputs = F.SequenceMask(outputs, sequence_length=valid_length, use_sequence_length=True, axis=axis)
    return outputs, states
