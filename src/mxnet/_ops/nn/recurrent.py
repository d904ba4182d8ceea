"""RNN: the fused multi-layer recurrent network (LSTM, GRU, vanilla), whose weights and biases are one packed vector.

The vector holds, layer by layer and in each layer direction by direction, the input weights, the recurrent weights
and the projection; after all of them, in the same order, the input biases and the recurrent biases.
"""

from functools import lru_cache, partial
from itertools import accumulate
from typing import Literal

import numpy as np
import torch
from torch import _VF
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from ..._core.attrs import Fraction
from ..._core.errors import MXNetError
from ..._device.late import require
from ..._device.settings import under
from ..._kernels.rnn.gru import gru
from ..._kernels.rnn.lstm import lstm
from ..registry.fill_rules import assign
from ..registry.registry import op

GATES = {"rnn_relu": 1, "rnn_tanh": 1, "lstm": 4, "gru": 3}


def _inputs(attrs):
    names = ["data", "parameters", "state"]
    if attrs["mode"] == "lstm":
        names.append("state_cell")
    if attrs["use_sequence_length"]:
        names.append("sequence_length")
    return tuple(names)


def _outputs(attrs):
    if not attrs["state_outputs"]:
        return ("output",)
    cell = ("statecell_output",) if attrs["mode"] == "lstm" else ()
    return ("output", "state_output", *cell)


def _fill(attrs, shapes):
    """Parameters and states follow from the data; the data's batch size may follow from a state."""
    if not shapes[0]:
        return shapes
    if len(shapes[0]) != 3:
        raise MXNetError(
            "Input data should be rank-3 tensor of dim [sequence length, batch size, input size], "
            f"got shape {tuple(shapes[0])}"
        )
    steps, batch, width = shapes[0]  # pyright: ignore[reportUnusedVariable]
    rows = attrs["num_layers"] * (2 if attrs["bidirectional"] else 1)
    total = parameter_count(attrs, width) if width else 0
    assign(shapes, 1, (total,), "RNN", "parameters")
    assign(shapes, 2, (rows, batch, attrs["projection_size"] or attrs["state_size"]), "RNN", "state")
    if attrs["mode"] == "lstm":
        assign(shapes, 3, (rows, batch, attrs["state_size"]), "RNN", "state_cell")
    if attrs["use_sequence_length"]:
        assign(shapes, len(shapes) - 1, (batch,), "RNN", "sequence_length")
    return shapes


def _output_shapes(attrs, shapes):
    names = _outputs(attrs)
    if not shapes[0]:
        return [None] * len(names)
    width = attrs["projection_size"] or attrs["state_size"]
    output = (*shapes[0][:2], width * (2 if attrs["bidirectional"] else 1))
    return [output, *shapes[2 : 1 + len(names)]]


def parameter_count(attrs, width):
    """Length of the packed vector for data of that width."""
    shapes = _parameter_shapes(attrs["mode"], width, attrs["state_size"], attrs["num_layers"], attrs["bidirectional"],
                     attrs["projection_size"])  # fmt: skip
    return sum(torch.Size(s).numel() for s in shapes)


@lru_cache(maxsize=256)
def _parameter_shapes(mode, width, state_size, num_layers, bidirectional, projection_size):
    """Shapes of the matrices and biases in the order in which they are packed."""
    rows, hidden = GATES[mode] * state_size, projection_size or state_size
    directions = 2 if bidirectional else 1
    weights = []
    for layer in range(num_layers):
        inner = [(rows, hidden * directions if layer else width), (rows, hidden)]
        if projection_size:
            inner.append((projection_size, state_size))
        weights += inner * directions
    return tuple(weights + [(rows,), (rows,)] * num_layers * directions)


