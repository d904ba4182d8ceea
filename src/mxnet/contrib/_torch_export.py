"""Networks as torch programs (`.pt2`), for torch.export's loaders and AOTInductor."""

import torch

from .._formats.atomic import atomic_write
from ..base import MXNetError
from ..ndarray import NDArray, zeros
from ._torch_module import _as_tensors, to_module


def export_torch(net, path, *inputs, dynamic_batch=True):
    """Write `net` as a torch program for evaluation; torch.export.load reads it, and AOTInductor compiles it for C++.

    Without example `inputs`, those of the call that traced the hybridized network are the example. The first axis
    may have any size unless `dynamic_batch` is False.
    """
    arrays = [x if isinstance(x, (NDArray, list, tuple)) else NDArray(x) for x in inputs] or remembered(net)
    program = exported(to_module(net, *arrays).eval(), arrays, dynamic_batch)
    with atomic_write(path) as file:
        torch.export.save(program, file)
    return path


def remembered(net):
    """Arrays like those the network was traced with."""
    example = getattr(net, "_traced_with", None)
    if not example:
        raise MXNetError("export_torch needs an example: hybridize and call the network once, or pass inputs to it")
    return [zeros(shape, dtype=dtype) for shape, dtype in example]


def exported(module, arrays, dynamic_batch):
    """The module as an ExportedProgram; the first axis of every input is one free size where that can be."""
    tensors = tuple(_as_tensors(a) for a in arrays)
    if dynamic_batch:
        batch = torch.export.Dim.AUTO
        sizes = torch.utils._pytree.tree_map(lambda t: {0: batch}, tensors)
        return torch.export.export(module, tensors, dynamic_shapes=(sizes,), strict=False)
    return torch.export.export(module, tensors, strict=False)
