"""Metrics of classification: accuracy, likelihood of the labels, and scores of the confusion matrix."""

import math

import numpy
import torch

from .._core.errors import MXNetError
from .._device import late
from .base import EvalMetric, PairMetric, alias, check_label_shapes, register, values_of


@register
@alias("acc")
class Accuracy(PairMetric):
    """Share of the samples whose predicted class is the label.

    accuracy = (number of samples with argmax(pred) = label) / (number of samples). Registered as `accuracy` and `acc`.
    Labels have shape (N,) or (N, ...), predictions have one axis more, that of the class scores, or the shape of the
    labels, if they are class numbers already.

    Parameters
    ----------
    axis : int, default 1
        The axis of the class scores.
    name : str, default 'accuracy'
        The name under which `get` reports the value.
    output_names, label_names : list of str, optional
        Which outputs and labels `update_dict` uses, by name; None means all. `update` takes all it is given.

    Notes
    -----
    Labels are class numbers, not one-hot vectors: predictions of the shape of the labels are compared as they are,
    which gives a meaningless value for one-hot labels. Counting happens on the device of the predictions; only `get`
    waits for the result.

    Examples
    --------
    >>> labels = mx.nd.array([0, 1, 1])
    >>> scores = mx.nd.array([[0.2, 0.8], [0.1, 0.9], [0.45, 0.55]])
    >>> metric = mx.metric.Accuracy()
    >>> metric.update([labels], [scores])
    >>> name, value = metric.get()
    >>> name, round(value, 4)
    ('accuracy', 0.6667)
    >>> metric.update([labels], [labels])  # class numbers; counts are added up until reset()
    >>> round(metric.get()[1], 4)
    0.8333
    """

    def __init__(self, axis=1, name="accuracy", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names, axis=axis)
        self.axis = axis

    def _update_pair(self, label, pred):
        scores = values_of(pred)
        classes = self._chosen(scores, label.shape) if pred.shape != label.shape else scores
        classes = classes.to(torch.int32).flatten()
        wanted = values_of(label, classes).to(torch.int32).flatten()
        check_label_shapes(wanted, classes)
        self._add((classes == wanted).sum(), len(classes))

    def _chosen(self, scores, labels):
        if not -scores.dim() <= self.axis < scores.dim():
            raise MXNetError(
                f"axis {self.axis} exceeds the input dimension of {scores.dim()}: accuracy got predictions of shape "
                f"{tuple(scores.shape)} for labels of shape {tuple(labels)}; they need one shape or an axis of scores"
            )
        return scores.argmax(self.axis)


@register
@alias("top_k_accuracy", "top_k_acc")
class TopKAccuracy(PairMetric):
    """Share of the samples whose label is among the `top_k` classes with the largest scores.

    Registered as `top_k_accuracy` and `top_k_acc`. Labels have shape (N,), predictions (N, C).

    Parameters
    ----------
    top_k : int, default 1
        How many classes count. It must be at least 2; use `Accuracy` for 1.
    name : str, default 'top_k_accuracy'
        The name under which `get` reports the value; `_` and `top_k` are appended.
    output_names, label_names : list of str, optional
        Which outputs and labels `update_dict` uses, by name; None means all. `update` takes all it is given.

    Notes
    -----
    The default is refused: always give `top_k`.

    Examples
    --------
    >>> metric = mx.metric.TopKAccuracy(top_k=2)
    >>> metric.update([mx.nd.array([2, 0])], [mx.nd.array([[0.1, 0.6, 0.3], [0.2, 0.5, 0.3]])])
    >>> metric.get()
    ('top_k_accuracy_2', 0.5)
    """

    def __init__(self, top_k=1, name="top_k_accuracy", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names, top_k=top_k)
        self.top_k = top_k
        assert self.top_k > 1, f"Please use Accuracy: top_k must be at least 2, got {top_k}"
        self.name += f"_{self.top_k}"

    def _update_pair(self, label, pred):
        assert len(pred.shape) <= 2, f"predictions must have one or two axes, got shape {pred.shape}"
        check_label_shapes(label, pred)
        if len(pred.shape) == 1:
            self._update_vector(label, pred)
            return
        scores = values_of(pred).float()
        if self.top_k > scores.shape[1]:
            raise ValueError(f"top_k={self.top_k} is more than the {scores.shape[1]} classes of the predictions")
        best = scores.topk(self.top_k, dim=1, sorted=False).indices
        wanted = values_of(label, scores).to(torch.int32).reshape(-1, 1)
        check_label_shapes(wanted, best)
        self._add((best == wanted).sum(), len(scores))

    def _update_vector(self, label, pred):
        """Of vectors MXNet compares the order of the scores with the labels, in the local sum alone."""
        order = numpy.argpartition(pred.asnumpy().astype("float32"), -self.top_k)
        self.sum_metric += int((order == label.asnumpy().astype("int32").ravel()).sum())
        self.num_inst += len(order)
        self.global_num_inst += len(order)


