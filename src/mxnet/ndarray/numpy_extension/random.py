"""`mx.nd.npx.random`, MXNet's other name for `mx.npx.random`."""

from .._mirror import mirror

__getattr__, __dir__ = mirror(__name__, "mxnet.numpy_extension.random")
