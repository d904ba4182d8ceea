"""Queries on fx graphs for rewriting passes: what a node calls, its arguments by name, who uses its value.

A pass that matches a pattern reads arguments by the parameter names of the called function:

    if calls(node, SOFTMAX) and argument(node, "axis") == -1:
        scores = argument(node, "data")
"""

import inspect
import operator
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import torch
from torch import fx


def calls(node: Any, *targets: Any) -> bool:
    """Is this value of a graph a call of one of these functions?"""
    return isinstance(node, fx.Node) and node.op == "call_function" and node.target in targets


def sole_user(node: fx.Node) -> fx.Node | None:
    """The only node that reads the value; None if there are several, or none."""
    return next(iter(node.users)) if len(node.users) == 1 else None


@lru_cache(1 << 10)
def _parameters(function: Callable[..., Any]) -> dict[str, tuple[int, Any]]:
    """Position and default value of each of a function's parameters, by name."""
    parameters = inspect.signature(function).parameters.values()
    return {p.name: (i, None if p.default is p.empty else p.default) for i, p in enumerate(parameters)}


def argument(node: fx.Node, name: str) -> Any:
    """The argument of a call for the called function's parameter `name`; the parameter's default if not given.

    A required parameter that is not given is None. It is a KeyError if the function has no such parameter.
    """
    position, default = _parameters(node.target)[name]  # type: ignore[arg-type]
    if name in node.kwargs:
        return node.kwargs[name]
    return node.args[position] if position < len(node.args) else default


def arguments_from(node: fx.Node, name: str) -> tuple[Any, ...]:
    """The positional arguments from parameter `name` on: optional inputs, or those of a variadic function."""
    return node.args[_parameters(node.target)[name][0] :]  # type: ignore[arg-type]


def pick(result: Any, index: int) -> torch.Tensor:
    """One output of an operator whose function may leave hidden outputs out."""
    return result[index] if result.__class__ is tuple or result.__class__ is list else result


def selected_output(value: Any) -> tuple[Any, int] | None:
    """(call, index) if the value is one output selected from a call with several outputs, else None."""
    if calls(value, pick):
        return argument(value, "result"), argument(value, "index")
    if calls(value, operator.getitem):
        sequence, index = value.args
        return sequence, index
    return None


def moved(tensor: torch.Tensor, device: torch.device) -> torch.Tensor:
    """The tensor on another device."""
    return tensor.to(device)
