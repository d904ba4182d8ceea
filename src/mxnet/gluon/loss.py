"""Losses: how far predictions are from labels, one number for each sample."""

import numpy as np

from .. import ndarray
from .._core.errors import ValueRefused
from ..base import MXNetError, numeric_types
from ..util import is_np_array  # noqa: F401 - MXNet shows it here
from .block import HybridBlock

__all__ = [
    "Loss",
    "L2Loss",
    "L1Loss",
    "SigmoidBinaryCrossEntropyLoss",
    "SigmoidBCELoss",
    "SoftmaxCrossEntropyLoss",
    "SoftmaxCELoss",
    "KLDivLoss",
    "CTCLoss",
    "HuberLoss",
    "HingeLoss",
    "SquaredHingeLoss",
    "LogisticLoss",
    "TripletLoss",
    "PoissonNLLLoss",
    "CosineEmbeddingLoss",
    "SDMLLoss",
]


def _apply_weighting(F, loss, weight=None, sample_weight=None):
    """The loss times a weight for each sample, times a number; None stands for one."""
    assert weight is None or isinstance(weight, numeric_types), f"weight must be a number, got {type(weight)}"
    weighted = loss if sample_weight is None else F.broadcast_mul(loss, sample_weight)
    return weighted if weight is None else weighted * weight


def _reshape_like(F, x, y):
    """`x` in the shape of `y`; with arrays the shape is at hand, and no gradient flows into `y`."""
    if F is not ndarray:
        return F.reshape_like(x, y)
    try:
        return x.reshape(y.shape)
    except (MXNetError, ValueError) as error:
        raise _misfit(error, x, y) from None


def _misfit(error, label, pred, hint=""):
    """The failure with the shapes of what the user gave, and what may help."""
    shapes = f"the label of shape {label.shape} does not fit the prediction of shape {pred.shape}"
    return ValueRefused(f"{error}; {shapes}{hint}")


def _picked(F, pred, label, axis):
    """The prediction of each label; labels that do not fit are told with their shapes."""
    try:
        return F.pick(pred, label, axis=axis, keepdims=True)
    except MXNetError as error:
        if F is not ndarray or pred.context != label.context:
            raise
        hint = ". One-hot labels need SoftmaxCrossEntropyLoss(sparse_label=False)" if label.shape == pred.shape else ""
        raise _misfit(error, label, pred, hint) from None


class Loss(HybridBlock):
    """Base class of losses.

    A subclass defines `hybrid_forward(F, pred, label, sample_weight=None)` and returns one number for each sample.

    Parameters
    ----------
    weight : float or None
        Factor of the loss of every sample; None means 1.
    batch_axis : int, default 0
        The axis of the samples; the loss is averaged over all other axes.

    Examples
    --------
    >>> class Absolute(mx.gluon.loss.Loss):
    ...     def hybrid_forward(self, F, pred, label):
    ...         return F.mean(F.abs(pred - label), axis=self._batch_axis, exclude=True)
    >>> Absolute(None, 0)(mx.nd.array([[1, 2]]), mx.nd.array([[0, 4]])).asnumpy()
    array([1.5], dtype=float32)
    """

    def __init__(self, weight, batch_axis, **kwargs):
        super().__init__(**kwargs)
        self._weight = weight
        self._batch_axis = batch_axis

    def __repr__(self):
        return f"{type(self).__name__}(batch_axis={self._batch_axis}, w={self._weight})"

    def hybrid_forward(self, F, x, *args, **kwargs):
        """The loss of each sample; subclasses say it."""
        raise NotImplementedError

    def _mean(self, F, loss, sample_weight, weight=None):
        """Weighted, and averaged over all axes but that of the samples."""
        loss = _apply_weighting(F, loss, self._weight if weight is None else weight, sample_weight)
        return F.mean(loss, axis=self._batch_axis, exclude=True)


class L2Loss(Loss):
    """Half the mean squared difference: L = weight / 2 · mean((label - pred)²).

    Parameters
    ----------
    weight : float or None
        Factor of the loss of every sample; None means 1.
    batch_axis : int, default 0
        The axis of the samples; the loss is averaged over all other axes.

    Inputs: `pred` and `label` of the same number of elements, and optionally `sample_weight`, which must broadcast
    against the loss (for example of shape (N, 1)).

    Returns
    -------
    NDArray or Symbol
        The loss of each sample, of shape (N,).

    Examples
    --------
    >>> loss = mx.gluon.loss.L2Loss()
    >>> loss(mx.nd.array([[1, 2], [3, 4]]), mx.nd.array([[1, 4], [3, 3]])).asnumpy()
    array([1.  , 0.25], dtype=float32)
    """

    def __init__(self, weight=1.0, batch_axis=0, **kwargs):
        super().__init__(weight, batch_axis, **kwargs)

    def hybrid_forward(self, F, pred, label, sample_weight=None):
        label = _reshape_like(F, label, pred)
        return self._mean(F, F.square(label - pred), sample_weight, self._weight / 2)


