"""Recurrent networks: fused layers and cells that are stepped or unrolled."""

from .rnn_cell import *
from .rnn_layer import *
