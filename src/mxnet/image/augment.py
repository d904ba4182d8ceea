"""Augmenters: callables that change an image of shape (height, width, channels), and the usual chain of them."""

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


def _as_array(value):
    return value if value is None or isinstance(value, nd.NDArray) else nd.array(value)


class Augmenter:
    """Base of all augmenters: callables that take an image and return a changed one.

    Images are arrays of shape (height, width, channels).

    Parameters
    ----------
    **kwargs
        Arguments of the subclass, for `dumps`.

    Examples
    --------
    >>> class Negative(mx.image.Augmenter):
    ...     def __call__(self, src):
    ...         return 255 - src
    >>> Negative().dumps()
    '["negative", {}]'
    """

    def __init__(self, **kwargs):
        self._kwargs = {name: plain(value) for name, value in kwargs.items()}

    def dumps(self):
        """The class and its arguments as JSON text, for logs.

        Examples
        --------
        >>> mx.image.ResizeAug(32).dumps()
        '["resizeaug", {"size": 32, "interp": 2}]'
        """
        return json.dumps([type(self).__name__.lower(), self._kwargs])

    def __call__(self, src):
        raise NotImplementedError(f"{type(self).__name__} must define __call__, which changes an image")


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
    """Several augmenters in order.

    Parameters
    ----------
    ts : list of Augmenter
        Augmenters.

    Examples
    --------
    >>> image = mx.nd.ones((8, 12, 3))
    >>> mx.image.SequentialAug([mx.image.ResizeAug(4), mx.image.CastAug("uint8")])(image).shape
    (4, 6, 3)
    """


class RandomOrderAug(_Chain):
    """Several augmenters in another random order for each image.

    Parameters
    ----------
    ts : list of Augmenter
        Augmenters.

    Examples
    --------
    >>> image = mx.nd.ones((8, 12, 3))
    >>> mx.image.RandomOrderAug([mx.image.ResizeAug(4), mx.image.HorizontalFlipAug(0.5)])(image).shape
    (4, 6, 3)
    """

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
    """Resizes the image so that its shorter edge has a given length.

    Parameters
    ----------
    size : int
        Length of the shorter edge.
    interp : int
        Interpolation, as for :func:`mxnet.image.imresize`.

    Examples
    --------
    >>> image = mx.nd.ones((8, 12, 3))
    >>> mx.image.ResizeAug(4)(image).shape
    (4, 6, 3)
    """

    def __call__(self, src):
        return resize_short(src, self.size, self.interp)


class ForceResizeAug(_Sized):
    """Resizes the image to a given width and height, without keeping its aspect ratio.

    Parameters
    ----------
    size : int or (int, int)
        Width and height.
    interp : int
        Interpolation, as for :func:`mxnet.image.imresize`.

    Examples
    --------
    >>> image = mx.nd.ones((8, 12, 3))
    >>> mx.image.ForceResizeAug((5, 7))(image).shape
    (7, 5, 3)
    """

    def __call__(self, src):
        sizes = (src.shape[0], src.shape[1], self.size[1], self.size[0])
        return imresize(src, *self.size, interp=_get_interp_method(self.interp, sizes))


class RandomCropAug(_Sized):
    """Crops the image at a random position; a smaller image is enlarged.

    Parameters
    ----------
    size : int or (int, int)
        Width and height.
    interp : int
        Interpolation, as for :func:`mxnet.image.imresize`.

    Examples
    --------
    >>> image = mx.nd.ones((8, 12, 3))
    >>> mx.image.RandomCropAug((4, 6))(image).shape
    (6, 4, 3)
    """

    def __call__(self, src):
        return random_crop(src, self.size, self.interp)[0]


class CenterCropAug(_Sized):
    """Crops the image at its centre; a smaller image is enlarged.

    Parameters
    ----------
    size : int or (int, int)
        Width and height.
    interp : int
        Interpolation, as for :func:`mxnet.image.imresize`.

    Examples
    --------
    >>> image = mx.nd.ones((8, 12, 3))
    >>> mx.image.CenterCropAug((4, 6))(image).shape
    (6, 4, 3)
    """

    def __call__(self, src):
        return center_crop(src, self.size, self.interp)[0]