def _unpack(parameters, shapes, projected):
    """Views of the packed vector in torch's order."""
    sizes = [torch.Size(s).numel() for s in shapes]
    if parameters.shape != (sum(sizes),):
        raise MXNetError(
            f"Shape inconsistent, Provided = {list(parameters.shape)}, inferred shape=[{sum(sizes)}]: the parameters "
            "of operator RNN"
        )
    return _torch_order([p.view(s) for p, s in zip(parameters.split(sizes), shapes, strict=True)], projected)


def _torch_order(views, projected):
    """The matrices and biases in torch's order: weights, biases and projection of a direction together."""
    each = 3 if projected else 2
    count = len(views) // (each + 2)
    flat = []
    for i in range(count):
        biases = views[each * count + 2 * i : each * count + 2 * i + 2]
        flat += [*views[each * i : each * i + 2], *biases, *views[each * i + 2 : each * i + each]]
    return flat


@op("RNN", inputs=_inputs, outputs=_outputs, fill=_fill, shape=_output_shapes, dtype="any")
def rnn(
    data,
    parameters,
    state,
    state_cell=None,
    sequence_length=None,
    *,
    state_size: int,
    num_layers: int,
    bidirectional: bool = False,
    mode: Literal["gru", "lstm", "rnn_relu", "rnn_tanh"],
    p: Fraction = 0.0,
    state_outputs: bool = False,
    projection_size: int | None = None,
    lstm_state_clip_min: float | None = None,
    lstm_state_clip_max: float | None = None,
    lstm_state_clip_nan: bool = False,
    use_sequence_length: bool = False,
    _train: bool = False,
    _rng=None,
):
    """A stack of recurrent layers over (time, batch, features); `p` drops between the layers in training.

    Under `use_sequence_length` each sequence ends at its own step: outputs after it are zero, final states are those
    of its last step, and the backward direction starts there.

    Parameters
    ----------
    data
        The input sequences, (time, batch, features).
    parameters
        All weights and biases in one vector. First come the matrices of every layer and direction (input to hidden,
        then hidden to hidden), then their biases in the same order. `mx.rnn.FusedRNNCell` and `gluon.rnn` pack it.
    state
        The hidden state before the first step, (num_layers * directions, batch, state_size). There are two directions
        if `bidirectional`; with a projection the last axis has length `projection_size`.
    state_cell
        The cell state before the first step, (num_layers * directions, batch, state_size). For `lstm` only.
    sequence_length
        The number of valid steps of each sequence, (batch,). It is an input only if `use_sequence_length` is True.
    state_size
        Number of hidden units of a layer and direction. The result is (time, batch, directions * state_size).
    num_layers
        Number of layers; each reads the outputs of the one before it.
    bidirectional
        Whether each layer also reads the sequence backwards; both outputs are joined along the last axis.
    mode
        rnn_relu, rnn_tanh: h = f(W x + b + R h + c); lstm: gates in the order input, forget, candidate, output; gru:
        gates in the order reset, update, candidate.
    p
        Probability of dropping an output between two layers in training. As in MXNet, float32 on the CPU has no such
        dropout, whatever `p` is.
    state_outputs
        Whether the final states (the hidden state, and the cell state of an LSTM) are returned after the result.
    projection_size
        Length to which an LSTM projects its hidden state; None means no projection. For `lstm` only.
    lstm_state_clip_min
        The least cell state. Clipping takes place only if both ends are given; for `lstm` only.
    lstm_state_clip_max
        The greatest cell state. Clipping takes place only if both ends are given; for `lstm` only.
    lstm_state_clip_nan
        Accepted for old programs and ignored: NaN in the cell state stays NaN.
    use_sequence_length
        Whether `sequence_length` is given.
    """
    if use_sequence_length and mode != "lstm":
        state_cell, sequence_length = None, state_cell  # inputs come in order, without the absent ones
    if data.dim() != 3:
        raise MXNetError(f"RNN: Input data should be rank-3 tensor of dim [sequence length, batch size, input size], "
                         f"got shape {tuple(data.shape)}")  # fmt: skip
    if mode != "lstm" and (projection_size or lstm_state_clip_min is not None):
        raise MXNetError("RNN: projection and state clipping are for mode lstm only")
    if isinstance(parameters, torch.Tensor):
        shapes = _parameter_shapes(mode, data.shape[2], state_size, num_layers, bidirectional, projection_size)
        weights = _unpack(parameters, shapes, bool(projection_size))
    else:
        weights = parameters  # a graph that has the matrices need not pack them first
    states = state if state_cell is None else (state, state_cell)
    dropout = _Dropout(p, _rng) if p and num_layers > 1 and _drops(data, weights, _train) else None
    if lstm_state_clip_min is not None and lstm_state_clip_max is not None:
        bounds = (lstm_state_clip_min, lstm_state_clip_max)
        network = _ClippedLSTM(weights, num_layers, dropout, bidirectional, bool(projection_size), bounds)
        result = under(network, (data, state, state_cell, sequence_length))
    elif dropout is not None:
        once = partial(_by_torch_calls, mode, 1, _train, bidirectional, sequence_length)
        result = _layer_by_layer(once, data, states, weights, num_layers, dropout)
    else:
        plain = sequence_length is None and not projection_size
        result = _by_kernel(mode, data, states, weights, num_layers, bidirectional) if plain else None
        if result is None:
            layers = mode, num_layers, _train, bidirectional, sequence_length
            result = _by_torch_calls(*layers, data, states, weights)
    return tuple(result) if state_outputs else result[0]


