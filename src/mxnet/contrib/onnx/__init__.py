"""The older place of the ONNX functions."""

from ...onnx import export_model as export_model_
from .onnx2mx.import_model import get_model_metadata as get_model_metadata_
from .onnx2mx.import_model import import_model as import_model_
from .onnx2mx.import_to_gluon import import_to_gluon as import_to_gluon_


def import_model(*args, **kwargs):
    """Read an ONNX file.

    Parameters
    ----------
    *args : str
        The file.
    **kwargs
        `model_file`, the same by name.

    Returns
    -------
    (Symbol, dict, dict)
        The network, its parameters and its auxiliary states.

    Examples
    --------
    >>> symbol, arg_params, aux_params = mx.contrib.onnx.import_model("net.onnx")  # doctest: +SKIP
    """
    return import_model_(*args, **kwargs)


def get_model_metadata(*args, **kwargs):
    """The names and shapes of an ONNX file's inputs and outputs.

    Parameters
    ----------
    *args : str
        The file.
    **kwargs
        `model_file`, the same by name.

    Returns
    -------
    dict

    Examples
    --------
    >>> mx.contrib.onnx.get_model_metadata("net.onnx")  # doctest: +SKIP
    {'input_tensor_data': [('data', (1, 3))], 'output_tensor_data': [('fc', (1, 2))]}
    """
    return get_model_metadata_(*args, **kwargs)


def import_to_gluon(*args, **kwargs):
    """Read an ONNX file as a Gluon network.

    Parameters
    ----------
    *args
        `model_file` and `ctx` by position.
    **kwargs
        `model_file` and `ctx` by name.

    Returns
    -------
    SymbolBlock

    Examples
    --------
    >>> net = mx.contrib.onnx.import_to_gluon("net.onnx", ctx=mx.cpu())  # doctest: +SKIP
    """
    return import_to_gluon_(*args, **kwargs)


def export_model(*args, **kwargs):
    """Write a network as ONNX; see `mx.onnx.export_model`.

    Parameters
    ----------
    *args
        The arguments of `mx.onnx.export_model` by position.
    **kwargs
        The arguments of `mx.onnx.export_model` by name.

    Returns
    -------
    str
        The path of the file.

    Examples
    --------
    >>> mx.contrib.onnx.export_model(net, parameters, [(1, 3)], onnx_file_path="net.onnx")  # doctest: +SKIP
    'net.onnx'
    """
    return export_model_(*args, **kwargs)
