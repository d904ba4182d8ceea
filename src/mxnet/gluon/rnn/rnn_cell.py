"""Recurrent cells: one step of a network, stacked, modified, or run in both directions."""

from functools import partial

from ... import ndarray
from ...base import numeric_types
from .. import nn
from ..block import Block, HybridBlock
from ..utils import _indent
from ._sequence import Sequence, begin_state_of, is_tensor, masked, reversed_steps
from ._sequence import begin_state_of as _get_begin_state  # noqa: F401 - MXNet's names, which programs import
from ._sequence import format_sequence as _format_sequence  # noqa: F401

LeakyReLU = nn.LeakyReLU

__all__ = [
    "BidirectionalCell", "DropoutCell", "GRUCell", "HybridRecurrentCell", "HybridSequentialRNNCell", "LSTMCell",
    "ModifierCell", "RNNCell", "RecurrentCell", "ResidualCell", "SequentialRNNCell", "ZoneoutCell",
]  # fmt: skip

_MODIFIED = "this cell has been modified (by a ZoneoutCell, say): call the modifying cell, not the one inside it"


class RecurrentCell(Block):
    """Base class of cells, which compute one time step: output, new_states = cell(input, states).

    `unroll(length, inputs)` calls the cell for every time step; `begin_state(batch_size)` makes the first states.

    Parameters
    ----------
    prefix : str, optional
        Prefix of the names of the parameters.
    params : ParameterDict, optional
        Parameters to share with another block.

    Examples
    --------
    >>> cell = mx.gluon.rnn.RNNCell(4)  # a subclass
    >>> cell.initialize()
    >>> output, states = cell(mx.nd.ones((2, 3)), cell.begin_state(batch_size=2))
    >>> output.shape, len(states)
    ((2, 4), 1)
    """

    def __init__(self, prefix=None, params=None):
        super().__init__(prefix=prefix, params=params)
        self._modified = False
        self.reset()

    def reset(self):
        """Set the count of time steps back to zero; `unroll` calls it. Cells with masks of their own draw new ones.

        Examples
        --------
        >>> cell = mx.gluon.rnn.RNNCell(4)
        >>> cell.reset()
        """
        self._init_counter = self._counter = -1
        for cell in self._children.values():
            cell.reset()

    def state_info(self, batch_size=0):
        """Shape and layout of each state.

        Parameters
        ----------
        batch_size : int, default 0
            The number of samples; 0 leaves it open.

        Returns
        -------
        list of dict

        Examples
        --------
        >>> mx.gluon.rnn.LSTMCell(4).state_info(2)
        [{'shape': (2, 4), '__layout__': 'NC'}, {'shape': (2, 4), '__layout__': 'NC'}]
        """
        raise NotImplementedError()

    def begin_state(self, batch_size=0, func=ndarray.zeros, **kwargs):
        """Make the states before the first time step.

        Parameters
        ----------
        batch_size : int, default 0
            The number of samples; needed if `func` makes arrays.
        func : callable, default mx.nd.zeros
            Makes a state from its shape; `mx.sym.zeros` makes symbols.
        **kwargs
            Further arguments of `func`, such as `ctx`.

        Returns
        -------
        list of NDArray or Symbol

        Examples
        --------
        >>> [state.shape for state in mx.gluon.rnn.LSTMCell(4).begin_state(batch_size=2)]
        [(2, 4), (2, 4)]
        """
        assert not self._modified, _MODIFIED
        states = []
        for info in self.state_info(batch_size):
            self._init_counter += 1
            states.append(func(name=f"{self._prefix}begin_state_{self._init_counter}", **{**(info or {}), **kwargs}))
        return states

    def unroll(self, length, inputs, begin_state=None, layout="NTC", merge_outputs=None, valid_length=None):
        """Call the cell for a number of time steps.

        Parameters
        ----------
        length : int
            The number of time steps.
        inputs : NDArray, Symbol or list of them
            The whole sequence, or one input of shape (batch, channels) for each step.
        begin_state : list of NDArray or Symbol, optional
            The first states; zeros by default.
        layout : str, default 'NTC'
            The axes of a whole sequence: N samples, T time steps, C channels.
        merge_outputs : bool, optional
            Whether the outputs come as one array (True) or as a list of steps (False); None: as the inputs are given.
        valid_length : NDArray, optional
            The length of each sequence, of shape (batch,): later outputs are zero, and the states are those of the last
            valid step.

        Returns
        -------
        outputs : NDArray, Symbol or list of them
        states : list of NDArray or Symbol
            The states after the last step.

        Examples
        --------
        >>> cell = mx.gluon.rnn.GRUCell(4)
        >>> cell.initialize()
        >>> outputs, states = cell.unroll(5, mx.nd.ones((2, 5, 3)), merge_outputs=True)
        >>> outputs.shape, states[0].shape
        ((2, 5, 4), (2, 4))
        """
        self.reset()
        sequence = Sequence(length, inputs, layout)
        F, steps = sequence.F, sequence.steps()
        states = begin_state_of(self, F, begin_state, steps, sequence.batch_size)
        outputs, history = [], []
        for step in steps:
            output, states = self(step, states)
            outputs.append(output)
            history.append(states)
        if valid_length is not None:
            states = [
                F.SequenceLast(F.stack(*s, axis=0), sequence_length=valid_length, use_sequence_length=True, axis=0)
                for s in zip(*history, strict=True)
            ]
            outputs = masked(F, outputs, length, valid_length, sequence.axis, True)
        return Sequence(length, outputs, layout).as_asked(merge_outputs), states

    def _get_activation(self, F, inputs, activation, **kwargs):
        activate = activation
        if activation in ("tanh", "relu", "sigmoid", "softsign"):
            activate = getattr(F, activation)
        elif isinstance(activation, str):
            activate = partial(F.Activation, act_type=activation)
        elif isinstance(activation, LeakyReLU):
            activate = partial(F.LeakyReLU, act_type="leaky", slope=activation._alpha)
        return activate(inputs, **kwargs)

    def forward(self, inputs, states):
        """One step."""
        self._counter += 1
        return super().forward(inputs, states)


