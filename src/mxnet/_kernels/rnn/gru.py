"""GRU and plain recurrent layers on the CPU: one product for all steps where steps do not wait for each other.

torch records each step by itself, and adds up the gradients of the weights step by step. The steps that wait for each
other are compiled once that pays (see recurrence_kernels).
"""

from functools import partial
from typing import Any

import torch
from torch import _VF, Tensor

from ..matmul.packed import PANEL
from ..runtime.loader import CompiledModule
from ..runtime.task import Task

FEWEST_STEPS = 2
FEWEST_ROWS = 4  # of the batch: one or two alone do not fill the processor's pipes
ENOUGH = 1 << 30  # multiplications by recurrent weights, in all; fewer are not worth loading a compiler

_code = CompiledModule("rnn.gru_kernels", after=ENOUGH)


def compiled(data: Tensor, recurrent: Tensor) -> Any:
    """The kernels for these steps, or None; where gradients are asked for, they come in at the same call each time."""
    steps, batch, _ = data.shape
    if data.dtype is not torch.float32 or recurrent.shape[1] % PANEL or batch < FEWEST_ROWS:
        return None
    return _code.earned(steps * batch * recurrent.numel(), wait=torch.is_grad_enabled())


def gains(data: Tensor, state: Any, weights: Any) -> bool:
    """Is it faster this way? Without gradients only by kernels."""
    if torch.compiler.is_compiling() or data.shape[0] < FEWEST_STEPS:
        return False
    tensors = (data, state, *weights)
    if not all(t.__class__ is Tensor and t.is_cpu and t.dtype is data.dtype for t in tensors):
        return False
    if torch.is_grad_enabled() and any(t.requires_grad for t in tensors):
        return data.dtype in (torch.float32, torch.float64)
    return compiled(data, weights[1]) is not None


def recurrent(mode: str, data: Tensor, state: Any, weights: Any, num_layers: int, bidirectional: bool) -> Any:
    """What torch's function of that name returns: outputs and last states."""
    layer = partial(_Layer.apply, _CELLS[mode], compiled(data, weights[1]))
    return stacked(layer, data, (state,), weights, num_layers, bidirectional)


def stacked(layer: Any, data: Tensor, states: Any, weights: Any, num_layers: int, bidirectional: bool) -> Any:
    """Outputs and last states of layers, each of which is `layer(data, four weights, states)` in one direction."""
    finals: list[Any] = []
    directions = 2 if bidirectional else 1
    for first in range(0, num_layers * directions, directions):
        runs = []
        for row in range(first, first + directions):
            reverse, own = row % directions, weights[4 * row : 4 * row + 4]
            output, *final = layer(data.flip(0) if reverse else data, *own, *(s[row] for s in states))
            runs.append(output.flip(0) if reverse else output)
            finals.append(final)
        data = torch.cat(runs, 2) if bidirectional else runs[0]
    return data, *(torch.stack(final) for final in zip(*finals, strict=True))


class _Layer(torch.autograd.Function):
    """A cell's steps; inputs are data, weight, recurrent weight, both biases and the state before the first step.

    `walk` of the cell writes the state behind each step, and returns what else `slopes` needs. That gives the factors
    by which a state's gradient becomes that of the sums of its step and, for a GRU, of the state before it and of what
    the data gave to the last gate.
    """

    @staticmethod
    def forward(
        ctx: Any, cell: Any, quick: Any, data: Any, weight: Any, recurrent: Any, bias: Any, more_bias: Any, state: Any
    ):
        steps, batch, hidden = *data.shape[:2], recurrent.shape[1]
        given = torch.addmm(bias, data.flatten(0, 1), weight.t()).view(steps, batch, -1)
        states = data.new_empty(steps + 1, batch, hidden)
        states[0] = state
        parts = cell.walk(given, states, recurrent, more_bias, quick)
        ctx.cell, ctx.quick = cell, quick
        ctx.save_for_backward(data, weight, recurrent, bias, more_bias, state, states, *parts)
        return states[1:], states[-1].clone()

    @staticmethod
    def backward(ctx: Any, *heads: Any) -> Any:
        *inputs, states = ctx.saved_tensors[:7]
        wanted = ctx.needs_input_grad[2:]
        if torch.is_grad_enabled():  # a gradient to be differentiated again
            return None, None, *_plain_gradients(ctx.cell.mode, inputs, heads, wanted)
        data, weight, recurrent = inputs[:3]
        slopes, stays, last = ctx.cell.slopes(states, *ctx.saved_tensors[7:])
        by_gates, by_states = torch.empty_like(slopes), torch.empty_like(states)
        by_states[0].zero_()
        by_states[1:] = heads[0]
        by_states[-1] += heads[1]
        _back(ctx.quick, slopes, stays, by_gates, by_states, recurrent)
        flat = by_gates.flatten(0, 1)
        by_recurrent = flat.t().mm(states[:-1].flatten(0, 1)) if wanted[2] else None
        by_more = flat.sum(0) if wanted[4] else None
        if last is not None:
            torch.mul(by_states[1:], last, out=by_gates[..., -recurrent.shape[1] :])
        by_data = flat.mm(weight).view_as(data) if wanted[0] else None
        by_weight = flat.t().mm(data.flatten(0, 1)) if wanted[1] else None
        by_bias = flat.sum(0) if wanted[3] else None
        return None, None, by_data, by_weight, by_recurrent, by_bias, by_more, by_states[0]


