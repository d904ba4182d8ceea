"""Metrics of numbers: distances, correlation, and losses that networks compute themselves."""

import numpy
import torch

from .. import ndarray
from .base import EvalMetric, PairMetric, alias, check_label_shapes, register, values_of


class _Difference(PairMetric):
    """A mean over the batch of some distance between labels and predictions."""

    def _update_pair(self, label, pred):
        values = _column(values_of(pred))
        wanted = _column(values_of(label, values))
        _check_broadcast(wanted, values)
        difference = wanted - values
        self._add(self._distance(difference if difference.is_floating_point() else difference.double()), 1)

    def _distance(self, difference):
        raise NotImplementedError


def _check_broadcast(wanted, values):
    """NumPy's words, as MXNet's users know them."""
    try:
        numpy.broadcast_shapes(wanted.shape, values.shape)  # torch's own imports sympy, half a second
    except ValueError:
        shapes = " ".join(str(tuple(t.shape)).replace(" ", "") for t in (wanted, values))
        raise ValueError(f"operands could not be broadcast together with shapes {shapes} ") from None


def _column(tensor):
    return tensor.reshape(-1, 1) if tensor.dim() == 1 else tensor


@register
class MAE(_Difference):
    """Mean absolute error: mean(|label - pred|).

    Labels and predictions have one shape; a vector (N,) counts as (N, 1).

    Parameters
    ----------
    name : str, default 'mae'
        The name under which `get` reports the value.
    output_names, label_names : list of str, optional
        Which outputs and labels `update_dict` uses, by name; None means all. `update` takes all it is given.

    Notes
    -----
    The value is the mean of the values of all batches, so that a smaller last batch counts as much as the others.

    Examples
    --------
    >>> metric = mx.metric.MAE()
    >>> metric.update([mx.nd.array([3, 5])], [mx.nd.array([[2], [7]])])
    >>> metric.get()
    ('mae', 1.5)
    """

    def __init__(self, name="mae", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names)

    def _distance(self, difference):
        return difference.abs().mean()


@register
class MSE(_Difference):
    """Mean squared error: mean((label - pred)²).

    Labels and predictions have one shape; a vector (N,) counts as (N, 1). `gluon.loss.L2Loss` is half of it.

    Parameters
    ----------
    name : str, default 'mse'
        The name under which `get` reports the value.
    output_names, label_names : list of str, optional
        Which outputs and labels `update_dict` uses, by name; None means all. `update` takes all it is given.

    Notes
    -----
    The value is the mean of the values of all batches, so that a smaller last batch counts as much as the others.

    Examples
    --------
    >>> metric = mx.metric.MSE()
    >>> metric.update([mx.nd.array([3, 5])], [mx.nd.array([[2], [7]])])
    >>> metric.get()
    ('mse', 2.5)
    """

    def __init__(self, name="mse", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names)

    def _distance(self, difference):
        return difference.square().mean()


@register
class RMSE(_Difference):
    """Root mean squared error: √mean((label - pred)²), in the unit of the labels.

    Labels and predictions have one shape; a vector (N,) counts as (N, 1).

    Parameters
    ----------
    name : str, default 'rmse'
        The name under which `get` reports the value.
    output_names, label_names : list of str, optional
        Which outputs and labels `update_dict` uses, by name; None means all. `update` takes all it is given.

    Notes
    -----
    The root is taken for each batch, and the roots are averaged; the value is therefore not the root of `MSE` over
    several batches.

    Examples
    --------
    >>> metric = mx.metric.RMSE()
    >>> metric.update([mx.nd.array([3, 5])], [mx.nd.array([[3], [7]])])
    >>> name, value = metric.get()
    >>> name, round(value, 4)
    ('rmse', 1.4142)
    """

    def __init__(self, name="rmse", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names)

    def _distance(self, difference):
        return difference.square().mean().sqrt()


def _welford(values, count, mean, squares):
    total, from_old = count + len(values), values - mean
    new_mean = mean + (from_old / total).sum()
    return total, new_mean, squares + (from_old * (values - new_mean)).sum()


