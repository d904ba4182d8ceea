"""Images: reading, geometric and colour changes, augmenters and iterators."""

from . import detection, image
from .detection import *
from .image import *
