"""Methods that are operators: `x.exp()` is `nd.exp(x)`."""

from ..._ops.registry.methods import FLUENT
from .generated import generated_function

METHODS = (*FLUENT, "split_v2")


class Fluent:
    """A descriptor that replaces itself by the operator's generated function on first access."""

    def __init__(self, name):
        self.name = name

    def __get__(self, instance, owner):
        function = _SPECIAL.get(self.name) or generated_function(self.name)
        setattr(owner, self.name, function)
        return function if instance is None else function.__get__(instance, owner)


def _transpose(self, *axes, **kwargs):
    """Axes in another order: reversed, or as given one by one, as a tuple, or by `axes=`."""
    if len(axes) == 1 and isinstance(axes[0], (tuple, list)):
        axes = axes[0]
    given = {"axes": tuple(axes)} if axes else {}
    return generated_function("transpose")(self, **{**given, **kwargs})


def _split_v2(self, *args, **kwargs):
    """Split at indices, or into equal sections, along an axis."""
    from ..functions import split_v2

    return split_v2(self, *args, **kwargs)


_SPECIAL = {"transpose": _transpose, "split_v2": _split_v2}
