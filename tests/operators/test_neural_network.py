"""Neural-network operators where MXNet has ways of its own; the numbers were printed by MXNet 1.9.1."""

import numpy as np
import pytest
import torch

import mxnet as mx
from mxnet import autograd, nd
from mxnet._ops.nn.normalization import lrn

SCORES = [[1.0, 2.0, 3.0], [0.0, 1.0, 0.0]]
X, W, B = nd.ones((2, 3)), nd.ones((4, 3)), nd.ones(4)


def close(array, expected, tolerance=1e-4):
    np.testing.assert_allclose(array.asnumpy(), expected, tolerance, tolerance)


def gradient(function, *arrays, head=None):
    for array in arrays:
        array.attach_grad()
    with autograd.record():
        result = function(*arrays)
    result.backward(head)
    return [array.grad for array in arrays]


def batch_norm_arrays():
    data = nd.array([[0.0, 2.0], [4.0, 4.0]])
    return data, nd.array([5.0, 5.0]), nd.zeros(2), nd.ones(2), nd.ones(2) * 2


def test_moving_statistics_move_in_the_backward_pass():
    data, gamma, beta, mean, var = batch_norm_arrays()
    data.attach_grad()
    with autograd.record():
        result = nd.BatchNorm(data, gamma, beta, mean, var, momentum=0.9)
    close(mean, [1, 1])
    result.backward()
    close(mean, [1.1, 1.2])
    close(var, [2.2, 1.9])  # the variance of the batch, 4 and 1, divided by its size


def test_fixed_gamma_becomes_one():
    data, gamma, beta, mean, var = batch_norm_arrays()
    nd.BatchNorm(data, gamma, beta, mean, var)
    close(gamma, [1, 1])


def test_global_statistics_stay():
    data, gamma, beta, mean, var = batch_norm_arrays()
    gradient(lambda d: nd.BatchNorm(d, gamma, beta, mean, var, use_global_stats=True), data)
    close(mean, [1, 1])
    close(var, [2, 2])


def test_a_layer_used_twice_moves_twice():
    data, gamma, beta, mean, var = batch_norm_arrays()

    def twice(data):
        once = nd.BatchNorm(data, gamma, beta, mean, var, fix_gamma=False)
        return nd.BatchNorm(once, gamma, beta, mean, var, fix_gamma=False)

    gradient(twice, data)
    close(mean, [0.9 * 0.9 + 0.1 * 2, 0.9 * 0.9 + 0.1 * 3], 2e-2)


@pytest.mark.parametrize(
    ("attrs", "label", "expected"),
    [
        ({}, [0, 2], [[-0.91, 0.2447, 0.6652], [0.2119, 0.5761, -0.7881]]),
        ({}, [0, 7], [[-0.91, 0.2447, 0.6652], [0.2119, 0.5761, 0.2119]]),
        ({"use_ignore": True}, [0, -1], [[-0.91, 0.2447, 0.6652], [0, 0, 0]]),
        ({"use_ignore": True, "smooth_alpha": 0.1}, [0, -1], [[-0.81, 0.1947, 0.6152], [0, 0, 0]]),
        ({"normalization": "batch"}, [0, 1], [[-0.455, 0.1224, 0.3326], [0.106, -0.2119, 0.106]]),
        ({"out_grad": True}, [0, 2], [[-0.0819, 0.0599, 0.4425], [0.0449, 0.3319, -0.167]]),
        ({"grad_scale": 2}, SCORES, [[-1.8199, -3.5105, -4.6695], [0.4239, -0.8478, 0.4239]]),
    ],
)
def test_softmax_output_is_differentiated_as_a_loss(attrs, label, expected):
    head = nd.ones((2, 3)) * 2
    arrays = (nd.array(SCORES), nd.array(label))
    scores, labels = gradient(lambda d, y: nd.SoftmaxOutput(d, y, **attrs), *arrays, head=head)
    close(scores, expected, 2e-4)
    close(labels, np.zeros(labels.shape))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("LinearRegressionOutput", [[0, 0.6667, 1.3333], [0, 0.6667, 0]]),
        ("LogisticRegressionOutput", [[-0.1793, -0.0795, -0.0316], [0.3333, 0.4874, 0.3333]]),
        ("MAERegressionOutput", [[-0.6667, 0.6667, 0.6667], [-0.6667, 0.6667, -0.6667]]),
    ],
)
def test_regression_outputs_average_over_the_outputs_of_an_example(name, expected):
    label = nd.array([[1.0, 1, 1], [0, 0, 0]])
    (grad,) = gradient(lambda d: getattr(nd, name)(d, label, grad_scale=2), nd.array(SCORES))
    close(grad, expected, 2e-4)