@register
class Perplexity(PairMetric):
    """Perplexity of a language model: exp(-Σ log p(label) / N), with N the number of counted labels.

    1 means that every label was predicted with certainty; C that the prediction was no better than chance among C
    words.

    Parameters
    ----------
    ignore_label : int or None
        A label that is not counted, for example that of padding. None counts all; there is no default.
    axis : int, default -1
        The axis of the probabilities.
    name : str, default 'perplexity'
        The name under which `get` reports the value.
    output_names, label_names : list of str, optional
        Which outputs and labels `update_dict` uses, by name; None means all. `update` takes all it is given.

    Notes
    -----
    Predictions are probabilities, not scores: apply a softmax first. Probabilities below 1e-10 count as 1e-10.

    Examples
    --------
    >>> metric = mx.metric.Perplexity(ignore_label=0)
    >>> labels = mx.nd.array([1, 2, 0])  # the last one is padding
    >>> metric.update([labels], [mx.nd.array([[0, 0.5, 0.5], [0, 0.75, 0.25], [1, 0, 0]])])
    >>> name, value = metric.get()
    >>> name, round(value, 4)
    ('perplexity', 2.8284)
    """

    def __init__(self, ignore_label, axis=-1, name="perplexity", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names, ignore_label=ignore_label)
        self.ignore_label = ignore_label
        self.axis = axis

    def update(self, labels, preds):
        assert len(labels) == len(preds), f"got {len(labels)} arrays of labels and {len(preds)} of predictions"
        super().update(labels, preds)

    def _update_pair(self, label, pred):
        assert label.size == pred.size / pred.shape[-1], f"shape mismatch: {label.shape} vs. {pred.shape}"
        scores = values_of(pred)
        wanted = values_of(label, scores).flatten()
        if not -scores.dim() <= self.axis < scores.dim() or scores.shape[self.axis] * len(wanted) != scores.numel():
            raise MXNetError(
                f"perplexity got labels of shape {label.shape} for predictions of shape {pred.shape} with the classes "
                f"along axis {self.axis}"
            )
        moved = scores.movedim(self.axis, -1)
        rows = wanted.long().reshape(*moved.shape[:-1], 1).clamp(0, moved.shape[-1] - 1)
        chosen = moved.gather(-1, rows).flatten()
        count = chosen.numel()
        if self.ignore_label is not None:
            ignored = wanted == self.ignore_label
            chosen = chosen.masked_fill(ignored, 1)
            count = count - ignored.sum()
        self._add(-chosen.clamp(min=1e-10).log().sum(), count)

    def _result(self, total, count):
        return float("nan") if count == 0 else math.exp(total / count)


