"""Log likelihood of marked point processes that excite themselves."""

import torch
from torch import Tensor

from ..._core.errors import MXNetError
from ..._device import late
from ..registry.gradient import without_gradient
from ..registry.registry import op


def _check(lda: Tensor, alpha: Tensor, beta: Tensor, state: Tensor, lags: Tensor, marks: Tensor) -> None:
    samples, processes = lda.shape
    wanted = [(processes,), (processes,), (samples, processes), tuple(marks.shape), (samples, lags.shape[-1])]
    given = [tuple(t.shape) for t in (alpha, beta, state, lags, marks)]
    if wanted != given:
        raise MXNetError(f"hawkesll: for lda {tuple(lda.shape)} alpha, beta, state, lags, marks must fit, got {given}")


def _replay(lda, alpha, beta, state, lags, marks, valid_length, max_time):
    """Walk all sequences at once, event by event; then what remains until `max_time`."""
    last = torch.zeros_like(lda)
    time = torch.zeros_like(lags[:, 0])
    likelihood = torch.zeros_like(time)
    marks = late.bounded(marks.long(), lda.shape[1], "hawkesll: marks")
    for j in range(lags.shape[1]):
        valid = j < valid_length
        mark = marks[:, j : j + 1].long()
        a, b = alpha[mark[:, 0]], beta[mark[:, 0]]
        mu, before = lda.gather(1, mark)[:, 0], state.gather(1, mark)[:, 0]
        time = torch.where(valid, time + lags[:, j], time)
        passed = time - last.gather(1, mark)[:, 0]
        decay = torch.exp(-b * passed)
        intensity = torch.log(mu + a * b * before * decay)
        likelihood = likelihood + torch.where(valid, intensity - mu * passed - a * before * (1 - decay), 0)
        after = torch.where(valid, 1 + before * decay, before)
        state = state.scatter(1, mark, after[:, None])
        last = last.scatter(1, mark, torch.where(valid, time, last.gather(1, mark)[:, 0])[:, None])
    rest = max_time[:, None] - last
    decay = torch.exp(-beta * rest)
    return likelihood - (lda * rest + alpha * state * (1 - decay)).sum(1), decay * state


@op("_contrib_hawkesll", outputs=("output", "out_state"), dtype="any")
def hawkesll(lda, alpha, beta, state, lags, marks, valid_length, max_time):
    """Log likelihood of each sequence and the processes' state at `max_time`.

    Gradients reach the parameters `lda`, `alpha` and `beta` only, and only from the likelihood.
    """
    _check(lda, alpha, beta, state, lags, marks)
    fixed = [t.detach() for t in (state, lags, marks, valid_length, max_time)]
    likelihood, after = _replay(lda, alpha, beta, *fixed)
    return likelihood, without_gradient(lambda data, value: value.detach().clone(), lda, after.detach())


@op("_contrib_backward_hawkesll", outputs=8, dtype="any", differentiable=False)
def backward_hawkesll(ograd, ograd_state, lda, alpha, beta, state, lags, marks, valid_length, max_time):
    """Gradients of `hawkesll`, one for each of its inputs."""
    with torch.enable_grad():
        parameters = [t.detach().requires_grad_() for t in (lda, alpha, beta)]
        likelihood, _ = _replay(*parameters, state, lags, marks, valid_length, max_time)
        grads = torch.autograd.grad(likelihood, parameters, ograd)
    return (*grads, *(torch.zeros_like(t) for t in (state, lags, marks, valid_length, max_time)))
