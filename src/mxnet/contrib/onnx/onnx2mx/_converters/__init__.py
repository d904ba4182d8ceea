"""Converters of ONNX operators, by family; importing them fills the table."""

from . import control, elementwise, images, indexing, neural, pooling, quantized, recurrent, reductions, shapes
