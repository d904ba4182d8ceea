"""Networks of 8-bit integers: symbols and Gluon blocks quantized, with or without calibration."""

import logging
import warnings
from types import SimpleNamespace

from .. import ndarray  # noqa: F401
from .._graph.ir.node import copy_graph
from ..base import c_array, c_str, c_str_array, check_call, py_str  # noqa: F401
from ..context import Context, cpu
from ..io import DataBatch, DataDesc, DataIter  # noqa: F401
from ..module import Module
from ..ndarray import NDArray  # noqa: F401
from ..ndarray import load as nd_load
from ..ndarray import save as nd_save  # noqa: F401
from ..symbol import Symbol
from ..symbol import load as sym_load
from ._calibrate import (
    _as_data_iter,
    _collect_layer_histogram,
    _collect_layer_output_min_max,
    _collect_layer_statistics,
    _get_optimal_threshold,  # noqa: F401
    _get_optimal_thresholds,
    _LayerHistogramCollector,
    _LayerOutputMinMaxCollector,
    _smooth_distribution,  # noqa: F401
    combine_histogram,  # noqa: F401
)
from ._fold_norm import LAYERS, fold_norms, without_caps
from ._quantize_block import FirstInputs, RectifiedLayers, as_block, traced
from ._quantize_graph import Quantizer, calibrate
from ._quantize_params import _quantize_params

MODES = "expected `none`, `naive`, `entropy` or `customize`"


def _quantize_symbol(
    sym,
    ctx,
    excluded_symbols=None,
    excluded_operators=None,
    offline_params=None,
    quantized_dtype="int8",
    quantize_mode="smart",
    quantize_granularity="tensor-wise",
):
    """(the quantized symbol, names of the values to calibrate by); `offline_params` are quantized beforehand."""
    assert excluded_symbols is None or isinstance(excluded_symbols, list)
    assert excluded_operators is None or isinstance(excluded_operators, list)
    made = Quantizer(
        sym._entries,
        excluded_symbols or (),
        excluded_operators or (),
        quantized_dtype,
        quantize_mode,
        offline_params or (),
        quantize_granularity == "channel-wise",
    )
    return Symbol(made.heads), made.watched


def _calibrate_quantized_sym(qsym, th_dict):
    """The quantized symbol with ranges written into it, found by the names of layers' outputs."""
    if not th_dict:
        return qsym
    heads = copy_graph(qsym._entries)
    calibrate(heads, th_dict)
    return Symbol(heads)


def _load_sym(sym, logger=None):
    """A symbol out of itself or a file."""
    if isinstance(sym, Symbol):
        return sym
    if not isinstance(sym, str):
        raise ValueError(f"_load_sym only accepts Symbol or path to the symbol file, while received type {type(sym)}")
    if logger:
        logger.info("Loading symbol from file %s", sym)
    return sym_load(sym)


def _load_params(params, logger=None):
    """(arguments, auxiliary states) out of themselves or a file."""
    if isinstance(params, (tuple, list)) and len(params) == 2:
        return params[0], params[1]
    if not isinstance(params, str):
        raise ValueError(
            "Unsupported params provided. Must be either a path to the param file or a pair of dictionaries "
            "representing arg_params and aux_params"
        )
    if logger:
        logger.info("Loading params from file %s", params)
    groups = {"arg": {}, "aux": {}}
    for key, value in nd_load(params).items():
        kind, name = key.split(":", 1)
        groups.get(kind, {})[name] = value
    return groups["arg"], groups["aux"]


def _names(names, argument, what):
    """A list of names, none of them if nothing is given."""
    if names is None:
        return []
    if not isinstance(names, list):
        raise ValueError(
            f"{argument} must be a list of strings representing the names of the {what} that will not be quantized, "
            f"while received type {type(names)}"
        )
    return names


def _check(quantized_dtype, quantize_granularity):
    if quantized_dtype not in ("int8", "uint8", "auto"):
        raise ValueError(f"unknown quantized_dtype {quantized_dtype} received, expected `int8`, `uint8` or `auto`")
    if quantize_granularity not in ("tensor-wise", "channel-wise"):
        raise ValueError(
            f"unkonwn quantize_granularity {quantize_granularity} received, expected `tensor-wise` or `channel-wise`."
        )


def _say(logger, text, *args):
    if logger:
        logger.info(text, *args)