class RandomSizedCropAug(Augmenter):
    """Crops a part of random area and aspect ratio and resizes it.

    Parameters
    ----------
    size : (int, int)
        Width and height of the result.
    area : float or (float, float)
        Least, or least and largest, share of the image's area.
    ratio : (float, float)
        Least and largest aspect ratio, width / height.
    interp : int
        Interpolation, as for :func:`mxnet.image.imresize`.

    Examples
    --------
    >>> image = mx.nd.ones((8, 12, 3))
    >>> mx.image.RandomSizedCropAug((4, 4), 0.5, (3 / 4, 4 / 3))(image).shape
    (4, 4, 3)
    """

    def __init__(self, size, area, ratio, interp=2, **kwargs):
        super().__init__(size=size, area=area, ratio=ratio, interp=interp)
        if "min_area" in kwargs:
            warnings.warn("`min_area` is deprecated. Please use `area` instead.", DeprecationWarning, stacklevel=2)
            area = kwargs.pop("min_area")
        assert not kwargs, f"RandomSizedCropAug does not take {', '.join(kwargs)}"
        self.size = size
        self.area = area
        self.ratio = ratio
        self.interp = interp

    def __call__(self, src):
        return random_size_crop(src, self.size, self.area, self.ratio, self.interp)[0]


class BrightnessJitterAug(Augmenter):
    """Multiplies the image, in place, by a random factor from 1 - brightness to 1 + brightness.

    Parameters
    ----------
    brightness : float
        Largest change.

    Examples
    --------
    >>> image = mx.nd.ones((8, 12, 3))
    >>> bool(abs(mx.image.BrightnessJitterAug(0.1)(image) - 1).max().asscalar() <= 0.1001)
    True
    """

    def __init__(self, brightness):
        super().__init__(brightness=brightness)
        self.brightness = brightness

    def __call__(self, src):
        src *= 1.0 + random.uniform(-self.brightness, self.brightness)
        return src


class _GrayJitter(Augmenter):
    """Base of what mixes an image with gray, in place: alpha * image + (1 - alpha) * gray, alpha random around 1."""

    def __init__(self, strength, **kwargs):
        super().__init__(**kwargs)
        self._strength = strength
        self.coef = nd.array(_GRAY)

    def __call__(self, src):
        alpha = 1.0 + random.uniform(-self._strength, self._strength)
        shift = self._gray(src * self.coef, 1.0 - alpha)
        src *= alpha
        src += shift
        return src

    def _gray(self, weighted, share):
        """`share` of the gray of an image whose channels are weighted."""
        raise NotImplementedError


class ContrastJitterAug(_GrayJitter):
    """Moves the image, in place, towards its mean gray or away from it.

    Parameters
    ----------
    contrast : float
        Largest change of the contrast.

    Examples
    --------
    >>> image = mx.nd.ones((8, 12, 3))
    >>> mx.image.ContrastJitterAug(0.1)(image).shape
    (8, 12, 3)
    """

    def __init__(self, contrast):
        super().__init__(contrast, contrast=contrast)
        self.contrast = contrast

    def _gray(self, weighted, share):
        return (3.0 * share / weighted.size) * nd.sum(weighted)


class SaturationJitterAug(_GrayJitter):
    """Moves each pixel, in place, towards its gray or away from it.

    Parameters
    ----------
    saturation : float
        Largest change of the saturation.

    Examples
    --------
    >>> image = mx.nd.ones((8, 12, 3))
    >>> mx.image.SaturationJitterAug(0.1)(image).shape
    (8, 12, 3)
    """

    def __init__(self, saturation):
        super().__init__(saturation, saturation=saturation)
        self.saturation = saturation

    def _gray(self, weighted, share):
        return nd.sum(weighted, axis=2, keepdims=True) * share


class HueJitterAug(Augmenter):
    """Rotates the hue in the YIQ colour space by a random angle.

    Parameters
    ----------
    hue : float
        Largest angle, in half turns.

    Examples
    --------
    >>> image = mx.nd.ones((8, 12, 3))
    >>> mx.image.HueJitterAug(0.1)(image).shape
    (8, 12, 3)
    """

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
    """Changes brightness, contrast and saturation in a random order; 0 leaves one out.

    Parameters
    ----------
    brightness, contrast, saturation : float
        Largest change of each.

    Examples
    --------
    >>> image = mx.nd.ones((8, 12, 3))
    >>> mx.image.ColorJitterAug(0.1, 0.1, 0.1)(image).shape
    (8, 12, 3)
    """

    def __init__(self, brightness, contrast, saturation):
        jitters = [(BrightnessJitterAug, brightness), (ContrastJitterAug, contrast), (SaturationJitterAug, saturation)]
        super().__init__([jitter(strength) for jitter, strength in jitters if strength > 0])