class L1Loss(Loss):
    """Mean absolute difference: L = weight · mean(|label - pred|).

    Parameters
    ----------
    weight : float or None
        Factor of the loss of every sample; None means 1.
    batch_axis : int, default 0
        The axis of the samples; the loss is averaged over all other axes.

    Inputs: `pred` and `label` of the same number of elements, and optionally `sample_weight`, which must broadcast
    against the loss (for example of shape (N, 1)).

    Returns
    -------
    NDArray or Symbol
        The loss of each sample, of shape (N,).

    Examples
    --------
    >>> mx.gluon.loss.L1Loss()(mx.nd.array([[1, 2], [3, 4]]), mx.nd.array([[1, 4], [3, 3]])).asnumpy()
    array([1. , 0.5], dtype=float32)
    """

    def __init__(self, weight=None, batch_axis=0, **kwargs):
        super().__init__(weight, batch_axis, **kwargs)

    def hybrid_forward(self, F, pred, label, sample_weight=None):
        label = _reshape_like(F, label, pred)
        return self._mean(F, F.abs(label - pred), sample_weight)


class SigmoidBinaryCrossEntropyLoss(Loss):
    """Binary cross entropy: L = -mean(label · log(p) · pos_weight + (1 - label) · log(1 - p)) with p = sigmoid(pred).

    From logits the loss is computed without overflow: max(x, 0) - x · label + log(1 + exp(-|x|)).
    `SigmoidBCELoss` is the same class.

    Parameters
    ----------
    from_sigmoid : bool, default False
        Whether `pred` already went through a sigmoid, so that it holds probabilities instead of logits.
    weight : float or None
        Factor of the loss of every sample; None means 1.
    batch_axis : int, default 0
        The axis of the samples; the loss is averaged over all other axes.

    Inputs: `pred` and `label` (values from 0 to 1) of the same number of elements, optionally `sample_weight` and
    `pos_weight`, the weight of positive labels, which must broadcast against the loss.

    Returns
    -------
    NDArray or Symbol
        The loss of each sample, of shape (N,).

    Examples
    --------
    >>> loss = mx.gluon.loss.SigmoidBinaryCrossEntropyLoss()
    >>> loss(mx.nd.array([[0.0], [2.0]]), mx.nd.array([[1], [1]])).asnumpy().round(4)
    array([0.6931, 0.1269], dtype=float32)
    """

    def __init__(self, from_sigmoid=False, weight=None, batch_axis=0, **kwargs):
        super().__init__(weight, batch_axis, **kwargs)
        self._from_sigmoid = from_sigmoid

    def hybrid_forward(self, F, pred, label, sample_weight=None, pos_weight=None):
        label = _reshape_like(F, label, pred)
        formula = self._of_probabilities if self._from_sigmoid else self._of_logits
        return self._mean(F, formula(F, pred, label, pos_weight), sample_weight)

    @staticmethod
    def _of_logits(F, pred, label, pos_weight):
        rest = F.Activation(-F.abs(pred), act_type="softrelu")  # log(1 + exp(-|x|)) never overflows
        if pos_weight is None:
            return F.relu(pred) - pred * label + rest
        log_weight = 1 + F.broadcast_mul(pos_weight - 1, label)
        return pred - pred * label + log_weight * (rest + F.relu(-pred))

    @staticmethod
    def _of_probabilities(F, pred, label, pos_weight, eps=1e-12):
        positive = F.log(pred + eps) * label
        if pos_weight is not None:
            positive = F.broadcast_mul(positive, pos_weight)
        return -(positive + F.log(1.0 - pred + eps) * (1.0 - label))


SigmoidBCELoss = SigmoidBinaryCrossEntropyLoss


