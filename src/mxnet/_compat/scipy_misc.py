"""Image functions that `scipy.misc` had until 1.2, by Pillow, with its rules of scaling."""

import numpy as np

_FILTERS = {
    "nearest": "NEAREST",
    "lanczos": "LANCZOS",
    "bilinear": "BILINEAR",
    "bicubic": "BICUBIC",
    "cubic": "BICUBIC",
}


def _pillow():
    try:
        from PIL import Image
    except ImportError:
        raise ImportError("the image functions of scipy.misc need Pillow: pip install pillow") from None
    return Image


def _filter(name):
    if name not in _FILTERS:
        raise ValueError(f"interp is one of {', '.join(_FILTERS)}, got {name!r}")
    return getattr(_pillow().Resampling, _FILTERS[name])


def bytescale(data, cmin=None, cmax=None, high=255, low=0):
    """uint8 numbers between `low` and `high`, for data between `cmin` and `cmax`; uint8 data stay as they are."""
    if data.dtype == np.uint8:
        return data
    cmin, cmax = data.min() if cmin is None else cmin, data.max() if cmax is None else cmax
    scale = (high - low) / float((cmax - cmin) or 1)
    return (((data - cmin) * scale + low).clip(low, high) + 0.5).astype(np.uint8)


def toimage(arr, high=255, low=0, cmin=None, cmax=None, pal=None, mode=None, channel_axis=None):
    """A Pillow image of an array: floats become gray or coloured bytes."""
    data = np.asarray(arr)
    if data.ndim == 3:
        axis = channel_axis if channel_axis is not None else next((a for a in (2, 0, 1) if data.shape[a] in (3, 4)), 2)
        data = np.moveaxis(data, axis, 2)
    if mode == "F":
        return _pillow().fromarray(data.astype(np.float32))
    image = _pillow().fromarray(bytescale(data, cmin, cmax, high, low))
    return image if mode is None else image.convert(mode)


def fromimage(im, flatten=False, mode=None):
    """The array of a Pillow image."""
    if mode is not None and mode != im.mode:
        im = im.convert(mode)
    elif im.mode == "P":
        im = im.convert("RGBA" if "transparency" in im.info else "RGB")
    return np.array(im.convert("F") if flatten else im)


def imread(name, flatten=False, mode=None):
    """The array of an image file."""
    return fromimage(_pillow().open(name), flatten, mode)


def imsave(name, arr, format=None):
    """Write an array as an image file."""
    toimage(arr, channel_axis=2).save(name, format)


def imresize(arr, size, interp="bilinear", mode=None):
    """Resize an image to (height, width), to a percentage (int) or to a fraction (float) of its size."""
    image = toimage(arr, mode=mode)
    if isinstance(size, (int, np.integer)):
        size = size / 100.0
    if isinstance(size, (float, np.floating)):
        wanted = tuple((np.array(image.size) * size).astype(int))
    else:
        wanted = (size[1], size[0])
    return fromimage(image.resize(wanted, resample=_filter(interp)))


def imrotate(arr, angle, interp="bilinear"):
    """Rotate an image counter-clockwise by degrees."""
    return fromimage(toimage(arr).rotate(angle, resample=_filter(interp)))
