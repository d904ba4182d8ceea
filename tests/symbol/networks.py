"""Symbols that a person would write, built by the same code in MXNet and here; what MXNet makes of them is recorded."""

import numpy as np


def arithmetic(mx):
    x, y = mx.sym.var("x"), mx.sym.var("y")
    return mx.sym.Group(
        [x + y, x - y, x * y, x / y, x % y, x**y, x + 1, 1 - x, x - 1, 2 / x, x / 2, x % 2, 2 % x, x**2, 2**x, -x]
        + [abs(x), x == y, x != 1, x > y, x >= 2, x < y, x <= 3, mx.sym.maximum(x, y), mx.sym.minimum(3, x)]
        + [mx.sym.hypot(x, y), mx.sym.pow(2, x)]
    )


def methods(mx):
    x, y = mx.sym.var("x"), mx.sym.var("y")
    return mx.sym.Group(
        [x.sum(), x.mean(axis=1), x.max(axis=(0, 1), keepdims=True), x.reshape((2, -1)), x.transpose((1, 0))]
        + [x.expand_dims(0), x.squeeze(), x.flatten(), x.slice_axis(axis=0, begin=0, end=None), x.clip(0, 1)]
        + [x.astype("float16"), x.astype(np.int32), x.tile((2, 2)), x.one_hot(4), x.topk(k=2), x.diag(k=1), x.norm()]
        + [x.take(y), x.pick(y), x.sort(), x.split_v2(2)[0], x.split_v2((1, 2), axis=1)[1], x.shape_array()]
    )


def convolutional(mx):
    x = mx.sym.var("data")
    x = mx.sym.Convolution(x, kernel=(3, 3), num_filter=4, pad=(1, 1), name="conv0")
    x = mx.sym.BatchNorm(x, fix_gamma=False, eps=1e-5, name="bn0")
    x = mx.sym.Activation(x, act_type="relu")
    x = mx.sym.Pooling(x, kernel=(2, 2), stride=(2, 2), pool_type="max")
    x = mx.sym.LeakyReLU(x, act_type="prelu")
    x = mx.sym.Pooling(x, global_pool=True, kernel=(1, 1), pool_type="avg")
    x = mx.sym.FullyConnected(mx.sym.Flatten(x), num_hidden=3, no_bias=True)
    return mx.sym.SoftmaxOutput(mx.sym.concat(x, x * 2, dim=1), name="softmax", grad_scale=0.5)


def perceptron(mx):
    x = mx.sym.var("data")
    for i, width in enumerate((5, 4)):
        x = mx.sym.Activation(mx.sym.FullyConnected(x, num_hidden=width, name=f"fc{i}"), act_type="tanh")
    return mx.sym.LinearRegressionOutput(x, name="out")


def scopes(mx):
    with mx.AttrScope(ctx_group="dev1", __a__="b"), mx.name.Prefix("pre_"):
        hidden = mx.sym.FullyConnected(mx.sym.var("tokens"), num_hidden=3, name="q")
        return mx.sym.Embedding(hidden, input_dim=10, output_dim=4)


def variables(mx):
    return mx.sym.Group(
        [
            mx.sym.var("v1", shape=(1, 2), dtype="float16", lr_mult=2, wd_mult=0.5),
            mx.sym.var("v2", init="one", stype="csr"),
            mx.sym.var("v3", __foo__="bar", attr={"mood": "x"}),
        ]
    )


def hidden_outputs(mx):
    x, y = mx.sym.var("x"), mx.sym.var("y")
    parts = mx.sym.split(x, num_outputs=3, axis=1, name="parts")
    return mx.sym.Group(
        [
            *parts,
            mx.sym.topk(x, k=2, ret_typ="both")[1],
            mx.sym.Dropout(x),
            mx.sym.LRN(x, nsize=5),
            mx.sym.InstanceNorm(x),
        ]
        + [mx.sym.L2Normalization(x), mx.sym.make_loss(x), mx.sym.add_n(x, y, x), mx.sym.stack(x, y, axis=1)]
        + [mx.sym.LayerNorm(x), mx.sym.zeros((2, 3)), mx.sym.arange(0, 10, 2), mx.sym.linalg.gemm2(x, y)]
    )


