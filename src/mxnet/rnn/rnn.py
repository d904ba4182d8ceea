"""Checkpoints of symbolic recurrent networks: weights are saved by gate, whatever the cell packs."""

import warnings

from ..model import load_checkpoint, save_checkpoint
from .rnn_cell import BaseRNNCell

__all__ = ["do_rnn_checkpoint", "load_rnn_checkpoint", "rnn_unroll", "save_rnn_checkpoint"]


def rnn_unroll(cell, length, inputs=None, begin_state=None, input_prefix="", layout="NTC"):
    """The old way to call `cell.unroll`.

    Parameters
    ----------
    cell : BaseRNNCell
        The cell.
    length : int
        The number of steps.
    inputs : Symbol or list of Symbols, optional
        The inputs.
    begin_state : list of Symbols, optional
        The states before the first step.
    input_prefix : str, default ''
        Accepted for old programs.
    layout : str, default 'NTC'
        The order of the axes.

    Returns
    -------
    (list of Symbols, list of Symbols)

    Examples
    --------
    >>> outputs, states = mx.rnn.rnn_unroll(mx.rnn.RNNCell(4), 3, mx.sym.var("data"))
    >>> len(outputs)
    3
    """
    warnings.warn("rnn_unroll is deprecated. Please call cell.unroll directly.", stacklevel=2)
    return cell.unroll(length=length, inputs=inputs, begin_state=begin_state, layout=layout)


def _listed(cells):
    return [cells] if isinstance(cells, BaseRNNCell) else cells


def save_rnn_checkpoint(cells, prefix, epoch, symbol, arg_params, aux_params):
    """Save a checkpoint with the cells' weights cut by gate.

    Parameters
    ----------
    cells : cell or list of cells
        The cells of the network.
    prefix : str
        The beginning of the files' names.
    epoch : int
        The number of the epoch.
    symbol : Symbol
        The network.
    arg_params : dict of str to NDArray
        The parameters.
    aux_params : dict of str to NDArray
        The auxiliary states.

    Examples
    --------
    >>> cell = mx.rnn.RNNCell(4, prefix="rnn_")
    >>> net = cell.unroll(2, mx.sym.var("data"))[0][-1]
    >>> shapes = {"i2h_weight": (4, 5), "i2h_bias": (4,), "h2h_weight": (4, 4), "h2h_bias": (4,)}
    >>> parameters = {f"rnn_{name}": mx.nd.ones(shape) for name, shape in shapes.items()}
    >>> mx.rnn.save_rnn_checkpoint(cell, "net", 1, net, parameters, {})
    """
    for cell in _listed(cells):
        arg_params = cell.unpack_weights(arg_params)
    save_checkpoint(prefix, epoch, symbol, arg_params, aux_params)


def load_rnn_checkpoint(cells, prefix, epoch):
    """Load a checkpoint, packing weights as the cells want them.

    Parameters
    ----------
    cells : cell or list of cells
        The cells of the network.
    prefix : str
        The beginning of the files' names.
    epoch : int
        The number of the epoch.

    Returns
    -------
    (Symbol, dict, dict)

    Examples
    --------
    >>> cell = mx.rnn.RNNCell(4, prefix="rnn_")
    >>> net = cell.unroll(2, mx.sym.var("data"))[0][-1]
    >>> shapes = {"i2h_weight": (4, 5), "i2h_bias": (4,), "h2h_weight": (4, 4), "h2h_bias": (4,)}
    >>> parameters = {f"rnn_{name}": mx.nd.ones(shape) for name, shape in shapes.items()}
    >>> mx.rnn.save_rnn_checkpoint(cell, "net", 1, net, parameters, {})
    >>> symbol, arg_params, aux_params = mx.rnn.load_rnn_checkpoint(cell, "net", 1)
    >>> sorted(arg_params)
    ['rnn_h2h_bias', 'rnn_h2h_weight', 'rnn_i2h_bias', 'rnn_i2h_weight']
    """
    sym, arg, aux = load_checkpoint(prefix, epoch)
    for cell in _listed(cells):
        arg = cell.pack_weights(arg)
    return sym, arg, aux


def do_rnn_checkpoint(cells, prefix, period=1):
    """A callback for `fit` that saves checkpoints with the cells' weights cut by gate.

    Parameters
    ----------
    cells : cell or list of cells
        The cells of the network.
    prefix : str
        The beginning of the files' names.
    period : int, default 1
        The number of epochs between two checkpoints.

    Returns
    -------
    callable

    Examples
    --------
    >>> callback = mx.rnn.do_rnn_checkpoint(mx.rnn.RNNCell(4), "net", period=2)
    """
    every = max(1, int(period))

    def callback(iter_no, sym=None, arg=None, aux=None):
        epoch = iter_no + 1
        if not epoch % every:
            save_rnn_checkpoint(cells, prefix, epoch, sym, arg, aux)

    return callback
