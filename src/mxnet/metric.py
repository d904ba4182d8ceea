"""Evaluation metrics: running numbers over batches of labels and predictions.

Sums stay on the device as tensors until somebody reads them, so that a training loop does not wait for each batch.
"""

import math

import numpy
import torch

from . import ndarray, registry


def check_label_shapes(labels, preds, wrap=False, shape=False):
    """Raise if lengths (or shapes) differ; with `wrap`, single arrays come back in lists."""
    found = (labels.shape, preds.shape) if shape else (len(labels), len(preds))
    if found[0] != found[1]:
        raise ValueError(f"Shape of labels {found[0]} does not match shape of predictions {found[1]}")
    if wrap:
        labels = [labels] if isinstance(labels, ndarray.NDArray) else labels
        preds = [preds] if isinstance(preds, ndarray.NDArray) else preds
    return labels, preds


def _values(array, like=None):
    """The array's tensor, out of any recorded graph, on the device of `like`."""
    tensor = array._t.detach()
    return tensor if like is None else tensor.to(like.device)


class _Running:
    """A running total: a number for whoever reads it, perhaps still a tensor inside."""

    def __set_name__(self, owner, name):
        self.slot = "_" + name

    def __get__(self, metric, owner=None):
        if metric is None:
            return self
        value = metric.__dict__[self.slot]
        if isinstance(value, torch.Tensor):
            value = metric.__dict__[self.slot] = value.item()
        return value

    def __set__(self, metric, value):
        metric.__dict__[self.slot] = value

    def add(self, metric, amount):
        """Add without reading, so that nothing waits for the device."""
        total = metric.__dict__[self.slot]
        if isinstance(amount, torch.Tensor):
            amount = amount.detach().reshape(()).to(torch.float64)
            if isinstance(total, torch.Tensor):
                amount = amount.to(total.device)
        metric.__dict__[self.slot] = total + amount


class EvalMetric:
    """Base of all metrics. Subclasses define `update(labels, preds)`, adding to `sum_metric` and `num_inst`."""

    sum_metric = _Running()
    num_inst = _Running()
    global_sum_metric = _Running()
    global_num_inst = _Running()

    def __init__(self, name, output_names=None, label_names=None, **kwargs):
        self.name = str(name)
        self.output_names = output_names
        self.label_names = label_names
        self._has_global_stats = kwargs.pop("has_global_stats", False)
        self._kwargs = kwargs
        self.reset()

    def __str__(self):
        return f"EvalMetric: {dict(self.get_name_value())}"

    def get_config(self):
        """What `create` needs to make this metric again."""
        return {
            **self._kwargs,
            "metric": self.__class__.__name__,
            "name": self.name,
            "output_names": self.output_names,
            "label_names": self.label_names,
        }

    def update_dict(self, label, pred):
        """Update from dicts of arrays, choosing by `label_names` and `output_names`."""
        self.update(_chosen(label, self.label_names), _chosen(pred, self.output_names))

    def update(self, labels, preds):
        """Count a batch in."""
        raise NotImplementedError

    def _add(self, total, count):
        """Add to the local and the global sums; both amounts may be tensors."""
        kind = EvalMetric
        kind.sum_metric.add(self, total)
        kind.global_sum_metric.add(self, total)
        kind.num_inst.add(self, count)
        kind.global_num_inst.add(self, count)

    def reset(self):
        """Forget everything."""
        self.num_inst = 0
        self.sum_metric = 0.0
        self.global_num_inst = 0
        self.global_sum_metric = 0.0

    def reset_local(self):
        """Forget what came since the last such call; the global numbers go on."""
        self.num_inst = 0
        self.sum_metric = 0.0

    def _result(self, total, count):
        return float("nan") if count == 0 else total / count

    def get(self):
        """(name, value) since the last reset."""
        return self.name, self._result(self.sum_metric, self.num_inst)

    def get_global(self):
        """(name, value) since the last full reset."""
        if not self._has_global_stats:
            return self.get()
        return self.name, self._result(self.global_sum_metric, self.global_num_inst)

    def get_name_value(self):
        """[(name, value), …]"""
        return _pairs(*self.get())

    def get_global_name_value(self):
        """[(name, value), …] since the last full reset."""
        return _pairs(*self.get_global()) if self._has_global_stats else self.get_name_value()


