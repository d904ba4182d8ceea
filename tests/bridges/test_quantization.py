"""Networks in 8-bit integers: graphs as MXNet makes them, ranges, accuracy, files, and what bad input says."""

import json
import logging

import numpy as np
import pytest
import torch

import mxnet as mx
from mxnet import autograd, gluon, nd, sym
from mxnet._graph.inference import int8 as integers
from mxnet.contrib import quantization
from mxnet.gluon import nn
from mxnet.tools.digits import digits


def residual():
    """A convolution with a norm, a sum, a rectifier, pooling and a dense layer."""
    data = mx.sym.Variable("data")
    first = mx.sym.Convolution(data, kernel=(3, 3), pad=(1, 1), num_filter=4, name="c0")
    second = mx.sym.Convolution(mx.sym.exp(data, name="ex"), kernel=(1, 1), num_filter=4, name="c1", no_bias=True)
    total = mx.sym.elemwise_add(first, mx.sym.BatchNorm(second, name="bn"), name="add")
    pool = mx.sym.Pooling(mx.sym.Activation(total, act_type="relu", name="relu"), kernel=(2, 2), name="pool")
    return mx.sym.softmax(mx.sym.FullyConnected(mx.sym.Flatten(pool, name="fl"), num_hidden=3, name="fc"), name="out")


def names(symbol):
    return [
        (n["op"].removeprefix("_contrib_"), n["name"])
        for n in json.loads(symbol.tojson())["nodes"]
        if n["op"] != "null"
    ]


def offline(symbol):
    return [n for n in symbol.list_arguments() if n != "data"]


def test_graph_is_the_one_mxnet_makes():
    symbol = residual()
    quantized, watched = quantization._quantize_symbol(
        symbol, mx.cpu(), offline_params=offline(symbol), quantize_mode="full"
    )
    assert watched == ["data", "c0_output", "ex_output", "c1_output", "bn_output", "add_output", "fc_output"]
    assert names(quantized) == [
        ("quantize_v2", "data_quantize"),
        ("quantized_conv", "quantized_c0"),
        ("requantize", "requantize_c0"),
        ("exp", "ex"),
        ("quantize_v2", "ex_0_quantize"),
        ("quantized_conv", "quantized_c1"),
        ("requantize", "requantize_c1"),
        ("quantized_batch_norm", "quantized_bn"),
        ("quantized_elemwise_add", "quantized_add"),
        ("requantize", "requantize_add"),
        ("quantized_act", "quantized_relu"),
        ("quantized_pooling", "quantized_pool"),
        ("quantized_flatten", "quantized_fl"),
        ("quantized_fully_connected", "quantized_fc"),
        ("requantize", "requantize_fc"),
        ("dequantize", "fc_dequantize"),
        ("softmax", "out"),
    ]
    assert "c0_weight_quantize_min" in quantized.list_arguments()
    assert quantized.list_auxiliary_states() == ["bn_moving_mean", "bn_moving_var"]


def test_nodes_are_named_after_outputs_as_in_mxnet():
    data = mx.sym.var("data")
    made = [
        mx.sym.elemwise_add(data, data, name="add"),
        mx.sym.broadcast_add(data, data, name="wide"),
        mx.sym.softmax(data, name="softmax"),
        mx.sym.SliceChannel(data, num_outputs=2, name="part")[1],
        mx.sym.BlockGrad(data, name="stop"),
        mx.sym.Embedding(data, input_dim=3, output_dim=2, name="embed"),
    ]
    layers = [mx.sym.Convolution(m, kernel=(1, 1), num_filter=2, no_bias=True) for m in made]
    quantized, _ = quantization._quantize_symbol(mx.sym.Group(layers), mx.cpu(), ["add", "embed"], quantize_mode="full")
    assert [name for op, name in names(quantized) if op == "quantize_v2" and "weight" not in name] == [
        "add_output_quantize", "wide_0_quantize", "softmax_output_quantize", "part_output1_quantize", "stop_0_quantize",
        "embed_0_quantize",
    ]  # fmt: skip


def test_excluded_layers_and_operators_stay_real():
    symbol = residual()
    quantized, _ = quantization._quantize_symbol(
        symbol, mx.cpu(), ["c1"], ["FullyConnected"], offline(symbol), "uint8", "full"
    )
    found = names(quantized)
    assert ("Convolution", "c1") in found
    assert ("FullyConnected", "fc") in found
    assert ("quantized_conv", "quantized_c0") in found


