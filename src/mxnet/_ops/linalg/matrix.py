"""Linear algebra on the last two axes of arrays: products, factorizations, triangular and diagonal parts."""

# MXNet names the matrices A, B and C.

import math

import torch

from ..._core.errors import MXNetError
from ..._device import late
from ..._device.settings import under
from ..._kernels.runtime.concrete import is_concrete
from ..reduce.reduction import at_least_1d
from ..registry.gradient import with_gradient, without_gradient
from ..registry.registry import op
from ..registry.shape_rules import bracket

_MANY = 96  # rows; fewer the library inverts as quickly


def linalg(name: str, *others: str, **rules):
    """Registers `_linalg_<name>` and `linalg_<name>`, and what else it is called."""
    return op(f"_linalg_{name}", f"linalg_{name}", *others, **rules)


def _square(A: torch.Tensor) -> torch.Tensor:
    if A.dim() < 2 or A.shape[-1] != A.shape[-2]:
        raise MXNetError(f"Input A must be a batch of square matrices, not of shape {bracket(A.shape)}")
    return A


def _nothing(shape: tuple[int, ...], *inputs: torch.Tensor) -> torch.Tensor:
    """Zeros: BLAS does not read what it multiplies by a factor of zero, so NaN and infinity leave no trace."""
    return without_gradient(lambda *given: given[0].new_zeros(shape), *inputs)


def _scaled(C: torch.Tensor, factor: float) -> torch.Tensor:
    return factor * C if factor else _nothing(tuple(C.shape), C)


def _product(A: torch.Tensor, B: torch.Tensor, transpose_a: bool, transpose_b: bool, alpha: float) -> torch.Tensor:
    if A.dim() < 2 or A.dim() != B.dim() or A.shape[:-2] != B.shape[:-2]:
        raise MXNetError(f"matrices of shapes {bracket(A.shape)} and {bracket(B.shape)} do not fit together")
    sides = A.mT if transpose_a else A, B.mT if transpose_b else B
    if alpha == 0 and sides[0].shape[-1] == sides[1].shape[-2]:
        return _nothing((*A.shape[:-2], sides[0].shape[-2], sides[1].shape[-1]), A, B)
    result = torch.matmul(*sides) if A.is_cpu else under(torch.matmul, sides)
    return result if alpha == 1 else alpha * result


@linalg("gemm")
def gemm(
    A,
    B,
    C,
    *,
    transpose_a: bool = False,
    transpose_b: bool = False,
    alpha: float = 1.0,
    beta: float = 1.0,
    axis: int = -2,
):
    """`alpha * A @ B + beta * C`; `axis` holds the rows."""
    if axis in (-2, A.dim() - 2):
        return _plus(_product(A, B, transpose_a, transpose_b, alpha), C, beta)
    A, B, C = (m.movedim(axis, -2) for m in (A, B, C))
    return _plus(_product(A, B, transpose_a, transpose_b, alpha), C, beta).movedim(-2, axis).contiguous()


def _plus(product: torch.Tensor, C: torch.Tensor, beta: float) -> torch.Tensor:
    """`product + beta * C`, which must have one shape: nothing is broadcast, as in MXNet."""
    if C.shape != product.shape:
        raise MXNetError(f"Shape inconsistent, Provided = {bracket(C.shape)}, inferred shape={bracket(product.shape)}")
    return product + _scaled(C, beta)


@linalg("gemm2")
def gemm2(A, B, *, transpose_a: bool = False, transpose_b: bool = False, alpha: float = 1.0, axis: int = -2):
    """`alpha * A @ B`; `axis` holds the rows."""
    if axis in (-2, A.dim() - 2):
        return _product(A, B, transpose_a, transpose_b, alpha)
    result = _product(A.movedim(axis, -2), B.movedim(axis, -2), transpose_a, transpose_b, alpha)
    return result.movedim(-2, axis).contiguous()


@linalg("syrk")
def syrk(A, *, transpose: bool = False, alpha: float = 1.0):
    """`alpha * A @ A.T`, or `alpha * A.T @ A` if `transpose`."""
    return _product(A, A, transpose, not transpose, alpha)


def _triangle(A: torch.Tensor, lower: bool) -> torch.Tensor:
    return torch.tril(_square(A)) if lower else torch.triu(_square(A))


@linalg("trmm")
def trmm(A, B, *, transpose: bool = False, rightside: bool = False, lower: bool = True, alpha: float = 1.0):
    """Product of a triangular matrix `A`, on the left or the right, with `B`."""
    triangle = _triangle(A, lower)
    if rightside:
        return _product(B, triangle, False, transpose, alpha)
    return _product(triangle, B, transpose, False, alpha)


