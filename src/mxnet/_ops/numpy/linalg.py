"""NumPy-semantics linear algebra: products, decompositions, solvers."""

import math
from typing import Any

import torch

from ..._core.errors import MXNetError
from ..._device import late
from ..._device.settings import under
from ..linalg.matrix import determinant, factored, inverse, log_determinant, solution, solved
from ..registry.registry import Attrs, op
from ..registry.shape_rules import real_axis
from ..registry.torch_dtypes import NAME
from .elementwise import _common


def _square(a):
    if a.dim() < 2 or a.shape[-1] != a.shape[-2]:
        raise MXNetError(f"Input A must be square matrices in its last two axes, got shape {tuple(a.shape)}")
    return a


def _factor(attrs: Attrs, shapes: list[Any]) -> list[Any]:
    """The size over which is summed, where only the first factor knows it."""
    first, second = shapes
    if not first or not second:
        return [first, second]
    place = max(len(second) - 2, 0)
    return [first, (*second[:place], second[place] or first[-1], *second[place + 1 :])]


@op("_np_dot", dtype="any", fill=_factor)
def dot(a, b):
    """NumPy's dot: a product with a number, of vectors, matrices, or over a's last and b's last but one axis."""
    a, b = _common(a, b)
    if a.dim() == 0 or b.dim() == 0:
        return a * b
    if b.dim() == 1:
        return under(torch.tensordot, (a, b, ([-1], [0])))
    return under(torch.tensordot, (a, b, ([-1], [-2])))


@op("_npi_matmul", dtype="any")
def matmul(a, b):
    """Matrix products over the last two axes, the others broadcast."""
    if a.dim() == 0 or b.dim() == 0:
        raise MXNetError("Multiplication by scalars is not allowed: matmul needs arrays with axes")
    return under(torch.matmul, _common(a, b))


@op("_npi_tensordot", dtype="any")
def tensordot(a, b, *, a_axes_summed: tuple, b_axes_summed: tuple):
    """A product summed over pairs of axes."""
    return under(torch.tensordot, (*_common(a, b), (list(a_axes_summed), list(b_axes_summed))))


@op("_npi_tensordot_int_axes", dtype="any")
def tensordot_int_axes(a, b, *, axes: int):
    """A product summed over a's last and b's first axes."""
    return under(torch.tensordot, (*_common(a, b), axes))


@op("_npi_einsum", dtype="any")
def einsum(*data, num_args: int, subscripts: str = "", optimize: int = 0):
    """A sum of products in Einstein's notation; integers keep their type."""
    if all(d.is_floating_point() for d in data):
        return _summed(subscripts, data)
    data, kind = _same_kind(data)
    return _summed(subscripts, data).to(kind)


def _summed(subscripts: str, data: Any) -> torch.Tensor:
    return under(lambda *factors: torch.einsum(subscripts, *factors), tuple(data))


def _same_kind(data: Any) -> tuple[list[torch.Tensor], torch.dtype]:
    """All in the type that holds all, and that type; torch sums products of integers only as long ones."""
    kind = data[0].dtype
    for other in data[1:]:
        kind = torch.promote_types(kind, other.dtype)
    wide = kind if kind.is_floating_point else torch.int64
    return [d.to(wide) for d in data], kind


@op("_npi_cholesky")
def cholesky(A):
    """The lower triangular root."""
    return factored(_square(A))


@op("_npi_det")
def det(A):
    """Determinants."""
    return determinant(A)


@op("_npi_slogdet", outputs=2)
def slogdet(A):
    """Signs and logarithms of determinants."""
    return log_determinant(A)


@op("_npi_polyval", dtype="any")
def polyval(p, x):
    """The polynomial with the coefficients `p`, highest first, at `x`."""
    p, x = _common(p, x)
    if x.dtype is torch.float16 or not len(p):  # MXNet rounds halves after each step
        result = torch.zeros_like(x)
        for coefficient in p:
            result = (result * x).add_(coefficient)
        return result
    result = x.new_zeros(())
    for coefficient in p:
        result = torch.addcmul(coefficient, result, x)
    return result


@op("_npi_solve", dtype="any")
def solve(A, B):
    """The x of A x = B; in double precision, unless both are in single."""
    if {A.dtype, B.dtype} & {torch.float16, torch.bool}:
        raise MXNetError(f"solve: arrays of {NAME[A.dtype]} and {NAME[B.dtype]} are not supported; use float32")
    if not A.dtype is B.dtype is torch.float32:
        A, B = A.double(), B.double()
    alike = A.dim() == B.dim() and A.shape[:-2] == B.shape[:-2] and A.shape[-1] == B.shape[-2]
    return solved(_square(A), B) if alike else solution(_square(A), B)


@op("_npi_svd", outputs=3)
def svd(A):
    """Singular values and vectors: U, the values, and V transposed, whose rows' greatest elements are positive."""
    left, values, right = torch.linalg.svd(A, full_matrices=False)
    signs = _signs(right)
    return left * signs.mT, values, right * signs


def _signs(rows):
    """One or minus one for each row, by which its greatest element becomes positive: MXNet's choice of vectors."""
    rows = rows.detach()
    greatest = torch.gather(rows, -1, torch.abs(rows).argmax(-1, keepdim=True)) if rows.numel() else rows[..., :1]
    return torch.where(greatest < 0, -1.0, 1.0).to(rows.dtype)


