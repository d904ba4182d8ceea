"""Mixed precision for training (`init`, `init_trainer`, `scale_loss`) and for networks that are there (`convert_*`)."""

import contextlib
import itertools
import logging

from ... import optimizer as opt
from ..._core.dtypes import NAMES, dtype_name
from ...base import MXNetError, c_array_buf, c_str_array, check_call  # noqa: F401 - MXNet shows them here
from ...context import gpu
from ...gluon import HybridBlock, SymbolBlock, Trainer
from ...module import BucketingModule
from ...ndarray import NDArray
from ...symbol import Symbol
from . import lists
from ._graph import Converter, Rules, store
from ._patch import patch, restore
from .loss_scaler import LossScaler

__all__ = [
    "init", "init_trainer", "scale_loss", "unscale", "convert_model", "convert_hybrid_block", "list_lp16_ops",
    "list_fp32_ops", "list_lp16_fp32_ops", "list_conditional_fp32_ops", "list_widest_type_cast",
    "list_loss_output_functions", "list_lp16_use_fp32_params", "convert_symbol",
]  # fmt: skip


# Mixed precision as it is switched on for the process, under MXNet's names: GluonNLP's attention asks for the first.
_amp_initialized = False
_amp_loss_scale_initialized = False
_loss_scaler = None
_replaced = ()


def _module(target_dtype):
    name = dtype_name(target_dtype)
    if name not in ("float16", "bfloat16"):
        raise AssertionError(f"not supported target_dtype for amp: {target_dtype}; it is float16 or bfloat16")
    return (lists.symbol_fp16, "FP16") if name == "float16" else (lists.symbol_bf16, "BF16")


def _listed(target_dtype, name):
    return getattr(_module(target_dtype)[0], name)


def list_lp16_ops(target_dtype):
    """The operators that run in the low precision.

    Parameters
    ----------
    target_dtype : str
        The low precision: float16 or bfloat16.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from mxnet.contrib import amp
    >>> "Convolution" in amp.list_lp16_ops("float16")
    True
    """
    module, short = _module(target_dtype)
    return getattr(module, f"{short}_FUNCS")


def list_fp32_ops(target_dtype):
    """The operators that run in single precision.

    Parameters
    ----------
    target_dtype : str
        The low precision: float16 or bfloat16.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from mxnet.contrib import amp
    >>> "exp" in amp.list_fp32_ops("float16")
    True
    """
    return _listed(target_dtype, "FP32_FUNCS")


def list_lp16_fp32_ops(target_dtype):
    """The operators that run in either precision.

    Parameters
    ----------
    target_dtype : str
        The low precision: float16 or bfloat16.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from mxnet.contrib import amp
    >>> "relu" in amp.list_lp16_fp32_ops("float16")
    True
    """
    module, short = _module(target_dtype)
    return getattr(module, f"{short}_FP32_FUNCS")


def list_conditional_fp32_ops(target_dtype):
    """The operators that run in single precision for some values of an attribute.

    Parameters
    ----------
    target_dtype : str
        The low precision: float16 or bfloat16.

    Returns
    -------
    list of (str, str, list of str)

    Examples
    --------
    >>> from mxnet.contrib import amp
    >>> [name for name, *_ in amp.list_conditional_fp32_ops("float16")]
    ['Activation', 'LeakyReLU']
    """
    return [
        (name, attribute, list(values)) for name, attribute, values in _listed(target_dtype, "CONDITIONAL_FP32_FUNCS")
    ]


def list_widest_type_cast(target_dtype):
    """The operators that run in the widest precision of their inputs.

    Parameters
    ----------
    target_dtype : str
        The low precision: float16 or bfloat16.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from mxnet.contrib import amp
    >>> "elemwise_add" in amp.list_widest_type_cast("float16")
    True
    """
    return _listed(target_dtype, "WIDEST_TYPE_CASTS")


def list_loss_output_functions(target_dtype):
    """The operators that are losses.

    Parameters
    ----------
    target_dtype : str
        The low precision: float16 or bfloat16.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from mxnet.contrib import amp
    >>> "SoftmaxOutput" in amp.list_loss_output_functions("float16")
    True
    """
    return _listed(target_dtype, "LOSS_OUTPUT_FUNCTIONS")


