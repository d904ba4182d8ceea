"""The model zoo: names, shapes and printed form are MXNet's, so published files load."""

import importlib.util
import json
from pathlib import Path

import pytest

import mxnet as mx
from mxnet.gluon.model_zoo import model_store, vision

ROOT = Path(__file__).parents[2]
GOLDEN = json.loads((ROOT / "tests/data/zoo.json").read_text())


def recorder():
    spec = importlib.util.spec_from_file_location("record_zoo", ROOT / "tools/record_zoo.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", GOLDEN)
def test_parameters_and_structure_are_mxnets(name):
    assert recorder().digest(name) == GOLDEN[name]


@pytest.mark.parametrize("name", ["resnet18_v1", "resnet18_v2", "mobilenet0.25", "mobilenetv2_0.25", "squeezenet1.1"])
def test_hybridized_equals_eager(name):
    net = vision.get_model(name, classes=10)
    net.initialize()
    x = mx.nd.random.uniform(shape=(1, 3, 224, 224))
    eager = net(x).asnumpy()
    net.hybridize()
    mx.test_utils.assert_almost_equal(net(x), eager, rtol=1e-4, atol=1e-5)


def test_unknown_model_lists_the_known_ones():
    with pytest.raises(ValueError, match="resnet50_v1"):
        vision.get_model("resnet51")


def test_offline_says_which_file_goes_where(tmp_path, monkeypatch):
    monkeypatch.setenv("MXNET_GLUON_REPO", "http://127.0.0.1:9/")
    with pytest.raises(mx.MXNetError, match=r"resnet18_v1-a0666292.params .*SHA-1 a0666292") as caught:
        model_store.get_model_file("resnet18_v1", root=str(tmp_path))
    assert str(tmp_path) in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_download_is_told_with_its_reason(tmp_path, monkeypatch, caplog):
    monkeypatch.setenv("MXNET_GLUON_REPO", "http://127.0.0.1:9/")
    caplog.set_level("INFO")
    path = tmp_path / "resnet18_v1-a0666292.params"
    for content in (None, b"damaged"):
        if content:
            path.write_bytes(content)
        with pytest.raises(mx.MXNetError):
            model_store.get_model_file("resnet18_v1", root=str(tmp_path))
    told = [(record.levelname, record.getMessage()) for record in caplog.records if record.name == "root"]
    assert told == [
        ("INFO", f"Model file not found. Downloading to {path}."),
        ("WARNING", "Mismatch in the content of model file detected. Downloading again."),
    ]
