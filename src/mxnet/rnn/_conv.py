"""Symbolic recurrent cells whose linear maps are two-dimensional convolutions."""

import functools

from .. import symbol
from ._cells import BaseRNNCell, gru_step, lstm_step

_LEAKY = functools.partial(symbol.LeakyReLU, act_type="leaky", slope=0.2)


class BaseConvRNNCell(BaseRNNCell):
    """The base of cells that convolve the input and the state.

    Parameters
    ----------
    input_shape : tuple of int
        The shape of the input with the batch axis.
    num_hidden : int
        The size of the state.
    h2h_kernel : tuple of two ints
        The size of the window over the state, odd.
    h2h_dilate : tuple of two ints
        The distance of two elements of that window.
    i2h_kernel : tuple of two ints
        The size of the window over the input.
    i2h_stride : tuple of two ints
        The distance of two windows over the input.
    i2h_pad : tuple of two ints
        The number of zeros around the input.
    i2h_dilate : tuple of two ints
        The distance of two elements of the window over the input.
    i2h_weight_initializer : Initializer
        How the input's weight is initialized.
    h2h_weight_initializer : Initializer
        How the recurrent weight is initialized.
    i2h_bias_initializer : str or Initializer
        How the input's bias is initialized.
    h2h_bias_initializer : str or Initializer
        How the recurrent bias is initialized.
    activation : str or callable
        The activation.
    prefix : str, default ''
        The prefix of the names of the cell's variables.
    params : RNNParams, optional
        Variables to share.
    conv_layout : str, default 'NCHW'
        The order of the axes.

    Examples
    --------
    >>> issubclass(mx.rnn.ConvLSTMCell, mx.rnn.BaseConvRNNCell)
    True
    """

    _states = 2

    def __init__(
        self, input_shape, num_hidden, h2h_kernel, h2h_dilate, i2h_kernel, i2h_stride, i2h_pad, i2h_dilate,
        i2h_weight_initializer, h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer, activation,
        prefix="", params=None, conv_layout="NCHW",
    ):  # fmt: skip
        super().__init__(prefix=prefix, params=params)
        assert all(k % 2 == 1 for k in h2h_kernel), f"Only support odd number, get h2h_kernel= {h2h_kernel}"
        self._num_hidden, self._input_shape = num_hidden, input_shape
        self._conv_layout, self._activation = conv_layout, activation
        self._i2h = {"kernel": i2h_kernel, "stride": i2h_stride, "pad": i2h_pad, "dilate": i2h_dilate}
        pad = tuple(d * (k - 1) // 2 for d, k in zip(h2h_dilate, h2h_kernel, strict=True))
        self._h2h = {"kernel": h2h_kernel, "stride": (1, 1), "pad": pad, "dilate": h2h_dilate}
        probe = symbol.Convolution(data=symbol.Variable("data"), num_filter=num_hidden, layout=conv_layout, **self._i2h)
        self._state_shape = (0, *probe.infer_shape(data=input_shape)[1][0][1:])
        initializers = {
            "i2h_weight": i2h_weight_initializer,
            "h2h_weight": h2h_weight_initializer,
            "i2h_bias": i2h_bias_initializer,
            "h2h_bias": h2h_bias_initializer,
        }
        variables = [self.params.get(name, init=init) for name, init in initializers.items()]
        self._iW, self._hW, self._iB, self._hB = variables

    @property
    def _num_gates(self):
        return len(self._gate_names)

    @property
    def state_info(self):
        return [{"shape": self._state_shape, "__layout__": self._conv_layout} for _ in range(self._states)]

    def _conv_forward(self, inputs, states, name):
        shared = {"num_filter": self._num_hidden * self._num_gates, "layout": self._conv_layout}
        i2h = symbol.Convolution(name=f"{name}i2h", data=inputs, weight=self._iW, bias=self._iB, **self._i2h, **shared)
        h2h = symbol.Convolution(
            name=f"{name}h2h", data=states[0], weight=self._hW, bias=self._hB, **self._h2h, **shared
        )
        return i2h, h2h

    def _activate(self, x, **kwargs):
        return self._get_activation(x, self._activation, **kwargs)

    def __call__(self, inputs, states):
        raise NotImplementedError("BaseConvRNNCell is abstract class for convolutional RNN")


_INIT = """
def __init__(
    self, input_shape, num_hidden, h2h_kernel=(3, 3), h2h_dilate=(1, 1), i2h_kernel=(3, 3), i2h_stride=(1, 1),
    i2h_pad=(1, 1), i2h_dilate=(1, 1), i2h_weight_initializer=None, h2h_weight_initializer=None,
    i2h_bias_initializer="zeros", h2h_bias_initializer="zeros", activation=leaky, prefix="{prefix}", params=None,
    conv_layout="NCHW",
):
    base.__init__(
        self, input_shape, num_hidden, h2h_kernel, h2h_dilate, i2h_kernel, i2h_stride, i2h_pad, i2h_dilate,
        i2h_weight_initializer, h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer, activation,
        prefix, params, conv_layout,
    )
"""


def _with_prefix(prefix):
    """A constructor with that default prefix; the three cells differ in it only."""

    def decorate(cls):
        scope = {"base": BaseConvRNNCell, "leaky": _LEAKY}
        exec(_INIT.format(prefix=prefix), scope)
        cls.__init__ = scope["__init__"]
        return cls

    return decorate


@_with_prefix("ConvRNN_")
class ConvRNNCell(BaseConvRNNCell):
    """A plain recurrent cell on images: h' = act(W * x + b + R * h + c).

    Parameters
    ----------
    input_shape : tuple of int
        The shape of the input with the batch axis.
    num_hidden : int
        The size of the state.
    h2h_kernel : tuple of two ints
        The size of the window over the state, odd.
    h2h_dilate : tuple of two ints
        The distance of two elements of that window.
    i2h_kernel : tuple of two ints
        The size of the window over the input.
    i2h_stride : tuple of two ints
        The distance of two windows over the input.
    i2h_pad : tuple of two ints
        The number of zeros around the input.
    i2h_dilate : tuple of two ints
        The distance of two elements of the window over the input.
    i2h_weight_initializer : Initializer
        How the input's weight is initialized.
    h2h_weight_initializer : Initializer
        How the recurrent weight is initialized.
    i2h_bias_initializer : str or Initializer
        How the input's bias is initialized.
    h2h_bias_initializer : str or Initializer
        How the recurrent bias is initialized.
    activation : str or callable
        The activation.
    prefix : str
        The prefix of the names of the cell's variables.
    params : RNNParams
        Variables to share.
    conv_layout : str
        The order of the axes.

    Examples
    --------
    >>> cell = mx.rnn.ConvRNNCell((1, 3, 8, 8), 4)
    >>> output, states = cell(mx.sym.var("data"), cell.begin_state())
    >>> len(states)
    1
    """

    _gate_names = ("",)
    _states = 1

    def __call__(self, inputs, states):
        name = self._step_name()
        i2h, h2h = self._conv_forward(inputs, states, name)
        output = self._activate(i2h + h2h, name=f"{name}out")
        return output, [output]


@_with_prefix("ConvLSTM_")
class ConvLSTMCell(BaseConvRNNCell):
    """A long short-term memory cell on images.

    Parameters
    ----------
    input_shape : tuple of int
        The shape of the input with the batch axis.
    num_hidden : int
        The size of the state.
    h2h_kernel : tuple of two ints
        The size of the window over the state, odd.
    h2h_dilate : tuple of two ints
        The distance of two elements of that window.
    i2h_kernel : tuple of two ints
        The size of the window over the input.
    i2h_stride : tuple of two ints
        The distance of two windows over the input.
    i2h_pad : tuple of two ints
        The number of zeros around the input.
    i2h_dilate : tuple of two ints
        The distance of two elements of the window over the input.
    i2h_weight_initializer : Initializer
        How the input's weight is initialized.
    h2h_weight_initializer : Initializer
        How the recurrent weight is initialized.
    i2h_bias_initializer : str or Initializer
        How the input's bias is initialized.
    h2h_bias_initializer : str or Initializer
        How the recurrent bias is initialized.
    activation : str or callable
        The activation.
    prefix : str
        The prefix of the names of the cell's variables.
    params : RNNParams
        Variables to share.
    conv_layout : str
        The order of the axes.

    Examples
    --------
    >>> cell = mx.rnn.ConvLSTMCell((1, 3, 8, 8), 4)
    >>> output, states = cell(mx.sym.var("data"), cell.begin_state())
    >>> len(states)
    2
    """

    _gate_names = ("_i", "_f", "_c", "_o")

    def __call__(self, inputs, states):
        name = self._step_name()
        maps = self._conv_forward(inputs, states, name)
        output, memory = lstm_step(*maps, states[1], name, self._activate, axis=self._conv_layout.find("C"))
        return output, [output, memory]


@_with_prefix("ConvGRU_")
class ConvGRUCell(BaseConvRNNCell):
    """A gated recurrent unit on images.

    Parameters
    ----------
    input_shape : tuple of int
        The shape of the input with the batch axis.
    num_hidden : int
        The size of the state.
    h2h_kernel : tuple of two ints
        The size of the window over the state, odd.
    h2h_dilate : tuple of two ints
        The distance of two elements of that window.
    i2h_kernel : tuple of two ints
        The size of the window over the input.
    i2h_stride : tuple of two ints
        The distance of two windows over the input.
    i2h_pad : tuple of two ints
        The number of zeros around the input.
    i2h_dilate : tuple of two ints
        The distance of two elements of the window over the input.
    i2h_weight_initializer : Initializer
        How the input's weight is initialized.
    h2h_weight_initializer : Initializer
        How the recurrent weight is initialized.
    i2h_bias_initializer : str or Initializer
        How the input's bias is initialized.
    h2h_bias_initializer : str or Initializer
        How the recurrent bias is initialized.
    activation : str or callable
        The activation.
    prefix : str
        The prefix of the names of the cell's variables.
    params : RNNParams
        Variables to share.
    conv_layout : str
        The order of the axes.

    Examples
    --------
    >>> cell = mx.rnn.ConvGRUCell((1, 3, 8, 8), 4)
    >>> output, states = cell(mx.sym.var("data"), cell.begin_state())
    >>> len(states)
    1
    """

    _gate_names = ("_r", "_z", "_o")
    _states = 1

    def __call__(self, inputs, states):
        name = self._step_name()
        output = gru_step(*self._conv_forward(inputs, states, name), states[0], name, self._activate)
        return output, [output]
