"""Symbolic recurrent cells: parameters by name, one step as symbols, weights split by gate and joined again."""

from .. import initializer, ndarray, symbol

MODIFIED = "this cell has been modified (by a DropoutCell, say): call the modifying cell, not the one inside it"


def steps_or_whole(length, inputs, layout, merge):
    """A sequence as steps (`merge` False), as one symbol (True) or as it is (None), with its time axis."""
    assert inputs is not None, "unroll needs its inputs: create input variables outside unroll and pass them"
    axis = layout.find("T")
    if isinstance(inputs, symbol.Symbol):
        if merge is False:
            assert len(inputs.list_outputs()) == 1, (
                "unroll does not take a grouped symbol; convert it with list(inputs) or pass one output"
            )
            inputs = list(symbol.split(inputs, axis=axis, num_outputs=length, squeeze_axis=1))
        return inputs, axis
    assert length is None or len(inputs) == length, f"unroll of {length} steps got {len(inputs)} inputs"
    if merge is True:
        inputs = symbol.Concat(*[symbol.expand_dims(i, axis=axis) for i in inputs], dim=axis)
    return inputs, axis


class RNNParams:
    """Variables by name; cells that share one container share weights.

    Parameters
    ----------
    prefix : str, default ''
        The prefix of the names of the cell's variables.

    Examples
    --------
    >>> params = mx.rnn.RNNParams("rnn_")
    >>> params.get("i2h_weight").name
    'rnn_i2h_weight'
    """

    def __init__(self, prefix=""):
        self._prefix = prefix
        self._params = {}

    def get(self, name, **kwargs):
        """The variable of a name; it is made at its first use.

        Parameters
        ----------
        name : str
            The name without the prefix.
        **kwargs
            Further arguments of `mx.sym.Variable`.

        Returns
        -------
        Symbol

        Examples
        --------
        >>> mx.rnn.RNNParams("rnn_").get("i2h_weight")
        <Symbol rnn_i2h_weight>
        """
        full, known = f"{self._prefix}{name}", self._params
        if full not in known:
            known[full] = symbol.Variable(full, **kwargs)
        return known[full]


