"""Image datasets and image transforms."""

from . import transforms
from .datasets import *
