"""`mx.nd.npx`, MXNet's other name for the functions of `mx.npx`."""

from .._mirror import mirror

__getattr__, __dir__ = mirror(__name__, "mxnet.numpy_extension", ("image", "random"))
