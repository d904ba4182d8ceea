"""The key-value store of one process: sums gradients over devices and, if asked, updates the weights it holds."""

import os

import torch

from .. import optimizer as opt
from .._core.errors import MXNetError
from .._core.modes import MODES
from .._device import late
from .._device.errors import tells_exhaustion
from .._formats.atomic import atomic_write
from ..base import c_str, check_call, py_str  # noqa: F401 - MXNet shows them here
from ..ndarray import NDArray
from ..ndarray._sparse.invoke import retained
from ..ndarray.ndarray import wrap
from ..optimizer import state_files
from .base import KVStoreBase
from .compression import compression

__all__ = ["KVStore"]


def _is_key(key):
    return isinstance(key, (int, str)) and not isinstance(key, bool)


def pairs(keys, values):
    """[(key, [arrays])] out of a key and its array(s), or lists of them; equal keys are gathered."""
    if isinstance(keys, (list, tuple)):
        assert len(keys) == len(values)
        gathered = [pair for k, v in zip(keys, values, strict=True) for pair in pairs(k, v)]
        kinds = {isinstance(k, str) for k, _ in gathered}
        assert len(kinds) <= 1, "inconsistent types of keys detected."
        return _merged(gathered)
    assert _is_key(keys), f"unexpected type for keys: {type(keys)}"
    arrays = [values] if isinstance(values, NDArray) else list(values)
    for array in arrays:
        assert isinstance(array, NDArray)
    return [(keys, arrays)]


def _merged(found):
    groups = {}
    for key, arrays in found:
        groups.setdefault(key, []).extend(arrays)
    return list(groups.items())


def not_inited(key):
    """The error for a key that no value was given to, in MXNet's words for either type of key."""
    what = f"key {key} doesn't exist. Did you init?" if isinstance(key, str) else f"key {key} has not been inited."
    return MXNetError(f"{what} Call init or broadcast with it first")


