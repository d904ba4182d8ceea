"""`mx.nd.np._internal`, MXNet's other name for `mx.np._internal`."""

from .._mirror import mirror

__getattr__, __dir__ = mirror(__name__, "mxnet.numpy._internal")
