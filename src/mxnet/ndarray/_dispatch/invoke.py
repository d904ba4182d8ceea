"""Calling an operator on NDArrays: check the inputs, run the function, wrap the results.

Generated functions have a fast path for the common case (`generated.py`); everything else, and every error, comes here.
"""

import torch

from ..._core.dtypes import dtype_name
from ..._core.errors import MXNetError, cause
from ..._core.hints import advice
from ..._core.modes import MODES
from ..._core.writes import wrote
from ..._device.copies import FLIGHTS, held_pinned, put, settle
from ..._device.errors import explained
from ..._kernels.elementwise.transpose import contiguous_copy
from ..._ops.registry import integer_gradient
from ..._ops.registry import sparse_outputs as storage
from ..._ops.registry.device import torch_device
from ..._ops.registry.observe import observed, watching
from ..._ops.registry.shape_rules import bracket
from ..._ops.registry.signature import listed_inputs
from ..._ops.registry.torch_dtypes import NAME
from ...context import PINNED, Context, cpu, current_context, parse_context

DECODERS = frozenset(["_cvimdecode", "_cvimread", "_imdecode"])  # their results are the CPU's in any context
CONSUMED = "remx_consumed"  # metadata key of autograd nodes whose graph a backward pass has freed
IN_GRAPH = (
    "Assigning to NDArrays that are already in a computational graph will cause undefined behavior when evaluating "
    "gradients. Please call backward first to clear the graph or do this out side of a record section. Also note "
    "that you cannot use inplace operations like +=, *=, relu(x, out=x), y[idx]=x, etc inside a record section."
)

IN_PLACE = "Inplace operations (+=, -=, x[:]=, etc) are not supported when recording with autograd."


class SparseStorage(MXNetError):
    """Raised on access to the dense tensor of a sparse array; always caught, so that users never see it."""


def graph_tensor(array):
    """The tensor to record with; a result of a graph that was freed is a constant, as in MXNet."""
    try:
        t = array._t
    except SparseStorage:
        return array._recorded()
    if t.requires_grad and t.grad_fn is not None and array._ag != MODES.epoch and freed(t.grad_fn):
        array._t = t = t.data
        array._ag = None
    return t


def freed(node):
    """Does the graph behind this autograd node contain nodes that a backward pass has freed?

    The whole graph is searched: a recurrent network's state need not be on the path of the loss. Leaves are shared by
    many graphs and are ignored.
    """
    stack, seen, last = [node], set(), node
    while stack:
        node = stack.pop()
        before = node.next_functions
        if node in seen or not before:
            continue
        if CONSUMED in node.metadata and (node is last or not _is_transposed_leaf(node)):
            return True
        seen.add(node)
        stack += [n for n, _ in before if n is not None]
    return False


def _is_transposed_leaf(node):
    """Is it the transpose of a leaf? Like a leaf, it may also belong to graphs that are not freed."""
    return node.name() == "TBackward0" and not node.next_functions[0][0].next_functions


def plain_tensor(array):
    """The tensor detached, with its own version counter; of a sparse array a dense copy."""
    try:
        t = array._t
    except SparseStorage:
        return array._dense()
    return t.data if t.requires_grad else t


def in_graph(array):
    """Is the array a marked variable or the result of a recorded operation that can still be differentiated?"""
    if array._ag is None:
        return False
    tensor, mark = graph_tensor(array), array._ag  # read after `graph_tensor`, which resets it if the graph was freed
    return tensor.requires_grad or mark == MODES.epoch or not (mark is None or isinstance(mark, int))


def recorded_tensor(array):
    """The tensor of an array that belongs to the graph being recorded (a dense one, of sparse arrays); else None."""
    if not MODES.recording or (array._ag is None and array.stype != "default"):
        return None
    tensor = graph_tensor(array)
    return tensor if tensor.requires_grad else None


def check_writable(array):
    """While recording, an array that belongs to a graph may not be written."""
    if MODES.recording and in_graph(array):
        raise MXNetError(f"Check failed: AGInfo::IsNone(*output): {IN_GRAPH}")


def own(result, tensors):
    """`result`, copied if it shares memory with an input: operators in MXNet never return views."""
    if result._is_view():
        base = result._base
        for t in tensors:
            if t is base or (t is not None and t._is_view() and t._base is base):  # `_is_view` is cheaper than `_base`
                return contiguous_copy(result)
    else:
        for t in tensors:
            if t is result:
                return result.clone(memory_format=torch.contiguous_format)
    return result


