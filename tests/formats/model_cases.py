"""Networks whose files are recorded: the same code builds them in MXNet and here."""

import numpy as np


def perceptron(mx):
    x = mx.sym.var("data", lr_mult=0.5)
    x = mx.sym.Activation(mx.sym.FullyConnected(x, num_hidden=4, name="fc1"), act_type="tanh", name="act")
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(x, num_hidden=3, no_bias=True, name="fc2"), name="softmax")


def convolution(mx):
    x = mx.sym.Convolution(mx.sym.var("data"), kernel=(3, 3), pad=(1, 1), num_filter=2, name="conv")
    x = mx.sym.BatchNorm(x, fix_gamma=False, eps=1e-3, name="bn")
    x = mx.sym.Pooling(mx.sym.Activation(x, act_type="relu", name="act"), kernel=(2, 2), stride=(2, 2), name="pool")
    return mx.sym.FullyConnected(mx.sym.Flatten(x, name="flat"), num_hidden=2, name="fc")


def branches(mx):
    x = mx.sym.var("data")
    parts = mx.sym.SliceChannel(x, num_outputs=2, axis=1, name="cut")
    joined = mx.sym.Concat(parts[1], mx.sym.sqrt(parts[0] * parts[0] + 1, name="root"), dim=1, name="joined")
    return mx.sym.Group([mx.sym.sum(joined, axis=1, name="sum"), mx.sym.transpose(joined, axes=(1, 0), name="turned")])


SYMBOLS = {
    "perceptron": (perceptron, (2, 3)),
    "convolution": (convolution, (2, 1, 4, 4)),
    "branches": (branches, (3, 4)),
}


def numbers(shape, seed=0):
    """The same values everywhere, without anybody's random stream."""
    count = int(np.prod(shape))
    return (np.sin(np.arange(count) * 0.7 + seed) * 0.5 + 0.1).reshape(shape).astype(np.float32)


def answers(mx, symbol, shape):
    """What a symbol makes of fixed inputs and weights."""
    arg_shapes, _, aux_shapes = symbol.infer_shape(data=shape)
    named = zip(symbol.list_arguments(), arg_shapes)  # noqa: B905
    args = {name: mx.nd.array(numbers(size, seed)) for seed, (name, size) in enumerate(named)}
    states = zip(symbol.list_auxiliary_states(), aux_shapes)  # noqa: B905
    aux = {name: mx.nd.array(abs(numbers(size, 9)) + 0.5) for name, size in states}
    executor = symbol.bind(mx.cpu(), args, grad_req="null", aux_states=aux)
    return [output.asnumpy() for output in executor.forward(is_train=False)]


def dense_net(mx):
    net = mx.gluon.nn.HybridSequential(prefix="net_")
    with net.name_scope():
        net.add(mx.gluon.nn.Dense(4, activation="relu"), mx.gluon.nn.BatchNorm(), mx.gluon.nn.Dense(2))
    return net, (2, 3)


def image_net(mx):
    net = mx.gluon.nn.HybridSequential(prefix="image_")
    with net.name_scope():
        net.add(mx.gluon.nn.Conv2D(2, 3), mx.gluon.nn.PReLU(), mx.gluon.nn.GlobalAvgPool2D(), mx.gluon.nn.Dense(2))
    return net, (1, 1, 5, 5)


def sequence_net(mx):
    net = mx.gluon.nn.HybridSequential(prefix="seq_")
    with net.name_scope():
        net.add(mx.gluon.rnn.LSTM(3, layout="NTC"), mx.gluon.nn.LayerNorm(), mx.gluon.nn.Dense(2))
    return net, (2, 4, 2)


def shared_net(mx):
    net = mx.gluon.nn.HybridSequential(prefix="shared_")
    with net.name_scope():
        first = mx.gluon.nn.Dense(3, in_units=3)
        net.add(first, mx.gluon.nn.Dense(3, in_units=3, params=first.params))
    return net, (2, 3)


NETS = {"dense": dense_net, "image": image_net, "sequence": sequence_net, "shared": shared_net}


def filled(mx, name):
    """A net with fixed weights, and its input."""
    net, shape = NETS[name](mx)
    net.initialize()
    data = mx.nd.array(numbers(shape, 5))
    net(data)
    for seed, parameter in enumerate(net.collect_params().values()):
        values = numbers(parameter.shape, seed)
        parameter.set_data(mx.nd.array(abs(values) + 0.5 if "running_var" in parameter.name else values))
    return net, data


def ways(net):
    """The ways to save a net's parameters, each with the one to load them."""
    return {
        "structural": (net.save_parameters, net.load_parameters),
        "once": (lambda path: net.save_parameters(path, deduplicate=True), net.load_parameters),
        "stripped": (lambda path: net.collect_params().save(path, strip_prefix=net.prefix), net.load_parameters),
        "prefixed": (net.collect_params().save, net.collect_params().load),
    }


def batch(mx):
    return mx.io.DataBatch([mx.nd.array(numbers(SYMBOLS["perceptron"][1]))], [mx.nd.array([0, 2])])


def resumed(mx, prefix):
    """A module's checkpoint of epoch 2, loaded and trained for one more step."""
    shape = SYMBOLS["perceptron"][1]
    module = mx.mod.Module.load(prefix, 2, load_optimizer_states=True)
    module.bind([("data", shape)], [("softmax_label", shape[:1])])
    module.init_params()
    module.init_optimizer(optimizer="adam", kvstore=None, optimizer_params={"learning_rate": 0.1})
    module.forward_backward(batch(mx))
    module.update()
    return module
