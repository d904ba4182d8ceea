"""Image datasets and image transforms."""

from . import transforms  # noqa: F401
from .datasets import *  # noqa: F403
