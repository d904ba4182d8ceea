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
    """Apply transforms one after the other.

    It is the usual way to prepare the images of a data set: pass the result to `Dataset.transform_first`, which applies
    it to the image of each sample and leaves the label as it is. Neighbouring hybrid transforms are joined into one
    hybridized block.

    Parameters
    ----------
    transforms : list of Blocks
        The transforms, in the order of their application. Each takes what the one before it returns.

    Examples
    --------
    >>> from mxnet.gluon.data.vision import transforms
    >>> prepare = transforms.Compose([transforms.Resize(4), transforms.ToTensor()])
    >>> prepare(mx.nd.ones((8, 6, 3), dtype="uint8")).shape
    (3, 4, 4)
    >>> pictures = mx.gluon.data.ArrayDataset(mx.nd.ones((5, 8, 6, 3), dtype="uint8"), list(range(5)))
    >>> image, label = pictures.transform_first(prepare)[2]
    >>> image.shape, label
    ((3, 4, 4), 2)
    """

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
    """Convert to another data type.

    The values stay as they are: unlike `ToTensor`, it neither divides by 255 nor moves the channels to the front.

    Parameters
    ----------
    dtype : str, default 'float32'
        The data type of the result. The shape is that of the input.

    Examples
    --------
    >>> mx.gluon.data.vision.transforms.Cast("float32")(mx.nd.ones((2, 2, 3), dtype="uint8")).dtype.__name__
    'float32'
    >>> mx.gluon.data.vision.transforms.Cast("float16")(mx.nd.array([1.5, 300])).asnumpy()
    array([  1.5, 300. ], dtype=float16)
    """

    def __init__(self, dtype="float32"):
        super().__init__()
        self._dtype = dtype

    def hybrid_forward(self, F, x):
        return _operators(F).cast(x, self._dtype)


class ToTensor(HybridBlock):
    """From uint8 images (height, width, channels) of 0 to 255 to float32 images (channels, height, width) of 0 to 1.

    Parameters
    ----------
    prefix : str, optional
        The prefix of the block's name.
    params : ParameterDict, optional
        Accepted like that of all blocks: this one has no parameters.

    Examples
    --------
    >>> image = mx.nd.array([[[0, 51, 255]]], dtype="uint8")
    >>> mx.gluon.data.vision.transforms.ToTensor()(image).asnumpy().ravel()
    array([0. , 0.2, 1. ], dtype=float32)
    """

    def hybrid_forward(self, F, x):
        return _operators(F).image.to_tensor(x)


class Normalize(HybridBlock):
    """(image - mean) / std, for each channel of an image with channels first.

    Use it after `ToTensor`, with mean and standard deviation of images from 0 to 1. Pretrained networks of the model
    zoo expect those of ImageNet: mean (0.485, 0.456, 0.406), std (0.229, 0.224, 0.225).

    Parameters
    ----------
    mean : float or tuple of float, default 0.0
        The number to subtract, or one for each channel.
    std : float or tuple of float, default 1.0
        The number to divide by, or one for each channel.

    Inputs
    ------
    x : NDArray, shape (channels, height, width) or (N, channels, height, width)
        A float32 image, or a batch, of 1 or 3 channels.

    Examples
    --------
    >>> normalize = mx.gluon.data.vision.transforms.Normalize(mean=(0.5, 0.5, 0.25), std=(0.5, 0.25, 0.25))
    >>> normalize(mx.nd.ones((3, 1, 1))).asnumpy().ravel()
    array([1., 2., 3.], dtype=float32)
    """

    def __init__(self, mean=0.0, std=1.0):
        super().__init__()
        self._mean = mean
        self._std = std

    def hybrid_forward(self, F, x):
        return _operators(F).image.normalize(x, self._mean, self._std)


