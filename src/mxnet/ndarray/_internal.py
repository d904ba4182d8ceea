"""Operators of `mx.nd._internal`, generated from the registry."""

from ._dispatch.namespaces import show

__getattr__, __dir__ = show(__name__, "_internal")