def composed(mx):
    top = mx.sym.FullyConnected(mx.sym.var("data2"), num_hidden=4, name="fcb")
    return top(data2=mx.sym.Activation(mx.sym.var("x"), act_type="tanh", name="at"), name="composed")


def loop_over_elements(mx):
    weight, data = mx.sym.var("w"), mx.sym.var("data")
    offset = mx.sym.var("offset") * 3

    def body(element, states):
        hidden = element * weight + states[0] + offset
        return [hidden, element * 2], [hidden]

    outputs, states = mx.sym.contrib.foreach(body, data, [mx.sym.var("start")])
    return mx.sym.Group(outputs + states)


def loop_while(mx):
    outputs, states = mx.sym.contrib.while_loop(
        lambda i, s: i <= 5,
        lambda i, s: ([i + s], [i + 1, s + i]),
        (mx.sym.var("i"), mx.sym.var("s")),
        max_iterations=6,  # what lies beyond the last step is undefined in MXNet
    )
    return mx.sym.Group(outputs + states)


def branch(mx):
    a, b = mx.sym.var("a"), mx.sym.var("b")
    return mx.sym.contrib.cond(a * b < 5, lambda: (a + 5) * (b + 5), lambda: (a - 5) * (b - 5))


NETWORKS = {
    f.__name__: f
    for f in (
        arithmetic, methods, convolutional, perceptron, scopes, variables, hidden_outputs, composed,
        loop_over_elements, loop_while, branch,
    )
}  # fmt: skip

# network -> shapes of the inputs; these are bound, run forwards and backwards
RUN = {
    "convolutional": {"data": (2, 2, 6, 6)},
    "perceptron": {"data": (3, 4)},
    "loop_over_elements": {"data": (4, 2, 3), "start": (2, 3), "w": (2, 3), "offset": (2, 3)},
    "loop_while": {"i": (1,), "s": (1,)},
    "branch": {"a": (1,), "b": (1,)},
}


def fill(arrays):
    """The same numbers in both worlds: small, spread, none tied."""
    for position, (name, array) in enumerate(sorted(arrays.items())):
        count = int(np.prod(array.shape))
        values = np.sin(np.arange(count) * 1.7 + position) * 0.5
        array[:] = np.abs(values).reshape(array.shape) + 0.5 if name.endswith("_var") else values.reshape(array.shape)


def run(mx, name):
    """Outputs, gradients and states of one training step, as nested lists by name."""
    mx.name.NameManager._current.value = mx.name.NameManager()
    symbol = NETWORKS[name](mx)
    args, _, states = symbol.infer_shape_partial(**RUN[name])
    arrays, gradients, states = ([mx.nd.zeros(s) for s in shapes] for shapes in (args, args, states))
    fill(dict(zip(symbol.list_arguments(), arrays, strict=True)))
    fill(dict(zip(symbol.list_auxiliary_states(), states, strict=True)))
    executor = symbol.bind(mx.cpu(), arrays, args_grad=gradients, aux_states=states)
    outputs = executor.forward(is_train=True)
    heads = [mx.nd.array(np.cos(np.arange(o.size)).reshape(o.shape)) for o in outputs]
    executor.backward(heads)
    found = {f"output{i}": o for i, o in enumerate(executor.outputs)}
    found.update({f"gradient of {k}": v for k, v in executor.grad_dict.items()})
    found.update({f"state {k}": v for k, v in executor.aux_dict.items()})
    return {k: np.round(v.asnumpy().astype("float64"), 7).tolist() for k, v in found.items()}


def describe(mx, name):
    """The text of a network and its lists of names."""
    mx.name.NameManager._current.value = mx.name.NameManager()
    mx.AttrScope._subgraph_names.clear()
    symbol = NETWORKS[name](mx)
    return {
        "json": symbol.tojson(),
        "arguments": symbol.list_arguments(),
        "outputs": symbol.list_outputs(),
        "states": symbol.list_auxiliary_states(),
        "text": symbol.debug_str(),
        "name": str(symbol),
    }
