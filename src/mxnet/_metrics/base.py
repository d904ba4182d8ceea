"""The base of metrics: running sums that stay on the device until a program reads them."""

from html import escape

import numpy as np
import torch

from .. import ndarray, registry
from .._core.advice.constructors import ExplainsArguments
from .._device import waiting

_UNEQUAL = (
    "a metric compares them one by one, so both need the same number of arrays and the same number of samples",
    "both arrays need the same shape",
)


def check_label_shapes(labels, preds, wrap=False, shape=False):
    """Check that labels and predictions fit: the same number of arrays, or the same shape.

    Parameters
    ----------
    labels, preds : NDArray or list of NDArray
        What to compare.
    wrap : bool, default False
        Whether a single array is wrapped into a list.
    shape : bool, default False
        Whether shapes are compared instead of lengths.

    Returns
    -------
    labels, preds
        The arrays, in lists if `wrap`.

    Examples
    --------
    >>> labels, preds = mx.metric.check_label_shapes(mx.nd.ones((2,)), mx.nd.ones((2,)), wrap=True)
    >>> len(labels)
    1
    """
    found = (labels.shape, preds.shape) if shape else (len(labels), len(preds))
    if found[0] != found[1]:
        raise ValueError(
            f"Shape of labels {found[0]} does not match shape of predictions {found[1]}: {_UNEQUAL[bool(shape)]}"
        )
    if wrap:
        labels = [labels] if isinstance(labels, ndarray.NDArray) else labels
        preds = [preds] if isinstance(preds, ndarray.NDArray) else preds
    return labels, preds


def values_of(array, like=None):
    """The array's tensor, out of any recorded graph, on the device of `like`."""
    if not isinstance(array, ndarray.NDArray):
        raise AssertionError(f"Argument data must have NDArray type, but got {array}")
    tensor = array._t.detach()
    return tensor if like is None else tensor.to(like.device, non_blocking=tensor.is_cpu)


def number(value):
    """A metric's value for `%f`: the element of an array of one, which NumPy 2.4 no longer takes for a number."""
    return value.item() if isinstance(value, np.ndarray) and value.size == 1 else value


class Running:
    """Attribute for a running total: reads as a number, but is kept as a tensor until then."""

    def __set_name__(self, owner, name):
        self.slot = "_" + name

    def __get__(self, metric, owner=None):
        if metric is None:
            return self
        try:
            value = metric.__dict__[self.slot]
        except KeyError:  # a composite of metrics has none of its own
            raise AttributeError(f"{type(metric).__name__!r} object has no attribute {self.slot[1:]!r}") from None
        if isinstance(value, torch.Tensor):
            value = metric.__dict__[self.slot] = waiting.number(value)
        return value

    def __set__(self, metric, value):
        # a sum of a Python number and NumPy's float32 is float64 in NumPy 1, float32 in NumPy 2
        metric.__dict__[self.slot] = np.float64(value) if isinstance(value, (np.float32, np.float16)) else value

    def add(self, metric, amount):
        """Add without reading, so that nothing waits for the device."""
        total = metric.__dict__[self.slot]
        if isinstance(amount, torch.Tensor):
            kind = torch.float32 if amount.device.type == "mps" else torch.float64  # which Apple's GPUs lack
            amount = amount.detach().reshape(()).to(kind)
            if isinstance(total, torch.Tensor):
                amount = amount.to(total.device)
        elif isinstance(amount, np.generic):
            amount = amount.item()  # NumPy 2 keeps a sum with float16 in float16, and shows float64 as np.float64(...)
        metric.__dict__[self.slot] = total + amount


def _clear(metric, scope=""):
    """Set the local sums of a metric, or those with the prefix "global_", to zero."""
    setattr(metric, scope + "num_inst", 0)
    setattr(metric, scope + "sum_metric", 0.0)


