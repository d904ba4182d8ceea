"""What all optimizers share: the registry, counts, learning rates, weight decays, and the walk over many parameters."""

import warnings
from operator import attrgetter

import numpy
import torch

from .._core.advice.constructors import ExplainsArguments, suggestion
from .._ops.registry.torch_dtypes import torch_dtype
from ..base import _as_list
from ..ndarray import NDArray, cast, zeros
from ..ndarray._dispatch.invoke import plain_tensor
from ..ndarray.ndarray import wrap
from ..registry import _add_class
from ..util import is_np_array

# What is not written into files: where the optimizer meets the program that runs it.
_TRANSIENT = ("param_dict", "_kept", "_all_kept")


class Optimizer(ExplainsArguments):
    """Base class of optimizers. Subclasses define `create_state(index, weight)` and
    `update(index, weight, grad, state)`.

    Programs seldom call an optimizer themselves: `gluon.Trainer(params, "sgd", {...})` and
    `Module.fit(optimizer="sgd", optimizer_params={...})` create it from its name and these parameters.

    Parameters
    ----------
    rescale_grad : float, default 1.0
        Factor of the gradients. `Trainer.step(n)` and `Module` set it to 1 / batch size, so that the step does not grow
        with the batch.
    param_idx2name : dict of int to str, optional
        Names of the parameters by their index, for `set_lr_mult` and `set_wd_mult`, and to recognize biases.
    wd : float, default 0.0
        Weight decay: `wd * weight` is added to the gradient, which shrinks weights that the loss does not need.
    clip_gradient : float, optional
        Each element of the rescaled gradient is clipped to [-clip_gradient, clip_gradient]; None clips nothing.
    learning_rate : float, optional
        The learning rate; None means that of the scheduler, or 0.01.
    lr_scheduler : LRScheduler, optional
        Computes the learning rate from the number of updates. A `learning_rate` given beside it becomes its `base_lr`.
    sym : Symbol, optional
        The network, whose attributes `__lr_mult__` and `__wd_mult__` are used.
    begin_num_update : int, default 0
        The number of updates that count as done, for the scheduler of a run that continues another.
    multi_precision : bool, default False
        Whether a float16 weight keeps a float32 copy, which is updated in its place.
    param_dict : dict of int to Parameter, optional
        Gluon parameters by index; their `lr_mult` and `wd_mult` are used.

    Notes
    -----
    The learning rate of one parameter is `learning_rate * lr_mult`, its weight decay `wd * wd_mult`. Module's
    optimizers know the names of parameters and decay only those that end in `_weight` or `_gamma`. `gluon.Trainer`
    decays all parameters, biases included, unless `net.collect_params(".*bias").setattr("wd_mult", 0)` says otherwise.

    Examples
    --------
    >>> class Descent(mx.optimizer.Optimizer):
    ...     def create_state(self, index, weight):
    ...         return None
    ...     def update(self, index, weight, grad, state):
    ...         self._update_count(index)
    ...         weight[:] = weight - self._get_lr(index) * (self.rescale_grad * grad)
    >>> weight = mx.nd.ones((2,))
    >>> update = mx.optimizer.get_updater(Descent(learning_rate=0.5, rescale_grad=0.1))
    >>> update(0, mx.nd.array([10, 20]), weight)
    >>> weight.asnumpy()
    array([0.5, 0. ], dtype=float32)
    """

    opt_registry = {}

    def __init__(
        self,
        rescale_grad=1.0,
        param_idx2name=None,
        wd=0.0,
        clip_gradient=None,
        learning_rate=None,
        lr_scheduler=None,
        sym=None,
        begin_num_update=0,
        multi_precision=False,
        param_dict=None,
    ):
        self.rescale_grad = rescale_grad
        self.lr_scheduler = lr_scheduler
        self.lr = 0.01 if learning_rate is None and lr_scheduler is None else learning_rate
        self._overrule_scheduler(learning_rate)
        self.wd, self.clip_gradient = wd, clip_gradient
        self.begin_num_update = self.num_update = begin_num_update
        self._index_update_count = {}  # updates of each parameter on the current device, and on all of them
        self._all_index_update_counts = {0: self._index_update_count}
        self._all_kept, self._kept = {}, {}
        self.lr_mult, self.wd_mult = {}, {}
        self.multi_precision = multi_precision
        self.aggregate_num = 0
        names = {} if param_idx2name is None else param_idx2name
        assert isinstance(names, dict), "param_idx2name should be a dict of param indexes to names."
        self.idx2name = names.copy()
        self.sym_info = () if sym is None else (sym.attr_dict(), sym.list_arguments())
        self.param_dict = param_dict or {}
        self.allow_np_array = is_np_array()
        self.set_lr_mult({})
        self.set_wd_mult({})

    def _overrule_scheduler(self, learning_rate):
        scheduler = self.lr_scheduler
        if scheduler is not None and learning_rate is not None and scheduler.base_lr != learning_rate:
            # MXNet prints this warning instead of raising it.
            print(
                UserWarning(
                    "learning rate from ``lr_scheduler`` has been overwritten by ``learning_rate`` in optimizer."
                )
            )
            scheduler.base_lr = learning_rate

    @staticmethod
    def register(klass):
        """Register an optimizer class, so that `create` finds it under its lower-case name.

        Parameters
        ----------
        klass : type
            A subclass of `Optimizer`.

        Returns
        -------
        type
            The class itself, so that `register` works as a decorator.

        Examples
        --------
        >>> @mx.optimizer.register
        ... class Still(mx.optimizer.Optimizer):
        ...     def update(self, index, weight, grad, state):
        ...         pass
        >>> type(mx.optimizer.create("still")).__name__
        'Still'
        """
        return _add_class(Optimizer.opt_registry, klass, "optimizer")

    @staticmethod
    def create_optimizer(name, **kwargs):
        """Make an optimizer by name.

        Parameters
        ----------
        name : str
            The name of a registered class, in any case: 'sgd', 'adam', ...
        **kwargs
            Arguments of the class.

        Returns
        -------
        Optimizer

        Examples
        --------
        >>> mx.optimizer.create("sgd", learning_rate=0.1).lr
        0.1
        """
        try:
            klass = Optimizer.opt_registry[name.lower()]
        except KeyError:
            hint = suggestion(name.lower(), Optimizer.opt_registry)
            raise ValueError(f"Cannot find optimizer {name}; {hint}") from None
        return klass(**kwargs)

    @property
    def learning_rate(self):
        """The learning rate of the next update, a float; a scheduler computes it from the number of updates.

        Examples
        --------
        >>> schedule = mx.lr_scheduler.FactorScheduler(step=10, factor=0.5, base_lr=0.4)
        >>> mx.optimizer.SGD(learning_rate=0.4, lr_scheduler=schedule, begin_num_update=11).learning_rate
        0.2
        """
        return self.lr if self.lr_scheduler is None else self.lr_scheduler(self.num_update)

    def create_state(self, index, weight):
        """Make the state that `update` needs for a weight, such as its momentum.

        Parameters
        ----------
        index : int or str
            The index of the weight.
        weight : NDArray
            The weight; a state usually has its shape and context.

        Returns
        -------
        NDArray, tuple of NDArray, or None if the optimizer keeps no state

        Examples
        --------
        >>> mx.optimizer.SGD(momentum=0.9).create_state(0, mx.nd.ones((2,))).asnumpy()
        array([0., 0.], dtype=float32)
        """

    def create_state_multi_precision(self, index, weight):
        """Make the state as `create_state` does; for a float16 weight under `multi_precision`, with a float32 copy of
        the weight.

        Parameters
        ----------
        index : int or str
            The index of the weight.
        weight : NDArray
            The weight.

        Returns
        -------
        NDArray, tuple, or None
            The state or, with a copy of the weight, both in a tuple.

        Examples
        --------
        >>> optimizer = mx.optimizer.Adam(multi_precision=True)
        >>> copy, state = optimizer.create_state_multi_precision(0, mx.nd.ones((2,), dtype="float16"))
        >>> copy.dtype
        <class 'numpy.float32'>
        """
        if self._keeps_master(weight):
            master = weight.astype(numpy.float32)
            return self._join_state(master, self.create_state(index, master))
        if weight.dtype == numpy.float16:
            warnings.warn(
                "Accumulating with float16 in optimizer can lead to poor accuracy or slow convergence. "
                f"Consider using multi_precision=True option of the {self._own_name}optimizer",
                stacklevel=2,
            )
        return self.create_state(index, weight)

    _own_name = ""

    def _keeps_master(self, weight):
        return self.multi_precision and weight.dtype == numpy.float16

    # Two orders exist in MXNet's state files: (master, state) here, (state, master) in the SGD family.
    def _join_state(self, master, state):
        return (master, state)

    def _split_state(self, state):
        """(master copy, the rest) out of a multi-precision state."""
        return state[0], state[1]

    def update(self, index, weight, grad, state):
        """Update a weight in place with its gradient.

        Parameters
        ----------
        index : int or str, or list of them
            The index of the weight, for its multipliers and its count of updates.
        weight : NDArray, or list of them
            The weight.
        grad : NDArray, or list of them
            The gradient.
        state : what `create_state` returned, or list of them
            The state, which is changed in place.

        Examples
        --------
        >>> optimizer = mx.optimizer.SGD(learning_rate=0.5)
        >>> weight = mx.nd.ones((2,))
        >>> optimizer.update(0, weight, mx.nd.array([1, 2]), optimizer.create_state(0, weight))
        >>> weight.asnumpy()
        array([0.5, 0. ], dtype=float32)
        """
        raise NotImplementedError

    def update_multi_precision(self, index, weight, grad, state):
        """Update as `update` does; a float16 weight under `multi_precision` is updated through its float32 copy.

        Parameters
        ----------
        index : int or str, or list of them
            The index of the weight.
        weight : NDArray, or list of them
            The weight.
        grad : NDArray, or list of them
            The gradient.
        state : what `create_state_multi_precision` returned, or list of them
            The state, which is changed in place.

        Examples
        --------
        >>> optimizer = mx.optimizer.SGD(learning_rate=0.5, multi_precision=True)
        >>> weight = mx.nd.ones((2,), dtype="float16")
        >>> state = optimizer.create_state_multi_precision(0, weight)
        >>> optimizer.update_multi_precision(0, weight, mx.nd.array([1, 2], dtype="float16"), state)
        >>> weight.asnumpy()
        array([0.5, 0. ], dtype=float16)
        """
        if not self._keeps_master(weight):
            self.update(index, weight, grad, state)
            return
        master, inner = self._split_state(state)
        self.update(index, master, grad.astype(numpy.float32), inner)
        cast(master, dtype=weight.dtype, out=weight)

    def set_learning_rate(self, lr):
        """Set the learning rate of the following updates; raises UserWarning if a scheduler computes it.

        Parameters
        ----------
        lr : float
            The new learning rate.

        Examples
        --------
        >>> optimizer = mx.optimizer.SGD(learning_rate=0.5)
        >>> optimizer.set_learning_rate(0.1)
        >>> optimizer.learning_rate
        0.1
        """
        if self.lr_scheduler is not None:
            raise UserWarning(
                "LRScheduler of the optimizer has already been defined. Note that set_learning_rate can mutate the "
                "value of the learning rate of the optimizer only when the LRScheduler of the optimizer is undefined."
            )
        self.lr = lr

    def set_lr_scale(self, args_lrscale):
        """Raise DeprecationWarning, as MXNet does; `set_lr_mult` replaces it.

        Parameters
        ----------
        args_lrscale : dict
            Not used.

        Examples
        --------
        >>> mx.optimizer.SGD().set_lr_scale({})
        Traceback (most recent call last):
            ...
        DeprecationWarning
        """
        raise DeprecationWarning

    def set_lr_mult(self, args_lr_mult):
        """Set factors of the learning rate for single parameters.

        They are added to the factors from the symbol's attribute `__lr_mult__`. A Gluon parameter has its own
        `lr_mult`.

        Parameters
        ----------
        args_lr_mult : dict of int or str to float
            Factors by index or name.

        Examples
        --------
        >>> optimizer = mx.optimizer.SGD(learning_rate=1, param_idx2name={0: "fc_weight", 1: "fc_bias"})
        >>> optimizer.set_lr_mult({"fc_bias": 2})
        >>> weight = mx.nd.zeros((1,))
        >>> optimizer.update(1, weight, mx.nd.ones((1,)), None)
        >>> weight.asnumpy()
        array([-2.], dtype=float32)
        """
        self.lr_mult = self._attribute_factors("__lr_mult__")
        self.lr_mult.update(args_lr_mult)

    def set_wd_mult(self, args_wd_mult):
        """Set factors of the weight decay for single parameters.

        Parameters whose names end in neither `_weight` nor `_gamma` have the factor 0 unless one is given.

        Parameters
        ----------
        args_wd_mult : dict of int or str to float
            Factors by index or name.

        Examples
        --------
        >>> optimizer = mx.optimizer.SGD(wd=0.1, param_idx2name={0: "fc_weight", 1: "fc_bias"})
        >>> optimizer.set_wd_mult({"fc_weight": 0.5})
        >>> optimizer.wd_mult
        {'fc_bias': 0.0, 'fc_weight': 0.5}
        """
        self.wd_mult = {n: 0.0 for n in self.idx2name.values() if not n.endswith(self._decayed_names)}
        self.wd_mult.update(self._attribute_factors("__wd_mult__"))
        self.wd_mult.update(args_wd_mult)

    _decayed_names = ("_weight", "_gamma")

    def _attribute_factors(self, key):
        if not self.sym_info:
            return {}
        attributes, names = self.sym_info
        return {n: float(attributes[n][key]) for n in names if key in attributes.get(n, ())}

    def _set_current_context(self, device_id):
        """Each device counts its own updates of a parameter, and has tensors of its own."""
        self._index_update_count = self._all_index_update_counts.setdefault(device_id, {})
        self._kept = self._all_kept.setdefault(device_id, {})

    def _update_count(self, index):
        counts, indices = self._index_update_count, _as_list(index)
        if list(counts) == indices and len(seen := set(counts.values())) == 1:  # the usual case: all, with one past
            now = seen.pop() + 1
            counts.update(dict.fromkeys(counts, now))
            self.num_update = max(self.num_update, now)
            return
        for i in indices:
            counts[i] = counts.get(i, self.begin_num_update) + 1
            self.num_update = max(self.num_update, counts[i])

    def _factor(self, index, attribute, factors):
        """How parameter `index` multiplies the common value: by its Parameter, by index, or by name."""
        if index in self.param_dict:
            return getattr(self.param_dict[index], attribute)
        if index in factors:
            return factors[index]
        return factors.get(self.idx2name.get(index), 1.0)

    def _factors(self, indices, attribute, factors):
        """`_factor` of each index; Gluon's optimizers know all their parameters, and need no look-up by name."""
        try:
            params = map(self.param_dict.__getitem__, indices)
            return list(map(attrgetter(attribute), params))
        except KeyError:
            return [self._factor(i, attribute, factors) for i in indices]

    def _get_lrs(self, indices):
        return self._times(self.learning_rate, indices, "lr_mult", self.lr_mult)

    def _times(self, value, indices, attribute, factors):
        """`value` times each parameter's factor, which mostly is the same for all."""
        found = self._factors(indices, attribute, factors)
        if found.count(found[0]) == len(found):
            return [value * found[0]] * len(found)
        return [value * factor for factor in found]

    def _get_lr(self, index):
        return self._get_lrs([index])[0]

    def _get_wds(self, indices):
        return self._times(self.wd, indices, "wd_mult", self.wd_mult)

    def _get_wd(self, index):
        return self._get_wds([index])[0]

    def _check_loaded(self):
        """Refuse attributes of a file with which no step is possible."""

    def __getstate__(self):
        return {key: value for key, value in self.__dict__.items() if key not in _TRANSIENT}

    def __setstate__(self, state):
        self.__dict__ = {**state, **{name: {} for name in _TRANSIENT}}


def zeros_like(weight, dtype=None, stype="default"):
    """A state of zeros, shaped and placed as the weight; in its memory order too, for the fused kernels."""
    if stype == "default" and weight.stype == "default":
        kind = weight._t.dtype if dtype is None else torch_dtype(dtype)
        return wrap(torch.zeros_like(plain_tensor(weight), dtype=kind), weight.context)
    return zeros(weight.shape, weight.context, dtype=dtype or weight.dtype, stype=stype)


def check_arrays(weight, grad):
    assert isinstance(weight, NDArray)
    assert isinstance(grad, NDArray)
