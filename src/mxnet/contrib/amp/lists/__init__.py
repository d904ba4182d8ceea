"""Which operators run in which precision, as MXNet decides it."""

from . import symbol_bf16, symbol_fp16
