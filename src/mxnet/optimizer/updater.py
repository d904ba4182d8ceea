"""The updater: an optimizer together with the states of the parameters it has seen."""

from .._device.errors import tells_exhaustion
from ..ndarray import NDArray
from ..util import is_np_array
from . import state_files
from .multi_tensor import forget_checked, list_size, of_one_kind
from .state_checks import check_keys, check_optimizer, check_state

_BYTES = frozenset({bytes})
_CLASSIC = frozenset({NDArray})


def _as_classic(arrays, allow_np):
    """`mx.np` arrays as the classic ones the update rules work on."""
    if isinstance(arrays, (list, tuple)):
        classic = _CLASSIC.issuperset(map(type, arrays))
        return list(arrays) if classic else [_as_classic(a, allow_np) for a in arrays]
    if type(arrays).__module__.startswith("mxnet.numpy"):
        if not allow_np:
            raise ValueError("Converting np.ndarray to mx.nd.NDArray is not allowed")
        return arrays.as_nd_ndarray()
    return arrays


class Updater:
    """Applies an optimizer: called with (index, gradient, weight), or lists of them, it updates the weights in place.

    Parameters
    ----------
    optimizer : Optimizer
        The update rule. The updater keeps its states.

    Examples
    --------
    >>> updater = mx.optimizer.Updater(mx.optimizer.SGD(learning_rate=0.5))
    >>> weight = mx.nd.ones((2,))
    >>> updater(0, mx.nd.array([1, 2]), weight)
    >>> weight.asnumpy()
    array([0.5, 0. ], dtype=float32)
    """

    def __init__(self, optimizer):
        self.optimizer = optimizer
        self.states = {}
        self.states_synced = {}
        self.aggregate_updates = optimizer.aggregate_num > 0

    @tells_exhaustion
    def __call__(self, index, grad, weight):
        allow_np = getattr(self.optimizer, "allow_np_array", is_np_array())
        if not isinstance(index, (list, tuple)):
            index, grad, weight = [index], [grad], [weight]
        plain = _BYTES.isdisjoint(map(type, index))
        indices = list(index) if plain else [i.decode() if isinstance(i, bytes) else i for i in index]
        grads, weights = _as_classic(grad, allow_np), _as_classic(weight, allow_np)
        if weights:
            self.optimizer._set_current_context(weights[0].context.device_id)
        if not all(map(self.states_synced.get, indices)):
            for i, w in zip(indices, weights, strict=True):
                self._ensure_state(i, w)
        size = list_size(self.optimizer)
        if size == 0:
            for i, w, g in zip(indices, weights, grads, strict=True):
                self.optimizer.update_multi_precision(i, w, g, self.states[i])
        else:
            self._update_lists(indices, grads, weights, size or len(indices))

    @property
    def takes_all(self):
        """May it be called with all parameters at once, where MXNet calls it for each? A user's method would see it."""
        return list_size(self.optimizer) is None

    def _ensure_state(self, index, weight):
        if index not in self.states:
            self.states[index] = self.optimizer.create_state_multi_precision(index, weight)
            self.states_synced[index] = True
        elif not self.states_synced[index]:
            name = self.optimizer.idx2name.get(index, index)
            check_state(self.optimizer, index, name, weight, self.states[index])
            self.states[index] = self.sync_state_context(self.states[index], weight.context)
            self.states_synced[index] = True

    def _update_lists(self, indices, grads, weights, size):
        """Parameters of one dtype and context together, at most `size` at a time."""
        states = self.states
        arrays = tuple(indices), tuple(weights), tuple(grads)  # as MXNet hands them to a method of the user's
        if size >= len(indices) and of_one_kind(self.optimizer, indices, arrays[1]):
            try:
                self.optimizer.update_multi_precision(*arrays, list(map(states.__getitem__, indices)))
            finally:
                forget_checked(self.optimizer, indices)
            return
        groups = {}
        for item in zip(indices, weights, grads, strict=True):
            groups.setdefault((item[1].dtype, item[1].context), []).append(item)
        for items in groups.values():
            for start in range(0, len(items), size):
                ids, ws, gs = zip(*items[start : start + size], strict=True)
                self.optimizer.update_multi_precision(ids, ws, gs, [states[i] for i in ids])

    def sync_state_context(self, state, context):
        """Move a state to the context of its weight; needed after states were loaded.

        Parameters
        ----------
        state : NDArray, tuple, list or None
            The state.
        context : Context
            Where the weight is.

        Returns
        -------
        The state, moved.

        Examples
        --------
        >>> updater = mx.optimizer.get_updater(mx.optimizer.Adam())
        >>> state = (mx.nd.zeros((2,)), mx.nd.zeros((2,)))
        >>> [part.context for part in updater.sync_state_context(state, mx.cpu(1))]
        [cpu(1), cpu(1)]
        """
        if isinstance(state, NDArray):
            return state.as_in_context(context)
        if isinstance(state, (tuple, list)):
            return type(state)(self.sync_state_context(part, context) for part in state)
        return state

    def set_states(self, states, trust=False, weights=None, complete=True):
        """Take the states, and the optimizer if it is inside, that `get_states` returned.

        Parameters
        ----------
        states : bytes
            What `get_states` returned, or what a file of MXNet holds.
        trust : bool, default False
            Whether a pickle that is not one of MXNet's own may run its code. Not in MXNet.
        weights : dict of index to (name, NDArray or None), optional
            The weights; states that do not fit them are refused before anything changes. None: the weight is not there
            yet, and its states are compared when it is first updated. Not in MXNet.
        complete : bool, default True
            Whether states of other indices than those in `weights` are refused, too. Not in MXNet.

        Examples
        --------
        >>> first, second = (mx.optimizer.get_updater(mx.optimizer.SGD(momentum=0.9)) for _ in range(2))
        >>> first(0, mx.nd.ones((2,)), mx.nd.ones((2,)))
        >>> second.set_states(first.get_states())
        >>> list(second.states)
        [0]
        """
        self.states, self.optimizer = self._checked(states, trust, weights, complete)
        self.states_synced = dict.fromkeys(self.states, False)

    def _checked(self, states, trust=False, weights=None, complete=True):
        """(states by index, optimizer) of the bytes, as far as known compared with the weights; nothing changes."""
        loaded, optimizer = state_files.loads_for_updater(states, trust)
        if optimizer is None:
            optimizer = self.optimizer
        else:
            check_optimizer(optimizer)
        if complete and weights is not None:
            check_keys(loaded, weights)
        for index, state in loaded.items():
            name, weight = (weights or {}).get(index, (index, None))
            if weight is not None:
                check_state(optimizer, index, name, weight, state)
        return loaded, optimizer

    def get_states(self, dump_optimizer=False, pickled=False):
        """The states of all weights as bytes, for `set_states` or a file.

        Parameters
        ----------
        dump_optimizer : bool, default False
            Whether the optimizer itself is included.
        pickled : bool, default False
            Whether to make a pickle, as MXNet does and reads; otherwise the bytes hold no code. Not in MXNet.

        Returns
        -------
        bytes

        Examples
        --------
        >>> updater = mx.optimizer.get_updater(mx.optimizer.SGD(momentum=0.9))
        >>> isinstance(updater.get_states(), bytes)
        True
        """
        tree = (self.states, self.optimizer) if dump_optimizer else self.states
        return state_files.pickled(tree) if pickled else state_files.dumps(tree)


def get_updater(optimizer):
    """The updater that applies an optimizer.

    Parameters
    ----------
    optimizer : Optimizer
        The update rule.

    Returns
    -------
    Updater

    Examples
    --------
    >>> optimizer = mx.optimizer.SGD(learning_rate=0.1)
    >>> weight, grad = mx.nd.array([1.0, 2.0]), mx.nd.array([0.5, 1.0])
    >>> mx.optimizer.get_updater(optimizer)(0, grad, weight)
    >>> weight.asnumpy().round(4)
    array([0.95, 1.9 ], dtype=float32)
    """
    return Updater(optimizer)
