"""Convolutions packed for inference: batch norm folded in, weight in the kernel's order, sum and activation fused.

This module also has the batch norms that are not folded into a convolution, pooling, and concatenation of channels.
"""

import math
import operator
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import torch

from ..._core.lru import Recent
from ..._kernels.conv import direct
from ..._kernels.conv.choose import packed_conv2d
from ..._kernels.conv.clamp import Clamp
from ..._kernels.conv.problem import Way
from ..._kernels.conv.winograd import ways
from ..._kernels.norm import scale_shift
from ..._kernels.pool.nhwc import plan_pooling
from ..._kernels.registry import SWITCH, TRACED
from ..._kernels.runtime.task import Task, chained
from ..._ops.registry.registry import find

POOLING, CONCAT = find("Pooling").fn, find("Concat").fn
PADDED, SCRATCH = -1, -2  # buffers that one convolution needs at a time: padded data, and others
RESULTS, SMALL = 1 << 20, 1 << 16  # from that number on: buffers of results that leave, if they have no more floats
MOST_VIEWS = 1 << 10  # of buffers: networks that take images of any size have ever new ones
LIMIT, LARGEST = 1e6, 1e37  # of data whose values need no check, and of what cannot become infinite

NOTHING: tuple[Any, ...] = (), None, ()


def has_onednn() -> bool:
    """Does this build of torch have oneDNN's fused convolutions?"""
    return torch.backends.mkldnn.is_available() and hasattr(torch.ops.mkldnn, "_convolution_pointwise")


def folded(weight: torch.Tensor, bias: torch.Tensor | None, norm: list[torch.Tensor], eps: float) -> Any:
    """(weight, bias) that compute norm(convolution): `norm` is gamma, beta, moving mean, moving variance."""
    scale, shift = _affine(norm, eps)
    shift = shift if bias is None else shift + bias * scale
    return (weight * scale.reshape(-1, 1, 1, 1)).to(weight.dtype), shift.to(weight.dtype)


def affine(norm: list[torch.Tensor], eps: float) -> tuple[torch.Tensor, torch.Tensor]:
    """(scale, shift) with which a batch norm computes data * scale + shift."""
    scale, shift = _affine(norm, eps)
    return scale.to(norm[0].dtype), shift.to(norm[0].dtype)