def _check_calibration(calib_mode, calib_data, ctx):
    if not isinstance(ctx, Context):
        raise ValueError(f"currently only supports single ctx, while received {ctx}")
    if calib_data is None:
        raise ValueError(f"calib_data must be provided when calib_mode={calib_mode}")


def quantize_model(
    sym,
    arg_params,
    aux_params,
    data_names=("data",),
    label_names=("softmax_label",),
    ctx=cpu(0),
    excluded_sym_names=None,
    excluded_op_names=None,
    calib_mode="entropy",
    calib_data=None,
    num_calib_examples=None,
    quantized_dtype="int8",
    quantize_mode="smart",
    quantize_granularity="tensor-wise",
    logger=None,
):
    """(symbol, arguments, auxiliary states) of 8-bit integers.

    `calib_mode` is "none" (ranges are found in every run), "naive" (the extremes over `calib_data`) or "entropy" (the
    ranges that lose least). `quantized_dtype` "auto" takes uint8 where a range has nothing below zero.
    `quantize_mode` "full" quantizes every operator that can be, "smart" the layers that gain and what lies between.
    `quantize_granularity` "channel-wise" gives each output channel of a layer's weight a range of its own.

    Parameters
    ----------
    sym : Symbol
        The network.
    arg_params : dict of str to NDArray
        The parameters.
    aux_params : dict of str to NDArray
        The auxiliary states.
    data_names : list of str, default ('data',)
        The names of the inputs.
    label_names : list of str, default ('softmax_label',)
        The names of the labels.
    ctx : Context, default cpu(0)
        The device on which calibration runs.
    excluded_sym_names : list of str, optional
        Layers that stay in floating point.
    excluded_op_names : list of str, optional
        Operators that stay in floating point.
    calib_mode : str, default 'entropy'
        none: ranges are found in every run; naive: the extremes over `calib_data`; entropy: the ranges that lose least.
    calib_data : DataIter or DataLoader, optional
        The data for calibration.
    num_calib_examples : int, optional
        The number of samples to use; None: all.
    quantized_dtype : str, default 'int8'
        int8, uint8, or auto, which takes uint8 where a range has nothing below zero.
    quantize_mode : str, default 'smart'
        full: every operator that can be; smart: the layers that gain and what lies between.
    quantize_granularity : str, default 'tensor-wise'
        tensor-wise: one range for a weight; channel-wise: one for each output channel.
    logger : logging.Logger, optional
        Where progress is logged.

    Returns
    -------
    (Symbol, dict, dict)
        The network, its parameters and its auxiliary states.

    Examples
    --------
    >>> net = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc")
    >>> parameters = {"fc_weight": mx.nd.ones((2, 3)), "fc_bias": mx.nd.zeros((2,))}
    >>> symbol, arg_params, aux_params = mx.contrib.quantization.quantize_model(
    ...     net, parameters, {}, label_names=None, calib_mode="none", quantize_mode="full"
    ... )
    >>> symbol.eval(data=mx.nd.ones((1, 3)), **arg_params)[0].asnumpy().round(2)
    array([[2.99, 2.99]], dtype=float32)
    """
    names = _names(excluded_sym_names, "excluded_sym_names", "symbols")
    operators = _names(excluded_op_names, "excluded_op_names", "operators")
    _say(logger, "Quantizing symbol")
    _check(quantized_dtype, quantize_granularity)
    qsym, layers = _quantize_symbol(
        sym, ctx, names, operators, list(arg_params), quantized_dtype, quantize_mode, quantize_granularity
    )
    ranges = {}
    if calib_mode is not None and calib_mode != "none":
        _check_calibration(calib_mode, calib_data, ctx)
        if not isinstance(calib_data, DataIter):
            raise ValueError(
                f"calib_data must be of DataIter type when calib_mode={calib_mode}, while received type "
                f"{type(calib_data)}"
            )
        module = _bound(sym, arg_params, aux_params, calib_data, data_names, label_names, ctx)
        ranges = _ranges(module, calib_mode, calib_data, layers, num_calib_examples, quantized_dtype, logger)
        qsym = _calibrate_quantized_sym(qsym, ranges)
    _say(logger, "Quantizing parameters")
    return qsym, _quantize_params(qsym, arg_params, ranges), aux_params