class HybridRecurrentCell(RecurrentCell, HybridBlock):
    """Base class of cells that can be hybridized: subclasses define `hybrid_forward(F, x, states)`.

    Parameters
    ----------
    prefix : str, optional
        Prefix of the names of the parameters.
    params : ParameterDict, optional
        Parameters to share with another block.

    Examples
    --------
    >>> cell = mx.gluon.rnn.GRUCell(4)  # a subclass
    >>> cell.initialize()
    >>> outputs, states = cell.unroll(5, mx.nd.ones((2, 5, 3)), merge_outputs=True)
    >>> outputs.shape
    (2, 5, 4)
    """

    def __init__(self, prefix=None, params=None):
        super().__init__(prefix=prefix, params=params)

    def hybrid_forward(self, F, x, *args, **kwargs):
        """One step."""
        raise NotImplementedError


class _GatedCell(HybridRecurrentCell):
    """A cell with an input and a recurrent matrix, each of `_gates` times the hidden size."""

    _gates = 1
    _states = 1

    def _make_parameters(self, hidden_size, input_size, i2h_weight, h2h_weight, i2h_bias, h2h_bias):
        self._hidden_size, self._input_size = hidden_size, input_size
        rows = self._gates * hidden_size
        plan = {
            "i2h_weight": ((rows, input_size), i2h_weight),
            "h2h_weight": ((rows, hidden_size), h2h_weight),
            "i2h_bias": ((rows,), i2h_bias),
            "h2h_bias": ((rows,), h2h_bias),
        }
        for name, (shape, init) in plan.items():
            setattr(self, name, self.params.get(name, shape=shape, init=init, allow_deferred_init=True))

    def state_info(self, batch_size=0):
        return [{"shape": (batch_size, self._hidden_size), "__layout__": "NC"} for _ in range(self._states)]

    def _linear(self, F, prefix, inputs, state, i2h_weight, h2h_weight, i2h_bias, h2h_bias):
        """The input's and the state's affine maps."""
        units = self._hidden_size * self._gates
        i2h = F.FullyConnected(data=inputs, weight=i2h_weight, bias=i2h_bias, num_hidden=units, name=f"{prefix}i2h")
        h2h = F.FullyConnected(data=state, weight=h2h_weight, bias=h2h_bias, num_hidden=units, name=f"{prefix}h2h")
        return i2h, h2h

    def _mapping(self):
        rows, columns = self.i2h_weight.shape
        return f"{columns or None} -> {rows}"

    def __repr__(self):
        return f"{type(self).__name__}({self._mapping()})"