def _by_torch_calls(mode, num_layers, train, bidirectional, sequence_length, data, states, weights):
    if sequence_length is not None:
        return _variable_length(mode, data, states, weights, num_layers, train, bidirectional, sequence_length)
    return _by_torch(mode, data, states, weights, num_layers, train, bidirectional)


def _by_kernel(mode, data, states, weights, num_layers, bidirectional):
    """Outputs and final states; None: torch has to compute them."""
    if mode == "lstm":
        return lstm(num_layers, bidirectional, data, *states, *weights)
    return gru(mode, num_layers, bidirectional, data, states, *weights)


def _by_torch(mode, data, states, weights, num_layers, train, bidirectional):
    """Outputs and final states by torch's function, on a GPU in the form that cuDNN wants."""
    if data.is_cuda and not torch.compiler.is_compiling():
        one = isinstance(states, torch.Tensor)
        states = states.contiguous() if one else tuple(s.contiguous() for s in states)
        weights = _in_one_buffer(weights, num_layers * (2 if bidirectional else 1))
        train = train or _is_differentiated(data, *((states,) if one else states), *weights)
    return under(getattr(_VF, mode), (data, states, weights, True, num_layers, 0.0, train, bidirectional, False))


def _is_differentiated(*tensors):
    """Is a gradient wanted? cuDNN computes one only of a run in training mode."""
    return torch.is_grad_enabled() and any(t.requires_grad for t in tensors)


def _in_one_buffer(weights, directions):
    """The same weights in the packed order in one buffer, as cuDNN reads them: torch would copy them with a warning."""
    each = len(weights) // directions
    groups = [weights[i : i + each] for i in range(0, len(weights), each)]
    packed = [w for group in groups for w in (*group[:2], *group[4:])] + [w for group in groups for w in group[2:4]]
    sizes = [w.numel() for w in packed]
    places = [0, *accumulate(sizes[:-1])]
    in_place = all(w.storage_offset() == at and w.is_contiguous() for w, at in zip(packed, places, strict=True))
    if in_place and len({w.untyped_storage()._cdata for w in packed}) == 1:
        return weights
    buffer = torch.cat([w.reshape(-1) for w in packed])
    return _torch_order([p.view_as(w) for p, w in zip(buffer.split(sizes), packed, strict=True)], each == 5)


