"""GRU and vanilla (tanh, ReLU) recurrent layers: one matrix product for all steps where steps do not depend on others.

torch records each time step separately and accumulates the gradients of the weights step by step. The recurrent part
is compiled after a program has done enough work; until then it uses torch calls.
"""

from functools import partial
from typing import Any

import torch
from torch import _VF, Tensor

from .. import tuning
from ..matmul.packed import PANEL
from ..registry import Kernel
from ..runtime.loader import CompiledModule
from ..runtime.task import Task

_code = CompiledModule("rnn.gru_kernels", after=tuning.GRU_COMPILE)


def _applies(mode: str, num_layers: int, bidirectional: bool, data: Tensor, state: Tensor, *weights: Tensor) -> int:
    """Multiplications by the first layer's recurrent weight."""
    steps, batch, _ = data.shape
    recurrent = weights[1]
    if data.dtype is not torch.float32 or recurrent.shape[1] % PANEL or batch < tuning.RNN_BATCH:
        return 0
    return steps * batch * recurrent.numel() if _alike(data, state, *weights) else 0


def _applies_steps(mode: str, num_layers: int, bidirectional: bool, *tensors: Tensor) -> int:
    """In training only: torch's functions predict as fast."""
    if tensors[0].dtype not in (torch.float32, torch.float64) or not torch.is_grad_enabled():
        return 0
    return tensors[0].shape[0] if any(t.requires_grad for t in tensors) and _alike(*tensors) else 0


def _alike(data: Tensor, *others: Tensor) -> bool:
    if torch.compiler.is_compiling() or data.shape[0] < tuning.GRU_STEPS:
        return False
    return all(t.__class__ is Tensor and t.is_cpu and t.dtype is data.dtype for t in (data, *others))


def _run(mode: str, num_layers: int, bidirectional: bool, *tensors: Tensor) -> Any:
    return _recurrent(_code.get(wait=True), mode, num_layers, bidirectional, *tensors)


def _run_steps(mode: str, num_layers: int, bidirectional: bool, *tensors: Tensor) -> Any:
    return _recurrent(None, mode, num_layers, bidirectional, *tensors)


def _recurrent(
    code: Any, mode: str, num_layers: int, bidirectional: bool, data: Tensor, state: Tensor, *weights: Tensor
) -> Any:
    """What torch's function of that name returns: outputs and final states."""
    return stacked(partial(_Layer.apply, _CELLS[mode], code), data, (state,), weights, num_layers, bidirectional)


def stacked(layer: Any, data: Tensor, states: Any, weights: Any, num_layers: int, bidirectional: bool) -> Any:
    """Outputs and final states of stacked layers; `layer(data, four weights, states)` is one, in one direction."""
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
    """All time steps of a cell; inputs are data, weight, recurrent weight, both biases and the initial state.

    `forward` of the cell writes the state after each step, and returns what else `derivatives` needs. These are the
    factors from a state's gradient to those of its pre-activations and, for a GRU, of the previous state and of the
    input projection of the candidate gate.
    """

    @staticmethod
    def forward(
        ctx: Any, cell: Any, code: Any, data: Any, weight: Any, recurrent: Any, bias: Any, more_bias: Any, state: Any
    ):
        steps, batch, hidden = *data.shape[:2], recurrent.shape[1]
        projected = torch.addmm(bias, data.flatten(0, 1), weight.t()).view(steps, batch, -1)
        states = data.new_empty(steps + 1, batch, hidden)
        states[0] = state
        parts = cell.forward(projected, states, recurrent, more_bias, code)
        ctx.cell, ctx.code = cell, code
        ctx.save_for_backward(data, weight, recurrent, bias, more_bias, state, states, *parts)
        return states[1:], states[-1].clone()

    @staticmethod
    def backward(ctx: Any, *heads: Any) -> Any:
        *inputs, states = ctx.saved_tensors[:7]
        wanted = ctx.needs_input_grad[2:]
        if torch.is_grad_enabled():  # a gradient to be differentiated again
            return None, None, *_plain_gradients(ctx.cell.mode, inputs, heads, wanted)
        data, weight, recurrent = inputs[:3]
        derivatives, carry, candidate = ctx.cell.derivatives(states, *ctx.saved_tensors[7:])
        by_gates, by_states = torch.empty_like(derivatives), torch.empty_like(states)
        by_states[0].zero_()
        by_states[1:] = heads[0]
        by_states[-1] += heads[1]
        _backward_steps(ctx.code, derivatives, carry, by_gates, by_states, recurrent)
        flat = by_gates.flatten(0, 1)
        by_recurrent = flat.t().mm(states[:-1].flatten(0, 1)) if wanted[2] else None
        by_more = flat.sum(0) if wanted[4] else None
        if candidate is not None:
            torch.mul(by_states[1:], candidate, out=by_gates[..., -recurrent.shape[1] :])
        by_data = flat.mm(weight).view_as(data) if wanted[0] else None
        by_weight = flat.t().mm(data.flatten(0, 1)) if wanted[1] else None
        by_bias = flat.sum(0) if wanted[3] else None
        return None, None, by_data, by_weight, by_recurrent, by_bias, by_more, by_states[0]


