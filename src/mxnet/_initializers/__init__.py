"""Initializers, by what they fill parameters with; `mxnet.initializer` shows them all."""
