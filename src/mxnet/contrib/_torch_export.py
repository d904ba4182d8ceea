"""Networks as torch programs (`.pt2`), for torch.export's loaders and AOTInductor."""

import torch
from torch.utils._pytree import tree_leaves, tree_map

from .._formats.atomic import atomic_write
from ..base import MXNetError
from ..gluon._nesting import _regroup
from ..ndarray import NDArray, from_torch, zeros
from ._torch_module import _as_tensors, to_module


def export_torch(net, path, *inputs, dynamic_batch=True):
    """Write `net` as a torch program for evaluation; torch.export.load reads it, and AOTInductor compiles it for C++.

    Without example `inputs`, those of the call that traced the hybridized network are the example. The first axis
    may have any size unless `dynamic_batch` is False.

    Parameters
    ----------
    net : HybridBlock
        The network.
    path : str
        The name of the file, usually ending in .pt2.
    *inputs : NDArray
        Example inputs; without them, those of the call that traced the network.
    dynamic_batch : bool, default True
        Whether the first axis may have any size.

    Examples
    --------
    >>> from mxnet.contrib.torch import export_torch
    >>> net = mx.gluon.nn.Dense(2, in_units=3)
    >>> net.initialize()
    >>> export_torch(net, "net.pt2", mx.nd.ones((1, 3)))  # doctest: +SKIP
    """
    arrays = [_array(x) for x in inputs] or remembered(net)
    program = exported(to_module(net, *arrays).eval(), arrays, dynamic_batch)
    with atomic_write(path) as file:
        torch.export.save(program, file)
    return path


def _array(value):
    if isinstance(value, (list, tuple)):
        return [_array(v) for v in value]
    return value if isinstance(value, NDArray) else from_torch(torch.as_tensor(value))


def remembered(net):
    """Arrays like those the network was traced with, nested as they were."""
    example = getattr(net, "_traced_with", None)
    if not example:
        raise MXNetError("export_torch needs an example: hybridize and call the network once, or pass inputs to it")
    arrays = [zeros(shape, dtype=dtype) for shape, dtype in example]
    if hasattr(net, "begin_state"):  # a recurrent layer that was called without states makes them itself
        return arrays[:1]
    return list(_regroup(arrays, net._in_format))


def exported(module, arrays, dynamic_batch):
    """The module as an ExportedProgram; the first axis of every input is one free size where that can be."""
    tensors = tuple(_as_tensors(a) for a in arrays)
    if dynamic_batch:
        tensors = _several(tensors)
        batch = torch.export.Dim.AUTO
        sizes = tree_map(lambda t: {0: batch}, tensors)
        return torch.export.export(module, tensors, dynamic_shapes=(sizes,), strict=False)
    return torch.export.export(module, tensors, strict=False)


def _several(tensors):
    """Examples of one row become two: torch takes a size of one for a constant."""
    single = all(t.dim() and t.shape[0] == 1 for t in tree_leaves(tensors))
    return tree_map(lambda t: torch.cat([t, t]), tensors) if single else tensors
