"""LSTM layers on the CPU: one matrix product for all steps where steps do not depend on others.

oneDNN's layers multiply step by step, and always compute the gradient of the input.
"""

from typing import Any

import torch
from torch import _VF, Tensor

from .. import tuning
from ..matmul.gemm import product
from ..matmul.packed import PANEL
from ..registry import Kernel
from ..runtime.buffers import buffer
from ..runtime.loader import CompiledModule
from .gru import pack_transposed, run_batch, stacked

_code = CompiledModule("rnn.lstm_kernels")


def _applies(num_layers: int, bidirectional: bool, data: Tensor, state: Tensor, cell: Tensor, *weights: Tensor) -> int:
    """Multiplications by the first layer's recurrent weight; layers with a projection have five weights each."""
    if not data.is_cpu or data.dtype is not torch.float32 or len(weights) % 4:
        return 0
    steps, batch, _ = data.shape
    hidden = weights[1].shape[1]
    if hidden % PANEL or batch < tuning.RNN_BATCH or torch.compiler.is_compiling():
        return 0
    tensors = data, state, cell, *weights
    same = all(t.__class__ is Tensor and t.dtype is torch.float32 and t.is_cpu for t in tensors)
    return steps * batch * 4 * hidden * hidden if same else 0


def _run(num_layers: int, bidirectional: bool, data: Tensor, state: Tensor, cell: Tensor, *weights: Tensor) -> Any:
    """What torch's function returns: outputs, final states and final cells."""
    return stacked(_Layer.apply, data, (state, cell), weights, num_layers, bidirectional)


class _Layer(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, data: Any, weight: Any, recurrent: Any, bias: Any, more_bias: Any, state: Any, cell: Any):
        steps, batch, hidden = *data.shape[:2], recurrent.shape[1]
        gates = product(data.flatten(0, 1), weight.t())
        states, cells = data.new_empty(2, steps + 1, batch, hidden)
        states[0], cells[0] = state, cell
        tensors = gates, bias + more_bias, states, cells, pack_transposed(recurrent)
        run_batch(_code.get(wait=True).forward, steps, batch, hidden, *tensors)
        ctx.save_for_backward(data, weight, recurrent, bias, more_bias, state, cell, gates, states, cells)
        return states[1:], states[-1].clone(), cells[-1].clone()

    @staticmethod
    def backward(ctx: Any, *heads: Any):
        *inputs, gates, states, cells = ctx.saved_tensors
        if torch.is_grad_enabled():  # a gradient to be differentiated again
            return _plain_gradients(inputs, heads, ctx.needs_input_grad)
        data, weight, recurrent, _, _, state, _ = inputs
        steps, batch, hidden = *data.shape[:2], recurrent.shape[1]
        before = torch.cat([state.new_zeros(1, batch, hidden), heads[0]])  # the initial state is no output
        by_state, by_cell = before[-1] + heads[1], heads[2].clone()
        panels = recurrent.reshape(4 * hidden, -1, PANEL).transpose(0, 1).contiguous()
        by_gates = buffer("gates", *gates.shape)
        tensors = before, gates, cells, by_gates, by_state, by_cell, panels
        run_batch(_code.get(wait=True).backward, steps, batch, hidden, *tensors)
        wanted = ctx.needs_input_grad
        by_bias = by_gates.sum(0) if wanted[3] or wanted[4] else None
        return (
            product(by_gates, weight).view_as(data) if wanted[0] else None,
            product(by_gates.t(), data.flatten(0, 1)) if wanted[1] else None,
            product(by_gates.t(), states[:-1].flatten(0, 1)) if wanted[2] else None,
            by_bias,
            by_bias,
            by_state,
            by_cell,
        )


def _plain_gradients(inputs: Any, heads: Any, wanted: Any) -> Any:
    """The gradients by torch's own function, which can be differentiated."""
    data, weight, recurrent, bias, more_bias, state, cell = inputs
    result = _VF.lstm(
        data, (state[None], cell[None]), (weight, recurrent, bias, more_bias), True, 1, 0.0, True, False, False
    )
    asked = [t for t, needed in zip(inputs, wanted, strict=True) if needed]
    heads = (heads[0], heads[1][None], heads[2][None])
    found = iter(torch.autograd.grad(result, asked, heads, create_graph=True, allow_unused=True))
    return tuple(next(found) if needed else None for needed in wanted)


# (number of layers, whether bidirectional, data, state, cell, four weights for each layer and direction)
lstm = Kernel("rnn.lstm", _applies, _run, tuning.LSTM_WORK, _code)
