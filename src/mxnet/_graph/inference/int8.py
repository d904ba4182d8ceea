"""Quantized layers on oneDNN's 8-bit kernels: a layer, its requantization and a ReLU in one call.

The kernels take unsigned data: int8 data that may be negative is passed with a zero point of 128. Processors without
VNNI add pairs of 8-bit products in 16 bits, which saturates for full-range uint8 data but never for values up to 128.
On these, int8 data known to be nonnegative (after a ReLU) uses the kernels; other int8 data of a dense layer uses them
twice, once for each sign; convolutions of such data run in float32; uint8 data runs operator by operator, which is
exact too. A result may differ by one level where a half is rounded.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import fx

from ..._ops.quantized.layers import bias_in_sums
from ..._ops.quantized.quantize import HALF, WHOLE, reach, scalar
from ..._ops.registry.registry import find
from ..._ops.registry.torch_dtypes import NAME, TORCH
from ..lower.codegen import Code
from ..lower.fx_calls import argument, calls, selected_output
from .parameter_watch import same_bytes

CONVOLUTION, DENSE, ADD, REQUANTIZE, RELU, POOLING, FLATTEN = (
    find(f"_contrib_{n}").fn
    for n in (
        "quantized_conv",
        "quantized_fully_connected",
        "quantized_elemwise_add",
        "requantize",
        "quantized_act",
        "quantized_pooling",
        "quantized_flatten",
    )
)
FLOAT_CONVOLUTION, FLOAT_DENSE = (find(name).fn for name in ("Convolution", "FullyConnected"))
LEVELS = {torch.int8: 127.0, torch.uint8: 255.0}
ZERO_POINT = 128  # of int8 data passed as uint8: its sign bit is flipped


def available() -> bool:
    """Does this build of torch have oneDNN's 8-bit kernels?"""
    return torch.backends.mkldnn.is_available() and hasattr(torch.ops.onednn, "qconv2d_pointwise")


def has_exact_uint8_products() -> bool:
    """Does the processor add products of full-range uint8 data without saturation (VNNI or AMX)?"""
    return torch.cpu._is_vnni_supported() or torch.cpu._is_amx_tile_supported()


