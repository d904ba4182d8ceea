"""Operators of `mx.nd.op`, generated from the registry."""

from ._dispatch.namespaces import show as _show

__all__ = ["CachedOp"]  # noqa: F822 - and the operators
_lookup, __dir__ = _show(__name__, "op")


def __getattr__(name):
    if name != "CachedOp":
        return _lookup(name)
    from .cached_op import CachedOp

    return CachedOp