class Rotate(Block):
    """Rotate a float image with channels first.

    The image has shape (C, H, W), or (N, C, H, W) for a batch, and type float32: apply `ToTensor` first. Positive
    angles turn it counter-clockwise about its centre. The size stays the same, pixels are interpolated linearly, and
    corners that come from outside are 0 unless the image is zoomed.

    Parameters
    ----------
    rotation_degrees : float
        The angle in degrees.
    zoom_in : bool, default False
        Whether to enlarge the image until no corner comes from outside.
    zoom_out : bool, default False
        Whether to zoom out until the whole image is seen.

    Examples
    --------
    >>> mx.gluon.data.vision.transforms.Rotate(90)(mx.nd.ones((3, 8, 8))).shape
    (3, 8, 8)
    >>> turned = mx.gluon.data.vision.transforms.Rotate(90)(mx.nd.array([[[0, 1], [2, 3]]]))
    >>> turned[0].asnumpy()
    array([[1., 3.],
           [0., 2.]], dtype=float32)
    """

    def __init__(self, rotation_degrees, zoom_in=False, zoom_out=False):
        super().__init__()
        self._args = (rotation_degrees, zoom_in, zoom_out)

    def forward(self, x):
        _needs_float32(x)
        return image.imrotate(x, *self._args)


class RandomRotation(Block):
    """Rotate an image with channels first by a random angle about its centre.

    Parameters
    ----------
    angle_limits : tuple of two floats
        The range of the angle, in degrees; positive angles turn counter-clockwise.
    zoom_in : bool, default False
        Whether to enlarge the image until no corner comes from outside.
    zoom_out : bool, default False
        Whether to reduce the image until all of it is seen.
    rotate_with_proba : float, default 1.0
        The probability that the image is rotated at all.

    Inputs
    ------
    x : NDArray, shape (channels, height, width) or (N, channels, height, width)
        A float32 image: apply `ToTensor` first. Each image of a batch gets an angle of its own.

    Notes
    -----
    The angles come from NumPy's global stream, so `np.random.seed` makes them repeatable.

    Examples
    --------
    >>> np.random.seed(1)
    >>> rotate = mx.gluon.data.vision.transforms.RandomRotation((-90, 90))
    >>> rotate(mx.nd.array([[[0, 0, 0], [1, 1, 1], [0, 0, 0]]]))[0].asnumpy().round(1)  # a bar, by -15 degrees
    array([[0. , 0.2, 0.5],
           [0.4, 1. , 0.4],
           [0.5, 0.2, 0. ]], dtype=float32)
    """

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
    """A crop of random position, area and aspect ratio, resized to `size`: the usual augmentation for ImageNet.

    Area and aspect ratio are drawn until the rectangle fits into the image; after ten attempts the centre is taken.

    Parameters
    ----------
    size : int or tuple of two ints
        Width and height of the result, or one number for both.
    scale : tuple of two floats, default (0.08, 1.0)
        The range of the area, as a part of the image. For small images, or if the object fills the image, begin higher.
    ratio : tuple of two floats, default (3.0 / 4.0, 4.0 / 3.0)
        The range of the aspect ratio, width divided by height.
    interpolation : int, default 1
        0 nearest, 1 bilinear, 2 cubic, 3 area, 4 Lanczos.

    Inputs
    ------
    x : NDArray, shape (height, width, channels)
        One image; batches are not taken.

    Notes
    -----
    The numbers come from Python's `random`, so `random.seed` makes the crops repeatable, not `mx.random.seed`.

    Examples
    --------
    >>> import random
    >>> random.seed(1)
    >>> crop = mx.gluon.data.vision.transforms.RandomResizedCrop(2, scale=(0.1, 0.3))
    >>> image = mx.nd.arange(64).reshape((8, 8, 1))  # pixels are numbered by rows: each call sees another part
    >>> for _ in range(2):
    ...     print(crop(image)[:, :, 0].asnumpy().round().tolist())
    [[18.0, 20.0], [30.0, 32.0]]
    [[45.0, 47.0], [57.0, 59.0]]
    """

    def __init__(self, size, scale=(0.08, 1.0), ratio=(3.0 / 4.0, 4.0 / 3.0), interpolation=1):
        super().__init__()
        self._args = (_pair(size), scale, ratio, interpolation)

    def forward(self, x):
        return image.random_size_crop(x, *self._args)[0]


