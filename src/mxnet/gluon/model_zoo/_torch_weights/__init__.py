"""Weights of torchvision and timm for the zoo's networks: where they are, which layer is which, what has to differ.

Imports Gluon's blocks and `_formats`; the zoo and the command line import it.
"""

from .assign import assign
from .published import fetch_substitute, named, read_state, substitute_in

__all__ = ["assign", "fetch_substitute", "named", "read_state", "substitute_in"]
