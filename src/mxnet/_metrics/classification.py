"""Metrics of classes: accuracy, likelihood of the labels, and scores made from confusion."""

import math

import numpy
import torch

from .base import EvalMetric, PairMetric, alias, check_label_shapes, register, values_of


@register
@alias("acc")
class Accuracy(PairMetric):
    """The share of predictions whose largest score, along `axis`, is the label."""

    def __init__(self, axis=1, name="accuracy", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names, axis=axis)
        self.axis = axis

    def _update_pair(self, label, pred):
        scores = values_of(pred)
        classes = scores.argmax(self.axis) if pred.shape != label.shape else scores
        classes = classes.to(torch.int32).flatten()
        wanted = values_of(label, classes).to(torch.int32).flatten()
        check_label_shapes(wanted, classes)
        self._add((classes == wanted).sum(), len(classes))


@register
@alias("top_k_accuracy", "top_k_acc")
class TopKAccuracy(PairMetric):
    """The share of predictions that have the label among their `top_k` largest scores."""

    def __init__(self, top_k=1, name="top_k_accuracy", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names, top_k=top_k)
        self.top_k = top_k
        assert self.top_k > 1, "Please use Accuracy if top_k is no more than 1"
        self.name += f"_{self.top_k}"

    def _update_pair(self, label, pred):
        assert len(pred.shape) <= 2, "Predictions should be no more than 2 dims"
        check_label_shapes(label, pred)
        if len(pred.shape) == 1:
            self._update_vector(label, pred)
            return
        scores = values_of(pred).float()
        if self.top_k > scores.shape[1]:
            raise ValueError(f"top_k={self.top_k} is more than the {scores.shape[1]} classes of the predictions")
        best = scores.topk(self.top_k, dim=1, sorted=False).indices
        wanted = values_of(label, scores).to(torch.int32).reshape(-1, 1)
        self._add((best == wanted).sum(), len(scores))

    def _update_vector(self, label, pred):
        """Of vectors MXNet compares the order of the scores with the labels, in the local sum alone."""
        order = numpy.argpartition(pred.asnumpy().astype("float32"), -self.top_k)
        self.sum_metric += int((order == label.asnumpy().astype("int32").ravel()).sum())
        self.num_inst += len(order)
        self.global_num_inst += len(order)


@register
class Perplexity(PairMetric):
    """exp of the mean negative log probability of the labels, those equal to `ignore_label` aside."""

    def __init__(self, ignore_label, axis=-1, name="perplexity", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names, ignore_label=ignore_label)
        self.ignore_label = ignore_label
        self.axis = axis

    def update(self, labels, preds):
        assert len(labels) == len(preds)
        super().update(labels, preds)

    def _update_pair(self, label, pred):
        assert label.size == pred.size / pred.shape[-1], f"shape mismatch: {label.shape} vs. {pred.shape}"
        scores = values_of(pred)
        wanted = values_of(label, scores).flatten()
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
        chosen = probabilities[torch.arange(len(wanted), device=wanted.device), wanted]
        self._add(-(chosen + self.eps).log().sum(), len(wanted))


@register
@alias("ce")
class CrossEntropy(_LogLikelihood):
    """Cross entropy of probabilities and labels."""

    def __init__(self, eps=1e-12, name="cross-entropy", output_names=None, label_names=None):
        super().__init__(eps, name, output_names, label_names)


@register
@alias("nll_loss")
class NegativeLogLikelihood(_LogLikelihood):
    """Negative log likelihood of the labels."""

    def __init__(self, eps=1e-12, name="nll-loss", output_names=None, label_names=None):
        super().__init__(eps, name, output_names, label_names)


