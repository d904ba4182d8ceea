"""Symbolic cells made of cells: stacks, both directions, and cells that change what another does."""

import contextlib

from .. import symbol
from ..base import numeric_types
from ._cells import MODIFIED, BaseRNNCell, steps_or_whole


class _Composite(BaseRNNCell):
    """Holds `_cells`, whose states and weights follow one another."""

    def _adopt(self, cells):
        """Share parameters with the cells: theirs become ours, ours (if given) theirs."""
        given, ours = self._override_cell_params, self.params._params
        for cell in cells:
            assert cell._own_params or not given, (
                f"give params to {type(self).__name__} or to the cells in it, not to both"
            )
            theirs = cell.params._params
            theirs.update(ours if given else {})
            ours.update(theirs)

    @property
    def state_info(self):
        """Shape and layout of each state, the first cell's first."""
        return [info for cell in self._cells for info in cell.state_info]

    def begin_state(self, **kwargs):
        """Initial states, the first cell's first."""
        assert not self._modified, MODIFIED
        return [state for cell in self._cells for state in cell.begin_state(**kwargs)]

    def unpack_weights(self, args):
        """Parameters with every cell's matrices cut by gate."""
        for cell in self._cells:
            args = cell.unpack_weights(args)
        return args

    def pack_weights(self, args):
        for cell in self._cells:
            args = cell.pack_weights(args)
        return args


class SequentialRNNCell(_Composite):
    """Cells one above another: each takes the outputs of the one below.

    Parameters
    ----------
    params : RNNParams, optional
        Parameters for all cells.

    Examples
    --------
    >>> stack = mx.rnn.SequentialRNNCell()
    >>> for layer in range(2):
    ...     stack.add(mx.rnn.LSTMCell(4, prefix=f"lstm{layer}_"))
    >>> outputs, states = stack.unroll(3, mx.sym.var("data"), merge_outputs=True)
    >>> outputs.infer_shape(data=(2, 3, 5))[1]
    [(2, 3, 4)]
    """

    def __init__(self, params=None):
        super().__init__(prefix="", params=params)
        self._override_cell_params = params is not None
        self._cells = []

    def add(self, cell):
        """Put a cell on top: its inputs are the outputs of the cell below.

        Parameters
        ----------
        cell : BaseRNNCell
            The cell.

        Examples
        --------
        >>> stack = mx.rnn.SequentialRNNCell()
        >>> stack.add(mx.rnn.LSTMCell(4, prefix="lstm_"))
        >>> stack.state_shape
        [(0, 4), (0, 4)]
        """
        self._cells.append(cell)
        self._adopt([cell])

    def _with_states(self, states):
        start = 0
        for cell in self._cells:
            count = len(cell.state_info)
            yield cell, states[start : start + count]
            start += count

    def __call__(self, inputs, states):
        self._counter += 1
        after = []
        for cell, own in self._with_states(states):
            assert not isinstance(cell, BidirectionalCell), "a BidirectionalCell cannot be stepped; unroll the stack"
            inputs, own = cell(inputs, own)
            after += own
        return inputs, after

    def unroll(self, length, inputs, begin_state=None, layout="NTC", merge_outputs=None):
        self.reset()
        begin = self.begin_state() if begin_state is None else begin_state
        after, last = [], len(self._cells) - 1
        for i, (cell, own) in enumerate(self._with_states(begin)):
            merge = None if i < last else merge_outputs
            inputs, own = cell.unroll(length, inputs=inputs, begin_state=own, layout=layout, merge_outputs=merge)
            after.extend(own)
        return inputs, after