class LightingAug(Augmenter):
    """Adds AlexNet's lighting noise along the principal axes of colour, in place.

    Parameters
    ----------
    alphastd : float
        Standard deviation of the noise.
    eigval, eigvec : numpy.ndarray
        Eigenvalues, shape (3,), and eigenvectors, shape (3, 3), of the colours' covariance.

    Examples
    --------
    >>> image = mx.nd.ones((8, 12, 3))
    >>> mx.image.LightingAug(0.1, np.ones(3), np.eye(3))(image).shape
    (8, 12, 3)
    """

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
    """Subtracts a mean and divides by a standard deviation.

    Parameters
    ----------
    mean, std : NDArray, numpy.ndarray or None
        Values for each channel; None leaves the step out.

    Examples
    --------
    >>> image = mx.nd.ones((1, 1, 3))
    >>> mx.image.ColorNormalizeAug(np.ones(3), np.ones(3))(image).asnumpy().ravel()
    array([0., 0., 0.], dtype=float32)
    """

    def __init__(self, mean, std):
        super().__init__(mean=mean, std=std)
        self.mean, self.std = map(_as_array, (mean, std))

    def __call__(self, src):
        return color_normalize(src, self.mean, self.std)


class RandomGrayAug(Augmenter):
    """Converts to gray, in three equal channels, with probability `p`.

    Parameters
    ----------
    p : float
        Probability.

    Examples
    --------
    >>> image = mx.nd.ones((8, 12, 3))
    >>> mx.image.RandomGrayAug(1)(image).shape
    (8, 12, 3)
    """

    def __init__(self, p):
        super().__init__(p=p)
        self.p = p
        self.mat = nd.array([[0.21, 0.21, 0.21], [0.72, 0.72, 0.72], [0.07, 0.07, 0.07]])

    def __call__(self, src):
        return nd.dot(src, self.mat) if random.random() < self.p else src


class HorizontalFlipAug(Augmenter):
    """Mirrors left and right with probability `p`.

    Parameters
    ----------
    p : float
        Probability.

    Examples
    --------
    >>> image = mx.nd.arange(2).reshape((1, 2, 1))
    >>> mx.image.HorizontalFlipAug(1)(image).asnumpy().ravel()
    array([1., 0.], dtype=float32)
    """

    def __init__(self, p):
        super().__init__(p=p)
        self.p = p

    def __call__(self, src):
        return nd.flip(src, axis=1) if random.random() < self.p else src


class CastAug(Augmenter):
    """Converts the elements to another type.

    Parameters
    ----------
    typ : str
        Type.

    Examples
    --------
    >>> mx.image.CastAug("uint8")(mx.nd.ones((1, 1, 3))).dtype
    <class 'numpy.uint8'>
    """

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
    """The usual chain for classification: resize, crop to `data_shape`, mirror, cast, colour, normalize.

    Parameters
    ----------
    data_shape : (int, int, int)
        Channels, height and width of the result.
    resize : int
        Length of the shorter edge before cropping; 0 leaves the size as it is.
    rand_crop : bool
        Whether the position of the crop is random, not the centre.
    rand_resize : bool
        Whether area and aspect ratio of the crop are random too; needs `rand_crop`.
    rand_mirror : bool
        Whether to mirror half of the images.
    mean, std : NDArray, numpy.ndarray, True or None
        Mean and standard deviation of each channel; True means those of ImageNet.
    brightness, contrast, saturation, hue, pca_noise, rand_gray : float
        Strength of the colour augmenters; 0 leaves one out.
    inter_method : int
        Interpolation, as for :func:`mxnet.image.imresize`.

    Returns
    -------
    list of Augmenter

    Examples
    --------
    >>> chain = mx.image.CreateAugmenter((3, 4, 4), rand_crop=True, rand_mirror=True)
    >>> [type(augmenter).__name__ for augmenter in chain]
    ['RandomCropAug', 'HorizontalFlipAug', 'CastAug']
    """
    return [
        *([ResizeAug(resize, inter_method)] if resize > 0 else []),
        _crop((data_shape[2], data_shape[1]), rand_crop, rand_resize, inter_method),
        *([HorizontalFlipAug(0.5)] if rand_mirror else []),
        CastAug(),
        *color_augmenters(brightness, contrast, saturation, hue, pca_noise, rand_gray, mean, std),
    ]


def _crop(size, rand_crop, rand_resize, interp):
    """The augmenter that crops to (width, height)."""
    if rand_resize:
        assert rand_crop, "rand_resize draws the area of a random crop: it needs rand_crop=True"
        return RandomSizedCropAug(size, 0.08, (3 / 4, 4 / 3), interp)
    return (RandomCropAug if rand_crop else CenterCropAug)(size, interp)
