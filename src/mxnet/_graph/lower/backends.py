"""Back ends for a graph: torch.compile's by their names; MXNet's own names mean the graph as it is."""

from collections.abc import Callable
from typing import Any

import torch

from ..._core.errors import MXNetError
from .inductor import Direct

# Names old programs pass; what they asked for is what torch does anyway.
OF_MXNET = frozenset(("MKLDNN", "MKLDNN_QUANTIZE", "ONEDNN", "TensorRT", "default", "default_v2"))

Compiler = Callable[[Any], Callable[..., Any]]


def compiler(backend: str | None, options: dict[str, Any] | None = None) -> Compiler | None:
    """What turns lowered code into compiled code, or None when it runs as it is."""
    if backend is None or backend in OF_MXNET:
        return None
    if backend not in torch.compiler.list_backends(exclude_tags=()):
        usual = ", ".join(torch.compiler.list_backends())
        raise MXNetError(f"backend {backend!r} is not known; torch.compile has {usual}")

    def compiled(code: Any) -> Callable[..., Any]:
        general = torch.compile(code, backend=backend, options=options or None)
        return Direct(code, general, options) if backend == "inductor" else general

    return compiled
