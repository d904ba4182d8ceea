"""What recurrent cells (`gluon.rnn`, `gluon.contrib.rnn`, `mx.rnn`) and `gluon.contrib`'s layers must do.

The functions run on MXNet and on ReMX alike; `tools/record_cells.py` keeps MXNet's answers in `tests/data/cells.json`.
"""

import numpy as np
from gluon_cases import numbers, ramp, short_name

import mxnet as mx
from mxnet import autograd, nd
from mxnet.gluon import contrib, nn, rnn

STEPS, BATCH, WIDTH = 3, 2, 4


def stacked(container):
    cells = container(prefix="stack_")
    with cells.name_scope():
        cells.add(rnn.LSTMCell(5, input_size=WIDTH))
        cells.add(rnn.DropoutCell(0.5))
        cells.add(rnn.GRUCell(3, input_size=5))
    return cells


# name -> cell, of data of WIDTH numbers a step; what drops at random is compared in prediction mode, where nothing does
CELLS = {
    "rnn": lambda: rnn.RNNCell(5, input_size=WIDTH),
    "rnn_relu": lambda: rnn.RNNCell(5, activation="relu", input_size=WIDTH),
    "lstm": lambda: rnn.LSTMCell(5, input_size=WIDTH),
    "lstm_activations": lambda: rnn.LSTMCell(
        5, input_size=WIDTH, activation="relu", recurrent_activation="tanh", i2h_bias_initializer="ones"
    ),
    "gru": lambda: rnn.GRUCell(5, input_size=WIDTH),
    "stack": lambda: stacked(rnn.SequentialRNNCell),
    "hybrid_stack": lambda: stacked(rnn.HybridSequentialRNNCell),
    "residual": lambda: rnn.ResidualCell(rnn.GRUCell(WIDTH, input_size=WIDTH)),
    "zoneout": lambda: rnn.ZoneoutCell(rnn.LSTMCell(5, input_size=WIDTH), 0.3, 0.2),
    "projected": lambda: contrib.rnn.LSTMPCell(5, 3, input_size=WIDTH),
    "variational": lambda: contrib.rnn.VariationalDropoutCell(rnn.LSTMCell(5, input_size=WIDTH), 0.3, 0.2, 0.1),
}
WHOLE = {  # cells that exist unrolled only
    "both_ways": lambda: rnn.BidirectionalCell(
        rnn.LSTMCell(5, input_size=WIDTH, prefix="l_"), rnn.GRUCell(5, input_size=WIDTH, prefix="r_")
    ),
}
CONVOLVED = {
    f"{kind}{axes}d": (getattr(contrib.rnn, f"Conv{axes}D{kind}Cell"), axes)
    for axes in (1, 2, 3)
    for kind in ("RNN", "LSTM", "GRU")
}


def fill(parameters):
    """The same numbers in every parameter, whatever the initializer would draw."""
    for place, parameter in enumerate(parameters.values()):
        parameter.set_data(ramp(*parameter.shape, low=-0.5, high=0.5) * (1 - 0.03 * place))


def tensors(nested):
    """The arrays (or symbols) of nested lists, in order."""
    return [x for item in nested for x in tensors(item)] if isinstance(nested, (list, tuple)) else [nested]


def gradients(parameters, block):
    return [
        [short_name(name, block), numbers(parameter.grad())]
        for name, parameter in parameters.items()
        if parameter.grad_req != "null"
    ]


def differentiate(compute, x, parameters, block):
    """Outputs and, of the mean of their squares, the gradients."""
    x.attach_grad()
    with autograd.record(train_mode=False):
        found = tensors(compute(x))
        loss = sum(((y + 0.1) ** 2).mean() for y in found)
    loss.backward()
    return {
        "shapes": [list(y.shape) for y in found],
        "outputs": [numbers(y) for y in found],
        "gradient": numbers(x.grad),
        "gradients": gradients(parameters, block),
    }


def ready(make, hybrid, *first):
    """The block with its parameters filled; `first` decides shapes that are still open."""
    block = make()
    block.initialize()
    if first:
        block(*first)
    parameters = block.collect_params()
    fill(parameters)
    if hybrid:
        block.hybridize()
    return block, parameters


def unrolled(name, hybrid=False, layout="NTC", merge=True, lengths=None):
    """A cell over a whole sequence: outputs and last states."""
    cell, parameters = ready({**CELLS, **WHOLE}[name], hybrid)
    x = ramp(*((BATCH, STEPS, WIDTH) if layout == "NTC" else (STEPS, BATCH, WIDTH)))
    valid = None if lengths is None else nd.array(lengths)

    def compute(data):
        return cell.unroll(STEPS, data, layout=layout, merge_outputs=merge, valid_length=valid)

    return differentiate(compute, x, parameters, cell)


def step(name, hybrid=False):
    """A cell called once, from states that are not zero."""
    cell, parameters = ready(CELLS[name], hybrid)
    states = [ramp(*state.shape, low=0.0) for state in cell.begin_state(batch_size=BATCH, func=nd.zeros)]
    found = differentiate(lambda x: cell(x, states), ramp(BATCH, WIDTH), parameters, cell)
    found["state_info"] = [[list(each["shape"]), each["__layout__"]] for each in cell.state_info(BATCH)]
    return found