def rnn_of_parts(data, parts, *states, **attrs):
    """`RNN` on the unpacked matrices and biases, in the order in which they would be packed."""
    projection = attrs.get("projection_size")
    sizes = (data.shape[-1], attrs["state_size"], attrs["num_layers"], attrs.get("bidirectional", False), projection)
    shapes = _parameter_shapes(attrs["mode"], *sizes)
    if len(parts) == len(shapes) and all(p.shape == s for p, s in zip(parts, shapes, strict=True)):
        return rnn(data, _torch_order(list(parts), bool(projection)), *states, **attrs)
    return rnn(data, torch.cat([p.reshape(-1) for p in parts]), *states, **attrs)


def _drops(data, weights, train):
    """Is there dropout between layers? MXNet's CPU kernels for single precision have none, whatever `p` is; those for
    the other types have it wherever a gradient is wanted."""
    if data.device.type != "cpu":
        return train
    return data.dtype != torch.float32 and (train or data.requires_grad or weights[0].requires_grad)


class _Dropout:
    """Between layers, by the numbers of the device's single engine; on devices without one, by torch's."""

    def __init__(self, p, rng):
        self.p, self.rng = p, rng

    def __call__(self, data):
        if self.rng is None or data.device.type != "cpu" or torch.compiler.is_compiling():
            return torch.dropout(data, self.p, True)
        unit = self.rng.serial_uniform(data.numel())
        kept = torch.from_numpy(unit >= np.float32(self.p)).view(data.shape)
        return torch.where(kept, data / float(np.float32(1) - np.float32(self.p)), 0.0)


def _layer_by_layer(run, data, states, weights, num_layers, dropout):
    """What `run` computes of each layer's states and weights, its input dropped from the second layer on."""
    each, one, finals = len(weights) // num_layers, isinstance(states, torch.Tensor), []
    layers = zip(*(s.chunk(num_layers) for s in ((states,) if one else states)), strict=True)
    for layer, state in enumerate(layers):
        given = data if layer == 0 else dropout(data)
        part = weights[layer * each : (layer + 1) * each]
        data, *final = run(given, state[0] if one else state, part)
        finals.append(final)
    return data, *(torch.cat(f) for f in zip(*finals, strict=True))


def _variable_length(mode, data, states, weights, num_layers, train, bidirectional, lengths):
    if not data.is_cpu and not data.is_meta:
        return _variable_length_on_device(mode, data, states, weights, num_layers, train, bidirectional, lengths)
    packed = pack_padded_sequence(data, lengths.detach().long().cpu(), enforce_sorted=False)
    order, back = packed.sorted_indices, packed.unsorted_indices
    one = isinstance(states, torch.Tensor)
    states = states.index_select(1, order) if one else tuple(s.index_select(1, order) for s in states)  # pyright: ignore[reportArgumentType]
    run = getattr(_VF, mode)
    output, *final = run(packed.data, packed.batch_sizes, states, weights, True, num_layers, 0.0, train, bidirectional)
    output, _ = pad_packed_sequence(packed._replace(data=output), total_length=data.shape[0])
    return output, *(s.index_select(1, back) for s in final)


# ---------------------------------------------------------------- lengths that stay on a device
# torch's kernels take lengths on the host, for which it would have to wait. Here every sequence runs through all steps,
# each direction from the sequence's first step: what comes behind its end changes nothing that is used.
_STOPPED = 1e4  # a gate's sum at which its sigmoid is 0 or 1 in every type


def _variable_length_on_device(mode, data, states, weights, num_layers, train, bidirectional, lengths):
    steps, directions = data.shape[0], 2 if bidirectional else 1
    ends = lengths.detach().long()
    words = f"RNN: each sequence_length must be at least 1 and at most {steps}, the number of steps"
    require(((ends >= 1) & (ends <= steps)).all(), lambda: MXNetError(words))
    ends, time = ends.clamp(1, steps), torch.arange(steps, device=data.device)[:, None]
    alive = time < ends
    reversed_steps = torch.where(alive, ends - 1 - time, time)
    each, one = len(weights) // (num_layers * directions), isinstance(states, torch.Tensor)
    data, finals = data.masked_fill(~alive[..., None], 0), []
    for layer in range(num_layers):
        outputs = []
        for row in range(layer * directions, (layer + 1) * directions):
            state = states[row : row + 1] if one else tuple(s[row : row + 1] for s in states)
            backward = bool(row % directions)
            given = _at_steps(data, reversed_steps) if backward else data
            part = weights[row * each : (row + 1) * each]
            output, *final = _one_direction(mode, given, state, part, train, alive, ends)
            outputs.append(_at_steps(output, reversed_steps) if backward else output)
            finals.append(final)
        data = torch.cat(outputs, 2)
    return data, *(torch.cat(f) for f in zip(*finals, strict=True))


