"""Dtypes of one operator's outputs from those of its inputs, by rule, without running it."""

from collections.abc import Callable

from ..._ops.elementwise.amp_cast import MIXED, widest
from ..._ops.registry.registry import Attrs

Types = list[str | None]
Rule = Callable[[Attrs, Types, int], Types]


def _fixed(*dtypes: str) -> Rule:
    return lambda attrs, ins, count: list(dtypes)[:count]


def _like(position: int) -> Rule:
    return lambda attrs, ins, count: [ins[position]] * count


def _topk(attrs: Attrs, ins: Types, count: int) -> Types:
    """Values have the data's dtype, indices the requested one."""
    indices = attrs["dtype"]
    kinds = {"value": [ins[0]], "mask": [ins[0]], "indices": [indices], "both": [ins[0], indices]}
    return kinds[attrs["ret_typ"]]


def _custom(attrs: Attrs, ins: Types, count: int) -> Types:
    from ..._ops.custom import types

    return list(types(attrs, ins)[1])


def _widest(attrs: Attrs, ins: Types, count: int) -> Types:
    return widest(ins, attrs["cast_narrow"])


def _amp_cast(attrs: Attrs, ins: Types, count: int) -> Types:
    """The requested type if the data has a type that mixed precision casts, else the data's type."""
    return [attrs["dtype"] if ins[0] in MIXED else ins[0]]


def _normalized(attrs: Attrs, ins: Types, count: int) -> Types:
    """The data's dtype for the data, the parameters' for mean and variance."""
    return [ins[0], *[ins[1]] * (count - 1)]


def _calibrated(attrs: Attrs) -> bool:
    return attrs["min_calib_range"] is not None and attrs["max_calib_range"] is not None


def _quantized(attrs: Attrs, ins: Types, count: int) -> Types:
    """The requested type; `auto` is unsigned if the calibrated range is nonnegative."""
    kind = attrs.get("out_type", "uint8")
    if kind == "auto":
        kind = "uint8" if _calibrated(attrs) and attrs["min_calib_range"] >= 0 else "int8"
    return [kind, "float32", "float32"]


def _quantized_like(attrs: Attrs, ins: Types, count: int) -> Types:
    return [ins[0], "float32", "float32"]


def _quantized_sum(attrs: Attrs, ins: Types, count: int) -> Types:
    return [_signed(ins[:2]) if _calibrated(attrs) else "int32", "float32", "float32"]


def _quantized_product(attrs: Attrs, ins: Types, count: int) -> Types:
    if attrs["enable_float_output"]:
        return ["float32"]
    return ["int8" if _calibrated(attrs) else "int32", "float32", "float32"]


def _signed(kinds: Types) -> str | None:
    """Unsigned if all of them are."""
    return None if None in kinds else "int8" if "int8" in kinds else "uint8"


def _quantized_join(attrs: Attrs, ins: Types, count: int) -> Types:
    return [_signed(ins[: attrs["num_args"]]), "float32", "float32"]


def _scalar_operand(attrs: Attrs, ins: Types) -> Types:
    """The array's dtype; integers with a float scalar become float64, booleans with an integer scalar int64."""
    kind = ins[0]
    if kind is None or "float" in kind:
        return [kind]
    return ["float64" if not attrs["is_int"] else "int64" if kind == "bool" else kind]


RULES: dict[str, Rule] = {
    "BatchNorm": _normalized,
    "BatchNorm_v1": _normalized,
    "Custom": _custom,
    "Embedding": lambda attrs, ins, count: [ins[1] or attrs["dtype"]],
    "_contrib_BatchNormWithReLU": _normalized,
    "_contrib_SyncBatchNorm": _normalized,
    "_contrib_allclose": _fixed("uint8"),
    "_contrib_getnnz": _fixed("int64"),
    "_contrib_index_array": _fixed("int64"),
    "_contrib_dequantize": _fixed("float32"),
    "_contrib_quantize": _quantized,
    "_contrib_quantize_asym": _quantized,
    "_contrib_quantize_v2": _quantized,
    "_contrib_quantized_act": _quantized_like,
    "_contrib_quantized_batch_norm": _fixed("int8", "float32", "float32"),
    "_contrib_quantized_concat": _quantized_join,
    "_contrib_quantized_conv": _fixed("int32", "float32", "float32"),
    "_contrib_quantized_elemwise_add": _quantized_sum,
    "_contrib_quantized_elemwise_mul": _quantized_product,
    "_contrib_quantized_embedding": _fixed("int8", "float32", "float32"),
    "_contrib_quantized_flatten": _quantized_like,
    "_contrib_quantized_fully_connected": _fixed("int32", "float32", "float32"),
    "_contrib_quantized_pooling": _quantized_like,
    "_contrib_quantized_rnn": _fixed("float32", "float32", "float32"),
    "_contrib_requantize": _quantized,
    "_histogram": lambda attrs, ins, count: ["int64", ins[0]],
    "_image_to_tensor": _fixed("float32"),
    "_random_randint": lambda attrs, ins, count: [attrs["dtype"] or "int32"],
    "_sample_multinomial": lambda attrs, ins, count: [attrs["dtype"], ins[0]][:count],
    "_sample_unique_zipfian": lambda attrs, ins, count: ["int64"] * count,
    "all_finite": _fixed("float32"),
    "amp_cast": _amp_cast,
    "amp_multicast": _widest,
    "multi_sum_sq": _fixed("float32"),
    "norm": lambda attrs, ins, count: [attrs["out_dtype"] or ins[0]],
    "shape_array": _fixed("int64"),
    "size_array": _fixed("int64"),
    "topk": _topk,
    "where": _like(1),
}


for _name in [
    "uniform",
    "normal",
    "gamma",
    "exponential",
    "poisson",
    "negative_binomial",
    "generalized_negative_binomial",
]:
    RULES[f"_sample_{_name}"] = lambda attrs, ins, count: [attrs["dtype"] or "float32"]


def output_types(name: str, attrs: Attrs, ins: Types, count: int) -> Types:
    """The outputs' dtypes: by the operator's rule, else as its `dtype` attribute asks, else that of its first input."""
    rule = RULES.get(name)
    if rule is not None:
        return rule(attrs, ins, count)
    if name.endswith("_scalar") and "is_int" in attrs:
        return _scalar_operand(attrs, ins)
    requested = attrs.get("dtype")
    if isinstance(requested, str) and requested != "None":
        return [requested] * count
    return [ins[0] if ins else "float32"] * count