class CropResize(HybridBlock):
    """A fixed rectangle of an image, resized if a size is given.

    Parameters
    ----------
    x : int
        The left edge, in pixels from the left.
    y : int
        The upper edge, in pixels from the top.
    width : int
        The width of the rectangle, which must lie inside the image.
    height : int
        The height of the rectangle.
    size : int or tuple of two ints, optional
        Width and height of the result, or one number for both; None leaves the rectangle as it is.
    interpolation : int, optional
        How the rectangle is resized: 0 nearest, 1 bilinear, 2 cubic, 3 area, 4 Lanczos.

    Inputs
    ------
    x : NDArray, shape (height, width, channels) or (N, height, width, channels)
        One image, or a batch, of which the same rectangle is taken everywhere.

    Examples
    --------
    >>> image = mx.nd.arange(8).reshape((2, 4, 1))
    >>> crop = mx.gluon.data.vision.transforms.CropResize(x=1, y=0, width=2, height=2)
    >>> crop(image)[:, :, 0].asnumpy()
    array([[1., 2.],
           [5., 6.]], dtype=float32)
    >>> resized = mx.gluon.data.vision.transforms.CropResize(0, 0, 4, 4, size=(2, 3), interpolation=1)
    >>> resized(mx.nd.ones((8, 6, 3))).shape
    (3, 2, 3)
    """

    def __init__(self, x, y, width, height, size=None, interpolation=None):
        super().__init__()
        self._box, self._size, self._interpolation = (x, y, width, height), size, interpolation

    def hybrid_forward(self, F, x):
        out = F.image.crop(x, *self._box)
        return F.image.resize(out, self._size, False, self._interpolation) if self._size else out


class CenterCrop(Block):
    """The middle of an image, `size` large.

    An image that is smaller than `size` is not padded: the largest centred part of the same aspect ratio is cut out and
    enlarged to `size`, so the result always has this size.

    Parameters
    ----------
    size : int or tuple of two ints
        Width and height of the result, in this order, or one number for both.
    interpolation : int, default 1
        How a part of a smaller image is enlarged: 0 nearest, 1 bilinear, 2 cubic, 3 area, 4 Lanczos.

    Inputs
    ------
    x : NDArray, shape (height, width, channels)
        One image of any type; batches are not taken.

    Examples
    --------
    >>> from mxnet.gluon.data.vision import transforms
    >>> image = mx.nd.arange(12).reshape((2, 6, 1))
    >>> transforms.CenterCrop((2, 1))(image)[:, :, 0].asnumpy()
    array([[2., 3.]], dtype=float32)
    >>> transforms.CenterCrop(6)(mx.nd.ones((4, 8, 3))).shape
    (6, 6, 3)
    """

    def __init__(self, size, interpolation=1):
        super().__init__()
        self._args = (_pair(size), interpolation)

    def forward(self, x):
        return image.center_crop(x, *self._args)[0]


class Resize(HybridBlock):
    """Resize an image to a width and height, or its shorter side to a length.

    Parameters
    ----------
    size : int or tuple of two ints
        Width and height of the result, in this order; one number stands for both, or for the shorter side if
        `keep_ratio` is True.
    keep_ratio : bool, default False
        Whether one number is the length of the shorter side, the longer one keeping the ratio. Without it a number
        gives a square, which distorts images that are not.
    interpolation : int, default 1
        0 nearest, 1 bilinear, 2 cubic, 3 area (best for reducing), 4 Lanczos.

    Inputs
    ------
    x : NDArray, shape (height, width, channels) or (N, height, width, channels)
        One image, or a batch.

    Examples
    --------
    >>> from mxnet.gluon.data.vision import transforms
    >>> image = mx.nd.ones((8, 16, 3))
    >>> transforms.Resize(4)(image).shape
    (4, 4, 3)
    >>> transforms.Resize(4, keep_ratio=True)(image).shape
    (4, 8, 3)
    >>> transforms.Resize((5, 2))(image).shape  # the shape has the height first
    (2, 5, 3)
    """

    def __init__(self, size, keep_ratio=False, interpolation=1):
        super().__init__()
        self._keep = keep_ratio
        self._size = size
        self._interpolation = interpolation

    def hybrid_forward(self, F, x):
        return _operators(F).image.resize(x, self._size, self._keep, self._interpolation)