def _back(quick: Any, slopes: Tensor, stays: Any, by_gates: Tensor, by_states: Tensor, recurrent: Tensor) -> None:
    """From the last step to the first: gradients of gates, and of the states before them."""
    steps, batch, hidden = len(slopes), *by_states.shape[1:]
    if quick is not None:
        panels = recurrent.reshape(len(recurrent), -1, PANEL).transpose(0, 1).contiguous()
        tensors = slopes, None if stays is None else stays.contiguous(), by_gates, by_states, panels
        shared(quick.back, steps, batch, hidden, *tensors, numbers=(len(recurrent) // hidden,))
        return
    wide, each = (steps, batch, -1, hidden), by_states.unbind()
    spread = by_states.unsqueeze(2)[1:].unbind(), slopes.view(wide).unbind(), by_gates.view(wide).unbind()
    for t, (by_state, factor, by_gate) in reversed(list(enumerate(zip(*spread, strict=True)))):
        torch.mul(by_state, factor, out=by_gate)
        if stays is not None:
            each[t].addcmul_(each[t + 1], stays[t])
        each[t].addmm_(by_gates[t], recurrent)


def shared(kernel: Any, steps: int, batch: int, hidden: int, *tensors: Tensor | None, numbers: Any = ()) -> None:
    """Run a kernel; rows of the batch do not wait for each other, and are shared out among threads."""
    addresses = [0 if t is None else t.data_ptr() for t in tensors]
    given = (*addresses, *numbers, steps, batch, hidden)
    Task(kernel, given, (0, batch), batch // FEWEST_ROWS, rounds=1, held=tensors).run()


def packed_across(recurrent: Tensor) -> Tensor:
    """The panels of a recurrent weight transposed."""
    return recurrent.reshape(-1, PANEL, recurrent.shape[1]).transpose(1, 2).contiguous()


class _Plain:
    """A cell that bends the sum of what data and state give."""

    def __init__(self, mode: str, bend: Any, slope: Any) -> None:
        self.mode, self._bend, self._slope = mode, bend, slope

    def walk(self, given: Tensor, states: Tensor, recurrent: Tensor, bias: Tensor, quick: Any) -> tuple[Tensor, ...]:
        given += bias
        if quick is not None:
            cut = (self.mode == "rnn_relu",)
            steps, batch, hidden = given.shape
            shared(quick.plain, steps, batch, hidden, given, states, packed_across(recurrent), numbers=cut)
            return ()
        turned, bend = recurrent.t(), self._bend
        for step, before, after in zip(given.unbind(), states[:-1].unbind(), states[1:].unbind(), strict=True):
            bend(torch.addmm(step, before, turned, out=after))
        return ()

    def slopes(self, states: Tensor) -> Any:
        return self._slope(states[1:]), None, None


class _Gru:
    mode = "gru"

    @staticmethod
    def walk(given: Tensor, states: Tensor, recurrent: Tensor, bias: Tensor, quick: Any) -> tuple[Tensor, ...]:
        """Of what the data gave, the gates take the place."""
        hidden, turned = recurrent.shape[1], recurrent.t()
        added, doors = torch.empty_like(given), slice(2 * hidden)
        if quick is not None:
            steps, batch, _ = given.shape
            tensors = given, added, states, bias.contiguous(), packed_across(recurrent)
            shared(quick.gru, steps, batch, hidden, *tensors)
            return given, added
        gates, shown = given.chunk(3, -1), added[..., 2 * hidden :]
        pieces = states[:-1], states[1:], added, given[..., doors], added[..., doors], *gates, shown
        for before, after, sums, both, more, reset, update, new, shown in zip(*map(torch.unbind, pieces), strict=True):
            torch.addmm(bias, before, turned, out=sums)
            both.add_(more).sigmoid_()
            new.addcmul_(reset, shown).tanh_()
            torch.lerp(new, before, update, out=after)
        return given, added

    @staticmethod
    def slopes(states: Tensor, gates: Tensor, added: Tensor) -> Any:
        reset, update, new = gates.chunk(3, -1)
        last = (1 - update) * (1 - new * new)
        slopes = torch.empty_like(gates)
        one, two, three = slopes.chunk(3, -1)
        torch.mul(last, reset, out=three)
        torch.mul(three, added.chunk(3, -1)[2], out=one).mul_(1 - reset)
        torch.sub(states[:-1], new, out=two).mul_(update).mul_(1 - update)
        return slopes, update, last


_CELLS: dict[str, Any] = {
    "rnn_tanh": _Plain("rnn_tanh", torch.tanh_, lambda state: 1 - state * state),
    "rnn_relu": _Plain("rnn_relu", torch.relu_, lambda state: (state > 0).to(state.dtype)),
    "gru": _Gru,
}


def _plain_gradients(mode: str, inputs: Any, heads: Any, wanted: Any) -> Any:
    """The gradients by torch's own function, which can be differentiated."""
    data, weight, recurrent, bias, more_bias, state = inputs
    result = getattr(_VF, mode)(
        data, state[None], (weight, recurrent, bias, more_bias), True, 1, 0.0, True, False, False
    )
    asked = [t for t, needed in zip(inputs, wanted, strict=True) if needed]
    found = iter(torch.autograd.grad(result, asked, (heads[0], heads[1][None]), create_graph=True, allow_unused=True))
    return tuple(next(found) if needed else None for needed in wanted)