class SoftmaxCrossEntropyLoss(Loss):
    """Cross entropy of the softmax of the predictions: L = -log p[label] with p = softmax(pred).

    With `sparse_label=False` the label is a distribution: L = -sum(label · log p). `SoftmaxCELoss` is the same class.

    Parameters
    ----------
    axis : int, default -1
        The axis of the classes.
    sparse_label : bool, default True
        Whether labels are class numbers (shape of `pred` without `axis`). Set it to False for one-hot labels or
        probabilities, of the same shape as `pred`.
    from_logits : bool, default False
        Whether `pred` already holds log-probabilities, so that no softmax is applied.
    weight : float or None
        Factor of the loss of every sample; None means 1.
    batch_axis : int, default 0
        The axis of the samples; the loss is averaged over all other axes.

    Returns
    -------
    NDArray or Symbol
        The loss of each sample, of shape (N,).

    Examples
    --------
    >>> pred = mx.nd.array([[2, 1, 0], [0, 0, 0]])
    >>> mx.gluon.loss.SoftmaxCrossEntropyLoss()(pred, mx.nd.array([0, 2])).asnumpy().round(4)
    array([0.4076, 1.0986], dtype=float32)
    >>> one_hot = mx.nd.one_hot(mx.nd.array([0, 2]), 3)
    >>> mx.gluon.loss.SoftmaxCrossEntropyLoss(sparse_label=False)(pred, one_hot).asnumpy().round(4)
    array([0.4076, 1.0986], dtype=float32)
    """

    def __init__(self, axis=-1, sparse_label=True, from_logits=False, weight=None, batch_axis=0, **kwargs):
        super().__init__(weight, batch_axis, **kwargs)
        self._axis = axis
        self._sparse_label = sparse_label
        self._from_logits = from_logits

    def hybrid_forward(self, F, pred, label, sample_weight=None):
        if not self._from_logits:
            pred = F.log_softmax(pred, self._axis)
        if self._sparse_label:
            loss = -_picked(F, pred, label, self._axis)
        else:
            label = _reshape_like(F, label, pred)
            loss = -(pred * label).sum(axis=self._axis, keepdims=True)
        return self._mean(F, loss, sample_weight)


SoftmaxCELoss = SoftmaxCrossEntropyLoss


class KLDivLoss(Loss):
    """Kullback-Leibler divergence: L = sum(label · (log(label) - log(p))).

    Parameters
    ----------
    from_logits : bool, default True
        Whether `pred` holds log-probabilities. If False, the loss applies `log_softmax` to it.
    axis : int, default -1
        The axis of the classes, used if `from_logits` is False.
    weight : float or None
        Factor of the loss of every sample; None means 1.
    batch_axis : int, default 0
        The axis of the samples; the loss is averaged over all other axes.

    Inputs: `pred` and `label` of the same number of elements, and optionally `sample_weight`, which must broadcast
    against the loss (for example of shape (N, 1)).

    Returns
    -------
    NDArray or Symbol
        The loss of each sample, of shape (N,).

    Examples
    --------
    >>> loss = mx.gluon.loss.KLDivLoss(from_logits=False)
    >>> loss(mx.nd.array([[1, 1]]), mx.nd.array([[0.9, 0.1]])).asnumpy().round(4)
    array([0.3681], dtype=float32)
    """

    def __init__(self, from_logits=True, axis=-1, weight=None, batch_axis=0, **kwargs):
        super().__init__(weight, batch_axis, **kwargs)
        self._axis, self._from_logits = axis, from_logits

    def hybrid_forward(self, F, pred, label, sample_weight=None):
        logs = pred if self._from_logits else F.log_softmax(pred, self._axis)
        divergence = label * (F.log(label + 1e-12) - logs)
        weighted = _apply_weighting(F, divergence, self._weight, sample_weight)
        return F.sum(weighted, axis=self._batch_axis, exclude=True)


