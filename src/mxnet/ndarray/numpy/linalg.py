"""`mx.nd.np.linalg`, MXNet's other name for `mx.np.linalg`."""

from .._mirror import mirror

__getattr__, __dir__ = mirror(__name__, "mxnet.numpy.linalg")
