"""`remx convert torchvision:FILE`: a state dict becomes a network of the model zoo."""

import os
import sys

import numpy as np
import pytest
import torch

import mxnet as mx
from mxnet import cli

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "gluon"))
from torch_networks import NETWORKS, trained


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    net, path = trained(NETWORKS["squeezenet1.1", "torchvision"]), tmp_path_factory.mktemp("torch") / "weights.pth"
    torch.save(net.state_dict(), path)
    return net, path


def test_two_files_of_mxnet(source, tmp_path, capsys):
    net, path = source
    assert cli.main(["convert", f"torchvision:{path}", str(tmp_path / "squeezenet1.1")]) == 0
    assert "52 arrays; wrote" in capsys.readouterr().out
    prefix = str(tmp_path / "squeezenet1.1")
    found = mx.gluon.SymbolBlock.imports(f"{prefix}-symbol.json", ["data"], f"{prefix}-0000.params")
    x = np.random.RandomState(0).uniform(-2, 2, (1, 3, 224, 224)).astype("float32")
    wanted = net(torch.tensor(x)).detach().numpy()
    np.testing.assert_allclose(found(mx.nd.array(x)).asnumpy(), wanted, rtol=0, atol=1e-4 * np.abs(wanted).max())


def test_what_is_missing_is_told(source, tmp_path, capsys):
    _, path = source
    for arguments, words in [
        ([f"torchvision:{path}", str(tmp_path / "mine")], "give --model, one of resnet18_v1"),
        (
            [f"torchvision:{path}", str(tmp_path / "mine"), "--model", "resnet18_v1"],
            "the weights are not of resnet18",
        ),
        (["torchvision:resnet51", str(tmp_path / "mine")], "torchvision has no network resnet51"),
        (["timm:none.pth", str(tmp_path / "resnet18_v1")], "there is no file none.pth"),
    ]:
        assert cli.main(["convert", *arguments]) == 1
        assert words in capsys.readouterr().err
    assert not os.listdir(tmp_path)