class CTCLoss(Loss):
    """Connectionist temporal classification: -log of the probability of a label sequence, summed over all alignments.

    The last class is the blank, and labels that are shorter than the longest one are padded with -1.

    Parameters
    ----------
    layout : str, default 'NTC'
        The axes of `pred`: N samples, T time steps, C classes (with the blank). 'TNC' is the other choice.
    label_layout : str, default 'NT'
        The axes of `label`, 'NT' or 'TN'.
    weight : float or None
        Factor of the loss of every sample; None means 1.

    Inputs: `pred`, `label`, and optionally `pred_lengths` and `label_lengths` of shape (N,), and `sample_weight`.

    Returns
    -------
    NDArray or Symbol
        The loss of each sample, of shape (N,).

    Examples
    --------
    >>> pred = mx.nd.zeros((1, 4, 3))  # uniform over two letters and the blank
    >>> mx.gluon.loss.CTCLoss()(pred, mx.nd.array([[0, 1, -1]])).asnumpy().round(4)
    array([1.6864], dtype=float32)
    """

    def __init__(self, layout="NTC", label_layout="NT", weight=None, **kwargs):
        assert layout in ("NTC", "TNC"), f"Only 'NTC' and 'TNC' layouts for pred are supported. Got: {layout}"
        assert label_layout in ("NT", "TN"), f"Only 'NT' and 'TN' layouts for label are supported. Got: {label_layout}"
        super().__init__(weight, label_layout.find("N"), **kwargs)
        self._layout = layout
        self._label_layout = label_layout

    def hybrid_forward(self, F, pred, label, pred_lengths=None, label_lengths=None, sample_weight=None):
        scores = F.swapaxes(pred, 0, 1) if self._layout == "NTC" else pred  # time first
        labels = F.swapaxes(label, 0, 1) if self._label_layout == "TN" else label  # batch first
        given = {"use_data_lengths": pred_lengths is not None, "use_label_lengths": label_lengths is not None}
        loss = F.CTCLoss(scores, labels, pred_lengths, label_lengths, blank_label="last", **given)
        return _apply_weighting(F, loss, self._weight, sample_weight)


class HuberLoss(Loss):
    """Smooth L1: (label - pred)² / (2 rho) where |label - pred| < rho, and |label - pred| - rho / 2 elsewhere.

    Parameters
    ----------
    rho : float, default 1
        Where the quadratic part ends and the linear part begins.
    weight : float or None
        Factor of the loss of every sample; None means 1.
    batch_axis : int, default 0
        The axis of the samples; the loss is averaged over all other axes.

    Inputs: `pred` and `label` of the same number of elements, and optionally `sample_weight`, which must broadcast
    against the loss (for example of shape (N, 1)).

    Returns
    -------
    NDArray or Symbol
        The loss of each sample, of shape (N,).

    Examples
    --------
    >>> mx.gluon.loss.HuberLoss()(mx.nd.array([[0.5], [3]]), mx.nd.array([[0], [0]])).asnumpy()
    array([0.125, 2.5  ], dtype=float32)
    """

    def __init__(self, rho=1, weight=None, batch_axis=0, **kwargs):
        super().__init__(weight, batch_axis, **kwargs)
        self._rho = rho

    def hybrid_forward(self, F, pred, label, sample_weight=None):
        label = _reshape_like(F, label, pred)
        distance = F.abs(label - pred)
        near = (0.5 / self._rho) * F.square(distance)
        loss = F.where(distance > self._rho, distance - 0.5 * self._rho, near)
        return self._mean(F, loss, sample_weight)


class HingeLoss(Loss):
    """Hinge loss of a maximum-margin classifier: L = mean(max(0, margin - pred · label)).

    Parameters
    ----------
    margin : float, default 1
        The margin that a prediction must reach.
    weight : float or None
        Factor of the loss of every sample; None means 1.
    batch_axis : int, default 0
        The axis of the samples; the loss is averaged over all other axes.

    Labels are -1 and 1. Without `sample_weight` each sample counts once.

    Returns
    -------
    NDArray or Symbol
        The loss of each sample, of shape (N,).

    Examples
    --------
    >>> mx.gluon.loss.HingeLoss()(mx.nd.array([[0.5], [3]]), mx.nd.array([[1], [-1]])).asnumpy()
    array([0.5, 4. ], dtype=float32)
    """

    def __init__(self, margin=1, weight=None, batch_axis=0, **kwargs):
        super().__init__(weight, batch_axis, **kwargs)
        self._margin = margin

    def hybrid_forward(self, F, pred, label, sample_weight=None):
        label = _reshape_like(F, label, pred)
        return self._mean(F, F.relu(self._margin - pred * label), sample_weight)


class SquaredHingeLoss(Loss):
    """Squared hinge loss: L = mean(max(0, margin - pred · label)²).

    Parameters
    ----------
    margin : float, default 1
        The margin that a prediction must reach.
    weight : float or None
        Factor of the loss of every sample; None means 1.
    batch_axis : int, default 0
        The axis of the samples; the loss is averaged over all other axes.

    Labels are -1 and 1.

    Returns
    -------
    NDArray or Symbol
        The loss of each sample, of shape (N,).

    Examples
    --------
    >>> mx.gluon.loss.SquaredHingeLoss()(mx.nd.array([[0.5], [3]]), mx.nd.array([[1], [-1]])).asnumpy()
    array([ 0.25, 16.  ], dtype=float32)
    """

    def __init__(self, margin=1, weight=None, batch_axis=0, **kwargs):
        super().__init__(weight, batch_axis, **kwargs)
        self._margin = margin

    def hybrid_forward(self, F, pred, label, sample_weight=None):
        label = _reshape_like(F, label, pred)
        return self._mean(F, F.square(F.relu(self._margin - pred * label)), sample_weight)