def _backward_steps(
    code: Any, derivatives: Tensor, carry: Any, by_gates: Tensor, by_states: Tensor, recurrent: Tensor
) -> None:
    """From the last step to the first: gradients of the gates, and of the states before them."""
    steps, batch, hidden = len(derivatives), *by_states.shape[1:]
    if code is not None:
        panels = recurrent.reshape(len(recurrent), -1, PANEL).transpose(0, 1).contiguous()
        tensors = derivatives, None if carry is None else carry.contiguous(), by_gates, by_states, panels
        run_batch(code.backward, steps, batch, hidden, *tensors, numbers=(len(recurrent) // hidden,))
        return
    shape, each = (steps, batch, -1, hidden), by_states.unbind()
    by_step = by_states.unsqueeze(2)[1:].unbind(), derivatives.view(shape).unbind(), by_gates.view(shape).unbind()
    for t, (by_state, factor, by_gate) in reversed(list(enumerate(zip(*by_step, strict=True)))):
        torch.mul(by_state, factor, out=by_gate)
        if carry is not None:
            each[t].addcmul_(each[t + 1], carry[t])
        each[t].addmm_(by_gates[t], recurrent)


def run_batch(kernel: Any, steps: int, batch: int, hidden: int, *tensors: Tensor | None, numbers: Any = ()) -> None:
    """Run a kernel; rows of the batch are independent, and are distributed over threads."""
    addresses = [0 if t is None else t.data_ptr() for t in tensors]
    given = (*addresses, *numbers, steps, batch, hidden)
    Task(kernel, given, (0, batch), batch // tuning.RNN_BATCH, rounds=1, held=tensors).run()


def pack_transposed(recurrent: Tensor) -> Tensor:
    """The panels of the transposed recurrent weight."""
    return recurrent.reshape(-1, PANEL, recurrent.shape[1]).transpose(1, 2).contiguous()


class _Vanilla:
    """h' = activation(W x + U h + b)."""

    def __init__(self, mode: str, activation: Any, derivative: Any) -> None:
        self.mode, self._activation, self._derivative = mode, activation, derivative

    def forward(
        self, projected: Tensor, states: Tensor, recurrent: Tensor, bias: Tensor, code: Any
    ) -> tuple[Tensor, ...]:
        projected += bias
        if code is not None:
            steps, batch, hidden = projected.shape
            tensors, relu = (projected, states, pack_transposed(recurrent)), (self.mode == "rnn_relu",)
            run_batch(code.vanilla, steps, batch, hidden, *tensors, numbers=relu)
            return ()
        transposed, activation = recurrent.t(), self._activation
        for step, before, after in zip(projected.unbind(), states[:-1].unbind(), states[1:].unbind(), strict=True):
            activation(torch.addmm(step, before, transposed, out=after))
        return ()

    def derivatives(self, states: Tensor) -> Any:
        return self._derivative(states[1:]), None, None


class _Gru:
    """r, z = sigmoid(W x + U h + b); n = tanh(W x + r (U h + b)); h' = (1 - z) n + z h."""

    mode = "gru"

    @staticmethod
    def forward(projected: Tensor, states: Tensor, recurrent: Tensor, bias: Tensor, code: Any) -> tuple[Tensor, ...]:
        """The gates overwrite the input projection."""
        hidden, transposed = recurrent.shape[1], recurrent.t()
        from_state, reset_update = torch.empty_like(projected), slice(2 * hidden)
        if code is not None:
            steps, batch, _ = projected.shape
            tensors = projected, from_state, states, bias.contiguous(), pack_transposed(recurrent)
            run_batch(code.gru, steps, batch, hidden, *tensors)
            return projected, from_state
        gates, candidates = projected.chunk(3, -1), from_state[..., 2 * hidden :]
        both = projected[..., reset_update], from_state[..., reset_update]
        pieces = states[:-1], states[1:], from_state, *both, *gates, candidates
        for before, after, sums, gate, more, reset, update, new, part in zip(*map(torch.unbind, pieces), strict=True):
            torch.addmm(bias, before, transposed, out=sums)
            gate.add_(more).sigmoid_()
            new.addcmul_(reset, part).tanh_()
            torch.lerp(new, before, update, out=after)
        return projected, from_state

    @staticmethod
    def derivatives(states: Tensor, gates: Tensor, from_state: Tensor) -> Any:
        reset, update, new = gates.chunk(3, -1)
        candidate = (1 - update) * (1 - new * new)
        result = torch.empty_like(gates)
        by_reset, by_update, by_new = result.chunk(3, -1)
        torch.mul(candidate, reset, out=by_new)
        torch.mul(by_new, from_state.chunk(3, -1)[2], out=by_reset).mul_(1 - reset)
        torch.sub(states[:-1], new, out=by_update).mul_(update).mul_(1 - update)
        return result, update, candidate


_CELLS: dict[str, Any] = {
    "rnn_tanh": _Vanilla("rnn_tanh", torch.tanh_, lambda state: 1 - state * state),
    "rnn_relu": _Vanilla("rnn_relu", torch.relu_, lambda state: (state > 0).to(state.dtype)),
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


# (mode, number of layers, whether bidirectional, data, state, four weights for each layer and direction)
compiled_gru = Kernel("rnn.gru", _applies, _run, code=_code)
gru_steps = Kernel("rnn.gru_steps", _applies_steps, _run_steps)


def gru(*call: Any) -> Any:
    """Outputs and final states; None: torch has to compute them."""
    result = compiled_gru(*call)
    return gru_steps(*call) if result is None else result