def _chosen(arrays, names):
    return list(arrays.values()) if names is None else [arrays[name] for name in names]


def _pairs(names, values):
    names = names if isinstance(names, list) else [names]
    values = values if isinstance(values, list) else [values]
    return list(zip(names, values, strict=False))


register = registry.get_register_func(EvalMetric, "metric")
alias = registry.get_alias_func(EvalMetric, "metric")
_create = registry.get_create_func(EvalMetric, "metric")


def create(metric, *args, **kwargs):
    """A metric from its name, a function of (label, pred), an instance, or a list of these."""
    if callable(metric):
        return CustomMetric(metric, *args, **kwargs)
    if isinstance(metric, list):
        composite = CompositeEvalMetric()
        for child in metric:
            composite.add(create(child, *args, **kwargs))
        return composite
    return _create(metric, *args, **kwargs)


@register
@alias("composite")
class CompositeEvalMetric(EvalMetric):
    """Several metrics that are updated together."""

    def __init__(self, metrics=None, name="composite", output_names=None, label_names=None):
        self.metrics = []
        super().__init__(name, output_names=output_names, label_names=label_names, has_global_stats=True)
        self.metrics = [create(m) for m in metrics or ()]

    def add(self, metric):
        """Append a metric."""
        self.metrics.append(create(metric))

    def get_metric(self, index):
        """The metric at `index`; as in MXNet, a bad index gives a ValueError back."""
        try:
            return self.metrics[index]
        except IndexError:
            return ValueError(f"Metric index {index} is out of range 0 and {len(self.metrics)}")

    def update_dict(self, labels, preds):
        if self.label_names is not None:
            labels = {name: array for name, array in labels.items() if name in self.label_names}
        if self.output_names is not None:
            preds = {name: array for name, array in preds.items() if name in self.output_names}
        for metric in self.metrics:
            metric.update_dict(labels, preds)

    def update(self, labels, preds):
        for metric in self.metrics:
            metric.update(labels, preds)

    def reset(self):
        for metric in self.metrics:
            metric.reset()

    def reset_local(self):
        for metric in self.metrics:
            metric.reset_local()

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


class _Global(EvalMetric):
    """Metrics that keep local and global numbers; `update` walks over pairs of arrays."""

    def __init__(self, name, output_names=None, label_names=None, **kwargs):
        super().__init__(name, output_names=output_names, label_names=label_names, has_global_stats=True, **kwargs)

    def update(self, labels, preds):
        labels, preds = check_label_shapes(labels, preds, True)
        for label, pred in zip(labels, preds, strict=False):
            self._update_pair(label, pred)

    def _update_pair(self, label, pred):
        raise NotImplementedError


@register
@alias("acc")
class Accuracy(_Global):
    """The share of predictions whose largest score, along `axis`, is the label."""

    def __init__(self, axis=1, name="accuracy", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names, axis=axis)
        self.axis = axis

    def _update_pair(self, label, pred):
        scores = _values(pred)
        classes = scores.argmax(self.axis) if pred.shape != label.shape else scores
        classes = classes.to(torch.int32).flatten()
        wanted = _values(label, classes).to(torch.int32).flatten()
        check_label_shapes(wanted, classes)
        self._add((classes == wanted).sum(), len(classes))


@register
@alias("top_k_accuracy", "top_k_acc")
class TopKAccuracy(_Global):
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
        scores = _values(pred).float()
        best = scores.topk(min(self.top_k, scores.shape[1]), dim=1, sorted=False).indices
        wanted = _values(label, scores).to(torch.int32).reshape(-1, 1)
        self._add((best == wanted).sum(), len(scores))

    def _update_vector(self, label, pred):
        """Of vectors MXNet compares the order of the scores with the labels, in the local sum alone."""
        order = numpy.argpartition(pred.asnumpy().astype("float32"), -self.top_k)
        self.sum_metric += int((order == label.asnumpy().astype("int32").ravel()).sum())
        self.num_inst += len(order)
        self.global_num_inst += len(order)