def test_regression_refuses_a_label_of_another_size():
    with pytest.raises(mx.MXNetError, match="Shape inconsistent"):
        nd.LinearRegressionOutput(nd.array(SCORES), nd.array([1, 2])).wait_to_read()


@pytest.mark.parametrize(
    ("attrs", "expected"),
    [
        ({"kernel": (3,), "stride": (3,), "pad": (1,), "pool_type": "avg", "pooling_convention": "full"}, [1, 4, 0]),
        ({"kernel": (2,), "stride": (2,), "pool_type": "avg", "pooling_convention": "full"}, [1.5, 3.5, 5]),
        ({"kernel": (2,), "stride": (2,), "pool_type": "max", "pooling_convention": "valid"}, [2, 4]),
        ({"kernel": (1,), "stride": (3,), "pool_type": "sum", "pooling_convention": "full"}, [1, 4, 0]),
        ({"kernel": (3,), "stride": (2,), "pad": (0, 0, 0), "pooling_convention": "same"}, [3, 5, 5]),
        ({"kernel": (3,), "pad": (0, 0, 0), "pool_type": "avg", "pooling_convention": "same"}, [2, 3, 4, 4.5, 5]),
        ({"global_pool": True, "pool_type": "lp", "p_value": 2}, [7.4162]),
    ],
)
def test_pooling_conventions(attrs, expected):
    close(nd.Pooling(nd.arange(1, 6).reshape((1, 1, 5)), **attrs), [[expected]])


def test_windows_of_a_deconvolution_side_by_side():
    data, weight = nd.arange(8).reshape((1, 2, 2, 2)), nd.arange(1, 13).reshape((2, 1, 2, 3)) / 4
    attrs = {"kernel": (2, 3), "stride": (2, 3), "num_filter": 1, "no_bias": False}
    rows = [7.5, 8.5, 9.5, 9.5, 11, 12.5], [10.5, 11.5, 12.5, 14, 15.5, 17]
    rows += [11.5, 13.5, 15.5, 13.5, 16, 18.5], [17.5, 19.5, 21.5, 21, 23.5, 26]
    close(nd.Deconvolution(data, weight, nd.array([0.5]), **attrs), [[rows]])
    (grad,) = gradient(lambda w: nd.Deconvolution(data, w, nd.array([0.5]), **attrs), weight)
    close(grad, [[[[6] * 3] * 2], [[[22] * 3] * 2]])


@pytest.mark.parametrize("sizes", [(7,), (5, 4), (2, 3, 4)])
def test_deconvolutions_side_by_side_are_torchs(sizes):
    random, space = np.random.RandomState(0), len(sizes)
    kernel = (2, 3, 2)[:space]
    data, weight, bias = (random.rand(*s).astype("float32") for s in ((2, 4, *sizes), (4, 3, *kernel), (3,)))
    out = nd.Deconvolution(
        nd.array(data), nd.array(weight), nd.array(bias), kernel=kernel, stride=kernel, num_filter=3, no_bias=False
    )
    run = {1: torch.conv_transpose1d, 2: torch.conv_transpose2d, 3: torch.conv_transpose3d}[space]
    close(out, run(*map(torch.from_numpy, (data, weight, bias)), kernel).numpy(), 1e-5)