def _bound(sym, arguments, states, data, data_names, label_names, ctx):
    """A module for prediction over what `data` provides."""
    module = Module(symbol=sym, data_names=data_names, label_names=label_names, context=ctx)
    labels = getattr(data, "provide_label", None) if label_names else None
    module.bind(for_training=False, data_shapes=data.provide_data, label_shapes=labels or None)
    module.set_params(arguments, states)
    return module


def _ranges(module, mode, data, layers, examples, dtype, logger):
    if mode == "entropy":
        histograms, seen = _collect_layer_histogram(module, data, layers, examples, logger)
        _say(logger, "Collected layer outputs from FP32 model using %d examples", seen)
        _say(logger, "Calculating optimal thresholds for quantization")
        return _get_optimal_thresholds(histograms, dtype, logger=logger)
    if mode == "naive":
        ranges, seen = _collect_layer_output_min_max(module, data, dtype, layers, examples, logger)
        _say(logger, "Collected layer output min/max values from FP32 model using %d examples", seen)
        return ranges
    raise ValueError(f"unknown calibration mode {mode} received, expected `none`, `naive`, or `entropy`")


def quantize_model_mkldnn(
    sym,
    arg_params,
    aux_params,
    data_names=("data",),
    label_names=("softmax_label",),
    ctx=cpu(0),
    excluded_sym_names=None,
    excluded_op_names=None,
    calib_mode="entropy",
    calib_data=None,
    num_calib_examples=None,
    quantized_dtype="int8",
    quantize_mode="smart",
    quantize_granularity="tensor-wise",
    logger=None,
):
    """As `quantize_model`, after batch norms were folded into the layers before them; for the CPU.

    Parameters
    ----------
    sym : Symbol
        The network.
    arg_params : dict of str to NDArray
        The parameters.
    aux_params : dict of str to NDArray
        The auxiliary states.
    data_names : list of str, default ('data',)
        The names of the inputs.
    label_names : list of str, default ('softmax_label',)
        The names of the labels.
    ctx : Context, default cpu(0)
        The device on which calibration runs.
    excluded_sym_names : list of str, optional
        Layers that stay in floating point.
    excluded_op_names : list of str, optional
        Operators that stay in floating point.
    calib_mode : str, default 'entropy'
        none: ranges are found in every run; naive: the extremes over `calib_data`; entropy: the ranges that lose least.
    calib_data : DataIter or DataLoader, optional
        The data for calibration.
    num_calib_examples : int, optional
        The number of samples to use; None: all.
    quantized_dtype : str, default 'int8'
        int8, uint8, or auto, which takes uint8 where a range has nothing below zero.
    quantize_mode : str, default 'smart'
        full: every operator that can be; smart: the layers that gain and what lies between.
    quantize_granularity : str, default 'tensor-wise'
        tensor-wise: one range for a weight; channel-wise: one for each output channel.
    logger : logging.Logger, optional
        Where progress is logged.

    Returns
    -------
    (Symbol, dict, dict)
        The network, its parameters and its auxiliary states.

    Examples
    --------
    >>> net = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc")
    >>> parameters = {"fc_weight": mx.nd.ones((2, 3)), "fc_bias": mx.nd.zeros((2,))}
    >>> symbol, arg_params, aux_params = mx.contrib.quantization.quantize_model(
    ...     net, parameters, {}, label_names=None, calib_mode="none", quantize_mode="full"
    ... )
    >>> symbol.eval(data=mx.nd.ones((1, 3)), **arg_params)[0].asnumpy().round(2)
    array([[2.99, 2.99]], dtype=float32)
    """
    if not isinstance(ctx, Context):
        raise ValueError(f"currently only supports single ctx, while received {ctx}")
    if ctx.device_type != "cpu":
        raise ValueError("quantize_model_mkldnn only support Intel cpu platform with MKL-DNN Backend")
    heads, arg_params, aux_params = fold_norms(sym._entries, arg_params, aux_params, excluded_sym_names or ())
    return quantize_model(
        Symbol(heads),
        arg_params,
        aux_params,
        data_names,
        label_names,
        ctx,
        excluded_sym_names,
        excluded_op_names,
        calib_mode,
        calib_data,
        num_calib_examples,
        quantized_dtype,
        quantize_mode,
        quantize_granularity,
        logger,
    )


