"""Operators of `mx.nd.linalg`, generated from the registry."""

from ._dispatch.namespaces import module_attributes as _module_attributes

__getattr__, __dir__ = _module_attributes(__name__, "linalg")
