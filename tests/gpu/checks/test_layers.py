"""Every layer, loss and metric on a simulated GPU gives what it gives on the CPU."""

import inspect

import numpy as np
import pytest
import simulated
from comparing import CPU, GPU, assert_same, no_races, values  # noqa: F401 - a fixture

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.gluon import contrib, nn, rnn

LONG = [pytest.param(False, marks=pytest.mark.slow), True]


def _stacked(container, *layers):
    for layer in layers or (nn.Dense(3), nn.Dense(2)):
        container.add(layer)
    return container


def _convolutional(dimensions, kind):
    cell = getattr(contrib.rnn, f"Conv{dimensions}D{kind}Cell")
    return lambda: cell((2, *(4,) * dimensions), 3, 3, 3, i2h_pad=1)


LAYERS = {
    "Dense": (lambda: nn.Dense(3), (2, 4)),
    "Conv1D": (lambda: nn.Conv1D(3, 2), (2, 3, 6)),
    "Conv2D": (lambda: nn.Conv2D(3, 2, groups=1), (2, 3, 6, 6)),
    "Conv3D": (lambda: nn.Conv3D(3, 2), (2, 3, 5, 5, 5)),
    "Conv1DTranspose": (lambda: nn.Conv1DTranspose(3, 2), (2, 3, 6)),
    "Conv2DTranspose": (lambda: nn.Conv2DTranspose(3, 2), (2, 3, 6, 6)),
    "Conv3DTranspose": (lambda: nn.Conv3DTranspose(3, 2), (2, 3, 4, 4, 4)),
    "DeformableConvolution": (lambda: gluon.contrib.cnn.DeformableConvolution(3, 3), (2, 3, 6, 6)),
    "MaxPool1D": (nn.MaxPool1D, (2, 3, 6)),
    "MaxPool2D": (nn.MaxPool2D, (2, 3, 6, 6)),
    "MaxPool3D": (nn.MaxPool3D, (2, 3, 6, 6, 6)),
    "AvgPool1D": (nn.AvgPool1D, (2, 3, 6)),
    "AvgPool2D": (nn.AvgPool2D, (2, 3, 6, 6)),
    "AvgPool3D": (nn.AvgPool3D, (2, 3, 6, 6, 6)),
    "GlobalMaxPool1D": (nn.GlobalMaxPool1D, (2, 3, 6)),
    "GlobalMaxPool2D": (nn.GlobalMaxPool2D, (2, 3, 6, 6)),
    "GlobalMaxPool3D": (nn.GlobalMaxPool3D, (2, 3, 4, 4, 4)),
    "GlobalAvgPool1D": (nn.GlobalAvgPool1D, (2, 3, 6)),
    "GlobalAvgPool2D": (nn.GlobalAvgPool2D, (2, 3, 6, 6)),
    "GlobalAvgPool3D": (nn.GlobalAvgPool3D, (2, 3, 4, 4, 4)),
    "ReflectionPad2D": (lambda: nn.ReflectionPad2D(2), (2, 3, 6, 6)),
    "BatchNorm": (nn.BatchNorm, (4, 3, 5, 5)),
    "BatchNormReLU": (nn.BatchNormReLU, (4, 3, 5, 5)),
    "Dropout": (lambda: nn.Dropout(0.0), (4, 3)),
    "Activation": (lambda: nn.Activation("softrelu"), (2, 4)),
    "InstanceNorm": (nn.InstanceNorm, (4, 3, 5, 5)),
    "LayerNorm": (nn.LayerNorm, (4, 3)),
    "GroupNorm": (lambda: nn.GroupNorm(3), (4, 3, 5)),
    "Embedding": (lambda: nn.Embedding(20, 4), (2, 3)),
    "Flatten": (nn.Flatten, (2, 3, 4)),
    "LeakyReLU": (lambda: nn.LeakyReLU(0.1), (2, 4)),
    "PReLU": (nn.PReLU, (2, 4)),
    "ELU": (nn.ELU, (2, 4)),
    "SELU": (nn.SELU, (2, 4)),
    "Swish": (nn.Swish, (2, 4)),
    "GELU": (nn.GELU, (2, 4)),
    "Lambda": (lambda: nn.Lambda("tanh"), (2, 4)),
    "HybridLambda": (lambda: nn.HybridLambda("tanh"), (2, 4)),
    "Sequential": (lambda: _stacked(nn.Sequential()), (2, 4)),
    "HybridSequential": (lambda: _stacked(nn.HybridSequential()), (2, 4)),
    "Concurrent": (lambda: _stacked(contrib.nn.Concurrent(axis=1)), (2, 4)),
    "HybridConcurrent": (lambda: _stacked(contrib.nn.HybridConcurrent(axis=1)), (2, 4)),
    "Identity": (contrib.nn.Identity, (2, 4)),
    "PixelShuffle1D": (lambda: contrib.nn.PixelShuffle1D(2), (2, 4, 3)),
    "PixelShuffle2D": (lambda: contrib.nn.PixelShuffle2D(2), (2, 4, 3, 3)),
    "PixelShuffle3D": (lambda: contrib.nn.PixelShuffle3D(2), (1, 8, 2, 2, 2)),
    "SyncBatchNorm": (lambda: contrib.nn.SyncBatchNorm(num_devices=1), (4, 3, 5, 5)),
    "ModulatedDeformableConvolution": (lambda: contrib.cnn.ModulatedDeformableConvolution(3, 3), (2, 3, 6, 6)),
    "RNN": (lambda: rnn.RNN(4), (3, 2, 5)),
    "LSTM": (lambda: rnn.LSTM(4), (3, 2, 5)),
    "GRU": (lambda: rnn.GRU(4), (3, 2, 5)),
}
# Cells: the layer, and the shape of one step
CELLS = {
    "RNNCell": (lambda: rnn.RNNCell(4), (2, 3)),
    "LSTMCell": (lambda: rnn.LSTMCell(4), (2, 3)),
    "GRUCell": (lambda: rnn.GRUCell(4), (2, 3)),
    "SequentialRNNCell": (lambda: _stacked(rnn.SequentialRNNCell(), rnn.GRUCell(4), rnn.LSTMCell(3)), (2, 3)),
    "HybridSequentialRNNCell": (lambda: _stacked(rnn.HybridSequentialRNNCell(), rnn.GRUCell(4)), (2, 3)),
    "BidirectionalCell": (lambda: rnn.BidirectionalCell(rnn.GRUCell(4), rnn.RNNCell(3)), (2, 3)),
    "ResidualCell": (lambda: rnn.ResidualCell(rnn.GRUCell(3)), (2, 3)),
    "DropoutCell": (lambda: rnn.DropoutCell(0.0), (2, 3)),
    "ZoneoutCell": (lambda: rnn.ZoneoutCell(rnn.GRUCell(4)), (2, 3)),
    "VariationalDropoutCell": (lambda: contrib.rnn.VariationalDropoutCell(rnn.GRUCell(4)), (2, 3)),
    "LSTMPCell": (lambda: contrib.rnn.LSTMPCell(4, 2), (2, 3)),
    **{
        f"Conv{n}D{kind}Cell": (_convolutional(n, kind), (2, 2, *(4,) * n))
        for n in (1, 2, 3)
        for kind in ("RNN", "LSTM", "GRU")
    },
}
BASES = {"Block", "HybridBlock", "SymbolBlock", "RecurrentCell", "HybridRecurrentCell", "ModifierCell"}
ELSEWHERE = {"SparseEmbedding"}  # test_models.py


