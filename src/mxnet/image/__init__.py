"""Images: reading, geometric and colour changes, augmenters and iterators."""

from ..util import is_np_array
from . import detection, image
from .detection import *
from .image import *