def _real_square(matrices):
    """Square matrices to decompose: integers are computed in double precision."""
    if matrices.dtype is torch.float16:
        raise MXNetError("array type float16 is unsupported in linalg")
    return _square(matrices if matrices.is_floating_point() else matrices.double())


@op("_npi_eigh", outputs=2)
def eigh(A, *, UPLO: str = "L"):
    """Eigenvalues and vectors of symmetric matrices; each vector's greatest element is positive."""
    values, vectors = torch.linalg.eigh(_real_square(A), UPLO)
    return values, vectors * _signs(vectors.mT).mT


@op("_npi_eigvalsh")
def eigvalsh(A, *, UPLO: str = "L"):
    """Eigenvalues of symmetric matrices."""
    return torch.linalg.eigvalsh(_real_square(A), UPLO)


def _complex_eigenvalues():
    return MXNetError("Complex eigvals is unsupported: an eigenvalue of the matrix is not real. NumPy computes them")


def _real(eigenvalues):
    """The eigenvalues as real numbers; complex ones are refused, as in MXNet."""
    if not eigenvalues.is_meta:
        late.require((eigenvalues.imag.abs() <= 1e-15).all(), _complex_eigenvalues)
    return eigenvalues.real.contiguous()


@op("_npi_eig", outputs=2, differentiable=False)
def eig(A):
    """Eigenvalues and eigenvectors of matrices whose eigenvalues are real."""
    values, vectors = torch.linalg.eig(_real_square(A))
    return _real(values), vectors.real.contiguous()


@op("_npi_eigvals", differentiable=False)
def eigvals(A):
    """Eigenvalues of matrices whose eigenvalues are real."""
    return _real(torch.linalg.eigvals(_real_square(A)))


@op("_npi_pinv_scalar_rcond")
def pinv(A, *, rcond: float = 1e-15, hermitian: bool = False):
    """Pseudo-inverses; small singular values count as zero."""
    return under(lambda matrices: torch.linalg.pinv(matrices, rtol=rcond, hermitian=hermitian), (A,))


@op("_npi_pinv")
def pinv_of_each(A, rcond, *, hermitian: bool = False):
    """Pseudo-inverses with a limit for each matrix."""
    return under(lambda matrices: torch.linalg.pinv(matrices, rtol=rcond.detach(), hermitian=hermitian), (A,))


@op("_npi_tensorinv")
def tensorinv(a, *, ind: int = 2):
    """The inverse with respect to tensordot."""
    if a.is_cpu or a.is_meta or not 0 < ind < a.dim():
        return torch.linalg.tensorinv(a, ind)  # which knows what to say of a wrong `ind`
    rows, columns = a.shape[:ind], a.shape[ind:]
    return inverse(a.reshape(math.prod(rows), math.prod(columns))).reshape(*columns, *rows)


@op("_npi_tensorsolve")
def tensorsolve(a, b, *, a_axes: tuple = ()):
    """The x of tensordot(a, x) = b; `a_axes` are those of `a` that x has, at its end unless told."""
    moved = [i % a.dim() for i in a_axes]
    a = a.permute([i for i in range(a.dim()) if i not in moved] + moved)
    wanted = a.shape[-(a.dim() - b.dim()) :]  # NumPy's rule, also where b has as many axes or more
    square = a.reshape(-1, math.prod(wanted))
    return solution(square, b.reshape(-1)).reshape(wanted)


# ---------------------------------------------------------------------- norms
@op("_npi_norm", dtype="any")
def norm(data, *, ord: float = 2.0, axis: tuple | None = None, keepdims: bool = False, flag: int = -1):
    """A norm by MXNet's `flag`: -2 and 1 of elements, -1 of vectors, 0 the greatest or least singular value, 2 nuclear.

    Without `axis` it is over all axes, a matrix norm over the last two.
    """
    data = data if data.is_floating_point() else data.float()
    axes = tuple(range(data.dim())) if axis is None else tuple(real_axis(i, data.dim(), "norm axis") for i in axis)
    if flag in (-2, 1):
        return torch.sqrt(torch.sum(data * data, axes, keepdims)) if axes else torch.sqrt(data * data)
    axes = axes[-2:] if axis is None else axes
    if flag == -1 and len(axes) == 1:
        return _vector_norm(data, ord, axes[0], keepdims)
    if len(axes) != 2 or (flag != 2 and abs(ord) not in (1, 2, math.inf)):
        raise MXNetError(f"Invalid norm order {ord:g} over the axes {axes} of shape {tuple(data.shape)}")
    return torch.linalg.matrix_norm(data, "nuc" if flag == 2 else ord, axes, keepdims)


def _vector_norm(data, order: float, axis: int, keepdims: bool):
    """Elements that are zero count in no power of their sizes; the number of the others is a norm without slope."""
    if order == 0:
        return torch.sum((data != 0).to(data.dtype) + 0 * data, axis, keepdims)
    if order == 2:
        return torch.sqrt(torch.sum(data * data, axis, keepdims))
    powers = torch.where(data != 0, torch.abs(data) ** order, 0)
    return torch.sum(powers, axis, keepdims) ** (1 / order)
