"""Networks and wishes for mixed precision: the test converts them, and so did MXNet 1.9.1 when it was recorded."""

import json

import mxnet as mx

S = mx.sym


def dense(data, name, **kwargs):
    return S.FullyConnected(data, num_hidden=4, name=name, **kwargs)


def mlp():
    hidden = S.Activation(dense(S.var("data"), "fc1"), act_type="relu", name="relu1")
    return S.SoftmaxOutput(dense(hidden, "fc2"), name="softmax")


def lenet():
    conv = S.Convolution(S.var("data"), kernel=(3, 3), num_filter=4, name="conv")
    act = S.Activation(S.BatchNorm(conv, name="bn"), act_type="softrelu", name="act")
    pooled = S.Pooling(act, kernel=(2, 2), pool_type="max", name="pool")
    return S.softmax(dense(S.Dropout(S.Flatten(pooled, name="flat"), name="drop"), "fc"), name="softmax")


def residual():
    data = S.var("data")
    first = S.Convolution(data, kernel=(3, 3), pad=(1, 1), num_filter=4, no_bias=True, name="conv1")
    body = S.Convolution(
        S.relu(S.BatchNorm(first, name="bn1"), name="relu1"), kernel=(1, 1), num_filter=4, name="conv2"
    )
    total = S.elemwise_add(body, first, name="plus")
    scaled = S.broadcast_mul(total, S.var("gate"), name="gated")
    return S.Group([S.concat(scaled, S.exp(total, name="exp"), dim=1, name="cat"), S.mean(scaled, name="mean")])


def words():
    embedded = S.Embedding(S.var("data"), input_dim=10, output_dim=4, name="embed")
    out = S.RNN(embedded, state_size=4, num_layers=1, mode="lstm", state_outputs=True, name="lstm")
    return S.Group([dense(S.Reshape(out[0], shape=(-1, 4), name="rows"), "decoder"), out[1]])


def choices():
    parts = S.SliceChannel(dense(S.var("data"), "fc"), num_outputs=2, name="parts")
    chosen = S.where(
        S.Cast(S.var("mask"), dtype="int32", name="whole"), parts[0], S.sin(parts[1], name="sin"), name="pick"
    )
    return S.LeakyReLU(chosen, act_type="prelu", name="prelu")


def two_readers():
    data = S.var("data", dtype="float32")
    both = S.amp_multicast(data, S.var("other", dtype="float16"), num_outputs=2, name="both")
    return S.Group([both, S.amp_cast(data, dtype="float16", name="low")])


NETWORKS = {f.__name__: f for f in (mlp, lenet, residual, words, choices, two_readers)}
WISHES = {
    "plain": {},
    "data": {"data_names": ["data", "mask", "softmax_label"]},
    "stored": {"data_names": ["data", "mask", "softmax_label"], "cast_optional_params": True},
    "nothing known": {"data_names": [], "cast_optional_params": True},
    "own lists": {
        "data_names": ["data", "mask"],
        "target_dtype_ops": ["Convolution", "BatchNorm"],
        "fp32_ops": ["FullyConnected", "Embedding"],
        "conditional_fp32_ops": [("Dropout", "p", ["0.5"]), ("RNN", "mode", ["lstm"])],
    },
    "excluded": {"data_names": ["data"], "excluded_sym_names": ["fc", "fc2", "conv1", "gate", "no such name"]},
}


def described(symbol):
    """One line a node: operator, name, attributes, where its inputs come from."""
    graph = json.loads(symbol.tojson(remove_amp_cast=False))
    names = [node["name"] for node in graph["nodes"]]
    lines = [
        [n["op"], n["name"], n.get("attrs", {}), [f"{names[i]}:{out}" for i, out, *_ in n["inputs"]]]
        for n in graph["nodes"]
    ]
    return [*lines, [f"{names[i]}:{out}" for i, out, *_ in graph["heads"]]]


def converted():
    """{network/wish/type: lines, or the class of the error}."""
    found = {}
    for name, build in NETWORKS.items():
        for wish, kwargs in WISHES.items():
            if wish == "nothing known" and name in ("lenet", "words", "choices"):
                continue  # some of their operators refuse inputs of unknown type in MXNet
            for dtype in ("float16", "bfloat16"):
                symbol = build()
                if "data_names" in kwargs:
                    kwargs = {**kwargs, "data_names": [n for n in kwargs["data_names"] if n in symbol.list_inputs()]}
                try:
                    lines = described(mx.contrib.amp.convert_symbol(symbol, dtype, **kwargs))
                except (mx.MXNetError, AssertionError) as error:
                    lines = type(error).__name__
                found[f"{name}/{wish}/{dtype}"] = lines
    return found
