"""Convolutions outside the stable set."""

from .conv_layers import *
