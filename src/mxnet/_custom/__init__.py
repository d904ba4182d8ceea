"""Operators written in Python, for `mxnet.operator`: `CustomOp` and the two older kinds."""
