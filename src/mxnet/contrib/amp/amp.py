"""Mixed precision for training (`init`, `init_trainer`, `scale_loss`) and for networks that are there (`convert_*`)."""

import contextlib
import logging

from ... import optimizer as opt
from ..._core.dtypes import dtype_name
from ...base import MXNetError, c_array_buf, c_str_array, check_call  # noqa: F401 - MXNet shows them here
from ...context import gpu
from ...gluon import HybridBlock, SymbolBlock, Trainer
from ...module import BucketingModule
from ...ndarray import NDArray
from ...symbol import Symbol
from . import lists
from ._graph import Converter, Rules
from ._patch import patch
from .loss_scaler import LossScaler

__all__ = [
    "init", "init_trainer", "scale_loss", "unscale", "convert_model", "convert_hybrid_block", "list_lp16_ops",
    "list_fp32_ops", "list_lp16_fp32_ops", "list_conditional_fp32_ops", "list_widest_type_cast",
    "list_loss_output_functions", "list_lp16_use_fp32_params", "convert_symbol",
]  # fmt: skip


class _State:
    """Mixed precision as it is switched on, for the whole process."""

    replaced = None
    scaler = None
    scaler_taken = False


def _module(target_dtype):
    name = dtype_name(target_dtype)
    if name not in ("float16", "bfloat16"):
        raise AssertionError(f"not supported target_dtype for amp: {target_dtype}; it is float16 or bfloat16")
    return (lists.symbol_fp16, "FP16") if name == "float16" else (lists.symbol_bf16, "BF16")


def _listed(target_dtype, name):
    return getattr(_module(target_dtype)[0], name)


def list_lp16_ops(target_dtype):
    """Operators that run in the low precision."""
    module, short = _module(target_dtype)
    return getattr(module, f"{short}_FUNCS")


def list_fp32_ops(target_dtype):
    """Operators that run in single precision."""
    return _listed(target_dtype, "FP32_FUNCS")


def list_lp16_fp32_ops(target_dtype):
    """Operators that run in either precision."""
    module, short = _module(target_dtype)
    return getattr(module, f"{short}_FP32_FUNCS")


def list_conditional_fp32_ops(target_dtype):
    """(operator, attribute, values) that run in single precision for these values."""
    return [
        (name, attribute, list(values)) for name, attribute, values in _listed(target_dtype, "CONDITIONAL_FP32_FUNCS")
    ]


def list_widest_type_cast(target_dtype):
    """Operators that run in the widest precision of their inputs."""
    return _listed(target_dtype, "WIDEST_TYPE_CASTS")


def list_loss_output_functions(target_dtype):
    """Operators that are losses themselves."""
    return _listed(target_dtype, "LOSS_OUTPUT_FUNCTIONS")


def list_lp16_use_fp32_params(target_dtype):
    """Low-precision operators with parameters of single precision; None if there are none."""
    module, short = _module(target_dtype)
    return getattr(module, f"{short}_USE_FP32_PARAMS", None)


def _rules(target_dtype, low, high, conditional, excluded=()):
    default = (list_lp16_ops, list_fp32_ops, list_conditional_fp32_ops)
    chosen = [
        f(target_dtype) if given is None else given for f, given in zip(default, (low, high, conditional), strict=True)
    ]
    return Rules(dtype_name(target_dtype), *chosen, list_widest_type_cast(target_dtype), excluded)


# training


def init(target_dtype="float16", target_precision_ops=None, conditional_fp32_ops=None, fp32_ops=None):
    """Switch mixed precision on for the process, before networks are made; a second call does nothing."""
    if _State.replaced is None:
        assert dtype_name(target_dtype) in ("float16", "bfloat16"), (
            "AMP currently supports only float16 or bfloat16 as a target_dtype"
        )
        logging.info("Using AMP")
        _State.replaced = patch(_rules(target_dtype, target_precision_ops, fp32_ops, conditional_fp32_ops))
        _State.scaler, _State.scaler_taken = LossScaler(), False


