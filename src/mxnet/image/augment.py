"""Augmenters: callables that change an image (height, width, channels), and the usual chain of them."""

import json
import random
import warnings

import numpy as np

from .. import ndarray as nd
from .functional import (
    _get_interp_method,
    center_crop,
    color_normalize,
    imresize,
    random_crop,
    random_size_crop,
    resize_short,
)

EIGENVALUES = np.array([55.46, 4.794, 1.148])
EIGENVECTORS = np.array([[-0.5675, 0.7192, 0.4009], [-0.5808, -0.0045, -0.8140], [-0.5836, -0.6948, 0.4203]])
IMAGENET_MEAN = (123.68, 116.28, 103.53)
IMAGENET_STD = (58.395, 57.12, 57.375)
_GRAY = [[[0.299, 0.587, 0.114]]]


def plain(value):
    """Arrays as lists, so that JSON can hold them."""
    if isinstance(value, nd.NDArray):
        value = value.asnumpy()
    return value.tolist() if isinstance(value, np.ndarray) else value


class Augmenter:
    """The base: keeps its arguments so that `dumps` can tell what it is."""

    def __init__(self, **kwargs):
        self._kwargs = {name: plain(value) for name, value in kwargs.items()}

    def dumps(self):
        """Name and arguments as JSON."""
        return json.dumps([type(self).__name__.lower(), self._kwargs])

    def __call__(self, src):
        raise NotImplementedError("Must override implementation.")


class _Chain(Augmenter):
    """Base of the augmenters that hold others in `ts`."""

    def __init__(self, ts):
        super().__init__()
        self.ts = ts

    def dumps(self):
        return [type(self).__name__.lower(), [augmenter.dumps() for augmenter in self.ts]]

    def __call__(self, src):
        for augmenter in self.ts:
            src = augmenter(src)
        return src


class SequentialAug(_Chain):
    """Several augmenters in order."""


class RandomOrderAug(_Chain):
    """Several augmenters in a new random order each time."""

    def __call__(self, src):
        random.shuffle(self.ts)
        return super().__call__(src)


class _Sized(Augmenter):
    """Base of the augmenters that change the size."""

    def __init__(self, size, interp=2):
        super().__init__(size=size, interp=interp)
        self.size = size
        self.interp = interp


class ResizeAug(_Sized):
    """Resize the shorter edge to `size`."""

    def __call__(self, src):
        return resize_short(src, self.size, self.interp)


class ForceResizeAug(_Sized):
    """Resize to `size` (width, height) whatever the proportions."""

    def __call__(self, src):
        sizes = (src.shape[0], src.shape[1], self.size[1], self.size[0])
        return imresize(src, *self.size, interp=_get_interp_method(self.interp, sizes))


class RandomCropAug(_Sized):
    """A random crop of `size` (width, height)."""

    def __call__(self, src):
        return random_crop(src, self.size, self.interp)[0]


class CenterCropAug(_Sized):
    """The centre crop of `size` (width, height)."""

    def __call__(self, src):
        return center_crop(src, self.size, self.interp)[0]


class RandomSizedCropAug(Augmenter):
    """A crop of random area and aspect ratio, resized to `size` (width, height)."""

    def __init__(self, size, area, ratio, interp=2, **kwargs):
        super().__init__(size=size, area=area, ratio=ratio, interp=interp)
        if "min_area" in kwargs:
            warnings.warn("`min_area` is deprecated. Please use `area` instead.", DeprecationWarning, stacklevel=2)
            area = kwargs.pop("min_area")
        assert not kwargs, "unexpected keyword arguments for `RandomSizedCropAug`."
        self.size = size
        self.area = area
        self.ratio = ratio
        self.interp = interp

    def __call__(self, src):
        return random_size_crop(src, self.size, self.area, self.ratio, self.interp)[0]


class BrightnessJitterAug(Augmenter):
    """Scale by a random factor around 1, in place."""

    def __init__(self, brightness):
        super().__init__(brightness=brightness)
        self.brightness = brightness

    def __call__(self, src):
        src *= 1.0 + random.uniform(-self.brightness, self.brightness)
        return src


class ContrastJitterAug(Augmenter):
    """Move towards or away from the mean gray, in place."""

    def __init__(self, contrast):
        super().__init__(contrast=contrast)
        self.contrast = contrast
        self.coef = nd.array(_GRAY)

    def __call__(self, src):
        alpha = 1.0 + random.uniform(-self.contrast, self.contrast)
        gray = src * self.coef
        gray = (3.0 * (1.0 - alpha) / gray.size) * nd.sum(gray)
        src *= alpha
        src += gray
        return src


class SaturationJitterAug(Augmenter):
    """Move each pixel towards or away from its own gray, in place."""

    def __init__(self, saturation):
        super().__init__(saturation=saturation)
        self.saturation = saturation
        self.coef = nd.array(_GRAY)

    def __call__(self, src):
        alpha = 1.0 + random.uniform(-self.saturation, self.saturation)
        gray = nd.sum(src * self.coef, axis=2, keepdims=True)
        gray *= 1.0 - alpha
        src *= alpha
        src += gray
        return src


