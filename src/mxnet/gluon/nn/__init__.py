"""The layers: basic ones, convolutions and poolings, activations."""

from ..block import Block, HybridBlock, SymbolBlock
from .activations import *  # noqa: F403
from .activations import __all__ as _activations
from .basic_layers import *  # noqa: F403
from .basic_layers import __all__ as _basic
from .conv_layers import *  # noqa: F403
from .conv_layers import __all__ as _convolutions

__all__ = ["Block", "HybridBlock", "SymbolBlock", *_basic, *_convolutions, *_activations]
