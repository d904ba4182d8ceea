"""`mx.nd.np.random`, MXNet's other name for `mx.np.random`."""

from ...context import current_context  # noqa: F401 - MXNet's module shows it
from .._mirror import mirror
from ..ndarray import NDArray  # noqa: F401

__getattr__, __dir__ = mirror(__name__, "mxnet.numpy.random")
