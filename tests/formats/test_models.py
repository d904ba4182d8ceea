"""Model files of every age, recorded with MXNet 1.9.1: symbols, Gluon parameters, checkpoints, image lists."""

import json
import pathlib

import numpy as np
import pytest

import mxnet as mx

from . import model_cases
from .corpus import array

FOLDER = pathlib.Path(__file__).parents[1] / "data" / "models"
EXPECTED = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))


def files(kind):
    return sorted(name for name, facts in EXPECTED.items() if facts["kind"] == kind)


def close(found, described):
    np.testing.assert_allclose(found, array(described), rtol=1e-5, atol=1e-6)


def test_there_are_enough_files():
    recorded = [path for folder in ("files", "models") for path in (FOLDER.parent / folder).iterdir() if path.is_file()]
    assert len(recorded) >= 100


@pytest.mark.parametrize("name", files("symbol"))
def test_symbols_of_every_age(name):
    facts = EXPECTED[name]
    symbol = mx.sym.load(str(FOLDER / name))
    assert symbol.list_arguments() == facts["arguments"]
    assert symbol.list_outputs() == facts["outputs"]
    assert symbol.list_auxiliary_states() == facts["states"]
    assert symbol.attr_dict() == facts["attributes"]
    assert symbol.tojson() == facts["json"]
    for found, described in zip(
        model_cases.answers(mx, symbol, model_cases.SYMBOLS[facts["case"]][1]), facts["answers"], strict=True
    ):
        close(found, described)


@pytest.mark.parametrize("name", files("net"))
def test_gluon_parameters_by_structure_and_by_prefix(name):
    facts = EXPECTED[name]
    net, data = model_cases.filled(mx, facts["case"])
    for parameter in net.collect_params().values():
        parameter.set_data(mx.nd.zeros(parameter.shape))
    model_cases.ways(net)[facts["way"]][1](str(FOLDER / name))
    close(net(data).asnumpy(), facts["answer"])


@pytest.mark.parametrize("name", files("net"))
def test_gluon_parameters_are_written_under_the_same_keys(name, tmp_path):
    facts, path = EXPECTED[name], str(tmp_path / "a.params")
    net, _ = model_cases.filled(mx, facts["case"])
    model_cases.ways(net)[facts["way"]][0](path)
    assert list(mx.nd.load(path)) == facts["keys"]


@pytest.mark.parametrize("name", files("exported"))
def test_exported_nets(name):
    facts = EXPECTED[name]
    net = mx.gluon.SymbolBlock.imports(
        str(FOLDER / f"{facts['case']}-symbol.json"), ["data"], str(FOLDER / name), ctx=mx.cpu()
    )
    close(net(model_cases.filled(mx, facts["case"])[1]).asnumpy(), facts["answer"])


def test_a_modules_checkpoint_goes_on_where_mxnet_stopped():
    module = model_cases.resumed(mx, str(FOLDER / "module"))
    for parameter, described in EXPECTED["module-0002.params"]["after"].items():
        close(module.get_params()[0][parameter].asnumpy(), described)


@pytest.mark.parametrize("name", files("list"))
def test_image_lists(name):
    facts = EXPECTED[name]
    reader = mx.image.ImageIter(
        2, (3, 4, 4), path_imglist=str(FOLDER / name), path_root=str(FOLDER / "pictures"), label_width=facts["width"]
    )
    for batch, label, data in zip(reader, facts["labels"], facts["data"], strict=True):
        close(batch.label[0].asnumpy(), label)
        close(batch.data[0].asnumpy(), data)


def test_arrays_without_names_are_no_parameters(tmp_path):
    prefix = str(tmp_path / "list")
    mx.nd.save(f"{prefix}-0001.params", [mx.nd.ones((1,))])
    mx.sym.relu(mx.sym.var("data")).save(f"{prefix}-symbol.json")
    net = mx.gluon.nn.Dense(2)
    for load in (
        lambda: net.load_parameters(f"{prefix}-0001.params"),
        lambda: net.collect_params().load(f"{prefix}-0001.params"),
        lambda: mx.model.load_checkpoint(prefix, 1),
    ):
        with pytest.raises(mx.MXNetError, match="list-0001.params holds 1 arrays without names"):
            load()