def test_smart_mode_leaves_what_does_not_lie_between_layers():
    data = mx.sym.Variable("data")
    pool = mx.sym.Pooling(data, kernel=(2, 2), name="before")
    conv = mx.sym.Convolution(pool, kernel=(1, 1), num_filter=2, name="conv")
    dense = mx.sym.FullyConnected(mx.sym.Activation(conv, act_type="relu", name="between"), num_hidden=2, name="fc")
    quantized, _ = quantization._quantize_symbol(dense, mx.cpu(), offline_params=offline(dense), quantize_mode="smart")
    found = names(quantized)
    assert ("Pooling", "before") in found
    assert ("quantized_act", "quantized_between") in found


def model():
    """(symbol, arguments, states, data) of the residual network."""
    symbol = residual()
    module = mx.mod.Module(symbol, label_names=None)
    module.bind([("data", (4, 3, 6, 6))], for_training=False)
    mx.random.seed(3)
    module.init_params(mx.init.Xavier())
    return symbol, *module.get_params(), nd.random.uniform(shape=(8, 3, 6, 6))


def outputs(symbol, arguments, states, data):
    module = mx.mod.Module(symbol, label_names=None)
    module.bind([("data", data.shape)], for_training=False)
    module.set_params(arguments, states)
    module.forward(mx.io.DataBatch([data]), is_train=False)
    return module.get_outputs()[0].asnumpy()


@pytest.mark.parametrize("function", [quantization.quantize_model, quantization.quantize_model_mkldnn])
def test_model_gives_nearly_the_same(function):
    symbol, arguments, states, data = model()
    quantized = function(
        symbol, arguments, states, label_names=None, calib_mode="naive", quantize_mode="full",
        calib_data=mx.io.NDArrayIter(data, batch_size=4), num_calib_examples=8,
    )  # fmt: skip
    assert quantized[1]["c0_weight_quantize"].dtype == np.int8
    difference = np.abs(outputs(*quantized, data) - outputs(symbol, arguments, states, data))
    assert 0 < difference.max() < 0.02


class Extremes:
    """A collector of one's own."""

    def __init__(self):
        self.min_max_dict = {}

    def collect(self, name, array):
        name = mx.base.py_str(name)
        low, high = self.min_max_dict.get(name, (0.0, 0.0))
        self.min_max_dict[name] = min(low, array.min().asscalar()), max(high, array.max().asscalar())


def test_own_collector_and_calibration_in_two_steps():
    symbol, arguments, states, data = model()
    graph, qarguments, qstates, collector = quantization.quantize_graph(
        symbol, arguments, states, calib_mode="customize", LayerOutputCollector=Extremes()
    )
    executor = symbol.simple_bind(mx.cpu(), data=data.shape, grad_req="null")
    executor.copy_params_from(arguments, states)
    executor.set_monitor_callback(collector.collect, monitor_all=True)
    executor.forward(data=data)
    graph, qarguments, qstates = quantization.calib_graph(
        graph, arguments, states, collector, calib_mode="customize", logger=None
    )
    expected = executor.outputs[0].asnumpy()
    assert "min_calib_range" in graph.attr_dict()["requantize_fc"]
    # probabilities, as far as 8-bit integers give them
    np.testing.assert_allclose(outputs(graph, qarguments, qstates, data), expected, atol=0.02)


@pytest.fixture(scope="module")
def trained():
    """(network, calibration data, test images, test labels) on the bundled digits."""
    images, labels, test_images, test_labels = digits()

    def prepared(x):
        return nd.array(np.asarray(x, "float32")[:, None] / 255)

    images, test_images = prepared(images), prepared(test_images)
    mx.random.seed(1)
    net = nn.HybridSequential()
    net.add(nn.Conv2D(8, 3, strides=2, use_bias=False), nn.BatchNorm(), nn.Activation("relu"))
    net.add(nn.Conv2D(16, 3), nn.BatchNorm(), nn.Activation("relu"), nn.MaxPool2D(), nn.Flatten(), nn.Dense(10))
    net.initialize(mx.init.Xavier())
    net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 3e-3})
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    for start in [*range(0, 3000, 100)] * 2:
        batch = slice(start, start + 100)
        with autograd.record():
            error = loss(net(images[batch]), nd.array(labels[batch]))
        error.backward()
        trainer.step(100)
    loader = gluon.data.DataLoader(gluon.data.ArrayDataset(images[:200], nd.array(labels[:200])), batch_size=100)
    return net, loader, test_images, np.asarray(test_labels)


