"""The public module of blocks: `Block`, `HybridBlock`, `SymbolBlock`, and what programs take from here."""

from ..base import MXNetError  # noqa: F401
from ..ndarray import NDArray  # noqa: F401
from ..symbol import Symbol, load_json  # noqa: F401
from ..util import is_np_array, np_array, np_shape  # noqa: F401
from ._block import Block
from ._hybrid import HybridBlock
from ._nesting import _flatten, _gather_type_ctx_info, _regroup  # noqa: F401
from ._scope import _BlockScope  # noqa: F401
from ._symbol_block import SymbolBlock, _common_prefix, _infer_param_types  # noqa: F401
from .parameter import DeferredInitializationError, Parameter, ParameterDict  # noqa: F401
from .utils import HookHandle, _brief_print_list, _indent  # noqa: F401

__all__ = ["Block", "HybridBlock", "SymbolBlock"]
