"""Operators of `mx.nd.op`, generated from the registry."""

from ._dispatch.namespaces import module_attributes as _module_attributes

__all__ = ["CachedOp"]  # noqa: F822 - and the operators
_lookup, __dir__ = _module_attributes(__name__, "op")


def __getattr__(name):
    if name != "CachedOp":
        return _lookup(name)
    from .cached_op import CachedOp

    return CachedOp