class EvalMetric(ExplainsArguments):
    """Base of all metrics: the value is `sum_metric / num_inst`, over what `update` has counted.

    Subclasses define `update(labels, preds)`, which adds to `sum_metric` and `num_inst`. A metric that also adds to
    `global_sum_metric` and `global_num_inst`, which `reset_local` does not clear, passes `has_global_stats=True`.

    Parameters
    ----------
    name : str
        Name that is logged.
    output_names, label_names : list of str, optional
        Which outputs and labels `update_dict` uses; all of them by default.
    **kwargs
        Arguments of the subclass, for `get_config`.

    Examples
    --------
    >>> class Count(mx.metric.EvalMetric):
    ...     def update(self, labels, preds):
    ...         self.sum_metric += sum(len(label) for label in labels)
    ...         self.num_inst += 1
    >>> metric = Count("samples_per_batch")
    >>> metric.update([mx.nd.zeros((4,))], [mx.nd.zeros((4, 10))])
    >>> metric.get()
    ('samples_per_batch', 4.0)
    """

    sum_metric = Running()
    num_inst = Running()
    global_sum_metric = Running()
    global_num_inst = Running()

    def __init__(self, name, output_names=None, label_names=None, **kwargs):
        self._has_global_stats = kwargs.pop("has_global_stats", False)
        self._kwargs = kwargs
        self.name, self.output_names, self.label_names = str(name), output_names, label_names
        self.reset()

    def __str__(self):
        return f"EvalMetric: {dict(self.get_name_value())}"

    def _repr_html_(self):
        rows = (f"<tr><td>{escape(str(name))}</td><td>{number(value):.6g}</td></tr>" for name, value in self._shown())
        return f"<table><tr><th>{escape(type(self).__name__)}</th><th>value</th></tr>{''.join(rows)}</table>"

    def _shown(self):
        return [(name, value) for name, value in self.get_name_value() if np.size(value) == 1]

    def get_config(self):
        """The arguments that `mx.metric.create` needs to make this metric again, a dict.

        Examples
        --------
        >>> mx.metric.TopKAccuracy(top_k=3).get_config()["metric"]
        'TopKAccuracy'
        """
        return {
            **self._kwargs,
            "metric": self.__class__.__name__,
            "name": self.name,
            "output_names": self.output_names,
            "label_names": self.label_names,
        }

    def update_dict(self, label, pred):
        """Count a batch given by name; `label_names` and `output_names` say which arrays are used.

        Parameters
        ----------
        label, pred : dict of str to NDArray
            Labels and outputs by name.

        Examples
        --------
        >>> metric = mx.metric.Accuracy(output_names=["class"], label_names=["class_label"])
        >>> pred = {"class": mx.nd.array([[0.1, 0.9]]), "box": mx.nd.zeros((1, 4))}
        >>> metric.update_dict({"class_label": mx.nd.array([1])}, pred)
        >>> metric.get()
        ('accuracy', 1.0)
        """
        self.update(_chosen(label, self.label_names), _chosen(pred, self.output_names))

    def update(self, labels, preds):
        """Add a batch to the metric.

        Parameters
        ----------
        labels : list of NDArray
            The labels, one array for each output that is measured.
        preds : list of NDArray
            The outputs of the network, as many arrays.

        Examples
        --------
        >>> metric = mx.metric.Accuracy()
        >>> metric.update([mx.nd.array([1, 0])], [mx.nd.array([[0.1, 0.9], [0.2, 0.8]])])
        >>> metric.get()
        ('accuracy', 0.5)
        """
        raise NotImplementedError

    def _add(self, total, count):
        """Add to the local and the global sums; both amounts may be tensors."""
        kind = EvalMetric
        kind.sum_metric.add(self, total)
        kind.global_sum_metric.add(self, total)
        kind.num_inst.add(self, count)
        kind.global_num_inst.add(self, count)

    def reset(self):
        """Forget all batches, in the local and in the global sums.

        Examples
        --------
        >>> metric = mx.metric.MAE()
        >>> metric.update([mx.nd.array([1])], [mx.nd.array([3])])
        >>> metric.reset()
        >>> metric.get()
        ('mae', nan)
        """
        for scope in ("", "global_"):
            _clear(self, scope)

    def reset_local(self):
        """Forget all batches in the local sums, which `get` reads; the global sums, which `get_global` reads, stay.

        Examples
        --------
        >>> metric = mx.metric.MAE()
        >>> metric.update([mx.nd.array([1])], [mx.nd.array([3])])
        >>> metric.reset_local()
        >>> metric.get(), metric.get_global()
        (('mae', nan), ('mae', 2.0))
        """
        _clear(self)

    def _result(self, total, count):
        return float("nan") if count == 0 else total / count

    def get(self):
        """The name and the value since the last `reset` or `reset_local`.

        Returns
        -------
        (str, float), or (list of str, list of float) of a metric with several values
            The value is NaN before the first update.

        Examples
        --------
        >>> metric = mx.metric.MSE()
        >>> metric.update([mx.nd.array([1, 2])], [mx.nd.array([1, 4])])
        >>> metric.get()
        ('mse', 2.0)
        """
        return self.name, self._result(self.sum_metric, self.num_inst)

    def get_global(self):
        """The name and the value since the last `reset`; `reset_local` does not change it.

        Returns
        -------
        (str, float), or (list of str, list of float) of a metric with several values

        Examples
        --------
        >>> metric = mx.metric.MAE()
        >>> metric.update([mx.nd.array([1])], [mx.nd.array([3])])
        >>> metric.reset_local()
        >>> metric.get_global()
        ('mae', 2.0)
        """
        if not self._has_global_stats:
            return self.get()
        return self.name, self._result(self.global_sum_metric, self.global_num_inst)

    def get_name_value(self):
        """The result of `get` as a list of (name, value) pairs, which suits logs and `dict`.

        Examples
        --------
        >>> metric = mx.metric.CompositeEvalMetric(["mae", "mse"])
        >>> metric.update([mx.nd.array([1])], [mx.nd.array([3])])
        >>> metric.get_name_value()
        [('mae', 2.0), ('mse', 4.0)]
        """
        return _pairs(*self.get())

    def get_global_name_value(self):
        """The result of `get_global` as a list of (name, value) pairs.

        Examples
        --------
        >>> metric = mx.metric.MAE()
        >>> metric.update([mx.nd.array([1])], [mx.nd.array([3])])
        >>> metric.get_global_name_value()
        [('mae', 2.0)]
        """
        return _pairs(*self.get_global()) if self._has_global_stats else self.get_name_value()


def _chosen(arrays, names):
    return list(arrays.values()) if names is None else [arrays[name] for name in names]


def _pairs(names, values):
    names = names if isinstance(names, list) else [names]
    values = values if isinstance(values, list) else [values]
    return list(zip(names, values, strict=False))


register = registry.get_register_func(EvalMetric, "metric")
alias = registry.get_alias_func(EvalMetric, "metric")
create_registered = registry.get_create_func(EvalMetric, "metric")


class PairMetric(EvalMetric):
    """Metrics that keep local and global numbers; `update` walks over pairs of arrays."""

    def __init__(self, name, output_names=None, label_names=None, **kwargs):
        super().__init__(name, output_names=output_names, label_names=label_names, has_global_stats=True, **kwargs)

    def update(self, labels, preds):
        labels, preds = check_label_shapes(labels, preds, True)
        for label, pred in zip(labels, preds, strict=False):
            self._update_pair(label, pred)

    def _update_pair(self, label, pred):
        raise NotImplementedError
