"""Whole recurrent layers: many steps, layers and both directions in one operator."""

import re

from ... import ndarray, symbol
from ..._core.errors import MXNetError
from ...util import is_np_array
from ..block import HybridBlock
from . import rnn_cell
from ._sequence import is_tensor

__all__ = ["GRU", "LSTM", "RNN"]

_GATES = {"rnn_relu": 1, "rnn_tanh": 1, "lstm": 4, "gru": 3}


class _RNNLayer(HybridBlock):
    """Parameters of every layer and direction, and the call of the fused operator."""

    def __init__(
        self, hidden_size, num_layers, layout, dropout, bidirectional, input_size, i2h_weight_initializer,
        h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer, mode, projection_size,
        h2r_weight_initializer, lstm_state_clip_min, lstm_state_clip_max, lstm_state_clip_nan, dtype,
        use_sequence_length=False, **kwargs,
    ):  # fmt: skip
        super().__init__(**kwargs)
        assert layout in ("TNC", "NTC"), f"Invalid layout {layout}; must be one of ['TNC' or 'NTC']"
        self._hidden_size, self._num_layers, self._input_size = hidden_size, num_layers, input_size
        self._projection_size = projection_size or None
        self._mode, self._layout, self._dropout, self._dtype = mode, layout, dropout, dtype
        self._dir = 2 if bidirectional else 1
        self._gates = _GATES[mode]
        self._use_sequence_length = use_sequence_length
        self._clip = {
            "lstm_state_clip_min": lstm_state_clip_min,
            "lstm_state_clip_max": lstm_state_clip_max,
            "lstm_state_clip_nan": lstm_state_clip_nan,
        }
        self._initializers = {
            "i2h_weight": i2h_weight_initializer,
            "h2h_weight": h2h_weight_initializer,
            "i2h_bias": i2h_bias_initializer,
            "h2h_bias": h2h_bias_initializer,
            "h2r_weight": h2r_weight_initializer,
        }
        self.skip_states = None
        self._make_parameters()

    def _make_parameters(self):
        rows, width = self._gates * self._hidden_size, self._input_size
        recurrent = self._projection_size or self._hidden_size
        for layer in range(self._num_layers):
            shapes = {
                "i2h_weight": (rows, width),
                "h2h_weight": (rows, recurrent),
                "i2h_bias": (rows,),
                "h2h_bias": (rows,),
            }
            if self._projection_size:
                shapes["h2r_weight"] = (self._projection_size, self._hidden_size)
            for side in ("l", "r")[: self._dir]:
                for kind, shape in shapes.items():
                    self._register_param(f"{side}{layer}_{kind}", shape, self._initializers[kind], self._dtype)
            width = recurrent * self._dir

    def _register_param(self, name, shape, init, dtype):
        options = {"shape": shape, "init": init, "dtype": dtype, "allow_deferred_init": True}
        setattr(self, name, self.params.get(name, **options))

    def __repr__(self):
        rows, columns = self.l0_i2h_weight.shape
        parts = [f"{columns or None} -> {rows // self._gates}", self._layout]
        if self._num_layers != 1:
            parts.append(f"num_layers={self._num_layers}")
        if self._dropout != 0:
            parts.append(f"dropout={self._dropout}")
        if self._dir == 2:
            parts.append("bidirectional")
        return f"{type(self).__name__}({', '.join(parts)})"

    def _collect_params_with_prefix(self, prefix=""):
        """Keys as in files: those of the unfused cells, which MXNet's first version of the layer was made of."""
        prefix = f"{prefix}." if prefix else ""
        found = {}
        for key, parameter in self._reg_params.items():
            side, layer, kind = re.fullmatch(r"([lr])(\d+)_(\w+)", key).groups()
            cell = f"{side}_cell." if self._dir == 2 else ""
            found[f"{prefix}_unfused.{layer}.{cell}{kind}"] = parameter
        for name, child in self._children.items():
            found.update(child._collect_params_with_prefix(prefix + name))
        return found

    def state_info(self, batch_size=0):
        """Shape, layout and data type of each state.

        Parameters
        ----------
        batch_size : int, default 0
            The number of samples; 0 leaves it open.

        Returns
        -------
        list of dict

        Examples
        --------
        >>> [info["shape"] for info in mx.gluon.rnn.LSTM(4, num_layers=2).state_info(3)]
        [(2, 3, 4), (2, 3, 4)]
        """
        raise NotImplementedError

    def _state(self, batch_size, size):
        shape = (self._num_layers * self._dir, batch_size, size)
        return {"shape": shape, "__layout__": "LNC", "dtype": self._dtype}

    def _unfuse(self):
        """The same network as a stack of cells that share these parameters."""
        assert not self._projection_size, "_unfuse does not support projection layer yet!"
        assert not (self._clip["lstm_state_clip_min"] or self._clip["lstm_state_clip_max"]), (
            "_unfuse does not support state clipping yet!"
        )
        make, fixed = {
            "rnn_relu": (rnn_cell.RNNCell, {"activation": "relu"}),
            "rnn_tanh": (rnn_cell.RNNCell, {"activation": "tanh"}),
            "lstm": (rnn_cell.LSTMCell, {}),
            "gru": (rnn_cell.GRUCell, {}),
        }[self._mode]
        inits = {f"{k}_initializer": v for k, v in self._initializers.items() if k != "h2r_weight"}
        stack = rnn_cell.HybridSequentialRNNCell(prefix=self.prefix, params=self.params)
        with stack.name_scope():
            width = self._input_size
            for i in range(self._num_layers):
                sides = [
                    make(self._hidden_size, input_size=width, prefix=f"{side}{i}_", **fixed, **inits)
                    for side in ("l", "r")[: self._dir]
                ]
                stack.add(rnn_cell.BidirectionalCell(*sides) if self._dir == 2 else sides[0])
                if self._dropout > 0 and i != self._num_layers - 1:
                    stack.add(rnn_cell.DropoutCell(self._dropout))
                width = self._hidden_size * self._dir
        return stack

    def cast(self, dtype):
        """Change the type of parameters and states."""
        super().cast(dtype)
        self._dtype = dtype

    def begin_state(self, batch_size=0, func=ndarray.zeros, **kwargs):
        """Make the states before the first time step.

        Parameters
        ----------
        batch_size : int, default 0
            The number of samples.
        func : callable, default mx.nd.zeros
            Makes a state from its shape.
        **kwargs
            Further arguments of `func`, such as `ctx`.

        Returns
        -------
        list of NDArray

        Examples
        --------
        >>> mx.gluon.rnn.GRU(4, num_layers=2).begin_state(batch_size=3)[0].shape
        (2, 3, 4)
        """
        states = [
            func(name=f"{self.prefix}h0_{i}", **{**info, **kwargs})
            for i, info in enumerate(self.state_info(batch_size))
        ]
        return [s.as_np_ndarray() for s in states] if is_np_array() else states

    def __call__(self, inputs, states=None, sequence_length=None, **kwargs):
        self.skip_states = states is None
        if states is None:
            states = self._zeros(inputs)
        states = [states] if is_tensor(states) else states
        wanted = len(self.state_info())
        if len(states) != wanted:
            raise MXNetError(
                f"{type(self).__name__} has {wanted} state{'s'[: wanted - 1]}, got {len(states)}; "
                "begin_state(batch_size) makes what it needs"
            )
        extra = (sequence_length,) if self._use_sequence_length else ()
        return super().__call__(inputs, states, *extra, **kwargs)

    def _zeros(self, inputs):
        if isinstance(inputs, symbol.Symbol):
            return self.begin_state(0, func=symbol.zeros)
        batch_size = inputs.shape[self._layout.find("N")]
        return self.begin_state(batch_size, ctx=inputs.context, dtype=inputs.dtype)

    def hybrid_forward(self, F, inputs, states, sequence_length=None, **kwargs):
        """The outputs of all steps and, if states were given, the last states."""
        if F is ndarray:
            batch_size = inputs.shape[self._layout.find("N")]
            for state, info in zip(states, self.state_info(batch_size), strict=False):
                if state.shape != info["shape"]:
                    raise ValueError(f"Invalid recurrent state shape. Expecting {info['shape']}, got {state.shape}.")
        outputs, states = self._forward_kernel(F, inputs, states, sequence_length, **kwargs)
        return outputs if self.skip_states else (outputs, states)

    def _packed(self, F, parameters):
        """All parameters in the order of the fused operator: every weight, then every bias."""
        kinds = ("i2h_weight", "h2h_weight", "h2r_weight"), ("i2h_bias", "h2h_bias")
        names = [
            f"{side}{layer}_{kind}"
            for group in kinds
            for layer in range(self._num_layers)
            for side in ("l", "r")[: self._dir]
            for kind in group
        ]
        parts = [parameters[n].reshape(-1) for n in names if n in parameters]
        return F._internal._rnn_param_concat(*parts, dim=0)

    def _forward_kernel(self, F, inputs, states, sequence_length, **kwargs):
        if self._layout == "NTC":
            inputs = F.swapaxes(inputs, dim1=0, dim2=1)
        extra = [sequence_length] if self._use_sequence_length else []
        outputs, *states = F.RNN(
            inputs, self._packed(F, kwargs), *states, *extra,
            use_sequence_length=self._use_sequence_length, state_size=self._hidden_size,
            projection_size=self._projection_size, num_layers=self._num_layers, bidirectional=self._dir == 2,
            p=self._dropout, state_outputs=True, mode=self._mode, **self._clip,
        )  # fmt: skip
        if self._layout == "NTC":
            outputs = F.swapaxes(outputs, dim1=0, dim2=1)
        return outputs, states