def classes(module, base):
    """The public classes of a module that derive from another."""
    found = (getattr(module, name) for name in dir(module) if not name.startswith("_"))
    return {c.__name__ for c in found if inspect.isclass(c) and issubclass(c, base)}


def test_every_layer_loss_and_metric_is_here():
    layers = set().union(*(classes(m, gluon.Block) for m in (nn, rnn, contrib.nn, contrib.cnn, contrib.rnn)))
    assert layers - BASES - ELSEWHERE == LAYERS.keys() | CELLS.keys()
    assert classes(gluon.loss, gluon.loss.Loss) - {"Loss"} == LOSSES.keys()
    assert classes(mx.metric, mx.metric.EvalMetric) - {"EvalMetric"} == {*METRICS, *OTHER_METRICS}


@pytest.mark.parametrize("hybrid", LONG)
@pytest.mark.parametrize("name", LAYERS)
def test_layers(name, hybrid):
    make, shape = LAYERS[name]
    found = []
    for ctx in (CPU, GPU):
        mx.random.seed(7)
        layer = make()
        layer.initialize(mx.init.Uniform(0.5), ctx=ctx)
        if hybrid:
            layer.hybridize()
        x = nd.array(np.random.RandomState(3).uniform(0, 2, shape), ctx=ctx)
        x.attach_grad()
        with autograd.record():
            y = layer(x)
        y.backward()
        assert y.context == ctx and x.grad.context == ctx
        grads = {n: p.grad().asnumpy() for n, p in layer._collect_params_with_prefix().items() if p.grad_req != "null"}
        found.append({"y": y.asnumpy(), "x": x.grad.asnumpy(), **grads, **values(layer)})
    assert_same(*found)


@pytest.mark.parametrize("name", CELLS)
def test_cells(name):
    make, shape = CELLS[name]
    found = []
    for ctx in (CPU, GPU):
        mx.random.seed(7)
        cell = make()
        cell.initialize(mx.init.Uniform(0.5), ctx=ctx)
        x = nd.array(np.random.RandomState(3).uniform(0, 2, (3, *shape)), ctx=ctx)
        x.attach_grad()
        with autograd.record():
            y, states = cell.unroll(3, x, layout="TN" + "CDHW"[: len(shape) - 1], merge_outputs=True)
        y.backward()
        assert all(a.context == ctx for a in (y, x.grad, *states))
        found.append({"y": y.asnumpy(), "x": x.grad.asnumpy(), **values(cell)})
    assert_same(*found)