class RandomFlipLeftRight(HybridBlock):
    """Mirror the image with probability one half.

    Do not use it where left and right matter, as for letters and digits.

    Parameters
    ----------
    prefix : str, optional
        The prefix of the block's name.
    params : ParameterDict, optional
        Accepted like that of all blocks: this one has no parameters.

    Inputs
    ------
    x : NDArray, shape (height, width, channels) or (N, height, width, channels)
        One image of any type, or a batch, which is mirrored as a whole or not at all.

    Examples
    --------
    >>> mx.random.seed(1)
    >>> flip = mx.gluon.data.vision.transforms.RandomFlipLeftRight()
    >>> [flip(mx.nd.array([[[1], [2]]])).asnumpy().ravel().tolist() for _ in range(4)]
    [[1.0, 2.0], [2.0, 1.0], [2.0, 1.0], [2.0, 1.0]]
    """

    def hybrid_forward(self, F, x):
        return _operators(F).image.random_flip_left_right(x)


class RandomFlipTopBottom(HybridBlock):
    """Turn the image upside down with probability one half.

    It suits images without a natural upside, such as those of satellites and microscopes.

    Parameters
    ----------
    prefix : str, optional
        The prefix of the block's name.
    params : ParameterDict, optional
        Accepted like that of all blocks: this one has no parameters.

    Inputs
    ------
    x : NDArray, shape (height, width, channels) or (N, height, width, channels)
        One image of any type, or a batch, which is turned as a whole or not at all.

    Examples
    --------
    >>> mx.random.seed(1)
    >>> flip = mx.gluon.data.vision.transforms.RandomFlipTopBottom()
    >>> [flip(mx.nd.array([[[1]], [[2]]])).asnumpy().ravel().tolist() for _ in range(4)]
    [[1.0, 2.0], [2.0, 1.0], [2.0, 1.0], [2.0, 1.0]]
    """

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
    """Multiply the image by a random factor from 1 - brightness to 1 + brightness.

    The factor a is drawn uniformly for each call, from max(0, 1 - brightness) to 1 + brightness, and the result is a·x.
    Results of uint8 images are rounded down and limited to 0 … 255; those of float images are not limited.

    Parameters
    ----------
    brightness : float
        The greatest relative change: 0.5 draws factors from 0.5 to 1.5; 0 changes nothing.

    Inputs
    ------
    x : NDArray, shape (height, width, channels)
        An image of type uint8 or float32. The numbers are drawn from MXNet's stream (`mx.random.seed`).

    Examples
    --------
    >>> mx.random.seed(3)
    >>> image = mx.nd.array([[[100, 100, 200]]], dtype="uint8")
    >>> mx.gluon.data.vision.transforms.RandomBrightness(0.5)(image)[0, 0].asnumpy().tolist()
    [108, 108, 217]
    """

    _operator = "random_brightness"

    def __init__(self, brightness):
        super().__init__(brightness)


