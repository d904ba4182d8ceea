"""The bases of recurrent cells: states, one step, and unrolling over a sequence."""

from functools import partial

from ... import ndarray
from .. import nn
from ..block import Block, HybridBlock
from ._sequence import Sequence, begin_state_of, masked

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

    __module__ = "mxnet.gluon.rnn.rnn_cell"

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
        elif isinstance(activation, nn.LeakyReLU):
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

    __module__ = "mxnet.gluon.rnn.rnn_cell"

    def __init__(self, prefix=None, params=None):
        super().__init__(prefix=prefix, params=params)

    def hybrid_forward(self, F, x, *args, **kwargs):
        """One step."""
        raise NotImplementedError
