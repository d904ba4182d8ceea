"""The public module of parameters and their dictionaries."""

from ..ndarray import NDArray
from ..symbol import Symbol
from ._parameter import Constant, DeferredInitializationError, Parameter
from ._parameter_dict import ParameterDict
from .utils import shape_is_known  # noqa: F401  MXNet shows it here too

__all__ = ["DeferredInitializationError", "Parameter", "Constant", "ParameterDict", "tensor_types"]

tensor_types = (Symbol, NDArray)