def accuracy(net, images, labels):
    return (net(images).asnumpy().argmax(1) == labels).mean()


@pytest.mark.parametrize(
    ("dtype", "mode"), [("int8", "naive"), ("uint8", "naive"), ("auto", "naive"), ("int8", "none"), ("auto", "entropy")]
)
def test_digits_lose_less_than_one_percent(trained, dtype, mode, tmp_path):
    net, loader, images, labels = trained
    given = {"data_shapes": [mx.io.DataDesc("data", (100, 1, 28, 28))]} if mode == "none" else {"calib_data": loader}
    quantized = quantization.quantize_net_v2(net, quantized_dtype=dtype, calib_mode=mode, **given)
    quantized.hybridize()
    wanted = accuracy(net, images, labels)
    assert wanted > 0.85
    assert accuracy(quantized, images, labels) >= wanted - 0.01
    quantized.export(str(tmp_path / "digits"))
    files = str(tmp_path / "digits-symbol.json"), ["data"], str(tmp_path / "digits-0000.params")
    again = gluon.SymbolBlock.imports(*files)
    np.testing.assert_array_equal(again(images[:5]).asnumpy(), quantized(images[:5]).asnumpy())


def test_packed_kernels_are_within_a_step_of_the_operators(trained, monkeypatch):
    net, loader, images, _ = trained
    quantized = quantization.quantize_net_v2(net, quantized_dtype="int8", calib_mode="naive", calib_data=loader)
    quantized.hybridize()
    fast = quantized(images[:50]).asnumpy()
    monkeypatch.setattr("mxnet._graph.inference.int8.available", lambda: False)
    quantized.hybridize()
    slow = quantized(images[:50]).asnumpy()
    step = np.abs(slow).max() / 127
    assert np.abs(fast - slow).max() <= 3 * step
    assert (fast == slow).mean() > 0.9


def test_older_name_warns_and_excludes_by_word(trained):
    net, loader, images, _ = trained
    with pytest.warns(UserWarning, match="quantize_net_v2"):
        quantized = quantization.quantize_net(
            net,
            "int8",
            exclude_layers_match=["conv"],
            calib_mode="naive",
            calib_data=loader,
            logger=logging.getLogger("q"),
        )
    operators = [op for op, _ in names(quantized._cached_graph[1])]
    assert "Convolution" in operators
    assert "quantized_conv" not in operators
    assert "quantized_fully_connected" in operators
    assert quantized(images[:2]).shape == (2, 10)


def test_ranges_of_histograms():
    values = np.random.RandomState(0).normal(size=10000).astype("float32")
    collector = quantization._LayerHistogramCollector(num_bins=1001, include_layer=["layer"])
    collector.collect("layer", nd.array(values))
    collector.collect(b"layer", nd.array(values * 1.5))
    counts, edges, low, high, reach = collector.hist_dict["layer"]
    assert counts.sum() == 20000
    assert len(edges) == len(counts) + 1
    assert (low, high) == (values.min() * 1.5, values.max() * 1.5)
    ranges = quantization._get_optimal_thresholds(collector.hist_dict, "int8")
    assert 3 < ranges["layer"][1] <= reach
    assert ranges["layer"][0] == -ranges["layer"][1]


def test_a_spike_does_not_cut_off_the_rest():
    """MXNet's divergence cuts at 0.02 of the range here, and a network so calibrated is of no use."""
    values = np.concatenate([np.full(50000, 0.01), np.linspace(0, 5, 20000)]).astype("float32")
    collector = quantization._LayerHistogramCollector(num_bins=2001, include_layer=["layer"])
    collector.collect("layer", nd.array(values))
    assert quantization._get_optimal_thresholds(collector.hist_dict, "auto")["layer"][1] > 4


def refused(error, words, **changes):
    symbol, arguments, states, data = model()
    given = {"calib_mode": "naive", "label_names": None, "calib_data": mx.io.NDArrayIter(data, batch_size=4)}
    with pytest.raises(error, match=words):
        quantization.quantize_model(symbol, arguments, states, **{**given, **changes})


