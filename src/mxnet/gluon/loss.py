"""Losses: how far predictions are from labels, one number for each sample."""

import numpy as np

from .. import ndarray
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
    if sample_weight is not None:
        loss = F.broadcast_mul(loss, sample_weight)
    if weight is not None:
        assert isinstance(weight, numeric_types), f"weight must be a number, got {type(weight)}"
        loss = loss * weight
    return loss


def _reshape_like(F, x, y):
    """`x` in the shape of `y`; with arrays the shape is at hand, and no gradient flows into `y`."""
    if F is not ndarray:
        return F.reshape_like(x, y)
    try:
        return x.reshape(y.shape)
    except MXNetError as error:
        raise _misfit(error, x, y) from error


def _misfit(error, label, pred):
    """The failure with the shapes of what the user gave."""
    return MXNetError(f"{error}; the label of shape {label.shape} does not fit the prediction of shape {pred.shape}")


def _picked(F, pred, label, axis):
    """The prediction of each label; labels that do not fit are told with their shapes."""
    try:
        return F.pick(pred, label, axis=axis, keepdims=True)
    except MXNetError as error:
        if F is not ndarray:
            raise
        raise _misfit(error, label, pred) from error


class Loss(HybridBlock):
    """Base class: `weight` multiplies the loss, `batch_axis` is the axis of the samples."""

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
    """Half the squared difference."""

    def __init__(self, weight=1.0, batch_axis=0, **kwargs):
        super().__init__(weight, batch_axis, **kwargs)

    def hybrid_forward(self, F, pred, label, sample_weight=None):
        label = _reshape_like(F, label, pred)
        return self._mean(F, F.square(label - pred), sample_weight, self._weight / 2)


class L1Loss(Loss):
    """The absolute difference."""

    def __init__(self, weight=None, batch_axis=0, **kwargs):
        super().__init__(weight, batch_axis, **kwargs)

    def hybrid_forward(self, F, pred, label, sample_weight=None):
        label = _reshape_like(F, label, pred)
        return self._mean(F, F.abs(label - pred), sample_weight)


class SigmoidBinaryCrossEntropyLoss(Loss):
    """Cross entropy of independent yes-or-no predictions, given before the sigmoid unless `from_sigmoid`."""

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
    """Cross entropy of the softmax of the predictions; labels are class numbers or, if not `sparse_label`, weights."""

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
    """How much the distribution `label` differs from the predicted one, given in logarithms if `from_logits`."""

    def __init__(self, from_logits=True, axis=-1, weight=None, batch_axis=0, **kwargs):
        super().__init__(weight, batch_axis, **kwargs)
        self._from_logits = from_logits
        self._axis = axis

    def hybrid_forward(self, F, pred, label, sample_weight=None):
        if not self._from_logits:
            pred = F.log_softmax(pred, self._axis)
        loss = label * (F.log(label + 1e-12) - pred)
        loss = _apply_weighting(F, loss, self._weight, sample_weight)
        return F.sum(loss, axis=self._batch_axis, exclude=True)


class CTCLoss(Loss):
    """Connectionist temporal classification: sequences of labels without their times."""

    def __init__(self, layout="NTC", label_layout="NT", weight=None, **kwargs):
        assert layout in ("NTC", "TNC"), f"Only 'NTC' and 'TNC' layouts for pred are supported. Got: {layout}"
        assert label_layout in ("NT", "TN"), f"Only 'NT' and 'TN' layouts for label are supported. Got: {label_layout}"
        super().__init__(weight, label_layout.find("N"), **kwargs)
        self._layout = layout
        self._label_layout = label_layout

    def hybrid_forward(self, F, pred, label, pred_lengths=None, label_lengths=None, sample_weight=None):
        if self._layout == "NTC":
            pred = F.swapaxes(pred, 0, 1)
        if self._batch_axis == 1:
            label = F.swapaxes(label, 0, 1)
        loss = F.CTCLoss(
            pred,
            label,
            pred_lengths,
            label_lengths,
            use_data_lengths=pred_lengths is not None,
            use_label_lengths=label_lengths is not None,
            blank_label="last",
        )
        return _apply_weighting(F, loss, self._weight, sample_weight)


class HuberLoss(Loss):
    """Squared near zero and absolute beyond `rho`."""

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
    """How much pred * label falls short of `margin`; labels are -1 and 1."""

    def __init__(self, margin=1, weight=None, batch_axis=0, **kwargs):
        super().__init__(weight, batch_axis, **kwargs)
        self._margin = margin

    def hybrid_forward(self, F, pred, label, sample_weight=None):
        label = _reshape_like(F, label, pred)
        return self._mean(F, F.relu(self._margin - pred * label), sample_weight)


class SquaredHingeLoss(Loss):
    """The square of the hinge loss."""

    def __init__(self, margin=1, weight=None, batch_axis=0, **kwargs):
        super().__init__(weight, batch_axis, **kwargs)
        self._margin = margin

    def hybrid_forward(self, F, pred, label, sample_weight=None):
        label = _reshape_like(F, label, pred)
        return self._mean(F, F.square(F.relu(self._margin - pred * label)), sample_weight)


class LogisticLoss(Loss):
    """log(1 + exp(-pred * label)); labels are -1 and 1, or 0 and 1 if `label_format` is "binary"."""

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
    """How much nearer `positive` should be to `pred` than `negative` is, less than `margin`."""

    def __init__(self, margin=1, weight=None, batch_axis=0, **kwargs):
        super().__init__(weight, batch_axis, **kwargs)
        self._margin = margin

    def hybrid_forward(self, F, pred, positive, negative):
        positive, negative = (_reshape_like(F, x, pred) for x in (positive, negative))
        gap = F.square(positive - pred) - F.square(negative - pred)
        loss = F.relu(F.sum(gap, axis=self._batch_axis, exclude=True) + self._margin)
        return _apply_weighting(F, loss, self._weight, None)


class PoissonNLLLoss(Loss):
    """Negative log likelihood of counts under a Poisson distribution, averaged over everything."""

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
    """1 - cos for pairs labelled 1, and cos above `margin` for pairs labelled -1."""

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
    """Smoothed deep metric learning: row i of one batch should be nearest to row i of the other."""

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
