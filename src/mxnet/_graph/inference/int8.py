"""Quantized layers on oneDNN's 8-bit kernels: sums of products, requantization and rectifier in one call.

The kernels take unsigned data: where int8 data may be negative, 128 is added, and what that gives is taken away again.
Processors without VNNI add products of 8 bits in pairs of 16, which overflows for unsigned data of 8 bits but never
for values up to 128. There data known to be int8 and nowhere negative (behind a rectifier) takes this way, other int8
data of a dense layer takes it twice, once for each sign, and convolutions of it add in floats. uint8 data runs as
operators, whose sums are exact too. A result may differ by one step where a half is rounded.
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
from ..lower.lower import calls, pick
from .parameter_watch import same_bytes

CONVOLUTION, DENSE, SUM, REQUANTIZE, RECTIFIER, POOLING, FLATTEN = (
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
CONVOLVE, MULTIPLY = (find(name).fn for name in ("Convolution", "FullyConnected"))
STEPS = {torch.int8: 127.0, torch.uint8: 255.0}
MIDDLE = 128  # what zero becomes where signed data become unsigned: its sign is turned


def available() -> bool:
    """Does this build of torch have oneDNN's 8-bit kernels?"""
    return torch.backends.mkldnn.is_available() and hasattr(torch.ops.onednn, "qconv2d_pointwise")


def whole_range() -> bool:
    """Does the processor add products of unsigned 8-bit data without overflow?"""
    return torch.cpu._is_vnni_supported() or torch.cpu._is_amx_tile_supported()