def test_bad_input_is_refused_in_words():
    refused(ValueError, "unknown quantized_dtype int4", quantized_dtype="int4")
    refused(ValueError, "quantize_granularity rows", quantize_granularity="rows")
    refused(ValueError, "excluded_sym_names must be a list", excluded_sym_names="c0")
    refused(ValueError, "calib_data must be provided", calib_data=None)
    refused(ValueError, "calib_data must be of DataIter", calib_data=[1])
    refused(ValueError, "unknown calibration mode best", calib_mode="best")
    refused(mx.MXNetError, "unrecognized quantize mode: some", quantize_mode="some")


def test_batch_norm_without_calibration_says_what_to_do():
    symbol, arguments, states, data = model()
    quantized = quantization.quantize_model(symbol, arguments, states, calib_mode="none", quantize_mode="full")
    with pytest.raises(mx.MXNetError, match="calibrate with calib_mode=.naive."):
        outputs(*quantized, data)


def test_float_data_for_a_quantized_layer_is_refused():
    ends = [nd.array([-1.0]), nd.array([1.0])]
    with pytest.raises(mx.MXNetError, match="only supports int8 and uint8"):
        nd.contrib.quantized_fully_connected(
            nd.ones((2, 3)), nd.ones((4, 3), dtype="int8"), *ends, *ends, num_hidden=4, no_bias=True
        )


def test_sums_do_not_overflow():
    ends = [nd.array([-1.0]), nd.array([1.0])]
    data, weight = nd.full((1, 3000), 255, dtype="uint8"), nd.full((1, 3000), 127, dtype="int8")
    sums, *_ = nd.contrib.quantized_fully_connected(data, weight, *ends, *ends, num_hidden=1, no_bias=True)
    assert sums.asscalar() == 3000 * 255 * 127
    data, weight = data.reshape((1, 750, 2, 2)), weight.reshape((1, 750, 2, 2))
    sums, *_ = nd.contrib.quantized_conv(data, weight, *ends, *ends, kernel=(2, 2), num_filter=1, no_bias=True)
    assert sums.asscalar() == 3000 * 255 * 127


def quantized(array, kind="int8"):
    """(integers, ends of the range) of an array."""
    low, high = nd.array([array.min()]), nd.array([array.max()])
    return nd.contrib.quantize(nd.array(array), low, high, out_type=kind)


