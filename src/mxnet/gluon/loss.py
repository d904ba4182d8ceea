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
    """Base class of losses: blocks that compare predictions with labels and return one number for each sample.

    A subclass defines `hybrid_forward(F, pred, label, sample_weight=None)`. Training calls `backward()` on its result,
    which differentiates the sum over the batch; `trainer.step(batch_size)` then divides by the number of samples.

    Parameters
    ----------
    weight : float or None
        Factor of the loss of every sample, for example to add several losses; None means 1.
    batch_axis : int
        The axis of the samples; losses are averaged over all other axes.

    Examples
    --------
    >>> class Absolute(mx.gluon.loss.Loss):
    ...     def hybrid_forward(self, F, pred, label):
    ...         return F.mean(F.abs(pred - label), axis=self._batch_axis, exclude=True)
    >>> Absolute(None, 0)(mx.nd.array([[1, 2], [3, 4]]), mx.nd.array([[0, 4], [3, 4]])).asnumpy()
    array([1.5, 0. ], dtype=float32)
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
    """Half the mean squared difference: L = weight / 2 · mean((label - pred)²), for each sample.

    The half makes the gradient with respect to `pred` the difference itself, divided by the number of elements of a
    sample. `mx.metric.MSE` has no half, so the metric of a regression is twice its loss.

    Parameters
    ----------
    weight : float or None, default 1.0
        Factor of the loss of every sample.
    batch_axis : int, default 0
        The axis of the samples; the loss is averaged over all other axes.

    Inputs
    ------
    pred : NDArray or Symbol, shape (N, ...)
        The predictions.
    label : NDArray or Symbol
        The targets, with as many elements as `pred`; they are reshaped to it, so (N,) and (N, 1) fit each other.
    sample_weight : NDArray or Symbol, optional
        Factors that broadcast against the loss of each element, for example of shape (N, 1): 0 leaves a sample out.

    Returns
    -------
    NDArray or Symbol
        The loss of each sample, of shape (N,).

    Examples
    --------
    >>> loss = mx.gluon.loss.L2Loss()
    >>> pred, label = mx.nd.array([[1, 2], [3, 4]]), mx.nd.array([[1, 4], [3, 3]])
    >>> loss(pred, label).asnumpy()
    array([1.  , 0.25], dtype=float32)
    >>> loss(pred, label, mx.nd.array([[1], [0]])).asnumpy()  # without the second sample
    array([1., 0.], dtype=float32)
    """

    def __init__(self, weight=1.0, batch_axis=0, **kwargs):
        super().__init__(weight, batch_axis, **kwargs)

    def hybrid_forward(self, F, pred, label, sample_weight=None):
        label = _reshape_like(F, label, pred)
        return self._mean(F, F.square(label - pred), sample_weight, self._weight / 2)


class L1Loss(Loss):
    """Mean absolute difference: L = weight · mean(|label - pred|), for each sample.

    Large errors count less than in `L2Loss`, so single wrong labels disturb the fit less. The gradient has the same
    size however small the error is; `HuberLoss` is smooth near 0.

    Parameters
    ----------
    weight : float or None, default None
        Factor of the loss of every sample; None means 1.
    batch_axis : int, default 0
        The axis of the samples; the loss is averaged over all other axes.

    Inputs
    ------
    pred : NDArray or Symbol, shape (N, ...)
        The predictions.
    label : NDArray or Symbol
        The targets, with as many elements as `pred`, to which they are reshaped.
    sample_weight : NDArray or Symbol, optional
        Factors that broadcast against the loss of each element, for example of shape (N, 1).

    Returns
    -------
    NDArray or Symbol
        The loss of each sample, of shape (N,).

    Examples
    --------
    >>> pred, label = mx.nd.array([[1, 2], [3, 4]]), mx.nd.array([[1, 4], [3, 3]])
    >>> mx.gluon.loss.L1Loss()(pred, label).asnumpy()
    array([1. , 0.5], dtype=float32)
    >>> pred.attach_grad()
    >>> with mx.autograd.record():
    ...     loss = mx.gluon.loss.L1Loss()(pred, label)
    >>> loss.backward()
    >>> pred.grad.asnumpy()  # the sign of the error, divided by the two elements of a sample
    array([[-0. , -0.5],
           [-0. ,  0.5]], dtype=float32)
    """

    def __init__(self, weight=None, batch_axis=0, **kwargs):
        super().__init__(weight, batch_axis, **kwargs)

    def hybrid_forward(self, F, pred, label, sample_weight=None):
        label = _reshape_like(F, label, pred)
        return self._mean(F, F.abs(label - pred), sample_weight)


class SigmoidBinaryCrossEntropyLoss(Loss):
    """Binary cross entropy: L = -mean(pos_weight · label · log(p) + (1 - label) · log(1 - p)) with p = sigmoid(pred).

    For independent yes-or-no questions: one output for each label, several of which may be true. From scores (logits)
    the loss is computed without overflow, as max(x, 0) - x · label + log(1 + exp(-|x|)); pass the output of a dense
    layer, not of a sigmoid. `SigmoidBCELoss` is the same class.

    Parameters
    ----------
    from_sigmoid : bool, default False
        Whether `pred` already went through a sigmoid, so that it holds probabilities instead of scores.
    weight : float or None, default None
        Factor of the loss of every sample; None means 1.
    batch_axis : int, default 0
        The axis of the samples; the loss is averaged over all other axes.

    Inputs
    ------
    pred : NDArray or Symbol, shape (N, ...)
        The scores, or probabilities if `from_sigmoid` is True.
    label : NDArray or Symbol
        Values from 0 to 1, with as many elements as `pred`, to which they are reshaped. They are not checked.
    sample_weight : NDArray or Symbol, optional
        Factors that broadcast against the loss of each element, for example of shape (N, 1).
    pos_weight : NDArray or Symbol, optional
        Factor of the positive labels, for classes that are rare; it broadcasts against `label`, for example with shape
        (1, number of labels).

    Returns
    -------
    NDArray or Symbol
        The loss of each sample, of shape (N,).

    Examples
    --------
    >>> loss = mx.gluon.loss.SigmoidBinaryCrossEntropyLoss()
    >>> scores, labels = mx.nd.array([[0.0, -2.0], [2.0, 100.0]]), mx.nd.array([[1, 0], [1, 0]])
    >>> loss(scores, labels).asnumpy().round(4)  # finite for a score of 100 that is wrong
    array([ 0.41  , 50.0635], dtype=float32)
    >>> loss(scores, labels, None, mx.nd.array([[3, 1]])).asnumpy().round(4)  # missing the first label costs threefold
    array([ 1.1032, 50.1904], dtype=float32)
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
    """Cross entropy of a classification: L = -log p[label] with p = softmax(pred).

    With `sparse_label=False` the label is a distribution: L = -Σ label · log p. The softmax is part of the loss: pass
    the scores of the last dense layer as they are. Applying a softmax before trains badly, without an error.
    `SoftmaxCELoss` is the same class.

    Parameters
    ----------
    axis : int, default -1
        The axis of the classes.
    sparse_label : bool, default True
        Whether labels are class numbers. False takes one-hot labels or probabilities.
    from_logits : bool, default False
        Whether `pred` already holds log-probabilities (the result of `log_softmax`), so that no softmax is applied.
        The name is MXNet's: in other libraries logits are the scores before the softmax.
    weight : float or None, default None
        Factor of the loss of every sample; None means 1.
    batch_axis : int, default 0
        The axis of the samples; the loss is averaged over all other axes.

    Inputs
    ------
    pred : NDArray or Symbol
        The scores, of shape (N, C), or with more axes, such as (N, T, C) for a sequence or, with `axis=1`, (N, C, H,
        W).
    label : NDArray or Symbol
        Class numbers from 0 to C - 1, of the shape of `pred` without the axis of the classes, and of any type; or, with
        `sparse_label=False`, an array of the shape of `pred`.
    sample_weight : NDArray or Symbol, optional
        Factors that broadcast against the losses, whose axis of classes has length 1: (N, 1), or (N, T, 1) to leave out
        the padding of sequences.

    Returns
    -------
    NDArray or Symbol
        The loss of each sample, of shape (N,): the mean over its positions if there are several.

    Notes
    -----
    A class number outside of 0 … C - 1 is clipped to the nearest class, as in MXNet, without an error. The mean over
    positions counts those of weight 0, too.

    Examples
    --------
    >>> loss = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    >>> pred = mx.nd.array([[2, 1, 0], [0, 0, 0]])
    >>> loss(pred, mx.nd.array([0, 2])).asnumpy().round(4)  # equal scores of three classes: log(3)
    array([0.4076, 1.0986], dtype=float32)
    >>> one_hot = mx.nd.one_hot(mx.nd.array([0, 2]), 3)
    >>> mx.gluon.loss.SoftmaxCrossEntropyLoss(sparse_label=False)(pred, one_hot).asnumpy().round(4)
    array([0.4076, 1.0986], dtype=float32)
    >>> words = mx.nd.zeros((1, 3, 5))  # a sentence of three words, out of a vocabulary of five
    >>> loss(words, mx.nd.array([[1, 4, 0]]), mx.nd.array([[[1], [1], [0]]])).asnumpy().round(4)  # 2 / 3 · log(5)
    array([1.073], dtype=float32)
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
    """Kullback-Leibler divergence of two distributions: L = Σ label · (log(label) - log p), for each sample.

    It is 0 if both distributions are equal. Use it where the label is a distribution, for example the output of another
    network (distillation); for a constant label its gradient is that of the cross entropy.

    Parameters
    ----------
    from_logits : bool, default True
        Whether `pred` holds log-probabilities (the result of `log_softmax`). False applies `log_softmax` to scores.
    axis : int, default -1
        The axis of the classes, used if `from_logits` is False.
    weight : float or None, default None
        Factor of the loss of every sample; None means 1.
    batch_axis : int, default 0
        The axis of the samples; the loss is summed over all other axes.

    Inputs
    ------
    pred : NDArray or Symbol, shape (N, C)
        Log-probabilities, or scores if `from_logits` is False.
    label : NDArray or Symbol, shape (N, C)
        Probabilities, with a sum of 1 along the classes.
    sample_weight : NDArray or Symbol, optional
        Factors that broadcast against the loss of each element, for example of shape (N, 1).

    Returns
    -------
    NDArray or Symbol
        The loss of each sample, of shape (N,).

    Notes
    -----
    The default expects log-probabilities: with scores or probabilities it computes a wrong number without an error.

    Examples
    --------
    >>> loss = mx.gluon.loss.KLDivLoss(from_logits=False)
    >>> label = mx.nd.array([[0.9, 0.1], [0.5, 0.5]])
    >>> loss(mx.nd.array([[1, 1], [1, 1]]), label).asnumpy().round(4)  # equal scores fit the second label
    array([0.3681, 0.    ], dtype=float32)
    >>> mx.gluon.loss.KLDivLoss()(mx.nd.log(label), label).asnumpy().round(4)
    array([0., 0.], dtype=float32)
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

    The network gives scores for every time step of a longer input, such as sound or a line of handwriting; the label
    does not say which step belongs to which letter. An alignment repeats letters and puts blanks between them: the
    label "ab" is written by "aab", "a_b", "_ab", ... The softmax over the classes is part of the loss.

    Parameters
    ----------
    layout : {'NTC', 'TNC'}, default 'NTC'
        The axes of `pred`: N samples, T time steps, C classes, of which the last one is the blank.
    label_layout : {'NT', 'TN'}, default 'NT'
        The axes of `label`.
    weight : float or None, default None
        Factor of the loss of every sample; None means 1.

    Inputs
    ------
    pred : NDArray or Symbol
        Scores of shape (N, T, C) or (T, N, C).
    label : NDArray or Symbol
        Class numbers from 0 to C - 2, of shape (N, L) or (L, N); shorter labels are padded with -1.
    pred_lengths : NDArray or Symbol, shape (N,), optional
        How many time steps of each sample count; by default all.
    label_lengths : NDArray or Symbol, shape (N,), optional
        How many entries of each label count; by default those before the first -1.
    sample_weight : NDArray or Symbol, shape (N,), optional
        Factor of each sample.

    Returns
    -------
    NDArray or Symbol
        The loss of each sample, of shape (N,).

    Notes
    -----
    A label that no alignment of the steps can write, because equal neighbours need a blank between them, has the loss 0
    and no gradient, as in MXNet; a label array that is longer than the time axis is an error. The blank is the last
    class here, the first one in `nd.CTCLoss`, whose `blank_label` selects it.

    Examples
    --------
    >>> pred = mx.nd.zeros((1, 2, 3))  # two steps, uniform over two letters and the blank
    >>> mx.gluon.loss.CTCLoss()(pred, mx.nd.array([[0, 1]])).asnumpy().round(4)  # one alignment of nine: log(9)
    array([2.1972], dtype=float32)
    >>> mx.gluon.loss.CTCLoss()(pred, mx.nd.array([[0, -1]])).asnumpy().round(4)  # "aa", "a_", "_a": log(9 / 3)
    array([1.0986], dtype=float32)
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
    """Smooth L1: (label - pred)² / (2 rho) where |label - pred| ≤ rho, and |label - pred| - rho / 2 elsewhere.

    Quadratic for small errors, like `L2Loss`, and linear for large ones, like `L1Loss`, so that outliers have bounded
    gradients. Detectors use it for the positions of boxes.

    Parameters
    ----------
    rho : float, default 1
        The error at which the quadratic part ends and the linear part begins.
    weight : float or None, default None
        Factor of the loss of every sample; None means 1.
    batch_axis : int, default 0
        The axis of the samples; the loss is averaged over all other axes.

    Inputs
    ------
    pred : NDArray or Symbol, shape (N, ...)
        The predictions.
    label : NDArray or Symbol
        The targets, with as many elements as `pred`, to which they are reshaped.
    sample_weight : NDArray or Symbol, optional
        Factors that broadcast against the loss of each element, for example of shape (N, 1).

    Returns
    -------
    NDArray or Symbol
        The loss of each sample, of shape (N,).

    Examples
    --------
    >>> errors = mx.nd.array([[0.5], [1], [3]])
    >>> mx.gluon.loss.HuberLoss()(errors, mx.nd.zeros((3, 1))).asnumpy()
    array([0.125, 0.5  , 2.5  ], dtype=float32)
    >>> mx.gluon.loss.HuberLoss(rho=0.5)(errors, mx.nd.zeros((3, 1))).asnumpy()
    array([0.25, 0.75, 2.75], dtype=float32)
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

    Samples on the right side by more than the margin have no loss and no gradient, as in a support vector machine.

    Parameters
    ----------
    margin : float, default 1
        The score that a right prediction must reach.
    weight : float or None, default None
        Factor of the loss of every sample; None means 1.
    batch_axis : int, default 0
        The axis of the samples; the loss is averaged over all other axes.

    Inputs
    ------
    pred : NDArray or Symbol, shape (N, ...)
        The scores.
    label : NDArray or Symbol
        -1 and 1, with as many elements as `pred`, to which they are reshaped. Labels of 0 and 1 are not an error: those
        of 0 then have the constant loss `margin`.
    sample_weight : NDArray or Symbol, optional
        Factors that broadcast against the loss of each element, for example of shape (N, 1).

    Returns
    -------
    NDArray or Symbol
        The loss of each sample, of shape (N,).

    Examples
    --------
    >>> scores, labels = mx.nd.array([[3], [0.5], [3]]), mx.nd.array([[1], [1], [-1]])
    >>> mx.gluon.loss.HingeLoss()(scores, labels).asnumpy()  # right, right within the margin, wrong
    array([0. , 0.5, 4. ], dtype=float32)
    """

    def __init__(self, margin=1, weight=None, batch_axis=0, **kwargs):
        super().__init__(weight, batch_axis, **kwargs)
        self._margin = margin

    def hybrid_forward(self, F, pred, label, sample_weight=None):
        label = _reshape_like(F, label, pred)
        return self._mean(F, F.relu(self._margin - pred * label), sample_weight)