class LogisticLoss(Loss):
    """Logistic loss: L = mean(log(1 + exp(-pred · label))).

    Parameters
    ----------
    weight : float or None
        Factor of the loss of every sample; None means 1.
    batch_axis : int, default 0
        The axis of the samples; the loss is averaged over all other axes.
    label_format : {'signed', 'binary'}, default 'signed'
        Whether labels are -1 and 1, or 0 and 1.

    Inputs: `pred` and `label` of the same number of elements, and optionally `sample_weight`, which must broadcast
    against the loss (for example of shape (N, 1)).

    Returns
    -------
    NDArray or Symbol
        The loss of each sample, of shape (N,).

    Examples
    --------
    >>> mx.gluon.loss.LogisticLoss()(mx.nd.array([[0], [2]]), mx.nd.array([[1], [-1]])).asnumpy().round(4)
    array([0.6931, 2.1269], dtype=float32)
    """

    def __init__(self, weight=None, batch_axis=0, label_format="signed", **kwargs):
        super().__init__(weight, batch_axis, **kwargs)
        self._label_format = label_format
        if label_format not in ("signed", "binary"):
            raise ValueError(f"label_format can only be signed or binary, recieved {label_format}.")

    def hybrid_forward(self, F, pred, label, sample_weight=None):
        label = _reshape_like(F, label, pred)
        if self._label_format == "signed":
            label = (label + 1.0) / 2.0
        loss = F.relu(pred) - pred * label + F.Activation(-F.abs(pred), act_type="softrelu")
        return self._mean(F, loss, sample_weight)


class TripletLoss(Loss):
    """Triplet loss: L = max(0, margin + sum((pred - positive)² - (pred - negative)²)).

    The sum runs over all axes but the first.

    Parameters
    ----------
    margin : float, default 1
        How much nearer the positive example must be than the negative one.
    weight : float or None
        Factor of the loss of every sample; None means 1.
    batch_axis : int, default 0
        The axis of the samples; the loss is averaged over all other axes.

    Inputs: `pred`, `positive` and `negative` of the same number of elements.

    Returns
    -------
    NDArray or Symbol
        The loss of each sample, of shape (N,).

    Examples
    --------
    >>> x = mx.nd.array([[0, 0]])
    >>> mx.gluon.loss.TripletLoss()(x, mx.nd.array([[1, 0]]), mx.nd.array([[0, 1]])).asnumpy()
    array([1.], dtype=float32)
    """

    def __init__(self, margin=1, weight=None, batch_axis=0, **kwargs):
        super().__init__(weight, batch_axis, **kwargs)
        self._margin = margin

    def hybrid_forward(self, F, pred, positive, negative):
        positive, negative = (_reshape_like(F, x, pred) for x in (positive, negative))
        gap = F.square(positive - pred) - F.square(negative - pred)
        loss = F.relu(F.sum(gap, axis=self._batch_axis, exclude=True) + self._margin)
        return _apply_weighting(F, loss, self._weight, None)


class PoissonNLLLoss(Loss):
    """Negative log likelihood of counts under a Poisson distribution: exp(pred) - label · pred.

    With `from_logits=False` the prediction is the rate itself: pred - label · log(pred + epsilon). The result is the
    mean over the whole batch: a single number, not one for each sample.

    Parameters
    ----------
    weight : float or None
        Factor of the loss; None means 1.
    from_logits : bool, default True
        Whether `pred` is the logarithm of the rate.
    batch_axis : int, default 0
        The axis of the samples.
    compute_full : bool, default False
        Whether to add Stirling's approximation of log(label!) for labels above 1.

    Returns
    -------
    NDArray or Symbol
        The mean loss, of shape (1,).

    Examples
    --------
    >>> mx.gluon.loss.PoissonNLLLoss()(mx.nd.array([[0], [1]]), mx.nd.array([[1], [2]])).asnumpy().round(4)
    array([0.8591], dtype=float32)
    """

    def __init__(self, weight=None, from_logits=True, batch_axis=0, compute_full=False, **kwargs):
        super().__init__(weight, batch_axis, **kwargs)
        self._from_logits = from_logits
        self._compute_full = compute_full

    def hybrid_forward(self, F, pred, target, sample_weight=None, epsilon=1e-08):
        target = _reshape_like(F, target, pred)
        loss = F.exp(pred) - target * pred if self._from_logits else pred - target * F.log(pred + epsilon)
        if self._compute_full:  # Stirling's approximation of log(target!), for targets above one
            stirling = target * F.log(target) - target + 0.5 * F.log(2 * target * np.pi)
            loss = loss + stirling * (target > 1)
        return F.mean(_apply_weighting(F, loss, self._weight, sample_weight))


