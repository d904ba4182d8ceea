"""`mx.nd.npx`, MXNet's other name for the functions of `mx.npx`; those that are one operator show its signature."""

from .._mirror import mirror

_RAW = {name: f"_npx_{name}" for name in ("constraint_check", "nonzero", "reshape")}
__getattr__, __dir__ = mirror(__name__, "mxnet.numpy_extension", ("image", "random"), _RAW)