def test_the_largest_of_a_whole_image():
    data = nd.array(np.random.RandomState(0).rand(2, 3, 5, 4))
    data[0, 1, 2, 2] = np.nan
    expected = data.asnumpy().max((2, 3), keepdims=True)
    assert np.isnan(expected[0, 1]).all()
    close(nd.Pooling(data, global_pool=True, pool_type="max"), expected)
    close(nd.Pooling(data[0], global_pool=True, pool_type="max"), data[0].asnumpy().max(2, keepdims=True))


def test_old_pooling_pads_with_zeros_and_gives_all_ties_the_gradient():
    attrs = {"kernel": (3, 3), "stride": (2, 2), "pad": (1, 1), "pooling_convention": "full", "pool_type": "max"}
    close(nd.Pooling_v1(-nd.ones((1, 1, 4, 4)), **attrs), [[[[0, 0, 0], [0, -1, 0], [0, 0, 0]]]])
    (grad,) = gradient(lambda d: nd.Pooling_v1(d, pool_type="max", kernel=(2, 2)), nd.ones((1, 1, 2, 2)))
    close(grad, np.ones((1, 1, 2, 2)))


@pytest.mark.parametrize(("kind", "outputs", "grads"), [("avg", (52 / 27, 96 / 27), 4 / 27), ("sum", (52, 96), 4)])
def test_a_window_over_three_axes_may_be_larger_than_what_lies_between_the_padding(kind, outputs, grads):
    attrs = {"kernel": (3, 3, 3), "pad": (1, 1, 1), "stride": (1, 1, 2), "pool_type": kind}
    data = nd.arange(16).reshape((1, 1, 2, 2, 4))
    close(nd.Pooling(data, **attrs).reshape((4, 2)), [outputs] * 4)
    (grad,) = gradient(lambda d: nd.Pooling(d, **attrs), data)
    close(grad.reshape((4, 4)), [[grads, 2 * grads, grads, grads]] * 4)


def test_selu_has_the_slope_of_mxnet():
    (grad,) = gradient(lambda d: nd.LeakyReLU(d, act_type="selu"), nd.array([-2.0, 0.0, 1.0]))
    close(grad, [0.16085884, 1.7580993, 1.050701])


def test_convolution_refuses_what_contradicts_its_attributes():
    data, weight = nd.ones((1, 3, 5, 5)), nd.ones((4, 3, 3, 3))
    with pytest.raises(mx.MXNetError, match="Shape inconsistent"):
        nd.Convolution(data, weight, kernel=(3, 3), num_filter=5, no_bias=True)
    with pytest.raises(mx.MXNetError, match="same number of dimensions"):
        nd.Convolution(data, weight, kernel=(3, 3), num_filter=4, stride=2, no_bias=True)


def test_ctc_loss_ignores_what_cannot_be_reached():
    scores = nd.zeros((2, 1, 3))
    close(nd.CTCLoss(scores, nd.array([[1, 1]])), [0])


def rnn_arrays(mode, layers, directions, gates, hidden=3, width=4, steps=5, batch=2):
    draw = np.random.RandomState(1)
    size = sum(
        directions * gates * hidden * ((width if layer == 0 else hidden * directions) + hidden + 2)
        for layer in range(layers)
    )
    state = [nd.array(draw.randn(layers * directions, batch, hidden)) for _ in range(2 if mode == "lstm" else 1)]
    return nd.array(draw.randn(steps, batch, width)), nd.array(draw.randn(size) * 0.4), *state


@pytest.mark.parametrize(("mode", "gates"), [("lstm", 4), ("gru", 3), ("rnn_tanh", 1)])
def test_rnn_stops_each_sequence_at_its_length(mode, gates):
    attrs = {"mode": mode, "state_size": 3, "num_layers": 2, "bidirectional": True, "state_outputs": True}
    data, parameters, *states = rnn_arrays(mode, 2, 2, gates)
    whole = nd.RNN(data, parameters, *states, nd.array([2, 5]), use_sequence_length=True, **attrs)
    short = nd.RNN(data[:2, :1], parameters, *(s[:, :1] for s in states), **attrs)
    close(whole[0][:2, :1], short[0].asnumpy())
    close(whole[0][2:, :1], np.zeros((3, 1, 6)))
    close(whole[1][:, :1], short[1].asnumpy())


