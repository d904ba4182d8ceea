"""The layers: basic ones, convolutions and poolings, activations."""

from ..block import Block, HybridBlock, SymbolBlock
from .activations import *
from .activations import __all__ as _activations
from .basic_layers import *
from .basic_layers import __all__ as _basic
from .conv_layers import *
from .conv_layers import __all__ as _convolutions

__all__ = ["Block", "HybridBlock", "SymbolBlock", *_basic, *_convolutions, *_activations]