class HueJitterAug(Augmenter):
    """Turn the hue, in the YIQ colour space."""

    def __init__(self, hue):
        super().__init__(hue=hue)
        self.hue = hue
        self.tyiq = np.array([[0.299, 0.587, 0.114], [0.596, -0.274, -0.321], [0.211, -0.523, 0.311]])
        self.ityiq = np.array([[1.0, 0.956, 0.621], [1.0, -0.272, -0.647], [1.0, -1.107, 1.705]])

    def __call__(self, src):
        angle = random.uniform(-self.hue, self.hue) * np.pi
        cosine, sine = np.cos(angle), np.sin(angle)
        turn = np.array([[1.0, 0.0, 0.0], [0.0, cosine, -sine], [0.0, sine, cosine]])
        return nd.dot(src, nd.array((self.ityiq @ turn @ self.tyiq).T))


class ColorJitterAug(RandomOrderAug):
    """Changes brightness, contrast and saturation one after the other, in any order; strength 0 leaves one out."""

    def __init__(self, brightness, contrast, saturation):
        jitters = [(BrightnessJitterAug, brightness), (ContrastJitterAug, contrast), (SaturationJitterAug, saturation)]
        super().__init__([jitter(strength) for jitter, strength in jitters if strength > 0])


class LightingAug(Augmenter):
    """AlexNet's lighting noise along the principal colour axes, in place."""

    def __init__(self, alphastd, eigval, eigvec):
        super().__init__(alphastd=alphastd, eigval=eigval, eigvec=eigvec)
        self.alphastd = alphastd
        self.eigval = eigval
        self.eigvec = eigvec

    def __call__(self, src):
        alpha = np.random.normal(0, self.alphastd, size=(3,))
        src += nd.array(np.dot(self.eigvec * alpha, self.eigval))
        return src


class ColorNormalizeAug(Augmenter):
    """Subtract a mean and divide by a deviation, in place."""

    def __init__(self, mean, std):
        super().__init__(mean=mean, std=std)
        self.mean = mean if mean is None or isinstance(mean, nd.NDArray) else nd.array(mean)
        self.std = std if std is None or isinstance(std, nd.NDArray) else nd.array(std)

    def __call__(self, src):
        return color_normalize(src, self.mean, self.std)


class RandomGrayAug(Augmenter):
    """Turn to gray with probability `p`, keeping three channels."""

    def __init__(self, p):
        super().__init__(p=p)
        self.p = p
        self.mat = nd.array([[0.21, 0.21, 0.21], [0.72, 0.72, 0.72], [0.07, 0.07, 0.07]])

    def __call__(self, src):
        return nd.dot(src, self.mat) if random.random() < self.p else src


class HorizontalFlipAug(Augmenter):
    """Mirror with probability `p`."""

    def __init__(self, p):
        super().__init__(p=p)
        self.p = p

    def __call__(self, src):
        return nd.flip(src, axis=1) if random.random() < self.p else src


class CastAug(Augmenter):
    """Cast to `typ`."""

    def __init__(self, typ="float32"):
        super().__init__(type=typ)
        self.typ = typ

    def __call__(self, src):
        return src.astype(self.typ)


def _statistic(value, default, kinds=(np.ndarray, nd.NDArray)):
    """A mean or deviation as an array: True means ImageNet's."""
    if value is True:
        return nd.array(default)
    assert value is None or (isinstance(value, kinds) and value.shape[0] in [1, 3])
    return value


def color_augmenters(brightness, contrast, saturation, hue, pca_noise, rand_gray, mean, std):
    """The colour part that the chains for classification and detection share."""
    if brightness or contrast or saturation:
        yield ColorJitterAug(brightness, contrast, saturation)
    if hue:
        yield HueJitterAug(hue)
    if pca_noise > 0:
        yield LightingAug(pca_noise, EIGENVALUES, EIGENVECTORS)
    if rand_gray > 0:
        yield RandomGrayAug(rand_gray)
    mean, std = _statistic(mean, IMAGENET_MEAN), _statistic(std, IMAGENET_STD)
    if mean is not None or std is not None:
        yield ColorNormalizeAug(mean, std)


def CreateAugmenter(
    data_shape,
    resize=0,
    rand_crop=False,
    rand_resize=False,
    rand_mirror=False,
    mean=None,
    std=None,
    brightness=0,
    contrast=0,
    saturation=0,
    hue=0,
    pca_noise=0,
    rand_gray=0,
    inter_method=2,
):
    """The usual chain for classification: resize, crop to `data_shape`, mirror, cast, colour, normalize."""
    chain = [ResizeAug(resize, inter_method)] if resize > 0 else []
    crop_size = (data_shape[2], data_shape[1])
    if rand_resize:
        assert rand_crop
        chain.append(RandomSizedCropAug(crop_size, 0.08, (3.0 / 4.0, 4.0 / 3.0), inter_method))
    elif rand_crop:
        chain.append(RandomCropAug(crop_size, inter_method))
    else:
        chain.append(CenterCropAug(crop_size, inter_method))
    if rand_mirror:
        chain.append(HorizontalFlipAug(0.5))
    chain.append(CastAug())
    chain.extend(color_augmenters(brightness, contrast, saturation, hue, pca_noise, rand_gray, mean, std))
    return chain
