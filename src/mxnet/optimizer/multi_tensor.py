"""Optimizers that update all parameters at once, with torch's multi-tensor kernels."""

from operator import is_

import numpy
import torch

from .._core.errors import MXNetError
from .._core.writes import wrote_anywhere
from .._kernels.optimizer.tensor_lists import FixedTensors, layout
from .._ops.optimizer.steps import bound
from ..base import _as_list
from ..ndarray import NDArray
from ..ndarray._dispatch.invoke import plain_tensor
from .base import Optimizer, check_arrays
from .rows import arrays_of, update_rows

_RATES = ("_get_lr", "_get_lrs", "_get_wd", "_get_wds")
_METHODS = ("update_multi_precision", *_RATES)
TAKE_LISTS = {getattr(Optimizer, name) for name in _RATES}
_TUPLES = frozenset([tuple])
DENSE = frozenset([NDArray])  # arrays of this very type are dense, which needs no asking one by one


def takes_lists(method):
    """Mark a method that accepts any number of parameters; a user's override is called as MXNet calls it."""
    TAKE_LISTS.add(method)
    return method


def list_size(optimizer):
    """How many parameters `optimizer` may be handed in one call: None for all of them, 0 for one at a time."""
    kind = type(optimizer)
    own_update = kind.update not in TAKE_LISTS and not getattr(kind, "_past_update", False)
    if not own_update and all(getattr(kind, name) in TAKE_LISTS for name in _METHODS):
        return optimizer._list_size
    if own_update and kind.update_multi_precision in TAKE_LISTS:
        return 0  # an `update` of one parameter; MXNet never hands lists to it
    return optimizer.aggregate_num


class Known:
    """The tensors of some weights or states, kept from step to step: taking them out of 200 arrays has its price."""

    def __init__(self, arrays):
        self.sources = [a._t for a in arrays]
        self.tensors = FixedTensors(map(plain_tensor, arrays))
        self.checked = None  # the arrays of the update that is running, once they were compared

    def holds(self, arrays):
        """Are these still the arrays' tensors? An array that was cast, loaded or moved has another one."""
        if arrays is self.checked:
            return True
        return len(arrays) == len(self.sources) and all(map(is_, [a._t for a in arrays], self.sources))


def kept_tensors(optimizer, key, arrays):
    """The arrays' tensors, those of the last step if nothing has changed; `key` tells lists apart."""
    if len(arrays) == 1:
        return [plain_tensor(arrays[0])]
    known = optimizer._kept.get(key)
    if known is None or not known.holds(arrays):
        known = optimizer._kept[key] = Known(arrays)
    return known.tensors


def of_one_kind(optimizer, indices, weights):
    """Are these dense arrays of one dtype on one device? The update that follows does not compare them again."""
    if not DENSE.issuperset(map(type, weights)):
        return False
    key = "weight", indices[0]
    found = layout(kept_tensors(optimizer, key, weights))
    alike = len(found.dtypes) == len(found.devices) == 1
    if alike and (known := optimizer._kept.get(key)) is not None:
        known.checked = weights
    return alike


def forget_checked(optimizer, indices):
    """The arrays may change from here on."""
    if (known := optimizer._kept.get(("weight", indices[0]))) is not None:
        known.checked = None


def _parts(states):
    """The arrays of all states, a list for each part that every state has.

    Loaded states may hold the momentum of some parameters, though the optimizer has none now: it is not needed.
    """
    if DENSE.issuperset(map(type, states)):
        return [states]
    if _TUPLES.issuperset(map(type, states)) and len(set(map(len, states))) == 1:
        parts = list(zip(*states, strict=True))
        if all(DENSE.issuperset(map(type, part)) for part in parts):  # hundreds of them, asked at once
            return parts
    return list(zip(*map(arrays_of, states), strict=False))


def _tell_shapes(indices, weights, grads):
    """The first gradient whose shape is not its weight's, as an error."""
    for index, weight, grad in zip(indices, weights, grads, strict=True):
        if weight.shape != grad.shape:
            raise MXNetError(
                f"Incompatible attr in node  at 1-th input: expected {list(weight.shape)}, got {list(grad.shape)}: "
                f"the gradient of parameter {index} must have its weight's shape"
            )