class CosineEmbeddingLoss(Loss):
    """1 - cos(x1, x2) for pairs with label 1, and max(0, cos(x1, x2) - margin) for pairs with label -1.

    Parameters
    ----------
    weight : float or None
        Factor of the loss of every sample; None means 1.
    batch_axis : int, default 0
        The axis of the samples.
    margin : float, default 0
        The largest cosine that a pair with label -1 may have without a loss.

    Inputs: `input1` and `input2` of shape (N, features), `label` of shape (N,).

    Returns
    -------
    NDArray or Symbol
        The loss of each sample.

    Examples
    --------
    >>> x, y = mx.nd.array([[1, 0], [1, 0]]), mx.nd.array([[0, 1], [1, 0]])
    >>> mx.gluon.loss.CosineEmbeddingLoss()(x, y, mx.nd.array([1, -1])).asnumpy().round(4)
    array([[1.],
           [1.]], dtype=float32)
    """

    def __init__(self, weight=None, batch_axis=0, margin=0, **kwargs):
        super().__init__(weight, batch_axis, **kwargs)
        self._margin = margin

    def hybrid_forward(self, F, input1, input2, label, sample_weight=None):
        input1 = _reshape_like(F, input1, input2)
        label = label.reshape((-1, 1))
        similarity = self._cosine_similarity(F, input1, input2)
        alike = (1 - similarity) * (label == 1)
        different = F.relu((label == -1) * (similarity - self._margin))
        return _apply_weighting(F, alike + different, self._weight, sample_weight)

    @staticmethod
    def _cosine_similarity(F, x, y, axis=-1):
        lengths = (F.norm(x, axis=axis) * F.norm(y, axis=axis)).reshape((-1, 1))
        return F.sum(x * y, axis=axis).reshape((-1, 1)) / F.maximum(lengths, 1e-12)


class SDMLLoss(Loss):
    """Smoothed deep metric learning: row i of one batch should be nearest to row i of the other.

    The loss is the KL divergence between softmax(-squared distances) and smoothed one-hot labels.

    Parameters
    ----------
    smoothing_parameter : float, default 0.3
        The probability that is spread over the rows which do not belong together.
    weight : float or None
        Factor of the loss of every sample; None means 1.
    batch_axis : int, default 0
        The axis of the samples; the loss is averaged over all other axes.

    Inputs: `x1` and `x2` of shape (N, features).

    Returns
    -------
    NDArray or Symbol
        The loss of each row, of shape (N,).

    Examples
    --------
    >>> x = mx.nd.array([[0, 0], [2, 2]])
    >>> mx.gluon.loss.SDMLLoss()(x, x).asnumpy().round(4)
    array([1.7895, 1.7895], dtype=float32)
    """

    def __init__(self, smoothing_parameter=0.3, weight=1.0, batch_axis=0, **kwargs):
        super().__init__(weight, batch_axis, **kwargs)
        self.kl_loss = KLDivLoss(from_logits=True)
        self.smoothing_parameter = smoothing_parameter

    def hybrid_forward(self, F, x1, x2):
        rows = x1.shape[0]
        own = F.eye(rows)
        labels = own * (1 - self.smoothing_parameter) + (1 - own) * self.smoothing_parameter / (rows - 1)
        distances = self._compute_distances(x1, x2)
        log_probabilities = F.log_softmax(-distances, axis=1)
        return self.kl_loss(log_probabilities, labels.as_in_context(distances.context))

    @staticmethod
    def _compute_distances(x1, x2):
        """Squared distances between all rows of one and all rows of the other."""
        assert x1.shape == x2.shape, f"both batches must have one shape, got {x1.shape} and {x2.shape}"
        rows, size = x1.shape
        spread = [rows, rows, size]
        difference = x1.expand_dims(1).broadcast_to(spread) - x2.expand_dims(0).broadcast_to(spread)
        return (difference**2).sum(axis=2)