class BidirectionalCell(_Composite):
    """Two cells, one run forwards and one backwards; their outputs are joined.

    Parameters
    ----------
    l_cell, r_cell : BaseRNNCell
        Cell that runs forwards, and cell that runs backwards.
    params : RNNParams, optional
        Parameters for both cells.
    output_prefix : str
        Beginning of the outputs' names.

    Examples
    --------
    >>> cell = mx.rnn.BidirectionalCell(mx.rnn.GRUCell(4, prefix="l_"), mx.rnn.GRUCell(4, prefix="r_"))
    >>> outputs, states = cell.unroll(3, mx.sym.var("data"), merge_outputs=True)
    >>> outputs.infer_shape(data=(2, 3, 5))[1]
    [(2, 3, 8)]
    """

    def __init__(self, l_cell, r_cell, params=None, output_prefix="bi_"):
        super().__init__("", params=params)
        self._output_prefix = output_prefix
        self._override_cell_params = params is not None
        self._cells = [l_cell, r_cell]
        self._adopt(self._cells)

    def __call__(self, inputs, states):
        raise NotImplementedError("Bidirectional cannot be stepped. Please use unroll")

    def unroll(self, length, inputs, begin_state=None, layout="NTC", merge_outputs=None):
        """Unroll both ways."""
        self.reset()
        steps, axis = steps_or_whole(length, inputs, layout, False)
        states = self.begin_state() if begin_state is None else begin_state
        left, right = self._cells
        count = len(left.state_info)
        runs = [(left, steps, states[:count]), (right, list(reversed(steps)), states[count:])]
        (l_out, l_states), (r_out, r_states) = (
            cell.unroll(length, inputs=x, begin_state=s, layout=layout, merge_outputs=merge_outputs)
            for cell, x, s in runs
        )
        merge = merge_outputs
        if merge is None:
            merge = isinstance(l_out, symbol.Symbol) and isinstance(r_out, symbol.Symbol)
        if merge:
            r_out = symbol.reverse(r_out, axis=axis)
            outputs = symbol.Concat(l_out, r_out, dim=2, name=f"{self._output_prefix}out")
        else:
            l_out, _ = steps_or_whole(length, l_out, layout, False)
            r_out, _ = steps_or_whole(length, r_out, layout, False)
            pairs = enumerate(zip(l_out, reversed(r_out), strict=True))
            outputs = [symbol.Concat(a, b, dim=1, name=f"{self._output_prefix}t{i}") for i, (a, b) in pairs]
        return outputs, [l_states, r_states]


class DropoutCell(BaseRNNCell):
    """Sets a random part of its input to zero in training.

    Parameters
    ----------
    dropout : float
        Share of the elements; the others are scaled up.
    prefix : str
        Beginning of the names.
    params : RNNParams, optional
        Not used: the cell has no parameters.

    Examples
    --------
    >>> output, states = mx.rnn.DropoutCell(0.5)(mx.sym.var("data"), [])
    >>> output.infer_shape(data=(2, 5))[1]
    [(2, 5)]
    """

    def __init__(self, dropout, prefix="dropout_", params=None):
        super().__init__(prefix, params)
        assert isinstance(dropout, numeric_types), "dropout probability must be a number"
        self.dropout = dropout

    @property
    def state_info(self):
        """It has no state."""
        return []

    def __call__(self, inputs, states):
        return symbol.Dropout(data=inputs, p=self.dropout) if self.dropout > 0 else inputs, states

    def unroll(self, length, inputs, begin_state=None, layout="NTC", merge_outputs=None):
        """All steps at once where the sequence is one symbol."""
        self.reset()
        inputs, _ = steps_or_whole(length, inputs, layout, merge_outputs)
        if isinstance(inputs, symbol.Symbol):
            return self(inputs, [])
        return super().unroll(length, inputs, begin_state, layout, merge_outputs)


class ModifierCell(BaseRNNCell):
    """Base of the cells that change what another cell computes; that cell is then called through this one only.

    Parameters
    ----------
    base_cell : BaseRNNCell
        Cell that is changed; its parameters and states are those of this cell.

    Examples
    --------
    >>> cell = mx.rnn.ZoneoutCell(mx.rnn.RNNCell(4), zoneout_outputs=0.5)
    >>> isinstance(cell, mx.rnn.ModifierCell)
    True
    """

    def __init__(self, base_cell):
        super().__init__()
        self.base_cell = base_cell
        base_cell._modified = True

    @contextlib.contextmanager
    def _unlocked(self):
        """Lets this cell call the methods of the cell inside that nobody else may call."""
        self.base_cell._modified = False
        try:
            yield self.base_cell
        finally:
            self.base_cell._modified = True

    def begin_state(self, init_sym=symbol.zeros, **kwargs):
        """Initial states of the cell inside."""
        assert not self._modified, MODIFIED
        with self._unlocked() as cell:
            return cell.begin_state(func=kwargs.pop("func", init_sym), **kwargs)

    state_info = property(lambda self: self.base_cell.state_info, doc="Shape and layout of each state.")

    @property
    def params(self):
        """The parameters of the cell inside."""
        self._own_params = False  # a cell around this one must not be given its own
        return self.base_cell.params

    def pack_weights(self, args):
        """The parameters of the cell inside, its gates joined; the reverse of `unpack_weights`."""
        return self.base_cell.pack_weights(args)

    def unpack_weights(self, args):
        """The parameters of the cell inside, cut by gate."""
        return self.base_cell.unpack_weights(args)

    def __call__(self, inputs, states):
        raise NotImplementedError(f"{type(self).__name__} must define __call__, one step of the cell")


