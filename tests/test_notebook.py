"""Arrays, networks, symbols, metrics, images and trainings as a notebook shows them."""

import re
import shutil
import sys
import xml.etree.ElementTree as ElementTree
from types import SimpleNamespace

import numpy as np
import pytest

import mxnet as mx
from mxnet import gluon, nd
from mxnet.gluon import nn
from mxnet.gluon.contrib.estimator import Estimator

PNG = b"\x89PNG"
SVG = "{http://www.w3.org/2000/svg}"


def cells(array):
    tree = ElementTree.fromstring(f"<div>{array._repr_html_()}</div>")
    return tree.find("small").text, [[cell.text for cell in row] for row in tree.iter("tr")]


def test_small_arrays_are_tables():
    assert cells(nd.array([[1, 2.5], [3, 4]])) == ("NDArray 2×2, float32, cpu(0)", [["1", "2.5"], ["3", "4"]])
    assert cells(nd.array([1, 2], dtype="int32", ctx=mx.cpu(1))) == ("NDArray 2, int32, cpu(1)", [["1", "2"]])


def test_long_arrays_lose_their_middle():
    _, rows = cells(nd.arange(10000).reshape((100, 100)))
    assert len(rows) == 11 and rows[0] == ["0", "1", "2", "3", "4", "…", "95", "96", "97", "98", "99"]
    assert rows[5] == ["…"] * 11 and rows[-1][-1] == "9999"


def test_other_arrays_are_printed():
    assert "<pre>[[[1. 1.]" in nd.ones((2, 2, 2))._repr_html_()
    assert "<table>" not in nd.ones((1, 1, 1))._repr_html_()


def test_networks_are_trees():
    net = nn.HybridSequential()
    net.add(nn.Dense(3, in_units=2), nn.Dense(4))
    text = net._repr_html_()
    tree = ElementTree.fromstring(text)
    assert tree.find("details/summary").text.strip() == "HybridSequential"
    assert tree.find("details/summary/small").text == "13 parameters and more after the first batch"
    assert [e.text for e in tree.findall("details/div")] == [
        "(0): Dense(2 -> 3, linear)",
        "(1): Dense(None -> 4, linear)",
    ]
    assert "Dense(2 -&gt; 3" in text


def lenet():
    net = mx.sym.Convolution(mx.sym.var("data"), kernel=(3, 3), num_filter=4, name="conv")
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(net, num_hidden=2, name="fc"), name="softmax")


def test_a_symbol_lists_its_names_and_is_drawn():
    tree = ElementTree.fromstring(lenet()._repr_html_())
    rows = {row[0].text: row[1].text for row in tree.iter("tr")}
    assert rows == {
        "inputs": "data, softmax_label",
        "parameters": "conv_weight, conv_bias, fc_weight, fc_bias",
        "outputs": "softmax_output",
    }
    titles = {title.text for title in tree.iter(f"{SVG}title")}
    assert titles == {"data", "conv", "fc", "softmax_label", "softmax"}


def test_a_large_symbol_is_not_drawn_and_shortens_its_names():
    net = mx.sym.var("data")
    for number in range(60):
        net = mx.sym.FullyConnected(net, num_hidden=2, name=f"fc{number}")
    text = net._repr_html_()
    assert "<svg" not in text and "181 nodes" in text and "and 108 more" in text


def test_a_drawing_does_not_restyle_the_page():
    assert "<style" not in lenet()._repr_html_()


def test_plot_network_is_shown_without_the_program_dot(monkeypatch):
    pytest.importorskip("graphviz")
    monkeypatch.setattr(shutil, "which", lambda *_: None)
    bundle = mx.viz.plot_network(lenet(), shape={"data": (1, 1, 8, 8)})._repr_mimebundle_()
    tree = ElementTree.fromstring(bundle["image/svg+xml"])
    words = [text.text for text in tree.iter(f"{SVG}text")]
    assert "3x3/1, 4" in words and "4×6×6" in words and "conv_weight" not in words
    whole = mx.viz.plot_network(lenet(), hide_weights=False)._repr_mimebundle_()["image/svg+xml"]
    assert "conv_weight" in whole


def test_metrics_are_tables():
    metric = mx.metric.create(["acc", "mse"])
    metric.update([nd.array([0, 1])], [nd.array([[0.9, 0.1], [0.8, 0.2]])])
    rows = [[cell.text for cell in row] for row in ElementTree.fromstring(metric._repr_html_()).iter("tr")]
    assert rows[0] == ["CompositeEvalMetric", "value"] and rows[1] == ["accuracy", "0.5"]
    assert mx.metric.Accuracy()._repr_html_().count("nan") == 1