def describe(op, inputs, attrs):
    """One line about a call: operator, each input's shape, dtype and context, the attributes."""
    given = "".join(f", {k}={v}" for k, v in attrs.items())
    return f"{op.name}({', '.join(map(_given, inputs))}{given})"


def _given(x):
    return "None" if x is None else f"{tuple(x._t.shape)} {NAME.get(x._t.dtype, x._t.dtype)} @{x._ctx}"


def check_inputs(op, inputs):
    """Dtypes must agree and devices must match; MXNet does not promote types or move arrays."""
    present = [(i, x) for i, x in enumerate(inputs) if x is not None]
    if not present:
        return
    first = present[0][1]
    if op.dtype == "same":
        for i, x in present[1:]:
            if x._t.dtype is not first._t.dtype:
                raise MXNetError(
                    f"Check failed: assign(&dattr, vec.at(i)): Incompatible attr in node  at {i}-th input: "
                    f"expected {NAME[first._t.dtype]}, got {NAME[x._t.dtype]}"
                    f" (operator {describe(op, inputs, {})}; convert one of them with astype)"
                )
    kind = first._ctx.device_type == "gpu"
    for _, x in present[1:]:
        same = x._ctx is first._ctx
        if not same and ((x._ctx.device_type == "gpu") != kind or kind):
            raise MXNetError(
                f"Operator {op.name} expects all its inputs in one context, got "
                f"{', '.join(str(y._ctx) for _, y in present)}; move them with as_in_context"
            )


def check_dtype(op, attrs):
    """An invalid data type is a TypeError, as in MXNet, whose Python code converts it by NumPy first."""
    if "dtype" in attrs and "dtype" in op.attrs:
        try:
            dtype_name(attrs["dtype"])
        except TypeError as error:
            raise TypeError(f"{error}, in operator {op.name}(dtype={attrs['dtype']!r})") from None


def pick_context(inputs, attrs, ctx, out=None):
    """The context of the call: that of its inputs, else of `out`, else the requested one, else the current one."""
    for x in inputs:
        if x is not None:
            return x._ctx.home
    if out is not None:
        return (out[0] if isinstance(out, (list, tuple)) else out)._ctx.home
    if ctx is not None:
        return ctx
    requested = attrs.get("ctx")
    if isinstance(requested, Context):
        return requested
    return parse_context(requested) if requested else current_context()


def inject(op, ctx, parsed):
    """Add the values that the operator's caller has to inject (see `registry.py`)."""
    for name in op.injected:
        if name == "_train":
            parsed["_train"] = MODES.training
        elif name == "_device":
            parsed["_device"] = torch_device(ctx)
        elif name == "_ctx":
            parsed["_ctx"] = ctx
        elif name in ("_kept", "_stypes"):
            parsed[name] = None
        elif name == "_rng":
            from ..._core.streams import stream

            parsed["_rng"] = stream(ctx.device_typeid, ctx.device_id)
    return parsed


def execute(op, inputs, parsed, ctx):
    """Run the function; returns a tuple of tensors and whether they were recorded."""
    if op.variadic is not None and op.mutates:
        tensors = [x._t.data for x in inputs]
    elif op.aux or op.mutates:
        written = op.aux_names(parsed) + op.mutates
        names = op.input_names(parsed, len(inputs))
        tensors = [
            None if x is None else x._t.data if n in written else graph_tensor(x)
            for n, x in zip(names, inputs, strict=False)
        ]
        tensors += [graph_tensor(x) for x in inputs[len(tensors) :]]
    else:
        tensors = [None if x is None else graph_tensor(x) for x in inputs]
    recorded = False
    if any(t is not None and t.requires_grad for t in tensors):
        recorded = MODES.recording
        if not recorded:
            tensors = [None if t is None else t.data for t in tensors]
    function = observed(op) if watching() else op.fn
    try:
        result = function(*tensors, **inject(op, ctx, parsed))
    finally:
        if op.aux or op.mutates:
            for t in tensors:
                if t is not None:
                    wrote(t)
    if type(result) is tuple or type(result) is list:
        return [own(r, tensors) for r in result], recorded
    return [own(result, tensors)], recorded