class BaseRNNCell:
    """The base of recurrent cells for symbols: one step from an input and states to an output and new states.

    Parameters
    ----------
    prefix : str, default ''
        The prefix of the names of the cell's variables.
    params : RNNParams, optional
        Variables to share.

    Examples
    --------
    >>> cell = mx.rnn.RNNCell(4)
    >>> isinstance(cell, mx.rnn.BaseRNNCell), cell.state_info
    (True, [{'shape': (0, 4), '__layout__': 'NC'}])
    """

    _gate_names = ()

    def __init__(self, prefix="", params=None):
        self._own_params = params is None
        self._params = RNNParams(prefix) if params is None else params
        self._prefix, self._modified = prefix, False
        self.reset()

    def reset(self):
        """Set the count of time steps back to zero; `unroll` calls it.

        Examples
        --------
        >>> mx.rnn.RNNCell(4).reset()
        """
        self._init_counter = self._counter = -1
        for cell in getattr(self, "_cells", ()):
            cell.reset()

    def __call__(self, inputs, states):
        raise NotImplementedError()

    @property
    def params(self):
        """The container of the variables; give it to another cell to share them.

        Examples
        --------
        >>> cell = mx.rnn.RNNCell(4, prefix="rnn_")
        >>> other = mx.rnn.RNNCell(4, prefix="rnn_", params=cell.params)
        >>> other.params is cell.params
        True
        """
        self._own_params = False
        return self._params

    @property
    def state_info(self):
        """Shape and layout of each state, a list of dict; the number of samples is 0, which means open.

        Examples
        --------
        >>> mx.rnn.RNNCell(4).state_info
        [{'shape': (0, 4), '__layout__': 'NC'}]
        """
        raise NotImplementedError()

    @property
    def state_shape(self):
        """The shape of each state, a list of tuples.

        Examples
        --------
        >>> mx.rnn.LSTMCell(4).state_shape
        [(0, 4), (0, 4)]
        """
        return [info["shape"] for info in self.state_info]

    def _step_name(self):
        self._counter += 1
        return f"{self._prefix}t{self._counter}_"

    def begin_state(self, func=symbol.zeros, **kwargs):
        """Make the states before the first time step.

        Parameters
        ----------
        func : callable, default mx.sym.zeros
            Makes a state from its shape and name; `mx.sym.Variable` makes inputs of them.
        **kwargs
            Further arguments of `func`.

        Returns
        -------
        list of Symbol

        Examples
        --------
        >>> mx.rnn.RNNCell(4, prefix="rnn_").begin_state(func=mx.sym.Variable)
        [<Symbol rnn_begin_state_0>]
        """
        assert not self._modified, MODIFIED
        states = []
        for info in self.state_info:
            self._init_counter += 1
            states.append(func(name=f"{self._prefix}begin_state_{self._init_counter}", **{**kwargs, **(info or {})}))
        return states

    def _gates(self):
        """(joined name, names by gate) of every weight and bias."""
        for group in ("i2h", "h2h"):
            for kind in ("weight", "bias"):
                parts = [f"{self._prefix}{group}{gate}_{kind}" for gate in self._gate_names]
                yield f"{self._prefix}{group}_{kind}", parts

    def unpack_weights(self, args):
        """Split the matrices of all gates into one for each gate.

        Parameters
        ----------
        args : dict of str to NDArray
            The parameters by name.

        Returns
        -------
        dict of str to NDArray

        Examples
        --------
        >>> args = {f"lstm_{part}_weight": mx.nd.zeros((8, 2)) for part in ("i2h", "h2h")}
        >>> args.update({f"lstm_{part}_bias": mx.nd.zeros((8,)) for part in ("i2h", "h2h")})
        >>> parts = mx.rnn.LSTMCell(2, prefix="lstm_").unpack_weights(args)
        >>> parts["lstm_i2h_f_weight"].shape
        (2, 2)
        """
        args = args.copy()
        for joined, parts in list(self._gates()) if self._gate_names else ():
            whole, size = args.pop(joined), self._num_hidden
            for j, name in enumerate(parts):
                args[name] = whole[j * size : (j + 1) * size].copy()
        return args

    def pack_weights(self, args):
        """Join the matrices of the gates: the reverse of `unpack_weights`.

        Parameters
        ----------
        args : dict of str to NDArray
            The parameters by name.

        Returns
        -------
        dict of str to NDArray

        Examples
        --------
        >>> args = {f"lstm_{part}_weight": mx.nd.zeros((8, 2)) for part in ("i2h", "h2h")}
        >>> args.update({f"lstm_{part}_bias": mx.nd.zeros((8,)) for part in ("i2h", "h2h")})
        >>> cell = mx.rnn.LSTMCell(2, prefix="lstm_")
        >>> cell.pack_weights(cell.unpack_weights(args))["lstm_i2h_weight"].shape
        (8, 2)
        """
        args = args.copy()
        for joined, parts in list(self._gates()) if self._gate_names else ():
            args[joined] = ndarray.concatenate([args.pop(name) for name in parts])
        return args

    def unroll(self, length, inputs, begin_state=None, layout="NTC", merge_outputs=None):
        """Call the cell for a number of time steps.

        Parameters
        ----------
        length : int
            The number of time steps.
        inputs : Symbol or list of Symbol
            The whole sequence, or one input for each step.
        begin_state : list of Symbol, optional
            The first states; zeros by default.
        layout : str, default 'NTC'
            The axes of a whole sequence: N samples, T time steps, C channels.
        merge_outputs : bool, optional
            Whether the outputs come as one symbol (True) or as a list of steps (False); None: as the cell makes them.

        Returns
        -------
        outputs : Symbol or list of Symbol
        states : list of Symbol
            The states after the last step.

        Examples
        --------
        >>> outputs, states = mx.rnn.GRUCell(4, prefix="gru_").unroll(5, mx.sym.var("data"), merge_outputs=True)
        >>> outputs.infer_shape(data=(2, 5, 3))[1]
        [(2, 5, 4)]
        """
        self.reset()
        inputs, _ = steps_or_whole(length, inputs, layout, False)
        states = self.begin_state() if begin_state is None else begin_state
        outputs = []
        for step in inputs[:length]:
            output, states = self(step, states)
            outputs.append(output)
        return steps_or_whole(length, outputs, layout, merge_outputs)[0], states

    def _get_activation(self, inputs, activation, **kwargs):
        if isinstance(activation, str):
            return symbol.Activation(inputs, act_type=activation, **kwargs)
        return activation(inputs, **kwargs)


class _Dense(BaseRNNCell):
    """A cell whose two linear maps are dense."""

    _states = 1

    def __init__(self, num_hidden, prefix, params, bias_init=None):
        super().__init__(prefix=prefix, params=params)
        self._num_hidden = num_hidden
        self._iW, self._hW = self.params.get("i2h_weight"), self.params.get("h2h_weight")
        self._iB = self.params.get("i2h_bias", **({"init": bias_init} if bias_init else {}))
        self._hB = self.params.get("h2h_bias")

    @property
    def state_info(self):
        return [{"shape": (0, self._num_hidden), "__layout__": "NC"} for _ in range(self._states)]

    def _linear(self, inputs, state, name):
        units = self._num_hidden * len(self._gate_names)
        i2h = symbol.FullyConnected(data=inputs, weight=self._iW, bias=self._iB, num_hidden=units, name=f"{name}i2h")
        h2h = symbol.FullyConnected(data=state, weight=self._hW, bias=self._hB, num_hidden=units, name=f"{name}h2h")
        return i2h, h2h


