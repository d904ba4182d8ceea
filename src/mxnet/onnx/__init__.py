"""ONNX: networks as files that other runtimes read."""

from .mx2onnx import export_model, get_operator_support
