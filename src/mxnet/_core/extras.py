"""Packages that ReMX can do without: loaded when something first needs them, else one sentence on how to get them."""

from importlib import import_module
from types import ModuleType

from .errors import MXNetError


def load(need: str, extra: str, *modules: str, kind: type[Exception] = MXNetError) -> ModuleType:
    """The first of the modules, with all of them imported; `need` says what for, `extra` which extra has them."""
    try:
        return [import_module(module) for module in modules][0]
    except ImportError as error:
        raise kind(f"{need}: pip install 'remx[{extra}]' ({error})") from error


def opencv() -> ModuleType:
    """OpenCV, which reads, writes and resizes images; where it is missing, Pillow with the same functions."""
    try:
        return import_module("cv2")
    except ImportError as missing:
        try:
            return import_module("mxnet._core.shims.opencv")
        except ImportError:
            need = "Images are decoded, encoded and resized with OpenCV (or Pillow), which cannot be imported"
            raise MXNetError(f"{need}: pip install 'remx[image]' ({missing})") from missing


def opencv_to_draw() -> ModuleType:
    """OpenCV itself, for drawing."""
    return load("Boxes are drawn with OpenCV, which cannot be imported", "image", "cv2")
