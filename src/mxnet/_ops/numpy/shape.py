"""NumPy-semantics operators on shapes and order: reshaping, joining, splitting, picking, sorting."""

import math

import torch

from ..._core.errors import MXNetError, ValueRefused
from ..._device import late
from ..array.joining import split_v2
from ..registry.registry import op
from ..registry.shape_rules import real_axis


@op("_np_reshape", dtype="any")
def reshape(a, *, newshape: tuple, order: str = "C"):
    """The elements in another shape; one size may be -1."""
    if order != "C":
        raise MXNetError(f"reshape: only order 'C' is supported, got {order!r}")
    known = math.prod(s for s in newshape if s != -1)
    fits = known == a.numel() if -1 not in newshape else known and a.numel() % known == 0
    if not fits:
        raise MXNetError(f"cannot reshape array of size {a.numel()} (shape {tuple(a.shape)}) into shape {newshape}")
    return a.reshape(newshape)


@op("_npx_reshape", "_npi_reshape", dtype="any")
def reshape_coded(a, *, newshape: tuple, reverse: bool = False, order: str = "C"):
    """The elements in a shape in which negative numbers are codes, read from the right if `reverse`."""
    if order != "C":
        raise MXNetError(f"npx.reshape: only order 'C' is supported, got {order!r}")
    if reverse:
        return a.reshape(_decoded(newshape[::-1], tuple(a.shape)[::-1])[::-1])
    return a.reshape(_decoded(newshape, tuple(a.shape)))


def _decoded(codes: tuple[int, ...], shape: tuple[int, ...]) -> tuple[int, ...]:
    sizes: list[int] = []
    rest, queue = list(shape), list(codes)
    while queue:
        code = queue.pop(0)
        if code >= 0 or code == -1:
            sizes.append(code)
            rest = rest[1:]
        elif code == -4:
            sizes, rest = sizes + rest, []
        elif len(rest) < (2 if code == -5 else 1):
            raise MXNetError(f"npx.reshape: the codes {codes} need more axes than shape {shape} has")
        else:
            made, used = _one(code, rest, queue, shape)
            sizes, rest = sizes + made, rest[used:]
    return tuple(sizes)


def _one(code: int, rest: list[int], queue: list[int], shape: tuple[int, ...]) -> tuple[list[int], int]:
    """What one code makes of the sizes that remain, and how many of them it uses."""
    if code == -2:
        return [rest[0]], 1
    if code == -3:
        if rest[0] != 1:
            raise MXNetError(f"npx.reshape: -3 drops an axis of size one, got {rest[0]} in shape {shape}")
        return [], 1
    if code == -5:
        return [rest[0] * rest[1]], 2
    if code == -6:
        first, second = queue.pop(0), queue.pop(0)
        first = rest[0] // second if first == -1 else first
        second = rest[0] // first if second == -1 else second
        if first * second != rest[0]:
            raise MXNetError(f"npx.reshape: cannot split {rest[0]} into {first} and {second}")
        return [first, second], 1
    raise MXNetError(f"npx.reshape: {code} is no code; -1 to -6 are")


@op("_np_copy", dtype="any")
def copy(a):
    """A copy."""
    return a.clone()


@op("_np_transpose", dtype="any")
def transpose(a, *, axes: tuple | None = None):
    """Axes in another order, reversed unless told."""
    if axes and len(axes) != a.dim():
        raise MXNetError(
            "The number of axes does not match the dimension of the tensor. "
            f"axes = {list(axes)}, input tensor shape = {list(a.shape)}"
        )
    if axes and len({i % a.dim() for i in axes}) != len(axes):
        raise ValueRefused(f"Repeated axis in transpose. param.axes = {list(axes)}")
    return a.permute(axes if axes else tuple(reversed(range(a.dim())))).contiguous()