class _BinaryClassificationMetrics:
    """Counts of true and false positives and negatives, and the scores made from them."""

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
        if len(torch.unique(wanted)) > 2:
            raise ValueError(f"{self.__class__.__name__} currently only supports binary classification.")
        wanted = wanted.flatten() == 1
        pairs = (chosen & wanted, ~chosen & wanted, chosen & ~wanted, ~chosen & ~wanted)
        for name, amount in zip(self.NAMES, torch.stack(pairs).sum(1).tolist(), strict=True):
            setattr(self, name, getattr(self, name) + amount)
            setattr(self, "global_" + name, getattr(self, "global_" + name) + amount)

    def _counts(self, use_global):
        return [getattr(self, ("global_" if use_global else "") + name) for name in self.NAMES]

    def _precision(self, use_global):
        true_pos, _, false_pos, _ = self._counts(use_global)
        return true_pos / (true_pos + false_pos) if true_pos + false_pos > 0 else 0.0

    def _recall(self, use_global):
        true_pos, false_neg, _, _ = self._counts(use_global)
        return true_pos / (true_pos + false_neg) if true_pos + false_neg > 0 else 0.0

    def _fscore(self, use_global):
        precision, recall = self._precision(use_global), self._recall(use_global)
        return 2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0

    precision = property(lambda self: self._precision(False))
    global_precision = property(lambda self: self._precision(True))
    recall = property(lambda self: self._recall(False))
    global_recall = property(lambda self: self._recall(True))
    fscore = property(lambda self: self._fscore(False))
    global_fscore = property(lambda self: self._fscore(True))
    total_examples = property(lambda self: sum(self._counts(False)))
    global_total_examples = property(lambda self: sum(self._counts(True)))

    def matthewscc(self, use_global=False):
        """Matthews' correlation coefficient; factors of the denominator that are zero are left out."""
        true_pos, false_neg, false_pos, true_neg = map(float, self._counts(use_global))
        terms = (true_pos + false_pos, true_pos + false_neg, true_neg + false_pos, true_neg + false_neg)
        bottom = math.prod(term for term in terms if term != 0.0)
        return (true_pos * true_neg - false_pos * false_neg) / math.sqrt(bottom)

    def local_reset_stats(self):
        for name in self.NAMES:
            setattr(self, name, 0)

    def reset_stats(self):
        self.local_reset_stats()
        for name in self.NAMES:
            setattr(self, "global_" + name, 0)


class _BinaryScore(EvalMetric):
    """A score of a two-class confusion: its mean over batches ("macro"), or that of all examples ("micro")."""

    def __init__(self, name, output_names, label_names, average):
        self._average = average
        self._metrics = _BinaryClassificationMetrics()
        super().__init__(name, output_names=output_names, label_names=label_names, has_global_stats=True)

    def _score(self, use_global):
        raise NotImplementedError

    def update(self, labels, preds):
        labels, preds = check_label_shapes(labels, preds, True)
        for label, pred in zip(labels, preds, strict=False):
            self._metrics.update_binary_stats(label, pred)
        if self._average == "macro":
            self.sum_metric += self._score(False)
            self.global_sum_metric += self._score(True)
            self.num_inst += 1
            self.global_num_inst += 1
            self._metrics.reset_stats()
        else:
            self.num_inst = self._metrics.total_examples
            self.global_num_inst = self._metrics.global_total_examples
            self.sum_metric = self._score(False) * self.num_inst
            self.global_sum_metric = self._score(True) * self.global_num_inst

    def reset(self):
        super().reset()
        self._metrics.reset_stats()

    def reset_local(self):
        super().reset_local()
        self._metrics.local_reset_stats()


@register
class F1(_BinaryScore):
    """The harmonic mean of precision and recall of class 1."""

    def __init__(self, name="f1", output_names=None, label_names=None, average="macro"):
        super().__init__(name, output_names, label_names, average)
        self.average, self.metrics = average, self._metrics

    def _score(self, use_global):
        return self._metrics._fscore(use_global)


@register
class MCC(_BinaryScore):
    """Matthews' correlation coefficient of two classes."""

    def __init__(self, name="mcc", output_names=None, label_names=None, average="macro"):
        super().__init__(name, output_names, label_names, average)

    def _score(self, use_global):
        return self._metrics.matthewscc(use_global)


def _rows(classes):
    """One class for each example."""
    return classes.reshape(len(classes), -1)[:, 0] if classes.ndim > 1 and classes[0].size == 1 else classes


@register
class PCC(EvalMetric):
    """Matthews' correlation for any number of classes, from the confusion matrix."""

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
            wanted, chosen = label.asnumpy().astype("int32"), pred.asnumpy()
            chosen = chosen.argmax(axis=1) if chosen.shape != wanted.shape else chosen.astype("int32")
            largest = int(max(chosen.max(), wanted.max()))
            if largest >= self.k:
                self._grow(largest + 1 - self.k)
            confusion = numpy.zeros((self.k, self.k))
            shared = min(len(chosen), len(wanted))  # MXNet walks over both until one ends
            numpy.add.at(confusion, (_rows(chosen[:shared]), _rows(wanted[:shared])), 1)
            self.lcm += confusion
            self.gcm += confusion
        self.num_inst += 1
        self.global_num_inst += 1

    @property
    def sum_metric(self):
        return self._calc_mcc(self.lcm) * self.num_inst

    @property
    def global_sum_metric(self):
        return self._calc_mcc(self.gcm) * self.global_num_inst

    def reset(self):
        self.global_num_inst = 0.0
        self.gcm = numpy.zeros((self.k, self.k))
        self.reset_local()

    def reset_local(self):
        self.num_inst = 0.0
        self.lcm = numpy.zeros((self.k, self.k))
