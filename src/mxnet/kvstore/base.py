"""What a key-value store is, and how one is made by name."""

import warnings

from .._core.advice.constructors import suggestion
from ..base import c_array, c_array_buf, c_handle_array, c_str, c_str_array, check_call  # noqa: F401 - shown here
from ..ndarray import NDArray

__all__ = ["create", "KVStoreBase"]


class KVStoreBase:
    """The interface that `gluon.Trainer` needs of a store.

    Parameters
    ----------
    None

    Examples
    --------
    >>> @mx.kvstore.KVStoreBase.register
    ... class Alone(mx.kvstore.KVStoreBase):
    ...     def broadcast(self, key, value, out, priority=0):
    ...         out[:] = value
    ...     def pushpull(self, key, value, out=None, priority=0):
    ...         out[:] = value
    >>> type(mx.kv.create("alone")).__name__
    'Alone'
    """

    OPTIMIZER = "optimizer"
    kv_registry = {}

    def broadcast(self, key, value, out, priority=0):
        """Give `value` the key, and copy it into every array of `out`."""
        raise NotImplementedError

    def pushpull(self, key, value, out=None, priority=0):
        """Sum the values of all devices and workers into `out` (into the values themselves if it is None)."""
        raise NotImplementedError

    def set_optimizer(self, optimizer):
        """Update the stored values with `optimizer` whenever gradients are pushed."""
        raise NotImplementedError

    def is_capable(self, capability):
        """Whether the store can do `capability`, for example `KVStoreBase.OPTIMIZER`."""
        raise NotImplementedError

    def save_optimizer_states(self, fname, dump_optimizer=False):
        """Write the optimizer's states to a file."""
        raise NotImplementedError

    def load_optimizer_states(self, fname):
        """Read the optimizer's states from a file."""
        raise NotImplementedError

    @property
    def type(self):
        """The name it was created by."""
        raise NotImplementedError

    @property
    def rank(self):
        """Which worker this is."""
        raise NotImplementedError

    @property
    def num_workers(self):
        """How many workers there are."""
        raise NotImplementedError

    @staticmethod
    def register(klass):
        """Make a store known to `create` under its lower-case name."""
        assert isinstance(klass, type)
        name = klass.__name__.lower()
        known = KVStoreBase.kv_registry.get(name)
        if known is not None:
            warnings.warn(
                f"WARNING: New kvstore {klass.__module__}.{klass.__name__} is overriding existing kvstore "
                f"{known.__module__}.{known.__name__}",
                stacklevel=2,
            )
        KVStoreBase.kv_registry[name] = klass
        return klass


def as_list(value):
    return value if isinstance(value, list) else [value]


@KVStoreBase.register
class TestStore(KVStoreBase):
    """The smallest store that works: sums without remembering, for tests and as an example."""

    __test__ = False

    def broadcast(self, key, value, out, priority=0):
        for array in as_list(out):
            array[:] = value

    def pushpull(self, key, value, out=None, priority=0):
        if isinstance(value, NDArray):
            total, targets = value, [] if out is None else as_list(out)
        else:
            total = sum(v.as_in_context(value[0].context) for v in value)
            targets = value if out is None else as_list(out)
        for array in targets:
            array[:] = total

    @staticmethod
    def is_capable(capability):
        if capability.lower() == KVStoreBase.OPTIMIZER:
            return False
        raise ValueError(f"Unknown capability: {capability}")

    @property
    def type(self):
        return "teststore"

    @property
    def rank(self):
        return 0

    @property
    def num_workers(self):
        return 1


# MXNet takes any name: one with "dist" in it is distributed, all others sum on the CPU, or on a device if it names one.
_NAMES = (
    "local local_allreduce_cpu local_allreduce_device local_update_cpu device nccl dist dist_sync dist_async "
    "dist_device_sync dist_device_async dist_sync_device dist_async_device horovod byteps"
).split()


def _warn_of_unknown(name):
    if name not in _NAMES and "dist" not in name:
        warnings.warn(
            f"'{name}' is no kind of key-value store and works like 'local', as in MXNet; {suggestion(name, _NAMES)}",
            stacklevel=3,
        )


def create(name="local"):
    """Make a store.

    Parameters
    ----------
    name : str, default 'local'
        'local' sums on the CPU, 'device' on the devices, 'nccl' with collectives; 'dist_sync', 'dist_async',
        'dist_device_sync' and 'horovod' work across machines. The name of a registered store class works as well.

    Returns
    -------
    KVStore

    Examples
    --------
    >>> store = mx.kv.create("local")
    >>> store.init(3, mx.nd.ones((2,)))
    >>> store.push(3, [mx.nd.ones((2,)), mx.nd.ones((2,)) * 4])  # one gradient of each device: they are summed
    >>> out = mx.nd.zeros((2,))
    >>> store.pull(3, out=out)
    >>> out.asnumpy()
    array([5., 5.], dtype=float32)
    """
    if not isinstance(name, str):
        raise TypeError("name must be a string")
    name = name.lower()
    if name in KVStoreBase.kv_registry:
        return KVStoreBase.kv_registry[name]()
    _warn_of_unknown(name)
    if "dist" in name:
        from .dist import create_distributed

        return create_distributed(name)
    from .kvstore import KVStore

    return KVStore(name)
