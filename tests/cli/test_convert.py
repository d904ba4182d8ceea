"""`remx convert` between every pair of formats: what comes out, and what is refused with which words."""

import os
import pathlib

import numpy as np
import pytest
import torch

import mxnet as mx
from mxnet import nd
from mxnet.cli import main
from mxnet.cli._networks import folder_of
from mxnet.gluon import nn

FILES = pathlib.Path(__file__).parent.parent / "data" / "files"
ARRAYS = (".params", ".safetensors", ".npz", ".pt", ".pth")
TYPES = ("float32", "float64", "float16", "uint8", "int8", "int32", "int64", "bool")


def convert(source, target, *options):
    return main(["convert", str(source), str(target), *options])


def loaded(path):
    """The arrays of a file, through `.params`."""
    if path.suffix != ".params":
        assert convert(path, path.with_suffix(".back.params")) == 0
        path = path.with_suffix(".back.params")
    return nd.load(str(path))


def assert_same(one, other):
    assert set(one) == set(other)
    for name, array in one.items():
        assert array.dtype == other[name].dtype
        np.testing.assert_array_equal(array.asnumpy(), other[name].asnumpy())


@pytest.fixture(scope="module")
def arrays():
    values = {f"arg:{dtype}": nd.array([[0, 1, 2]]).astype(dtype) for dtype in TYPES}
    return {**values, "aux:moving.mean": nd.arange(4), "plain": nd.ones((1,))}


@pytest.mark.parametrize("target", ARRAYS)
@pytest.mark.parametrize("source", ARRAYS)
def test_files_of_arrays_keep_names_types_and_values(tmp_path, arrays, source, target):
    first, second, third = tmp_path / "a.params", tmp_path / f"b{source}", tmp_path / f"c{target}"
    nd.save(str(first), arrays)
    assert convert(first, second) == 0
    assert convert(second, third) == 0
    assert_same(arrays, loaded(third))


@pytest.mark.parametrize("name", ["legacy_dict", "v1_dict", "dict", "checkpoint-0001"])
@pytest.mark.parametrize("target", ARRAYS)
def test_files_of_every_age(tmp_path, name, target):
    """What MXNet wrote before version 1, in version 1 and later; also into today's `.params`."""
    source = FILES / f"{name}.params"
    assert convert(source, tmp_path / f"a{target}") == 0
    assert_same(nd.load(str(source)), loaded(tmp_path / f"a{target}"))


@pytest.mark.parametrize("target", [t for t in ARRAYS if t != ".params"])
def test_sparse_arrays_become_dense_and_that_is_told(tmp_path, capsys, target):
    rows = nd.array([[0, 0], [1, 2], [0, 0]])
    nd.save(str(tmp_path / "a.params"), {"w": rows.tostype("row_sparse"), "c": rows.tostype("csr")})
    assert convert(tmp_path / "a.params", tmp_path / f"b{target}") == 0
    assert "w, c: sparse, written dense" in capsys.readouterr().out
    assert_same({"w": rows, "c": rows}, loaded(tmp_path / f"b{target}"))
    assert convert(tmp_path / "a.params", tmp_path / "c.params") == 0
    assert nd.load(str(tmp_path / "c.params"))["w"].stype == "row_sparse"


def test_half_precision_for_which_numpy_has_no_type(tmp_path, capsys):
    nd.save(str(tmp_path / "a.params"), {"w": nd.ones((2,)).astype("bfloat16")})
    for target in (".safetensors", ".pt"):
        assert convert(tmp_path / "a.params", tmp_path / f"a{target}") == 0
        assert loaded(tmp_path / f"a{target}")["w"].dtype == nd.ones(1).astype("bfloat16").dtype
    assert convert(tmp_path / "a.params", tmp_path / "a.npz") == 1
    assert "bfloat16, as there is in w: choose .safetensors or .pt" in capsys.readouterr().err
    assert not (tmp_path / "a.npz").exists()


def test_files_of_other_programs(tmp_path, capsys):
    np.savez(tmp_path / "big.npz", w=np.arange(3, dtype=">f4"), scalar=np.float64(2))
    assert convert(tmp_path / "big.npz", tmp_path / "a.params") == 0
    assert nd.load(str(tmp_path / "a.params"))["w"].asnumpy().tolist() == [0, 1, 2]
    module = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3))
    torch.save({"state_dict": module.state_dict(), "epoch": 3}, tmp_path / "model.pth")
    assert convert(tmp_path / "model.pth", tmp_path / "b.safetensors") == 0
    assert set(nd.load(str(tmp_path / "b.safetensors"))) == set(module.state_dict())
    for wrong, words in (
        ({"a": torch.zeros(2, dtype=torch.complex64)}, "no such arrays: a (torch.complex64)"),
        (module, "save module.state_dict()"),
        ([torch.zeros(2)], "not a dict of names and tensors"),
    ):
        torch.save(wrong, tmp_path / "model.pt")
        assert convert(tmp_path / "model.pt", tmp_path / "c.params") == 1
        assert words in capsys.readouterr().err
    np.savez(tmp_path / "odd.npz", a=np.zeros(2, dtype=complex))
    assert convert(tmp_path / "odd.npz", tmp_path / "c.params") == 1
    assert "MXNet has no arrays of complex128" in capsys.readouterr().err
    for name in ("bad.npz", "bad.pt", "bad.params", "bad.safetensors", "bad.onnx"):
        (tmp_path / name).write_bytes(b"these are no arrays")
        assert convert(tmp_path / name, tmp_path / "c.params") == 1
        assert name in capsys.readouterr().err
    assert not (tmp_path / "c.params").exists()


