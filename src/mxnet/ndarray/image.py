"""Operators of `mx.nd.image`, generated from the registry."""

from ._dispatch.namespaces import show as _show

__getattr__, __dir__ = _show(__name__, "image")
