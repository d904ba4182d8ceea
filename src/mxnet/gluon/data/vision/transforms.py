"""Image transforms as blocks: conversions, crops, resizing, flips, colour jitter."""

import random

import numpy as np

from .... import image
from ....base import numeric_types
from ....util import is_np_array
from ...block import Block, HybridBlock
from ...nn import HybridSequential, Sequential


def _operators(F):
    return F.npx if is_np_array() else F


def _pair(size):
    return (size, size) if isinstance(size, numeric_types) else size


def _needs_float32(x):
    if np.dtype(x.dtype) != np.float32:
        raise TypeError(
            f"This transformation only supports float32. Consider calling it after ToTensor; got {np.dtype(x.dtype)}"
        )


class Compose(Sequential):
    """Transforms one after the other; runs of hybrid ones are hybridized together."""

    def __init__(self, transforms):
        super().__init__()
        run = []
        for transform in transforms:
            if isinstance(transform, HybridBlock):
                run.append(transform)
            else:
                self._add_run(run)
                run = []
                self.add(transform)
        self._add_run(run)

    def _add_run(self, run):
        if len(run) == 1:
            self.add(run[0])
        elif run:
            block = HybridSequential()
            block.add(*run)
            block.hybridize()
            self.add(block)


class Cast(HybridBlock):
    """Casts to `dtype`."""

    def __init__(self, dtype="float32"):
        super().__init__()
        self._dtype = dtype

    def hybrid_forward(self, F, x):
        return _operators(F).cast(x, self._dtype)


class ToTensor(HybridBlock):
    """From uint8 HWC (or NHWC) in 0…255 to float32 CHW (or NCHW) in 0…1."""

    def hybrid_forward(self, F, x):
        return _operators(F).image.to_tensor(x)


class Normalize(HybridBlock):
    """Subtracts a mean and divides by a deviation, one number or one per channel, on CHW or NCHW floats."""

    def __init__(self, mean=0.0, std=1.0):
        super().__init__()
        self._mean = mean
        self._std = std

    def hybrid_forward(self, F, x):
        return _operators(F).image.normalize(x, self._mean, self._std)


class Rotate(Block):
    """Rotates by a fixed angle in degrees; zooming in hides the border, zooming out shows the whole image."""

    def __init__(self, rotation_degrees, zoom_in=False, zoom_out=False):
        super().__init__()
        self._args = (rotation_degrees, zoom_in, zoom_out)

    def forward(self, x):
        _needs_float32(x)
        return image.imrotate(x, *self._args)


class RandomRotation(Block):
    """Rotates by an angle drawn from `angle_limits`, with probability `rotate_with_proba`."""

    def __init__(self, angle_limits, zoom_in=False, zoom_out=False, rotate_with_proba=1.0):
        super().__init__()
        least, most = angle_limits
        if not least < most:
            raise ValueError(f"`angle_limits` must be (least, most) with least < most, got {angle_limits}")
        if not 0 <= rotate_with_proba <= 1:
            raise ValueError(f"rotate_with_proba is a probability, from 0 to 1, got {rotate_with_proba}")
        self._args, self._rotate_with_proba = (angle_limits, zoom_in, zoom_out), rotate_with_proba

    def forward(self, x):
        if np.random.random() > self._rotate_with_proba:
            return x
        _needs_float32(x)
        return image.random_rotate(x, *self._args)


class RandomResizedCrop(Block):
    """A crop of random area and aspect ratio, resized to `size` (width, height)."""

    def __init__(self, size, scale=(0.08, 1.0), ratio=(3.0 / 4.0, 4.0 / 3.0), interpolation=1):
        super().__init__()
        self._args = (_pair(size), scale, ratio, interpolation)

    def forward(self, x):
        return image.random_size_crop(x, *self._args)[0]