def _collector(mode, given, dtype, layers, logger):
    """Who watches the layers in a calibration mode; None where nobody does."""
    if mode is None or mode == "none":
        return None
    if mode == "entropy":
        return _LayerHistogramCollector(include_layer=layers, logger=logger)
    if mode == "naive":
        return _LayerOutputMinMaxCollector(quantized_dtype=dtype, include_layer=layers, logger=logger)
    if mode == "customize" and given is not None:
        return given
    raise ValueError(f"unknown calibration mode {mode} received, {MODES}")


def quantize_graph(
    sym,
    arg_params,
    aux_params,
    ctx=cpu(0),
    excluded_sym_names=None,
    excluded_op_names=None,
    calib_mode="entropy",
    quantized_dtype="int8",
    quantize_mode="full",
    quantize_granularity="tensor-wise",
    LayerOutputCollector=None,
    logger=None,
):
    """(symbol, arguments, auxiliary states, collector) before calibration.

    Give `collector.collect` to `set_monitor_callback` of an executor of the original symbol, run it over data, then
    call `calib_graph`. `calib_mode` "customize" takes your own `LayerOutputCollector`, which has `collect(name, array)`
    and leaves `min_max_dict`.

    Parameters
    ----------
    sym : Symbol
        The network.
    arg_params : dict of str to NDArray
        The parameters.
    aux_params : dict of str to NDArray
        The auxiliary states.
    ctx : Context, default cpu(0)
        The device on which calibration runs.
    excluded_sym_names : list of str, optional
        Layers that stay in floating point.
    excluded_op_names : list of str, optional
        Operators that stay in floating point.
    calib_mode : str, default 'entropy'
        none: ranges are found in every run; naive: the extremes over `calib_data`; entropy: the ranges that lose least.
    quantized_dtype : str, default 'int8'
        int8, uint8, or auto, which takes uint8 where a range has nothing below zero.
    quantize_mode : str, default 'full'
        full: every operator that can be; smart: the layers that gain and what lies between.
    quantize_granularity : str, default 'tensor-wise'
        tensor-wise: one range for a weight; channel-wise: one for each output channel.
    LayerOutputCollector : object, optional
        Your own collector, with `collect(name, array)` and `min_max_dict`, for calib_mode="customize".
    logger : logging.Logger, optional
        Where progress is logged.

    Returns
    -------
    (Symbol, dict, dict, collector)
        The network before calibration, its parameters and states, and the collector.

    Examples
    --------
    >>> net = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc")
    >>> parameters = {"fc_weight": mx.nd.ones((2, 3)), "fc_bias": mx.nd.zeros((2,))}
    >>> symbol, arg_params, aux_params, collector = mx.contrib.quantization.quantize_graph(
    ...     net, parameters, {}, calib_mode="naive"
    ... )
    >>> executor = net.bind(mx.cpu(), {"data": mx.nd.ones((1, 3)), **parameters})
    >>> executor.set_monitor_callback(collector.collect, monitor_all=True)
    >>> outputs = executor.forward()
    >>> calibrated = mx.contrib.quantization.calib_graph(symbol, arg_params, aux_params, collector, "naive")
    """
    names = _names(excluded_sym_names, "excluded_sym_names", "symbols")
    operators = _names(excluded_op_names, "excluded_op_names", "operators")
    _say(logger, "Quantizing graph")
    _check(quantized_dtype, quantize_granularity)
    qsym, layers = _quantize_symbol(
        sym, ctx, names, operators, list(arg_params), quantized_dtype, quantize_mode, quantize_granularity
    )
    collector = _collector(calib_mode, LayerOutputCollector, quantized_dtype, layers, logger)
    if collector is not None:
        _say(logger, "Collector created, please use set_monitor_callback to collect calibration information.")
    _say(logger, "Quantizing parameters")
    return qsym, _quantize_params(qsym, arg_params, {}), aux_params, collector