def _switch_off():
    """Put the functions back, for tests: MXNet has no way out of mixed precision."""
    for module, attribute, function in _State.replaced or ():
        setattr(module, attribute, function)
    _State.replaced = _State.scaler = None


def init_trainer(optimizer_or_trainer):
    """Let a Trainer scale losses dynamically."""
    assert _State.replaced is not None, "AMP not initialized, did you forget to call amp.init()?"
    _check_trainer(optimizer_or_trainer)
    scaler = LossScaler() if _State.scaler_taken else _State.scaler
    _State.scaler_taken = True
    optimizer_or_trainer._amp_loss_scaler = scaler
    optimizer_or_trainer._amp_original_scale = optimizer_or_trainer._scale


def _check_trainer(trainer):
    if isinstance(trainer, opt.Optimizer):
        raise TypeError("AMP is currently only compatible with Gluon Trainer")
    if not isinstance(trainer, Trainer):
        raise TypeError(f"optimizer_or_trainer should be a Gluon Trainer or an optimizer, instead is {type(trainer)}")


@contextlib.contextmanager
def scale_loss(loss, optimizer_or_trainer):
    """Yields the loss, or list of losses, times the scale that the trainer's next step takes out again."""
    scaler = getattr(optimizer_or_trainer, "_amp_loss_scaler", None)
    assert scaler is not None, "Loss scaler is not initialized, did you forget to call amp.init_trainer()?"
    optimizer_or_trainer._scale = optimizer_or_trainer._amp_original_scale / scaler.loss_scale
    yield [each * scaler.loss_scale for each in loss] if isinstance(loss, (list, tuple)) else loss * scaler.loss_scale


def unscale(optimizer_or_trainer):
    """Take the scale out of the gradients now, for clipping them before the step."""
    _check_trainer(optimizer_or_trainer)
    for parameter in optimizer_or_trainer._params:
        for gradient in parameter._grad or ():
            gradient[:] = gradient * optimizer_or_trainer._scale
    optimizer_or_trainer._scale = 1.0


# conversion


def convert_symbol(
    sym,
    target_dtype="float16",
    target_dtype_ops=None,
    fp32_ops=None,
    conditional_fp32_ops=None,
    excluded_sym_names=None,
    data_names=None,
    cast_optional_params=False,
):
    """The symbol with casts where operators want another precision; what comes out stays float32."""
    assert isinstance(sym, Symbol), "First argument to convert_symbol should be Symbol"
    _module(target_dtype)
    rules = _rules(target_dtype, target_dtype_ops, fp32_ops, conditional_fp32_ops, excluded_sym_names or ())
    _check_lists(rules)
    _check_known(rules)
    _check_names(sym, rules.excluded)
    names = sym.list_inputs()
    attributes = sym.attr_dict()
    if data_names is None:
        data_names = [n for n in names if "__dtype__" not in attributes.get(n, {})]
    parameters = [n for n in names if n not in data_names]
    return Symbol(Converter(sym._entries, rules, parameters, cast_optional_params).heads)


def _check_lists(rules):
    conditional = {name for name, _, _ in rules.conditional}
    for first, second in ((rules.low, rules.high), (rules.low, conditional), (rules.high, conditional)):
        assert not first & second, f"Ops cannot be in two or more lists. Common ops: {first & second}"


def _check_known(rules):
    """Operators that no list has cannot be given a precision."""
    lists = (list_lp16_ops, list_fp32_ops, list_lp16_fp32_ops)
    known = {name for listed in lists for name in listed(rules.dtype)}
    known |= {name for name, _, _ in list_conditional_fp32_ops(rules.dtype)}
    strange = (rules.low | rules.high | {name for name, _, _ in rules.conditional}) - known
    assert not strange, (
        f"Op {sorted(strange)} not in any of amp.list_lp16_ops, amp.list_fp32_ops, amp.list_lp16_fp32_ops, "
        "amp.list_conditional_fp32_ops: choose ops from those"
    )


