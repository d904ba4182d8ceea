"""mx.optimizer: update rules for parameters."""

from . import contrib, optimizer
from .optimizer import *

__all__ = [*optimizer.__all__, "contrib"]