class _LogLikelihood(PairMetric):
    """The mean of -log(probability of the label + eps)."""

    def __init__(self, eps, name, output_names, label_names):
        super().__init__(name, output_names, label_names, eps=eps)
        self.eps = eps

    def _update_pair(self, label, pred):
        probabilities = values_of(pred)
        wanted = values_of(label, probabilities).flatten().long()
        assert len(wanted) == len(probabilities), (len(wanted), len(probabilities))
        classes = probabilities.shape[1]
        wanted = late.bounded(wanted, classes, f"{self.name}: labels", -classes)
        chosen = probabilities[torch.arange(len(wanted), device=wanted.device), wanted]
        self._add(-(chosen + self.eps).log().sum(), len(wanted))


@register
@alias("ce")
class CrossEntropy(_LogLikelihood):
    """Cross entropy of predicted probabilities and labels: mean(-log(p(label) + eps)).

    Registered as `crossentropy` and `ce`. Labels are class numbers of shape (N,), predictions are probabilities of
    shape (N, C).

    Parameters
    ----------
    eps : float, default 1e-12
        Added to each probability, so that the logarithm of 0 is finite.
    name : str, default 'cross-entropy'
        The name under which `get` reports the value.
    output_names, label_names : list of str, optional
        Which outputs and labels `update_dict` uses, by name; None means all. `update` takes all it is given.

    Notes
    -----
    Predictions are probabilities: apply a softmax to the scores of a Gluon network first. The value of scores is NaN or
    meaningless, without an error.

    Examples
    --------
    >>> metric = mx.metric.CrossEntropy()
    >>> scores = mx.nd.array([[2, 0], [0, 1]])
    >>> metric.update([mx.nd.array([0, 1])], [scores.softmax()])
    >>> name, value = metric.get()
    >>> name, round(value, 4)
    ('cross-entropy', 0.2201)
    """

    def __init__(self, eps=1e-12, name="cross-entropy", output_names=None, label_names=None):
        super().__init__(eps, name, output_names, label_names)


@register
@alias("nll_loss")
class NegativeLogLikelihood(_LogLikelihood):
    """Negative log-likelihood of the labels: mean(-log(p(label) + eps)); the same value as `CrossEntropy`.

    Registered as `negativeloglikelihood` and `nll_loss`. Labels are class numbers of shape (N,), predictions are
    probabilities of shape (N, C).

    Parameters
    ----------
    eps : float, default 1e-12
        Added to each probability, so that the logarithm of 0 is finite.
    name : str, default 'nll-loss'
        The name under which `get` reports the value.
    output_names, label_names : list of str, optional
        Which outputs and labels `update_dict` uses, by name; None means all. `update` takes all it is given.

    Notes
    -----
    Predictions are probabilities: apply a softmax to the scores of a Gluon network first. The value of scores is NaN or
    meaningless, without an error.

    Examples
    --------
    >>> metric = mx.metric.NegativeLogLikelihood()
    >>> scores = mx.nd.array([[2, 0], [0, 1]])
    >>> metric.update([mx.nd.array([0, 1])], [scores.softmax()])
    >>> name, value = metric.get()
    >>> name, round(value, 4)
    ('nll-loss', 0.2201)
    """

    def __init__(self, eps=1e-12, name="nll-loss", output_names=None, label_names=None):
        super().__init__(eps, name, output_names, label_names)


def _ratio(top, bottom):
    """top / bottom; 0 where there is nothing to divide by."""
    return torch.where(bottom > 0, top / bottom.clamp(min=1), torch.zeros_like(top))


def _precision(counts):
    return _ratio(counts[0], counts[0] + counts[2])


def _recall(counts):
    return _ratio(counts[0], counts[0] + counts[1])


def _fscore(counts):
    precision, recall = _precision(counts), _recall(counts)
    total = precision + recall
    return torch.where(total > 0, 2 * precision * recall / torch.where(total > 0, total, 1), torch.zeros_like(total))


