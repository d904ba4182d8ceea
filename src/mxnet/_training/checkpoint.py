"""Checkpoints: `prefix-symbol.json` and `prefix-0001.params`."""

import logging
from collections import namedtuple

from .. import ndarray as nd
from .. import symbol as sym
from .._formats import manifest
from ..context import cpu
from ..ndarray.utils import load_named

BatchEndParam = namedtuple("BatchEndParams", ["epoch", "nbatch", "eval_metric", "locals"])
BatchEndParam.__module__ = "mxnet.model"


def params_file(prefix, epoch):
    """Where a checkpoint keeps parameters."""
    return f"{prefix}-{epoch:04d}.params"


def symbol_file(prefix):
    """Where a checkpoint keeps its symbol, which all epochs share."""
    return f"{prefix}-symbol.json"


def states_file(prefix, epoch):
    """Where a checkpoint keeps the optimizer's states."""
    return f"{prefix}-{epoch:04d}.states"


def save_param_dicts(fname, arg_params, aux_params):
    """Write both kinds of parameters to one file, as `arg:name` and `aux:name`."""
    arrays = {f"arg:{k}": v.as_in_context(cpu()) for k, v in arg_params.items()}
    arrays.update({f"aux:{k}": v.as_in_context(cpu()) for k, v in aux_params.items()})
    nd.save(fname, arrays)


def split_param_dict(arrays, unknown=None):
    """(arguments, auxiliary states) out of `arg:`/`aux:` names; `unknown(name)` hears of others."""
    kinds = {"arg": {}, "aux": {}}
    for key, value in arrays.items():
        kind, _, name = key.partition(":")
        if kind in kinds:
            kinds[kind][name] = value
        elif unknown is not None:
            unknown(key)
    return kinds["arg"], kinds["aux"]


def save_checkpoint(prefix, epoch, symbol, arg_params, aux_params, remove_amp_cast=True):
    """Write the symbol and the parameters of an epoch to `prefix-symbol.json` and `prefix-0000.params`.

    Parameters
    ----------
    prefix : str
        The beginning of the files' names.
    epoch : int
        The number of the epoch.
    symbol : Symbol
        The network; None writes the parameters only.
    arg_params : dict of str to NDArray
        The parameters.
    aux_params : dict of str to NDArray
        The auxiliary states.
    remove_amp_cast : bool, default True
        Whether casts that mixed precision added are left out.

    Examples
    --------
    >>> net = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc")
    >>> mx.model.save_checkpoint("net", 1, net, {"fc_weight": mx.nd.ones((2, 3)), "fc_bias": mx.nd.zeros((2,))}, {})
    >>> sorted(mx.model.load_checkpoint("net", 1)[1])
    ['fc_bias', 'fc_weight']
    """
    fname = params_file(prefix, epoch)
    with one_checkpoint(prefix, epoch):
        if symbol is not None:
            symbol.save(symbol_file(prefix), remove_amp_cast=remove_amp_cast)
        save_param_dicts(fname, arg_params, aux_params)
    logging.info('Saved checkpoint to "%s"', fname)


def one_checkpoint(prefix, epoch):
    """A block: the files written inside become visible at once, as one checkpoint with a manifest."""
    return manifest.together(manifest.epoch_stem(prefix, epoch))


def latest_checkpoint(prefix):
    """The newest epoch that was saved completely, or None: where to go on after a crash.

    Parameters
    ----------
    prefix : str
        The beginning of the files' names.

    Returns
    -------
    int or None

    Examples
    --------
    >>> mx.model.save_checkpoint("net", 3, None, {"x": mx.nd.ones((2,))}, {})
    >>> mx.model.latest_checkpoint("net")
    3
    """
    return manifest.latest(prefix)


def load_params(prefix, epoch):
    """The parameters of an epoch, compared with its manifest if it has one.

    Parameters
    ----------
    prefix : str
        The beginning of the files' names.
    epoch : int
        The number of the epoch.

    Returns
    -------
    (dict, dict)
        The parameters and the auxiliary states.

    Examples
    --------
    >>> mx.model.save_checkpoint("net", 1, None, {"x": mx.nd.ones((2,))}, {})
    >>> mx.model.load_params("net", 1)[0]["x"].asnumpy()
    array([1., 1.], dtype=float32)
    """
    manifest.verify(manifest.epoch_stem(prefix, epoch))
    fname = params_file(prefix, epoch)
    arrays = load_named(fname)
    if not arrays:
        logging.warning("Params file '%s' is empty", fname)
        return {}, {}
    return split_param_dict(arrays)


def load_checkpoint(prefix, epoch):
    """The symbol and the parameters of an epoch.

    Parameters
    ----------
    prefix : str
        The beginning of the files' names.
    epoch : int
        The number of the epoch.

    Returns
    -------
    (Symbol, dict, dict)
        The network, its parameters and its auxiliary states.

    Examples
    --------
    >>> mx.model.save_checkpoint("net", 1, mx.sym.var("x"), {"x": mx.nd.ones((2,))}, {})
    >>> symbol, arg_params, aux_params = mx.model.load_checkpoint("net", 1)
    >>> symbol.name, arg_params["x"].asnumpy()
    ('x', array([1., 1.], dtype=float32))
    """
    arguments, auxiliary = load_params(prefix, epoch)  # first: it finishes a set that was not placed to its end
    return sym.load(symbol_file(prefix)), arguments, auxiliary
