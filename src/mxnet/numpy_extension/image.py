"""`mx.npx.image`: operators on images that are `mx.np` arrays."""

from importlib import import_module

from ..numpy._builtin import plain as _plain

NAMES = (
    "adjust_lighting crop flip_left_right flip_top_bottom normalize random_brightness random_color_jitter "
    "random_contrast random_flip_left_right random_flip_top_bottom random_hue random_lighting random_saturation "
    "resize to_tensor"
).split()


def __getattr__(name):
    if name not in NAMES:  # readers, iterators and augmenters are those of `mx.image`
        if name.startswith("_"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module("mxnet.image"), name)
    globals()[name] = function = _plain(f"_image_{name}", __name__, name)
    return function


def __dir__():
    return sorted({*globals(), *NAMES})
