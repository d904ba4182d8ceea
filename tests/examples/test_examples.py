"""Every example runs with its small setting, and shows what it is there to show."""

import importlib
from pathlib import Path

import numpy as np
import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(EXAMPLES))


def run(name, *arguments):
    return importlib.import_module(name).main(["--quick", *arguments])


def test_linear_regression():
    for weight, bias in run("linear_regression").values():
        np.testing.assert_allclose(weight.asnumpy().ravel(), [2, -3.4], atol=0.05)
        np.testing.assert_allclose(bias.asnumpy(), [4.2], atol=0.05)


def test_softmax_regression():
    assert run("softmax_regression") > 0.5


def test_mlp(tmp_path):
    assert run("mlp") > 0.4
    assert (tmp_path / "mlp.png").read_bytes()[:4] == b"\x89PNG"


def test_convolution_networks():
    scores = run("convolution_networks")
    assert list(scores) == ["lenet", "alexnet", "vgg", "nin", "googlenet", "resnet", "densenet"]
    assert all(0 <= score <= 1 for score in scores.values())


def test_fine_tuning(tmp_path):
    assert run("fine_tuning") > 0.35
    assert (tmp_path / "fine_tuning.png").read_bytes()[:4] == b"\x89PNG"


def test_siamese():
    assert run("siamese") > 0.5


def test_gradient_accumulation_is_the_same_as_a_large_batch():
    assert run("gradient_accumulation") < 1e-4


def test_custom_parts():
    first, *_, last = run("custom_parts")
    assert last < first


@pytest.mark.minutes
@pytest.mark.parametrize(
    ("name", "least", "most"),
    [("mlp", 0.91, 0.96), ("softmax_regression", 0.87, 0.92), ("gradient_accumulation", 0, 1e-5)],
)
def test_full_forms_reach_what_their_docstrings_state(name, least, most):
    assert least <= importlib.import_module(name).main([]) <= most


def test_multi_device_keeps_the_copies_equal():
    assert run("multi_device") < 1e-6


def test_distributed_alone():
    assert run("distributed") > 0


def test_symbol_module():
    assert run("symbol_module") > 0.2


def test_bucketing_language_model():
    first, *_, last = run("bucketing_language_model")
    assert last < first


def test_detector():
    pytest.importorskip("cv2")
    first, *_, last = run("detector")
    assert last < first


def test_feature_maps(tmp_path):
    assert len(run("feature_maps")) == 2
    assert (tmp_path / "feature_maps.png").read_bytes()[:4] == b"\x89PNG"


def test_every_example_is_tested():
    names = {path.stem for path in EXAMPLES.glob("*.py")} - {"common"}
    text = Path(__file__).read_text(encoding="utf-8")
    assert {name for name in names if f'run("{name}"' not in text} == set()