@op("_np_squeeze", dtype="any")
def squeeze(a, *, axis: tuple | None = None):
    """Without axes of size one: all of them, or those named."""
    if axis is None:
        return a.squeeze()
    if not a.dim() and axis in ((0,), (-1,)):  # NumPy lets this pass, and so does MXNet
        return a.clone()
    axes = [real_axis(i, a.dim(), "squeeze axis") for i in axis]
    wrong = [i for i in axes if a.shape[i] != 1]
    if wrong:
        raise MXNetError(f"cannot squeeze axis {wrong[0]} of shape {tuple(a.shape)}: its size is not one")
    return a.squeeze(tuple(axes))


@op("_np_moveaxis", dtype="any")
def moveaxis(a, *, source: tuple, destination: tuple):
    """Axes moved to other places, the rest in order."""
    return torch.movedim(a, source, destination).contiguous()


@op("_npi_broadcast_to", dtype="any")
def broadcast_to(array, *, shape: tuple = ()):
    """Stretched to a shape, in which -2 stands for the array's own size."""
    missing = len(shape) - array.dim()
    sizes = tuple(array.shape[i - missing] if s == -2 and i >= missing else s for i, s in enumerate(shape))
    return array.expand(sizes).contiguous()


@op("_np_roll", dtype="any")
def roll(data, *, shift: tuple | None = None, axis: tuple | None = None):
    """Elements moved round, those that fall off come in at the other end."""
    if axis is None:
        return torch.roll(data, shift[0])  # pyright: ignore[reportOptionalSubscript]
    return torch.roll(data, shift * len(axis) if len(shift) == 1 else shift, axis)  # pyright: ignore[reportArgumentType, reportOptionalOperand]


@op("_npi_flip", dtype="any")
def flip(data, *, axis: tuple | None):
    """Reversed along axes, all if None (flip)."""
    return torch.flip(data, tuple(range(data.dim())) if axis is None else axis)


@op("_npi_rot90", dtype="any")
def rot90(data, *, k: int = 1, axes: tuple | None = None):
    """Rotated by multiples of 90 degrees in the plane of two axes."""
    return torch.rot90(data, k, axes or (0, 1))


@op("_np_diag", dtype="any")
def diag(data, *, k: int = 0):
    """A matrix's diagonal, or a matrix with it."""
    return torch.diag(data, k)


@op("_np_diagflat", dtype="any")
def diagflat(data, *, k: int = 0):
    """A matrix with the flat array as diagonal."""
    return torch.diagflat(data, k)


@op("_np_diagonal", dtype="any")
def diagonal(data, *, offset: int = 0, axis1: int = 0, axis2: int = 1):
    """Diagonals of the planes of two axes."""
    return torch.diagonal(data, offset, axis1, axis2).contiguous()


@op("_np_trace", dtype="any")
def trace(data, *, offset: int = 0, axis1: int = 0, axis2: int = 1):
    """Sums of diagonals."""
    return torch.diagonal(data, offset, axis1, axis2).sum(-1, dtype=data.dtype)


@op("_npi_tril", dtype="any")
def tril(data, *, k: int = 0):
    """Zeros above a diagonal; a vector is every row of a square."""
    return torch.tril(data.expand(len(data), -1) if data.dim() == 1 else data, k)


@op("_npi_concatenate", dtype="any")
def concatenate(*data, num_args: int, dim: int | None = 1, axis: str = ""):
    """Joined along an axis; None joins the flat arrays. MXNet's files call it `axis`."""
    if axis:
        dim = None if axis == "None" else int(axis)
    return torch.cat([d.reshape(-1) for d in data], 0) if dim is None else torch.cat(data, dim)


@op("_npi_stack", dtype="any")
def stack(*data, axis: int = 0, num_args: int):
    """Joined along a new axis."""
    return torch.stack(data, axis)


def _stacking(name, function):
    def stacking(*data, num_args: int):
        return function(data)

    def stacking_with_dim(*data, num_args: int, dim: int = 1):
        return function(data)

    chosen = stacking_with_dim if name in ("hstack", "dstack") else stacking  # MXNet shows them a `dim` without use
    chosen.__doc__ = f"NumPy's {name}."
    op(f"_npi_{name}", dtype="any")(chosen)


for _name in ("vstack", "hstack", "dstack", "column_stack"):
    _stacking(_name, getattr(torch, _name))