class QuantizedStep:
    """A quantized operator fused with its requantization and an optional ReLU."""

    def __init__(self, operator: fx.Node, requantize: fx.Node, followed_by_relu: bool) -> None:
        self.kernel, self.attrs, self.followed_by_relu = operator.target, dict(operator.kwargs), followed_by_relu
        low, high = argument(requantize, "min_calib_range"), argument(requantize, "max_calib_range")
        self.max_abs = max(abs(low), abs(high))
        out_dtype = argument(requantize, "out_type")
        self.out_dtype = ("uint8" if low >= 0 else "int8") if out_dtype == "auto" else out_dtype
        self.requantize = dict(requantize.kwargs)

    def with_range(self, result: torch.Tensor) -> tuple[torch.Tensor, ...]:
        low = -self.max_abs if self.out_dtype == "int8" else 0.0
        return result, scalar(low, result), scalar(self.max_abs, result)

    def _round_to_levels(self, reals: torch.Tensor) -> torch.Tensor:
        """Round values, in units of the result's quantization step, to its integer type."""
        limits = torch.iinfo(TORCH[self.out_dtype])
        return reals.round_().clamp_(0 if self.followed_by_relu else limits.min, limits.max).to(TORCH[self.out_dtype])

    def fallback(self, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        result = REQUANTIZE(*self.kernel(*tensors, **self.attrs), **self.requantize)
        return RELU(*result, act_type="relu") if self.followed_by_relu else result


class QuantizedAdd(QuantizedStep):
    """The sum of two quantized arrays, requantized to 8 bits."""

    def __call__(self, lhs: torch.Tensor, rhs: torch.Tensor, *ranges: torch.Tensor) -> tuple[torch.Tensor, ...]:
        if self.attrs.get("min_calib_range") is not None:
            return self.fallback(lhs, rhs, *ranges)
        max_abs = [max(abs(float(low)), abs(float(high))) for low, high in zip(ranges[::2], ranges[1::2], strict=True)]
        unit = WHOLE[self.out_dtype] / self.max_abs
        one, two = (r / HALF[NAME[x.dtype]] * unit for r, x in zip(max_abs, (lhs, rhs), strict=True))
        return self.with_range(self._round_to_levels(lhs.float().mul_(one).add_(rhs, alpha=two)))


class PackedLayer(QuantizedStep):
    """A convolution or dense layer whose weights are packed for the kernel until they change."""

    def __init__(self, layer: fx.Node, requantize: fx.Node, followed_by_relu: bool, nonnegative: bool) -> None:
        super().__init__(layer, requantize, followed_by_relu)
        self.nonnegative = nonnegative
        self._state: Any = None  # (key, packed inputs, constants): one tuple, so that threads never see a mixture

    def __call__(self, data: torch.Tensor, weight: torch.Tensor, *rest: torch.Tensor) -> tuple[torch.Tensor, ...]:
        if not self._supported_data(data):
            return self.fallback(data, weight, *rest)
        constants = self._constants(data, weight, rest)
        if not self._signed(data):
            return self.with_range(self._apply(data.view(torch.uint8), constants, self._output_arguments()))
        if has_exact_uint8_products():
            return self.with_range(
                self._apply((data ^ -ZERO_POINT).view(torch.uint8), constants, self._output_arguments())
            )
        return self.with_range((self._in_float if self.kernel is CONVOLUTION else self._by_sign)(data, constants))

    def _supported_data(self, data: torch.Tensor) -> bool:
        if data.device.type != "cpu" or data.requires_grad:
            return False
        if data.dtype == torch.uint8 and not has_exact_uint8_products():
            return False
        return self.kernel is not CONVOLUTION or data.dim() == 4

    def _signed(self, data: torch.Tensor) -> bool:
        return data.dtype == torch.int8 and not self.nonnegative

    def _in_float(self, data: torch.Tensor, constants: Any) -> torch.Tensor:
        """The layer in float32, which represents the sums exactly enough, then rounded to 8 bits."""
        parameters, factor = constants
        attrs = {**self.attrs, "no_bias": len(parameters) == 1}
        if not self._pointwise():
            return self._round_to_levels(
                FLOAT_CONVOLUTION(data.float(), *parameters, **attrs).mul_(factor.reshape(1, -1, 1, 1))
            )
        weight, *bias = parameters
        rows, hidden = data.permute(0, 2, 3, 1).float(), weight.shape[0]
        result = FLOAT_DENSE(rows, weight.flatten(1), *bias, num_hidden=hidden, no_bias=attrs["no_bias"], flatten=False)
        return self._round_to_levels(result.mul_(factor)).permute(0, 3, 1, 2)

    def _pointwise(self) -> bool:
        """Is the convolution 1×1 with stride 1, and so a matrix product?"""
        stride, pad, _, groups = self._geometry()
        return groups == 1 and set(self.attrs["kernel"]) == {1} and set(stride) == {1} and not any(pad)

    def _apply(self, data: torch.Tensor, constants: Any, output_arguments: tuple[Any, ...]) -> torch.Tensor:
        return (self._convolve if self.kernel is CONVOLUTION else self._dense)(data, constants, output_arguments)

    def _by_sign(self, data: torch.Tensor, constants: Any) -> torch.Tensor:
        """The layer on the positive part minus the layer on the negated negative part; both are at most 128."""
        output_arguments = 1.0, 0, torch.float32, "none", [], ""
        reals = self._apply(data.clamp_min(0).view(torch.uint8), constants, output_arguments)
        without_bias = *constants[:-1], None
        reals.sub_(self._apply(data.clamp_max(0).neg_().view(torch.uint8), without_bias, output_arguments))
        return self._round_to_levels(reals.mul_(WHOLE[self.out_dtype] / self.max_abs))

    def _constants(self, data: torch.Tensor, weight: torch.Tensor, rest: tuple[torch.Tensor, ...]) -> Any:
        key = (data.shape, data.dtype)
        state = self._state
        if state is None or state[0] != key or not all(map(same_bytes, (weight, *rest), state[1])):
            state = key, [t.clone() for t in (weight, *rest)], self._packed(data, weight, rest)
            self._state = state
        return state[2]

    def _packed(self, data: torch.Tensor, weight: torch.Tensor, rest: tuple[torch.Tensor, ...]) -> Any:
        bias, ranges = (None, rest) if self.attrs.get("no_bias") else (rest[0], rest[1:])
        scale = float(reach(*ranges[:2])) / LEVELS[data.dtype]
        channels = weight.shape[0]
        weight_scales = (reach(*ranges[2:4]) / 127.0).expand(channels).contiguous()
        zeros = torch.zeros(channels, dtype=torch.int32)
        float_bias = None if bias is None else bias_in_sums(data, bias, ranges) * (scale * float(weight_scales.max()))
        shifted = self._signed(data) and has_exact_uint8_products()
        if self.kernel is CONVOLUTION and self._signed(data) and not shifted:
            unit = scale * weight_scales  # the scale of the accumulator, by output channel
            parameters = [weight.float()] if float_bias is None else [weight.float(), float_bias / unit]
            return parameters, unit * (WHOLE[self.out_dtype] / self.max_abs)
        zero = ZERO_POINT if shifted else 0
        if self.kernel is CONVOLUTION:
            packed = torch.ops.onednn.qconv_prepack(
                weight, weight_scales, scale, zero, *self._geometry(), list(data.shape)
            )
        else:
            packed = torch.ops.onednn.qlinear_prepack(weight, [number_of_rows(data, self.attrs), weight.shape[1]])
        return scale, zero, packed, weight_scales, zeros, float_bias

    def _geometry(self) -> tuple[list[int], list[int], list[int], int]:
        attrs = self.attrs
        return (
            list(attrs.get("stride") or (1, 1)),
            list(attrs.get("pad") or (0, 0)),
            list(attrs.get("dilate") or (1, 1)),
            attrs.get("num_group", 1),
        )

    def _output_arguments(self) -> tuple[Any, ...]:
        after = "relu" if self.followed_by_relu else "none"
        return self.max_abs / WHOLE[self.out_dtype], 0, TORCH[self.out_dtype], after, [], ""

    def _convolve(self, data: torch.Tensor, constants: Any, output_arguments: tuple[Any, ...]) -> torch.Tensor:
        data = data.contiguous(memory_format=torch.channels_last)
        return torch.ops.onednn.qconv2d_pointwise(data, *constants, *self._geometry(), *output_arguments)

    def _dense(self, data: torch.Tensor, constants: Any, output_arguments: tuple[Any, ...]) -> torch.Tensor:
        rows = data.reshape(data.shape[0], -1) if self.attrs.get("flatten", True) else data
        return torch.ops.onednn.qlinear_pointwise(rows.contiguous(), *constants, *output_arguments)


def number_of_rows(data: torch.Tensor, attrs: dict[str, Any]) -> int:
    """The number of rows that a dense layer multiplies."""
    return data.shape[0] if attrs.get("flatten", True) else data.numel() // data.shape[-1]


def _sole_user_of_outputs(node: fx.Node, target: Any) -> fx.Node | None:
    """The call of `target` whose values, minimum and maximum are the outputs of `node`, if they have no other user."""
    users = {user for output in node.users for user in output.users}
    found = next(iter(users)) if len(users) == 1 else None
    if found is None or not calls(found, target) or any(len(output.users) != 1 for output in node.users):
        return None
    values_and_range = found.args[:3]  # the first inputs of every operator on quantized data
    return found if all(_source(value) is node for value in values_and_range) else None


def _source(value: Any) -> Any:
    """The call of which the value is an output; the value itself if it is not a selected output."""
    selection = selected_output(value)
    return value if selection is None else selection[0]


def _nonnegative(value: Any, followed_by_relu: set[fx.Node]) -> bool:
    """Are the values certain to be nonnegative: the result of a ReLU, perhaps after pooling or flattening?"""
    node = _source(value)
    while calls(node, POOLING, FLATTEN):
        node = _source(argument(node, "data"))
    return node in followed_by_relu or calls(node, RELU)


def _supported_layer(node: fx.Node) -> bool:
    if node.target is not CONVOLUTION:
        return True
    return len(argument(node, "kernel")) == 2 and argument(node, "layout") in (None, "NCHW")


def _named(layer: Callable[..., Any], index: int) -> Callable[..., Any]:
    """The layer as a function with a name, which calls in fx graphs need."""

    def packed_layer(*tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return layer(*tensors)

    packed_layer.__name__ = packed_layer.__qualname__ = f"packed_layer_{index}"
    return packed_layer


def with_packed_integers(module: Code) -> Code:
    """The module with calibrated quantized layers packed; the module itself where it has none."""
    if not available() or not any(calls(n, CONVOLUTION, DENSE) for n in module.graph.nodes):
        return module
    graph = fx.Graph()
    graph.output(graph.graph_copy(module.graph, {}))
    followed_by_relu: set[fx.Node] = set()
    for index, node in enumerate([n for n in graph.nodes if calls(n, CONVOLUTION, DENSE, ADD)]):
        _replace_by_packed(graph, node, index, followed_by_relu)
    graph.eliminate_dead_code()
    return Code(graph, "Quantized")


def _replace_by_packed(graph: fx.Graph, node: fx.Node, index: int, followed_by_relu: set[fx.Node]) -> None:
    requantize = _sole_user_of_outputs(node, REQUANTIZE) if _supported_layer(node) else None
    if requantize is None or argument(requantize, "min_calib_range") is None:
        return
    relu = _sole_user_of_outputs(requantize, RELU)
    last = relu or requantize
    if node.target is ADD:
        layer: QuantizedStep = QuantizedAdd(node, requantize, relu is not None)
    else:
        layer = PackedLayer(node, requantize, relu is not None, _nonnegative(argument(node, "data"), followed_by_relu))
    with graph.inserting_before(last):
        call = graph.call_function(_named(layer, index), node.args)
    last.replace_all_uses_with(call)
    if relu is not None:
        followed_by_relu.add(call)