def list_lp16_use_fp32_params(target_dtype):
    """The low-precision operators with parameters in single precision; None if there are none.

    Parameters
    ----------
    target_dtype : str
        The low precision: float16 or bfloat16.

    Returns
    -------
    dict of str to list of str, or None

    Examples
    --------
    >>> from mxnet.contrib import amp
    >>> amp.list_lp16_use_fp32_params("float16") is None
    True
    """
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
    """Switch automatic mixed precision on for the process, before networks are made; a second call does nothing.

    Parameters
    ----------
    target_dtype : str, default 'float16'
        The low precision: float16 or bfloat16.
    target_precision_ops : list of str, optional
        Operators that run in the low precision, beside MXNet's list.
    conditional_fp32_ops : list of (str, str, list of str), optional
        Operators that run in single precision for some values of an attribute.
    fp32_ops : list of str, optional
        Operators that run in single precision.

    Examples
    --------
    >>> from mxnet.contrib import amp  # doctest: +SKIP
    >>> amp.init("float16")  # doctest: +SKIP
    """
    global _amp_initialized, _amp_loss_scale_initialized, _loss_scaler, _replaced
    if not _amp_initialized:
        assert dtype_name(target_dtype) in ("float16", "bfloat16"), (
            "AMP currently supports only float16 or bfloat16 as a target_dtype"
        )
        logging.info("Using AMP")
        _loss_scaler, _amp_loss_scale_initialized = LossScaler(), False
        rules = _rules(target_dtype, target_precision_ops, fp32_ops, conditional_fp32_ops)
        _replaced = patch(rules, list_loss_output_functions(target_dtype), _loss_scaler)
        _amp_initialized = True


def _switch_off():
    """Put the functions back, for tests: MXNet has no way out of mixed precision."""
    global _amp_initialized, _loss_scaler, _replaced
    restore(_replaced)
    _amp_initialized, _loss_scaler, _replaced = False, None, ()


def init_trainer(optimizer_or_trainer):
    """Let a Trainer scale losses dynamically.

    Parameters
    ----------
    optimizer_or_trainer : Trainer
        The trainer.

    Examples
    --------
    >>> from mxnet.contrib import amp  # doctest: +SKIP
    >>> amp.init()  # doctest: +SKIP
    >>> net = mx.gluon.nn.Dense(2)  # doctest: +SKIP
    >>> trainer = mx.gluon.Trainer(net.collect_params(), "sgd")  # doctest: +SKIP
    >>> amp.init_trainer(trainer)  # doctest: +SKIP
    """
    global _amp_loss_scale_initialized
    assert _amp_initialized, "AMP not initialized, did you forget to call amp.init()?"
    _check_trainer(optimizer_or_trainer)
    scaler = LossScaler() if _amp_loss_scale_initialized else _loss_scaler
    _amp_loss_scale_initialized = True
    optimizer_or_trainer._amp_loss_scaler = scaler
    optimizer_or_trainer._amp_original_scale = optimizer_or_trainer._scale


def _check_trainer(trainer):
    if isinstance(trainer, opt.Optimizer):
        raise TypeError("AMP is currently only compatible with Gluon Trainer")
    if not isinstance(trainer, Trainer):
        raise TypeError(f"optimizer_or_trainer should be a Gluon Trainer or an optimizer, instead is {type(trainer)}")


@contextlib.contextmanager
def scale_loss(loss, optimizer_or_trainer):
    """A scope that gives the loss, or the list of losses, times the scale that the trainer's next step takes out again.

    Parameters
    ----------
    loss : NDArray or list of NDArrays
        The loss.
    optimizer_or_trainer : Trainer
        The trainer.

    Returns
    -------
    context manager

    Examples
    --------
    >>> from mxnet.contrib import amp  # doctest: +SKIP
    >>> with amp.scale_loss(loss, trainer) as scaled:  # doctest: +SKIP
    ...     mx.autograd.backward(scaled)
    """
    scaler = getattr(optimizer_or_trainer, "_amp_loss_scaler", None)
    assert scaler is not None, "Loss scaler is not initialized, did you forget to call amp.init_trainer()?"
    optimizer_or_trainer._scale = optimizer_or_trainer._amp_original_scale / scaler.loss_scale
    yield [each * scaler.loss_scale for each in loss] if isinstance(loss, (list, tuple)) else loss * scaler.loss_scale