class RNN(_RNNLayer):
    """Layers of Elman cells: h' = activation(W_ih x + b_ih + W_hh h + b_hh).

    Inputs: data in `layout` and optionally the first states. The result is the output, and the last states too if
    states were given. A state has shape (num_layers · directions, N, hidden_size).

    Parameters
    ----------
    hidden_size : int
        Number of hidden units.
    num_layers : int, default 1
        Number of layers.
    activation : {'relu', 'tanh'}, default 'relu'
        The activation function.
    layout : str, default 'TNC'
        The axes of the input: T time steps, N samples, C features. 'NTC' is the other choice.
    dropout : float, default 0
        Dropout between the layers, during training.
    bidirectional : bool, default False
        Whether each layer also reads the sequence backwards; the outputs are concatenated.
    input_size : int, default 0
        Number of input features; 0 means that the first batch decides.
    i2h_weight_initializer, h2h_weight_initializer : Initializer or str, optional
        How the weights of the input and of the hidden state are initialized.
    i2h_bias_initializer, h2h_bias_initializer : Initializer or str, default 'zeros'
        How the biases are initialized.
    dtype : str, default 'float32'
        The type of the parameters.

    Examples
    --------
    >>> layer = mx.gluon.rnn.RNN(8, num_layers=2)
    >>> layer.initialize()
    >>> layer(mx.nd.ones((5, 3, 10))).shape
    (5, 3, 8)
    """

    def __init__(
        self, hidden_size, num_layers=1, activation="relu", layout="TNC", dropout=0, bidirectional=False,
        i2h_weight_initializer=None, h2h_weight_initializer=None, i2h_bias_initializer="zeros",
        h2h_bias_initializer="zeros", input_size=0, dtype="float32", **kwargs,
    ):  # fmt: skip
        super().__init__(
            hidden_size, num_layers, layout, dropout, bidirectional, input_size, i2h_weight_initializer,
            h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer, f"rnn_{activation}", None, None, None,
            None, False, dtype, **kwargs,
        )  # fmt: skip

    def state_info(self, batch_size=0):
        """The hidden state."""
        return [self._state(batch_size, self._hidden_size)]


