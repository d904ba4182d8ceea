"""From MXNet to ONNX."""

from ._export_model import export_model, get_operator_support