class MultiTensorOptimizer(Optimizer):
    """Subclasses write their formula once, in `_step`, over lists of torch tensors."""

    def _step(self, weights, grads, states, lrs, wds, indices):
        """Update `weights` in place; `states` holds a list of tensors for each part of the state."""
        raise NotImplementedError

    @property
    def _limits(self):
        """Rescaling and clipping, as every formula takes them; a clip of 0 is none, as in MXNet's operators."""
        return {"rescale": self.rescale_grad, "clip": self.clip_gradient or None}

    @property
    def _bounds(self):
        """The same two numbers in the order in which formulas take them."""
        limits = self._limits
        return limits["rescale"], bound(limits["clip"])

    # Do row-sparse gradients touch only their own rows?
    _lazy = False
    # Also those of dense weights?
    _lazy_when_dense = True
    # MXNet's SGD, NAG, LARS and LAMB have an `update_multi_precision` of their own, which does not call `update`:
    # a subclass that overrides `update` alone changes nothing there.
    _past_update = False
    # None: as many parameters at once as there are.
    _list_size = None
    # MXNet asks for the rates of SGD in lists, for the others' one by one: a subclass with its own shows which.
    _rates_in_lists = False

    @takes_lists
    def update(self, index, weight, grad, state):
        """Change weights by gradients, in place: one parameter, or lists of them."""
        if isinstance(index, (list, tuple)):
            self._update(index, weight, grad, list(state))
        else:
            self._update([index], [weight], [grad], [state])

    @takes_lists
    def update_multi_precision(self, index, weight, grad, state):
        """As `update`; float16 weights are updated through their float32 copies under `multi_precision`."""
        single = not isinstance(index, (list, tuple))
        update = MultiTensorOptimizer.update.__get__(self) if self._past_update else self.update
        if not self._keeps_master(weight if single else weight[0]):
            update(index, weight, grad, state)
            return
        masters, inner = zip(*map(self._split_state, [state] if single else state), strict=True)
        grads = list(map(self._master_grad, _as_list(grad)))
        if single:
            update(index, masters[0], grads[0], inner[0])
        else:
            update(index, list(masters), grads, list(inner))
        weights = _as_list(weight)
        if any(w.stype != "default" for w in weights):
            for master, own in zip(masters, weights, strict=True):
                master.copyto(own)
            return
        with torch.no_grad():
            torch._foreach_copy_(list(map(plain_tensor, weights)), list(map(plain_tensor, masters)))
        wrote_anywhere()

    def _master_grad(self, grad):
        """A float16 gradient as the float32 master copy takes it."""
        return grad.astype(numpy.float32)

    def _update(self, indices, weights, grads, states):
        known = self._kept.get(("weight", indices[0]))
        checked = known is not None and known.checked is weights
        dense = (checked or DENSE.issuperset(map(type, weights))) and DENSE.issuperset(map(type, grads))
        if not dense:
            for weight, grad in zip(weights, grads, strict=True):
                check_arrays(weight, grad)
            dense = all(a.stype == "default" for a in (*weights, *grads))
        self._update_count(indices)
        lrs, wds = self._rates(indices)
        if dense:
            self._dense(indices, weights, grads, states, lrs, wds)
            return
        items = list(zip(indices, weights, grads, states, lrs, wds, strict=True))
        plain = [item for item in items if item[1].stype == "default" == item[2].stype]
        if plain:
            self._dense(*map(list, zip(*plain, strict=True)))
        for item in items:
            if item[1].stype != "default" or item[2].stype != "default":
                self._one(*item)

    def _rates(self, indices):
        """Learning rates and weight decays, also a subclass's own."""
        kind = type(self)
        if self._rates_in_lists or (kind._get_lr in TAKE_LISTS and kind._get_wd in TAKE_LISTS):
            return self._get_lrs(indices), self._get_wds(indices)
        return list(map(self._get_lr, indices)), list(map(self._get_wd, indices))

    def _dense(self, indices, weights, grads, states, lrs, wds):
        parts = [kept_tensors(self, (part, indices[0]), arrays) for part, arrays in enumerate(_parts(states))]
        tensors = kept_tensors(self, ("weight", indices[0]), weights)
        if len(weights) == 1 and weights[0]._t.shape != grads[0]._t.shape:
            _tell_shapes(indices, weights, grads)
        before = torch.is_grad_enabled()
        torch._C._set_grad_enabled(False)
        try:
            self._step(tensors, [g._t for g in grads], parts, lrs, wds, indices)  # gradients are only read
        except RuntimeError:
            _tell_shapes(indices, weights, grads)
            raise
        finally:
            torch._C._set_grad_enabled(before)
            wrote_anywhere()

    def _one(self, index, weight, grad, state, lr, wd):
        """One parameter, some of whose arrays are sparse."""
        self._rows(self._step, index, weight, grad, state, lr, wd)

    def _rows(self, step, index, weight, grad, state, lr, wd):
        """`step` on the rows of a sparse gradient, where the formula is lazy, else on all."""
        lazy = grad.stype == "row_sparse" and self._lazy and (self._lazy_when_dense or weight.stype == "row_sparse")
        update_rows(step, index, weight, grad if lazy else grad.tostype("default"), state, lr, wd)

    def _counts(self, indices):
        return list(map(self._index_update_count.__getitem__, indices))