def test_lstm_cell_state_stays_within_its_bounds():
    attrs = {"mode": "lstm", "state_size": 3, "num_layers": 2, "bidirectional": True, "state_outputs": True}
    arrays = rnn_arrays("lstm", 2, 2, 4)
    clipped = nd.RNN(*arrays, lstm_state_clip_min=-0.1, lstm_state_clip_max=0.1, **attrs)
    assert np.abs(clipped[2].asnumpy()).max() <= 0.1 + 1e-6
    free, wide = nd.RNN(*arrays, **attrs), nd.RNN(*arrays, lstm_state_clip_min=-99, lstm_state_clip_max=99, **attrs)
    for one, other in zip(free, wide, strict=True):
        close(one, other.asnumpy())


def test_layer_norm_of_many_rows_sums_its_gradients_exactly():
    data = nd.array(np.random.RandomState(0).randn(3000, 8))
    gamma, beta = nd.ones(8), nd.zeros(8)
    head = np.random.RandomState(1).randn(3000, 8).astype("float32")
    grads = gradient(lambda g, b: nd.LayerNorm(data, g, b), gamma, beta, head=nd.array(head))
    np.testing.assert_allclose(grads[1].asnumpy(), head.astype("float64").sum(0), 1e-5, 1e-5)


def test_dropout_along_axes_decides_once():
    mx.random.seed(3)
    with autograd.train_mode():
        kept = nd.Dropout(nd.ones((4, 50)), p=0.5, axes=(0,)).asnumpy()
    assert (kept == kept[0]).all() and {0, 2} == set(kept[0])
    assert (nd.Dropout(nd.ones((4, 5)), p=0.5).asnumpy() == 1).all()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: nd.FullyConnected(X, W, B, num_hidden=4, no_bias=True), "expects 2 inputs, but got 3 instead"),
        (lambda: nd.FullyConnected(X, W, num_hidden=4), "expects 3 inputs, but got 2 instead"),
        (lambda: nd.FullyConnected(X, W, B, num_hidden=5), r"Provided = \[4,3\], inferred shape=\(5,3\)"),
        (lambda: nd.FullyConnected(X, W, B, num_hidden=-1), "value -1 for Parameter num_hidden should be greater"),
        (lambda: nd.SequenceMask(X, use_sequence_length=True), "expects 2 inputs, but got 1 instead"),
        (lambda: nd.SequenceLast(X, nd.ones(3)), "expects 1 inputs, but got 2 instead"),
        (lambda: nd.LeakyReLU(X, act_type="prelu"), "expects 2 inputs, but got 1 instead"),
        (lambda: nd.Pooling(nd.ones((1, 1, 4, 4)), kernel=(2, 2), stride=(0, 0)), "must be nonzero in all dimensions"),
        (lambda: nd.Dropout(X, p=1.5), r"value 1.5 for Parameter p exceed bound \[0,1\]"),
        (lambda: nd.arange(5, 2), r"Invalid range \(start, stop, step\) = \(5,2,1\)"),
        (lambda: X + W, r"operands could not be broadcast together with shapes \[2,3\] \[4,3\]"),
    ],
)
def test_refused(call, words):
    with pytest.raises(mx.MXNetError, match=words):
        call()


def test_ranges_of_halves_drop_fractions():  # as MXNet's do
    assert nd.arange(1.5, 4, 0.5, dtype="float16").asnumpy().tolist() == [1, 1, 1, 1, 1]
    assert nd.arange(4.94, 12, 3.004).asnumpy().tolist() == np.float32([4.94, 7.9440002, 10.948]).tolist()


