"""The older place of the ONNX functions."""

from ...onnx import export_model as export_model_
from .onnx2mx.import_model import get_model_metadata as get_model_metadata_
from .onnx2mx.import_model import import_model as import_model_
from .onnx2mx.import_to_gluon import import_to_gluon as import_to_gluon_


def import_model(*args, **kwargs):
    """(symbol, arguments, auxiliary states) of an ONNX file."""
    return import_model_(*args, **kwargs)


def get_model_metadata(*args, **kwargs):
    """Names and shapes of an ONNX file's inputs and outputs."""
    return get_model_metadata_(*args, **kwargs)


def import_to_gluon(*args, **kwargs):
    """A SymbolBlock out of an ONNX file."""
    return import_to_gluon_(*args, **kwargs)


def export_model(*args, **kwargs):
    """See `mx.onnx.export_model`."""
    return export_model_(*args, **kwargs)
