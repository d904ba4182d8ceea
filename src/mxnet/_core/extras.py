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
    """OpenCV, which reads, writes and resizes images."""
    return load("Images are decoded, encoded and resized with OpenCV, which cannot be imported", "image", "cv2")