def calib_graph(qsym, arg_params, aux_params, collector, calib_mode="entropy", quantized_dtype="int8", logger=logging):
    """(symbol, arguments, auxiliary states) with the ranges that the collector of `quantize_graph` found.

    Parameters
    ----------
    qsym : Symbol
        The quantized network, before calibration.
    arg_params : dict of str to NDArray
        The parameters.
    aux_params : dict of str to NDArray
        The auxiliary states.
    collector : object
        What `quantize_graph` returned.
    calib_mode : str, default 'entropy'
        none: ranges are found in every run; naive: the extremes over `calib_data`; entropy: the ranges that lose least.
    quantized_dtype : str, default 'int8'
        int8, uint8, or auto, which takes uint8 where a range has nothing below zero.
    logger : logging.Logger, default logging
        Where progress is logged.

    Returns
    -------
    (Symbol, dict, dict)
        The network, its parameters and its auxiliary states.

    Examples
    --------
    >>> net = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc")
    >>> parameters = {"fc_weight": mx.nd.ones((2, 3)), "fc_bias": mx.nd.zeros((2,))}
    >>> symbol, arg_params, aux_params, collector = mx.contrib.quantization.quantize_graph(
    ...     net, parameters, {}, calib_mode="naive"
    ... )
    >>> executor = net.bind(mx.cpu(), {"data": mx.nd.ones((1, 3)), **parameters})
    >>> executor.set_monitor_callback(collector.collect, monitor_all=True)
    >>> outputs = executor.forward()
    >>> calibrated = mx.contrib.quantization.calib_graph(symbol, arg_params, aux_params, collector, "naive")
    >>> calibrated[0].list_outputs()
    ['fc_dequantize_output']
    """
    if calib_mode is None or calib_mode == "none":
        raise ValueError("please set calibration mode to naive or entropy.")
    ranges = _collected(collector, calib_mode, quantized_dtype, logger)
    qsym = _calibrate_quantized_sym(qsym, ranges)
    _say(logger, "Quantizing parameters")
    return qsym, _quantize_params(qsym, arg_params, ranges), aux_params


def _collected(collector, mode, dtype, logger):
    if mode == "entropy":
        _say(logger, "Calculating optimal thresholds for quantization")
        return _get_optimal_thresholds(collector.hist_dict, dtype, logger=logger)
    if mode in ("naive", "customize"):
        return collector.min_max_dict
    raise ValueError(f"unknown calibration mode {mode} received, {MODES}")


def quantize_net_v2(
    network,
    quantized_dtype="auto",
    quantize_mode="full",
    quantize_granularity="tensor-wise",
    exclude_layers=None,
    exclude_layers_match=None,
    exclude_operators=None,
    calib_data=None,
    data_shapes=None,
    calib_mode="none",
    num_calib_examples=None,
    ctx=cpu(0),
    LayerOutputCollector=None,
    logger=None,
):
    """A SymbolBlock that computes what `network` computes, in 8-bit integers.

    Batch norms are folded into the layers before them, and a layer that feeds a rectifier alone is calibrated by what
    the rectifier lets through. `calib_data` is a DataIter or a DataLoader; without it `data_shapes` (a list of
    DataDesc) says what goes in. `exclude_layers_match` excludes layers whose names contain one of the words.

    Parameters
    ----------
    network : HybridBlock
        The network.
    quantized_dtype : str, default 'auto'
        int8, uint8, or auto, which takes uint8 where a range has nothing below zero.
    quantize_mode : str, default 'full'
        full: every operator that can be; smart: the layers that gain and what lies between.
    quantize_granularity : str, default 'tensor-wise'
        tensor-wise: one range for a weight; channel-wise: one for each output channel.
    exclude_layers : list of str, optional
        Layers that stay in floating point.
    exclude_layers_match : list of str, optional
        Layers whose names contain one of these stay in floating point.
    exclude_operators : list of str, optional
        Operators that stay in floating point.
    calib_data : DataIter or DataLoader, optional
        The data for calibration.
    data_shapes : list of DataDesc, optional
        The inputs, if there is no `calib_data`.
    calib_mode : str, default 'none'
        none: ranges are found in every run; naive: the extremes over `calib_data`; entropy: the ranges that lose least.
    num_calib_examples : int, optional
        The number of samples to use; None: all.
    ctx : Context, default cpu(0)
        The device on which calibration runs.
    LayerOutputCollector : object, optional
        Your own collector, with `collect(name, array)` and `min_max_dict`, for calib_mode="customize".
    logger : logging.Logger, optional
        Where progress is logged.

    Returns
    -------
    SymbolBlock

    Examples
    --------
    >>> net = mx.gluon.nn.Dense(2, in_units=3)
    >>> net.initialize()
    >>> quantized = mx.contrib.quantization.quantize_net_v2(
    ...     net, data_shapes=[mx.io.DataDesc("data", (1, 3))], calib_mode="none"
    ... )
    >>> quantized(mx.nd.ones((1, 3))).shape
    (1, 2)
    """
    _say(logger, "Export HybridBlock")
    if calib_data is not None:
        calib_data, provided = _as_data_iter(calib_data)
        data_shapes = data_shapes or provided
    if not data_shapes:
        raise ValueError("data_shapes required")
    graph, arguments, states, descriptions = traced(network, list(data_shapes), ctx)
    excluded = _excluded(graph, exclude_layers, exclude_layers_match)
    _say(logger, "These layers have been excluded %s", excluded)
    heads, arguments, states = fold_norms(graph._entries, arguments, states, excluded)
    capless = calib_mode in ("naive", "entropy") and not {*LAYERS} & {*(exclude_operators or ())}
    qsym, qarguments, qstates, collector = quantize_graph(
        Symbol(without_caps(heads, {*excluded}) if capless else heads),
        arguments, states, ctx, excluded, exclude_operators, calib_mode, quantized_dtype, quantize_mode,
        quantize_granularity, LayerOutputCollector, logger,
    )  # fmt: skip
    if collector is not None:
        _check_calibration(calib_mode, calib_data, ctx)
        source = SimpleNamespace(provide_data=descriptions, provide_label=None)
        module = _bound(Symbol(heads), arguments, states, source, [d.name for d in descriptions], None, ctx)
        rectified = RectifiedLayers(heads, collector)
        data = FirstInputs(calib_data, len(descriptions))
        seen = _collect_layer_statistics(module, data, collector, num_calib_examples, logger)
        _say(logger, "Collected layer output values from FP32 model using %d examples", seen)
        rectified.forget_layers(collector)
        ranges = _collected(collector, calib_mode, quantized_dtype, logger)
        ranges.update(rectified.ranges(ranges, quantized_dtype))
        qsym = _calibrate_quantized_sym(qsym, ranges)
        qarguments = _quantize_params(qsym, arguments, ranges)
    return as_block(qsym, qarguments, qstates, descriptions, ctx)