class SquaredHingeLoss(Loss):
    """Squared hinge loss: L = mean(max(0, margin - pred · label)²).

    Unlike `HingeLoss` it is smooth at the margin, and wrong predictions far from it weigh more.

    Parameters
    ----------
    margin : float, default 1
        The score that a right prediction must reach.
    weight : float or None, default None
        Factor of the loss of every sample; None means 1.
    batch_axis : int, default 0
        The axis of the samples; the loss is averaged over all other axes.

    Inputs
    ------
    pred : NDArray or Symbol, shape (N, ...)
        The scores.
    label : NDArray or Symbol
        -1 and 1, with as many elements as `pred`, to which they are reshaped.
    sample_weight : NDArray or Symbol, optional
        Factors that broadcast against the loss of each element, for example of shape (N, 1).

    Returns
    -------
    NDArray or Symbol
        The loss of each sample, of shape (N,).

    Examples
    --------
    >>> scores, labels = mx.nd.array([[3], [0.5], [3]]), mx.nd.array([[1], [1], [-1]])
    >>> mx.gluon.loss.SquaredHingeLoss()(scores, labels).asnumpy()
    array([ 0.  ,  0.25, 16.  ], dtype=float32)
    """

    def __init__(self, margin=1, weight=None, batch_axis=0, **kwargs):
        super().__init__(weight, batch_axis, **kwargs)
        self._margin = margin

    def hybrid_forward(self, F, pred, label, sample_weight=None):
        label = _reshape_like(F, label, pred)
        return self._mean(F, F.square(F.relu(self._margin - pred * label)), sample_weight)


