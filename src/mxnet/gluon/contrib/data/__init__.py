"""Samplers and text data sets outside the stable set."""

from . import text
from .sampler import *