def _check_names(sym, excluded):
    known = {name.removesuffix("_output") for name in sym.get_internals().list_outputs()}
    strange = excluded - known
    if strange:
        raise MXNetError(f"excluded_sym_names has names that the symbol does not have: {', '.join(sorted(strange))}")


def convert_model(
    sym,
    arg_params,
    aux_params,
    target_dtype="float16",
    target_dtype_ops=None,
    fp32_ops=None,
    conditional_fp32_ops=None,
    excluded_sym_names=None,
    cast_optional_params=False,
):
    """(symbol, arg_params, aux_params) in mixed precision, for inference."""
    assert isinstance(arg_params, dict), "Second argument to convert_model should be a dict of name to ndarray"
    assert isinstance(aux_params, dict), "Third argument to convert_model should be a dict of name to ndarray"
    assert isinstance(sym, Symbol), "First argument to convert_model should be Symbol"
    data = [n for n in sym.list_inputs() if n not in arg_params and n not in aux_params]
    sym = convert_symbol(
        sym, target_dtype, target_dtype_ops, fp32_ops, conditional_fp32_ops, excluded_sym_names, data,
        cast_optional_params,
    )  # fmt: skip
    return sym, _stored(sym, arg_params, target_dtype), _stored(sym, aux_params, target_dtype)


def _stored(sym, params, dtype):
    """The parameters in the precision that the symbol says."""
    attributes, low = sym.attr_dict(), {"float16": "2", "bfloat16": "12"}[dtype_name(dtype)]
    return {n: p.astype(dtype) if attributes.get(n, {}).get("__dtype__") == low else p for n, p in params.items()}


def convert_hybrid_block(
    block,
    target_dtype="float16",
    target_dtype_ops=None,
    fp32_ops=None,
    conditional_fp32_ops=None,
    excluded_sym_names=None,
    ctx=gpu(0),
    cast_optional_params=False,
):
    """A SymbolBlock that computes as the block does, in mixed precision, with copies of its parameters on `ctx`."""
    assert isinstance(block, HybridBlock), "block input should be a HybridBlock"
    if not block._cached_graph:
        raise RuntimeError(
            "Please first call block.hybridize() and then run forward with this block at least once before calling "
            "export."
        )
    inputs, sym = block._cached_graph
    params: dict[str, NDArray] = {name: p._reduce() for name, p in block.collect_params().items()}
    sym, params, _ = convert_model(
        sym, params, {}, target_dtype, target_dtype_ops, fp32_ops, conditional_fp32_ops, excluded_sym_names,
        cast_optional_params,
    )  # fmt: skip
    converted = SymbolBlock(sym, inputs)
    for name, parameter in converted.collect_params().items():
        parameter._load_init(params[name], ctx, cast_dtype=True, dtype_source="saved")
    return converted


def convert_bucketing_module(
    bucketing_mod,
    target_dtype="float16",
    target_dtype_ops=None,
    fp32_ops=None,
    conditional_fp32_ops=None,
    excluded_sym_names=None,
    cast_optional_params=False,
):
    """A BucketingModule in mixed precision, with the other's parameters."""
    assert isinstance(bucketing_mod, BucketingModule), "module should be instance of bucketing module"
    assert len(bucketing_mod._buckets) > 0, "Bucketing Module should not be empty"
    lists_given = (target_dtype, target_dtype_ops, fp32_ops, conditional_fp32_ops, excluded_sym_names)
    args, auxs = bucketing_mod.get_params()
    symbols = {
        key: convert_model(module.symbol, args, auxs, *lists_given, cast_optional_params)[0]
        for key, module in bucketing_mod._buckets.items()
    }
    sym, args, auxs = convert_model(bucketing_mod.symbol, args, auxs, *lists_given, cast_optional_params)
    made = BucketingModule.load_dict(
        sym_dict=symbols,
        sym_gen=bucketing_mod._sym_gen,
        default_bucket_key=bucketing_mod._default_bucket_key,
        arg_params=args,
        aux_params=auxs,
    )
    return made
