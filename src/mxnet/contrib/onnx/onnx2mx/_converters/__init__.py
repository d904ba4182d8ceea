"""Converters of ONNX operators, by family; importing them fills the table."""

from . import elementwise, neural, recurrent, reductions, shapes
