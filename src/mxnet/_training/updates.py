"""How gradients reach weights: which key-value store, and who updates, the store or an updater here."""

import numpy as np

from .. import kvstore as kvs
from .._core.environment import is_on

LARGE = 16 * 1024 * 1024  # elements; larger arrays are not worth updating in one place


def create_sparse_kvstore(kvstore):
    """The store for row-sparse parameters, which must be updated in it; and True."""
    if isinstance(kvstore, str):
        kv = kvs.create(kvstore)
    elif isinstance(kvstore, kvs.KVStore):
        kv = kvstore
    else:
        raise TypeError(
            f"Cannot create '{kvstore}' KVStore with row_sparse parameters. The type must be KVStore or str."
        )
    assert kv.is_capable(kvs.KVStoreBase.OPTIMIZER), (
        f"KVStore with sparse weight requires optimizer support. However, {type(kv)} does not support optimizer. "
        "Please consider other kvstore backends (e.g. dist_device) instead."
    )
    return kv, True


def create_kvstore(kvstore, num_device, arg_params):
    """(the store or None, whether it updates the weights); one device needs none."""
    update_on_kvstore = is_on("MXNET_UPDATE_ON_KVSTORE", default=True)
    if kvstore is None or isinstance(kvstore, kvs.KVStoreBase):
        kv = kvstore
    elif isinstance(kvstore, str):
        kv = None if num_device == 1 and "dist" not in kvstore else kvs.create(kvstore)
        if kvstore == "local" and kv is not None and max(np.prod(p.shape) for p in arg_params.values()) > LARGE:
            update_on_kvstore = False
    else:
        raise TypeError(f"kvstore must be KVStore, str or None, got {type(kvstore)}")
    if kv is None:
        return None, False
    return kv, update_on_kvstore and kv.is_capable(kvs.KVStoreBase.OPTIMIZER)


def initialize_kvstore(kvstore, param_arrays, arg_params, param_names, update_on_kvstore):
    """Give the store its first values, and the devices theirs."""
    for name, arrays in zip(param_names, param_arrays, strict=False):
        if update_on_kvstore and arg_params[name].stype == "default":
            kvstore.broadcast(name, arg_params[name], out=arrays)
        else:
            kvstore.init(name, arg_params[name])


def _exchange(kvstore, names, grads, outs):
    """Push gradients and pull into `outs`; MXNet's own stores take all dense ones in one call."""
    dense = [i for i, g in enumerate(grads) if g[0].stype == "default" and outs[i][0].stype == "default"]
    if isinstance(kvstore, kvs.KVStore) and dense:
        chosen = ([part[i] for i in dense] for part in (names, grads, outs))
        kvstore.pushpull(*chosen)
    for i, name in enumerate(names):
        if grads[i][0].stype != "default" or outs[i][0].stype != "default":
            kvstore.push(name, grads[i], priority=-i)
            kvstore.pull(name, out=outs[i], priority=-i)
        elif not isinstance(kvstore, kvs.KVStore):
            kvstore.pushpull(name, grads[i], out=outs[i], priority=-i)


def _with_gradients(param_arrays, grad_arrays, param_names):
    """(index, name, weights, gradients) of the parameters that learn."""
    names = param_names or [None] * len(param_arrays)
    found = zip(range(len(names)), names, param_arrays, grad_arrays, strict=False)
    return [item for item in found if item[3][0] is not None]


def update_params_on_kvstore(param_arrays, grad_arrays, kvstore, param_names):
    """Push gradients, pull weights that the store has updated."""
    found = _with_gradients(param_arrays, grad_arrays, param_names)
    if found:
        _, names, weights, grads = zip(*found, strict=True)
        _exchange(kvstore, names, grads, weights)


def update_params(param_arrays, grad_arrays, updater, num_device, kvstore=None, param_names=None):
    """Sum gradients over devices through the store, if there is one; then update each device's weights."""
    found = _with_gradients(param_arrays, grad_arrays, param_names)
    if kvstore and found:
        _, names, _, grads = zip(*found, strict=True)
        _exchange(kvstore, names, grads, grads)
    for device in range(num_device):
        updates = [(i * num_device + device, grads[device], weights[device]) for i, _, weights, grads in found]
        if updates:
            updater(*zip(*updates, strict=True))


def index_names(param_names, num_device, update_on_kvstore):
    """The names of the indices that the optimizer will see."""
    if update_on_kvstore:
        return dict(enumerate(param_names))
    return {i * num_device + k: n for i, n in enumerate(param_names) for k in range(num_device)}


def indexed_weights(param_names, param_arrays, num_device):
    """{index: (name, weight)} of the indices that an updater sees."""
    found = enumerate(zip(param_names, param_arrays, strict=True))
    return {i * num_device + k: (name, arrays[k]) for i, (name, arrays) in found for k in range(num_device)}


class StopTraining(Exception):
    """A callback ends the training; what comes after it is done as at the last epoch."""


def tell_end(*groups):
    """Tell callbacks that have a `train_end` that training is over, each once."""
    told = []
    for callback in (one for group in groups for one in (group if isinstance(group, (list, tuple)) else [group])):
        if hasattr(callback, "train_end") and not any(callback is other for other in told):
            told.append(callback)
            callback.train_end()


def load_into_store(kvstore, fname, trust, keys):
    """Read optimizer states into a store; one of ours compares them with all `keys` of the parameters."""
    options = {"trust": True} if trust else {}
    if isinstance(kvstore, kvs.KVStore):
        options["keys"] = keys
    kvstore.load_optimizer_states(fname, **options)


def call_all(callbacks, *args):
    """Call one callback or a list of them."""
    if callbacks is not None:
        for callback in callbacks if isinstance(callbacks, (list, tuple)) else [callbacks]:
            callback(*args)
