"""A convolution made ready for inference: batch norm folded in, weight in the kernel's order, sum and bound fused.

So are batch norms that no convolution takes in, pooling, and images whose channels are laid side by side.
"""

import math
import operator
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import torch

from ..._core.lru import Recent
from ..._kernels.conv import direct
from ..._kernels.conv.winograd import f2x2 as small_tiles
from ..._kernels.conv.winograd import f4x4 as winograd
from ..._kernels.norm import scale_shift as pixelwise
from ..._kernels.pool.nhwc import plan_pooling
from ..._kernels.runtime.task import Task, chained
from ..._ops.registry.registry import find

POOLING, CONCAT = find("Pooling").fn, find("Concat").fn
SURROUNDED, BLOCKS = -1, -2  # rooms that one convolution needs at a time: data with zeros around them, and others
LEAVING, LARGE = 1 << 20, 1 << 16  # from that number on: rooms of results that leave, if they have no more floats
MOST_VIEWS = 1 << 10  # of that memory: networks that take images of any size have ever new ones
LIMIT, LARGEST = 1e6, 1e37  # of data that need not be looked at closely, and of what cannot become infinite

NOTHING: tuple[Any, ...] = (), None, ()

Bounds = tuple[float | None, float | None]  # what an activation cuts off below and above


def available() -> bool:
    """Does this build of torch have oneDNN's fused convolutions?"""
    return torch.backends.mkldnn.is_available() and hasattr(torch.ops.mkldnn, "_convolution_pointwise")


def folded(weight: torch.Tensor, bias: torch.Tensor | None, norm: list[torch.Tensor], eps: float) -> Any:
    """(weight, bias) that compute norm(convolution): `norm` is gamma, beta, moving mean, moving variance."""
    scale, shift = affine(norm, eps)
    return weight * scale.reshape(-1, 1, 1, 1), shift if bias is None else shift + bias * scale


def affine(norm: list[torch.Tensor], eps: float) -> tuple[torch.Tensor, torch.Tensor]:
    """(scale, shift) with which a batch norm computes data * scale + shift."""
    gamma, beta, mean, variance = norm
    scale = gamma * (variance + eps).rsqrt()
    return scale, beta - mean * scale


