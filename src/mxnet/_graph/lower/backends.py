"""Compiler backends: those of torch.compile by name; MXNet's own backend names run the graph uncompiled."""

from collections.abc import Callable
from typing import Any

import torch

from ..._core.errors import MXNetError
from .inductor import InductorGraph

# MXNet's names, accepted without effect: torch uses oneDNN anyway.
MXNET_BACKENDS = frozenset(("MKLDNN", "MKLDNN_QUANTIZE", "ONEDNN", "TensorRT", "default", "default_v2"))

Compiler = Callable[[Any], Callable[..., Any]]


def compiler(backend: str | None, options: dict[str, Any] | None = None) -> Compiler | None:
    """The function that compiles a lowered graph, or None if it runs uncompiled."""
    if backend is None or backend in MXNET_BACKENDS:
        return None
    if backend not in torch.compiler.list_backends(exclude_tags=()):
        known = ", ".join(torch.compiler.list_backends())
        raise MXNetError(f"backend {backend!r} is not known; torch.compile has {known}")

    def compiled(code: Any) -> Callable[..., Any]:
        general = torch.compile(code, backend=backend, options=options or None)
        return InductorGraph(code, general, options) if backend == "inductor" else general

    return compiled
