"""Memory for `simple_bind`: shapes and dtypes deduced, arrays made or shared with another executor."""

from math import prod

import torch

from .._core.advice.constructors import suggestion
from .._core.dtypes import dtype_name
from .._core.errors import MXNetError
from .._device.errors import tells_exhaustion
from .._graph.infer.fixpoint import type_facts
from .._graph.infer.storage import gradient_stypes
from .._graph.infer.zero_size import fully_known, user_shape_facts
from .._graph.lower.program import placement
from .._ops.registry.device import torch_device
from .._ops.registry.shape_rules import open_bracket
from .._ops.registry.torch_dtypes import torch_dtype
from ._later import later


class Allocation:
    """What arrays a symbol needs: name, shape, dtype, context of every variable."""

    def __init__(self, symbol, ctx, group2ctx, shapes, types, stypes):
        self.symbol, self.stypes = symbol, stypes or {}
        given = {name: shape for name, shape in shapes.items() if isinstance(shape, tuple)}
        facts = user_shape_facts(symbol._entries, given, strict=False)
        self.variables = facts.graph.variables
        self.states = facts.graph.mutated
        self.place = placement(symbol._entries, ctx, group2ctx)
        self.shapes = {id(n): facts.first(n) for n in self.variables}
        self._complete(given)
        self.types = self._types(types or {})
        self.gradients = gradient_stypes(symbol._entries, {n.name: self._stype(n, False) for n in self.variables})

    def _complete(self, given):
        unknown = [n for n in self.variables if not fully_known(self.shapes[id(n)])]
        if unknown:
            listed = "".join(f"{n.name}: {_text(self.shapes[id(n)])}, " for n in unknown)
            raise MXNetError(
                "InferShape pass cannot decide shapes for the following arguments (-1 means unknown dimensions). "
                f"Please consider providing them as inputs:\n{listed}{self._misnamed(given)}"
            )

    def _misnamed(self, given):
        """Shapes whose names no variable has, with the names that they may have been meant for."""
        names = {n.name for n in self.variables}
        wrong = [name for name in given if name not in names]
        return "".join(f"\nThe symbol has no argument '{name}'; {suggestion(name, names)}" for name in wrong)

    def _types(self, given):
        names = {n.name for n in self.variables}
        types = {name: dtype_name(t) for name, t in given.items() if name in names}
        facts = type_facts(self.symbol._entries, types)
        for node in self.variables:
            if facts.first(node) is None:
                types[node.name] = "float32"
                facts = type_facts(self.symbol._entries, types)
        return {id(n): facts.first(n) for n in self.variables}

    def arrays(self, reqs, shared_names, shared_exec, buffer):
        """Arguments, gradients and states, in the symbol's order; as in MXNet, without a buffer none is shared."""
        shared_exec = None if buffer is None else shared_exec
        args, grads, states = [], [], []
        remaining = iter(reqs)
        for node in self.variables:
            if id(node) in self.states:
                states.append(self._state(node, shared_exec))
                continue
            wanted = next(remaining) != "null"
            shared = shared_exec is not None and node.name in shared_names and node.name in shared_exec.arg_dict
            if shared:
                array, grad = shared_exec.arg_dict[node.name], shared_exec.grad_dict[node.name]
                self._fits(node, array)
                args.append(array)
                grads.append((grad if grad is not None else self._new(node, True)) if wanted else None)
            else:
                pooled = buffer if node.name not in shared_names else None
                args.append(self._pooled(node, pooled))
                grads.append(self._pooled(node, pooled, True) if wanted else None)
        return args, grads, states

    def _state(self, node, shared_exec):
        old = shared_exec.aux_dict.get(node.name) if shared_exec is not None else None
        return old if old is not None and old.shape == self.shapes[id(node)] else self._new(node)

    def _fits(self, node, array):
        if array.shape != self.shapes[id(node)]:
            raise MXNetError(
                f"Shape of shared argument {node.name} must be {array.shape}, as in the shared executor, "
                f"got {self.shapes[id(node)]}"
            )

    def _pooled(self, node, buffer, gradient=False):
        """An array out of the shared buffer, if it has a large enough one of that name; sparse ones are not shared."""
        if buffer is None or self._stype(node, gradient) != "default":
            return self._new(node, gradient)
        key = f"grad of {node.name}" if gradient else node.name
        shape, ctx, dtype = self.shapes[id(node)], self.place(node), torch_dtype(self.types[id(node)])
        old = buffer.get(key)
        if old is None or old._t.dtype is not dtype or old.size < prod(shape) or old.context != ctx:
            buffer[key] = old = self._new(node, gradient)
        return old if old.shape == shape else _wrap(old._t.view(-1)[: prod(shape)].view(shape), ctx)

    def _stype(self, node, gradient):
        """The storage of a variable or of its gradient."""
        if gradient:
            return self.gradients.get(node.name, "default")
        own = {"1": "row_sparse", "2": "csr"}.get(node.attrs.get("__storage_type__", ""), "default")
        return self.stypes.get(node.name) or own

    def _new(self, node, gradient=False):
        shape, ctx, stype = self.shapes[id(node)], self.place(node), self._stype(node, gradient)
        if stype != "default":
            return later("ndarray.sparse").zeros(stype, shape, ctx=ctx, dtype=self.types[id(node)])
        return _wrap(_zeros(shape, dtype=torch_dtype(self.types[id(node)]), device=torch_device(ctx)), ctx)


_zeros = tells_exhaustion(torch.zeros)


def _wrap(tensor, ctx):
    return later("ndarray.ndarray").wrap(tensor, ctx)


def _text(shape):
    return "None" if shape is None else open_bracket(shape)
