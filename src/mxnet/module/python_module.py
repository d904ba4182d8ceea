"""Modules whose computation is written in Python, without parameters."""

import logging
from typing import Any

from .. import ndarray as nd
from ..initializer import Uniform
from .base_module import BaseModule, shown


def _listed(names):
    return list(names) if isinstance(names, tuple) else names


def _check_names(kind, shapes, names):
    given = [x[0] for x in shapes]
    assert given == names, f"the {kind} are called {names}, got {given}"


class PythonModule(BaseModule):
    """Base of modules that compute in Python and have no parameters.

    Subclasses define `forward`, `get_outputs`, `backward`, `get_input_grads` and `_compute_output_shapes`.

    Parameters
    ----------
    data_names, label_names : list of str
        Names of inputs and labels; `label_names` may be None.
    output_names : list of str
        What the outputs are called.
    logger : logging.Logger or module
        Where warnings are logged.

    Examples
    --------
    >>> class Double(mx.mod.PythonModule):
    ...     def _compute_output_shapes(self):
    ...         return [("double_output", self._data_shapes[0][1])]
    ...     def forward(self, data_batch, is_train=None):
    ...         self.outputs = [2 * data_batch.data[0]]
    ...     def get_outputs(self, merge_multi_context=True):
    ...         return self.outputs
    >>> mod = Double(["data"], None, ["double_output"])
    >>> mod.bind([("data", (2,))])
    >>> mod.init_params()
    >>> mod.forward(mx.io.DataBatch([mx.nd.ones((2,))]))
    >>> mod.get_outputs()[0].asnumpy()
    array([2., 2.], dtype=float32)
    """

    def __init__(self, data_names, label_names, output_names, logger=logging):
        super().__init__(logger=logger)
        self._data_names, self._label_names = _listed(data_names), _listed(label_names)
        self._output_names = output_names
        self._data_shapes = self._label_shapes = self._output_shapes = None

    data_names = shown("_data_names", "Names of the inputs.")
    output_names = shown("_output_names", "Names of the outputs.")
    data_shapes = shown("_data_shapes", "Names and shapes of the inputs.")
    label_shapes = shown("_label_shapes", "Names and shapes of the labels.")
    output_shapes = shown("_output_shapes", "Names and shapes of the outputs.")

    def bind(
        self,
        data_shapes,
        label_shapes=None,
        for_training=True,
        inputs_need_grad=False,
        force_rebind=False,
        shared_module=None,
        grad_req="write",
    ):
        if not self._begin_bind(force_rebind, for_training, inputs_need_grad):
            return
        assert grad_req == "write", f"modules in Python write their gradients, got grad_req={grad_req!r}"
        _check_names("data", data_shapes, self._data_names)
        if label_shapes is not None:
            _check_names("labels", label_shapes, self._label_names)
        self._data_shapes, self._label_shapes = data_shapes, label_shapes
        self._output_shapes = self._compute_output_shapes()
        self.binded = True

    def init_params(
        self,
        initializer: Any = Uniform(0.01),
        arg_params=None,
        aux_params=None,
        allow_missing=False,
        force_init=False,
        allow_extra=False,
    ):
        """There are no parameters to fill."""
        self.params_initialized = True

    def get_params(self):
        """Two empty dicts: there are no parameters."""
        return {}, {}

    def update_metric(self, eval_metric, labels, pre_sliced=False):
        has_labels = self._label_shapes is not None
        if has_labels and pre_sliced:
            raise RuntimeError(f"{type(self).__name__} has one device and takes labels that are not sliced")
        if has_labels:
            eval_metric.update(labels, self.get_outputs())

    def update(self):
        """There is nothing to update."""

    def _compute_output_shapes(self):
        """[(name, shape)] of the outputs, from the shapes of data and labels."""
        raise NotImplementedError

    def init_optimizer(
        self, kvstore="local", optimizer="sgd", optimizer_params=(("learning_rate", 0.01),), force_init=False
    ):
        """There is nothing to optimize."""
        self.optimizer_initialized = True


class PythonLossModule(PythonModule):
    """A loss whose gradient a Python function computes; the scores are its output.

    Parameters
    ----------
    name : str
        Name; the output is called `name_output`.
    data_names, label_names : list of str
        Name of the scores and of the labels, one each.
    logger : logging.Logger or module
        Where warnings are logged.
    grad_func : callable
        Takes scores and labels, returns the gradient of the scores.

    Examples
    --------
    >>> loss = mx.mod.PythonLossModule(grad_func=lambda scores, labels: scores - labels)
    >>> loss.bind([("data", (2,))], [("softmax_label", (2,))])
    >>> loss.forward(mx.io.DataBatch([mx.nd.array([3, 5])], [mx.nd.array([1, 1])]), is_train=True)
    >>> loss.backward()
    >>> loss.get_input_grads()[0].asnumpy()
    array([2., 4.], dtype=float32)
    """

    def __init__(
        self, name="pyloss", data_names=("data",), label_names=("softmax_label",), logger=logging, grad_func=None
    ):
        super().__init__(data_names, label_names, [name + "_output"], logger=logger)
        assert len(data_names) == len(label_names) == 1, f"one input, one label; got {data_names}, {label_names}"
        assert grad_func is None or callable(grad_func), f"grad_func must be a function, got {grad_func!r}"
        self._name, self._grad_func = name, grad_func
        self._scores = self._labels = self._scores_grad = None

    def _compute_output_shapes(self):
        return [(self._name + "_output", self._data_shapes[0][1])]

    def forward(self, data_batch, is_train=None):
        """The scores pass as they are."""
        self._scores = data_batch.data[0]
        if self.for_training if is_train is None else is_train:
            self._labels = data_batch.label[0]

    def backward(self, out_grads=None):
        assert self.for_training, "bind with for_training=True to run backward"
        assert out_grads is None, "the gradient of a loss begins here: out_grads must be None"
        self._backward_impl()

    def get_outputs(self, merge_multi_context=True):
        assert merge_multi_context is True, "a Python loss has one device, its outputs are never apart"
        return [self._scores]

    def _backward_impl(self):
        if self._grad_func is None:
            raise NotImplementedError("give grad_func, or override _backward_impl")
        grad = self._grad_func(self._scores, self._labels)
        self._scores_grad = grad if isinstance(grad, nd.NDArray) else nd.array(grad)

    def get_input_grads(self, merge_multi_context=True):
        assert merge_multi_context is True, "a Python loss has one device, its gradients are never apart"
        return [self._scores_grad]

    def install_monitor(self, mon):
        """There are no operators to watch."""
        raise NotImplementedError("a Python loss has no operators to watch")