LOSSES = {
    "L2Loss": 2, "L1Loss": 2, "SigmoidBinaryCrossEntropyLoss": 2, "SoftmaxCrossEntropyLoss": "class", "KLDivLoss": 2,
    "HuberLoss": 2, "HingeLoss": 2, "SquaredHingeLoss": 2, "LogisticLoss": 2, "TripletLoss": 3, "PoissonNLLLoss": 2,
    "CosineEmbeddingLoss": "pair", "CTCLoss": "ctc", "SDMLLoss": 2,
}  # fmt: skip


@pytest.mark.parametrize("name", LOSSES)
def test_losses(name):
    found = []
    for ctx in (CPU, GPU):
        random = np.random.RandomState(4)
        inputs = [random.uniform(0.1, 0.9, (4, 5)) for _ in range(3)]
        if LOSSES[name] == "class":
            inputs = [inputs[0], np.arange(4)]
        elif LOSSES[name] == "pair":
            inputs = [inputs[0], inputs[1], np.array([1, -1, 1, -1])]
        elif LOSSES[name] == "ctc":
            inputs = [random.normal(size=(2, 8, 5)), np.array([[1, 2, 0], [3, 1, 2]])]
        else:
            inputs = inputs[: LOSSES[name]]
        arrays = [nd.array(a, ctx=ctx) for a in inputs]
        arrays[0].attach_grad()
        with autograd.record():
            value = getattr(gluon.loss, name)()(*arrays)
        value.backward()
        assert value.context == ctx
        found.append({"loss": value.asnumpy(), "grad": arrays[0].grad.asnumpy()})
    assert_same(*found)


OTHER_METRICS = {"CompositeEvalMetric", "CustomMetric", "Torch", "Caffe"}
METRICS = (
    "Accuracy TopKAccuracy F1 MCC Perplexity MAE MSE RMSE CrossEntropy NegativeLogLikelihood PearsonCorrelation PCC "
    "Loss"
).split()


@pytest.mark.parametrize("name", METRICS)
def test_metrics(name):
    found = []
    for ctx in (CPU, GPU):
        random = np.random.RandomState(4)
        metric = getattr(mx.metric, name)(
            **{"Perplexity": {"ignore_label": None}, "TopKAccuracy": {"top_k": 2}}.get(name, {})
        )
        scores = random.uniform(0.1, 1, (6, 2))
        scores /= scores.sum(1, keepdims=True)
        label = np.array([0, 1, 1, 0, 1, 0])
        if name in ("MAE", "MSE", "RMSE", "PearsonCorrelation"):
            scores, label = scores[:, :1], random.uniform(0, 1, (6, 1))
        for _ in range(2):
            metric.update([nd.array(label, ctx=ctx)], [nd.array(scores, ctx=ctx)])
        found.append({"value": np.array(metric.get()[1])})
    assert_same(*found)


def test_other_metrics():
    found = []
    for ctx in (CPU, GPU):
        label, scores = nd.array([0, 1, 1], ctx=ctx), nd.array([[0.2, 0.8], [0.6, 0.4], [0.1, 0.9]], ctx=ctx)
        both = mx.metric.CompositeEvalMetric([mx.metric.Accuracy(), mx.metric.TopKAccuracy(2)])
        own = mx.metric.CustomMetric(lambda label, scores: float(np.abs(label - scores[:, 1]).sum()))
        others = [both, own, mx.metric.Torch(), mx.metric.Caffe()]
        for metric in others:
            metric.update([label], [scores])
        found.append({str(i): np.array(m.get()[1], "float64") for i, m in enumerate(others)})
    assert_same(*found)


@pytest.mark.parametrize("name", ["Accuracy", "TopKAccuracy", "F1", "Perplexity", "CrossEntropy", "Loss", "MAE", "MSE"])
def test_metrics_do_not_wait(name):
    metric = getattr(mx.metric, name)(
        **{"Perplexity": {"ignore_label": None}, "TopKAccuracy": {"top_k": 2}}.get(name, {})
    )
    scores, labels = nd.array([[0.2, 0.8], [0.6, 0.4]], ctx=GPU), nd.array([0, 1])
    if name in ("MAE", "MSE"):
        scores = scores[:, 0]
    with simulated.watched() as events:
        for _ in range(3):
            metric.update([labels], [scores])
    assert not simulated.of_kind(events, "sync"), events
    assert len(simulated.of_kind(events, "h2d")) == (0 if name == "Loss" else 3), events  # the labels
    assert np.isfinite(metric.get()[1])


@pytest.mark.parametrize("name", ["CrossEntropy", "NegativeLogLikelihood", "F1"])
def test_wrong_classes_of_metrics_are_told_when_they_are_read(name):
    metric = getattr(mx.metric, name)()
    metric.update([nd.array([0, 7, 3], ctx=GPU)], [nd.array([[0.2, 0.8], [0.6, 0.4], [0.5, 0.5]], ctx=GPU)])
    with pytest.raises((mx.MXNetError, ValueError), match="out of bounds|binary"):
        metric.get()