def _matthews(counts):
    """Matthews' correlation coefficient; factors of the denominator that are zero are left out."""
    true_pos, false_neg, false_pos, true_neg = counts
    terms = torch.stack([true_pos + false_pos, true_pos + false_neg, true_neg + false_pos, true_neg + false_neg]).clamp(
        min=0
    )
    bottom = torch.where(terms > 0, terms, torch.ones_like(terms)).prod()
    return (true_pos * true_neg - false_pos * false_neg) / bottom.sqrt()


class _BinaryClassificationMetrics:
    """Counts of true and false positives and negatives, on the device until somebody reads them, and their scores."""

    NAMES = ("true_positives", "false_negatives", "false_positives", "true_negatives")

    def __init__(self):
        self.reset_stats()

    def update_binary_stats(self, label, pred):
        """Count a batch of labels 0 and 1 against predictions with two columns."""
        scores = values_of(pred)
        if scores.dim() < 2:
            raise numpy.exceptions.AxisError(1, scores.dim()) if hasattr(numpy, "exceptions") else numpy.AxisError(1, 1)
        chosen = scores.argmax(1) == 1
        wanted = values_of(label, scores).to(torch.int32)
        check_label_shapes(wanted, scores)
        wanted = wanted.flatten()
        check_label_shapes(wanted, chosen)
        self._check_binary(wanted)
        wanted = wanted == 1
        pairs = (chosen & wanted, ~chosen & wanted, chosen & ~wanted, ~chosen & ~wanted)
        counts = torch.stack(pairs).sum(1).to(torch.float32 if chosen.device.type == "mps" else torch.float64)
        before = self._local, self._global
        self._local, self._global = (
            counts if old is None else old.to(counts, non_blocking=True) + counts for old in before
        )

    def _check_binary(self, wanted):
        """At most two classes: at once where reading costs nothing, else when the counts are read."""
        odd = ((wanted != wanted.min()) & (wanted != wanted.max())).any() if len(wanted) else torch.tensor(False)
        self._odd = odd if self._odd is None else self._odd.to(odd.device) | odd
        if odd.device.type == "cpu":
            self.check()

    def check(self):
        """Raise if a batch had more than two classes."""
        odd, self._odd = self._odd, None
        if odd is not None and odd.item():
            raise ValueError(
                f"{self.__class__.__name__} only supports binary classification, got more labels. The labels of F1 and "
                "MCC are 0 and 1; mx.metric.PCC takes any number of classes."
            )

    def counts(self, use_global):
        found = self._global if use_global else self._local
        return torch.zeros(4, dtype=torch.float64) if found is None else found

    def _read(self, function, use_global=False):
        self.check()
        return function(self.counts(use_global)).item()

    precision = property(lambda self: self._read(_precision))
    global_precision = property(lambda self: self._read(_precision, True))
    recall = property(lambda self: self._read(_recall))
    global_recall = property(lambda self: self._read(_recall, True))
    fscore = property(lambda self: self._read(_fscore))
    global_fscore = property(lambda self: self._read(_fscore, True))
    total_examples = property(lambda self: int(self._read(torch.sum)))
    global_total_examples = property(lambda self: int(self._read(torch.sum, True)))

    def matthewscc(self, use_global=False):
        """Matthews' correlation coefficient."""
        return self._read(_matthews, use_global)

    def local_reset_stats(self):
        self._local = None  # of no batch: zeros
        self._odd = None

    def reset_stats(self):
        self.local_reset_stats()
        self._global = None


def _count_property(place, use_global):
    return property(lambda self: int(self._read(lambda counts: counts[place], use_global)))


for _place, _name in enumerate(_BinaryClassificationMetrics.NAMES):
    setattr(_BinaryClassificationMetrics, _name, _count_property(_place, False))
    setattr(_BinaryClassificationMetrics, "global_" + _name, _count_property(_place, True))


