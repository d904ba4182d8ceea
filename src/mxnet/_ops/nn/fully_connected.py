"""FullyConnected: the affine map."""

from math import prod

import torch
import torch.nn.functional as F

from ..._core.attrs import Count
from ..._core.errors import MXNetError
from ..._device.settings import under
from ..._kernels import tuning
from ..._kernels.matmul import gemm
from ..registry.fill_rules import assign
from ..registry.registry import op
from ..registry.shape_rules import bracket


def bias_unless_no_bias(attrs):
    """Inputs of the operators whose bias `no_bias` takes away."""
    return ("data", "weight") if attrs["no_bias"] else ("data", "weight", "bias")


def _parameters(attrs, shapes):
    data = shapes[0]
    if data:
        features = prod(data[1:]) if attrs["flatten"] else data[-1]
        assign(shapes, 1, (attrs["num_hidden"], features), "FullyConnected", "weight")
        if not (len(shapes) > 2 and shapes[2] == (attrs["num_hidden"], 1)):
            assign(shapes, 2, (attrs["num_hidden"],), "FullyConnected", "bias")
    return shapes


def _result(attrs, shapes):
    data = shapes[0]
    return [data and (*(data[:1] if attrs["flatten"] else data[:-1]), attrs["num_hidden"])]


def _quick(num_hidden, no_bias, flatten):
    """For a matrix, or rows that need no flattening, and a bias of one axis."""
    least = tuning.GEMM_RECORDED_WORK // num_hidden if num_hidden else 0  # elements of data

    def dense(data, weight, bias):
        if (flatten and data.dim() != 2) or weight.size(0) != num_hidden or (bias is not None and bias.dim() > 1):
            return None
        small = data.numel() < least and not data.is_cuda
        return F.linear(data, weight, bias) if small else _affine(data, weight, bias)

    return dense


@op("FullyConnected", inputs=bias_unless_no_bias, fill=_parameters, shape=_result, quick=_quick)
def fully_connected(
    data: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None = None,
    *,
    num_hidden: Count,
    no_bias: bool = False,
    flatten: bool = True,
):
    """Each row of `data` times `weight` transposed, plus `bias`. `flatten` makes one row of all but the first axis.

    Parameters
    ----------
    data
        The input, (batch, …). With `flatten` it is read as (batch, inputs), otherwise as (…, inputs).
    weight
        The matrix, (num_hidden, inputs). It has one row for each output: the result is data @ weight.T + bias.
    bias
        The number that is added to each output, (num_hidden,). It is left out if `no_bias` is True.
    num_hidden
        Number of outputs, the length of the last axis of the result.
    no_bias
        Whether the layer has no bias; `bias` is then not an input.
    flatten
        Whether all axes but the first are flattened into one, which gives (batch, num_hidden); False keeps them and
        applies the layer to the last axis, which gives (…, num_hidden).
    """
    if flatten and data.dim() != 2:
        data = data.flatten(1) if data.dim() > 1 else data.unsqueeze(1)
    if weight.shape[0] != num_hidden:
        expected = f"({num_hidden},{data.shape[-1]})"
        raise MXNetError(f"Shape inconsistent, Provided = {bracket(weight.shape)}, inferred shape={expected}")
    if bias is not None and bias.dim() > 1:
        bias = bias.flatten()
    return _affine(data, weight, bias)


def _affine(data, weight, bias):
    if data.is_cuda:
        return under(F.linear, (data, weight, bias))
    result = gemm.dense(data, weight, bias)
    return F.linear(data, weight, bias) if result is None else result