@pytest.fixture
def prefix(tmp_path):
    net = nn.HybridSequential(prefix="net_")
    with net.name_scope():
        net.add(nn.Conv2D(2, 3), nn.BatchNorm(), nn.Flatten(), nn.Dense(3))
    net.initialize(mx.init.Normal(0.5))
    net.hybridize()
    net(nd.ones((1, 1, 5, 5)))
    net.export(str(tmp_path / "net"))
    return tmp_path / "net"


def output(prefix, x):
    sym, args, auxs = mx.model.load_checkpoint(str(prefix), 0)
    (name,) = [n for n in sym.list_inputs() if n not in args and n not in auxs]
    args = {n: v for n, v in args.items() if n in sym.list_arguments()}
    return sym.bind(mx.cpu(), {**args, name: x}, aux_states=auxs).forward()[0].asnumpy()


@pytest.mark.parametrize("middle", [*ARRAYS, ".onnx", ""])
def test_networks_through_every_format(tmp_path, prefix, middle):
    between, back, x = (
        tmp_path / "out" / f"between{middle}",
        tmp_path / "out" / "back",
        nd.random.normal(shape=(1, 1, 5, 5)),
    )
    assert convert(prefix, between, "--shape", "1,1,5,5") == 0
    assert convert(between, back) == 0
    np.testing.assert_allclose(output(back, x), output(prefix, x), rtol=1e-4, atol=1e-5)
    assert nd.load(f"{back}-0000.params").keys() >= nd.load(f"{prefix}-0000.params").keys()


def test_torch_programs_are_written_only(tmp_path, prefix, capsys):
    path, x = tmp_path / "net.pt2", nd.random.normal(shape=(2, 1, 5, 5))
    assert convert(prefix, path) == 1
    assert "--shape data=" in capsys.readouterr().err
    assert convert(prefix, path, "--shape", "1,1,5,5") == 0
    got = torch.export.load(path).module()(x.as_torch())
    np.testing.assert_allclose(got.detach().numpy(), output(prefix, x), rtol=1e-4, atol=1e-5)
    assert convert(path, tmp_path / "a.params") == 1
    assert "can be written, not read" in capsys.readouterr().err


@pytest.mark.parametrize("target", ["out/net", "out/net.safetensors", "out/net.onnx", "out/net.pt", "out/net.npz"])
def test_a_disk_that_fails_leaves_nothing(tmp_path, prefix, monkeypatch, capsys, target):
    """Whichever of the files it is: neither half of them nor a temporary one is left."""
    before, sync, calls = sorted(os.listdir(tmp_path)), os.fsync, []

    def full(handle):
        calls.append(handle)
        if len(calls) == (1 if target.endswith(".onnx") else 2):
            raise OSError(28, "No space left on device")
        sync(handle)

    monkeypatch.setattr(os, "fsync", full)
    assert convert(prefix, tmp_path / target, "--shape", "1,1,5,5") == 1
    assert "No space left" in capsys.readouterr().err
    assert sorted(os.listdir(tmp_path)) == before


def test_graphs_are_needed(tmp_path, capsys):
    nd.save(str(tmp_path / "lone.params"), {"arg:w": nd.ones((2,))})
    for target in ("out", "out.onnx", "out.pt2"):
        assert convert(tmp_path / "lone.params", tmp_path / target, "--shape", "1,2") == 1
        assert "lone-symbol.json is not there" in capsys.readouterr().err
    nd.save(str(tmp_path / "list.params"), [nd.ones((2,))])
    assert convert(tmp_path / "list.params", tmp_path / "a.npz") == 1
    assert "1 arrays without names" in capsys.readouterr().err


def test_what_went_wrong_is_told_though_a_file_was_written_already(tmp_path):
    with pytest.raises(ZeroDivisionError), folder_of(tmp_path / "new" / "net.onnx"):
        (tmp_path / "new" / "net.data").write_bytes(b"")
        1 / 0
    with pytest.raises(ZeroDivisionError), folder_of(tmp_path / "another" / "net.onnx"):
        1 / 0
    assert not (tmp_path / "another").exists()
