"""Recurrent cells whose linear maps are convolutions, in one, two and three dimensions."""

from ....base import numeric_types
from ...rnn import HybridRecurrentCell

__all__ = [
    "Conv1DRNNCell", "Conv2DRNNCell", "Conv3DRNNCell", "Conv1DLSTMCell", "Conv2DLSTMCell", "Conv3DLSTMCell",
    "Conv1DGRUCell", "Conv2DGRUCell", "Conv3DGRUCell",
]  # fmt: skip


class _BaseConvRNNCell(HybridRecurrentCell):
    """Convolves the input and the state; the state keeps the size of the input's convolution."""

    _gate_names = ("",)
    _states = 1

    def __init__(
        self, input_shape, hidden_channels, i2h_kernel, h2h_kernel, i2h_pad, i2h_dilate, h2h_dilate,
        i2h_weight_initializer, h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer, dims, conv_layout,
        activation, prefix=None, params=None,
    ):  # fmt: skip
        super().__init__(prefix=prefix, params=params)
        self._hidden_channels, self._input_shape = hidden_channels, input_shape
        self._conv_layout, self._activation = conv_layout, activation
        self._channel_axis = conv_layout.find("C")

        def spread(setting):
            value = (setting,) * dims if isinstance(setting, numeric_types) else tuple(setting)
            assert len(value) == dims, f"a {dims}D convolution takes one number or {dims} of them, got {setting}"
            return value

        self._i2h_kernel, self._i2h_pad, self._i2h_dilate = spread(i2h_kernel), spread(i2h_pad), spread(i2h_dilate)
        self._h2h_kernel, self._h2h_dilate = spread(h2h_kernel), spread(h2h_dilate)
        assert all(k % 2 == 1 for k in self._h2h_kernel), f"Only support odd number, get h2h_kernel= {h2h_kernel}"
        self._h2h_pad = tuple(d * (k - 1) // 2 for d, k in zip(self._h2h_dilate, self._h2h_kernel, strict=True))
        self._stride = (1,) * dims
        self._make_parameters(
            i2h_weight_initializer, h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer
        )

    def _make_parameters(self, i2h_weight, h2h_weight, i2h_bias, h2h_bias):
        hidden, rows = self._hidden_channels, self._hidden_channels * len(self._gate_names)
        first = self._channel_axis == 1
        self._in_channels = self._input_shape[self._channel_axis - 1]
        sizes = self._input_shape[1:] if first else self._input_shape[:-1]
        settings = zip(sizes, self._i2h_kernel, self._i2h_pad, self._i2h_dilate, strict=True)
        out = tuple(x + 2 * p - d * (k - 1) if x else 0 for x, k, p, d in settings)
        self._state_shape = (hidden, *out) if first else (*out, hidden)

        def weight(channels, kernel):
            return (rows, channels, *kernel) if first else (rows, *kernel, channels)

        plan = {
            "i2h_weight": (weight(self._in_channels, self._i2h_kernel), i2h_weight),
            "h2h_weight": (weight(hidden, self._h2h_kernel), h2h_weight),
            "i2h_bias": ((rows,), i2h_bias),
            "h2h_bias": ((rows,), h2h_bias),
        }
        for name, (shape, init) in plan.items():
            setattr(self, name, self.params.get(name, shape=shape, init=init, allow_deferred_init=True))

    def __repr__(self):
        shape = self.i2h_weight.shape
        channels = shape[1 if self._channel_axis == 1 else -1]
        return f"{type(self).__name__}({channels or None} -> {shape[0]}, {self._activation}, {self._conv_layout})"

    def state_info(self, batch_size=0):
        shape = (batch_size, *self._state_shape)
        return [{"shape": shape, "__layout__": self._conv_layout} for _ in range(self._states)]

    def _conv_forward(self, F, inputs, states, i2h_weight, h2h_weight, i2h_bias, h2h_bias, prefix):
        shared = {
            "num_filter": self._hidden_channels * len(self._gate_names),
            "stride": self._stride,
            "layout": self._conv_layout,
        }
        i2h = F.Convolution(
            data=inputs, weight=i2h_weight, bias=i2h_bias, kernel=self._i2h_kernel, pad=self._i2h_pad,
            dilate=self._i2h_dilate, name=f"{prefix}i2h", **shared,
        )  # fmt: skip
        h2h = F.Convolution(
            data=states[0], weight=h2h_weight, bias=h2h_bias, kernel=self._h2h_kernel, pad=self._h2h_pad,
            dilate=self._h2h_dilate, name=f"{prefix}h2h", **shared,
        )  # fmt: skip
        return i2h, h2h


class _ConvRNNCell(_BaseConvRNNCell):
    def _alias(self):
        return "conv_rnn"

    def hybrid_forward(self, F, inputs, states, i2h_weight, h2h_weight, i2h_bias, h2h_bias):
        """One step."""
        p = f"t{self._counter}_"
        i2h, h2h = self._conv_forward(F, inputs, states, i2h_weight, h2h_weight, i2h_bias, h2h_bias, p)
        output = self._get_activation(F, i2h + h2h, self._activation, name=f"{p}out")
        return output, [output]


class _ConvLSTMCell(_BaseConvRNNCell):
    _gate_names = ("_i", "_f", "_c", "_o")
    _states = 2

    def _alias(self):
        return "conv_lstm"

    def hybrid_forward(self, F, inputs, states, i2h_weight, h2h_weight, i2h_bias, h2h_bias):
        """One step."""
        p = f"t{self._counter}_"
        i2h, h2h = self._conv_forward(F, inputs, states, i2h_weight, h2h_weight, i2h_bias, h2h_bias, p)
        i, f, g, o = F.SliceChannel(i2h + h2h, num_outputs=4, name=f"{p}slice", axis=self._channel_axis)
        i, f, o = (F.Activation(x, act_type="sigmoid", name=p + n) for x, n in ((i, "i"), (f, "f"), (o, "o")))
        g = self._get_activation(F, g, self._activation, name=f"{p}c")
        memory = F.elemwise_add(f * states[1], i * g, name=f"{p}state")
        output = F.elemwise_mul(o, self._get_activation(F, memory, self._activation), name=f"{p}out")
        return output, [output, memory]


class _ConvGRUCell(_BaseConvRNNCell):
    _gate_names = ("_r", "_z", "_o")

    def _alias(self):
        return "conv_gru"

    def hybrid_forward(self, F, inputs, states, i2h_weight, h2h_weight, i2h_bias, h2h_bias):
        """One step."""
        p = f"t{self._counter}_"
        i2h, h2h = self._conv_forward(F, inputs, states, i2h_weight, h2h_weight, i2h_bias, h2h_bias, p)
        i2h_r, i2h_z, i2h_n = F.SliceChannel(i2h, num_outputs=3, name=f"{p}i2h_slice", axis=self._channel_axis)
        h2h_r, h2h_z, h2h_n = F.SliceChannel(h2h, num_outputs=3, name=f"{p}h2h_slice", axis=self._channel_axis)
        r = F.Activation(i2h_r + h2h_r, act_type="sigmoid", name=f"{p}r_act")
        z = F.Activation(i2h_z + h2h_z, act_type="sigmoid", name=f"{p}z_act")
        n = self._get_activation(F, i2h_n + r * h2h_n, self._activation, name=f"{p}h_act")
        output = F.elemwise_add((1.0 - z) * n, z * states[0], name=f"{p}out")
        return output, [output]


_CELL = '''
class {name}(base):
    """{title} cell whose products are convolutions over {dims} axes.

    Parameters
    ----------
    input_shape : tuple of int
        Shape of the input without the batch axis: channels, then sizes.
    hidden_channels : int
        Number of channels of the state.
    i2h_kernel, h2h_kernel : int or tuple of int
        Sizes of the windows over the input and over the state; that of the state must be odd.
    i2h_pad : int or tuple of int
        Number of zeros around the input; the state is padded so that it keeps its size.
    i2h_dilate, h2h_dilate : int or tuple of int
        Distance of two elements of a window.
    i2h_weight_initializer, h2h_weight_initializer : Initializer, optional
        How the weights are initialized.
    i2h_bias_initializer, h2h_bias_initializer : str or Initializer, default 'zeros'
        How the biases are initialized.
    conv_layout : str, default '{layout}'
        Order of the axes.
    activation : str, default 'tanh'
        Activation of the output.
    prefix : str, optional
        Prefix of the cell's name and parameters.
    params : ParameterDict, optional
        Parameters to share.

    Examples
    --------
    >>> cell = mx.gluon.contrib.rnn.{name}((3, {sizes}), 4, i2h_kernel=3, h2h_kernel=3, i2h_pad=1)
    >>> cell.initialize()
    >>> output, states = cell(mx.nd.ones((2, 3, {sizes})), cell.begin_state(2))
    >>> output.shape
    (2, 4, {sizes})
    """

    def __init__(
        self, input_shape, hidden_channels, i2h_kernel, h2h_kernel, i2h_pad={zeros}, i2h_dilate={ones},
        h2h_dilate={ones}, i2h_weight_initializer=None, h2h_weight_initializer=None, i2h_bias_initializer="zeros",
        h2h_bias_initializer="zeros", conv_layout="{layout}", activation="tanh", prefix=None, params=None,
    ):
        base.__init__(
            self, input_shape, hidden_channels, i2h_kernel, h2h_kernel, i2h_pad, i2h_dilate, h2h_dilate,
            i2h_weight_initializer, h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer, {dims},
            conv_layout, activation, prefix, params,
        )
'''


def _make(kind, base, title, dims):
    """The class for one number of dimensions; the three differ in their defaults only."""
    name, layout = f"Conv{dims}D{kind}Cell", ("NCW", "NCHW", "NCDHW")[dims - 1]
    scope = {"base": base, "__name__": __name__}
    text = _CELL.format(
        name=name,
        title=title,
        dims=dims,
        layout=layout,
        zeros=(0,) * dims,
        ones=(1,) * dims,
        sizes=", ".join("5" * dims),
    )
    exec(compile(text, f"<{name}>", "exec"), scope)
    return scope[name]


Conv1DRNNCell, Conv2DRNNCell, Conv3DRNNCell = (_make("RNN", _ConvRNNCell, "Elman", d) for d in (1, 2, 3))
Conv1DLSTMCell, Conv2DLSTMCell, Conv3DLSTMCell = (_make("LSTM", _ConvLSTMCell, "LSTM", d) for d in (1, 2, 3))
Conv1DGRUCell, Conv2DGRUCell, Conv3DGRUCell = (_make("GRU", _ConvGRUCell, "GRU", d) for d in (1, 2, 3))