@pytest.mark.parametrize("kind", ["int8", "uint8"])
@pytest.mark.parametrize(("layout", "group"), [("NCHW", 1), ("NCHW", 2), ("NHWC", 1)])
def test_convolution_with_bias_is_that_of_the_reals(kind, layout, group):
    """Sums times the range they stand for, against a convolution of the dequantized arrays."""
    generator = np.random.default_rng(0)
    shapes = ((2, 4, 6, 6), (6, 4 // group, 3, 3)) if layout == "NCHW" else ((2, 6, 6, 4), (6, 3, 3, 4))
    data, weight = generator.uniform(0 if kind == "uint8" else -1, 1, shapes[0]), generator.normal(size=shapes[1])
    bias = generator.normal(size=6)
    (x, *x_ends), (w, *w_ends), (b, *b_ends) = quantized(data, kind), quantized(weight), quantized(bias)
    given = {"kernel": (3, 3), "pad": (1, 1), "stride": (2, 2), "num_filter": 6, "num_group": group, "layout": layout}
    sums, low, high = nd.contrib.quantized_conv(x, w, b, *x_ends, *w_ends, *b_ends, **given)
    assert sums.dtype == np.int32
    made = sums.astype("float64").asnumpy() * high.asscalar() / (2**31 - 1)

    def real(q, ends):
        steps = 255 if q.dtype == np.uint8 else 127
        return q.astype("float32") * (max(abs(e.asscalar()) for e in ends) / steps)

    wanted = nd.Convolution(real(x, x_ends), real(w, w_ends), real(b, b_ends), **given).asnumpy()
    assert low.asscalar() == -high.asscalar()
    np.testing.assert_allclose(made, wanted, atol=0.02 * np.abs(bias).max())  # a bias has half a step more than a sum


def uneven(layer):
    """A layer whose channels' weights differ a thousandfold, and data for it."""
    generator = np.random.default_rng(1)
    data = mx.sym.var("data")
    if layer == "conv":
        symbol, shape = mx.sym.Convolution(data, kernel=(3, 3), num_filter=4, name="layer"), (4, 2, 3, 3)
        values = generator.normal(size=(8, 2, 5, 5))
    else:
        symbol, shape = mx.sym.FullyConnected(data, num_hidden=4, name="layer"), (4, 18)
        values = generator.normal(size=(8, 18))
    scales = np.array([1, 0.1, 0.01, 0.001]).reshape(-1, *[1] * (len(shape) - 1))
    weight = nd.array(generator.normal(size=shape) * scales)
    return symbol, {"layer_weight": weight, "layer_bias": nd.zeros(4)}, nd.array(values)


@pytest.mark.parametrize("layer", ["conv", "dense"])
def test_ranges_by_channel_keep_small_channels(layer):
    symbol, arguments, data = uneven(layer)
    weights = {}
    for granularity in ("tensor-wise", "channel-wise"):
        symbol_q, arguments_q, _ = quantization.quantize_model(
            symbol, arguments, {}, label_names=None, calib_mode="none", quantize_granularity=granularity
        )
        weight, high = arguments_q["layer_weight_quantize"], arguments_q["layer_weight_quantize_max"]
        assert high.shape == ((4,) if granularity == "channel-wise" else (1,))
        steps = high.asnumpy().reshape(-1, *[1] * (weight.ndim - 1)) / 127
        weights[granularity] = np.abs(weight.asnumpy() * steps - arguments["layer_weight"].asnumpy())
        wanted = outputs(symbol, arguments, {}, data)
        assert np.abs(outputs(symbol_q, arguments_q, {}, data) - wanted).max() < 0.03 * np.abs(wanted).max()
    axes = tuple(range(1, weights["channel-wise"].ndim))
    whole, parts = (weights[g].max(axes) for g in ("tensor-wise", "channel-wise"))
    assert parts[3] < whole[3] / 100
    assert parts[0] <= whole[0] * 1.01


def test_packed_kernels_take_ranges_by_channel(trained, monkeypatch):
    net, loader, images, labels = trained
    small = quantization.quantize_net_v2(
        net, "int8", quantize_granularity="channel-wise", calib_mode="naive", calib_data=loader
    )
    small.hybridize()
    fast = small(images[:50]).asnumpy()
    assert accuracy(small, images, labels) >= accuracy(net, images, labels) - 0.01
    assert any(p.data().shape == (16,) for n, p in small.collect_params().items() if n.endswith("weight_quantize_max"))
    monkeypatch.setattr("mxnet._graph.inference.int8.available", lambda: False)
    small.hybridize()
    slow = small(images[:50]).asnumpy()
    assert np.abs(fast - slow).max() <= 3 * np.abs(slow).max() / 127


def test_a_channel_of_zeros_stays_zero():
    symbol, arguments, data = uneven("dense")
    arguments["layer_weight"][1] = 0
    made = quantization.quantize_model(
        symbol, arguments, {}, label_names=None, calib_mode="none", quantize_granularity="channel-wise"
    )
    assert np.abs(outputs(*made, data)[:, 1]).max() == 0


def test_rectifiers_with_a_top_run_in_integers():
    """ReLU6 of MobileNet: the range of the integers before it ends where it does."""
    mx.random.seed(0)
    net = nn.HybridSequential()
    net.add(nn.Conv2D(4, 1, in_channels=2, use_bias=False), nn.BatchNorm(in_channels=4))
    net.add(nn.HybridLambda(lambda F, x: F.clip(x, 0, 0.5, name="relu6")), nn.Conv2D(3, 1, in_channels=4))
    net.initialize(mx.init.Xavier(magnitude=12))
    x = nd.random.normal(shape=(8, 2, 5, 5))
    loader = gluon.data.DataLoader(gluon.data.ArrayDataset(x), batch_size=8)
    small = quantization.quantize_net_v2(net, "int8", calib_mode="naive", calib_data=loader)
    small.hybridize()
    operators = [op for op, _ in names(small._cached_graph[1])]
    assert "clip" not in operators and "quantized_act" in operators
    wanted = net(x).asnumpy()
    assert np.abs(small(x).asnumpy() - wanted).max() < 0.05 * np.abs(wanted).max()
    kept = quantization.quantize_net_v2(
        net, "int8", exclude_operators=["Convolution"], calib_mode="naive", calib_data=loader
    )
    assert "clip" in [op for op, _ in names(kept._cached_graph[1])]


def test_pooling_takes_channels_last():
    generator = np.random.default_rng(0)
    data = nd.array(generator.integers(-127, 128, (2, 8, 30, 30)), dtype="int8")
    last = nd.from_torch(data.as_torch().to(memory_format=torch.channels_last))
    ends = [nd.array([-1.0]), nd.array([1.0])]
    given = {"kernel": (3, 3), "stride": (2, 2), "pad": (1, 1), "pool_type": "max"}
    first, second = (nd.contrib.quantized_pooling(x, *ends, **given)[0].asnumpy() for x in (data, last))
    np.testing.assert_array_equal(first, second)
    assert first.shape == (2, 8, 15, 15)


def test_dense_layers_take_both_signs_in_packed_kernels(monkeypatch):
    net = nn.HybridSequential()
    net.add(nn.Dense(8, in_units=20), nn.Dense(4, in_units=8, activation="relu"), nn.Dense(3, in_units=4))
    net.initialize(mx.init.Xavier())
    x = nd.random.normal(shape=(16, 20))
    loader = gluon.data.DataLoader(gluon.data.ArrayDataset(x), batch_size=16)
    small = quantization.quantize_net_v2(net, "int8", calib_mode="naive", calib_data=loader)
    small.hybridize()
    fast = small(x).asnumpy()
    monkeypatch.setattr("mxnet._graph.inference.int8.available", lambda: False)
    small.hybridize()
    slow = small(x).asnumpy()
    assert np.abs(fast - slow).max() <= 3 * np.abs(slow).max() / 127
    assert np.abs(fast - net(x).asnumpy()).max() < 0.05 * np.abs(slow).max()


@pytest.mark.parametrize("whole", [True, False], ids=["moved", "by floats"])
@pytest.mark.parametrize(
    ("kernel", "pad", "stride", "group"), [(1, 0, 1, 1), (3, 1, 1, 1), (3, 1, 2, 16), (3, 0, 1, 1)]
)
def test_convolutions_take_both_signs_in_packed_kernels(kernel, pad, stride, group, whole, monkeypatch):
    """Where the processor adds unsigned products exactly, signed data are moved by 128; zeros around them are zeros."""
    if whole and not integers.has_exact_uint8_products():
        pytest.skip("sums of unsigned products overflow on this processor")
    monkeypatch.setattr(integers, "has_exact_uint8_products", lambda: whole)
    ways, apply = [], integers.PackedLayer._apply
    monkeypatch.setattr(
        integers.PackedLayer, "_apply", lambda self, *given: ways.append("moved") or apply(self, *given)
    )
    floats = integers.PackedLayer._in_float
    monkeypatch.setattr(
        integers.PackedLayer, "_in_float", lambda self, *given: ways.append("floats") or floats(self, *given)
    )
    generator = np.random.default_rng(3)
    first = sym.Variable("data")
    made = sym.Convolution(first, kernel=(kernel,) * 2, pad=(pad,) * 2, stride=(stride,) * 2, num_group=group,
                           num_filter=16, name="conv")  # fmt: skip
    arrays = {name: nd.array(generator.uniform(-1, 1, shape)) for name, shape in zip(
        made.list_arguments(), made.infer_shape(data=(2, 16, 9, 9))[0], strict=True)}  # fmt: skip
    data = arrays.pop("data")
    small, args, _ = quantization.quantize_model(
        made, arrays, {}, calib_mode="naive", calib_data=mx.io.NDArrayIter(data, batch_size=2), label_names=None
    )
    run = small.bind(mx.cpu(), {**args, "data": data})
    packed = run.forward()[0].asnumpy()
    monkeypatch.setattr(integers, "available", lambda: False)
    plain = small.bind(mx.cpu(), {**args, "data": data}).forward()[0].asnumpy()
    step = np.abs(plain).max() / 127
    assert np.abs(packed - plain).max() <= 1.01 * step and (packed != plain).mean() < 0.01
    assert (plain < 0).any() and ways == ["moved" if whole else "floats"]
