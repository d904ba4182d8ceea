"""Operators of `mx.nd.linalg`, generated from the registry."""

from .namespaces import show

__getattr__, __dir__ = show(__name__, "linalg")
