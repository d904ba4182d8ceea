"""`mx.nd.np`, MXNet's other name for the functions of `mx.np`."""

from .._mirror import mirror

__getattr__, __dir__ = mirror(__name__, "mxnet.numpy", ("linalg", "random"))
