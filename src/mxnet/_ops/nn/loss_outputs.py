"""Output layers: forward is the prediction, backward is the gradient of a loss, whatever head gradient comes in."""

import math
from typing import Literal

import torch

from ..._core.attrs import Fraction
from ..._core.errors import MXNetError
from ..elementwise.masks import marks
from ..registry.fill_rules import assign
from ..registry.gradient import headless, with_gradient
from ..registry.output_shapes import known
from ..registry.registry import op
from ..registry.torch_dtypes import require_floating

Normalization = Literal["batch", "null", "valid"]


def _softmax_label(attrs, shapes):
    """Class indices: the data's shape without its class axis. A label of the data's own shape holds probabilities."""
    data, label = shapes
    if not data or label == data:
        return shapes
    if not attrs["multi_output"]:
        assign(shapes, 1, data[:-1], "SoftmaxOutput", "label")
        return shapes
    if not known(data):
        return shapes
    accepted = [(data[0], math.prod(data[2:])), (data[0], *data[2:]), (data[0], 1, *data[2:])]
    if not label:
        shapes[1] = accepted[0]
    elif label not in accepted:
        raise MXNetError(f"Expecting {list(accepted[0])} or {list(accepted[1])}. But got {list(label)}")
    return shapes


def _softmax_shape(attrs, shapes):
    """The data's shape if the label has the usual one; None leaves the check to a trial run."""
    data, label = shapes
    return [data] if data and len(data) > 1 and not attrs["multi_output"] and label == data[:-1] else None


@op("SoftmaxOutput", "Softmax", fill=_softmax_label, shape=_softmax_shape)
def softmax_output(
    data,
    label,
    *,
    grad_scale: float = 1.0,
    ignore_label: float = -1.0,
    multi_output: bool = False,
    use_ignore: bool = False,
    preserve_shape: bool = False,
    normalization: Normalization = "null",
    out_grad: bool = False,
    smooth_alpha: Fraction = 0.0,
    _train: bool = True,
):
    """Softmax of `data`, whose backward pass is that of the cross entropy with `label`.

    The classes are all axes but the first, under `preserve_shape` the last axis, under `multi_output` axis 1.

    Parameters
    ----------
    data
        The scores before softmax (logits), (batch, classes), (batch, classes, …) with `multi_output`, or (…, classes)
        with `preserve_shape`.
    label
        The class number of each example, (batch,), or of each position; or probabilities of the shape of `data`.
    grad_scale
        Factor by which the gradient is multiplied.
    ignore_label
        The class number whose examples get a gradient of zero. It counts only if `use_ignore` is True.
    multi_output
        Whether axis 1 holds the classes and every position of the further axes is classified, as in segmentation.
    use_ignore
        Whether examples whose label is `ignore_label` get a gradient of zero.
    preserve_shape
        Whether the softmax runs over the last axis only; otherwise over all axes but the first.
    normalization
        What the gradient is divided by: null, nothing (with `multi_output` the number of positions); batch, the number
        of labels; valid, the number of labels that are not `ignore_label`.
    out_grad
        Whether the gradient is multiplied by the output. MXNet 1.9.1 multiplies by the output, not by the gradient that
        arrives at it, and results are kept equal.
    smooth_alpha
        Label smoothing between 0 and 1: the probability that is taken from the label's class and spread evenly over the
        other classes.
    """
    require_floating(data, "SoftmaxOutput")
    _check_label(data, label, multi_output)
    columns = (data.shape[0], data.shape[1], -1) if multi_output else _rows(data, preserve_shape)
    # in inference, MXNet's oneDNN kernel takes the softmax of 4D data over the last axis, whatever the attributes say
    last = not _train and not multi_output and data.dim() == 4 and data.dtype is torch.float32

    def forward(data, label):
        if data.dim() == 2 or last:
            return torch.softmax(data, -1)
        return torch.softmax(data.reshape(columns), 1).view(data.shape)

    @headless
    def backward(inputs, outputs, heads):
        output, label = outputs[0], inputs[1]
        if output.shape == label.shape:
            grad = (output - label) * grad_scale
        else:
            alpha = 0.0 if multi_output else smooth_alpha
            flat = output if output.dim() == 2 else output.reshape(columns)
            # without preserve_shape MXNet has a row for each example and takes as many labels, from the front
            wanted = flat.shape[:1] + flat.shape[2:]
            classes = label if label.shape == wanted else label.reshape(-1)[: wanted.numel()].reshape(wanted)
            grad = _cross_entropy_gradient(flat, classes, alpha)
            if use_ignore:
                grad = grad.masked_fill((classes == ignore_label).unsqueeze(1), 0)
            factor = grad_scale / _normalizer(label, flat, normalization, ignore_label, multi_output)
            grad = (grad if isinstance(factor, float) and factor == 1 else grad * factor).view_as(output)  # pyright: ignore[reportUnnecessaryComparison]
        # MXNet 1.9.1 multiplies by the output where the head gradient was meant; results are kept the same
        return grad * output if out_grad else grad, torch.zeros_like(label) if label.requires_grad else None

    return with_gradient(forward, backward, data, label)


