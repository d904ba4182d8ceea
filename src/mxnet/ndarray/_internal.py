"""Operators of `mx.nd._internal`, generated from the registry."""

from ._dispatch.namespaces import module_attributes

__getattr__, __dir__ = module_attributes(__name__, "_internal")
