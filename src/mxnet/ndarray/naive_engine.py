"""`MXNET_ENGINE_TYPE=NaiveEngine`: the host waits after each operator, so that an error is raised where it arose."""

import os

import torch

from .._core.errors import MXNetError
from .._device.waiting import ENGINE, wait
from .._ops.registry import observe


def _waiting(op, name=""):
    """An operator's function that returns when its result is there; `name` is its node's in a graph."""
    function = op.fn

    def call(*tensors, **attrs):
        results = function(*tensors, **attrs)
        for result in results if isinstance(results, (tuple, list)) else (results,):
            if isinstance(result, torch.Tensor) and not result.is_cpu:
                _wait(op, name, result.device)
                break
        return results

    return call


def _wait(op, name, device):
    try:
        wait(device)
    except MXNetError as error:
        where = f"{op.name} (node {name})" if name else op.name
        raise MXNetError(f"Error in operator {where}: {error}") from error


def enable():
    """Wait from now on."""
    if not ENGINE.naive:
        ENGINE.naive = True
        observe.watch(_waiting, graphs=True)


def disable():
    """Do not wait any more."""
    if ENGINE.naive:
        ENGINE.naive = False
        observe.unwatch(_waiting)


def enable_if_asked():
    """At the first import of `mx.nd`, if the environment asks for it; on the CPU every call has finished anyway."""
    if os.environ.get("MXNET_ENGINE_TYPE") == "NaiveEngine" and (
        torch.cuda.is_available() or torch.backends.mps.is_available()
    ):
        enable()