class CropResize(HybridBlock):
    """The crop at (x, y) of `width` by `height`, resized to `size` if one is given."""

    def __init__(self, x, y, width, height, size=None, interpolation=None):
        super().__init__()
        self._x = x
        self._y = y
        self._width = width
        self._height = height
        self._size = size
        self._interpolation = interpolation

    def hybrid_forward(self, F, x):
        out = F.image.crop(x, self._x, self._y, self._width, self._height)
        return F.image.resize(out, self._size, False, self._interpolation) if self._size else out


class CenterCrop(Block):
    """The centre of the image at `size` (width, height), scaled up if the image is smaller."""

    def __init__(self, size, interpolation=1):
        super().__init__()
        self._args = (_pair(size), interpolation)

    def forward(self, x):
        return image.center_crop(x, *self._args)[0]


class Resize(HybridBlock):
    """Resizes to `size` (a number, or width and height); with `keep_ratio` a number is the shorter edge."""

    def __init__(self, size, keep_ratio=False, interpolation=1):
        super().__init__()
        self._keep = keep_ratio
        self._size = size
        self._interpolation = interpolation

    def hybrid_forward(self, F, x):
        return _operators(F).image.resize(x, self._size, self._keep, self._interpolation)


class RandomFlipLeftRight(HybridBlock):
    """Mirrors the image with probability one half."""

    def hybrid_forward(self, F, x):
        return _operators(F).image.random_flip_left_right(x)


class RandomFlipTopBottom(HybridBlock):
    """Turns the image upside down with probability one half."""

    def hybrid_forward(self, F, x):
        return _operators(F).image.random_flip_top_bottom(x)


class _Jitter(HybridBlock):
    """Base of the colour jitters: a factor from 1 - strength (at least 0) to 1 + strength."""

    _operator = None

    def __init__(self, strength):
        super().__init__()
        self._args = (max(0, 1 - strength), 1 + strength)

    def hybrid_forward(self, F, x):
        return getattr(_operators(F).image, self._operator)(x, *self._args)


class RandomBrightness(_Jitter):
    """Scales the image by a random factor."""

    _operator = "random_brightness"

    def __init__(self, brightness):
        super().__init__(brightness)


class RandomContrast(_Jitter):
    """Moves the image towards or away from its mean gray."""

    _operator = "random_contrast"

    def __init__(self, contrast):
        super().__init__(contrast)


class RandomSaturation(_Jitter):
    """Moves each pixel towards or away from its own gray."""

    _operator = "random_saturation"

    def __init__(self, saturation):
        super().__init__(saturation)


class RandomHue(_Jitter):
    """Turns the hue."""

    _operator = "random_hue"

    def __init__(self, hue):
        super().__init__(hue)


class RandomColorJitter(HybridBlock):
    """Brightness, contrast, saturation and hue jitter in random order."""

    def __init__(self, brightness=0, contrast=0, saturation=0, hue=0):
        super().__init__()
        self._args = (brightness, contrast, saturation, hue)

    def hybrid_forward(self, F, x):
        return _operators(F).image.random_color_jitter(x, *self._args)


class RandomLighting(HybridBlock):
    """AlexNet's lighting noise along the principal colour axes, with deviation `alpha`."""

    def __init__(self, alpha):
        super().__init__()
        self._alpha = alpha

    def hybrid_forward(self, F, x):
        return _operators(F).image.random_lighting(x, self._alpha)


class RandomApply(Sequential):
    """Applies `transforms` (one block) with probability `p`."""

    def __init__(self, transforms, p=0.5):
        super().__init__()
        self.transforms = transforms
        self.p = p

    def forward(self, x):
        return x if self.p < random.random() else self.transforms(x)


class HybridCompose(HybridSequential):
    """Hybrid transforms one after the other, hybridized together."""

    def __init__(self, transforms):
        super().__init__()
        for transform in transforms:
            if not isinstance(transform, HybridBlock):
                raise ValueError(f"{transform} is not a HybridBlock, try use `Compose` instead")
            self.add(transform)
        self.hybridize()