class RNNCell(_GatedCell):
    """Elman cell: h' = activation(W_ih x + b_ih + W_hh h + b_hh).

    Parameters
    ----------
    hidden_size : int
        Number of hidden units.
    activation : str or Block, default 'tanh'
        The activation function.
    i2h_weight_initializer, h2h_weight_initializer : Initializer or str, optional
        How the weights of the input and of the hidden state are initialized.
    i2h_bias_initializer, h2h_bias_initializer : Initializer or str, default 'zeros'
        How the biases are initialized.
    input_size : int, default 0
        Number of input features; 0 means that the first batch decides.
    prefix : str, optional
        Prefix of the names of the parameters.
    params : ParameterDict, optional
        Parameters to share with another block.

    Inputs: x of shape (N, input_size) and a list of one state of shape (N, hidden_size). Returns the output and
    the list of the new state.

    Examples
    --------
    >>> cell = mx.gluon.rnn.RNNCell(4)
    >>> cell.initialize()
    >>> output, states = cell(mx.nd.ones((2, 3)), cell.begin_state(batch_size=2))
    >>> output.shape, states[0].shape
    ((2, 4), (2, 4))
    """

    def __init__(
        self, hidden_size, activation="tanh", i2h_weight_initializer=None, h2h_weight_initializer=None,
        i2h_bias_initializer="zeros", h2h_bias_initializer="zeros", input_size=0, prefix=None, params=None,
    ):  # fmt: skip
        super().__init__(prefix=prefix, params=params)
        self._activation = activation
        self._make_parameters(
            hidden_size, input_size, i2h_weight_initializer, h2h_weight_initializer, i2h_bias_initializer,
            h2h_bias_initializer,
        )  # fmt: skip

    def _alias(self):
        return "rnn"

    def __repr__(self):
        return f"{type(self).__name__}({self._mapping()}, {self._activation})"

    def hybrid_forward(self, F, inputs, states, i2h_weight, h2h_weight, i2h_bias, h2h_bias):
        """One step."""
        prefix = f"t{self._counter}_"
        i2h, h2h = self._linear(F, prefix, inputs, states[0], i2h_weight, h2h_weight, i2h_bias, h2h_bias)
        total = F.elemwise_add(i2h, h2h, name=f"{prefix}plus0")
        output = self._get_activation(F, total, self._activation, name=f"{prefix}out")
        return output, [output]


class LSTMCell(_GatedCell):
    """Long short-term memory cell: c' = f · c + i · g and h' = o · tanh(c').

    The gates i, f, g, o are sigmoid (g: tanh) of W_ih x + b_ih + W_hh h + b_hh; in this order they fill the 4 ·
    hidden_size rows of the weights.

    Parameters
    ----------
    hidden_size : int
        Number of hidden units.
    i2h_weight_initializer, h2h_weight_initializer : Initializer or str, optional
        How the weights of the input and of the hidden state are initialized.
    i2h_bias_initializer, h2h_bias_initializer : Initializer or str, default 'zeros'
        How the biases are initialized.
    input_size : int, default 0
        Number of input features; 0 means that the first batch decides.
    prefix : str, optional
        Prefix of the names of the parameters.
    params : ParameterDict, optional
        Parameters to share with another block.
    activation : str or Block, default 'tanh'
        The function of g and of c'.
    recurrent_activation : str or Block, default 'sigmoid'
        The function of the gates i, f and o.

    Inputs: x of shape (N, input_size) and the states [h, c], each of shape (N, hidden_size).

    Examples
    --------
    >>> cell = mx.gluon.rnn.LSTMCell(4)
    >>> cell.initialize()
    >>> output, (h, c) = cell(mx.nd.ones((2, 3)), cell.begin_state(batch_size=2))
    >>> output.shape, c.shape
    ((2, 4), (2, 4))
    """

    _gates, _states = 4, 2

    def __init__(
        self, hidden_size, i2h_weight_initializer=None, h2h_weight_initializer=None, i2h_bias_initializer="zeros",
        h2h_bias_initializer="zeros", input_size=0, prefix=None, params=None, activation="tanh",
        recurrent_activation="sigmoid",
    ):  # fmt: skip
        super().__init__(prefix=prefix, params=params)
        self._make_parameters(
            hidden_size, input_size, i2h_weight_initializer, h2h_weight_initializer, i2h_bias_initializer,
            h2h_bias_initializer,
        )  # fmt: skip
        self._activation, self._recurrent_activation = activation, recurrent_activation

    def _alias(self):
        return "lstm"

    def hybrid_forward(self, F, inputs, states, i2h_weight, h2h_weight, i2h_bias, h2h_bias):
        """One step."""
        p = f"t{self._counter}_"
        i2h, h2h = self._linear(F, p, inputs, states[0], i2h_weight, h2h_weight, i2h_bias, h2h_bias)
        gates = F.SliceChannel(F.elemwise_add(i2h, h2h, name=f"{p}plus0"), num_outputs=4, name=f"{p}slice")
        inner, outer = self._activation, self._recurrent_activation
        i, f, g, o = (
            self._get_activation(F, gates[k], act, name=p + letter)
            for k, (letter, act) in enumerate((("i", outer), ("f", outer), ("c", inner), ("o", outer)))
        )
        kept = F.elemwise_mul(f, states[1], name=f"{p}mul0")
        memory = F.elemwise_add(kept, F.elemwise_mul(i, g, name=f"{p}mul1"), name=f"{p}state")
        output = F.elemwise_mul(o, F.Activation(memory, act_type=inner, name=f"{p}activation0"), name=f"{p}out")
        return output, [output, memory]


