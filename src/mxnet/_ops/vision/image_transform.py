"""Image transforms on (height, width, channel) arrays; gradients of augmentations pass unchanged, as in MXNet."""

from collections.abc import Callable

import torch
from torch import Tensor

from ..._core.attrs import Factor, Floats
from ..._core.errors import MXNetError
from ..._device.copies import constant
from ..._kernels.random.draw import register
from ..registry.gradient import with_gradient
from ..registry.registry import op
from .colour import adjust_brightness, adjust_contrast, adjust_hue, adjust_saturation, pca_lighting
from .opencv import resize

register()


def _batched(data: Tensor, what: str) -> None:
    if data.dim() not in (3, 4):
        raise MXNetError(
            f"{what}: Input image must have shape (height, width, channels), or (N, height, width, channels), "
            f"but got {list(data.shape)}"
        )


def _single(data: Tensor) -> None:
    if data.dim() != 3:
        raise MXNetError(f"Input image must have shape (height, width, channels), but got {list(data.shape)}")
    if data.shape[2] not in (1, 3):
        raise MXNetError(
            "The last dimension of input image must be the channel dimension with either 1 or 3 elements, "
            f"but got input with shape {list(data.shape)}"
        )


def _augmented(change: Callable[[Tensor], Tensor], data: Tensor) -> Tensor:
    _single(data)
    return with_gradient(change, lambda inputs, outputs, heads: heads[0].clone(), data)


# Deterministic


@op("_image_to_tensor", dtype="any")
def to_tensor(data):
    """Images of 0..255 as float32 in [0, 1], channels first."""
    _batched(data, "to_tensor")
    order = (2, 0, 1) if data.dim() == 3 else (0, 3, 1, 2)
    return data.permute(order).to(torch.float32, memory_format=torch.contiguous_format) / 255