class RandomContrast(_Jitter):
    """Move the image towards its mean grey, or away from it, by a random factor from 1 - contrast to 1 + contrast.

    The factor a is drawn uniformly for each call, from max(0, 1 - contrast) to 1 + contrast, and the result is
    a·x + (1 - a)·m, where m is the mean of the grey image (0.299 R + 0.587 G + 0.114 B). A factor of 0 gives an image
    of one grey, 1 the image itself. Results of uint8 images are rounded down and limited to 0 … 255; those of float
    images are not limited.

    Parameters
    ----------
    contrast : float
        The greatest relative change: 0.5 draws factors from 0.5 to 1.5; 0 changes nothing.

    Inputs
    ------
    x : NDArray, shape (height, width, 3)
        An image of type uint8 or float32, channels red, green, blue.

    Examples
    --------
    >>> mx.random.seed(3)
    >>> image = mx.nd.array([[[50, 50, 50], [150, 150, 150]]])  # mean grey 100
    >>> mx.gluon.data.vision.transforms.RandomContrast(0.5)(image)[0].asnumpy().round(1)
    array([[ 45.7,  45.7,  45.7],
           [154.3, 154.3, 154.3]], dtype=float32)
    """

    _operator = "random_contrast"

    def __init__(self, contrast):
        super().__init__(contrast)


class RandomSaturation(_Jitter):
    """Change the saturation by a random factor from 1 - saturation to 1 + saturation.

    The factor a is drawn uniformly for each call, from max(0, 1 - saturation) to 1 + saturation, and the result is
    a·x + (1 - a)·g for each pixel. A factor of 1 gives the image itself. Results of uint8 images are rounded down and
    limited to 0 … 255; those of float images are not limited.

    Parameters
    ----------
    saturation : float
        The greatest relative change: 0.5 draws factors from 0.5 to 1.5; 0 changes nothing.

    Inputs
    ------
    x : NDArray, shape (height, width, 3)
        An image of type uint8 or float32, channels red, green, blue.

    Notes
    -----
    The grey value should be g = 0.299 R + 0.587 G + 0.114 B. MXNet's operator takes only its last term, 0.114 B, and so
    does this one, whose numbers are the same: grey pixels change, too, almost as with `RandomBrightness`.
    `mx.image.SaturationJitterAug` uses the whole sum.

    Examples
    --------
    >>> mx.random.seed(3)
    >>> image = mx.nd.array([[[200, 0, 0], [70, 70, 70]]])  # red and grey
    >>> mx.gluon.data.vision.transforms.RandomSaturation(0.5)(image)[0].asnumpy().round(1)
    array([[217.1,   0. ,   0. ],
           [ 75.3,  75.3,  75.3]], dtype=float32)
    """

    _operator = "random_saturation"

    def __init__(self, saturation):
        super().__init__(saturation)


class RandomHue(_Jitter):
    """Change the hue by a random angle, at most `hue` times the whole colour circle.

    The angle is drawn uniformly for each call, from -360°·hue to 360°·hue; lightness and saturation stay the same. A
    red image may become orange or violet with `hue=0.1`, and any colour with `hue=0.5`.

    Parameters
    ----------
    hue : float
        The greatest change as a share of the colour circle; 0 changes nothing, up to rounding.

    Inputs
    ------
    x : NDArray, shape (height, width, 3)
        An image of type uint8 or float32 with values from 0 to 255, channels red, green, blue.

    Examples
    --------
    >>> mx.random.seed(3)
    >>> image = mx.nd.array([[[200, 0, 0]]], dtype="uint8")  # red becomes orange
    >>> mx.gluon.data.vision.transforms.RandomHue(0.5)(image)[0, 0].asnumpy().tolist()
    [200, 102, 0]
    """

    _operator = "random_hue"

    def __init__(self, hue):
        super().__init__(hue)