def _one_direction(mode, data, states, weights, train, alive, ends):
    """One layer in one direction: outputs, zero behind the ends, and the states at the ends."""
    if mode == "lstm":
        data = torch.cat([data, ~alive[..., None]], 2)
        weights = [_keeping_cell(weights[0]), *weights[1:]]
    output, *final = _by_torch(mode, data, states, weights, 1, train, False)
    last = _at_steps(output, (ends - 1)[None])
    return output.masked_fill(~alive[..., None], 0), last, *final[1:]


def _keeping_cell(weight):
    """The input weights of an LSTM with a column for "ended": it shuts the input gate and opens the forget gate."""
    size = weight.shape[0] // 4
    column = torch.zeros_like(weight[:, :1])
    column[:size], column[size : 2 * size] = -_STOPPED, _STOPPED
    return torch.cat([weight, column], 1)


def _at_steps(data, steps):
    """Row b of result t is row b of step `steps[t, b]`."""
    return data.gather(0, steps[..., None].expand(-1, -1, data.shape[2]))


class _ClippedLSTM:
    """LSTM step by step with the cell state clipped, which no fused kernel computes."""

    def __init__(self, weights, num_layers, dropout, bidirectional, projected, bounds):
        self.weights, self.num_layers, self.dropout = weights, num_layers, dropout
        self.directions, self.each, self.bounds = (2 if bidirectional else 1), (5 if projected else 4), bounds

    def __call__(self, data, state, cell, lengths):
        finals = []
        for layer in range(self.num_layers):
            if layer and self.dropout:
                data = self.dropout(data)
            rows = range(layer * self.directions, (layer + 1) * self.directions)
            runs = [self._direction(data, state[r], cell[r], lengths, r) for r in rows]
            data = torch.cat([run[0] for run in runs], 2)
            finals += [run[1:] for run in runs]
        return data, torch.stack([f[0] for f in finals]), torch.stack([f[1] for f in finals])

    def _direction(self, data, hidden, cell, lengths, row):
        weights = self.weights[row * self.each : (row + 1) * self.each]
        steps = range(data.shape[0])
        backward = self.directions == 2 and row % 2
        outputs = [None] * data.shape[0]
        for t in reversed(steps) if backward else steps:
            new_hidden, new_cell = self._step(data[t], hidden, cell, weights)
            alive = None if lengths is None else (t < lengths.detach()).unsqueeze(1)
            hidden = new_hidden if alive is None else torch.where(alive, new_hidden, hidden)
            cell = new_cell if alive is None else torch.where(alive, new_cell, cell)
            outputs[t] = new_hidden if alive is None else new_hidden * alive
        return torch.stack(outputs), hidden, cell

    def _step(self, x, hidden, cell, weights):
        input_weight, hidden_weight, input_bias, hidden_bias, *projection = weights
        gates = torch.addmm(input_bias, x, input_weight.t()) + torch.addmm(hidden_bias, hidden, hidden_weight.t())
        input_gate, forget_gate, candidate, output_gate = gates.chunk(4, 1)
        cell = forget_gate.sigmoid() * cell + input_gate.sigmoid() * candidate.tanh()
        cell = cell.clamp(*self.bounds)
        hidden = output_gate.sigmoid() * cell.tanh()
        return (hidden @ projection[0].t() if projection else hidden), cell
