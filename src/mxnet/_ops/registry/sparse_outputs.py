"""Storage types: which operators give sparse results from sparse inputs; all others give dense ones."""

from collections.abc import Callable, Sequence
from typing import Any

from ..._core.errors import MXNetError
from .registry import Op

DENSE, ROWS, CSR = "default", "row_sparse", "csr"
KINDS = (DENSE, ROWS, CSR)
INCONSISTENT = "Storage type inconsistent, Provided = {}, inferred storage type = {}"

# operators whose result on dense inputs is sparse if this attribute says so
STYPE_ATTRIBUTE = {"cast_storage": "stype", "dot": "forward_stype", "batch_dot": "forward_stype"}
# f(0) = 0: the result has the sparsity pattern of the input
ZERO_PRESERVING = frozenset(
    "abs sign rint round ceil floor trunc fix square sqrt cbrt log1p expm1 sin tan arcsin arctan degrees radians sinh "
    "tanh arcsinh arctanh relu _copy negative BlockGrad make_loss zeros_like clip _contrib_gradientmultiplier "
    "_mul_scalar _div_scalar _scatter_plus_scalar _scatter_minus_scalar".split()
)
# comparisons of 0 with the scalar: sparse where the answer is "no"
_COMPARISONS: dict[str, Callable[[float], bool]] = {
    "_equal_scalar": lambda s: s == 0,
    "_not_equal_scalar": lambda s: s != 0,
    "_greater_scalar": lambda s: s < 0,
    "_greater_equal_scalar": lambda s: s <= 0,
    "_lesser_scalar": lambda s: s > 0,
    "_lesser_equal_scalar": lambda s: s >= 0,
}
_SHIFTS = frozenset(("_plus_scalar", "_minus_scalar"))
# operators on two inputs whose result is sparse if both inputs have the same storage
SAME_STORAGE = frozenset(("elemwise_add", "elemwise_sub", "_maximum", "_minimum", "_hypot", "_grad_add"))


def result_stypes(op: Op, attrs: dict[str, Any], stypes: Sequence[str]) -> str | list[str]:
    """The storage type of all results, or a list of those of each if the operator has a `storage` rule."""
    return result_stype(op, attrs, stypes) if op.storage is None else op.storage(attrs, stypes)


def result_stype(op: Op, attrs: dict[str, Any], stypes: Sequence[str]) -> str:
    """The storage type, common to all results, of `op` with these parsed attributes on inputs of these types."""
    name = op.name
    if name == "cast_storage":
        return _cast(attrs["stype"], *stypes)
    if name == "dot":
        return _dot(attrs, *stypes)
    if all(kind == DENSE for kind in stypes):
        return DENSE
    first = stypes[0]
    if preserves_zeros(op, attrs):
        return first
    if name in SAME_STORAGE:
        return first if stypes[1] == first else DENSE
    rule = _RULES.get(name)
    return rule(attrs, *stypes) if rule is not None else DENSE


def preserves_zeros(op: Op, attrs: dict[str, Any]) -> bool:
    """Does the operator, which has one input, map zeros to zeros?"""
    name = op.name
    if name in ZERO_PRESERVING:
        return True
    if name in _COMPARISONS:
        return not _COMPARISONS[name](float(attrs["scalar"]))
    return name in _SHIFTS and float(attrs["scalar"]) == 0


def _cast(wanted: str, given: str) -> str:
    if {wanted, given} == {ROWS, CSR}:
        raise MXNetError(
            "Check failed: infer_stype_success: Operator not implemented: operator = cast_storage\n"
            f"input storage types = [{given}, ]\noutput storage types = [{wanted}, ]"
        )
    return wanted


def _dot(attrs: dict[str, Any], lhs: str, rhs: str) -> str:
    forward_stype = attrs.get("forward_stype")
    if forward_stype is not None:
        return forward_stype
    transpose_a, transpose_b = attrs.get("transpose_a", False), attrs.get("transpose_b", False)
    if lhs == CSR and rhs in (DENSE, ROWS) and transpose_a and not transpose_b:
        return ROWS
    return CSR if lhs == DENSE and rhs == CSR and not transpose_a else DENSE


def _product(attrs: dict[str, Any], lhs: str, rhs: str) -> str:
    if lhs == rhs or rhs == DENSE:
        return lhs
    return rhs if lhs == DENSE else DENSE


def _all_rows(attrs: dict[str, Any], *stypes: str) -> str:
    return ROWS if all(kind == ROWS for kind in stypes) else DENSE


def _scaled_rows(attrs: dict[str, Any], lhs: str, rhs: str) -> str:
    return CSR if (lhs, rhs) == (CSR, DENSE) else DENSE


def _stacked(attrs: dict[str, Any], *stypes: str) -> str:
    return CSR if attrs.get("dim", 1) == 0 and all(kind == CSR for kind in stypes) else DENSE


def _square_sum(attrs: dict[str, Any], data: str) -> str:
    axis = attrs.get("axis")
    keeps_rows = attrs.get("keepdims", False) and axis is not None and tuple(_as_tuple(axis)) in ((1,), (-1,))
    return ROWS if data == ROWS and keeps_rows else DENSE


def _as_tuple(axis: Any) -> tuple[int, ...]:
    return axis if isinstance(axis, (tuple, list)) else (axis,)  # pyright: ignore[reportReturnType]


def _batch_norm(attrs: dict[str, Any], *stypes: str) -> str:
    if attrs.get("fix_gamma", True):
        raise MXNetError("fix_gamma=True is not supported for sparse ndarrays; use fix_gamma=False")
    return DENSE


_RULES: dict[str, Callable[..., str]] = {
    "BatchNorm": _batch_norm,
    "elemwise_mul": _product,
    "add_n": _all_rows,
    "broadcast_mul": _scaled_rows,
    "broadcast_div": _scaled_rows,
    "Concat": _stacked,
    "_square_sum": _square_sum,
    "_scatter_elemwise_div": lambda attrs, lhs, rhs: ROWS if lhs == ROWS else DENSE,
    "_identity_with_attr_like_rhs": lambda attrs, lhs, rhs: rhs,
    "_sparse_retain": lambda attrs, data, rows: ROWS,
    "_contrib_quadratic": lambda attrs, data: CSR if data == CSR and attrs.get("c", 0.0) == 0 else DENSE,
    "slice": lambda attrs, data: CSR if data == CSR else DENSE,
    "take": lambda attrs, data, rows: CSR if data == CSR and attrs.get("axis", 0) == 0 else DENSE,
}
