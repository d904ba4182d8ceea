"""Connectionist temporal classification."""

from typing import Literal

import torch
import torch.nn.functional as F

from ..._core.errors import MXNetError
from ..registry.gradient import with_gradient
from ..registry.registry import op


def _inputs(attrs):
    names = ["data", "label"]
    if attrs["use_data_lengths"]:
        names.append("data_lengths")
    if attrs["use_label_lengths"]:
        names.append("label_lengths")
    return tuple(names)


@op(
    "CTCLoss", "ctc_loss", "_contrib_CTCLoss", "_contrib_ctc_loss",
    inputs=_inputs, outputs=("output0", "output1"), visible=1, dtype="any",
)  # fmt: skip
def ctc_loss(
    data,
    label,
    data_lengths=None,
    label_lengths=None,
    *,
    use_data_lengths: bool = False,
    use_label_lengths: bool = False,
    blank_label: Literal["first", "last"] = "first",
):
    """Minus the logarithm of the probability of each label sequence, `data` being (time, batch, classes) scores.

    The blank is the first class (labels count from 1, 0 ends a sequence) or the last (labels count from 0, -1 ends it).
    """
    if use_label_lengths and not use_data_lengths and label_lengths is None:
        data_lengths, label_lengths = None, data_lengths  # inputs come in order, without the absent ones
    _check(data, label)
    sizes = _Sizes(data, label, data_lengths, label_lengths, blank_label)

    def backward(inputs, outputs, heads):
        return _gradient(*inputs, sizes) * heads[0].view(1, -1, 1), torch.zeros_like(inputs[1])

    loss = with_gradient(lambda data, label: _loss(data, label, sizes), backward, data, label)
    return loss, loss.detach()


class _Sizes:
    """How long each score sequence and each label is, and which class is the blank."""

    def __init__(self, data, label, data_lengths, label_lengths, blank_label):
        steps, batch, classes = data.shape
        self.blank = 0 if blank_label == "first" else classes - 1
        self.all_steps = data_lengths is None
        self.data = torch.full((batch,), steps) if data_lengths is None else data_lengths.detach().long()
        padding = 0 if blank_label == "first" else -1
        self.label = _until(label, padding) if label_lengths is None else label_lengths.detach().long()

    def scores(self, data):
        """Log probabilities; what lies behind the end of a sequence may be anything, even NaN, and counts nothing."""
        if not self.all_steps:
            steps = torch.arange(data.shape[0], device=data.device).view(-1, 1, 1)
            data = data.masked_fill(steps >= self.data.to(data.device).view(1, -1, 1), 0)
        return torch.log_softmax(data, 2)

    def odd_rows(self, targets):
        """Rows where the blank stands in the label: garbage that MXNet computes in its own way."""
        within = torch.arange(targets.shape[1], device=targets.device) < self.label.to(targets.device).unsqueeze(1)
        return ((targets == self.blank) & within).any(1).nonzero().flatten().tolist()


def _until(label, padding):
    """Labels before the first padding mark of each row."""
    return (label.detach().long() != padding).long().cumprod(1).sum(1)


def _targets(data, label):
    return label.detach().long().clamp(0, data.shape[2] - 1)


def _loss(data, label, sizes):
    scores, targets = sizes.scores(data), _targets(data, label)
    if data.device.type == "meta":
        return scores.sum((0, 2))
    # a label that cannot be reached in the given steps costs nothing
    loss = F.ctc_loss(scores, targets, sizes.data, sizes.label, sizes.blank, "none", zero_infinity=True)
    for row in sizes.odd_rows(targets):
        loss[row] = -_Lattice(scores, targets, sizes, row).total
    return loss


def _gradient(data, label, sizes):
    with torch.enable_grad():
        leaf = data.detach().requires_grad_()
        scores, targets = sizes.scores(leaf), _targets(data, label)
        loss = F.ctc_loss(scores, targets, sizes.data, sizes.label, sizes.blank, "none", zero_infinity=True)
        (grad,) = torch.autograd.grad(loss.sum(), leaf)
    for row in sizes.odd_rows(targets):
        lattice = _Lattice(scores.detach(), targets, sizes, row)
        grad[: lattice.steps, row] = lattice.gradient()
    return grad


class _Lattice:
    """Forward and backward variables of one row, with MXNet's rule that a path never skips over from a blank."""

    def __init__(self, scores, targets, sizes, row):
        self.steps, length = int(sizes.data[row]), int(sizes.label[row])
        self.scores = scores[: self.steps, row]
        self.path = torch.full((2 * length + 1,), sizes.blank, device=targets.device)
        self.path[1::2] = targets[row, :length]
        self.emitted = self.scores[:, self.path]
        label = self.path != sizes.blank
        differs = self.path[2:] != self.path[:-2]
        self.alpha = self._walk(self.emitted, label[2:] & differs)
        beta = self._walk(self.emitted.flip(0, 1), (label[:-2] & differs).flip(0))
        self.beta = beta.flip(0, 1)
        self.total = self.alpha[-1, -2:].logsumexp(0)

    def _walk(self, emitted, skips):
        nothing = emitted.new_full((emitted.shape[1],), -torch.inf)
        state = nothing.clone()
        state[:2] = emitted[0, :2]
        states = [state]
        for emission in emitted[1:]:
            before = torch.cat((nothing[:1], state[:-1]))
            leap = torch.cat((nothing[:2], state[:-2].masked_fill(~skips, -torch.inf)))
            state = torch.stack((state, before, leap)).logsumexp(0) + emission
            states.append(state)
        return torch.stack(states)

    def gradient(self):
        """Softmax minus each class's share of the paths."""
        share = (self.alpha + self.beta - self.emitted - self.total).exp()
        return self.scores.exp().index_add(1, self.path, share, alpha=-1)


def _check(data, label):
    if data.dim() != 3 or label.dim() != 2:
        raise MXNetError(
            "CTCLoss: The number of dimensions of data array must be 3, of labels array 2, got shapes "
            f"{tuple(data.shape)} and {tuple(label.shape)}"
        )
    if data.shape[1] != label.shape[0]:
        raise MXNetError(f"CTCLoss: the batch size of data, {data.shape[1]}, is not that of label, {label.shape[0]}")
    if data.shape[0] < label.shape[1]:
        raise MXNetError(
            f"CTCLoss: The max number of labels, {label.shape[1]}, cannot exceed the maximum sequence length of the "
            f"data, {data.shape[0]}"
        )
