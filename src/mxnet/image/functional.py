"""Functions on images as NDArrays of height, width, channels: decode, resize, crop, rotate."""

import random
import warnings
from numbers import Number

import numpy as np

from .. import ndarray as nd
from ..base import numeric_types
from ..context import cpu
from ..ndarray import _internal
from ..util import active


def imread(filename, *args, **kwargs):
    """Read and decode an image file.

    Parameters
    ----------
    filename : str
        The name of the file.
    *args
        `flag` and `to_rgb` by position.
    **kwargs
        `flag` (1 colour, 0 grey), `to_rgb` (False leaves the channels as BGR) and `out`.

    Returns
    -------
    NDArray
        The image, (height, width, channels), uint8.

    Examples
    --------
    >>> import cv2
    >>> _ = cv2.imwrite("picture.png", np.zeros((4, 6, 3), "uint8"))
    >>> mx.image.imread("picture.png").shape
    (4, 6, 3)
    """
    return active(_internal._cvimread(filename, *args, **kwargs))


def imresize(src, w, h, *args, **kwargs):
    """Resize an image.

    Parameters
    ----------
    src : NDArray
        The image, (height, width, channels).
    w : int
        The new width.
    h : int
        The new height.
    *args
        `interp` by position.
    **kwargs
        `interp`: 0 nearest, 1 bilinear, 2 cubic, 3 area, 4 Lanczos, 9 by size.

    Returns
    -------
    NDArray

    Examples
    --------
    >>> mx.image.imresize(mx.nd.ones((4, 6, 3)), 3, 2).shape
    (2, 3, 3)
    """
    return active(_internal._cvimresize(src, w, h, *args, **kwargs))


def imdecode(buf, *args, **kwargs):
    """Decode the bytes of an image file.

    Parameters
    ----------
    buf : bytes or NDArray
        The bytes.
    *args
        `flag` and `to_rgb` by position.
    **kwargs
        `flag` (1 colour, 0 grey), `to_rgb` (False leaves the channels as BGR) and `out`.

    Returns
    -------
    NDArray
        The image, (height, width, channels), uint8.

    Examples
    --------
    >>> import cv2
    >>> data = cv2.imencode(".png", np.zeros((4, 6, 3), "uint8"))[1].tobytes()
    >>> mx.image.imdecode(data).shape
    (4, 6, 3)
    """
    if not isinstance(buf, nd.NDArray):
        if not isinstance(buf, (bytes, bytearray, np.ndarray)):
            raise ValueError(
                f"buf must be of type bytes, bytearray or numpy.ndarray, got {type(buf)}: "
                "if you would like to input type str, please convert to bytes"
            )
        buf = nd.array(np.frombuffer(buf, dtype=np.uint8), ctx=cpu(), dtype=np.uint8)  # where it is decoded
    return active(_internal._cvimdecode(buf, *args, **kwargs))


def copyMakeBorder(src, top, bot, left, right, *args, **kwargs):
    """Put a border around an image.

    Parameters
    ----------
    src : NDArray
        The image, (height, width, channels).
    top : int
        The width of the upper border.
    bot : int
        The width of the lower border.
    left : int
        The width of the left border.
    right : int
        The width of the right border.
    *args
        Further arguments of the operator by position.
    **kwargs
        `type` (OpenCV's border mode) and `values` (the border's colour, for mode 0).

    Returns
    -------
    NDArray

    Examples
    --------
    >>> mx.image.copyMakeBorder(mx.nd.ones((4, 6, 3), dtype="uint8"), 1, 1, 2, 2).shape
    (6, 10, 3)
    """
    return _internal._cvcopyMakeBorder(src, top, bot, left, right, *args, **kwargs)