class GRUCell(_GatedCell):
    """Gated recurrent unit: h' = (1 - z) · n + z · h with n = tanh(W x + b + r · (R h + c)).

    The gates r and z are sigmoid(W_ih x + b_ih + W_hh h + b_hh); the weights hold r, z, n in this order.

    Parameters
    ----------
    hidden_size : int
        Number of hidden units.
    i2h_weight_initializer, h2h_weight_initializer : Initializer or str, optional
        How the weights of the input and of the hidden state are initialized.
    i2h_bias_initializer, h2h_bias_initializer : Initializer or str, default 'zeros'
        How the biases are initialized.
    input_size : int, default 0
        Number of input features; 0 means that the first batch decides.
    prefix : str, optional
        Prefix of the names of the parameters.
    params : ParameterDict, optional
        Parameters to share with another block.

    Inputs: x of shape (N, input_size) and a list of one state of shape (N, hidden_size).

    Examples
    --------
    >>> cell = mx.gluon.rnn.GRUCell(4)
    >>> cell.initialize()
    >>> output, states = cell(mx.nd.ones((2, 3)), cell.begin_state(batch_size=2))
    >>> output.shape
    (2, 4)
    """

    _gates = 3

    def __init__(
        self, hidden_size, i2h_weight_initializer=None, h2h_weight_initializer=None, i2h_bias_initializer="zeros",
        h2h_bias_initializer="zeros", input_size=0, prefix=None, params=None,
    ):  # fmt: skip
        super().__init__(prefix=prefix, params=params)
        self._make_parameters(
            hidden_size, input_size, i2h_weight_initializer, h2h_weight_initializer, i2h_bias_initializer,
            h2h_bias_initializer,
        )  # fmt: skip

    def _alias(self):
        return "gru"

    def hybrid_forward(self, F, inputs, states, i2h_weight, h2h_weight, i2h_bias, h2h_bias):
        """One step."""
        p, h = f"t{self._counter}_", states[0]
        i2h, h2h = self._linear(F, p, inputs, h, i2h_weight, h2h_weight, i2h_bias, h2h_bias)
        i2h_r, i2h_z, i2h_n = F.SliceChannel(i2h, num_outputs=3, name=f"{p}i2h_slice")
        h2h_r, h2h_z, h2h_n = F.SliceChannel(h2h, num_outputs=3, name=f"{p}h2h_slice")

        def gate(a, b, plus, name, kind):
            return F.Activation(F.elemwise_add(a, b, name=p + plus), act_type=kind, name=p + name)

        r = gate(i2h_r, h2h_r, "plus0", "r_act", "sigmoid")
        z = gate(i2h_z, h2h_z, "plus1", "z_act", "sigmoid")
        n = gate(i2h_n, F.elemwise_mul(r, h2h_n, name=f"{p}mul0"), "plus2", "h_act", "tanh")
        rest = F.elemwise_sub(F.ones_like(z, name=f"{p}ones_like0"), z, name=f"{p}minus0")
        fresh = F.elemwise_mul(rest, n, name=f"{p}mul1")
        output = F.elemwise_add(fresh, F.elemwise_mul(z, h, name=f"{p}mul20"), name=f"{p}out")
        return output, [output]


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
