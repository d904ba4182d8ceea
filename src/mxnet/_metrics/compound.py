"""Metrics made of other metrics or of a function, and `mx.metric.create`."""

import functools

from .base import EvalMetric, alias, check_label_shapes, create_registered, register


def create(metric, *args, **kwargs):
    """Metric from a name, a function or a list of these.

    Parameters
    ----------
    metric : str, callable, EvalMetric or list
        A registered name such as 'acc', 'mse' or 'f1' (upper and lower case are equal); a function of (label, pred),
        which becomes a `CustomMetric`; a metric, which is returned as it is; or a list of these, which becomes a
        `CompositeEvalMetric`.
    *args, **kwargs
        Arguments of the metric's class.

    Returns
    -------
    EvalMetric

    Notes
    -----
    The error for an unknown name suggests the nearest registered one. `mx.metric.register` adds your own classes.

    Examples
    --------
    >>> mx.metric.create("top_k_accuracy", top_k=5).name
    'top_k_accuracy_5'
    >>> mx.metric.create(["acc", "ce"]).get()
    (['accuracy', 'cross-entropy'], [nan, nan])
    >>> mx.metric.create(lambda label, pred: float((label == pred).mean())).name
    'custom(<lambda>)'
    """
    if isinstance(metric, list):
        return CompositeEvalMetric([create(each, *args, **kwargs) for each in metric])
    return (CustomMetric if callable(metric) else create_registered)(metric, *args, **kwargs)


def _selected(arrays, names):
    return arrays if names is None else {name: array for name, array in arrays.items() if name in names}


def _for_each(method):
    """A method that calls the given one of every metric."""

    @functools.wraps(method)
    def call(self, *args, **kwargs):
        for metric in self.metrics:
            getattr(metric, method.__name__)(*args, **kwargs)

    return call


@register
@alias("composite")
class CompositeEvalMetric(EvalMetric):
    """Several metrics that are updated together.

    `get` returns a list of names and a list of values, in the order of the metrics.

    Parameters
    ----------
    metrics : list, optional
        Metrics, or what `mx.metric.create` makes them from, such as names.
    name : str, default 'composite'
        The name of the whole; `get` reports the names of the parts.
    output_names, label_names : list of str, optional
        Which outputs and labels `update_dict` uses, by name; None means all.

    Examples
    --------
    >>> metric = mx.metric.CompositeEvalMetric(["acc", "mse"])
    >>> metric.update([mx.nd.array([0, 1])], [mx.nd.array([0, 1])])
    >>> metric.get()
    (['accuracy', 'mse'], [1.0, 0.0])
    >>> metric.get_name_value()
    [('accuracy', 1.0), ('mse', 0.0)]
    """

    def __init__(self, metrics=None, name="composite", output_names=None, label_names=None):
        self.metrics = []
        super().__init__(name, output_names=output_names, label_names=label_names, has_global_stats=True)
        self.metrics = [create(m) for m in metrics or ()]

    update, reset, reset_local = map(_for_each, (EvalMetric.update, EvalMetric.reset, EvalMetric.reset_local))

    def update_dict(self, labels, preds):
        """Give the labels and outputs that are selected by name to every metric.

        Parameters
        ----------
        labels, preds : dict of str to NDArray
            Labels and outputs by name.

        Examples
        --------
        >>> metric = mx.metric.CompositeEvalMetric(["mae", "mse"])
        >>> metric.update_dict({"label": mx.nd.array([1])}, {"out": mx.nd.array([3])})
        >>> metric.get()
        (['mae', 'mse'], [2.0, 4.0])
        """
        labels, preds = _selected(labels, self.label_names), _selected(preds, self.output_names)
        for metric in self.metrics:
            metric.update_dict(labels, preds)

    def add(self, metric):
        """Append a metric.

        Parameters
        ----------
        metric : EvalMetric or what :func:`mxnet.metric.create` takes
            The metric, or its name.

        Examples
        --------
        >>> metric = mx.metric.CompositeEvalMetric(["mae"])
        >>> metric.add("mse")
        >>> metric.get()[0]
        ['mae', 'mse']
        """
        self.metrics.append(create(metric))

    def get_metric(self, index):
        """The metric at an index. As in MXNet, a bad index returns a ValueError instead of raising it.

        Parameters
        ----------
        index : int
            Its place, counted from 0.

        Returns
        -------
        EvalMetric

        Examples
        --------
        >>> mx.metric.CompositeEvalMetric(["mae", "mse"]).get_metric(1).name
        'mse'
        """
        if -len(self.metrics) <= index < len(self.metrics):
            return self.metrics[index]
        return ValueError(f"Metric index {index} is out of range 0 and {len(self.metrics)}")

    def _gather(self, results):
        names, values = [], []
        for name, value in results:
            names.extend([name] if isinstance(name, str) else name)
            values.extend(value if isinstance(value, (list, tuple)) else [value])
        return names, values

    def get(self):
        return self._gather(metric.get() for metric in self.metrics)

    def get_global(self):
        return self._gather(metric.get_global() for metric in self.metrics)

    def get_config(self):
        return {**super().get_config(), "metrics": [m.get_config() for m in self.metrics]}


