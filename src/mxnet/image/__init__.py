"""Images: reading, geometric and colour changes, augmenters and iterators."""

from . import detection, image  # noqa: F401
from .detection import *  # noqa: F403
from .image import *  # noqa: F403