class ZoneoutCell(ModifierCell):
    """Keeps a random part of outputs and states as they were in the step before.

    See Krueger et al., *Zoneout: regularizing RNNs by randomly preserving hidden activations*, 2016.

    Parameters
    ----------
    base_cell : BaseRNNCell
        Cell that is changed.
    zoneout_outputs, zoneout_states : float
        Share of the outputs and of the states that are kept.

    Examples
    --------
    >>> cell = mx.rnn.ZoneoutCell(mx.rnn.RNNCell(4, prefix="rnn_"), zoneout_states=0.2)
    >>> outputs, states = cell.unroll(3, mx.sym.var("data"), merge_outputs=True)
    >>> outputs.infer_shape(data=(2, 3, 5))[1]
    [(2, 3, 4)]
    """

    def __init__(self, base_cell, zoneout_outputs=0.0, zoneout_states=0.0):
        from ._fused import FusedRNNCell

        assert not isinstance(base_cell, FusedRNNCell), "FusedRNNCell doesn't support zoneout. Please unfuse first."
        assert not isinstance(base_cell, BidirectionalCell), (
            "a BidirectionalCell cannot be stepped, so zoneout goes on the cells inside it"
        )
        super().__init__(base_cell)
        self.zoneout_outputs, self.zoneout_states, self.prev_output = zoneout_outputs, zoneout_states, None

    def reset(self):
        """Forget the step before."""
        super().reset()
        self.prev_output = None

    def __call__(self, inputs, states):
        def mix(rate, new, old):
            return symbol.where(symbol.Dropout(symbol.ones_like(new), p=rate), new, old) if rate != 0.0 else new

        output, after = self.base_cell(inputs, states)
        before = self.prev_output if self.prev_output is not None else symbol.zeros((0, 0))
        output = mix(self.zoneout_outputs, output, before)
        self.prev_output = output
        return output, [mix(self.zoneout_states, new, old) for new, old in zip(after, states, strict=True)]


class ResidualCell(ModifierCell):
    """Adds the input to the output of the cell inside.

    Parameters
    ----------
    base_cell : BaseRNNCell
        Cell whose outputs are as large as its inputs.

    Examples
    --------
    >>> cell = mx.rnn.ResidualCell(mx.rnn.GRUCell(5, prefix="gru_"))
    >>> outputs, states = cell.unroll(3, mx.sym.var("data"), merge_outputs=True)
    >>> outputs.infer_shape(data=(2, 3, 5))[1]
    [(2, 3, 5)]
    """

    def __init__(self, base_cell):
        super().__init__(base_cell)

    @staticmethod
    def _add(output, inputs):
        return symbol.elemwise_add(output, inputs, name=f"{output.name}_plus_residual")

    def __call__(self, inputs, states):
        output, states = self.base_cell(inputs, states)
        return self._add(output, inputs), states

    def unroll(self, length, inputs, begin_state=None, layout="NTC", merge_outputs=None):
        """Unroll the cell inside, then add the inputs."""
        self.reset()
        with self._unlocked() as cell:
            outputs, states = cell.unroll(length, inputs, begin_state, layout, merge_outputs)
        merge = isinstance(outputs, symbol.Symbol) if merge_outputs is None else merge_outputs
        inputs, _ = steps_or_whole(length, inputs, layout, merge)
        if merge:
            return self._add(outputs, inputs), states
        return [self._add(o, i) for o, i in zip(outputs, inputs, strict=True)], states