@pytest.mark.parametrize(("shape", "scale"), [((4,), 3.0), ((3, 2), 1.0), ((2, 3, 4), 0.5), ((2, 2, 1), 0.75)])
def test_make_loss_counts_rows(shape, scale):
    x = nd.ones(shape)
    x.attach_grad()
    with mx.autograd.record():
        y = nd.MakeLoss(x, normalization="batch", grad_scale=3)
    y.backward()
    assert (x.grad.asnumpy() == scale).all()


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda x: 7.9 / x, [-2, 3, 7, 1, 1]),
        (lambda x: x * 1.7, [-3, 2, 1, 5, 7]),
        (lambda x: nd.maximum(x, 1.5), [1, 2, 1, 5, 7]),
        (lambda x: nd.smooth_l1(x, scalar=1.5), [2, 1, 0, 4, 6]),
        (lambda x: nd.contrib.div_sqrt_dim(x), [-1, 1, 0, 2, 3]),
        (lambda x: nd.contrib.quadratic(x, a=0.3, b=1.7, c=0.4), [-2, 5, 2, 16, 27]),
        (lambda x: nd.clip(x, 3, 1), [3, 1, 3, 1, 1]),
    ],
)
def test_integers_stay_integers(call, expected):
    result = call(nd.array([-3, 2, 1, 5, 7], dtype="int32"))
    assert result.dtype is np.int32
    assert result.asnumpy().tolist() == expected


def test_softmax_of_halves_sums_in_single_precision_where_the_environment_asks_for_it(monkeypatch):
    data = mx.nd.array(np.linspace(0, 1, 500), dtype="float16")
    exact = mx.nd.softmax(data.astype("float64")).asnumpy()
    assert abs(mx.nd.softmax(data, dtype="float64").asnumpy() / exact - 1).max() > 1e-3
    monkeypatch.setenv("MXNET_SAFE_ACCUMULATION", "1")
    np.testing.assert_allclose(mx.nd.softmax(data, dtype="float64").asnumpy(), exact, rtol=1e-6)


@pytest.mark.parametrize(
    "extra, shape, total, slope",
    [
        ({"pad": (1, 1, 1, 1)}, (1, 2, 8, 8), 328.40564, 8379.2676),
        ({"pad": (0, 1, 0, 1)}, (1, 2, 6, 8), 273.79001, 7241.1572),
        ({"pad": (1, 0, 5, 5)}, (1, 2, 8, 6), 260.55289, 6139.5015),
        ({"stride": (2, 1, 1, 1)}, (1, 2, 3, 6), 109.39748, 1281.6353),
    ],
)
def test_pooling_reads_what_it_needs_of_longer_strides_and_paddings(extra, shape, total, slope):
    """GluonCV's DropBlock pads both sides of both axes by name; MXNet looks at the first two numbers."""
    data = nd.array(np.random.RandomState(0).randn(1, 2, 8, 8))
    data.attach_grad()
    with autograd.record():
        result = nd.Pooling(data, pool_type="max", kernel=(3, 3), **extra)
        energy = (result * result).sum()
    energy.backward()
    assert result.shape == shape
    assert energy.asscalar() == pytest.approx(total, rel=1e-5)
    assert (data.grad * data.grad).sum().asscalar() == pytest.approx(slope, rel=1e-5)


@pytest.mark.parametrize(
    "attrs, total, slope",
    [
        ({"height": 7, "width": 9}, 50.427570687465, 889.47357526057),
        ({"height": 2, "width": 13, "align_corners": False}, 18.6935670915357, 130.369595667025),
        ({"scale_height": 2.3, "scale_width": 1.7, "mode": "odd_scale"}, 27.6156249768476, 260.185404985792),
        ({"height": 1, "width": 3, "align_corners": False}, 2.34586404406424, 7.09139438487325),
    ],
)
def test_resizing_float64_places_pixels_by_float32(attrs, total, slope):
    data = nd.array(np.random.RandomState(0).rand(1, 2, 3, 5), dtype="float64")
    data.attach_grad()
    with autograd.record():
        result = nd.contrib.BilinearResize2D(data, **attrs)
        energy = (result * result).sum()
    energy.backward()
    assert energy.asscalar() == pytest.approx(total, rel=1e-13)
    assert (data.grad * data.grad).sum().asscalar() == pytest.approx(slope, rel=1e-13)