@pytest.mark.parametrize("shape", [(6, 8, 9), (6, 1, 8, 9), (6, 3, 8, 9), (6, 8, 9, 3)])
def test_images_are_shown_in_a_grid(shape):
    pytest.importorskip("matplotlib")
    figure = mx.viz.show_images(nd.random.uniform(shape=shape), titles=nd.arange(6), columns=3)
    assert figure._repr_png_()[:4] == PNG and len(figure.axes) == 6
    assert figure.axes[5].get_title() == "5.0"
    assert {axes.get_subplotspec().get_geometry()[:2] for axes in figure.axes} == {(2, 3)}


def test_images_keep_their_colours():
    pytest.importorskip("matplotlib")
    image = nd.zeros((3, 2, 2), dtype="uint8")
    image[0] = 200
    (axes,) = mx.viz.show_images(image).axes
    np.testing.assert_array_equal(axes.images[0].get_array()[0, 0], [200, 0, 0])
    (axes,) = mx.viz.show_images(nd.array([[-1.0, 1.0]])).axes  # stretched
    np.testing.assert_array_equal(axes.images[0].get_array(), [[0, 1]])
    (axes,) = mx.viz.show_images([np.full((2, 2, 3), 51.0)]).axes  # floats as augmenters return them
    np.testing.assert_allclose(axes.images[0].get_array(), 0.2)


def test_what_is_no_image_is_refused_with_its_shape():
    pytest.importorskip("matplotlib")
    with pytest.raises(ValueError, match=r"got \(5, 8, 9\)"):
        mx.viz.show_images(nd.ones((2, 5, 8, 9)))
    with pytest.raises(ValueError, match="at least one"):
        mx.viz.show_images([])


def test_curves_of_one_quantity_share_a_panel():
    pytest.importorskip("matplotlib")
    curves = {"training accuracy": [0.5, 0.7], "training loss": [1, 0.5], "validation accuracy": [0.4, 0.6]}
    first, second = mx.viz.plot_curves(curves).axes
    assert (first.get_ylabel(), second.get_ylabel()) == ("accuracy", "loss")
    np.testing.assert_allclose(first.lines[1].get_xydata(), [[1, 0.4], [2, 0.6]])
    (only,) = mx.viz.plot_curves([3, 2, 1]).axes
    assert only.get_ylabel() == "loss"
    with pytest.raises(ValueError, match="nothing to draw"):
        mx.viz.plot_curves({})


def fitted(**options):
    net = nn.Dense(2)
    net.initialize()
    data = gluon.data.DataLoader(gluon.data.ArrayDataset(nd.ones((8, 3)), nd.zeros((8,))), 4)
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    estimator = Estimator(net, gluon.loss.SoftmaxCrossEntropyLoss(), mx.metric.Accuracy(), trainer=trainer)
    estimator.fit(data, data, epochs=3, **options)
    return estimator


def test_an_estimator_remembers_its_epochs(tmp_path):
    pytest.importorskip("matplotlib")
    estimator = fitted()
    assert {name: len(values) for name, values in estimator.history.items()} == {
        "training accuracy": 3,
        "validation accuracy": 3,
    }
    assert len(mx.viz.plot_curves(estimator).axes[0].lines) == 2


def test_a_training_that_is_resumed_has_its_whole_history(tmp_path):
    pytest.importorskip("matplotlib")
    fitted(resume="auto", resume_dir=str(tmp_path))
    assert len(fitted(resume="auto", resume_dir=str(tmp_path)).history["training accuracy"]) == 3


def test_an_estimator_in_a_notebook_shows_a_bar_and_curves(monkeypatch):
    pytest.importorskip("matplotlib")
    shown = []

    class Handle:
        def update(self, page):
            shown.append(page)

    def display(page, display_id):
        shown.append(page)
        return Handle()

    shell = SimpleNamespace(config={"IPKernelApp": {}})
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(HTML=str, display=display))
    fitted()
    assert "<img" not in shown[0] and 'src="data:image/png;base64,' in shown[-1]
    assert "epoch 3 of 3" in shown[-1] and '<progress value="2" max="2">' in shown[-1]
    assert re.search(r"training accuracy \d\.\d{4}, validation accuracy \d\.\d{4}", shown[-1])