class PackedConvolution:
    """Two-dimensional convolution with constant weight; packed at the first call, when the data's size is known."""

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor | None, attrs: dict[str, Any], bounds: Bounds) -> None:
        self.weight, self.bias, self.bounds = weight, bias, bounds
        geometry = (attrs.get("pad") or (0, 0), attrs.get("stride") or (1, 1), attrs.get("dilate") or (1, 1))
        self.geometry = (*map(list, geometry), attrs.get("num_group", 1))
        self.packed: torch.Tensor | None = None
        self.matrices: torch.Tensor | None = None
        self.small_matrices: torch.Tensor | None = None
        self.direct: direct.Dense | direct.Depthwise | None = None
        self.awaited = direct.gains(weight, self.geometry)  # the kernels may not be compiled yet
        self.tiled = self.geometry == ([1, 1], [1, 1], [1, 1], 1) and tuple(weight.shape[2:]) == (3, 3)
        sums = weight.abs().sum((1, 2, 3)).max() if weight.numel() else weight.new_zeros(())
        self.reach = float(sums), 0.0 if bias is None or not bias.numel() else float(bias.abs().max())
        self.fusible = False
        # Looked up once: finding the overload takes as long as a small convolution's bookkeeping.
        self.alone = torch.ops.mkldnn._convolution_pointwise.default
        self.added = torch.ops.mkldnn._convolution_pointwise_.binary

    def __call__(
        self,
        within: Callable[[], bool],
        rooms: "Rooms",
        room: int | None,
        data: torch.Tensor,
        addend: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """The result for data that are `within` the limit for which it was found whether a bound can be fused."""
        if self.awaited:
            self._ask_for_kernels()
        if self.direct is not None and (addend is None or self.direct.adds):
            return self._by_kernels(self.direct, rooms, room, data, addend)
        data = data.contiguous(memory_format=torch.channels_last)
        if self.tiled and winograd.pays(data, self.weight, wait=False):
            return self._by_tiles(winograd.jobs, self._matrices(), rooms, room, data, addend)
        if self.tiled and small_tiles.pays(data, self.weight):
            return self._by_tiles(small_tiles.jobs, self._small_matrices(), rooms, room, data, addend)
        return self._by_library(within, rooms, room, data, addend)

    def _by_tiles(
        self,
        prepare: Callable[..., list[Task] | None],
        matrices: torch.Tensor,
        rooms: "Rooms",
        room: int | None,
        data: torch.Tensor,
        addend: torch.Tensor | None,
    ) -> torch.Tensor:
        result = rooms.take(room, data.shape[0], self.weight.shape[0], *data.shape[2:])
        more = None if addend is None else _alongside(addend, result)
        jobs = prepare(data, matrices, self.bias, more, self.bounds, result, rooms.block)
        if jobs is None:
            return winograd.convolve(data, matrices, self.bias, more, self.bounds, False, result)
        return rooms.compute(self, jobs, result, data, addend)

    def _ask_for_kernels(self) -> None:
        self.direct = direct.pack(self.weight, self.bias, self.geometry, self.bounds)
        self.awaited = self.direct is None
        if self.direct is not None and self.direct.adds:
            self.weight, self.packed = self.weight.new_empty(0), None  # not needed again

    def _by_kernels(
        self,
        kernel: direct.Dense | direct.Depthwise,
        rooms: "Rooms",
        room: int | None,
        data: torch.Tensor,
        addend: torch.Tensor | None,
    ) -> torch.Tensor:
        result = rooms.take(room, *kernel.shape(data))
        more = None if addend is None else _alongside(addend, result)
        if not kernel.surrounds:
            last = data.contiguous(memory_format=torch.channels_last)
            return rooms.compute(self, [kernel.job(last, result, more)], result, data, addend)
        last = rooms.take(SURROUNDED, *kernel.surrounded(data.shape))
        if data.shape[1] > direct.FEW:
            before = kernel.surrounding(data.contiguous(memory_format=torch.channels_last), last)
            return rooms.compute(self, [before, kernel.job(last, result, more)], result, data, addend)
        rooms.lay(self, kernel, data, last)
        again = rooms.repeat(self, last, *([] if addend is None else [addend]))
        return rooms.compute(self, [kernel.job(last, result, more)], result, last, addend) if again is None else again

    def behind(
        self, first: "PackedConvolution", rooms: "Rooms", room: int | None, data: torch.Tensor
    ) -> torch.Tensor | None:
        """The result for what another convolution makes of data, both at once; None: there is no kernel for that."""
        for one in (self, first):
            if one.awaited:
                one._ask_for_kernels()
        dense, deep = first.direct, self.direct
        if not (isinstance(dense, direct.Dense) and isinstance(deep, direct.Depthwise) and dense.is_lone()):
            return None
        last = data.contiguous(memory_format=torch.channels_last)
        result = rooms.take(room, *deep.shape_behind(dense.shape(last)))
        return rooms.compute(self, [dense.job_with(deep, last, result)], result, data)

    def _by_library(
        self,
        within: Callable[[], bool],
        rooms: "Rooms",
        room: int | None,
        data: torch.Tensor,
        addend: torch.Tensor | None,
    ) -> torch.Tensor:
        fused, constants = self.fusible and within(), (self._packed(data), self.bias, *self.geometry)
        if addend is None and (room is None or self.bounds[1] is not None):
            result = self.alone(data, *constants, *(self._activation() if fused else ("none", [])), "")
            return result if fused else bounded(result, self.bounds)
        result = rooms.take(room, *self._shape(data))  # the kernel adds to what is there
        if addend is None:
            result.zero_()
        else:
            result.copy_(_alongside(addend, result))
        fused = fused and self.bounds[1] is None  # of sums, only `relu`
        self.added(result, data, *constants, "add", None, *(("relu", [], "") if fused else (None, [], None)))
        return result if fused else bounded(result, self.bounds)

    def _shape(self, data: torch.Tensor) -> tuple[int, int, int, int]:
        many = zip(data.shape[2:], self.weight.shape[2:], *self.geometry[:3], strict=True)
        down, right = ((n + 2 * pad - far * (k - 1) - 1) // step + 1 for n, k, pad, step, far in many)
        return data.shape[0], self.weight.shape[0], down, right

    def limit(self, data: float | None, addend: float | None = 0) -> float | None:
        """How large results can be for data up to a size; None: not known, or infinite.

        Where it is known, no NaN can arise, and oneDNN's own `relu` and `clip`, which turn NaN into a number, will do.
        """
        low, high = self.bounds
        if data is None or addend is None:
            return None
        reach = self.reach[0] * data + self.reach[1] + addend
        self.fusible = low is not None and reach < LARGEST
        return (reach if high is None else max(abs(low or 0), abs(high))) if reach < LARGEST else None

    def _activation(self) -> tuple[str, list[float]]:
        low, high = self.bounds
        return ("relu", []) if high is None else ("hardtanh", [low, high])  # type: ignore[list-item]

    def _packed(self, data: torch.Tensor) -> torch.Tensor:
        made = self.packed
        if made is None:
            weight = self.weight.contiguous(memory_format=torch.channels_last)
            sizes = (*self.geometry, list(data.shape))
            made = self.packed = torch.ops.mkldnn._reorder_convolution_weight(weight, *sizes)
            if not self.tiled and not self.awaited:
                self.weight = made  # the other order is not needed again
        return made

    def _matrices(self) -> torch.Tensor:
        made = self.matrices
        made = self.matrices = winograd.weight_matrices(self.weight) if made is None else winograd.packed(made)
        return made

    def _small_matrices(self) -> torch.Tensor:
        if self.small_matrices is None:
            self.small_matrices = small_tiles.weight_matrices(self.weight)
        return self.small_matrices


def bounded(result: torch.Tensor, bounds: Bounds) -> torch.Tensor:
    """The result cut off at the bounds, in place."""
    low, high = bounds
    if low is None:
        return result
    return result.relu_() if high is None else result.clamp_(low, high)


def _alongside(addend: torch.Tensor, result: torch.Tensor) -> torch.Tensor:
    """What is added to a result, of the same shape and order."""
    if addend.shape != result.shape or addend.dtype is not result.dtype:
        raise ValueError(f"a sum of {tuple(result.shape)} and {tuple(addend.shape)}, of {addend.dtype}")
    return addend.contiguous(memory_format=torch.channels_last)


class Rooms:
    """Memory for results that nobody sees, kept from run to run: new memory costs more time than what is computed."""

    def __init__(self) -> None:
        self._rooms: dict[int, torch.Tensor] = {}
        self._views: dict[Any, torch.Tensor] = {}
        self._ids: set[int] = set()
        # What was computed from which tensors into which: in the next run it mostly is the same memory.
        self._jobs: dict[Hashable, tuple[Any, ...]] = {}
        self._lays: Recent[Hashable, Task] = Recent(MOST_VIEWS)  # what brings a network's own data here
        self._waiting: list[Task] = []  # until somebody else than the next job wants to see a result
        self._runs: Recent[Any, tuple[list[Task], list[Any]]] = Recent(
            MOST_VIEWS
        )  # jobs that waited, and what does them

    def compute(
        self, who: Hashable, jobs: list[Task], result: torch.Tensor, *given: torch.Tensor | None
    ) -> torch.Tensor:
        """Do jobs; if all lies here, in the order of results, they can be done again as they are."""
        tensors = [t for t in given if t is not None]
        if all(id(t) in self._ids for t in (result, *tensors)):
            self._jobs[who] = tensors, result, jobs
        for job in jobs:
            job.run()
        return result

    def repeat(self, who: Hashable, *given: torch.Tensor) -> torch.Tensor | None:
        """Where the last run's jobs, if they were for the same tensors, will have their result once more."""
        tensors, result, jobs = self._jobs.get(who, NOTHING)
        if len(tensors) != len(given) or not all(map(operator.is_, tensors, given)):
            self.settle()
            return None
        self._waiting += jobs
        return result

    def lay(self, who: Hashable, kernel: direct.Dense, data: torch.Tensor, target: torch.Tensor) -> None:
        """Lay a network's own data, wherever they are this time, into the middle of larger images here."""
        whole = data if data.stride(3) == 1 else data.contiguous()
        known = (who, whole.shape, whole.stride(), target.data_ptr())
        task = self._lays.get(known) or self._lays.again(known)
        if task is None:
            task = self._lays.keep(known, kernel.laying(whole.shape, whole.stride(), target))
        task.run_on(whole)

    def settle(self) -> None:
        """Do the jobs that wait, those of native threads at once."""
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

    def leave(self, value: torch.Tensor) -> torch.Tensor:
        """A result for others, in memory of its own."""
        self.settle()
        return value.clone() if value.numel() <= LARGE else value

    def bytes(self) -> int:
        return sum(room.nbytes for room in self._rooms.values())

    def take(self, number: int | None, *shape: int) -> torch.Tensor:
        """Room for a result of this shape, channels last; without a number, or if a large one leaves, new memory."""
        if number is None or (number >= LEAVING and math.prod(shape) > LARGE):
            return torch.empty(shape, memory_format=torch.channels_last)
        found = self._views.get((number, shape))
        return self._view(number, shape) if found is None else found

    def block(self, number: int, *shape: int) -> torch.Tensor:
        """Room for what one convolution needs at a time, by a number of its own."""
        return self._floats(BLOCKS - number, shape)

    def _view(self, number: int, shape: tuple[int, ...]) -> torch.Tensor:
        if len(self._views) >= MOST_VIEWS:
            self._forget()
        batch, channels, down, right = shape
        made = self._floats(number, (batch, down, right, channels)).permute(0, 3, 1, 2)
        self._views[number, shape] = made
        self._ids.add(id(made))
        return made

    def _floats(self, number: int, shape: tuple[int, ...]) -> torch.Tensor:
        size, room = math.prod(shape), self._rooms.get(number)
        if room is None or room.numel() < size:
            room = self._rooms[number] = torch.empty(size)
            self._forget()
        return room[:size].view(shape)

    def _forget(self) -> None:
        self._views, self._ids = {}, set()
        self._jobs.clear()
        self._lays.clear()
        self._runs.clear()


def convolve(
    convolutions: Sequence[PackedConvolution],
    within: Callable[[], bool],
    rooms: Rooms,
    index: int,
    room: int | None,
    *tensors: torch.Tensor,
) -> torch.Tensor:
    """What the rewritten graph calls in place of convolution, batch norm, sum and activation."""
    convolution = convolutions[index]
    result = rooms.repeat(convolution, *tensors)
    return convolution(within, rooms, room, *tensors) if result is None else result


def convolve_both(
    convolutions: Sequence[PackedConvolution],
    within: Callable[[], bool],
    rooms: Rooms,
    indices: tuple[int, int],
    room: int | None,
    data: torch.Tensor,
) -> torch.Tensor:
    """A convolution, and a depthwise one that alone reads its result."""
    first, second = convolutions[indices[0]], convolutions[indices[1]]
    result = rooms.repeat(second, data)
    if result is None:
        result = second.behind(first, rooms, room, data)
    return second(within, rooms, room, first(within, rooms, None, data)) if result is None else result


def settle(rooms: Rooms) -> None:
    """What the rewritten graph calls before a sum or the like reads their results."""
    rooms.settle()


def leave(rooms: Rooms, value: torch.Tensor) -> torch.Tensor:
    """What the rewritten graph calls before anything else than the functions here reads a result that is kept."""
    return rooms.leave(value)


def pool(rooms: Rooms, name: str, room: int | None, data: torch.Tensor, **attrs: Any) -> torch.Tensor:
    """What the rewritten graph calls in place of pooling."""
    result = rooms.repeat(name, data)
    if result is not None:
        return result
    ready = plan_pooling(data, attrs)
    if ready is None:
        return POOLING(data, **attrs)
    shape, prepare = ready
    result = rooms.take(room, *shape)
    jobs = [prepare(data.contiguous(memory_format=torch.channels_last), result)]
    return rooms.compute(name, jobs, result, data)


class PackedNorm:
    """A batch norm with constant statistics, and the bounds of the activation behind it."""

    def __init__(self, norm: list[torch.Tensor], eps: float, bounds: Bounds) -> None:
        self.scale, self.shift = (t.contiguous() for t in affine(norm, eps))
        self.bounds = bounds
        self.reach = [float(t.abs().max()) if t.numel() else 0.0 for t in (self.scale, self.shift)]

    def __call__(self, rooms: Rooms, room: int | None, data: torch.Tensor) -> torch.Tensor:
        if data.shape[1:2] != self.scale.shape:
            raise ValueError(f"a batch norm of {len(self.scale)} channels is given {tuple(data.shape)}")
        if not pixelwise.suits(data):
            scale, shift = (t.view(-1, *[1] * (data.dim() - 2)) for t in (self.scale, self.shift))
            return bounded(torch.addcmul(shift, data, scale), self.bounds)
        result = rooms.take(room, *data.shape)
        last = data.contiguous(memory_format=torch.channels_last)
        jobs = [pixelwise.scaling(last, self.scale, self.shift, self.bounds, result)]
        return rooms.compute(self, jobs, result, data)

    def limit(self, data: float | None) -> float | None:
        """How large results can be for data up to a size; None: not known, or infinite."""
        reach = math.inf if data is None else self.reach[0] * data + self.reach[1]
        return reach if reach < LARGEST else None


def scaled(norms: Sequence[PackedNorm], rooms: Rooms, index: int, room: int | None, data: torch.Tensor) -> torch.Tensor:
    """What the rewritten graph calls in place of a batch norm and an activation."""
    norm = norms[index]
    result = rooms.repeat(norm, data)
    return norm(rooms, room, data) if result is None else result


def joined(rooms: Rooms, name: str, room: int | None, *pieces: torch.Tensor, **attrs: Any) -> torch.Tensor:
    """What the rewritten graph calls to lay channels side by side."""
    result = rooms.repeat(name, *pieces)
    if result is not None:
        return result
    batch, _, *sizes = pieces[0].shape
    alike = all((piece.shape[0], *piece.shape[2:]) == (batch, *sizes) for piece in pieces)
    if not (alike and all(map(pixelwise.suits, pieces))):
        return CONCAT(*pieces, **attrs)
    result = rooms.take(room, batch, sum(piece.shape[1] for piece in pieces), *sizes)
    last = [piece.contiguous(memory_format=torch.channels_last) for piece in pieces]
    return rooms.compute(name, pixelwise.joining(last, result), result, *pieces)