@linalg("trsm")
def trsm(A, B, *, transpose: bool = False, rightside: bool = False, lower: bool = True, alpha: float = 1.0):
    """The `X` for which `A @ X`, or `X @ A`, is `alpha * B`; `A` is triangular."""
    triangle, upper = _square(A).mT if transpose else _square(A), lower == transpose  # the other half is not read
    if alpha == 0 and triangle.shape[:-2] == B.shape[:-2]:
        return _nothing(tuple(B.shape), B, triangle)
    target = B if alpha == 1 else alpha * B
    if rightside:
        return torch.linalg.solve_triangular(triangle, target, upper=upper, left=False)
    # rows are columns to LAPACK: from the right it solves them as they lie
    return torch.linalg.solve_triangular(triangle.mT, target.mT, upper=not upper, left=False).mT


@linalg("potrf")
def potrf(A, *, lower: bool = True):
    """The Cholesky factor of a positive definite matrix."""
    return factored(_square(A), upper=not lower, name="potrf")


def factored(A: torch.Tensor, upper: bool = False, name: str = "cholesky") -> torch.Tensor:
    """Cholesky factors; a GPU tells later that a matrix has none."""
    if A.is_cpu or A.is_meta:
        return torch.linalg.cholesky(A, upper=upper)
    factor, failed = torch.linalg.cholesky_ex(A, upper=upper)
    late.require((failed == 0).all(), lambda: MXNetError(f"{name}: a matrix is not positive definite"))
    return factor


@linalg("potri")
def potri(A, *, lower: bool = True):
    """The inverse of the matrix whose Cholesky factor is `A`."""
    return torch.cholesky_inverse(_triangle(A, lower), upper=not lower)


@linalg("gelqf", outputs=2)
def gelqf(A):
    """`Q` with orthonormal rows and lower triangular `L` for which `L @ Q` is `A`."""
    if A.shape[-2] > A.shape[-1]:
        raise MXNetError(f"Input A must have no more rows than columns, it has shape {bracket(A.shape)}")
    Q, R = torch.linalg.qr(A.mT)
    return Q.mT.contiguous(), R.mT.contiguous()


