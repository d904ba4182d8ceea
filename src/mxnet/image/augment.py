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
    """Applies augmenters one after the other.

    Parameters
    ----------
    ts : list of Augmenter
        The augmenters, in the order of their application.

    Examples
    --------
    >>> both = mx.image.SequentialAug([mx.image.CenterCropAug((4, 4)), mx.image.ResizeAug(2)])
    >>> both(mx.nd.ones((8, 12, 3))).shape
    (2, 2, 3)
    """


class RandomOrderAug(_Chain):
    """Applies several augmenters, in another random order for each image.

    Parameters
    ----------
    ts : list of Augmenter
        The augmenters. The list itself is shuffled.

    Examples
    --------
    >>> import random
    >>> random.seed(2)
    >>> both = mx.image.RandomOrderAug([mx.image.CenterCropAug((4, 4)), mx.image.ResizeAug(2)])
    >>> [both(mx.nd.ones((8, 12, 3))).shape for _ in range(2)]
    [(4, 4, 3), (2, 2, 3)]
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
    """Resizes the shorter side of the image to `size`, the longer one keeps the ratio.

    Parameters
    ----------
    size : int
        The new length of the shorter side.
    interp : int, default 2
        Interpolation, as for :func:`mxnet.image.imresize`.

    Examples
    --------
    >>> mx.image.ResizeAug(4)(mx.nd.ones((8, 12, 3))).shape
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
    """Crops the image at a random position; of a smaller image the largest part of this aspect ratio is enlarged.

    Parameters
    ----------
    size : (int, int)
        Width and height of the result, in this order.
    interp : int, default 2
        Interpolation, as for :func:`mxnet.image.imresize`.

    Examples
    --------
    >>> import random
    >>> random.seed(1)
    >>> image = mx.nd.arange(12).reshape((2, 6, 1))
    >>> [mx.image.RandomCropAug((3, 1))(image).asnumpy().ravel().tolist() for _ in range(3)]
    [[1.0, 2.0, 3.0], [2.0, 3.0, 4.0], [9.0, 10.0, 11.0]]
    """

    def __call__(self, src):
        return random_crop(src, self.size, self.interp)[0]


class CenterCropAug(_Sized):
    """Crops the middle of the image; of a smaller image the largest centred part of this aspect ratio is enlarged.

    Parameters
    ----------
    size : (int, int)
        Width and height of the result, in this order.
    interp : int, default 2
        Interpolation, as for :func:`mxnet.image.imresize`.

    Examples
    --------
    >>> image = mx.nd.arange(12).reshape((2, 6, 1))
    >>> mx.image.CenterCropAug((2, 1))(image)[:, :, 0].asnumpy()
    array([[2., 3.]], dtype=float32)
    >>> mx.image.CenterCropAug((4, 6))(mx.nd.ones((8, 12, 3))).shape
    (6, 4, 3)
    """

    def __call__(self, src):
        return center_crop(src, self.size, self.interp)[0]


