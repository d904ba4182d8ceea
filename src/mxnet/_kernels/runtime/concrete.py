"""Whether a tensor has values that can be read now: not on the `meta` device, not while a program is traced."""

import torch

# torch before 2.7 has one function for both: its exporter also reports that it compiles.
is_exporting = getattr(torch.compiler, "is_exporting", torch.compiler.is_compiling)


def has_values(tensor: torch.Tensor) -> bool:
    """Can the values be read? Not where only shapes exist, nor while a program is exported."""
    return tensor.device.type != "meta" and not is_exporting()


def is_concrete(tensor: torch.Tensor) -> bool:
    """May the choice of an algorithm depend on the values? Not while torch traces or compiles the call."""
    return tensor.__class__ is torch.Tensor and has_values(tensor) and not torch.compiler.is_compiling()