class _BinaryClassificationMetrics:
    """Counts of true and false positives and negatives, and the scores made from them."""

    NAMES = ("true_positives", "false_negatives", "false_positives", "true_negatives")

    def __init__(self):
        self.reset_stats()

    def update_binary_stats(self, label, pred):
        """Count a batch of labels 0 and 1 against predictions with two columns."""
        scores = _values(pred)
        chosen = scores.argmax(1) == 1
        wanted = _values(label, scores).to(torch.int32)
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


@register
class Perplexity(_Global):
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
        scores = _values(pred)
        wanted = _values(label, scores).flatten()
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


class _Difference(_Global):
    """A mean over the batch of some distance between labels and predictions."""

    def _update_pair(self, label, pred):
        values = _column(_values(pred))
        wanted = _column(_values(label, values))
        self._add(self._distance(wanted - values), 1)

    def _distance(self, difference):
        raise NotImplementedError


def _column(tensor):
    return tensor.reshape(-1, 1) if tensor.dim() == 1 else tensor


@register
class MAE(_Difference):
    """Mean absolute error."""

    def __init__(self, name="mae", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names)

    def _distance(self, difference):
        return difference.abs().mean()


@register
class MSE(_Difference):
    """Mean squared error."""

    def __init__(self, name="mse", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names)

    def _distance(self, difference):
        return difference.square().mean()


@register
class RMSE(_Difference):
    """The root of the mean squared error of each batch."""

    def __init__(self, name="rmse", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names)

    def _distance(self, difference):
        return difference.square().mean().sqrt()


class _LogLikelihood(_Global):
    """The mean of -log(probability of the label + eps)."""

    def __init__(self, eps, name, output_names, label_names):
        super().__init__(name, output_names, label_names, eps=eps)
        self.eps = eps

    def _update_pair(self, label, pred):
        probabilities = _values(pred)
        wanted = _values(label, probabilities).flatten().long()
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


@register
@alias("pearsonr")
class PearsonCorrelation(_Global):
    """Pearson's correlation: its mean over batches ("macro"), or that of all values so far ("micro")."""

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
        """Welford's (count, mean, sum of squared deviations), with `new_values` counted in."""
        count, mean, squares = aggregate
        count += len(new_values)
        before = new_values - mean
        mean += numpy.sum(before / count)
        squares += numpy.sum(before * (new_values - mean))
        return count, mean, squares

    def update_cov(self, label, pred):
        """Count the products of deviations in."""
        self._conv = self._conv + numpy.sum((label - self._mean_l) * (pred - self._mean_p))

    def _update_pair(self, label, pred):
        check_label_shapes(label, pred, False, True)
        if self.average == "macro":
            values = _values(pred).flatten().double()
            wanted = _values(label, values).flatten().double()
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
            numpy.add.at(confusion, (chosen, wanted), 1)
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


@register
class Loss(EvalMetric):
    """The mean of the outputs themselves, for networks that output a loss."""

    def __init__(self, name="loss", output_names=None, label_names=None):
        super().__init__(name, output_names=output_names, label_names=label_names, has_global_stats=True)

    def update(self, _, preds):
        for pred in [preds] if isinstance(preds, ndarray.NDArray) else preds:
            self._add(_values(pred).sum(), pred.size)


@register
class Torch(Loss):
    """`Loss` under a former name."""

    def __init__(self, name="torch", output_names=None, label_names=None):
        super().__init__(name, output_names=output_names, label_names=label_names)


@register
class Caffe(Loss):
    """`Loss` under a former name."""

    def __init__(self, name="caffe", output_names=None, label_names=None):
        super().__init__(name, output_names=output_names, label_names=label_names)


@register
class CustomMetric(EvalMetric):
    """A metric from a function of two NumPy arrays that returns a value, or (sum, count)."""

    def __init__(self, feval, name=None, allow_extra_outputs=False, output_names=None, label_names=None):
        if name is None:
            name = feval.__name__
            name = f"custom({name})" if "<" in name else name
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
        raise NotImplementedError("CustomMetric cannot be serialized")


def np(numpy_feval, name=None, allow_extra_outputs=False):
    """A metric from a function of two NumPy arrays, (label, pred)."""

    def feval(label, pred):
        return numpy_feval(label, pred)

    feval.__name__ = numpy_feval.__name__
    return CustomMetric(feval, name, allow_extra_outputs)