def _eigen(A: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    values, vectors = torch.linalg.eigh(A)
    U = vectors.mT
    largest = U.gather(-1, U.abs().argmax(-1, keepdim=True))
    return torch.where(largest < 0, -U, U), values


def _eigen_slope(inputs, outputs, heads):
    """As MXNet's: gaps between eigenvalues count as at least a small number."""
    (U, L), (head_U, head_L) = outputs, heads
    smallest = 1e-30 if U.dtype is torch.float32 else 1e-100
    X = torch.matmul(head_U, U.mT)
    gap = (L.unsqueeze(-1) - L.unsqueeze(-2)).tril(-1)
    lower = ((X - X.mT) / (2 * gap.clamp(min=smallest))).tril(-1)
    return torch.matmul(U.mT, torch.matmul(lower + lower.mT + torch.diag_embed(head_L), U))


@op("_linalg_syevd", outputs=2)
def syevd(A):
    """Eigenvectors of a symmetric matrix as rows, and its eigenvalues, ascending."""
    return with_gradient(_eigen, _eigen_slope, _square(A))


@linalg("sumlogdiag")
def sumlogdiag(A):
    """Sum of the logarithms of the diagonal."""
    return at_least_1d(torch.diagonal(_square(A), 0, -2, -1).log().sum(-1))


@linalg("extractdiag")
def extractdiag(A, *, offset: int = 0):
    """A diagonal of each matrix."""
    return torch.diagonal(_square(A), offset, -2, -1)


@linalg("makediag")
def makediag(A, *, offset: int = 0):
    """Matrices with a given diagonal."""
    return torch.diag_embed(A, offset)


def _triangle_indices(size: int, offset: int, lower: bool, device) -> torch.Tensor:
    """Rows and columns of a lower triangle row by row, of an upper one column by column; an offset says which it is."""
    indices = torch.tril_indices(size, size, -abs(offset), device=device)
    return indices if offset < 0 or (offset == 0 and lower) else indices.flip(0)


@linalg("extracttrian")
def extracttrian(A, *, offset: int = 0, lower: bool = True):
    """The elements of a triangle of each matrix; a lower one is read row by row, an upper one column by column."""
    rows, columns = _triangle_indices(_square(A).shape[-1], offset, lower, A.device)
    return A[..., rows, columns]


@linalg("maketrian")
def maketrian(A, *, offset: int = 0, lower: bool = True):
    """Matrices with the elements of a triangle given: of a lower one row by row, of an upper one column by column."""
    count = A.shape[-1]
    side = (math.isqrt(8 * count + 1) - 1) // 2
    if side * (side + 1) // 2 != count:
        raise MXNetError(f"{count} elements do not make a triangle")
    size = side + abs(offset)
    rows, columns = _triangle_indices(size, offset, lower, A.device)
    flat = A.new_zeros((*A.shape[:-1], size * size)).index_copy(-1, rows * size + columns, A)
    return flat.reshape(*A.shape[:-1], size, size)


@linalg("inverse", "_npi_inv")
def inverse(A):
    """The inverse of each matrix."""

    def slope(inputs, outputs, heads):
        return -(outputs[0].mT @ heads[0] @ outputs[0].mT)

    return with_gradient(_inverted, slope, _square(A))


def _factors(A: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor] | None:
    """Triangles of the transposed matrices, which LAPACK, to whom rows are columns, need not turn; what was exchanged.

    None where the library is as quick, or has to say that a matrix is singular.
    """
    if A.shape[-1] < _MANY or not A.numel() or not A.is_cpu or not is_concrete(A):
        return None
    triangles, exchanged, failed = torch.linalg.lu_factor_ex(A.mT)
    return None if bool(failed.any()) else (triangles, exchanged)


def _inverted(A: torch.Tensor) -> torch.Tensor:
    """Two triangular systems solved from the right, where rows stay as they lie: half the time of torch's inverse."""
    found = _factors(A)
    if found is None and not A.is_cpu and not A.is_meta:
        inverted, failed = torch.linalg.inv_ex(A)
        late.require((failed == 0).all(), lambda: MXNetError("inverse: a matrix is singular"))
        return inverted
    if found is None:
        return torch.linalg.inv(A)
    rows = found[0].mT
    ones = torch.eye(A.shape[-1], dtype=A.dtype).expand_as(A)
    half = torch.linalg.solve_triangular(rows, ones, upper=True, left=False, unitriangular=True)
    inverse = torch.linalg.solve_triangular(rows, half, upper=False, left=False)
    places = torch.arange(A.shape[-1], dtype=A.dtype).unsqueeze(-1)
    order = (torch.lu_unpack(*found, unpack_data=False)[0] @ places).long()
    return inverse.gather(-2, order.expand_as(inverse))


def solved(A: torch.Tensor, B: torch.Tensor) -> torch.Tensor:
    """The X of A X = B, matrices of as many axes, also from the right."""

    def slope(inputs, outputs, heads):
        head = solved(inputs[0].mT, heads[0])
        return -(head @ outputs[0].mT), head

    return with_gradient(_solved, slope, A, B)


def _solved(A: torch.Tensor, B: torch.Tensor) -> torch.Tensor:
    found = _factors(A)
    if found is None:
        return solution(A, B)
    return torch.linalg.lu_solve(*found, B.mT, left=False).mT.contiguous()


def solution(A: torch.Tensor, B: torch.Tensor) -> torch.Tensor:
    """The X of A X = B by torch's solver; a GPU tells later that a matrix is singular."""
    if A.is_cpu or A.is_meta:
        return torch.linalg.solve(A, B)
    found, failed = torch.linalg.solve_ex(A, B)
    late.require((failed == 0).all(), lambda: MXNetError("solve: a matrix is singular"))
    return found


def _cofactors(A: torch.Tensor, factor: torch.Tensor, singular: torch.Tensor) -> torch.Tensor:
    """`factor` times the transposed inverse, zero for singular matrices: MXNet stops the gradient there."""
    inverse = torch.linalg.inv_ex(A)[0]
    return (factor[..., None, None] * inverse.mT).masked_fill(singular[..., None, None], 0)


def determinant(A: torch.Tensor) -> torch.Tensor:
    """Of square matrices, with a gradient for singular ones, too."""

    def slope(inputs, outputs, heads):
        return _cofactors(inputs[0], heads[0] * outputs[0], outputs[0] == 0)

    return with_gradient(torch.linalg.det, slope, _square(A))


def log_determinant(A: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Sign and logarithm of the absolute value."""

    def slope(inputs, outputs, heads):
        return _cofactors(inputs[0], heads[1], outputs[0] == 0)

    return with_gradient(lambda a: tuple(torch.linalg.slogdet(a)), slope, _square(A))


@linalg("det")
def det(A):
    """The determinant of each matrix."""
    return at_least_1d(determinant(A))


@linalg("slogdet", outputs=2)
def slogdet(A):
    """The sign of the determinant and the logarithm of its absolute value."""
    sign, logarithm = log_determinant(A)
    return at_least_1d(sign), at_least_1d(logarithm)