def invoke(op, inputs, attrs, out=None, ctx=None):
    """Call `op` on NDArrays with attributes as a user gave them; returns an NDArray or a list of them."""
    for x in inputs:
        if x is not None and x.stype != "default":
            from .._sparse.invoke import invoke_sparse

            return invoke_sparse(op, inputs, attrs, out, ctx)
    if op.name in storage.STYPE_ATTRIBUTE and attrs.get(storage.STYPE_ATTRIBUTE[op.name]) in ("csr", "row_sparse"):
        from .._sparse.invoke import invoke_stored

        return invoke_stored(op, inputs, attrs, out, ctx)
    if op.storage is not None and set(op.storage(op.full(op.parse(attrs)), ["default"] * len(inputs))) - {"default"}:
        from .._sparse.invoke import invoke_custom

        return invoke_custom(op, inputs, attrs, out, ctx)
    check_inputs(op, inputs)
    check_dtype(op, attrs)
    parsed = op.parse(attrs)
    if op.variadic is not None and op.count in op.attrs and op.count not in parsed:
        parsed[op.count] = len(inputs)
    where = cpu() if op.name in DECODERS else pick_context(inputs, attrs, ctx, out)
    if out is not None and not inputs:
        parsed = from_output(op, parsed, out)
    try:
        results, recorded = execute(op, inputs, parsed, where)
    except MXNetError:
        raise  # has a clear message already
    except (RuntimeError, IndexError, TypeError, ValueError, ArithmeticError, MemoryError) as error:
        parsed = {k: v for k, v in parsed.items() if not k.startswith("_")}
        hint = advice(op.name, [tuple(x._t.shape) if x is not None else None for x in inputs], parsed)
        hint += listed_inputs(op, [_given(x) for x in inputs])
        said = f"Error in operator {describe(op, inputs, parsed)}: {explained(error)}{hint}"
        raise MXNetError(said) from cause(error)
    results = results[: op.visible_outputs(parsed)] if op.visible is not None else results
    if out is not None:
        return _write_outputs(op, inputs, results, recorded, out)
    from ..ndarray import wrap

    mark = MODES.epoch if recorded else None
    if where.device_typeid == PINNED:
        results = [held_pinned(r) for r in results]
    arrays = [wrap(r, where, mark) for r in results]
    return arrays[0] if len(arrays) == 1 else arrays


def from_output(op, parsed, out):
    """Creation operators take shape and dtype from `out` if they are not given."""
    target = out[0] if isinstance(out, (list, tuple)) else out
    known = {"shape": target.shape, "dtype": dtype_name(target.dtype)}
    known = {k: v for k, v in known.items() if k in op.defaults and op.defaults[k] is None}
    requested = parsed.get("dtype")
    if requested is not None and requested != known.get("dtype", requested):
        raise MXNetError(
            f"Output type does not match requested type: {known['dtype']} vs {requested}, in operator {op.name}"
        )
    shape = parsed.get("shape")
    if shape and "shape" in known and 0 not in shape and tuple(shape) != known["shape"]:
        raise MXNetError(
            f"Error in operator {op.name}: Shape inconsistent, Provided = {bracket(known['shape'])}, "
            f"inferred shape={bracket(shape)}"
        )
    return {**known, **parsed}


def _write_outputs(op, inputs, results, recorded, out):
    outs = list(out) if isinstance(out, (list, tuple)) else [out]
    for target, result in zip(outs, results, strict=False):
        if recorded and any(x is target for x in inputs):
            check_writable(target)
            raise MXNetError(f"Check failed: AGInfo::IsNone(*output): {IN_PLACE}")
        if target.stype == "default" and target._t.dtype is not result.dtype:
            raise MXNetError(
                "Check failed: assign(&dattr, vec.at(i)): Incompatible attr in node  at 0-th output: expected "
                f"{NAME[result.dtype]}, got {NAME[target._t.dtype]} in operator {op.name}"
            )
        write(target, result, recorded, op.name)
    return out


def write(target, result, recorded=False, name="assignment"):
    """Copy `result` into `target`'s memory; if it was recorded, `target` becomes part of the graph."""
    check_writable(target)
    if target.stype != "default":
        target._assign(result.detach(), result if recorded and result.requires_grad else None)
        return
    t = target._t
    if t.shape != result.shape and not (t.numel() == result.numel() == 1):
        raise MXNetError(
            f"Error in operator {name}: Shape inconsistent, Provided = {bracket(t.shape)}, "
            f"inferred shape={bracket(result.shape)}"
        )
    if recorded and result.requires_grad:
        fresh = t.data
        fresh.copy_(result.view(t.shape) if t.shape != result.shape else result)
        if not fresh.is_floating_point():
            fresh = integer_gradient.with_gradient_of(fresh, result)
        target._t, target._ag = fresh, MODES.epoch
    elif t.dtype is result.dtype and t.data_ptr() == result.data_ptr() and t.stride() == result.stride():
        pass
    else:
        if FLIGHTS:
            settle(t)
        put(plain_tensor(target), result.data.view(t.shape) if t.shape != result.shape else result.data)
    wrote(t)