def _affine(norm: list[torch.Tensor], eps: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Compute in double precision: an error in a scale affects all pixels and accumulates from layer to layer."""
    gamma, beta, mean, variance = (tensor.double() for tensor in norm)
    scale = gamma * (variance + eps).rsqrt()
    return scale, beta - mean * scale


def _channels_last(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.contiguous(memory_format=torch.channels_last)


class PackedConvolution:
    """Two-dimensional convolution with constant weight; packed at the first call, when the data's size is known."""

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor | None, attrs: dict[str, Any], clamp: Clamp) -> None:
        self.weight, self.bias, self.clamp = weight, bias, clamp
        geometry = (attrs.get("pad") or (0, 0), attrs.get("stride") or (1, 1), attrs.get("dilate") or (1, 1))
        self.geometry: Any = (*map(list, geometry), attrs.get("num_group", 1))
        self.weight_shape = tuple(weight.shape)
        self.packed: dict[Way | None, Any] = {}  # the weight as each way wants it; None: oneDNN
        self.kernels_exist = direct.supported(weight.shape, self.geometry)  # kernels may not be compiled yet
        self.is_matrix = self.geometry == ([0, 0], [1, 1], [1, 1], 1) and self.weight_shape[2:] == (1, 1)
        self.tiled = self.geometry == ([1, 1], [1, 1], [1, 1], 1) and self.weight_shape[2:] == (3, 3)
        sums = weight.abs().sum((1, 2, 3)).max() if weight.numel() else weight.new_zeros(())
        self.reach = float(sums), 0.0 if bias is None or not bias.numel() else float(bias.abs().max())
        self.fusible = False
        # Looked up once: finding the overload takes as long as a small convolution's bookkeeping.
        self.pointwise = torch.ops.mkldnn._convolution_pointwise.default
        self.pointwise_add = torch.ops.mkldnn._convolution_pointwise_.binary

    def __call__(
        self,
        within: Callable[[], bool],
        workspace: "Workspace",
        buffer: int | None,
        data: torch.Tensor,
        addend: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Return the result; `within`: the data is within the limit that allows a fused clamp."""
        way, make, _ = packed_conv2d(data.shape, data.dtype, self.weight_shape, self.geometry)
        if way is None and self.is_matrix and data.shape[2:] == (1, 1) and self.weight.layout is torch.strided:
            return self._by_linear(data, addend)
        if way is None or (addend is not None and way is direct.DEPTHWISE):
            return self._by_onednn(within, workspace, buffer, _channels_last(data), addend)
        kernel = self._kernel(way, make)
        if way in (direct.DENSE, direct.DEPTHWISE):
            return self._by_direct(kernel, workspace, buffer, data, addend)
        data = _channels_last(data)
        result = workspace.take(buffer, *kernel.shape(data))
        more = None if addend is None else _alongside(addend, result)
        if way is ways.PACKED_TORCH:
            kernel.run(data, result, more)
            return result
        tasks = kernel.tasks(data, result, more, workspace.scratch)
        return workspace.compute(self, tasks, result, data, addend)

    def _kernel(self, way: Way, make: Any) -> Any:
        """Return the weight packed for an implementation."""
        kernel = self.packed.get(way)
        if kernel is None:
            kernel = self.packed[way] = make(self.weight, self.bias, self.geometry, self.clamp)
            if way is direct.DENSE:  # computes from now on: other packed weights are not needed
                self.weight, self.packed = self.weight.new_empty(0), {way: kernel}
        return kernel

    def _by_direct(
        self,
        kernel: direct.Dense | direct.Depthwise,
        workspace: "Workspace",
        buffer: int | None,
        data: torch.Tensor,
        addend: torch.Tensor | None,
    ) -> torch.Tensor:
        result = workspace.take(buffer, *kernel.shape(data))
        more = None if addend is None else _alongside(addend, result)
        if not kernel.pads:
            tasks = [kernel.task(_channels_last(data), result, more)]
            return workspace.compute(self, tasks, result, data, addend)
        padded = workspace.take(PADDED, *kernel.padded_shape(data.shape))
        if data.shape[1] > direct.FEW_CHANNELS:
            tasks = [kernel.pad_task(_channels_last(data), padded), kernel.task(padded, result, more)]
            return workspace.compute(self, tasks, result, data, addend)
        workspace.interleave(self, kernel, data, padded)
        again = workspace.repeat(self, padded, *([] if addend is None else [addend]))
        if again is not None:
            return again
        return workspace.compute(self, [kernel.task(padded, result, more)], result, padded, addend)

    def behind(
        self, first: "PackedConvolution", workspace: "Workspace", buffer: int | None, data: torch.Tensor
    ) -> torch.Tensor | None:
        """Return the result of another convolution followed by this one, fused; None if there is no kernel for it."""
        if not (self.kernels_exist and first.kernels_exist):
            return None
        way, make, _ = packed_conv2d(data.shape, data.dtype, first.weight_shape, first.geometry)
        pointwise = first._kernel(way, make) if way is direct.DENSE else None
        if pointwise is None or not pointwise.is_pointwise():
            return None
        last = _channels_last(data)
        between = pointwise.shape(last)
        way, make, _ = packed_conv2d(between, data.dtype, self.weight_shape, self.geometry)
        depthwise = self._kernel(way, make) if way is direct.DEPTHWISE else None
        if depthwise is None:
            return None
        result = workspace.take(buffer, *depthwise.output_shape(between))
        return workspace.compute(self, [pointwise.fused_task(depthwise, last, result)], result, data)

    def _by_linear(self, data: torch.Tensor, addend: torch.Tensor | None) -> torch.Tensor:
        """Compute images of one pixel as a linear layer: faster and in long sums more accurate than oneDNN."""
        result = torch.nn.functional.linear(data.flatten(1), self.weight.flatten(1), self.bias)
        result = result.unflatten(1, (-1, 1, 1))
        return clamped(result if addend is None else result.add_(addend), self.clamp)

    def _by_onednn(
        self,
        within: Callable[[], bool],
        workspace: "Workspace",
        buffer: int | None,
        data: torch.Tensor,
        addend: torch.Tensor | None,
    ) -> torch.Tensor:
        fused, constants = self.fusible and within(), (self._onednn_weight(data), self.bias, *self.geometry)
        if addend is None and (buffer is None or self.clamp[1] is not None):
            result = self.pointwise(data, *constants, *(self._activation() if fused else ("none", [])), "")
            return result if fused else clamped(result, self.clamp)
        result = workspace.take(buffer, *self._shape(data))  # oneDNN adds to what is there
        if addend is None:
            result.zero_()
        else:
            result.copy_(_alongside(addend, result))
        fused = fused and self.clamp[1] is None  # of sums, only `relu`
        post_op = ("relu", [], "") if fused else (None, [], None)
        self.pointwise_add(result, data, *constants, "add", None, *post_op)
        return result if fused else clamped(result, self.clamp)

    def _shape(self, data: torch.Tensor) -> tuple[int, int, int, int]:
        axes = zip(data.shape[2:], self.weight_shape[2:], *self.geometry[:3], strict=True)
        down, right = ((n + 2 * pad - far * (k - 1) - 1) // step + 1 for n, k, pad, step, far in axes)
        return data.shape[0], self.weight_shape[0], down, right

    def limit(self, data: float | None, addend: float | None = 0) -> float | None:
        """Return a bound on the results for bounded data; None if it is unknown or infinite.

        If the bound is known, no NaN can occur, so oneDNN's `relu` and `clip`, which replace NaN, can be used.
        """
        low, high = self.clamp
        if data is None or addend is None:
            return None
        reach = self.reach[0] * data + self.reach[1] + addend
        self.fusible = low is not None and reach < LARGEST
        return (reach if high is None else max(abs(low or 0), abs(high))) if reach < LARGEST else None

    def _activation(self) -> tuple[str, list[float]]:
        low, high = self.clamp
        return ("relu", []) if high is None else ("hardtanh", [low, high])  # type: ignore[list-item]

    def _onednn_weight(self, data: torch.Tensor) -> torch.Tensor:
        packed = self.packed.get(None)
        if packed is None:
            sizes = (*self.geometry, list(data.shape))
            packed = torch.ops.mkldnn._reorder_convolution_weight(_channels_last(self.weight), *sizes)
            self.packed[None] = packed
            if not self.tiled and not self.kernels_exist:
                self.weight = packed  # the other order is not needed again
        return packed


def clamped(result: torch.Tensor, clamp: Clamp) -> torch.Tensor:
    """The result clamped, in place."""
    low, high = clamp
    if low is None:
        return result
    return result.relu_() if high is None else result.clamp_(low, high)


def _alongside(addend: torch.Tensor, result: torch.Tensor) -> torch.Tensor:
    """Return the addend in the memory format of the result."""
    if addend.shape != result.shape or addend.dtype is not result.dtype:
        raise ValueError(f"a sum of {tuple(result.shape)} and {tuple(addend.shape)}, of {addend.dtype}")
    return addend.contiguous(memory_format=torch.channels_last)


class Workspace:
    """Buffers for intermediate results, reused in each run: allocating memory takes longer than the computation."""

    def __init__(self) -> None:
        self._buffers: dict[int, torch.Tensor] = {}
        self._views: dict[Any, torch.Tensor] = {}
        self._ids: set[int] = set()
        # Inputs and outputs of the last run's tasks: the next run mostly uses the same memory.
        self._tasks: dict[Hashable, tuple[Any, ...]] = {}
        self._interleaved: Recent[Hashable, Task] = Recent(MOST_VIEWS)  # the tasks that pad a network's own data
        self._waiting: list[Task] = []  # pending until a function other than a task reads a result
        self._runs: Recent[Any, tuple[list[Task], list[Any]]] = Recent(
            MOST_VIEWS
        )  # tasks that waited, and their chains

    def compute(
        self, who: Hashable, tasks: list[Task], result: torch.Tensor, *given: torch.Tensor | None
    ) -> torch.Tensor:
        """Run tasks; if all their tensors are buffers of this workspace, the tasks can be reused unchanged."""
        tensors = [t for t in given if t is not None]
        if all(id(t) in self._ids for t in (result, *tensors)):
            self._tasks[who] = tensors, result, tasks
        for task in tasks:
            task.run()
        return result

    def repeat(self, who: Hashable, *given: torch.Tensor) -> torch.Tensor | None:
        """Schedule the last run's tasks again and return their result; None if they were for other tensors.

        While decisions are explained, layers decide again.
        """
        tensors, result, tasks = self._tasks.get(who, NOTHING)
        same = len(tensors) == len(given) and all(map(operator.is_, tensors, given))
        if not same or SWITCH.mode == TRACED:
            self.flush()
            return None
        self._waiting += tasks
        return result

    def interleave(self, who: Hashable, kernel: direct.Dense, data: torch.Tensor, target: torch.Tensor) -> None:
        """Pad the network's input data, at whatever address, and convert it to channels-last."""
        whole = data if data.stride(3) == 1 else data.contiguous()
        known = (who, whole.shape, whole.stride(), target.data_ptr())
        task = self._interleaved.get(known) or self._interleaved.again(known)
        if task is None:
            task = self._interleaved.keep(known, kernel.interleave_task(whole.shape, whole.stride(), target))
        task.run_on(whole)

    def flush(self) -> None:
        """Run the pending tasks; those of native threads run as one chain."""
        waiting = self._waiting
        if not waiting:
            return
        self._waiting = []
        known, runs = self._runs.get(waiting[0]) or self._runs.again(waiting[0]) or (None, [])
        if known != waiting:
            runs = chained(waiting)
            self._runs.keep(waiting[0], (waiting, runs))
        for run in runs:
            run.run()

    def copy_out(self, value: torch.Tensor) -> torch.Tensor:
        """Return a copy of a result for other readers."""
        self.flush()
        return value.clone() if value.numel() <= SMALL else value

    def bytes(self) -> int:
        return sum(buffer.nbytes for buffer in self._buffers.values())

    def take(self, number: int | None, *shape: int) -> torch.Tensor:
        """Return a buffer for a channels-last result; new memory without a number and for large copied-out results."""
        if number is None or (number >= RESULTS and math.prod(shape) > SMALL):
            return torch.empty(shape, memory_format=torch.channels_last)
        found = self._views.get((number, shape))
        return self._view(number, shape) if found is None else found

    def scratch(self, number: int, *shape: int) -> torch.Tensor:
        """Return a numbered scratch buffer that one convolution uses at a time."""
        return self._buffer(SCRATCH - number, shape)

    def _view(self, number: int, shape: tuple[int, ...]) -> torch.Tensor:
        if len(self._views) >= MOST_VIEWS:
            self._forget()
        batch, channels, down, right = shape
        made = self._buffer(number, (batch, down, right, channels)).permute(0, 3, 1, 2)
        self._views[number, shape] = made
        self._ids.add(id(made))
        return made

    def _buffer(self, number: int, shape: tuple[int, ...]) -> torch.Tensor:
        size, buffer = math.prod(shape), self._buffers.get(number)
        if buffer is None or buffer.numel() < size:
            buffer = self._buffers[number] = torch.empty(size)
            self._forget()
        return buffer[:size].view(shape)

    def _forget(self) -> None:
        self._views, self._ids = {}, set()
        self._tasks.clear()
        self._interleaved.clear()
        self._runs.clear()


def convolve(
    convolutions: Sequence[PackedConvolution],
    within: Callable[[], bool],
    workspace: Workspace,
    index: int,
    buffer: int | None,
    *tensors: torch.Tensor,
) -> torch.Tensor:
    """What the rewritten graph calls in place of convolution, batch norm, sum and activation."""
    convolution = convolutions[index]
    result = workspace.repeat(convolution, *tensors)
    return convolution(within, workspace, buffer, *tensors) if result is None else result


def convolve_pair(
    convolutions: Sequence[PackedConvolution],
    within: Callable[[], bool],
    workspace: Workspace,
    indices: tuple[int, int],
    buffer: int | None,
    data: torch.Tensor,
) -> torch.Tensor:
    """A convolution followed by a depthwise one that is the only reader of its result."""
    first, second = convolutions[indices[0]], convolutions[indices[1]]
    result = workspace.repeat(second, data)
    if result is None:
        result = second.behind(first, workspace, buffer, data)
    return second(within, workspace, buffer, first(within, workspace, None, data)) if result is None else result


def flush(workspace: Workspace) -> None:
    """The rewritten graph calls this before a sum or a similar operator reads their results."""
    workspace.flush()


def copy_out(workspace: Workspace, value: torch.Tensor) -> torch.Tensor:
    """The rewritten graph calls this before other functions than those of this module read a buffered result."""
    return workspace.copy_out(value)


def pool(workspace: Workspace, name: str, buffer: int | None, data: torch.Tensor, **attrs: Any) -> torch.Tensor:
    """What the rewritten graph calls in place of pooling."""
    result = workspace.repeat(name, data)
    if result is not None:
        return result
    ready = plan_pooling(data, attrs)
    if ready is None:
        return POOLING(data, **attrs)
    shape, prepare = ready
    result = workspace.take(buffer, *shape)
    tasks = [prepare(data.contiguous(memory_format=torch.channels_last), result)]
    return workspace.compute(name, tasks, result, data)


class PackedNorm:
    """A batch norm with constant statistics, and the clamp of the activation behind it."""

    def __init__(self, norm: list[torch.Tensor], eps: float, clamp: Clamp) -> None:
        self.scale, self.shift = (t.contiguous() for t in affine(norm, eps))
        self.clamp = clamp
        self.reach = [float(t.abs().max()) if t.numel() else 0.0 for t in (self.scale, self.shift)]

    def __call__(self, workspace: Workspace, buffer: int | None, data: torch.Tensor) -> torch.Tensor:
        if data.shape[1:2] != self.scale.shape:
            raise ValueError(f"a batch norm of {len(self.scale)} channels is given {tuple(data.shape)}")
        if not scale_shift.scale.ready(data):
            scale, shift = (t.view(-1, *[1] * (data.dim() - 2)) for t in (self.scale, self.shift))
            return clamped(torch.addcmul(shift, data, scale), self.clamp)
        result = workspace.take(buffer, *data.shape)
        last = data.contiguous(memory_format=torch.channels_last)
        tasks = [scale_shift.task(last, self.scale, self.shift, self.clamp, result)]
        return workspace.compute(self, tasks, result, data)

    def limit(self, data: float | None) -> float | None:
        """How large results can be for data up to a size; None: not known, or infinite."""
        reach = math.inf if data is None else self.reach[0] * data + self.reach[1]
        return reach if reach < LARGEST else None


def scale_norm(
    norms: Sequence[PackedNorm], workspace: Workspace, index: int, buffer: int | None, data: torch.Tensor
) -> torch.Tensor:
    """What the rewritten graph calls in place of a batch norm and an activation."""
    norm = norms[index]
    result = workspace.repeat(norm, data)
    return norm(workspace, buffer, data) if result is None else result


def concat(workspace: Workspace, name: str, buffer: int | None, *pieces: torch.Tensor, **attrs: Any) -> torch.Tensor:
    """What the rewritten graph calls in place of a concatenation of channels."""
    result = workspace.repeat(name, *pieces)
    if result is not None:
        return result
    batch, _, *sizes = pieces[0].shape
    alike = all((piece.shape[0], *piece.shape[2:]) == (batch, *sizes) for piece in pieces)
    if not (alike and all(map(scale_shift.scale.ready, pieces))):
        return CONCAT(*pieces, **attrs)
    result = workspace.take(buffer, batch, sum(piece.shape[1] for piece in pieces), *sizes)
    last = [piece.contiguous(memory_format=torch.channels_last) for piece in pieces]
    return workspace.compute(name, scale_shift.concat_tasks(last, result), result, *pieces)