def _channel(values: Floats, shape: torch.Size, name: str, channels: int) -> list[float]:
    if len(values) not in (1, channels):
        raise MXNetError(
            f"Invalid {name} for input with shape {list(shape)}. {name} must have either 1 or {channels} elements, "
            f"but got {list(values)}"
        )
    return list(values) * (channels // len(values))


@op("_image_normalize", shape="same")
def normalize(data, *, mean: Floats = (0.0, 0.0, 0.0, 0.0), std: Floats = (1.0, 1.0, 1.0, 1.0)):
    """(data - mean) / std, a number for each channel of (channel, height, width) images."""
    if data.dim() not in (3, 4):
        raise MXNetError(
            "Input tensor must have shape (channels, height, width), or (N, channels, height, width), "
            f"but got {list(data.shape)}"
        )
    channels = data.shape[-3]
    if channels not in (1, 3):
        raise MXNetError(
            f"The {'first' if data.dim() == 3 else 'second'} dimension of input tensor must be the channel dimension "
            f"with either 1 or 3 elements, but got input with shape {list(data.shape)}"
        )
    kind = data.dtype if data.is_floating_point() else torch.float32
    shift, scale = (
        constant(_channel(v, data.shape, n, channels), kind, data.device).reshape(-1, 1, 1)
        for v, n in ((mean, "mean"), (std, "std"))
    )
    return ((data - shift) / scale).to(data.dtype)


@op("_image_crop")
def crop(data, *, x: int, y: int, width: int, height: int):
    """Cut out the rectangle of the given width and height whose upper left corner is (x, y)."""
    _batched(data, "crop")
    if data.shape[-1] not in (1, 3):
        raise MXNetError(f"Expect channel of the input image is 1 or 3, but got{data.shape[-1]}")
    if width <= 0 or height <= 0 or x < 0 or y < 0:
        raise MXNetError(
            "Input height and width must be greater than 0, x and y must not be negative: "
            f"got x={x}, y={y}, width={width}, height={height}"
        )
    if x + width > data.shape[-2]:
        raise MXNetError(f" x + width should not be greater than input width: {x} + {width} vs. {data.shape[-2]}")
    if y + height > data.shape[-3]:
        raise MXNetError(f" y + height should not be greater than input height: {y} + {height} vs. {data.shape[-3]}")
    return data[..., y : y + height, x : x + width, :].clone()


def _wanted(height: int, width: int, size: tuple, keep_ratio: bool) -> tuple[int, int]:
    """Height and width after resizing; `size` is (width, height) or one number."""
    if len(size) not in (1, 2):
        raise MXNetError(f"Input size dimension must be 1 or 2, but got {len(size)}")
    if min(size) <= 0:
        raise MXNetError(f"Input size should be greater than 0, but got {min(size)}")
    if len(size) == 2:
        return size[1], size[0]
    if not keep_ratio:
        return size[0], size[0]
    return (height * size[0] // width, size[0]) if height > width else (size[0], width * size[0] // height)


def _resize_shape(attrs: dict, shapes: list) -> list:
    *batch, height, width, channels = shapes[0]
    return [(*batch, *_wanted(height, width, attrs["size"], attrs["keep_ratio"]), channels)]


@op("_image_resize", shape=_resize_shape, differentiable=False)
def image_resize(data, *, size: tuple = (), keep_ratio: bool = False, interp: int = 1):
    """Resize to `size`: (width, height), or one number for both sides (for the shorter with `keep_ratio`)."""
    _batched(data, "resize")
    wanted = _wanted(*data.shape[-3:-1], size, keep_ratio)

    def resized(images: Tensor) -> Tensor:
        if images.dim() == 3:
            return resize(images, *wanted, interp)
        return torch.stack([resize(image, *wanted, interp) for image in images])

    return with_gradient(resized, _as_a_copy, data)


def _as_a_copy(inputs, outputs, heads):
    """MXNet hands the gradient on as that of a copy, which an image of the same size is; others have none."""
    return heads[0] if heads[0].shape == inputs[0].shape else torch.zeros_like(inputs[0])


@op("_image_flip_left_right", shape="same")
def flip_left_right(data):
    """Mirror an image."""
    return _augmented(lambda image: image.flip(1), data)


@op("_image_flip_top_bottom", shape="same")
def flip_top_bottom(data):
    """Turn an image upside down."""
    return _augmented(lambda image: image.flip(0), data)


@op("_image_adjust_lighting", shape="same")
def adjust_lighting(data, *, alpha: Floats):
    """Shift the colours along the principal components of ImageNet, by `alpha` times each, as AlexNet does."""
    if len(alpha) != 3:
        raise MXNetError(f"adjust_lighting needs three numbers in alpha, got {len(alpha)}")
    return _augmented(lambda image: pca_lighting(image, alpha), data)


# Random: one draw of the context's single engine decides


def _factor(rng, low: float, high: float) -> float:
    for name, value in (("min_factor", low), ("max_factor", high)):
        if value < 0:
            raise MXNetError(f"value {value} for Parameter {name} should be greater equal to 0")
    return float(rng.serial_uniform(1, low, high)[0])


def _stay(rng) -> bool:
    """A fair coin, two words of the engine."""
    with rng.lock:
        low, high = (int(w) for w in rng.serial.take(0, 1, 2)[0])
    return (low + high * 2.0**32) / 2.0**64 < 0.5


@op("_image_random_flip_left_right", shape="same")
def random_flip_left_right(data, *, _rng):
    """Mirror an image, or not."""
    stay = _stay(_rng)
    return _augmented(lambda image: image.clone() if stay else image.flip(1), data)


@op("_image_random_flip_top_bottom", shape="same")
def random_flip_top_bottom(data, *, _rng):
    """Turn an image upside down, or not."""
    stay = _stay(_rng)
    return _augmented(lambda image: image.clone() if stay else image.flip(0), data)


@op("_image_random_brightness", shape="same")
def random_brightness(data, *, min_factor: Factor, max_factor: Factor, _rng):
    """Multiply the image by a random factor."""
    factor = _factor(_rng, min_factor, max_factor)
    return _augmented(lambda image: adjust_brightness(image, factor), data)


@op("_image_random_contrast", shape="same")
def random_contrast(data, *, min_factor: Factor, max_factor: Factor, _rng):
    """Change the contrast: blend the image with its mean grey by a random factor."""
    factor = _factor(_rng, min_factor, max_factor)
    return _augmented(lambda image: adjust_contrast(image, factor), data)


@op("_image_random_saturation", shape="same")
def random_saturation(data, *, min_factor: Factor, max_factor: Factor, _rng):
    """Change the saturation by a random factor: blend pixels with their grey, in MXNet only its last channel's part."""
    factor = _factor(_rng, min_factor, max_factor)
    return _augmented(lambda image: adjust_saturation(image, factor), data)


@op("_image_random_hue", shape="same")
def random_hue(data, *, min_factor: Factor, max_factor: Factor, _rng):
    """Change the hue by a random angle of the colour circle."""
    alpha = _factor(_rng, min_factor, max_factor)
    return _augmented(lambda image: adjust_hue(image, alpha), data)


JITTER = ((adjust_brightness, 1.0), (adjust_contrast, 1.0), (adjust_saturation, 1.0), (adjust_hue, 0.0))


@op("_image_random_color_jitter", shape="same")
def random_color_jitter(data, *, brightness: float, contrast: float, saturation: float, hue: float, _rng):
    """Brightness, contrast, saturation and hue by random factors, in random order."""
    reach = (brightness, contrast, saturation, hue)
    changes = []
    for i in _rng.permutation(4, sweep_up=True).tolist():
        if reach[i] > 0:
            change, middle = JITTER[i]
            changes.append((change, middle + float(_rng.serial_uniform(1, -reach[i], reach[i])[0])))

    def jitter(image: Tensor) -> Tensor:
        image = image if changes else image.clone()
        for change, amount in changes:
            image = change(image, amount)
        return image

    return _augmented(jitter, data)


@op("_image_random_lighting", shape="same")
def random_lighting(data, *, alpha_std: float = 0.05, _rng):
    """`adjust_lighting` by normally distributed amounts."""
    alpha = _rng.serial_normal(3, 0.0, alpha_std).tolist()
    return _augmented(lambda image: pca_lighting(image, alpha), data)