class RandomSizedCropAug(Augmenter):
    """Crops a rectangle of random position, area and aspect ratio and resizes it to `size`: the usual one for ImageNet.

    Parameters
    ----------
    size : (int, int)
        Width and height of the result, in this order.
    area : float or (float, float)
        The range of the area, as a part of the image; one number means from it to 1.
    ratio : (float, float)
        The range of the aspect ratio, width divided by height.
    interp : int, default 2
        Interpolation, as for :func:`mxnet.image.imresize`.
    **kwargs
        `min_area`, the old name of `area`.

    Examples
    --------
    >>> import random
    >>> random.seed(1)
    >>> crop = mx.image.RandomSizedCropAug((2, 2), area=(0.1, 0.3), ratio=(0.75, 1.33), interp=1)
    >>> image = mx.nd.arange(64).reshape((8, 8, 1))  # pixels are numbered by rows: each call sees another part
    >>> for _ in range(2):
    ...     print(crop(image)[:, :, 0].asnumpy().round().tolist())
    [[18.0, 20.0], [30.0, 32.0]]
    [[45.0, 47.0], [57.0, 59.0]]
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
    """Multiplies the image by a random factor from 1 - brightness to 1 + brightness.

    Parameters
    ----------
    brightness : float
        The greatest relative change: 0.5 draws factors from 0.5 to 1.5.

    Notes
    -----
    The image is changed in place, like by the other colour augmenters of this module: pass a copy to keep the original.
    It should be float32 (`CastAug`), and the result may exceed 255. Numbers come from Python's `random`.

    Examples
    --------
    >>> import random
    >>> random.seed(1)
    >>> image = mx.nd.array([[[100.0, 100.0, 200.0]]])
    >>> mx.image.BrightnessJitterAug(0.5)(image)[0, 0].asnumpy().round(1)
    array([ 63.4,  63.4, 126.9], dtype=float32)
    >>> image[0, 0].asnumpy().round(1)  # in place
    array([ 63.4,  63.4, 126.9], dtype=float32)
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
    """Moves the image towards its mean grey, or away from it, by a random factor a from 1 - contrast to 1 + contrast.

    The result is a·x + (1 - a)·m, where m is the mean of the grey image (0.299 R + 0.587 G + 0.114 B).

    Parameters
    ----------
    contrast : float
        The greatest relative change.

    Notes
    -----
    The image, of type float32, is changed in place.

    Examples
    --------
    >>> import random
    >>> random.seed(1)
    >>> image = mx.nd.array([[[50, 50, 50], [150, 150, 150]]])  # mean grey 100
    >>> mx.image.ContrastJitterAug(0.5)(image)[0].asnumpy().round(1)
    array([[ 68.3,  68.3,  68.3],
           [131.7, 131.7, 131.7]], dtype=float32)
    """

    def __init__(self, contrast):
        super().__init__(contrast, contrast=contrast)
        self.contrast = contrast

    def _gray(self, weighted, share):
        return (3.0 * share / weighted.size) * nd.sum(weighted)


class SaturationJitterAug(_GrayJitter):
    """Moves each pixel towards its grey value, or away from it, by a random factor.

    The factor a is drawn from 1 - saturation to 1 + saturation, and the result is a·x + (1 - a)·g, where
    g = 0.299 R + 0.587 G + 0.114 B.

    Parameters
    ----------
    saturation : float
        The greatest relative change.

    Notes
    -----
    The image, of type float32, is changed in place.

    Examples
    --------
    >>> import random
    >>> random.seed(1)
    >>> image = mx.nd.array([[[200, 0, 0], [70, 70, 70]]])  # red, and a grey that cannot change
    >>> mx.image.SaturationJitterAug(0.5)(image)[0].asnumpy().round(1)
    array([[148.7,  21.9,  21.9],
           [ 70. ,  70. ,  70. ]], dtype=float32)
    """

    def __init__(self, saturation):
        super().__init__(saturation, saturation=saturation)
        self.saturation = saturation

    def _gray(self, weighted, share):
        return nd.sum(weighted, axis=2, keepdims=True) * share


