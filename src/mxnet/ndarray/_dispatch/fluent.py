"""Methods that are operators: `x.exp()` is `nd.exp(x)`."""

from ..._ops.registry.methods import FLUENT
from .generated import face

METHODS = (*FLUENT, "split_v2")


class Fluent:
    """Becomes the generated function of the operator the first time the method is asked for."""

    def __init__(self, name):
        self.name = name

    def __get__(self, instance, owner):
        function = _SPECIAL.get(self.name) or face(self.name)
        setattr(owner, self.name, function)
        return function if instance is None else function.__get__(instance, owner)


def _transpose(self, *axes, **kwargs):
    """Axes in another order: reversed, or as given one by one, as a tuple, or by `axes=`."""
    if len(axes) == 1 and isinstance(axes[0], (tuple, list)):
        axes = axes[0]
    given = {"axes": tuple(axes)} if axes else {}
    return face("transpose")(self, **{**given, **kwargs})


def _split_v2(self, *args, **kwargs):
    """Split at indices, or into equal sections, along an axis."""
    from ..functions import split_v2

    return split_v2(self, *args, **kwargs)


_SPECIAL = {"transpose": _transpose, "split_v2": _split_v2}