def _excluded(graph, layers, words):
    """Names of the excluded layers; those that match a word included."""
    names = _names(layers, "exclude_layers", "layers")
    internals = [s.name for s in graph.get_internals()]
    return [*names, *(name for word in words or () for name in internals if word in name)]


def quantize_net(
    network,
    quantized_dtype="auto",
    quantize_mode="full",
    exclude_layers=None,
    exclude_layers_match=None,
    exclude_operators=None,
    calib_data=None,
    data_shapes=None,
    calib_mode="none",
    num_calib_examples=None,
    ctx=cpu(0),
    logger=None,
):
    """The older name of `quantize_net_v2`.

    Parameters
    ----------
    network : HybridBlock
        The network.
    quantized_dtype : str, default 'auto'
        int8, uint8, or auto, which takes uint8 where a range has nothing below zero.
    quantize_mode : str, default 'full'
        full: every operator that can be; smart: the layers that gain and what lies between.
    exclude_layers : list of str, optional
        Layers that stay in floating point.
    exclude_layers_match : list of str, optional
        Layers whose names contain one of these stay in floating point.
    exclude_operators : list of str, optional
        Operators that stay in floating point.
    calib_data : DataIter or DataLoader, optional
        The data for calibration.
    data_shapes : list of DataDesc, optional
        The inputs, if there is no `calib_data`.
    calib_mode : str, default 'none'
        none: ranges are found in every run; naive: the extremes over `calib_data`; entropy: the ranges that lose least.
    num_calib_examples : int, optional
        The number of samples to use; None: all.
    ctx : Context, default cpu(0)
        The device on which calibration runs.
    logger : logging.Logger, optional
        Where progress is logged.

    Returns
    -------
    SymbolBlock

    Examples
    --------
    >>> net = mx.gluon.nn.Dense(2, in_units=3)
    >>> net.initialize()
    >>> quantized = mx.contrib.quantization.quantize_net_v2(
    ...     net, data_shapes=[mx.io.DataDesc("data", (1, 3))], calib_mode="none"
    ... )
    >>> quantized(mx.nd.ones((1, 3))).shape
    (1, 2)
    """
    warnings.warn("WARNING: This will be deprecated after MXNet 2.0, please use quantize_net_v2.", stacklevel=2)
    return quantize_net_v2(
        network,
        quantized_dtype,
        quantize_mode,
        "tensor-wise",
        exclude_layers,
        exclude_layers_match,
        exclude_operators,
        calib_data,
        data_shapes,
        calib_mode,
        num_calib_examples,
        ctx,
        None,
        logger,
    )