class LogisticLoss(Loss):
    """Logistic loss of a binary classifier: L = mean(log(1 + exp(-pred · label))) with labels -1 and 1.

    With `label_format='binary'` it is the same number as `SigmoidBinaryCrossEntropyLoss` for labels 0 and 1.

    Parameters
    ----------
    weight : float or None, default None
        Factor of the loss of every sample; None means 1.
    batch_axis : int, default 0
        The axis of the samples; the loss is averaged over all other axes.
    label_format : {'signed', 'binary'}, default 'signed'
        Whether labels are -1 and 1, or 0 and 1.

    Inputs
    ------
    pred : NDArray or Symbol, shape (N, ...)
        The scores, before a sigmoid.
    label : NDArray or Symbol
        The labels, with as many elements as `pred`, to which they are reshaped.
    sample_weight : NDArray or Symbol, optional
        Factors that broadcast against the loss of each element, for example of shape (N, 1).

    Returns
    -------
    NDArray or Symbol
        The loss of each sample, of shape (N,).

    Examples
    --------
    >>> scores = mx.nd.array([[0], [2]])
    >>> mx.gluon.loss.LogisticLoss()(scores, mx.nd.array([[1], [-1]])).asnumpy().round(4)
    array([0.6931, 2.1269], dtype=float32)
    >>> mx.gluon.loss.LogisticLoss(label_format="binary")(scores, mx.nd.array([[1], [0]])).asnumpy().round(4)
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
    """Triplet loss: L = max(0, margin + Σ (pred - positive)² - Σ (pred - negative)²), with sums over each sample.

    It trains embeddings: a sample comes nearer to another of its class (`positive`) than to one of another class
    (`negative`), by at least the margin.

    Parameters
    ----------
    margin : float, default 1
        How much smaller the squared distance to the positive sample must be.
    weight : float or None, default None
        Factor of the loss of every sample; None means 1.
    batch_axis : int, default 0
        The axis of the samples.

    Inputs
    ------
    pred : NDArray or Symbol, shape (N, ...)
        Embeddings of the samples (the anchors).
    positive, negative : NDArray or Symbol
        Embeddings of samples of the same and of another class, with as many elements as `pred`.

    Returns
    -------
    NDArray or Symbol
        The loss of each triplet, of shape (N,).

    Notes
    -----
    Distances are summed, not averaged: the margin has to fit the number of elements and their size. Normalize the
    embeddings (`nd.L2Normalization`), then squared distances lie between 0 and 4.

    Examples
    --------
    >>> anchor, near, far = mx.nd.array([[0, 0]]), mx.nd.array([[1, 0]]), mx.nd.array([[0, 3]])
    >>> mx.gluon.loss.TripletLoss()(anchor, near, far).asnumpy()  # 1 + 1 - 9 is below 0
    array([0.], dtype=float32)
    >>> mx.gluon.loss.TripletLoss(margin=10)(anchor, near, far).asnumpy()
    array([2.], dtype=float32)
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
    """Negative log-likelihood of counts under a Poisson distribution: mean(exp(pred) - label · pred).

    For labels that count events: visits, purchases, photons. The prediction is the logarithm of the expected count, so
    that it may have any sign. With `from_logits=False` it is the expected count itself: pred - label · log(pred +
    epsilon).

    Parameters
    ----------
    weight : float or None, default None
        Factor of the loss; None means 1.
    from_logits : bool, default True
        Whether `pred` is the logarithm of the expected count.
    batch_axis : int, default 0
        The axis of the samples; not used, since the result is the mean over all axes.
    compute_full : bool, default False
        Whether to add Stirling's approximation of log(label!) for labels above 1. It does not change gradients, but
        makes losses comparable between data sets.

    Inputs
    ------
    pred : NDArray or Symbol, shape (N, ...)
        The predictions.
    target : NDArray or Symbol
        The counts, with as many elements as `pred`, to which they are reshaped.
    sample_weight : NDArray or Symbol, optional
        Factors that broadcast against the loss of each element.
    epsilon : float, default 1e-8
        Added to the expected count before its logarithm is taken.

    Returns
    -------
    NDArray or Symbol
        The mean loss of the batch, of shape (1,).

    Notes
    -----
    As in MXNet, this loss is one number for the whole batch, where the others give one for each sample: call
    `trainer.step(1)` after it, because the mean is already taken.

    Examples
    --------
    >>> loss = mx.gluon.loss.PoissonNLLLoss()
    >>> loss(mx.nd.array([[0], [1]]), mx.nd.array([[1], [2]])).asnumpy().round(4)  # (1 - 0 + e - 2) / 2
    array([0.8591], dtype=float32)
    >>> loss(mx.nd.array([3]).log(), mx.nd.array([3])).asnumpy().round(4)  # smallest where exp(pred) is the label
    array([-0.2958], dtype=float32)
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
    """Loss of pairs of vectors: 1 - cos(x1, x2) for label 1, and max(0, cos(x1, x2) - margin) for label -1.

    It turns vectors that belong together into the same direction, and others away from each other; lengths do not
    count.

    Parameters
    ----------
    weight : float or None, default None
        Factor of the loss of every pair; None means 1.
    batch_axis : int, default 0
        The axis of the pairs; not used.
    margin : float, default 0
        The largest cosine that a pair with label -1 may have without a loss, from -1 to 1; 0 to 0.5 is usual.

    Inputs
    ------
    input1, input2 : NDArray or Symbol, shape (N, features)
        The vectors.
    label : NDArray or Symbol, shape (N,)
        1 for pairs that belong together, -1 for others. Pairs with another label have no loss.
    sample_weight : NDArray or Symbol, optional
        Factors that broadcast against the loss, for example of shape (N, 1).

    Returns
    -------
    NDArray or Symbol
        The loss of each pair, of shape (N, 1), where most losses have shape (N,).

    Examples
    --------
    >>> x, y = mx.nd.array([[1, 0], [1, 0], [1, 0]]), mx.nd.array([[5, 0], [0, 1], [5, 0]])
    >>> mx.gluon.loss.CosineEmbeddingLoss()(x, y, mx.nd.array([1, 1, -1])).asnumpy()
    array([[0.],
           [1.],
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
    """Smoothed deep metric learning: row i of one batch should be nearer to row i of the other than to any other row.

    The loss is the KL divergence between softmax(-squared distances) of each row and labels that are smoothed one-hot
    vectors. The other rows of the batch serve as negative samples, so none have to be chosen (Bonadiman et al., 2019).

    Parameters
    ----------
    smoothing_parameter : float, default 0.3
        The probability that the labels spread over the rows which do not belong together.
    weight : float or None, default 1.0
        Accepted and not used, as in MXNet.
    batch_axis : int, default 0
        The axis of the samples; not used.

    Inputs
    ------
    x1, x2 : NDArray, shape (N, features)
        Embeddings; rows of the same number belong together.

    Returns
    -------
    NDArray
        The loss of each row, of shape (N,).

    Notes
    -----
    The batch needs at least two rows. The loss cannot be hybridized, since it reads the shape of its inputs.

    Examples
    --------
    >>> x = mx.nd.array([[0, 0], [2, 2]])
    >>> mx.gluon.loss.SDMLLoss()(x, x[::-1]).asnumpy().round(2)  # the nearest row is the wrong one
    array([4.99, 4.99], dtype=float32)
    >>> mx.gluon.loss.SDMLLoss()(x, x + mx.nd.array([[0.5, 0], [0, -0.5]])).asnumpy().round(2)
    array([1.19, 1.19], dtype=float32)
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
