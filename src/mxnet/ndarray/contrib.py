"""`mx.nd.contrib`: operators outside the stable set, generated from the registry, and control flow."""

from .namespaces import show

__getattr__, __dir__ = show(__name__, "contrib")
