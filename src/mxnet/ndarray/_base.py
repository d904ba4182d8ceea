"""The root of array classes and the quickest way to make an array, for modules that the class itself needs."""

from functools import lru_cache


class NDArrayBase:
    """The root of array classes, for `isinstance`."""

    __slots__ = ("_ag", "_ctx", "_t")


def set_array_class(cls):
    """Name the class that `wrap` makes; it is defined in a module above this one."""
    global _new, _array_class
    _new, _array_class = cls.__new__, cls


def wrap(tensor, ctx, mark=None):
    """An NDArray over `tensor`, without a check."""
    array = _new(_array_class)
    array._t = tensor
    array._ctx = ctx
    array._ag = mark
    return array


@lru_cache(1024)
def plain_sizes(sizes):
    """Is a shape one that torch reads as MXNet does: sizes above zero, one of them left open?"""
    return bool(sizes) and all(s.__class__ is int and (s > 0 or s == -1) for s in sizes) and sizes.count(-1) < 2