class LSTM(_RNNLayer):
    """Layers of long short-term memory: c' = f · c + i · g and h' = o · tanh(c').

    Inputs: data in `layout` and optionally the first states. The result is the output, and the last states too if
    states were given. A state has shape (num_layers · directions, N, hidden_size).
    There are two states, h and c.

    Parameters
    ----------
    hidden_size : int
        Number of hidden units.
    num_layers : int, default 1
        Number of layers.
    layout : str, default 'TNC'
        The axes of the input: T time steps, N samples, C features. 'NTC' is the other choice.
    dropout : float, default 0
        Dropout between the layers, during training.
    bidirectional : bool, default False
        Whether each layer also reads the sequence backwards; the outputs are concatenated.
    input_size : int, default 0
        Number of input features; 0 means that the first batch decides.
    i2h_weight_initializer, h2h_weight_initializer : Initializer or str, optional
        How the weights of the input and of the hidden state are initialized.
    i2h_bias_initializer, h2h_bias_initializer : Initializer or str, default 'zeros'
        How the biases are initialized.
    dtype : str, default 'float32'
        The type of the parameters.
    projection_size : int, optional
        Length that h is projected to in every step.
    h2r_weight_initializer : Initializer or str, optional
        How the weight of the projection is initialized.
    state_clip_min, state_clip_max : float, optional
        Limits of the cell state c.
    state_clip_nan : bool, default False
        Accepted for old programs and ignored: NaN in the cell state stays NaN.

    Examples
    --------
    >>> layer = mx.gluon.rnn.LSTM(8, num_layers=2, bidirectional=True)
    >>> layer.initialize()
    >>> output, (h, c) = layer(mx.nd.ones((5, 3, 10)), layer.begin_state(batch_size=3))
    >>> output.shape, h.shape
    ((5, 3, 16), (4, 3, 8))
    """

    def __init__(
        self, hidden_size, num_layers=1, layout="TNC", dropout=0, bidirectional=False, input_size=0,
        i2h_weight_initializer=None, h2h_weight_initializer=None, i2h_bias_initializer="zeros",
        h2h_bias_initializer="zeros", projection_size=None, h2r_weight_initializer=None, state_clip_min=None,
        state_clip_max=None, state_clip_nan=False, dtype="float32", **kwargs,
    ):  # fmt: skip
        super().__init__(
            hidden_size, num_layers, layout, dropout, bidirectional, input_size, i2h_weight_initializer,
            h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer, "lstm", projection_size,
            h2r_weight_initializer, state_clip_min, state_clip_max, state_clip_nan, dtype, **kwargs,
        )  # fmt: skip

    def state_info(self, batch_size=0):
        """The hidden state (projected, if it is) and the memory."""
        return [
            self._state(batch_size, self._projection_size or self._hidden_size),
            self._state(batch_size, self._hidden_size),
        ]