def lstm_step(i2h, h2h, memory, name, activate, **axis):
    """Output and memory from the two maps; `activate` is the inner activation, `axis` where the gates lie."""
    i, f, g, o = symbol.SliceChannel(i2h + h2h, num_outputs=4, name=f"{name}slice", **axis)
    i = symbol.Activation(i, act_type="sigmoid", name=f"{name}i")
    f = symbol.Activation(f, act_type="sigmoid", name=f"{name}f")
    g = activate(g, name=f"{name}c")
    o = symbol.Activation(o, act_type="sigmoid", name=f"{name}o")
    after = symbol._internal._plus(f * memory, i * g, name=f"{name}state")
    return symbol._internal._mul(o, activate(after), name=f"{name}out"), after


def gru_step(i2h, h2h, state, name, activate):
    """The new state from the two maps."""
    i2h_r, i2h_z, i2h_n = symbol.SliceChannel(i2h, num_outputs=3, name=f"{name}_i2h_slice")
    h2h_r, h2h_z, h2h_n = symbol.SliceChannel(h2h, num_outputs=3, name=f"{name}_h2h_slice")
    r = symbol.Activation(i2h_r + h2h_r, act_type="sigmoid", name=f"{name}_r_act")
    z = symbol.Activation(i2h_z + h2h_z, act_type="sigmoid", name=f"{name}_z_act")
    n = activate(i2h_n + r * h2h_n, name=f"{name}_h_act")
    return symbol._internal._plus((1.0 - z) * n, z * state, name=f"{name}out")


def _tanh(x, **kwargs):
    return symbol.Activation(x, act_type="tanh", **kwargs)


class RNNCell(_Dense):
    """A plain recurrent cell: h' = act(W x + b + R h + c).

    Parameters
    ----------
    num_hidden : int
        The size of the state.
    activation : str or callable, default 'tanh'
        The activation.
    prefix : str, default 'rnn_'
        The prefix of the names of the cell's variables.
    params : RNNParams, optional
        Variables to share.

    Examples
    --------
    >>> outputs, states = mx.rnn.RNNCell(4, prefix="rnn_").unroll(3, mx.sym.var("data"), merge_outputs=True)
    >>> outputs.infer_shape(data=(2, 3, 5))[1]
    [(2, 3, 4)]
    """

    _gate_names = ("",)

    def __init__(self, num_hidden, activation="tanh", prefix="rnn_", params=None):
        super().__init__(num_hidden, prefix, params)
        self._activation = activation

    def __call__(self, inputs, states):
        name = self._step_name()
        i2h, h2h = self._linear(inputs, states[0], name)
        output = self._get_activation(i2h + h2h, self._activation, name=f"{name}out")
        return output, [output]


class LSTMCell(_Dense):
    """A long short-term memory cell.

    Parameters
    ----------
    num_hidden : int
        The size of the state.
    prefix : str, default 'lstm_'
        The prefix of the names of the cell's variables.
    params : RNNParams, optional
        Variables to share.
    forget_bias : float, default 1.0
        What the forget gate's bias starts with.

    Examples
    --------
    >>> outputs, states = mx.rnn.LSTMCell(4, prefix="lstm_").unroll(3, mx.sym.var("data"), merge_outputs=True)
    >>> outputs.infer_shape(data=(2, 3, 5))[1]
    [(2, 3, 4)]
    """

    _gate_names = ("_i", "_f", "_c", "_o")
    _states = 2

    def __init__(self, num_hidden, prefix="lstm_", params=None, forget_bias=1.0):
        super().__init__(num_hidden, prefix, params, initializer.LSTMBias(forget_bias=forget_bias))

    def __call__(self, inputs, states):
        name = self._step_name()
        output, memory = lstm_step(*self._linear(inputs, states[0], name), states[1], name, _tanh)
        return output, [output, memory]


class GRUCell(_Dense):
    """A gated recurrent unit.

    Parameters
    ----------
    num_hidden : int
        The size of the state.
    prefix : str, default 'gru_'
        The prefix of the names of the cell's variables.
    params : RNNParams, optional
        Variables to share.

    Examples
    --------
    >>> outputs, states = mx.rnn.GRUCell(4, prefix="gru_").unroll(3, mx.sym.var("data"), merge_outputs=True)
    >>> outputs.infer_shape(data=(2, 3, 5))[1]
    [(2, 3, 4)]
    """

    _gate_names = ("_r", "_z", "_o")

    def __init__(self, num_hidden, prefix="gru_", params=None):
        super().__init__(num_hidden, prefix, params)

    def __call__(self, inputs, states):
        name = self._step_name()
        output = gru_step(*self._linear(inputs, states[0], f"{name}_"), states[0], name, _tanh)
        return output, [output]