def _check_label(data, label, multi_output):
    classes_away = data.shape[:1] + data.shape[2:] if multi_output else data.shape[:-1]
    if label.shape == data.shape or label.shape == classes_away:
        return
    if not multi_output or label.numel() != classes_away.numel() or label.shape[0] != data.shape[0]:
        raise MXNetError(
            f"Shape inconsistent, Provided = {list(label.shape)}, inferred shape={list(classes_away)}: the label of "
            f"operator SoftmaxOutput for data of shape {list(data.shape)}"
        )


def _rows(data, preserve_shape):
    return (-1, data.shape[-1]) if preserve_shape else (data.shape[0], data.shape[1:].numel())


def _cross_entropy_gradient(output, labels, alpha):
    """Softmax minus the (smoothed) one-hot target, classes on axis 1; a label that is no class changes nothing."""
    classes = output.shape[1]
    numbers = torch.arange(classes, dtype=torch.float32, device=output.device)
    numbers = numbers if output.dim() == 2 else numbers.view([1, -1] + [1] * (output.dim() - 2))
    integers = labels.trunc() if labels.dtype is torch.float32 else labels.long()
    hot = integers.unsqueeze(1) == numbers
    if alpha == 0:
        return torch.add(output, hot, alpha=-1)
    others = alpha / (classes - 1) if classes > 1 else math.inf
    return torch.where(hot, output - (1 - alpha), output - others)


def _normalizer(label, flat, normalization, ignore_label, multi_output):
    positions = flat.shape[2:].numel() if multi_output else 1
    if normalization == "batch":
        return (flat.shape[0] if multi_output else label.numel()) * positions
    if normalization == "valid":
        return (label.long() != int(ignore_label)).sum().clamp_min(1).to(flat.dtype)
    return positions


@op("softmax_cross_entropy")
def softmax_cross_entropy(data, label):
    """Sum over the rows of minus the logarithm of the softmax at the label's class, shape (1,)."""
    if data.dim() != 2 or label.dim() != 1 or data.shape[0] != label.shape[0]:
        raise MXNetError(
            f"SoftmaxCrossEntropy only accept 2D data and 1D label of the same length, got {list(data.shape)} and "
            f"{list(label.shape)}"
        )
    return with_gradient(_cross_entropy, _cross_entropy_backward, data, label)


def _cross_entropy(data, label):
    numbers = torch.arange(data.shape[1], device=data.device)
    chosen = torch.softmax(data, 1).mul(label.long().unsqueeze(1) == numbers).sum(1)
    return -chosen.clamp_min(1e-8).log().sum().reshape(1)


def _cross_entropy_backward(inputs, outputs, heads):
    data, label = inputs
    return _cross_entropy_gradient(torch.softmax(data, 1), label, 0) * heads[0]


def _regression_label(attrs, shapes):
    data, label = shapes
    if known(data) and not label:
        shapes[1] = data[:1] if len(data) == 2 and data[1] == 1 else data
    return shapes