class GRU(_RNNLayer):
    """Layers of gated recurrent units: h' = (1 - z) · n + z · h with n = tanh(W x + b + r · (R h + c)).

    Inputs: data in `layout` and optionally the first states. The result is the output, and the last states too if
    states were given. A state has shape (num_layers · directions, N, hidden_size).

    Parameters
    ----------
    hidden_size : int
        Number of hidden units.
    num_layers : int, default 1
        Number of layers.
    layout : str, default 'TNC'
        The axes of the input: T time steps, N samples, C features. 'NTC' is the other choice.
    dropout : float, default 0
        Dropout between the layers, during training.
    bidirectional : bool, default False
        Whether each layer also reads the sequence backwards; the outputs are concatenated.
    input_size : int, default 0
        Number of input features; 0 means that the first batch decides.
    i2h_weight_initializer, h2h_weight_initializer : Initializer or str, optional
        How the weights of the input and of the hidden state are initialized.
    i2h_bias_initializer, h2h_bias_initializer : Initializer or str, default 'zeros'
        How the biases are initialized.
    dtype : str, default 'float32'
        The type of the parameters.

    Examples
    --------
    >>> layer = mx.gluon.rnn.GRU(8, layout="NTC")
    >>> layer.initialize()
    >>> layer(mx.nd.ones((3, 5, 10))).shape
    (3, 5, 8)
    """

    def __init__(
        self, hidden_size, num_layers=1, layout="TNC", dropout=0, bidirectional=False, input_size=0,
        i2h_weight_initializer=None, h2h_weight_initializer=None, i2h_bias_initializer="zeros",
        h2h_bias_initializer="zeros", dtype="float32", **kwargs,
    ):  # fmt: skip
        super().__init__(
            hidden_size, num_layers, layout, dropout, bidirectional, input_size, i2h_weight_initializer,
            h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer, "gru", None, None, None, None, False,
            dtype, **kwargs,
        )  # fmt: skip

    state_info = RNN.state_info


_COMMON = """
    Notes
    -----
    Input: an array of shape (time, batch, features), or (batch, time, features) with `layout="NTC"`. Output: an array
    of the same layout with `hidden_size` features, twice as many if `bidirectional`.

    Called with states as well, such as `begin_state(batch_size)` returns, the layer returns (output, new states);
    without them it starts from zeros and returns the output alone. `dropout` is applied between the layers, not after
    the last one. If `input_size` is 0, the first batch determines it.

"""
for _layer in (RNN, LSTM, GRU):
    if _layer.__doc__:  # `python -OO` has none
        _layer.__doc__ = _layer.__doc__.replace("\n    Examples\n", f"{_COMMON}    Examples\n", 1)
