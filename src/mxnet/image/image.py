"""MXNet's module of image functions, augmenters and ImageIter, under its own name."""

from ..util import is_np_array  # noqa: F401
from .augment import (
    Augmenter,
    BrightnessJitterAug,
    CastAug,
    CenterCropAug,
    ColorJitterAug,
    ColorNormalizeAug,
    ContrastJitterAug,
    CreateAugmenter,
    ForceResizeAug,
    HorizontalFlipAug,
    HueJitterAug,
    LightingAug,
    RandomCropAug,
    RandomGrayAug,
    RandomOrderAug,
    RandomSizedCropAug,
    ResizeAug,
    SaturationJitterAug,
    SequentialAug,
)
from .functional import (
    _get_interp_method,  # noqa: F401
    center_crop,
    color_normalize,
    copyMakeBorder,
    fixed_crop,
    imdecode,
    imread,
    imresize,
    imrotate,
    random_crop,
    random_rotate,
    random_size_crop,
    resize_short,
    scale_down,
)
from .iterator import ImageIter

__all__ = [
    "Augmenter", "BrightnessJitterAug", "CastAug", "CenterCropAug", "ColorJitterAug", "ColorNormalizeAug",
    "ContrastJitterAug", "CreateAugmenter", "ForceResizeAug", "HorizontalFlipAug", "HueJitterAug", "ImageIter",
    "LightingAug", "RandomCropAug", "RandomGrayAug", "RandomOrderAug", "RandomSizedCropAug", "ResizeAug",
    "SaturationJitterAug", "SequentialAug", "center_crop", "color_normalize", "copyMakeBorder", "fixed_crop",
    "imdecode", "imread", "imresize", "imrotate", "random_crop", "random_rotate", "random_size_crop", "resize_short",
    "scale_down",
]
