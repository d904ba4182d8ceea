"""Layers outside the stable set."""

from .basic_layers import *