class _BinaryScore(EvalMetric):
    """A score of a two-class confusion: its mean over batches ("macro"), or that of all examples ("micro")."""

    _score = None  # from counts to a tensor with one number

    def __init__(self, name, output_names, label_names, average):
        self._average = average
        self._metrics = _BinaryClassificationMetrics()
        super().__init__(name, output_names=output_names, label_names=label_names, has_global_stats=True)

    def update(self, labels, preds):
        labels, preds = check_label_shapes(labels, preds, True)
        for label, pred in zip(labels, preds, strict=False):
            self._metrics.update_binary_stats(label, pred)
        here, everywhere = (self._metrics.counts(use_global) for use_global in (False, True))
        score = type(self)._score
        if self._average == "macro":
            EvalMetric.sum_metric.add(self, score(here))
            EvalMetric.global_sum_metric.add(self, score(everywhere))
            self.num_inst += 1
            self.global_num_inst += 1
            odd, self._metrics._odd = self._metrics._odd, None
            self._metrics.reset_stats()
            self._metrics._odd = odd  # still to be looked at
        else:
            self.num_inst, self.global_num_inst = here.sum().long(), everywhere.sum().long()
            self.sum_metric, self.global_sum_metric = score(here) * here.sum(), score(everywhere) * everywhere.sum()

    def _result(self, total, count):
        self._metrics.check()
        return super()._result(total, count)

    def reset(self):
        super().reset()
        self._metrics.reset_stats()

    def reset_local(self):
        super().reset_local()
        self._metrics.local_reset_stats()


@register
class F1(_BinaryScore):
    """F1 score of binary classification: 2 · precision · recall / (precision + recall).

    Class 1 is the positive class. precision = TP / (TP + FP) is the share of positive predictions that are right,
    recall = TP / (TP + FN) the share of positive samples that are found. Labels have shape (N,), predictions (N, 2).

    Parameters
    ----------
    name : str, default 'f1'
        The name under which `get` reports the value.
    output_names, label_names : list of str, optional
        Which outputs and labels `update_dict` uses, by name; None means all. `update` takes all it is given.
    average : {'macro', 'micro'}, default 'macro'
        'macro': the mean of the scores of all batches. 'micro': the score of all samples together, which does not
        depend on the size of the batches.

    Notes
    -----
    0 where precision and recall are both 0. More than two classes are a ValueError.

    Examples
    --------
    >>> labels, preds = mx.nd.array([0, 1, 1]), mx.nd.array([[0.2, 0.8], [0.1, 0.9], [0.45, 0.55]])
    >>> metric = mx.metric.F1()
    >>> metric.update([labels], [preds])
    >>> name, value = metric.get()
    >>> name, round(value, 4)
    ('f1', 0.8)
    """

    def __init__(self, name="f1", output_names=None, label_names=None, average="macro"):
        super().__init__(name, output_names, label_names, average)
        self.average, self.metrics = average, self._metrics

    _score = staticmethod(_fscore)


@register
class MCC(_BinaryScore):
    """Matthews correlation coefficient of binary classification.

    (TP · TN - FP · FN) / √((TP + FP)(TP + FN)(TN + FP)(TN + FN)). 1 is a perfect prediction, 0 no better than chance,
    -1 always wrong. Unlike accuracy and F1 it stays meaningful if one class is rare. Labels have shape (N,),
    predictions (N, 2).

    Parameters
    ----------
    name : str, default 'mcc'
        The name under which `get` reports the value.
    output_names, label_names : list of str, optional
        Which outputs and labels `update_dict` uses, by name; None means all. `update` takes all it is given.
    average : {'macro', 'micro'}, default 'macro'
        'macro': the mean of the scores of all batches. 'micro': the score of all samples together, which does not
        depend on the size of the batches.

    Notes
    -----
    Factors of the denominator that are 0 are left out.

    Examples
    --------
    >>> metric = mx.metric.MCC()
    >>> metric.update([mx.nd.array([0, 1, 1])], [mx.nd.array([[0.8, 0.2], [0.1, 0.9], [0.6, 0.4]])])
    >>> name, value = metric.get()
    >>> name, round(value, 4)
    ('mcc', 0.5)
    """

    def __init__(self, name="mcc", output_names=None, label_names=None, average="macro"):
        super().__init__(name, output_names, label_names, average)

    _score = staticmethod(_matthews)