def unscale(optimizer_or_trainer):
    """Take the scale out of the gradients now, to clip them before the step.

    Parameters
    ----------
    optimizer_or_trainer : Trainer
        The trainer.

    Examples
    --------
    >>> from mxnet.contrib import amp  # doctest: +SKIP
    >>> amp.unscale(trainer)  # doctest: +SKIP
    """
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
    """The symbol with casts where operators want another precision; its outputs stay float32.

    Parameters
    ----------
    sym : Symbol
        The network.
    target_dtype : str, default 'float16'
        The low precision: float16 or bfloat16.
    target_dtype_ops : list of str, optional
        Operators that run in the low precision, instead of MXNet's list.
    fp32_ops : list of str, optional
        Operators that run in single precision.
    conditional_fp32_ops : list of (str, str, list of str), optional
        Operators that run in single precision for some values of an attribute.
    excluded_sym_names : list of str, optional
        Nodes that stay as they are.
    data_names : list of str, optional
        The names of the inputs; without it, those that look like inputs.
    cast_optional_params : bool, default False
        Whether parameters are stored in the low precision where that is possible.

    Returns
    -------
    Symbol

    Examples
    --------
    >>> from mxnet.contrib import amp
    >>> net = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc")
    >>> amp.convert_symbol(net).get_internals().list_outputs()[-4:]
    ['fc_bias', 'fc_bias_amp_cast_float16_output', 'fc_output', 'fc_output_amp_cast_float32_output']
    """
    assert isinstance(sym, Symbol), "First argument to convert_symbol should be Symbol"
    _check_target(target_dtype)
    _check_given(target_dtype_ops, fp32_ops, conditional_fp32_ops, excluded_sym_names)
    rules = _rules(target_dtype, target_dtype_ops, fp32_ops, conditional_fp32_ops, excluded_sym_names or ())
    _check_lists(rules)
    _check_known(rules)
    names = sym.list_inputs()
    attributes = sym.attr_dict()
    if data_names is None:
        data_names = [n for n in names if "__dtype__" not in attributes.get(n, {})]
    parameters = set(names) - set(data_names)
    heads = Converter(sym._entries, rules, parameters, cast_optional_params).heads
    store(heads, data_names, parameters, rules, cast_optional_params)
    return Symbol(heads)


def _check_target(target_dtype):
    assert target_dtype in ("float16", "bfloat16"), (
        f"Only target_dtype float16 and bfloat16 are supported currently, not {target_dtype!r}"
    )


def _check_given(target_dtype_ops, fp32_ops, conditional_fp32_ops, excluded_sym_names):
    texts = {"target_dtype_ops": target_dtype_ops, "fp32_ops": fp32_ops, "excluded_sym_names": excluded_sym_names}
    for name, given in texts.items():
        assert given is None or isinstance(given, list), f"{name} should be a list of strs, not {given!r}"
    assert conditional_fp32_ops is None or isinstance(conditional_fp32_ops, list), (
        f"conditional_fp32_ops should be a list, not {conditional_fp32_ops!r}"
    )
    for one in conditional_fp32_ops or ():
        right = len(one) == 3 and isinstance(one[0], str) and isinstance(one[1], str) and isinstance(one[2], list)
        assert right, f"conditional_fp32_ops should be a list of (str, str, list of str); {one!r} is in it"


def _check_lists(rules):
    listed = {
        "target_dtype_ops": rules.low,
        "fp32_ops": rules.high,
        "conditional_fp32_ops": {name for name, _, _ in rules.conditional},
    }
    for first, second in itertools.combinations(listed, 2):
        common = listed[first] & listed[second]
        assert not common, f"Ops cannot be in two or more lists. Common ops in {first} and {second} {common}"


