"""Automatic mixed precision: half-precision kernels where they are safe, and loss scaling."""

from .amp import *
