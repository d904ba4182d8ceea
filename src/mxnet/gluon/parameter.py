"""The public module of parameters and their dictionaries, and what programs take from here."""

from ..base import MXNetError  # noqa: F401
from ..context import Context, cpu  # noqa: F401
from ..ndarray import NDArray
from ..symbol import Symbol
from ..util import is_np_array, is_np_shape  # noqa: F401
from ._constant import Constant
from ._parameter import DeferredInitializationError, Parameter
from ._parameter_dict import ParameterDict
from .utils import shape_is_known  # noqa: F401

__all__ = ["DeferredInitializationError", "Parameter", "Constant", "ParameterDict", "tensor_types"]

tensor_types = (Symbol, NDArray)
