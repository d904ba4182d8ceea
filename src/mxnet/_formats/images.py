"""Images: which encoded ones reach a decoder, their pixels, and other sizes of decoded ones."""

import os

import numpy as np

from .._core.environment import whole_number
from .._core.errors import MXNetError, ValueRefused
from .._core.extras import opencv
from . import image_damage
from .image_kinds import ALWAYS, ON_REQUEST, kind, size

DEFAULT_LIMIT = 178_956_970  # pixels; a quarter of a gigabyte of bytes for three channels is half a gigabyte
_NAMES = "JPEG, PNG, WebP, BMP or GIF"


def limit() -> int:
    """The most pixels an image may have; `MXNET_MAX_IMAGE_PIXELS` sets it."""
    return whole_number("MXNET_MAX_IMAGE_PIXELS", DEFAULT_LIMIT, "a number of pixels")


def admitted() -> set[str]:
    """The kinds of images that are decoded: five always, those that `MXNET_IMAGE_FORMATS` lists besides."""
    asked = {word.strip().lower() for word in os.environ.get("MXNET_IMAGE_FORMATS", "").split(",")} - {""}
    unknown = asked.difference(ON_REQUEST, ALWAYS)
    if unknown:
        raise ValueRefused(f"MXNET_IMAGE_FORMATS may list {', '.join(ON_REQUEST)}, got {', '.join(sorted(unknown))}")
    return asked.union(ALWAYS)


def check(data: bytes, name: str = "image") -> None:
    """Refuse what no decoder should see: another kind, too many pixels, lengths beyond the bytes that are there."""
    if not data:
        raise MXNetError(f"{name}: decoding failed, there are no bytes")
    found = kind(data)
    if found is None:
        raise MXNetError(
            f"{name}: decoding failed, {len(data)} bytes beginning {bytes(data[:8])!r} are no {_NAMES} image"
        )
    if found not in ALWAYS and found not in admitted():
        raise MXNetError(
            f"{name}: decoding failed, {found} images are not decoded unless asked for: set "
            f"MXNET_IMAGE_FORMATS={found} if you trust the file, or convert it to {_NAMES}"
        )
    _check_pixels(data, name)
    wrong = damage(data)
    if wrong:
        raise MXNetError(f"{name}: decoding failed, the {found} image is damaged: {wrong}")


def _check_pixels(data: bytes, name: str) -> None:
    found = size(data)
    if found is None:
        raise MXNetError(
            f"{name}: decoding failed, no size can be read from {len(data)} bytes beginning {bytes(data[:8])!r}; "
            "the image is damaged"
        )
    if found[0] * found[1] > limit():
        raise MXNetError(
            f"{name}: {found[0]} x {found[1]} pixels are more than the {limit()} allowed; if you trust the file, "
            "raise MXNET_MAX_IMAGE_PIXELS"
        )


def damage(data: bytes) -> str | None:
    """What is wrong with the structure of an image, in words; None where nothing is, or no walk for its kind exists."""
    walk = image_damage.WALKS.get(kind(data) or "")
    return walk(data) if walk else None


def pixels(data: bytes, flag: int, name: str) -> np.ndarray | None:
    """What OpenCV makes of an image that `check` admitted; None where it cannot read it."""
    cv2 = opencv()
    try:
        return cv2.imdecode(np.frombuffer(data, np.uint8), flag)
    except cv2.error as error:
        raise MXNetError(f"{name}: decoding failed, OpenCV refused it: {str(error).strip()}") from None


def decode(data: bytes, flag: int = 1, name: str = "image") -> np.ndarray:
    """Pixels of an encoded image in OpenCV's layout (blue first); `flag` is OpenCV's reading mode."""
    data = bytes(data) if not isinstance(data, bytes) else data
    check(data, name)
    decoded = pixels(data, flag, name)
    if decoded is None:
        raise MXNetError(f"{name}: decoding failed, {len(data)} bytes beginning {data[:8]!r} are no readable image")
    return decoded


def resize(image: np.ndarray, width: int, height: int, method: int) -> np.ndarray:
    """The image in another size, by OpenCV's own loops: Intel's, which it prefers, round otherwise than MXNet."""
    cv2 = opencv()
    preferred = cv2.ipp.useIPP()
    cv2.ipp.setUseIPP(False)  # concerns this thread alone
    try:
        return cv2.resize(image, (width, height), interpolation=method)
    finally:
        cv2.ipp.setUseIPP(preferred)
