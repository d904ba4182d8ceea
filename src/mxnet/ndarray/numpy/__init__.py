"""`mx.nd.np`, MXNet's other name for the functions of `mx.np`; those that are one operator show its signature."""

from ... import _numpy_op_doc
from .._mirror import mirror

_RAW = {name.removeprefix("_np_"): name for name in vars(_numpy_op_doc) if name.startswith("_np_")}
__getattr__, __dir__ = mirror(__name__, "mxnet.numpy", ("_internal", "linalg", "random"), _RAW)