class Step:
    """What a quantized operator, its requantization and perhaps a rectifier make together."""

    def __init__(self, operator: fx.Node, requantize: fx.Node, rectified: bool) -> None:
        self.kernel, self.attrs, self.rectified = operator.target, dict(operator.kwargs), rectified
        low, high = requantize.kwargs["min_calib_range"], requantize.kwargs["max_calib_range"]
        self.reach = max(abs(low), abs(high))
        kind = requantize.kwargs.get("out_type", "int8")
        self.kind = ("uint8" if low >= 0 else "int8") if kind == "auto" else kind
        self.requantize = dict(requantize.kwargs)

    def ranged(self, result: torch.Tensor) -> tuple[torch.Tensor, ...]:
        low = -self.reach if self.kind == "int8" else 0.0
        return result, scalar(low, result), scalar(self.reach, result)

    def _steps(self, reals: torch.Tensor) -> torch.Tensor:
        """Reals in steps of the result's range, as the integers they are next to."""
        limits = torch.iinfo(TORCH[self.kind])
        return reals.round_().clamp_(0 if self.rectified else limits.min, limits.max).to(TORCH[self.kind])

    def by_operators(self, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        result = REQUANTIZE(*self.kernel(*tensors, **self.attrs), **self.requantize)
        return RECTIFIER(*result, act_type="relu") if self.rectified else result


class Sum(Step):
    """The sum of two quantized arrays, straight to 8 bits."""

    def __call__(self, lhs: torch.Tensor, rhs: torch.Tensor, *ends: torch.Tensor) -> tuple[torch.Tensor, ...]:
        if self.attrs.get("min_calib_range") is not None:
            return self.by_operators(lhs, rhs, *ends)
        reaches = [max(abs(float(low)), abs(float(high))) for low, high in zip(ends[::2], ends[1::2], strict=True)]
        unit = WHOLE[self.kind] / self.reach
        one, two = (r / HALF[NAME[x.dtype]] * unit for r, x in zip(reaches, (lhs, rhs), strict=True))
        return self.ranged(self._steps(lhs.float().mul_(one).add_(rhs, alpha=two)))


class Layer(Step):
    """A convolution or dense layer with constant weight, packed for the kernel and kept while its inputs stay."""

    def __init__(self, layer: fx.Node, requantize: fx.Node, rectified: bool, positive: bool) -> None:
        super().__init__(layer, requantize, rectified)
        self.positive = positive
        self._state: Any = None  # (what was packed, the packed constants): one tuple, so that threads find both of one

    def __call__(self, data: torch.Tensor, weight: torch.Tensor, *rest: torch.Tensor) -> tuple[torch.Tensor, ...]:
        if not self._fits(data):
            return self.by_operators(data, weight, *rest)
        constants = self._constants(data, weight, rest)
        if not self._signed(data):
            return self.ranged(self._apply(data.view(torch.uint8), constants, self._ending()))
        if whole_range():
            return self.ranged(self._apply((data ^ -MIDDLE).view(torch.uint8), constants, self._ending()))
        return self.ranged((self._by_floats if self.kernel is CONVOLUTION else self._difference)(data, constants))

    def _fits(self, data: torch.Tensor) -> bool:
        if data.device.type != "cpu" or data.requires_grad:
            return False
        if data.dtype == torch.uint8 and not whole_range():
            return False
        return self.kernel is not CONVOLUTION or data.dim() == 4

    def _signed(self, data: torch.Tensor) -> bool:
        return data.dtype == torch.int8 and not self.positive

    def _by_floats(self, data: torch.Tensor, constants: Any) -> torch.Tensor:
        """Sums of products in floats, which have more places than 8 bits need, straight to these."""
        given, factor = constants
        attrs = {**self.attrs, "no_bias": len(given) == 1}
        if not self._pointwise():
            return self._steps(CONVOLVE(data.float(), *given, **attrs).mul_(factor.reshape(1, -1, 1, 1)))
        weight, *bias = given
        rows, hidden = data.permute(0, 2, 3, 1).float(), weight.shape[0]
        made = MULTIPLY(rows, weight.flatten(1), *bias, num_hidden=hidden, no_bias=attrs["no_bias"], flatten=False)
        return self._steps(made.mul_(factor)).permute(0, 3, 1, 2)

    def _pointwise(self) -> bool:
        """Is the convolution a product of matrices, a row for each place?"""
        stride, pad, _, groups = self._geometry()
        return groups == 1 and set(self.attrs["kernel"]) == {1} and set(stride) == {1} and not any(pad)

    def _apply(self, data: torch.Tensor, constants: Any, ending: tuple[Any, ...]) -> torch.Tensor:
        return (self._convolve if self.kernel is CONVOLUTION else self._multiply)(data, constants, ending)

    def _difference(self, data: torch.Tensor, constants: Any) -> torch.Tensor:
        """What positive numbers give, less what negative ones give: both are unsigned, and none above 128."""
        ending = 1.0, 0, torch.float32, "none", [], ""
        reals = self._apply(data.clamp_min(0).view(torch.uint8), constants, ending)
        without_bias = *constants[:-1], None
        reals.sub_(self._apply(data.clamp_max(0).neg_().view(torch.uint8), without_bias, ending))
        return self._steps(reals.mul_(WHOLE[self.kind] / self.reach))

    def _constants(self, data: torch.Tensor, weight: torch.Tensor, rest: tuple[torch.Tensor, ...]) -> Any:
        key = (data.shape, data.dtype)
        state = self._state
        if state is None or state[0] != key or not all(map(same_bytes, (weight, *rest), state[1])):
            state = key, [t.clone() for t in (weight, *rest)], self._packed(data, weight, rest)
            self._state = state
        return state[2]

    def _packed(self, data: torch.Tensor, weight: torch.Tensor, rest: tuple[torch.Tensor, ...]) -> Any:
        bias, ends = (None, rest) if self.attrs.get("no_bias") else (rest[0], rest[1:])
        scale = float(reach(*ends[:2])) / STEPS[data.dtype]
        filters = weight.shape[0]
        steps = (reach(*ends[2:4]) / 127.0).expand(filters).contiguous()
        zeros = torch.zeros(filters, dtype=torch.int32)
        real = None if bias is None else bias_in_sums(data, bias, ends) * (scale * float(steps.max()))
        moved = self._signed(data) and whole_range()
        if self.kernel is CONVOLUTION and self._signed(data) and not moved:
            unit = scale * steps  # what a sum of one stands for, by channel
            given = [weight.float()] if real is None else [weight.float(), real / unit]
            return given, unit * (WHOLE[self.kind] / self.reach)
        zero = MIDDLE if moved else 0
        if self.kernel is CONVOLUTION:
            packed = torch.ops.onednn.qconv_prepack(weight, steps, scale, zero, *self._geometry(), list(data.shape))
        else:
            packed = torch.ops.onednn.qlinear_prepack(weight, [size_of_rows(data, self.attrs), weight.shape[1]])
        return scale, zero, packed, steps, zeros, real

    def _geometry(self) -> tuple[list[int], list[int], list[int], int]:
        attrs = self.attrs
        return (
            list(attrs.get("stride") or (1, 1)),
            list(attrs.get("pad") or (0, 0)),
            list(attrs.get("dilate") or (1, 1)),
            attrs.get("num_group", 1),
        )

    def _ending(self) -> tuple[Any, ...]:
        after = "relu" if self.rectified else "none"
        return self.reach / WHOLE[self.kind], 0, TORCH[self.kind], after, [], ""

    def _convolve(self, data: torch.Tensor, constants: Any, ending: tuple[Any, ...]) -> torch.Tensor:
        data = data.contiguous(memory_format=torch.channels_last)
        return torch.ops.onednn.qconv2d_pointwise(data, *constants, *self._geometry(), *ending)

    def _multiply(self, data: torch.Tensor, constants: Any, ending: tuple[Any, ...]) -> torch.Tensor:
        rows = data.reshape(data.shape[0], -1) if self.attrs.get("flatten", True) else data
        return torch.ops.onednn.qlinear_pointwise(rows.contiguous(), *constants, *ending)


def size_of_rows(data: torch.Tensor, attrs: dict[str, Any]) -> int:
    """How many rows a dense layer multiplies."""
    return data.shape[0] if attrs.get("flatten", True) else data.numel() // data.shape[-1]


def _sole_user(node: fx.Node, target: Any) -> fx.Node | None:
    """The call that takes all outputs of `node` as its first inputs, if nobody else takes any."""
    users = {user for output in node.users for user in output.users}
    found = next(iter(users)) if len(users) == 1 else None
    if found is None or not calls(found, target) or any(len(output.users) != 1 for output in node.users):
        return None
    return found if all(_source(value) is node for value in found.args[:3]) else None


def _source(value: Any) -> Any:
    """The call whose output was chosen."""
    chosen = isinstance(value, fx.Node) and value.op == "call_function" and len(value.args) == 2
    return value.args[0] if chosen and (value.target is pick or value.target.__name__ == "getitem") else value


def _positive(value: Any, rectified: set[fx.Node]) -> bool:
    """Do the integers come out of a rectifier, if through pooling?"""
    node = _source(value)
    while calls(node, POOLING, FLATTEN):
        node = _source(node.args[0])
    return node in rectified or calls(node, RECTIFIER)


def _supported(node: fx.Node) -> bool:
    if node.target is not CONVOLUTION:
        return True
    return len(node.kwargs["kernel"]) == 2 and node.kwargs.get("layout") in (None, "NCHW")


def _named(layer: Callable[..., Any], index: int) -> Callable[..., Any]:
    """A function of its own, as the code of a graph calls functions only."""

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
    rectified: set[fx.Node] = set()
    for index, node in enumerate([n for n in graph.nodes if calls(n, CONVOLUTION, DENSE, SUM)]):
        _pack(graph, node, index, rectified)
    graph.eliminate_dead_code()
    return Code(graph, "Quantized")


def _pack(graph: fx.Graph, node: fx.Node, index: int, rectified: set[fx.Node]) -> None:
    requantize = _sole_user(node, REQUANTIZE) if _supported(node) else None
    if requantize is None or requantize.kwargs.get("min_calib_range") is None:
        return
    rectifier = _sole_user(requantize, RECTIFIER)
    last = rectifier or requantize
    if node.target is SUM:
        layer: Step = Sum(node, requantize, rectifier is not None)
    else:
        layer = Layer(node, requantize, rectifier is not None, _positive(node.args[0], rectified))
    with graph.inserting_before(last):
        made = graph.call_function(_named(layer, index), node.args)
    last.replace_all_uses_with(made)
    if rectifier is not None:
        rectified.add(made)
