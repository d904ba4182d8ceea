"""Recurrent cells: one step of a network, stacked, modified, or run in both directions."""

from ... import ndarray  # noqa: F401 - MXNet shows these four here
from ...base import numeric_types  # noqa: F401
from .. import nn
from ..block import Block, HybridBlock  # noqa: F401
from ._base_cells import HybridRecurrentCell, RecurrentCell
from ._composed_cells import (
    BidirectionalCell,
    DropoutCell,
    HybridSequentialRNNCell,
    ModifierCell,
    ResidualCell,
    SequentialRNNCell,
    ZoneoutCell,
)
from ._sequence import begin_state_of as _get_begin_state  # noqa: F401 - MXNet's names, which programs import
from ._sequence import format_sequence as _format_sequence  # noqa: F401

LeakyReLU = nn.LeakyReLU

__all__ = [
    "BidirectionalCell", "DropoutCell", "GRUCell", "HybridRecurrentCell", "HybridSequentialRNNCell", "LSTMCell",
    "ModifierCell", "RNNCell", "RecurrentCell", "ResidualCell", "SequentialRNNCell", "ZoneoutCell",
]  # fmt: skip


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
