"""The fused recurrent network as a cell: all layers and steps in one operator, with one vector of parameters."""

import warnings

from .. import initializer, ndarray, symbol
from ._cells import BaseRNNCell, GRUCell, LSTMCell, RNNCell, steps_or_whole
from ._stacks import BidirectionalCell, DropoutCell, SequentialRNNCell

_GATES = {"rnn_relu": ("",), "rnn_tanh": ("",), "lstm": ("_i", "_f", "_c", "_o"), "gru": ("_r", "_z", "_o")}


class FusedRNNCell(BaseRNNCell):
    """A stack of layers as one operator, which is faster; time first is the fast layout.

    Parameters
    ----------
    num_hidden : int
        The size of the state.
    num_layers : int, default 1
        The number of layers.
    mode : str, default 'lstm'
        rnn_relu, rnn_tanh, lstm or gru.
    bidirectional : bool, default False
        Whether a second set of layers reads the sequences backwards.
    dropout : float, default 0.0
        The probability that an output between layers is dropped.
    get_next_state : bool, default False
        Whether the last states are returned.
    forget_bias : float, default 1.0
        What the forget gate's bias starts with.
    prefix : str, optional
        The prefix of the names of the cell's variables.
    params : RNNParams, optional
        Variables to share.

    Examples
    --------
    >>> cell = mx.rnn.FusedRNNCell(4, num_layers=2, prefix="lstm_")
    >>> outputs, states = cell.unroll(3, mx.sym.var("data"), layout="TNC")
    >>> outputs.infer_shape(data=(3, 2, 5))[1]
    [(3, 2, 4)]
    """

    def __init__(
        self, num_hidden, num_layers=1, mode="lstm", bidirectional=False, dropout=0.0, get_next_state=False,
        forget_bias=1.0, prefix=None, params=None,
    ):  # fmt: skip
        super().__init__(prefix=f"{mode}_" if prefix is None else prefix, params=params)
        self._num_hidden, self._num_layers, self._mode = num_hidden, num_layers, mode
        self._bidirectional, self._dropout, self._get_next_state = bidirectional, dropout, get_next_state
        self._directions = ["l", "r"] if bidirectional else ["l"]
        init = initializer.FusedRNN(None, num_hidden, num_layers, mode, bidirectional, forget_bias)
        self._parameter = self.params.get("parameters", init=init)

    @property
    def state_info(self):
        shape = (len(self._directions) * self._num_layers, 0, self._num_hidden)
        return [{"shape": shape, "__layout__": "LNC"} for _ in range(2 if self._mode == "lstm" else 1)]

    @property
    def _gate_names(self):
        return _GATES[self._mode]

    @property
    def _num_gates(self):
        return len(self._gate_names)

    def _shapes(self, num_input):
        """(name, shape) of every gate's weights, then of every gate's biases, in the vector's order."""
        hidden, both = self._num_hidden, len(self._directions)
        for kind in ("weight", "bias"):
            for layer in range(self._num_layers):
                width = both * hidden if layer else num_input
                for side in self._directions:
                    for group, columns in (("i2h", width), ("h2h", hidden)):
                        for gate in self._gate_names:
                            shape = (hidden, columns) if kind == "weight" else (hidden,)
                            yield f"{self._prefix}{side}{layer}_{group}{gate}_{kind}", shape

    def _slice_weights(self, arr, li, lh):
        """Views into the vector, by name."""
        views, start = {}, 0
        for name, shape in self._shapes(li):
            size = shape[0] * shape[1] if len(shape) == 2 else shape[0]
            views[name] = arr[start : start + size].reshape(shape)
            start += size
        assert start == arr.size, "Invalid parameters size for FusedRNNCell"
        return views

    def unpack_weights(self, args):
        """The vector cut into matrices by layer, direction and gate."""
        args = dict(args)
        vector = args.pop(self._parameter.name)
        both, hidden = len(self._directions), self._num_hidden
        rows = vector.size // both // hidden // self._num_gates
        num_input = rows - (self._num_layers - 1) * (hidden + both * hidden + 2) - hidden - 2
        args.update({n: v.copy() for n, v in self._slice_weights(vector, num_input, hidden).items()})
        return args

    def pack_weights(self, args):
        args = dict(args)
        first = args[f"{self._prefix}l0_i2h{self._gate_names[0]}_weight"]
        num_input = first.shape[1]
        total = sum(s[0] * s[1] if len(s) == 2 else s[0] for _, s in self._shapes(num_input))
        vector = ndarray.zeros((total,), ctx=first.context, dtype=first.dtype)
        views = self._slice_weights(vector, num_input, self._num_hidden)
        for name in views:
            views[name][:] = args.pop(name)
        return {**args, self._parameter.name: vector}

    def __call__(self, inputs, states):
        raise NotImplementedError("a FusedRNNCell computes all steps at once: call unroll, or unfuse() it first")

    def unroll(self, length, inputs, begin_state=None, layout="NTC", merge_outputs=None):
        """All steps in one operator."""
        self.reset()
        inputs, time_axis = steps_or_whole(length, inputs, layout, True)
        assert time_axis in (0, 1), f"Unsupported layout {layout}"
        batch_first = time_axis == 1
        if batch_first:
            inputs = symbol.swapaxes(inputs, dim1=0, dim2=1)
            warnings.warn("NTC layout detected. Consider using TNC for FusedRNNCell for faster speed", stacklevel=2)
        begin = self.begin_state() if begin_state is None else begin_state
        rnn = symbol.RNN(
            data=inputs, parameters=self._parameter, state_size=self._num_hidden, num_layers=self._num_layers,
            bidirectional=self._bidirectional, p=self._dropout, state_outputs=self._get_next_state, mode=self._mode,
            name=f"{self._prefix}rnn", **dict(zip(("state", "state_cell"), begin, strict=False)),
        )  # fmt: skip
        outputs, states = rnn, []
        if self._get_next_state:
            outputs, *states = list(rnn)
            for state in states:
                state._set_attr(__layout__="LNC")
        if batch_first:
            outputs = symbol.swapaxes(outputs, dim1=0, dim2=1)
        return steps_or_whole(length, outputs, layout, merge_outputs)[0], states

    def unfuse(self):
        """The same network as a stack of single cells, which share no variables with it; `unpack_weights` converts
        parameters.

        Examples
        --------
        >>> type(mx.rnn.FusedRNNCell(4, num_layers=2, mode="lstm").unfuse()).__name__
        'SequentialRNNCell'
        """
        make = {
            "rnn_relu": lambda p: RNNCell(self._num_hidden, activation="relu", prefix=p),
            "rnn_tanh": lambda p: RNNCell(self._num_hidden, activation="tanh", prefix=p),
            "lstm": lambda p: LSTMCell(self._num_hidden, prefix=p),
            "gru": lambda p: GRUCell(self._num_hidden, prefix=p),
        }[self._mode]
        stack = SequentialRNNCell()
        for i in range(self._num_layers):
            cells = [make(f"{self._prefix}{side}{i}_") for side in self._directions]
            if self._bidirectional:
                stack.add(BidirectionalCell(*cells, output_prefix=f"{self._prefix}bi_l{i}_"))
            else:
                stack.add(cells[0])
            if self._dropout > 0 and i != self._num_layers - 1:
                stack.add(DropoutCell(self._dropout, prefix=f"{self._prefix}_dropout{i}_"))
        return stack