@register
class CustomMetric(EvalMetric):
    """Metric from a function of two NumPy arrays.

    The value is the mean of the function's results over all batches, or, if it returns a pair (sum, count), the
    quotient of both sums.

    Parameters
    ----------
    feval : callable
        Takes the label and the prediction of a batch as NumPy arrays and returns a number, or a pair (sum, count).
    name : str, optional
        The name under which `get` reports the value; by default that of the function.
    allow_extra_outputs : bool, default False
        Whether there may be more predictions than labels, for example hidden states; the extra ones are ignored.
    output_names, label_names : list of str, optional
        Which outputs and labels `update_dict` uses, by name; None means all.

    Notes
    -----
    Each call copies label and prediction from the device, which makes a GPU wait. The built-in metrics compute on the
    device.

    Examples
    --------
    >>> metric = mx.metric.CustomMetric(lambda label, pred: float(abs(label - pred).max()), name="worst")
    >>> metric.update([mx.nd.array([1, 2])], [mx.nd.array([1, 5])])
    >>> metric.get()
    ('worst', 3.0)
    """

    def __init__(self, feval, name=None, allow_extra_outputs=False, output_names=None, label_names=None):
        if name is None:
            name = f"custom({feval.__name__})" if "<" in feval.__name__ else feval.__name__
        super().__init__(
            name,
            feval=feval,
            allow_extra_outputs=allow_extra_outputs,
            output_names=output_names,
            label_names=label_names,
            has_global_stats=True,
        )
        self._feval = feval
        self._allow_extra_outputs = allow_extra_outputs

    def update(self, labels, preds):
        if not self._allow_extra_outputs:
            labels, preds = check_label_shapes(labels, preds, True)
        for pred, label in zip(preds, labels, strict=False):
            value = self._feval(label.asnumpy(), pred.asnumpy())
            self._add(*(value if isinstance(value, tuple) else (value, 1)))

    def get_config(self):
        """A function cannot be written as a configuration."""
        raise NotImplementedError(f"CustomMetric cannot be serialized: {self.name} is a Python function")


def np(numpy_feval, name=None, allow_extra_outputs=False):
    """Metric from a function of two NumPy arrays; `CustomMetric` as a function.

    Parameters
    ----------
    numpy_feval : callable
        Takes the label and the prediction of a batch as NumPy arrays and returns a number, or a pair (sum, count),
        whose sums are divided.
    name : str, optional
        The name under which `get` reports the value; by default that of the function.
    allow_extra_outputs : bool, default False
        Whether there may be more predictions than labels; the extra ones are ignored.

    Returns
    -------
    CustomMetric

    Examples
    --------
    >>> def distance(label, pred):
    ...     return float(abs(label - pred).sum()), label.size
    >>> metric = mx.metric.np(distance)
    >>> metric.update([mx.nd.array([1, 2])], [mx.nd.array([1, 5])])
    >>> metric.get()
    ('distance', 1.5)
    """

    @functools.wraps(numpy_feval, assigned=("__name__",), updated=())
    def feval(label, pred):
        return numpy_feval(label, pred)

    return CustomMetric(feval, name, allow_extra_outputs)
