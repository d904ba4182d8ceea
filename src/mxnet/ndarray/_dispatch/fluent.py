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
    """The array with its axes in another order; reversed without arguments.

    Parameters
    ----------
    *axes : int
        The new order of the axes, one by one or as a tuple.
    **kwargs
        `axes`, the same by name.

    Returns
    -------
    NDArray

    Examples
    --------
    >>> x = mx.nd.zeros((2, 3, 4))
    >>> x.transpose().shape, x.transpose((1, 0, 2)).shape
    ((4, 3, 2), (3, 2, 4))
    """
    if len(axes) == 1 and isinstance(axes[0], (tuple, list)):
        axes = axes[0]
    given = {"axes": tuple(axes)} if axes else {}
    return generated_function("transpose")(self, **{**given, **kwargs})


def _split_v2(self, *args, **kwargs):
    """The array in several parts along an axis.

    Parameters
    ----------
    *args
        The number of equal parts or the places where new parts begin, then the axis.
    **kwargs
        `indices_or_sections`, `axis` and `squeeze_axis` by name.

    Returns
    -------
    NDArray or list of NDArrays

    Examples
    --------
    >>> [part.shape for part in mx.nd.zeros((5, 2)).split_v2((1, 3))]
    [(1, 2), (2, 2), (2, 2)]
    """
    from ..functions import split_v2

    return split_v2(self, *args, **kwargs)


_SPECIAL = {"transpose": _transpose, "split_v2": _split_v2}