class RandomColorJitter(HybridBlock):
    """Change brightness, contrast, saturation and hue at random, in a random order.

    Parameters
    ----------
    brightness : float, default 0
        The greatest relative change of the brightness, as for `RandomBrightness`; 0 leaves it.
    contrast : float, default 0
        The greatest relative change of the contrast, as for `RandomContrast`.
    saturation : float, default 0
        The greatest relative change of the saturation, as for `RandomSaturation`.
    hue : float, default 0
        The greatest change of the hue as a share of the colour circle, as for `RandomHue`; 0.1 is much.

    Inputs
    ------
    x : NDArray, shape (height, width, 3)
        An image of type uint8 or float32 with values from 0 to 255, channels red, green, blue.

    Examples
    --------
    >>> mx.random.seed(3)
    >>> image = mx.nd.array([[[200, 50, 0]]], dtype="uint8")
    >>> jitter = mx.gluon.data.vision.transforms.RandomColorJitter(0.3, 0.3, 0.3, 0.1)
    >>> [jitter(image)[0, 0].asnumpy().tolist() for _ in range(3)]
    [[163, 8, 13], [235, 15, 0], [161, 62, 0]]
    """

    def __init__(self, brightness=0, contrast=0, saturation=0, hue=0):
        super().__init__()
        self._args = (brightness, contrast, saturation, hue)

    def hybrid_forward(self, F, x):
        return _operators(F).image.random_color_jitter(x, *self._args)


class RandomLighting(HybridBlock):
    """Add AlexNet's colour noise: one random shift along the principal components of natural colours.

    The three principal components of the colours of ImageNet, each scaled by its eigenvalue and by a random number from
    a normal distribution of standard deviation `alpha`, are added to every pixel. All pixels get the same shift, so
    that it looks like a change of the light.

    Parameters
    ----------
    alpha : float
        The standard deviation of the random numbers; AlexNet used 0.1, and 0 changes nothing.

    Inputs
    ------
    x : NDArray, shape (height, width, 3)
        An image of type uint8 or float32 with values from 0 to 255, channels red, green, blue.

    Examples
    --------
    >>> mx.random.seed(3)
    >>> image = mx.nd.array([[[200, 0, 0], [0, 0, 0]]])
    >>> mx.gluon.data.vision.transforms.RandomLighting(0.1)(image)[0].asnumpy().round(1)
    array([[205.7,   5.4,   4.6],
           [  5.7,   5.4,   4.6]], dtype=float32)
    """

    def __init__(self, alpha):
        super().__init__()
        self._alpha = alpha

    def hybrid_forward(self, F, x):
        return _operators(F).image.random_lighting(x, self._alpha)


class RandomApply(Sequential):
    """Apply a transform with a probability.

    A number is drawn with Python's `random` for each call, so `random.seed` makes the choice repeatable, not
    `mx.random.seed`.

    Parameters
    ----------
    transforms : Block
        The transform, called with the image if it is applied.
    p : float, default 0.5
        The probability of applying it: 0 never does, 1 always.

    Examples
    --------
    >>> from mxnet.gluon.data.vision import transforms
    >>> transforms.RandomApply(transforms.CenterCrop(4), p=1.0)(mx.nd.ones((8, 6, 3))).shape
    (4, 4, 3)
    """

    def __init__(self, transforms, p=0.5):
        super().__init__()
        self.transforms = transforms
        self.p = p

    def forward(self, x):
        return x if self.p < random.random() else self.transforms(x)


class HybridCompose(HybridSequential):
    """Apply hybrid transforms one after the other, as one graph.

    All transforms must be hybrid blocks; `Compose` also accepts others. The input and the output are those of
    `Compose`.

    Parameters
    ----------
    transforms : list of HybridBlocks
        The transforms, in the order of their application. Another kind of block raises ValueError.

    Examples
    --------
    >>> from mxnet.gluon.data.vision import transforms
    >>> prepare = transforms.HybridCompose([transforms.Resize(4), transforms.ToTensor()])
    >>> prepare(mx.nd.ones((8, 6, 3), dtype="uint8")).shape
    (3, 4, 4)
    """

    def __init__(self, transforms):
        super().__init__()
        for transform in transforms:
            if not isinstance(transform, HybridBlock):
                raise ValueError(f"{transform} is not a HybridBlock, try use `Compose` instead")
            self.add(transform)
        self.hybridize()
