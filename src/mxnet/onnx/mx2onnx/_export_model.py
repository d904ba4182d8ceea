"""`export_model`: a symbol and its parameters, or their files, as an ONNX file, through torch's exporter."""

import contextlib
import logging
import warnings

import numpy as np
import torch

from ... import ndarray, symbol
from ..._core.extras import load as load_extra
from ..._formats.atomic import atomic_write
from ..._ops.registry.registry import names
from ...base import MXNetError
from ...gluon import Block
from ...ndarray._dispatch.invoke import plain_tensor
from ._faults import described
from ._program import Plan
from ._translations import table

LARGEST = 2**31 - 1  # bytes that one protocol buffer can hold


def export_model(
    sym,
    params,
    in_shapes=None,
    in_types=np.float32,
    onnx_file_path="model.onnx",
    verbose=False,
    dynamic=False,
    dynamic_input_shapes=None,
    run_shape_inference=False,
    input_type=None,
    input_shape=None,
):
    """Write the network as ONNX and return the file's path.

    `sym` and `params` are a symbol with a dict (or two dicts: arguments, states), or the two files of a checkpoint, or
    a Gluon network that can be traced, and None.
    `dynamic` leaves sizes open: all of them, or those that are None or a name in `dynamic_input_shapes`.
    `input_type` and `input_shape` are older names of `in_types` and `in_shapes`.

    Parameters
    ----------
    sym : Symbol, str or HybridBlock
        The network, its file, or a Gluon network that can be traced.
    params : dict, list of two dicts, str or None
        The parameters, or their file; None with a Gluon network.
    in_shapes : list of tuples, optional
        The shapes of the inputs.
    in_types : dtype or list of dtypes, default np.float32
        The data types of the inputs.
    onnx_file_path : str, default 'model.onnx'
        The file to write.
    verbose : bool, default False
        Whether to log what is done.
    dynamic : bool, default False
        Whether sizes stay open.
    dynamic_input_shapes : list of tuples, optional
        The shapes with None or a name for each open size.
    run_shape_inference : bool, default False
        Whether shapes are stored in the file.
    input_type : dtype, optional
        The older name of `in_types`.
    input_shape : list of tuples, optional
        The older name of `in_shapes`.

    Returns
    -------
    str
        The path of the file.

    Examples
    --------
    >>> net = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc")
    >>> parameters = {"fc_weight": mx.nd.ones((2, 3)), "fc_bias": mx.nd.zeros((2,))}
    >>> mx.onnx.export_model(net, parameters, [(1, 3)], onnx_file_path="net.onnx")  # doctest: +SKIP
    'net.onnx'
    """
    onnx = _library()
    shapes = in_shapes if input_shape is None else input_shape
    types = in_types if input_type is None else input_type
    if shapes is None:
        raise MXNetError("export_model needs in_shapes, a shape for each input of the network")
    names = None
    if isinstance(sym, Block) and params is None:
        names = ["data"] if len(shapes) == 1 else [f"data{i}" for i in range(len(shapes))]
        sym, params = _traced(sym, names)
    sym, params = _model(sym, params)
    open_sizes = _open_sizes(shapes, dynamic, dynamic_input_shapes)
    examples = [_example(shape, sizes) for shape, sizes in zip(shapes, open_sizes, strict=True)]
    types = types if isinstance(types, (list, tuple)) else [types] * len(shapes)
    plan = Plan(sym, params, examples, types, names)
    model = _export(plan, open_sizes, _output_names(sym, plan.inputs), verbose)
    if run_shape_inference:
        model = onnx.shape_inference.infer_shapes(model)
    _write(onnx, model, onnx_file_path)
    logging.info("Exported ONNX file %s saved to disk, input shapes %s", onnx_file_path, shapes)
    return onnx_file_path


def _library():
    """onnx, and onnxscript, which torch's exporter needs."""
    need = "ONNX export needs the packages onnx and onnxscript"
    return load_extra(need, "onnx", "onnx", "onnx.shape_inference", "onnxscript", kind=ImportError)


def _model(sym, params):
    """The symbol, and the parameters as tensors by plain name."""
    if isinstance(sym, str) and isinstance(params, str):
        sym, params = symbol.load(sym), ndarray.load(params) or {}  # a file without arrays holds no names either
    elif isinstance(params, list) and len(params) == 2:
        params = {**params[0], **params[1]}
    if not isinstance(sym, symbol.Symbol) or not isinstance(params, dict):
        raise ValueError("Input sym and params should either be files or objects")
    return sym, {name.split(":", 1)[-1]: plain_tensor(value).cpu() for name, value in params.items()}


