"""Loops and branches whose bodies are graphs: `foreach`, `while_loop`, `cond`.

`_graphs` are the bodies, ready to be called with a list of tensors in the order of their inputs.
"""

import torch

from .._core.errors import MXNetError
from .registry.registry import op


def _count(attrs):
    return attrs["num_outputs"]


def _beside(bodies):
    """Names of the inputs: `num_args` counts the bodies, too."""
    return lambda attrs: tuple(f"arg{i}" for i in range(attrs["num_args"] - bodies))


def _element(data, i):
    """One step's part of the data; a vector's parts keep one axis."""
    return data[i] if data.dim() > 1 else data[i : i + 1]


@op("_foreach", inputs=_beside(1), outputs=_count, dtype="any")
def foreach(
    *data,
    num_args: int,
    num_outputs: int,
    num_out_data: int,
    in_state_locs: tuple,
    in_data_locs: tuple,
    remain_locs: tuple,
    _graphs=(),
):
    """Run the body once per element of the data's first axis, handing states on; outputs of all steps are stacked."""
    body = _graphs[0]
    split = len(in_data_locs)
    arrays, states = data[:split], list(data[split : split + len(in_state_locs)])
    inputs = [None] * len(data)
    for place, value in zip(remain_locs, data[split + len(in_state_locs) :], strict=True):
        inputs[place] = value
    steps = {array.shape[0] for array in arrays}
    if len(steps) != 1:
        raise MXNetError(f"foreach: all data arrays need the same first axis, got sizes {sorted(steps)}")
    outputs = [[] for _ in range(num_out_data)]
    for i in range(steps.pop()):
        for place, array in zip(in_data_locs, arrays, strict=True):
            inputs[place] = _element(array, i)
        for place, state in zip(in_state_locs, states, strict=True):
            inputs[place] = state
        results = body(inputs)
        for kept, result in zip(outputs, results, strict=False):
            kept.append(result)
        states = list(results[num_out_data:])
    return (*[torch.stack(kept) for kept in outputs], *states)


@op("_while_loop", inputs=_beside(2), outputs=_count, dtype="any")
def while_loop(
    *data,
    num_args: int,
    num_outputs: int,
    num_out_data: int,
    max_iterations: int,
    cond_input_locs: tuple,
    func_input_locs: tuple,
    func_var_locs: tuple,
    _graphs=(),
):
    """Run the body while the condition holds; outputs are stacked and padded with zeros to `max_iterations` steps."""
    condition, body = _graphs
    inputs = list(data)
    places = [func_input_locs[loc] for loc in func_var_locs]
    outputs = [[] for _ in range(num_out_data)]
    steps = 0
    while steps < max_iterations and _truth(condition([inputs[i] for i in cond_input_locs])[0], "while_loop"):
        results = body([inputs[i] for i in func_input_locs])
        for kept, result in zip(outputs, results, strict=False):
            kept.append(result)
        for place, value in zip(places, results[num_out_data:], strict=True):
            inputs[place] = value
        steps += 1
    if steps == 0 and num_out_data:
        stacked = _nothing(body, [inputs[i] for i in func_input_locs], num_out_data, max_iterations)
    else:
        stacked = [_padded(kept, max_iterations) for kept in outputs]
    return (*stacked, *[inputs[place] for place in places])


def _nothing(body, inputs, count, length):
    """Zeros for a loop that was never entered; only a run of its body tells the shapes."""
    with torch.no_grad():
        outputs = body(inputs)[:count]
    return [out.new_zeros((length, *out.shape)) for out in outputs]


def _padded(parts, length):
    stacked = torch.stack(parts)
    if len(parts) == length:
        return stacked
    return torch.cat([stacked, stacked.new_zeros((length - len(parts), *stacked.shape[1:]))])


def _truth(value, what):
    if value.numel() != 1:
        raise MXNetError(f"{what}: the condition must have one element, got shape {tuple(value.shape)}")
    return bool(value.item())


@op("_cond", inputs=_beside(3), outputs=_count, dtype="any")
def cond(
    *data,
    num_args: int,
    num_outputs: int,
    cond_input_locs: tuple,
    then_input_locs: tuple,
    else_input_locs: tuple,
    _graphs=(),
):
    """Run one of two bodies, as the condition says."""
    condition, then, otherwise = _graphs
    chosen = _truth(condition([data[i] for i in cond_input_locs])[0], "cond")
    body, places = (then, then_input_locs) if chosen else (otherwise, else_input_locs)
    return body([data[i] for i in places])
