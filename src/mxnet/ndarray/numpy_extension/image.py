"""`mx.nd.npx.image`, MXNet's other name for `mx.npx.image`."""

from .._mirror import mirror

__getattr__, __dir__ = mirror(__name__, "mxnet.numpy_extension.image")
