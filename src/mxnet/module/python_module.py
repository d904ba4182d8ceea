"""Modules whose computation is written in Python, without parameters."""

import logging
from typing import Any

from .. import ndarray as nd
from ..initializer import Uniform
from .base_module import BaseModule


def _listed(names):
    return list(names) if isinstance(names, tuple) else names


class PythonModule(BaseModule):
    """Has no parameters to keep; subclasses define `forward`, `backward` and `_compute_output_shapes`."""

    def __init__(self, data_names, label_names, output_names, logger=logging):
        super().__init__(logger=logger)
        self._data_names = _listed(data_names)
        self._label_names = _listed(label_names)
        self._output_names = output_names
        self._data_shapes = None
        self._label_shapes = None
        self._output_shapes = None

    @property
    def data_names(self):
        return self._data_names

    @property
    def output_names(self):
        return self._output_names

    @property
    def data_shapes(self):
        return self._data_shapes

    @property
    def label_shapes(self):
        return self._label_shapes

    @property
    def output_shapes(self):
        return self._output_shapes

    def get_params(self):
        return {}, {}

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

    def update(self):
        """There is nothing to update."""

    def update_metric(self, eval_metric, labels, pre_sliced=False):
        if self._label_shapes is None:
            return
        if pre_sliced:
            raise RuntimeError("PythonModule does not support presliced labels")
        eval_metric.update(labels, self.get_outputs())

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
        if self.binded and not force_rebind:
            self.logger.warning("Already bound, ignoring bind()")
            return
        assert grad_req == "write", "Python module only support write gradient"
        self.for_training = for_training
        self.inputs_need_grad = inputs_need_grad
        assert [x[0] for x in data_shapes] == self._data_names, (
            f"the data are called {self._data_names}, got {[x[0] for x in data_shapes]}"
        )
        self._data_shapes = data_shapes
        self._label_shapes = label_shapes
        if label_shapes is not None:
            assert [x[0] for x in label_shapes] == self._label_names, (
                f"the labels are called {self._label_names}, got {[x[0] for x in label_shapes]}"
            )
        self._output_shapes = self._compute_output_shapes()
        self.binded = True

    def _compute_output_shapes(self):
        """[(name, shape)] of the outputs, from the shapes of data and labels."""
        raise NotImplementedError

    def init_optimizer(
        self, kvstore="local", optimizer="sgd", optimizer_params=(("learning_rate", 0.01),), force_init=False
    ):
        """There is nothing to optimize."""
        self.optimizer_initialized = True


class PythonLossModule(PythonModule):
    """A loss whose gradient a Python function gives: `grad_func(scores, labels)`."""

    def __init__(
        self, name="pyloss", data_names=("data",), label_names=("softmax_label",), logger=logging, grad_func=None
    ):
        super().__init__(data_names, label_names, [name + "_output"], logger=logger)
        assert len(data_names) == len(label_names) == 1, f"one input, one label; got {data_names}, {label_names}"
        assert grad_func is None or callable(grad_func), f"grad_func must be a function, got {grad_func!r}"
        self._name = name
        self._scores = None
        self._labels = None
        self._scores_grad = None
        self._grad_func = grad_func

    def _compute_output_shapes(self):
        return [(self._name + "_output", self._data_shapes[0][1])]

    def forward(self, data_batch, is_train=None):
        """The scores pass as they are."""
        self._scores = data_batch.data[0]
        if self.for_training if is_train is None else is_train:
            self._labels = data_batch.label[0]

    def get_outputs(self, merge_multi_context=True):
        assert merge_multi_context is True
        return [self._scores]

    def backward(self, out_grads=None):
        assert out_grads is None, "For a loss module, out_grads should be None"
        assert self.for_training, "bind with for_training=True to run backward"
        self._backward_impl()

    def _backward_impl(self):
        if self._grad_func is None:
            raise NotImplementedError("give grad_func, or override _backward_impl")
        grad = self._grad_func(self._scores, self._labels)
        self._scores_grad = grad if isinstance(grad, nd.NDArray) else nd.array(grad)

    def get_input_grads(self, merge_multi_context=True):
        assert merge_multi_context is True
        return [self._scores_grad]

    def install_monitor(self, mon):
        """There are no operators to watch."""
        raise NotImplementedError("a Python loss has no operators to watch")