def _check_known(rules):
    """Operators that no list has cannot be given a precision."""
    lists = (list_lp16_ops, list_fp32_ops, list_lp16_fp32_ops)
    known = {name for listed in lists for name in listed(rules.dtype)}
    known |= {name for name, _, _ in list_conditional_fp32_ops(rules.dtype)}
    strange = (rules.low | rules.high | {name for name, _, _ in rules.conditional}) - known
    assert not strange, (
        "Can only choose ops from amp.list_lp16_ops(target_dtype), amp.list_fp32_ops(target_dtype), "
        "amp.list_lp16_fp32_ops(target_dtype) and amp.list_conditional_fp32_ops(target_dtype). "
        f"Op {strange} not in any of them"
    )


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
    """A network and its parameters in mixed precision, for inference.

    Parameters
    ----------
    sym : Symbol
        The network.
    arg_params : dict of str to NDArray
        The parameters.
    aux_params : dict of str to NDArray
        The auxiliary states.
    target_dtype : str, default 'float16'
        The low precision: float16 or bfloat16.
    target_dtype_ops : list of str, optional
        Operators that run in the low precision, instead of MXNet's list.
    fp32_ops : list of str, optional
        Operators that run in single precision.
    conditional_fp32_ops : list of (str, str, list of str), optional
        Operators that run in single precision for some values of an attribute.
    excluded_sym_names : list of str, optional
        Nodes that stay as they are.
    cast_optional_params : bool, default False
        Whether parameters are stored in the low precision where that is possible.

    Returns
    -------
    (Symbol, dict, dict)

    Examples
    --------
    >>> from mxnet.contrib import amp
    >>> net = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc")
    >>> parameters = {"fc_weight": mx.nd.ones((2, 3)), "fc_bias": mx.nd.zeros((2,))}
    >>> symbol, arg_params, aux_params = amp.convert_model(net, parameters, {})
    >>> sorted(arg_params)
    ['fc_bias', 'fc_weight']
    """
    _check_target(target_dtype)
    assert isinstance(sym, Symbol), "First argument to convert_model should be Symbol"
    assert isinstance(arg_params, dict), "Second argument to convert_model should be a dict of name to ndarray"
    assert isinstance(aux_params, dict), "Third argument to convert_model should be a dict of name to ndarray"
    data = [n for n in sym.list_inputs() if n not in arg_params and n not in aux_params]
    sym = convert_symbol(
        sym, target_dtype, target_dtype_ops, fp32_ops, conditional_fp32_ops, excluded_sym_names, data,
        cast_optional_params,
    )  # fmt: skip
    for params in (arg_params, aux_params):
        params.update(_stored(sym, params))
    return sym, arg_params, aux_params


def _stored(sym, params):
    """The parameters in the precision that the symbol says."""
    attributes = sym.attr_dict()
    kinds = {name: NAMES.get(int(attributes.get(name, {}).get("__dtype__", "-1"))) for name in params}
    return {name: p.astype(kinds[name]) if kinds[name] else p for name, p in params.items()}


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
    """A SymbolBlock that computes what the block computes in mixed precision, with copies of its parameters.

    Parameters
    ----------
    block : HybridBlock
        The network, which was hybridized and called once.
    target_dtype : str, default 'float16'
        The low precision: float16 or bfloat16.
    target_dtype_ops : list of str, optional
        Operators that run in the low precision, instead of MXNet's list.
    fp32_ops : list of str, optional
        Operators that run in single precision.
    conditional_fp32_ops : list of (str, str, list of str), optional
        Operators that run in single precision for some values of an attribute.
    excluded_sym_names : list of str, optional
        Nodes that stay as they are.
    ctx : Context, default gpu(0)
        The device of the parameters.
    cast_optional_params : bool, default False
        Whether parameters are stored in the low precision where that is possible.

    Returns
    -------
    SymbolBlock

    Examples
    --------
    >>> from mxnet.contrib import amp
    >>> net = mx.gluon.nn.Dense(2, in_units=3)
    >>> net.initialize()
    >>> net.hybridize()
    >>> y = net(mx.nd.ones((1, 3)))
    >>> amp.convert_hybrid_block(net, ctx=mx.cpu())(mx.nd.ones((1, 3))).shape
    (1, 2)
    """
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
    assert bucketing_mod.params_initialized, "bucketing_mod params should be initialized for mixed precision conversion"
    wishes = (target_dtype, target_dtype_ops, fp32_ops, conditional_fp32_ops, excluded_sym_names, cast_optional_params)
    args, auxs = (dict(params) for params in bucketing_mod.get_params())
    symbols = {
        key: convert_model(module.symbol, args, auxs, *wishes)[0] for key, module in bucketing_mod._buckets.items()
    }
    settings = ("context", "work_load_list", "fixed_param_names", "state_names", "group2ctxs", "compression_params")
    return BucketingModule.load_dict(
        symbols,
        bucketing_mod._sym_gen,
        bucketing_mod._default_bucket_key,
        args,
        auxs,
        logger=bucketing_mod.logger,
        **{name: getattr(bucketing_mod, f"_{name}") for name in settings},
    )
