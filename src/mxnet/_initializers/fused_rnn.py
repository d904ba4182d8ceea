"""The initializer of a fused RNN's one parameter vector."""

from .base import InitDesc, Initializer, create, register


@register
class FusedRNN(Initializer):
    """Fills the one parameter vector of a fused RNN, weight by weight and bias by bias.

    Parameters
    ----------
    init : Initializer, str or None
        Initializer of the parts; None for the initializer of the whole network.
    num_hidden, num_layers : int
        Size and number of layers, as given to `mx.rnn.FusedRNNCell`.
    mode : {"lstm", "gru", "rnn_relu", "rnn_tanh"}
        Kind of the cell.
    bidirectional : bool
        Whether the layers run in both directions.
    forget_bias : float
        Value for the bias of the forget gates of an LSTM.

    Examples
    --------
    >>> cell = mx.rnn.FusedRNNCell(2, mode="lstm", prefix="lstm_")
    >>> vector = mx.nd.zeros((8 * 3 + 8 * 2 + 16,))
    >>> init = mx.init.FusedRNN(mx.init.Zero(), 2, 1, "lstm", forget_bias=1.0)
    >>> init(mx.init.InitDesc("lstm_parameters", {"__init__": init.dumps()}), vector)
    >>> float(vector.sum().asscalar())
    4.0
    """

    def __init__(self, init, num_hidden, num_layers, mode, bidirectional=False, forget_bias=1.0):
        if isinstance(init, str):
            init = create(init)
        super().__init__(
            init=None if init is None else init.dumps(),
            num_hidden=num_hidden,
            num_layers=num_layers,
            mode=mode,
            bidirectional=bidirectional,
            forget_bias=forget_bias,
        )
        self._init, self._cell = init, (num_hidden, num_layers, mode, bidirectional)
        self._forget_bias = forget_bias if mode == "lstm" else None

    def _init_weight(self, desc, arr):
        from ..rnn import rnn_cell

        cell = rnn_cell.FusedRNNCell(*self._cell, prefix="")
        parts = cell.unpack_weights({"parameters": arr})
        for name, part in parts.items():
            if self._forget_bias is not None and name.endswith("_f_bias"):
                part[:] = self._forget_bias
            else:
                (self._init or desc.global_init)(InitDesc(name, global_init=desc.global_init), part)
        arr[:] = cell.pack_weights(parts)["parameters"]
