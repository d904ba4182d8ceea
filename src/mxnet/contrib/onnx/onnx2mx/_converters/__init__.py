"""Converters of ONNX operators, by family; importing them fills the table."""

from . import elementwise, images, neural, pooling, recurrent, reductions, shapes