def _traced(net, names):
    """(symbol, parameters) of a network of hybrid blocks, with inputs of these names."""
    try:
        outputs = net(*map(symbol.var, names))
    except (TypeError, AttributeError, AssertionError) as error:
        raise MXNetError(
            f"{net.name} cannot be traced, it computes with arrays ({error}); write its forward as the hybrid_forward "
            "of a HybridBlock, with F in place of mx.nd"
        ) from error
    outputs = outputs if isinstance(outputs, symbol.Symbol) else symbol.Group(list(outputs))
    return outputs, {name: parameter._reduce() for name, parameter in net.collect_params().items()}


def _open_sizes(shapes, dynamic, dynamic_input_shapes):
    """For each input, {axis: name or None} of the sizes that stay open."""
    if not dynamic:
        return [{} for _ in shapes]
    if dynamic_input_shapes is None:
        return [dict.fromkeys(range(len(shape))) for shape in shapes]
    if len(dynamic_input_shapes) != len(shapes):
        raise MXNetError(f"dynamic_input_shapes has {len(dynamic_input_shapes)} shapes, in_shapes has {len(shapes)}")
    return [
        {axis: size for axis, size in enumerate(sizes) if size is None or isinstance(size, str)}
        for sizes in dynamic_input_shapes
    ]


def _example(shape, sizes):
    """The shape to trace with; torch takes a size of one for a fixed size, so open ones are at least two."""
    if any(not isinstance(n, (int, np.integer)) and axis not in sizes for axis, n in enumerate(shape)):
        raise MXNetError(f"in_shapes must be numbers, got {shape}; open sizes belong in dynamic_input_shapes")
    return tuple((2 if not n or n == 1 else int(n)) if axis in sizes else int(n) for axis, n in enumerate(shape))


def _output_names(sym, inputs):
    """MXNet's names of the outputs in ONNX: those of the symbol without `_output`, unless an input is named so."""
    names = []
    for name in sym.list_outputs():
        for ending, number in (("_state_output", "1"), ("_statecell_output", "2"), ("_output", "")):
            if name.endswith(ending):
                name = name.removesuffix(ending) + number
                break
        else:
            head, _, number = name.rpartition("_output")
            name = head + number if head and number.isdigit() else name
        name = f"{name}_output" if name in inputs else name
        names.append(name if name not in names else f"{name}_{len(names)}")
    return names


def _export(plan, open_sizes, outputs, verbose):
    dynamic_shapes = None
    if any(open_sizes):
        automatic = torch.export.Dim.DYNAMIC
        named = [{axis: name or automatic for axis, name in sizes.items()} for sizes in open_sizes]
        dynamic_shapes = (tuple(named),)
    with _quiet(verbose):
        try:
            program = torch.onnx.export(
                plan.module().eval(),
                plan.examples(),
                input_names=plan.inputs,
                output_names=outputs,
                dynamic_shapes=dynamic_shapes,
                dynamo=True,
                custom_translation_table=table(),
                verbose=verbose,
                optimize=False,
            )
            _optimize(program, plan.params)
        except torch.onnx.OnnxExporterError as error:
            raise MXNetError(described(error, plan)) from error
    return program.model_proto


def _optimize(program, params):
    """Fold what is constant, but no parameter: all of them stay, under their names, also where they are zeros."""
    graph = program.model.graph
    kept = [(value, value.const_value) for name, value in graph.initializers.items() if name in params]
    for value, _ in kept:  # as long as they are inputs, nothing is known of them
        graph.initializers.pop(value.name)
        value.const_value = None
        graph.inputs.append(value)
    program.optimize()
    for value, tensor in kept:
        graph.inputs.remove(value)
        value.const_value = tensor
        graph.register_initializer(value)


@contextlib.contextmanager
def _quiet(verbose):
    if verbose:
        yield
        return
    loggers = [logging.getLogger(name) for name in ("torch.onnx", "onnxscript")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def _write(onnx, model, path):
    """The checked model, whole or not at all."""
    data = model.SerializeToString()
    onnx.checker.check_model(data if len(data) < LARGEST else model)
    with atomic_write(path) as file:
        file.write(data)


def get_operator_support(opset_version=None):
    """The names of the operators that can be exported; torch's exporter decides about each with its attributes.

    Parameters
    ----------
    opset_version : int, optional
        Ignored.

    Returns
    -------
    list of str

    Examples
    --------
    >>> "Convolution" in mx.onnx.get_operator_support()
    True
    """
    _library()
    return names()