def _regression(data, label, grad_scale, forward, difference):
    """A prediction whose gradient is `difference(prediction, label)`, averaged over the outputs of an example."""
    require_floating(data)
    if label.shape[:1] != data.shape[:1] or label.numel() != data.numel():
        raise MXNetError(f"Shape inconsistent, Provided={list(label.shape)}, inferred shape={list(data.shape)}")

    @headless
    def backward(inputs, outputs, heads):
        label = inputs[1]
        width = max(1, label.numel() // max(1, label.shape[0]))
        grad = difference(outputs[0], label.view(outputs[0].shape)).mul_(grad_scale / width)
        return grad, torch.zeros_like(label) if label.requires_grad else None

    return with_gradient(lambda data, label: forward(data), backward, data, label)


def _identity(data):
    return data.clone()


def _above_or_not(output, label):
    """1 where the output is above the label, else -1 (also where they are equal)."""
    return marks(torch.gt, output, label).mul_(2).sub_(1)


@op("LinearRegressionOutput", fill=_regression_label)
def linear_regression_output(data, label, *, grad_scale: float = 1.0):
    """The data itself, with the gradient of half the squared error."""
    return _regression(data, label, grad_scale, _identity, torch.sub)


@op("LogisticRegressionOutput", fill=_regression_label)
def logistic_regression_output(data, label, *, grad_scale: float = 1.0):
    """The sigmoid of the data, with the gradient of the binary cross entropy."""
    return _regression(data, label, grad_scale, torch.sigmoid, torch.sub)


@op("MAERegressionOutput", fill=_regression_label)
def mae_regression_output(data, label, *, grad_scale: float = 1.0):
    """The data itself, with the gradient of the absolute error."""
    return _regression(data, label, grad_scale, _identity, _above_or_not)


def _svm_label(attrs, shapes):
    if shapes[0]:
        assign(shapes, 1, shapes[0][:-1], "SVMOutput", "label")
    return shapes


@op("SVMOutput", fill=_svm_label)
def svm_output(data, label, *, margin: float = 1.0, regularization_coefficient: float = 1.0, use_linear: bool = False):
    """The data itself, with the gradient of the hinge loss, squared unless `use_linear`."""
    require_floating(data, "SVMOutput")
    if label.shape != data.shape[:-1]:
        raise MXNetError(
            f"Shape inconsistent, Provided = {list(label.shape)}, inferred shape={list(data.shape[:-1])}: "
            "the label of operator SVMOutput"
        )

    def force(slack):
        """The size of the gradient; `slack` is overwritten."""
        if use_linear:
            return marks(torch.gt, slack, 0).mul_(regularization_coefficient)
        return slack.clamp_min_(0).mul_(2 * regularization_coefficient)

    @headless
    def backward(inputs, outputs, heads):
        output, label = outputs[0], inputs[1]
        grad = force(torch.add(output, margin))  # as if no class were the label's, in the fewest passes
        if grad.numel():
            number = label.float().trunc()
            known = ((number >= 0) & (number < output.shape[-1])).unsqueeze(-1)
            place = torch.where(known, number.unsqueeze(-1), 0).long()
            mine = force(margin - output.gather(-1, place)).neg_()
            grad.scatter_(-1, place, torch.where(known, mine, grad.gather(-1, place)))
        return grad, torch.zeros_like(label) if label.requires_grad else None

    return with_gradient(lambda data, label: data.clone(), backward, data, label)


@op("MakeLoss", shape="same")
def make_loss(data, *, grad_scale: float = 1.0, valid_thresh: float = 0.0, normalization: Normalization = "null"):
    """The data itself, declared to be a loss: its gradient is `grad_scale`, whatever comes after."""
    require_floating(data, "MakeLoss")

    @headless
    def backward(inputs, outputs, heads):
        grad = torch.full_like(inputs[0], grad_scale)
        if normalization == "batch":
            return grad / max(math.prod(inputs[0].shape[:-1]), 1)  # rows, as MXNet folds all axes but the last
        if normalization == "valid":
            return grad / (inputs[0] > valid_thresh).sum().clamp_min(1).to(grad.dtype)
        return grad

    return with_gradient(_identity, backward, data)
