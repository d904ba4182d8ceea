"""`mx.nd.np.random`, MXNet's other name for `mx.np.random`."""

from .._mirror import mirror

__getattr__, __dir__ = mirror(__name__, "mxnet.numpy.random")