@register
class PCC(EvalMetric):
    """Pearson correlation of labels and predicted classes, a generalization of `MCC` to any number of classes.

    Computed from the confusion matrix of all batches since `reset`; it grows with the largest class seen. Labels have
    shape (N,); predictions have shape (N, C), or (N,) if they are class numbers.

    Parameters
    ----------
    name : str, default 'pcc'
        The name under which `get` reports the value.
    output_names, label_names : list of str, optional
        Which outputs and labels `update_dict` uses, by name; None means all. `update` takes all it is given.
    has_global_stats : bool, default True
        Whether `get_global` returns the value since `reset` while `reset_local` starts a new local value.

    Notes
    -----
    NaN as long as only one class was seen.

    Examples
    --------
    >>> metric = mx.metric.PCC()
    >>> metric.update([mx.nd.array([0, 1, 2, 2])], [mx.nd.array([0, 1, 2, 1])])
    >>> name, value = metric.get()
    >>> name, round(value, 4)
    ('pcc', 0.7)
    """

    def __init__(self, name="pcc", output_names=None, label_names=None, has_global_stats=True):
        self.k = 2
        super().__init__(name, output_names, label_names, has_global_stats=has_global_stats)

    def _grow(self, inc):
        self.lcm, self.gcm = (numpy.pad(m, ((0, inc), (0, inc))) for m in (self.lcm, self.gcm))
        self.k += inc

    def _calc_mcc(self, cmat):
        n, x, y = cmat.sum(), cmat.sum(axis=1), cmat.sum(axis=0)
        cov_xx, cov_yy = numpy.sum(x * (n - x)), numpy.sum(y * (n - y))
        if cov_xx == 0 or cov_yy == 0:
            return float("nan")
        cov_xy = numpy.sum(cmat.diagonal() * n - x * y)
        return float(cov_xy / (cov_xx * cov_yy) ** 0.5)

    def update(self, labels, preds):
        labels, preds = check_label_shapes(labels, preds, True)
        for label, pred in zip(labels, preds, strict=False):
            self._count(*_classes(label.asnumpy(), pred.asnumpy()))
        self.num_inst += 1
        self.global_num_inst += 1

    def _count(self, wanted, chosen):
        missing = int(max(chosen.max(), wanted.max())) + 1 - self.k
        if missing > 0:
            self._grow(missing)
        confusion = _confusion(wanted, chosen, self.k)
        self.lcm, self.gcm = self.lcm + confusion, self.gcm + confusion

    sum_metric = property(lambda self: self.num_inst * self._calc_mcc(self.lcm))
    global_sum_metric = property(lambda self: self.global_num_inst * self._calc_mcc(self.gcm))

    def reset(self):
        self.gcm, self.global_num_inst = self._no_counts(), 0.0
        PCC.reset_local(self)

    def reset_local(self):
        self.lcm, self.num_inst = self._no_counts(), 0.0

    def _no_counts(self):
        return numpy.zeros((self.k, self.k))


def _classes(labels, preds):
    """Labels and predicted classes as integers; scores are predictions with another shape than the labels."""
    wanted = labels.astype("int32")
    return wanted, preds.astype("int32") if preds.shape == wanted.shape else preds.argmax(axis=1)


def _confusion(wanted, chosen, k):
    """The matrix of how often each class (row) was predicted for each label (column)."""
    confusion = numpy.zeros((k, k))
    shared = min(len(chosen), len(wanted))  # MXNet walks over both until one ends
    if chosen.ndim == wanted.ndim == 1:
        numpy.add.at(confusion, (chosen[:shared], wanted[:shared]), 1)
    else:
        for places in zip(chosen, wanted, strict=False):
            confusion[places] += 1  # equal pairs of a row count once, as in MXNet
    return confusion