@register
@alias("pearsonr")
class PearsonCorrelation(PairMetric):
    """Pearson correlation of predictions and labels: cov(label, pred) / (σ(label) · σ(pred)).

    1 or -1 if the predictions are a linear function of the labels, 0 if they are not correlated. Registered as
    `pearsoncorrelation` and `pearsonr`. Labels and predictions have the same shape.

    Parameters
    ----------
    name : str, default 'pearsonr'
        The name under which `get` reports the value.
    output_names, label_names : list of str, optional
        Which outputs and labels `update_dict` uses, by name; None means all. `update` takes all it is given.
    average : {'macro', 'micro'}, default 'macro'
        'macro': the mean of the correlations of all batches. 'micro': the correlation of all samples together.

    Notes
    -----
    NaN for a batch in which all labels or all predictions are equal.

    Examples
    --------
    >>> metric = mx.metric.PearsonCorrelation()
    >>> metric.update([mx.nd.array([1, 2, 3])], [mx.nd.array([2, 4, 7])])
    >>> name, value = metric.get()
    >>> name, round(value, 4)
    ('pearsonr', 0.9934)
    """

    def __init__(self, name="pearsonr", output_names=None, label_names=None, average="macro"):
        self.average = average
        super().__init__(name, output_names, label_names)

    def reset_micro(self):
        """Forget the running means, squares and products."""
        self._sse_p = self._mean_p = self._sse_l = self._mean_l = 0
        self._pred_nums = self._label_nums = self._conv = 0

    def reset(self):
        super().reset()
        if self.average == "micro":
            self.reset_micro()

    def update_variance(self, new_values, *aggregate):
        """Welford's count, mean and sum of squared deviations after `new_values`."""
        return _welford(new_values, *aggregate)

    def update_cov(self, label, pred):
        """Count the products of deviations in."""
        self._conv = self._conv + numpy.sum((label - self._mean_l) * (pred - self._mean_p))

    def _update_pair(self, label, pred):
        check_label_shapes(label, pred, False, True)
        if self.average == "macro":
            values = values_of(pred).flatten().double()
            wanted = values_of(label, values).flatten().double()
            self._add(torch.corrcoef(torch.stack([values, wanted]))[0, 1], 1)
            return
        wanted = label.asnumpy().ravel().astype(numpy.float64)
        values = pred.asnumpy().ravel().astype(numpy.float64)
        self.num_inst += 1
        self.global_num_inst += 1
        state = (self._label_nums, self._mean_l, self._sse_l)
        self._label_nums, self._mean_l, self._sse_l = self.update_variance(wanted, *state)
        self.update_cov(wanted, values)
        state = (self._pred_nums, self._mean_p, self._sse_p)
        self._pred_nums, self._mean_p, self._sse_p = self.update_variance(values, *state)

    def get(self):
        if self.average == "macro" or self.num_inst == 0:
            return super().get()
        n = self._label_nums - 1
        spread = n * numpy.sqrt(self._sse_p / n) * numpy.sqrt(self._sse_l / n)
        return self.name, float(self._conv / spread)


@register
class Loss(EvalMetric):
    """Mean of the outputs, to report a loss that the network or the training loop computes.

    Labels are ignored. The sum over all elements is divided by their number, so that batches count by their size.

    Parameters
    ----------
    name : str, default 'loss'
        The name under which `get` reports the value.
    output_names, label_names : list of str, optional
        Which outputs and labels `update_dict` uses, by name; None means all. `update` takes all it is given.

    Examples
    --------
    >>> metric = mx.metric.Loss()
    >>> losses = mx.gluon.loss.L2Loss()(mx.nd.array([1, 2]), mx.nd.array([3, 2]))
    >>> metric.update(None, [losses])
    >>> metric.get()
    ('loss', 1.0)
    """

    def __init__(self, name="loss", output_names=None, label_names=None):
        super().__init__(name, output_names=output_names, label_names=label_names, has_global_stats=True)

    def update(self, _, preds):
        for pred in [preds] if isinstance(preds, ndarray.NDArray) else preds:
            self._add(values_of(pred).sum(), pred.size)


@register
class Torch(Loss):
    """The same as `Loss`, reported as 'torch'; kept for old programs.

    MXNet made it for criterions of its Torch plugin, whose output is a loss.

    Parameters
    ----------
    name : str, default 'torch'
        The name under which `get` reports the value.
    output_names, label_names : list of str, optional
        Which outputs and labels `update_dict` uses, by name; None means all. `update` takes all it is given.

    Examples
    --------
    >>> metric = mx.metric.Torch()
    >>> metric.update(None, [mx.nd.array([1, 3])])
    >>> metric.get()
    ('torch', 2.0)
    """

    def __init__(self, name="torch", output_names=None, label_names=None):
        super().__init__(name, output_names=output_names, label_names=label_names)


@register
class Caffe(Loss):
    """The same as `Loss`, reported as 'caffe'; kept for old programs.

    MXNet made it for criterions of its Caffe plugin, whose output is a loss.

    Parameters
    ----------
    name : str, default 'caffe'
        The name under which `get` reports the value.
    output_names, label_names : list of str, optional
        Which outputs and labels `update_dict` uses, by name; None means all. `update` takes all it is given.

    Examples
    --------
    >>> metric = mx.metric.Caffe()
    >>> metric.update(None, [mx.nd.array([1, 3])])
    >>> metric.get()
    ('caffe', 2.0)
    """

    def __init__(self, name="caffe", output_names=None, label_names=None):
        super().__init__(name, output_names=output_names, label_names=label_names)