@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_the_slope_of_an_exponential_unit_comes_from_its_output(dtype):
    values = nd.array([float("nan"), float("-inf"), float("inf"), 0, 1, -1], dtype=dtype)
    (slope,) = gradient(lambda x: nd.LeakyReLU(x, act_type="elu", slope=0.25), values)
    expected = [float("nan"), 0, 1, 0.25, 1, 0.0919189453125 if dtype == "float16" else 0.09196986]
    np.testing.assert_allclose(slope.asnumpy(), expected, 1e-7)


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_integers_beyond_one_have_no_inverse_error(dtype):
    least = np.iinfo(dtype).min
    result = nd.erfinv(nd.array([-2, -1, 0, 1, 2], dtype=dtype))
    assert result.asnumpy().tolist() == [0, least, 0, least, 0]


def test_regions_of_no_image_are_zeros_and_touch_no_other_region():
    """MXNet does this on GPUs; its CPU kernel leaves them unwritten and puts zeros into the first region instead."""
    data = nd.array(np.random.RandomState(0).randn(1, 3, 10, 12))
    regions = nd.array([[0, 2, 3, 30, 25], [-1, -1, -1, -1, -1], [0, -5, -7, 20, 60]])
    pooled = nd.contrib.ROIAlign(data, regions, (7, 7), 0.25, sample_ratio=2)
    energies = (pooled * pooled).sum(axis=(1, 2, 3))
    close(energies, [50.1732, 0, 28.6405])


@pytest.mark.parametrize("slopes", [(3,), (1,)])
def test_learned_slopes_have_the_same_gradient_in_graphs(slopes):
    """In a graph MXNet multiplies it by the slope: it has written over the gradient that came in."""
    data = np.random.RandomState(0).randn(2, 3, 4, 4)
    rectified = mx.sym.LeakyReLU(mx.sym.var("x") * 1.0, mx.sym.var("slope", shape=slopes), act_type="prelu") * 1.0
    executor = rectified.simple_bind(mx.cpu(), x=data.shape)
    executor.arg_dict["x"][:], executor.arg_dict["slope"][:] = data, 0.25
    result = executor.forward(is_train=True)[0]
    executor.backward(nd.ones_like(result))
    negative = np.where(data <= 0, data, 0)
    close(executor.grad_dict["slope"], negative.sum((0, 2, 3)) if slopes == (3,) else [negative.sum()])


def test_moving_averages_take_the_share_that_float32_leaves():
    data = nd.array(np.arange(16).reshape(2, 2, 2, 2), dtype="float64")
    mean, variance, shift = (nd.zeros(2, dtype="float64") for _ in range(3))
    data.attach_grad()
    with autograd.record():
        result = nd.BatchNorm(data, nd.ones(2, dtype="float64"), shift, mean, variance)
    result.backward()
    assert mean.asnumpy() == pytest.approx([0.550000131130219, 0.95000022649765], rel=1e-14)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_slopes_of_inverse_roots_at_zeros(dtype):
    x = nd.array([0.0, -0.0, 1.0, np.inf], dtype=dtype)
    assert gradient(nd.rsqrt, x)[0].asnumpy().tolist() == [-np.inf, -np.inf, -0.5, 0]
    with autograd.record():
        (slope,) = autograd.grad(nd.rsqrt(x), [x], create_graph=True)
    slope.backward()
    assert x.grad.asnumpy().tolist() == [np.inf, -np.inf, 0.75, 0]


@pytest.mark.parametrize("beta", [0.75, 0.5])
def test_normalization_among_channels_is_differentiated_twice(beta):
    x = torch.randn(2, 5, 1, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(1), requires_grad=True)
    normed = lambda x: lrn(x, nsize=3, alpha=0.5, beta=beta)
    assert torch.autograd.gradcheck(normed, [x]) and torch.autograd.gradgradcheck(normed, [x])