def _pieces(attrs):
    return len(attrs["indices"]) if attrs["sections"] == 0 else attrs["sections"]


def _splitting(name, along):
    def splitting(data, *, indices: tuple, axis: int = 1, squeeze_axis: bool = False, sections: int = 0):
        return split_v2(data, indices=indices, axis=along(data), sections=sections)

    splitting.__doc__ = f"NumPy's {name}: equal pieces, or those that begin at `indices`; the axis is fixed."
    op(f"_npi_{name}", dtype="any", outputs=_pieces)(splitting)


_splitting("hsplit", lambda data: min(data.dim() - 1, 1))
_splitting("dsplit", lambda data: 2)


def _grown(count, place):
    """Arrays with at least `count` axes; `place(dim)` says where the new ones go."""

    def grown(*arys, num_args: int):
        return [a.reshape(place(tuple(a.shape))) if a.dim() < count else a.clone() for a in arys]

    grown.__doc__ = f"Each array with at least {count} axes."
    op(f"_np_atleast_{count}d", dtype="any", outputs=lambda attrs: attrs["num_args"])(grown)


_grown(1, lambda shape: (1,))
_grown(2, lambda shape: (1, *shape) if shape else (1, 1))
_grown(3, lambda shape: {0: (1, 1, 1), 1: (1, *shape, 1)}.get(len(shape), (*shape, 1)))


@op("_npi_diag_indices_from", dtype="any", differentiable=False)
def diag_indices_from(data):
    """The places of the main diagonal of a cube, a row for each axis."""
    if data.dim() < 2 or len(set(data.shape)) != 1:
        raise MXNetError(f"the array must have at least two axes, all of one length, got shape {tuple(data.shape)}")
    return torch.arange(data.shape[0], device=data.device).repeat(data.dim(), 1)


def _ends(attrs):
    return ("input1", "input2", "input3")[: 1 + attrs["to_begin_arr_given"] + attrs["to_end_arr_given"]]


@op("_npi_ediff1d", dtype="any", inputs=_ends)
def ediff1d(
    input1,
    input2=None,
    input3=None,
    *,
    to_begin_arr_given: bool = False,
    to_end_arr_given: bool = False,
    to_begin_scalar: float | None = None,
    to_end_scalar: float | None = None,
):
    """Differences of neighbours in the flat array, with numbers or arrays before and after."""
    begin = input2 if to_begin_arr_given else to_begin_scalar
    end = (input3 if to_begin_arr_given else input2) if to_end_arr_given else to_end_scalar
    parts = [begin, torch.diff(input1.reshape(-1)), end]
    made = [p if isinstance(p, torch.Tensor) else input1.new_full((1,), p) for p in parts if p is not None]
    return torch.cat([p.reshape(-1).to(input1.dtype) for p in made])


@op("_npi_diff", dtype="any")
def diff(a, *, n: int = 1, axis: int = -1):
    """Differences of neighbours, `n` times over."""
    return torch.diff(a, n, axis)


@op("_npx_nonzero", "_npi_nonzero", dtype="any", differentiable=False)
def nonzero(x):
    """The positions of what is not zero, one row each; an array without axes counts as one with a single place."""
    return torch.nonzero(x if x.dim() else x.reshape(1))


@op("_npx_constraint_check", dtype="any", differentiable=False)
def constraint_check(input, *, msg: str = "Constraint violated!"):
    """True if every element is; else an error with the message."""
    result = torch.all(input != 0)
    if not input.is_meta:
        late.require(result, lambda: ValueRefused(msg))
    return result


@op("_npi_bincount", dtype="any", differentiable=False, inputs=lambda a: ("data", "weights")[: 1 + a["has_weights"]])
def bincount(data, weights=None, *, minlength: int = 0, has_weights: bool = False):
    """How often each number occurs, or the sums of weights."""
    if data.dim() == 0:
        data = data.reshape(1)
        weights = weights if weights is None else weights.reshape(1)
    counts = torch.bincount(data.to(torch.int64), None if weights is None else weights.detach(), minlength)
    return counts.to(data.dtype if weights is None else weights.dtype)