def convolved(name):
    """A convolving cell called once."""
    kind, axes = CONVOLVED[name]
    sizes = (4, 5, 3)[:axes]
    cell, parameters = ready(lambda: kind((2, *sizes), 3, i2h_kernel=3, h2h_kernel=3, i2h_pad=1), False)
    states = [ramp(*state.shape, low=0.0) for state in cell.begin_state(batch_size=1, func=nd.zeros)]
    return differentiate(lambda x: cell(x, states), ramp(1, 2, *sizes), parameters, cell)


# ---- mx.rnn: symbols ----
def classic_stack():
    cells = mx.rnn.SequentialRNNCell()
    cells.add(mx.rnn.LSTMCell(5, prefix="low_"))
    cells.add(mx.rnn.DropoutCell(0.5))
    cells.add(mx.rnn.ResidualCell(mx.rnn.GRUCell(5, prefix="high_")))
    return cells


CLASSIC = {
    "rnn": lambda: mx.rnn.RNNCell(5, activation="relu"),
    "lstm": lambda: mx.rnn.LSTMCell(5, forget_bias=2.0),
    "gru": lambda: mx.rnn.GRUCell(5),
    "stack": classic_stack,
    "zoneout": lambda: mx.rnn.ZoneoutCell(mx.rnn.LSTMCell(5), 0.3, 0.2),
    "both_ways": lambda: mx.rnn.BidirectionalCell(mx.rnn.GRUCell(5, prefix="l_"), mx.rnn.LSTMCell(5, prefix="r_")),
    "fused_lstm": lambda: mx.rnn.FusedRNNCell(5, 2, mode="lstm", bidirectional=True, prefix="f_"),
    "fused_gru": lambda: mx.rnn.FusedRNNCell(5, mode="gru", prefix="f_", get_next_state=True),
    "unfused_gru": lambda: mx.rnn.FusedRNNCell(5, 2, mode="gru", bidirectional=True, prefix="f_").unfuse(),
    "unfused_rnn": lambda: mx.rnn.FusedRNNCell(5, mode="rnn_tanh", prefix="f_").unfuse(),
}


def classic(name):
    """A cell of `mx.rnn` unrolled into a graph: its names, shapes and values."""
    cell = CLASSIC[name]()
    data = mx.sym.var("data")
    outputs, states = cell.unroll(STEPS, data, layout="NTC", merge_outputs=True)
    graph = mx.sym.Group([outputs, *tensors(states)])
    executor = graph.simple_bind(mx.cpu(), grad_req="write", data=(BATCH, STEPS, WIDTH))
    for place, key in enumerate(sorted(executor.arg_dict)):
        array = executor.arg_dict[key]
        array[:] = ramp(*array.shape, low=-0.5, high=0.5) * (1 - 0.03 * place)
    found = executor.forward(is_train=False)
    weights = {key: array for key, array in executor.arg_dict.items() if key != "data"}
    apart = cell.unpack_weights(weights)
    again = cell.pack_weights(apart)
    assert all(np.array_equal(again[key].asnumpy(), value.asnumpy()) for key, value in weights.items())
    return {
        "arguments": graph.list_arguments(),
        "outputs": [numbers(y) for y in found],
        "shapes": [list(y.shape) for y in found],
        "apart": {key: list(array.shape) for key, array in sorted(apart.items())},
    }


# ---- layers of gluon.contrib ----
def branches(container):
    block = container(axis=1)
    block.add(nn.Dense(3, in_units=WIDTH), contrib.nn.Identity(), nn.Dense(2, in_units=WIDTH, activation="relu"))
    return block


LAYERS = {
    "concurrent": (lambda: branches(contrib.nn.Concurrent), (BATCH, WIDTH)),
    "hybrid_concurrent": (lambda: branches(contrib.nn.HybridConcurrent), (BATCH, WIDTH)),
    "shuffle1d": (lambda: contrib.nn.PixelShuffle1D(2), (1, 4, 3)),
    "shuffle2d": (lambda: contrib.nn.PixelShuffle2D((2, 3)), (1, 12, 2, 3)),
    "shuffle3d": (lambda: contrib.nn.PixelShuffle3D(2), (1, 8, 2, 1, 3)),
    "deformable": (
        lambda: contrib.cnn.DeformableConvolution(3, (3, 3), padding=(1, 1), in_channels=2, activation="relu"),
        (1, 2, 5, 5),
    ),
}


def layer(name, hybrid=False):
    make, shape = LAYERS[name]
    block, parameters = ready(make, hybrid, ramp(*shape))
    return differentiate(block, ramp(*shape), parameters, block)


def record():
    """All answers, to be kept."""
    return {
        "steps": {name: step(name) for name in CELLS},
        "unrolled": {name: unrolled(name) for name in {**CELLS, **WHOLE}},
        "unmerged": {name: unrolled(name, layout="TNC", merge=False) for name in ("lstm", "both_ways")},
        "lengths": {name: unrolled(name, lengths=[2, 3]) for name in ("gru", "both_ways", "hybrid_stack")},
        "convolved": {name: convolved(name) for name in CONVOLVED},
        "classic": {name: classic(name) for name in CLASSIC},
        "layers": {name: layer(name) for name in LAYERS},
    }