class HueJitterAug(Augmenter):
    """Changes the hue: rotates the colours about the grey axis of the YIQ colour space by a random angle.

    Parameters
    ----------
    hue : float
        The greatest angle, in half turns: 0.1 means at most 18 degrees, 1 any colour.

    Examples
    --------
    >>> import random
    >>> random.seed(1)
    >>> image = mx.nd.array([[[200.0, 0.0, 0.0], [70.0, 70.0, 70.0]]])  # red, and a grey that cannot change
    >>> mx.image.HueJitterAug(0.5)(image)[0].asnumpy().round(0).tolist()
    [[86.0, 95.0, -193.0], [70.0, 70.0, 70.0]]
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
    """Changes brightness, contrast and saturation by random factors, in a random order.

    Parameters
    ----------
    brightness : float
        The greatest relative change of the brightness; 0 leaves it.
    contrast : float
        The greatest relative change of the contrast; 0 leaves it.
    saturation : float
        The greatest relative change of the saturation; 0 leaves it.

    Notes
    -----
    The image, of type float32, is changed in place.

    Examples
    --------
    >>> import random
    >>> random.seed(1)
    >>> jitter = mx.image.ColorJitterAug(0.3, 0.3, 0.3)
    >>> [jitter(mx.nd.array([[[200.0, 50.0, 0.0]]]))[0, 0].asnumpy().round().tolist() for _ in range(3)]
    [[178.0, 54.0, 13.0], [134.0, 39.0, 7.0], [256.0, 49.0, -20.0]]
    """

    def __init__(self, brightness, contrast, saturation):
        jitters = [(BrightnessJitterAug, brightness), (ContrastJitterAug, contrast), (SaturationJitterAug, saturation)]
        super().__init__([jitter(strength) for jitter, strength in jitters if strength > 0])


class LightingAug(Augmenter):
    """Adds AlexNet's lighting noise: one random shift along the principal axes of colour, the same for all pixels.

    Parameters
    ----------
    alphastd : float
        Standard deviation of the three random factors; AlexNet used 0.1.
    eigval : numpy.ndarray, shape (3,)
        Eigenvalues of the covariance of the colours.
    eigvec : numpy.ndarray, shape (3, 3)
        Its eigenvectors, one in each column.

    Notes
    -----
    The image, of type float32, is changed in place. `CreateAugmenter(pca_noise=0.1)` uses the axes of ImageNet. The
    factors come from NumPy's global stream (`np.random.seed`).

    Examples
    --------
    >>> np.random.seed(1)
    >>> image = mx.nd.array([[[200.0, 0.0, 0.0], [0.0, 0.0, 0.0]]])
    >>> mx.image.LightingAug(0.1, np.array([50.0, 5.0, 1.0]), np.eye(3))(image)[0].asnumpy().round(1)
    array([[ 2.081e+02, -3.000e-01, -1.000e-01],
           [ 8.100e+00, -3.000e-01, -1.000e-01]], dtype=float32)
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
    """(image - mean) / std, for each channel.

    Parameters
    ----------
    mean : NDArray, numpy.ndarray or None
        One value for each channel, in the unit of the image (0 to 255); None subtracts nothing.
    std : NDArray, numpy.ndarray or None
        One value for each channel; None divides by nothing.

    Examples
    --------
    >>> image = mx.nd.array([[[124.0, 117.0, 104.0]]])
    >>> mean, std = np.array([124.0, 116.0, 104.0]), np.array([58.0, 50.0, 57.0])
    >>> mx.image.ColorNormalizeAug(mean, std)(image).asnumpy().ravel()
    array([0.  , 0.02, 0.  ], dtype=float32)
    """

    def __init__(self, mean, std):
        super().__init__(mean=mean, std=std)
        self.mean, self.std = map(_as_array, (mean, std))

    def __call__(self, src):
        return color_normalize(src, self.mean, self.std)


class RandomGrayAug(Augmenter):
    """Converts to grey, in three equal channels, with probability `p`.

    Grey is 0.21 R + 0.72 G + 0.07 B here, with other weights than in the contrast and saturation augmenters, as in
    MXNet.

    Parameters
    ----------
    p : float
        The probability.

    Examples
    --------
    >>> mx.image.RandomGrayAug(1)(mx.nd.array([[[200.0, 100.0, 0.0]]])).asnumpy().ravel()
    array([114., 114., 114.], dtype=float32)
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
        The probability: 0.5 mirrors every other image, 1 all.

    Examples
    --------
    >>> image = mx.nd.array([[[1], [2], [3]]])
    >>> mx.image.HorizontalFlipAug(1)(image).asnumpy().ravel()
    array([3., 2., 1.], dtype=float32)
    """

    def __init__(self, p):
        super().__init__(p=p)
        self.p = p

    def __call__(self, src):
        return nd.flip(src, axis=1) if random.random() < self.p else src


class CastAug(Augmenter):
    """Converts the elements to another type.

    Colour augmenters compute with fractions, so `CreateAugmenter` puts it before them, after the crops, which are
    faster with bytes.

    Parameters
    ----------
    typ : str, default 'float32'
        The new type.

    Examples
    --------
    >>> image = mx.nd.array([[[0, 128, 255]]], dtype="uint8")
    >>> mx.image.CastAug()(image).asnumpy()
    array([[[  0., 128., 255.]]], dtype=float32)
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
