"""Connectionist temporal classification."""

from typing import Literal

import torch
import torch.nn.functional as F

from ..._core.errors import MXNetError
from ..._device.late import bounded
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
        self.lattice: _Lattice | None = None  # of the forward pass, where the backward pass needs it again
        self.data = torch.full((batch,), steps, device=data.device if _on_device(data) else None)
        if data_lengths is not None:
            self.data = bounded(data_lengths.detach().long(), steps + 1, "CTCLoss: data_lengths")
        padding = 0 if blank_label == "first" else -1
        self.label = _until(label, padding)
        if label_lengths is not None:
            self.label = bounded(label_lengths.detach().long(), label.shape[1] + 1, "CTCLoss: label_lengths")

    def scores(self, data):
        """Log probabilities; what lies behind the end of a sequence may be anything, even NaN, and counts nothing."""
        if not self.all_steps:
            steps = torch.arange(data.shape[0], device=data.device).view(-1, 1, 1)
            data = data.masked_fill(steps >= self.data.to(data.device).view(1, -1, 1), 0)
        return torch.log_softmax(data, 2)

    def odd_rows(self, targets):
        """Rows where the blank stands in the label: garbage that MXNet computes in its own way."""
        within = torch.arange(targets.shape[1], device=targets.device) < self.label.to(targets.device).unsqueeze(1)
        return ((targets == self.blank) & within).any(1).nonzero().flatten()


def _on_device(data):
    return not data.is_cpu and not data.is_meta


def _until(label, padding):
    """Labels before the first padding mark of each row."""
    return (label.detach().long() != padding).long().cumprod(1).sum(1)


def _targets(data, label):
    return label.detach().long().clamp(0, data.shape[2] - 1)


def _loss(data, label, sizes):
    scores, targets = sizes.scores(data), _targets(data, label)
    if data.device.type == "meta":
        return scores.sum((0, 2))
    if _on_device(data):
        sizes.lattice = _Lattice(scores, targets, sizes)
        return sizes.lattice.loss()
    # a label that cannot be reached in the given steps costs nothing
    loss = F.ctc_loss(scores, targets, sizes.data, sizes.label, sizes.blank, "none", zero_infinity=True)
    odd = sizes.odd_rows(targets)
    return loss.index_copy(0, odd, _Lattice(scores, targets, sizes, odd).loss()) if len(odd) else loss


def _gradient(data, label, sizes):
    if sizes.lattice is not None:
        return sizes.lattice.gradient()
    with torch.enable_grad():
        leaf = data.detach().requires_grad_()
        scores, targets = sizes.scores(leaf), _targets(data, label)
        loss = F.ctc_loss(scores, targets, sizes.data, sizes.label, sizes.blank, "none", zero_infinity=True)
        (grad,) = torch.autograd.grad(loss.sum(), leaf)
    odd = sizes.odd_rows(targets)
    return grad.index_copy(1, odd, _Lattice(scores.detach(), targets, sizes, odd).gradient()) if len(odd) else grad


class _Lattice:
    """Forward and backward variables of all rows at once, of four operations a step.

    The states of a row are blanks and labels in turn. torch's own kernel for GPUs takes the lengths on the host, for
    which the host would have to wait. MXNet's rule holds that a path never skips over from a blank.
    """

    def __init__(self, scores, targets, sizes, rows=None):
        lengths = sizes.data, sizes.label
        if rows is not None:
            scores, targets, lengths = scores[:, rows], targets[rows], [t[rows] for t in lengths]
        self.scores, (self.ends, self.sizes) = scores, lengths
        self.steps, batch, _ = scores.shape
        number = 2 * targets.shape[1] + 1
        place = torch.arange(number, device=scores.device)
        self.used = place < 2 * self.sizes[:, None] + 1  # the states of each row's own label
        self.path = torch.full((batch, number), sizes.blank, device=scores.device)
        self.path[:, 1::2] = targets
        emitted = scores.gather(2, self.path.expand(self.steps, -1, -1)).masked_fill(~self.used, -torch.inf)
        self.emitted = emitted
        label, differs = self.path != sizes.blank, self.path[:, 2:] != self.path[:, :-2]
        self.alpha = _walked(emitted, label[:, 2:] & differs)
        last = torch.arange(self.steps, device=scores.device)[:, None] == self.ends - 1
        final = self.alpha.masked_fill(~last[..., None], -torch.inf).logsumexp(0)
        ends = (place >= 2 * self.sizes[:, None] - 1) & self.used  # the last label and the blank behind it
        self.total = final.masked_fill(~ends, -torch.inf).logsumexp(1)
        self.skips = label[:, :-2] & differs

    def loss(self):
        """Minus the logarithm of the probability; a label that cannot be reached costs nothing."""
        return torch.where(self.total == -torch.inf, 0, -self.total)

    def gradient(self):
        """Softmax minus each class's share of the paths; zero behind the end, and for labels that cannot be reached."""
        time = torch.arange(self.steps, device=self.scores.device)[:, None]
        states = torch.arange(self.path.shape[1], device=self.scores.device)
        back_time = (self.ends - 1 - time).clamp(0)  # each row from its own end
        back_state = (2 * self.sizes[:, None] - states).clamp(0)
        reverse = self._reversed(self.emitted, back_time, back_state).masked_fill(~self.used, -torch.inf)
        padded = F.pad(self.skips, (0, 2))
        beta = _walked(reverse, padded.gather(1, back_state)[:, 2:])
        beta = self._reversed(beta, back_time, back_state)
        share = (self.alpha + beta - self.emitted - self.total[:, None]).exp()
        counts = (time < self.ends)[..., None] & self.used & (self.total != -torch.inf)[:, None]
        share = torch.where(counts, share.nan_to_num(0.0), 0.0)
        grad = self.scores.exp().scatter_add(2, self.path.expand(self.steps, -1, -1), -share)
        return torch.where((time < self.ends)[..., None] & (self.total != -torch.inf)[:, None], grad, 0.0)

    def _reversed(self, values, time, state):
        """Values (time, rows, states) with both axes reversed within each row's own sizes."""
        found = values.gather(0, time[..., None].expand(values.shape))
        return found.gather(2, state.expand(self.steps, -1, -1))


def _walked(emitted, skips):
    """log(sum over paths) up to each state at each step; `skips` says where a path may leave a state out."""
    steps, batch, number = emitted.shape
    states = emitted.new_full((steps, batch, number + 2), -torch.inf)  # two states in front that nobody is in
    states[0, :, 2:4] = emitted[0, :, :2]
    barred = F.pad(torch.where(skips, 0.0, -torch.inf).to(emitted.dtype), (2, 0), value=-torch.inf)
    for t in range(1, steps):
        before = states[t - 1]
        moved = torch.logaddexp(before[:, 2:], before[:, 1:-1])
        states[t, :, 2:] = torch.logaddexp(moved, before[:, :-2] + barred).add_(emitted[t])
    return states[:, :, 2:]


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