class KVStore(KVStoreBase):
    """A store of arrays by key, which sums what devices and machines push. `mx.kv.create` makes one.

    Parameters
    ----------
    handle : str
        The name of its type.

    Examples
    --------
    >>> store = mx.kv.create("local")
    >>> store.type, store.rank, store.num_workers
    ('local', 0, 1)
    >>> store.init("w", mx.nd.zeros((2,)))
    >>> store.pushpull("w", mx.nd.ones((2,)), out=(out := mx.nd.zeros((2,))))
    >>> out.asnumpy()
    array([1., 1.], dtype=float32)
    """

    def __init__(self, handle):
        assert isinstance(handle, str), "make a KVStore with mx.kv.create"
        self.handle = handle
        self._stored = {}
        self._key_type = None
        self._updater = None
        self._compress = None
        self._is_p3 = os.getenv("DMLC_PS_VAN_TYPE", "") == "p3"

    # ------------------------------------------------------------------ values
    def _check_keys(self, found):
        """A store has keys of one type, integers or strings."""
        for key, _ in found:
            kind = str if isinstance(key, str) else int
            if self._key_type not in (None, kind):
                raise MXNetError(
                    f"Mixed key types are not allowed: this store has {self._key_type.__name__} keys, got {key!r}"
                )
            self._key_type = kind
        return found

    def _held(self, key):
        try:
            return self._stored[key]
        except KeyError:
            raise not_inited(key) from None

    @tells_exhaustion
    def init(self, key, value):
        """Store a first value under each key; a key can be initialized once.

        Parameters
        ----------
        key : int, str or list of them
            The keys; all keys of a store are of one type.
        value : NDArray or list of NDArray
            The value of each key. The store keeps a copy.

        Examples
        --------
        >>> store = mx.kv.create("local")
        >>> store.init(3, mx.nd.ones((2, 3)))
        >>> store.init([5, 7], [mx.nd.zeros((2,)), mx.nd.zeros((4,))])
        """
        for k, arrays in self._check_keys(pairs(key, value)):
            if k in self._stored:
                raise MXNetError(
                    f"duplicate init of key {k}. Please double check if you called kv.init or kv.broadcast with "
                    "this key multiple times"
                )
            self._stored[k] = arrays[0].copy()

    @tells_exhaustion
    def push(self, key, value, priority=0):
        """Sum the values of each key over devices and workers. The sum replaces the stored value or, after
        `set_optimizer` or `set_updater`, updates it.

        Parameters
        ----------
        key : int, str or list of them
            The keys.
        value : NDArray, or list of them
            For each key an array, or a list of one for each device.
        priority : int, default 0
            A hint for the order of sending; ReMX ignores it.

        Examples
        --------
        >>> store = mx.kv.create("local")
        >>> store.init(3, mx.nd.zeros((2,)))
        >>> store.push(3, [mx.nd.ones((2,)), mx.nd.ones((2,)) * 4])
        >>> store.pull(3, out=(out := mx.nd.zeros((2,))))
        >>> out.asnumpy()
        array([5., 5.], dtype=float32)
        """
        found = self._check_keys(pairs(key, value))
        for k, _ in found:
            self._held(k)
        self._take([k for k, _ in found], self._reduce_all(found))

    def _reduce_all(self, found):
        return [self._reduce(k, arrays) for k, arrays in found]

    def _take(self, keys, sums):
        if self._updater is None:
            for key, merged in zip(keys, sums, strict=True):
                self._stored[key] = _placed(merged, self._held(key))
            return
        held = [self._beside(key, merged) for key, merged in zip(keys, sums, strict=True)]
        sums = [merged.as_in_context(h.context) for merged, h in zip(sums, held, strict=True)]
        # MXNet hands string keys over as bytes.
        keys = [key.encode() if isinstance(key, str) else key for key in keys]
        if isinstance(self._updater, opt.Updater) and self._updater.takes_all:
            self._updater(keys, sums, held)
        else:
            for arguments in zip(keys, sums, held, strict=True):
                self._updater(*arguments)

    def _beside(self, key, merged):
        """The stored value; it moves to the gradients' GPU, where the update will be."""
        held = self._held(key)
        if merged.context.device_type != "cpu" and held.context.device_type == "cpu":
            held = self._stored[key] = held.as_in_context(merged.context)
        return held

    @tells_exhaustion
    def pull(self, key, out=None, priority=0, ignore_sparse=True):
        """Copy the stored value of each key into arrays.

        Parameters
        ----------
        key : int, str or list of them
            The keys.
        out : NDArray, or list of them
            For each key an array, or a list of one for each device.
        priority : int, default 0
            A hint for the order of sending; ReMX ignores it.
        ignore_sparse : bool, default True
            Whether sparse arrays in `out` are left as they are; `row_sparse_pull` fills those.

        Examples
        --------
        >>> store = mx.kv.create("local")
        >>> store.init(3, mx.nd.array([1, 2]))
        >>> out = [mx.nd.zeros((2,)), mx.nd.zeros((2,))]
        >>> store.pull(3, out=out)
        >>> out[1].asnumpy()
        array([1., 2.], dtype=float32)
        """
        assert out is not None
        for k, arrays in self._check_keys(pairs(key, out)):
            held = self._held(k)
            for array in arrays:
                if array.stype == "default" or not ignore_sparse:
                    _copy(held, array)

    @tells_exhaustion
    def pushpull(self, key, value, out=None, priority=0):
        self.push(key, value, priority)
        self.pull(key, value if out is None else out, priority, ignore_sparse=False)

    def watch(self, keys, weights):
        """Name the arrays whose gradients a Trainer will push next, so that a distributed store can send them early.

        A store of one process has nothing to send and ignores it. Not in MXNet.

        Parameters
        ----------
        keys : list of int or str
            The keys.
        weights : list of lists of NDArray
            The weights of each key, one for each device.

        Examples
        --------
        >>> mx.kv.create("local").watch([0], [[mx.nd.zeros((2,))]])
        """

    @tells_exhaustion
    def broadcast(self, key, value, out, priority=0):
        self.init(key, value)
        self.pull(key, out, priority, ignore_sparse=False)

    @tells_exhaustion
    def row_sparse_pull(self, key, out=None, priority=0, row_ids=None):
        """Copy chosen rows of values with `row_sparse` storage into `row_sparse` arrays.

        Parameters
        ----------
        key : int, str or list of them
            The keys.
        out : RowSparseNDArray, or list of them
            The arrays to fill.
        priority : int, default 0
            A hint for the order of sending; ReMX ignores it.
        row_ids : NDArray or list of NDArray
            The numbers of the rows, one array for each of `out`, or one for all.

        Examples
        --------
        >>> store = mx.kv.create("local")
        >>> store.init("w", mx.nd.ones((4, 2)).tostype("row_sparse"))
        >>> out = mx.nd.zeros((4, 2), stype="row_sparse")
        >>> store.row_sparse_pull("w", out=out, row_ids=mx.nd.array([1, 3]))
        >>> out.indices.asnumpy().tolist()
        [1, 3]
        """
        assert out is not None
        assert row_ids is not None
        row_ids = [row_ids] if isinstance(row_ids, NDArray) else row_ids
        assert isinstance(row_ids, list), "row_ids should be NDArray or list of NDArray"
        shared = len(row_ids) == 1 and isinstance(out, list)
        targets = self._check_keys(pairs(key, [out[0]] if shared else out))
        wanted = pairs(key, row_ids)
        assert [len(a) for _, a in targets] == [len(r) for _, r in wanted], (
            "the number of row_ids doesn't match the number of values"
        )
        for (k, arrays), (_, rows) in zip(targets, wanted, strict=True):
            for array, ids in zip(arrays, rows, strict=True):
                self._pull_rows(k, array, ids)
        for array in out[1:] if shared else ():
            out[0].copyto(array)

    def _pull_rows(self, key, array, ids):
        held = self._held(key)
        if array.stype != "row_sparse" or held.stype != "row_sparse":
            raise MXNetError(
                f"row_sparse_pull of key {key} needs row_sparse storage, but the stored value is {held.stype} "
                f"and out is {array.stype}; use pull for dense arrays"
            )
        rows = torch.unique(ids.as_in_context(held.context)._t.flatten().long())
        if not rows.is_cpu:
            rows = late.bounded(rows, held.shape[0], f"row_sparse_pull of key {key}")
        elif len(rows) and not 0 <= rows[0] <= rows[-1] < held.shape[0]:
            raise MXNetError(
                f"row_sparse_pull of key {key} asks for rows {rows[0].item()} to {rows[-1].item()}, "
                f"but the stored value has {held.shape[0]} rows"
            )
        _overwrite(retained(held, rows, True), array)

    # ------------------------------------------------------------------ sums
    def _reduce(self, key, arrays):
        """The sum over devices, each compressed first if that is asked for."""
        if self._compress is not None:
            arrays = [self._compressed((key, i), a) for i, a in enumerate(arrays)]
        return self._sum(arrays)

    @staticmethod
    def _sum(arrays):
        """The sum over devices, where the first array is."""
        total = arrays[0]
        for array in arrays[1:]:
            total = total + array.as_in_context(total.context)
        return total

    def _compressed(self, key, array):
        if array.stype != "default":
            raise MXNetError(f"gradient compression needs dense gradients; that of key {key[0]} is {array.stype}")
        return wrap(self._compress(key, array._t), array.context)

    def set_gradient_compression(self, compression_params):
        """Compress gradients before they are summed, for stores of the types device and dist.

        With 2-bit compression each element is sent as -threshold, 0 or threshold; what is lost is added to the next
        gradient.

        Parameters
        ----------
        compression_params : dict
            {'type': '2bit', 'threshold': 0.5}; the threshold must be positive.

        Examples
        --------
        >>> store = mx.kv.create("device")
        >>> store.set_gradient_compression({"type": "2bit", "threshold": 0.5})
        >>> store.init(0, mx.nd.zeros((3,)))
        >>> store.push(0, mx.nd.array([0.7, 0.2, -0.6]))
        >>> store.pull(0, out=(out := mx.nd.zeros((3,))))
        >>> out.asnumpy()
        array([ 0.5,  0. , -0.5], dtype=float32)
        """
        if "device" not in self.type and "dist" not in self.type:
            raise Exception("Gradient compression is not supported for this type of kvstore")
        self._compress = compression(compression_params)

    # ------------------------------------------------------------------ optimizer
    def is_capable(self, capability):
        if capability.lower() == KVStoreBase.OPTIMIZER:
            return not self._is_p3
        raise ValueError(f"Unknown capability: {capability}")

    def set_optimizer(self, optimizer):
        self._set_updater(opt.get_updater(optimizer))

    def _set_updater(self, updater):
        """Set the function that changes a stored value when something is pushed.

        Parameters
        ----------
        updater : callable
            Called as `updater(key, pushed, stored)`; it changes `stored` in place. Keys that are strings come as bytes,
            as in MXNet.

        Examples
        --------
        >>> store = mx.kv.create("local")
        >>> def add_twice(key, pushed, stored):
        ...     stored += 2 * pushed
        >>> store.set_updater(add_twice)
        >>> store.init(0, mx.nd.ones((2,)))
        >>> store.push(0, mx.nd.ones((2,)))
        >>> store.pull(0, out=(out := mx.nd.zeros((2,))))
        >>> out.asnumpy()
        array([3., 3.], dtype=float32)
        """
        self._updater = updater

    set_updater = _set_updater

    def save_optimizer_states(self, fname, dump_optimizer=False, pickled=False):
        assert self._updater is not None, "Cannot save states for distributed training"
        with atomic_write(fname) as file:
            file.write(self._updater.get_states(dump_optimizer, pickled))

    def load_optimizer_states(self, fname, trust=False, keys=None):
        """Read the states of the store's optimizer; states that do not fit the stored values are refused.

        Parameters
        ----------
        fname : str
            Path of a file that `save_optimizer_states` wrote, here or in MXNet.
        trust : bool, default False
            Whether a pickle that is not one of MXNet's own may run its code. Not in MXNet.
        keys : list of int or str, optional
            If given, states of other keys are refused as well. Not in MXNet.

        Examples
        --------
        >>> store = mx.kv.create("local")
        >>> store.set_optimizer(mx.optimizer.Adam())
        >>> store.save_optimizer_states("adam.states")
        >>> store.load_optimizer_states("adam.states")
        """
        assert self._updater is not None, "Cannot load states for distributed training"
        with state_files.opened(fname) as file:
            self._updater.set_states(file.read(), trust, self._weights(keys), complete=keys is not None)

    def _weights(self, keys=()):
        """{key: (name, stored value)}; None for a value that is not there yet."""
        stored = {key: (key, value) for key, value in self._stored.items()}
        return {key: (key, None) for key in keys or ()} | stored

    # ------------------------------------------------------------------ workers
    @property
    def type(self):
        return self.handle

    @property
    def rank(self):
        return 0

    @property
    def num_workers(self):
        return 1

    def _barrier(self):
        """Wait for all workers; alone there is nobody to wait for."""

    def barrier(self):
        """Wait until all workers have called it; a store of one process returns at once.

        Examples
        --------
        >>> mx.kv.create("local").barrier()
        """
        self._barrier()

    def _send_command_to_servers(self, head, body):
        """Servers exist only in distributed stores."""


def _placed(merged, held):
    """A copy of `merged` where the stored value lives: later changes of the gradient must not reach the store."""
    return merged.copyto(held.context)


def _copy(held, array):
    if held.stype != array.stype:
        held = held.tostype(array.stype)
    if held.shape != array.shape:
        raise MXNetError(
            f"operands shape mismatch from.shape = {list(held.shape)} to.shape={list(array.shape)}: "
            "the array to pull into must have the stored value's shape"
        )
    _overwrite(held, array)


def _overwrite(source, target):
    """Copy as no operator does: parameters may be pulled while a graph is recorded."""
    before, MODES.recording = MODES.recording, False
    try:
        source.copyto(target)
    finally:
        MODES.recording = before
