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
    """Decode an image file: `flag` 0 for one channel of gray, 1 for three; `to_rgb` false leaves them as BGR."""
    return active(_internal._cvimread(filename, *args, **kwargs))


def imresize(src, w, h, *args, **kwargs):
    """Resize to width `w` and height `h`; `interp` is 0 nearest, 1 linear, 2 cubic, 3 area, 4 Lanczos, 9 automatic."""
    return active(_internal._cvimresize(src, w, h, *args, **kwargs))


def imdecode(buf, *args, **kwargs):
    """Decode the bytes of an image file; arguments as for `imread`."""
    if not isinstance(buf, nd.NDArray):
        if not isinstance(buf, (bytes, bytearray, np.ndarray)):
            raise ValueError(
                f"buf must be of type bytes, bytearray or numpy.ndarray, got {type(buf)}: "
                "if you would like to input type str, please convert to bytes"
            )
        buf = nd.array(np.frombuffer(buf, dtype=np.uint8), ctx=cpu(), dtype=np.uint8)  # where it is decoded
    return active(_internal._cvimdecode(buf, *args, **kwargs))


def copyMakeBorder(src, top, bot, left, right, *args, **kwargs):
    """Add a border; `type` is OpenCV's border type, `values` the constant's channels."""
    return _internal._cvcopyMakeBorder(src, top, bot, left, right, *args, **kwargs)


def scale_down(src_size, size):
    """The largest (width, height) of the proportions of `size` that fits in `src_size`; `size` itself if it fits."""
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
    """Resize so that the shorter edge has length `size`."""
    old = src.shape[:2]
    shorter = min(old)
    new = tuple(size if edge == shorter else size * edge // shorter for edge in old)
    return imresize(src, *reversed(new), interp=_get_interp_method(interp, old + new))


def fixed_crop(src, x0, y0, w, h, size=None, interp=2):
    """The crop at (x0, y0) of `w` by `h`, resized to `size` (width, height) if one is given."""
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
    """A crop of `size` (width, height) anywhere, scaled up if the image is smaller; and its rectangle."""
    return _crop_in(src, size, interp, lambda room: random.randint(0, room))


def center_crop(src, size, interp=2):
    """The middle of the image at `size` (width, height), scaled up if it is smaller; and its rectangle."""
    return _crop_in(src, size, interp, lambda room: int(room / 2))


def random_size_crop(src, size, area, ratio, interp=2, **kwargs):
    """A crop of random area (a range of fractions) and aspect ratio (a range), resized; and its rectangle."""
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
    """Subtract the mean and divide by the deviation, in place."""
    if mean is not None:
        src -= mean
    if std is not None:
        src /= std
    return src


def imrotate(src, rotation_degrees, zoom_in=False, zoom_out=False):
    """Rotate float32 images (CHW, or NCHW with one angle or one per image) around their centre.

    Zooming in fills the frame, zooming out shows the whole image; otherwise corners are cut and filled with zeros.
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
    """Rotate by an angle (one per image) drawn evenly from `angle_limits`, in degrees."""
    if src.ndim == 3:
        degrees = np.random.uniform(*angle_limits)
    else:
        degrees = nd.array(np.random.uniform(*angle_limits, size=src.shape[0]))
    return imrotate(src, degrees, zoom_in=zoom_in, zoom_out=zoom_out)