def scale_down(src_size, size):
    """The largest size with the proportions of `size` that fits; `size` itself if it fits.

    Parameters
    ----------
    src_size : tuple of two ints
        Width and height of the image.
    size : tuple of two ints
        The wanted width and height.

    Returns
    -------
    (int, int)

    Examples
    --------
    >>> mx.image.scale_down((640, 480), (720, 120))
    (640, 106)
    """
    width, height = size
    source_width, source_height = src_size
    if source_height < height:
        width, height = width * source_height / height, source_height
    if source_width < width:
        width, height = source_width, height * source_width / width
    return int(width), int(height)


def _get_interp_method(interp, sizes=()):
    """The code from 0 to 4 for `interp`: 9 chooses by `sizes` (old height, old width, new height, new width)."""
    if interp == 9:
        if not sizes:
            return 2
        old_height, old_width, new_height, new_width = sizes
        if new_height > old_height and new_width > old_width:
            return 2
        return 3 if new_height < old_height and new_width < old_width else 1
    if interp == 10:
        return random.randint(0, 4)
    if interp not in (0, 1, 2, 3, 4):
        raise ValueError(f"Unknown interp method {interp}")
    return interp


def resize_short(src, size, interp=2):
    """Resize an image so that its shorter side has a length.

    Parameters
    ----------
    src : NDArray
        The image, (height, width, channels).
    size : int
        The new length of the shorter side.
    interp : int, default 2
        The interpolation: 0 nearest, 1 bilinear, 2 cubic, 3 area, 4 Lanczos, 9 by size, 10 random.

    Returns
    -------
    NDArray

    Examples
    --------
    >>> mx.image.resize_short(mx.nd.ones((4, 6, 3)), 2).shape
    (2, 3, 3)
    """
    old = src.shape[:2]
    shorter = min(old)
    new = tuple(size if edge == shorter else size * edge // shorter for edge in old)
    return imresize(src, *reversed(new), interp=_get_interp_method(interp, old + new))


def fixed_crop(src, x0, y0, w, h, size=None, interp=2):
    """A crop, resized if a size is given.

    Parameters
    ----------
    src : NDArray
        The image, (height, width, channels).
    x0 : int
        The left edge.
    y0 : int
        The upper edge.
    w : int
        The width of the crop.
    h : int
        The height of the crop.
    size : tuple of two ints, optional
        Width and height of the result.
    interp : int, default 2
        The interpolation: 0 nearest, 1 bilinear, 2 cubic, 3 area, 4 Lanczos, 9 by size, 10 random.

    Returns
    -------
    NDArray

    Examples
    --------
    >>> mx.image.fixed_crop(mx.nd.ones((4, 6, 3)), 1, 0, 2, 3).shape
    (3, 2, 3)
    """
    out = src[y0 : y0 + h, x0 : x0 + w]
    if size is not None and (w, h) != size:
        out = imresize(out, *size, interp=_get_interp_method(interp, (h, w, size[1], size[0])))
    return out


def _crop_in(src, size, interp, place):
    """A crop of (at most) `size` where `place` puts it between 0 and the room left; and its rectangle."""
    height, width, _ = src.shape
    new_width, new_height = scale_down((width, height), size)
    x0, y0 = place(width - new_width), place(height - new_height)
    return fixed_crop(src, x0, y0, new_width, new_height, size, interp), (x0, y0, new_width, new_height)


def random_crop(src, size, interp=2):
    """A crop at a random place, scaled up if the image is smaller.

    Parameters
    ----------
    src : NDArray
        The image, (height, width, channels).
    size : tuple of two ints
        Width and height of the result.
    interp : int, default 2
        The interpolation: 0 nearest, 1 bilinear, 2 cubic, 3 area, 4 Lanczos, 9 by size, 10 random.

    Returns
    -------
    (NDArray, tuple)
        The crop, and its left edge, upper edge, width and height.

    Examples
    --------
    >>> mx.image.random_crop(mx.nd.ones((4, 6, 3)), (3, 2))[0].shape
    (2, 3, 3)
    """
    return _crop_in(src, size, interp, lambda room: random.randint(0, room))


def center_crop(src, size, interp=2):
    """The middle of an image, scaled up if the image is smaller.

    Parameters
    ----------
    src : NDArray
        The image, (height, width, channels).
    size : tuple of two ints
        Width and height of the result.
    interp : int, default 2
        The interpolation: 0 nearest, 1 bilinear, 2 cubic, 3 area, 4 Lanczos, 9 by size, 10 random.

    Returns
    -------
    (NDArray, tuple)
        The crop, and its left edge, upper edge, width and height.

    Examples
    --------
    >>> crop, place = mx.image.center_crop(mx.nd.ones((4, 6, 3)), (4, 2))
    >>> crop.shape, place
    ((2, 4, 3), (1, 1, 4, 2))
    """
    return _crop_in(src, size, interp, lambda room: int(room / 2))


def random_size_crop(src, size, area, ratio, interp=2, **kwargs):
    """A crop of random area and aspect ratio, resized to `size`.

    Parameters
    ----------
    src : NDArray
        The image, (height, width, channels).
    size : tuple of two ints
        Width and height of the result.
    area : float or tuple of two floats
        The range of the area, as a part of the image; one number is its lower end.
    ratio : tuple of two floats
        The range of the aspect ratio.
    interp : int, default 2
        The interpolation: 0 nearest, 1 bilinear, 2 cubic, 3 area, 4 Lanczos, 9 by size, 10 random.
    **kwargs
        `min_area`, the old name of `area`.

    Returns
    -------
    (NDArray, tuple)
        The crop, and its left edge, upper edge, width and height.

    Examples
    --------
    >>> mx.image.random_size_crop(mx.nd.ones((8, 8, 3)), (4, 4), (0.5, 1.0), (0.75, 1.33))[0].shape
    (4, 4, 3)
    """
    if "min_area" in kwargs:
        warnings.warn("`min_area` is deprecated. Please use `area` instead.", DeprecationWarning, stacklevel=2)
        area = kwargs.pop("min_area")
    assert not kwargs, "unexpected keyword arguments for `random_size_crop`."
    height, width, _ = src.shape
    if isinstance(area, numeric_types):
        area = (area, 1.0)
    for _ in range(10):
        target = random.uniform(area[0], area[1]) * height * width
        aspect = np.exp(random.uniform(np.log(ratio[0]), np.log(ratio[1])))
        w, h = (int(round(np.sqrt(squared))) for squared in (target * aspect, target / aspect))
        if w <= width and h <= height:
            corner = [random.randint(0, spare) for spare in (width - w, height - h)]
            return fixed_crop(src, *corner, w, h, size, interp), (*corner, w, h)
    return center_crop(src, size, interp)


def color_normalize(src, mean, std=None):
    """(image - mean) / std.

    Parameters
    ----------
    src : NDArray
        The image, (height, width, channels).
    mean : NDArray
        The mean of each channel.
    std : NDArray, optional
        The standard deviation of each channel.

    Returns
    -------
    NDArray

    Examples
    --------
    >>> mx.image.color_normalize(mx.nd.ones((1, 1, 3)), mx.nd.array([0, 0.5, 1]), mx.nd.array([1, 0.5, 1])).asnumpy()
    array([[[1., 1., 0.]]], dtype=float32)
    """
    if mean is not None:
        src -= mean
    if std is not None:
        src /= std
    return src


def imrotate(src, rotation_degrees, zoom_in=False, zoom_out=False):
    """Rotate float32 images with channels first around their centre; what is outside is zero.

    Parameters
    ----------
    src : NDArray
        The image, (channels, height, width), or a batch of images.
    rotation_degrees : float or NDArray
        The angle in degrees, or one for each image.
    zoom_in : bool, default False
        Whether to zoom in until the border is hidden.
    zoom_out : bool, default False
        Whether to zoom out until the whole image is seen.

    Returns
    -------
    NDArray

    Examples
    --------
    >>> mx.image.imrotate(mx.nd.ones((3, 8, 8)), 45).shape
    (3, 8, 8)
    """
    if zoom_in and zoom_out:
        raise ValueError("`zoom_in` and `zoom_out` cannot be both True")
    if np.dtype(src.dtype) != np.float32:
        raise TypeError(f"Only `float32` images are supported by this function, got {np.dtype(src.dtype)}")
    single = src.ndim == 3
    if single and not isinstance(rotation_degrees, Number):
        raise TypeError("When a single image is passed the rotation angle is required to be a scalar.")
    if src.ndim not in (3, 4):
        raise ValueError(f"Only 3D and 4D are supported by this function, got shape {src.shape}")
    batch = src.expand_dims(axis=0) if single else src
    if isinstance(rotation_degrees, Number):
        rotation_degrees = nd.array([rotation_degrees] * len(batch), ctx=batch.context)
    if len(batch) != len(rotation_degrees):
        raise ValueError(
            "The number of images must be equal to the number of rotation angles, "
            f"got {len(batch)} and {len(rotation_degrees)}"
        )
    radians = rotation_degrees.as_in_context(batch.context).asnumpy().astype(np.float32) * np.float32(np.pi) / 180
    grid = _rotation_grid(radians.reshape(-1, 1, 1), *batch.shape[2:], zoom_in, zoom_out)
    rotated = nd.BilinearSampler(batch, nd.array(grid, ctx=batch.context))
    return rotated[0] if single else rotated


def _rotation_grid(radians, height, width, zoom_in, zoom_out):
    """Where in the source, from -1 to 1, each pixel of the rotated images comes from: (N, 2, height, width)."""
    half_height, half_width = (height - 1) / 2, (width - 1) / 2
    rows = np.arange(height, dtype=np.float32).reshape(1, -1, 1) - np.float32(half_height)
    columns = np.arange(width, dtype=np.float32).reshape(1, 1, -1) - np.float32(half_width)
    cosine, sine = np.cos(radians), np.sin(radians)
    across = (columns * cosine - rows * sine) / np.float32(half_width)
    down = (columns * sine + rows * cosine) / np.float32(half_height)
    grid = np.stack([across, down], axis=1).astype(np.float32)
    return grid * _zoom(radians, height, width, zoom_out) if zoom_in or zoom_out else grid


def _zoom(radians, height, width, zoom_out):
    """The factor that fits the rotated frame around the image (out) or into it (in), for each image."""
    diagonal, corner = np.hypot(height, width), np.arctan(height / width)
    angles = np.stack([corner + np.abs(radians), corner - np.abs(radians)])
    extent_x = np.abs(diagonal * np.cos(angles)).max(axis=0)
    extent_y = np.abs(diagonal * np.sin(angles)).max(axis=0)
    if zoom_out:
        factor = np.maximum(extent_x / width, extent_y / height)
    else:
        factor = np.minimum(width / extent_x, height / extent_y)
    return factor[..., np.newaxis].astype(np.float32)


def random_rotate(src, angle_limits, zoom_in=False, zoom_out=False):
    """Rotate float32 images with channels first by random angles.

    Parameters
    ----------
    src : NDArray
        The image, (channels, height, width), or a batch of images.
    angle_limits : tuple of two floats
        The range of the angle, in degrees.
    zoom_in : bool, default False
        Whether to zoom in until the border is hidden.
    zoom_out : bool, default False
        Whether to zoom out until the whole image is seen.

    Returns
    -------
    NDArray

    Examples
    --------
    >>> mx.image.random_rotate(mx.nd.ones((3, 8, 8)), (-10, 10)).shape
    (3, 8, 8)
    """
    if src.ndim == 3:
        degrees = np.random.uniform(*angle_limits)
    else:
        degrees = nd.array(np.random.uniform(*angle_limits, size=src.shape[0]))
    return imrotate(src, degrees, zoom_in=zoom_in, zoom_out=zoom_out)
