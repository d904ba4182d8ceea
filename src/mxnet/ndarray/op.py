"""Operators of `mx.nd.op`, generated from the registry."""

from .namespaces import show

_lookup, __dir__ = show(__name__, "op")


def __getattr__(name):
    if name != "CachedOp":
        return _lookup(name)
    from .cached_op import CachedOp

    return CachedOp
