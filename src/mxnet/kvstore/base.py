"""What a key-value store is, and how one is made by name."""

import warnings

from .._core.advice.constructors import suggestion
from ..base import c_array, c_array_buf, c_handle_array, c_str, c_str_array, check_call  # noqa: F401 - shown here
from ..ndarray import NDArray
from ..registry import _add_class

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
        """Store a first value under a key and copy it into arrays on all devices; with several workers, that of the
        first one.

        Parameters
        ----------
        key : int, str or list of them
            The keys.
        value : NDArray or list of NDArray
            The value of each key.
        out : NDArray, or list of them
            The arrays to fill: for each key one, or a list of one for each device.
        priority : int, default 0
            A hint for the order of sending; ReMX ignores it.

        Examples
        --------
        >>> store = mx.kv.create("local")
        >>> out = [mx.nd.zeros((2,)), mx.nd.zeros((2,))]
        >>> store.broadcast("w", mx.nd.array([1, 2]), out)
        >>> out[1].asnumpy()
        array([1., 2.], dtype=float32)
        """
        raise NotImplementedError

    def pushpull(self, key, value, out=None, priority=0):
        """Sum the values of all devices and workers and copy the sum, or the updated weight, back.

        Parameters
        ----------
        key : int, str or list of them
            The keys.
        value : NDArray, or list of them
            For each key an array, or a list of one for each device.
        out : NDArray, or list of them, optional
            Where the result goes; by default into the values themselves.
        priority : int, default 0
            A hint for the order of sending; ReMX ignores it.

        Examples
        --------
        >>> store = mx.kv.create("local")
        >>> store.init("w", mx.nd.zeros((2,)))
        >>> grads = [mx.nd.ones((2,)), mx.nd.ones((2,)) * 4]
        >>> store.pushpull("w", grads)
        >>> grads[0].asnumpy(), grads[1].asnumpy()
        (array([5., 5.], dtype=float32), array([5., 5.], dtype=float32))
        """
        raise NotImplementedError

    def set_optimizer(self, optimizer):
        """Update the stored values with an optimizer at every push: values are then weights, and what is pushed
        gradients.

        Parameters
        ----------
        optimizer : Optimizer
            The update rule. A distributed store sends it to its servers.

        Examples
        --------
        >>> store = mx.kv.create("local")
        >>> store.set_optimizer(mx.optimizer.SGD(learning_rate=0.5))
        >>> store.init(0, mx.nd.ones((2,)))
        >>> store.push(0, mx.nd.array([1, 2]))
        >>> store.pull(0, out=(out := mx.nd.zeros((2,))))
        >>> out.asnumpy()
        array([0.5, 0. ], dtype=float32)
        """
        raise NotImplementedError

    def is_capable(self, capability):
        """Whether the store has an ability.

        Parameters
        ----------
        capability : str
            `KVStoreBase.OPTIMIZER` ("optimizer"): whether the store can run an optimizer on its values.

        Returns
        -------
        bool

        Examples
        --------
        >>> mx.kv.create("local").is_capable(mx.kv.KVStoreBase.OPTIMIZER)
        True
        """
        raise NotImplementedError

    def save_optimizer_states(self, fname, dump_optimizer=False):
        """Write the states of the store's optimizer, such as momenta, to a file.

        Parameters
        ----------
        fname : str
            Path of the file.
        dump_optimizer : bool, default False
            Whether the optimizer itself is written as well.

        Examples
        --------
        >>> store = mx.kv.create("local")
        >>> store.set_optimizer(mx.optimizer.Adam())
        >>> store.save_optimizer_states("adam.states")
        >>> store.load_optimizer_states("adam.states")
        """
        raise NotImplementedError

    def load_optimizer_states(self, fname):
        """Read the states of the store's optimizer from a file that `save_optimizer_states` wrote.

        Parameters
        ----------
        fname : str
            Path of the file.

        Examples
        --------
        >>> store = mx.kv.create("local")
        >>> store.set_optimizer(mx.optimizer.Adam())
        >>> store.save_optimizer_states("adam.states")
        >>> store.load_optimizer_states("adam.states")
        """
        raise NotImplementedError

    @property
    def type(self):
        """The name that the store was created by, a str.

        Examples
        --------
        >>> mx.kv.create("device").type
        'device'
        """
        raise NotImplementedError

    @property
    def rank(self):
        """The number of this worker, from 0 to `num_workers` - 1; 0 in a store of one process.

        Examples
        --------
        >>> mx.kv.create("local").rank
        0
        """
        raise NotImplementedError

    @property
    def num_workers(self):
        """The number of worker processes; 1 in a store of one process.

        Examples
        --------
        >>> mx.kv.create("local").num_workers
        1
        """
        raise NotImplementedError

    @staticmethod
    def register(klass):
        """Register a class of stores, so that `mx.kv.create` finds it under its name in lower case.

        Parameters
        ----------
        klass : type
            A subclass of `KVStoreBase`.

        Returns
        -------
        type
            The class itself, so that `register` works as a decorator.

        Examples
        --------
        >>> @mx.kv.KVStoreBase.register
        ... class Single(mx.kv.KVStoreBase):
        ...     type = "single"
        >>> mx.kv.create("single").type
        'single'
        """
        return _add_class(KVStoreBase.kv_registry, klass, "kvstore")


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

    type, rank, num_workers = "teststore", 0, 1


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
    kind = name.lower()
    registered = KVStoreBase.kv_registry.get(kind)
    if registered is not None:
        return registered()
    _warn_of_unknown(kind)
    if "dist" in kind:
        from .dist import create_distributed

        return create_distributed(kind)
    from .kvstore import KVStore

    return KVStore(kind)
