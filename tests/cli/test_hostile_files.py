"""`remx convert` on damaged and hostile files of every kind: one sentence, exit code 1, nothing written."""

import random
import zipfile

import numpy as np
import pytest
import torch

from mxnet import nd
from mxnet.cli import convert, main
from mxnet.gluon import nn

SUFFIXES = (".onnx", ".npz", ".safetensors", ".params", ".pt", "-symbol.json")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The bytes of one network in every format."""
    folder = tmp_path_factory.mktemp("whole")
    net = nn.HybridSequential(prefix="net_")
    net.add(nn.Dense(3, in_units=4, prefix="dense_"))
    net.initialize()
    net.hybridize()
    net(nd.ones((1, 4)))
    net.export(str(folder / "net"))
    for suffix in (".onnx", ".npz", ".safetensors", ".params", ".pt"):
        assert main(["convert", str(folder / "net"), str(folder / f"net{suffix}"), "--shape", "1,4"]) == 0
    return {suffix: (folder / f"net{suffix}").read_bytes() for suffix in SUFFIXES}


def damaged(data, rng):
    """Cut, or with some bytes overwritten."""
    if rng.random() < 0.3:
        return data[: rng.randrange(len(data))]
    data = bytearray(data)
    for _ in range(rng.choice((1, 4, 40))):
        data[rng.randrange(len(data))] = rng.randrange(256)
    return bytes(data)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_no_traceback(files, suffix, tmp_path, capsys, monkeypatch):
    rng, codes = random.Random(suffix), []
    monkeypatch.chdir(tmp_path)
    for _ in range(40):
        (tmp_path / f"net{suffix}").write_bytes(damaged(files[suffix], rng))
        (tmp_path / "net-0000.params").write_bytes(files[".params"])
        source = "net" if suffix == "-symbol.json" else f"net{suffix}"
        codes.append(main(["convert", source, "out.npz"]))
        said = capsys.readouterr().err
        assert codes[-1] == 0 or said.startswith("remx convert: "), said
        if codes[-1]:
            assert not (tmp_path / "out.npz").exists()
            assert "Error: " not in said, said  # the net under the readers caught something they did not foresee
        (tmp_path / "out.npz").unlink(missing_ok=True)
    assert 1 in codes


@pytest.mark.parametrize("suffix", [s for s in SUFFIXES if s != "-symbol.json"])
@pytest.mark.parametrize("data", [b"", b"\0" * 100, b"\xff" * 100, b"text\n", b"PK\x03\x04" + bytes(40)], ids=repr)
def test_what_is_no_such_file(suffix, data, tmp_path, capsys):
    (tmp_path / f"a{suffix}").write_bytes(data)
    assert main(["convert", str(tmp_path / f"a{suffix}"), str(tmp_path / "out.params")]) == 1
    assert capsys.readouterr().err.startswith("remx convert: ")


def test_an_encrypted_archive(tmp_path, capsys):
    np.savez(tmp_path / "a.npz", a=np.ones(3))
    data = bytearray((tmp_path / "a.npz").read_bytes())
    for at, signature in ((6, b"PK\x03\x04"), (8, b"PK\x01\x02")):
        data[data.index(signature) + at] |= 1
    (tmp_path / "a.npz").write_bytes(data)
    assert main(["convert", str(tmp_path / "a.npz"), str(tmp_path / "out.params")]) == 1
    assert "a.npy is encrypted" in capsys.readouterr().err


def test_a_list_of_names_that_are_no_numbers(tmp_path, capsys):
    from safetensors.numpy import save_file

    save_file({"x": np.ones(1, np.float32)}, str(tmp_path / "a.safetensors"), {"remx": "list"})
    assert main(["convert", str(tmp_path / "a.safetensors"), str(tmp_path / "out.params")]) == 1
    assert "names are no numbers" in capsys.readouterr().err


def test_what_no_reader_foresaw_is_a_sentence(tmp_path, capsys, monkeypatch):
    def fail(path, options):
        raise ZeroDivisionError("by zero")

    monkeypatch.setitem(convert._READERS, ".npz", fail)
    assert main(["convert", str(tmp_path / "a.npz"), str(tmp_path / "out.params")]) == 1
    assert "a.npz: ZeroDivisionError: by zero" in capsys.readouterr().err


def torch_file(path, pickled):
    """A file of torch's with another pickle in it."""
    torch.save({"a": torch.ones(2)}, path)
    with zipfile.ZipFile(path) as file:
        members = {name: file.read(name) for name in file.namelist()}
    with zipfile.ZipFile(path, "w") as file:
        for name, data in members.items():
            file.writestr(name, pickled if name.endswith("data.pkl") else data)


KEY = b"}" + b")" + b"2\x86" * 60 + b"K\x01s."  # {tuples that hold each other twice, on 60 levels: 1}


def test_a_pickle_of_torch_whose_key_takes_years_to_hash(tmp_path, capsys):
    torch_file(tmp_path / "zip.pt", b"\x80\x02" + KEY)
    torch.save({"a": torch.ones(2)}, tmp_path / "old.pt", _use_new_zipfile_serialization=False)
    data = (tmp_path / "old.pt").read_bytes()
    at = data.index(b"\x80\x02}q\x00", data.index(b"type_sizes"))  # the objects come after the facts of the system
    (tmp_path / "old.pt").write_bytes(data[:at] + b"\x80\x02" + KEY + data[at:])
    for name in ("zip", "old"):
        assert main(["convert", str(tmp_path / f"{name}.pt"), str(tmp_path / "out.params")]) == 1
        assert "hold each other too many times" in capsys.readouterr().err


def test_tensors_of_torch_that_are_not_dense(tmp_path, capsys):
    sparse = torch.sparse_coo_tensor(torch.zeros((2, 1), dtype=torch.long), torch.ones(1), (10**6, 10**6))
    tensors = sparse, torch.empty(3, device="meta"), torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8)
    for tensor in tensors:
        torch.save({"a": tensor}, tmp_path / "a.pt")
        assert main(["convert", str(tmp_path / "a.pt"), str(tmp_path / "out.params")]) == 1
        said = capsys.readouterr().err
        assert said.startswith("remx convert: ") and "Error: " not in said, said


def test_tensors_of_torch_whose_names_are_no_texts(tmp_path, capsys):
    torch.save({1: torch.ones(2)}, tmp_path / "a.pt")
    assert main(["convert", str(tmp_path / "a.pt"), str(tmp_path / "out.params")]) == 1
    assert "a.pt: 1 is no name of a tensor" in capsys.readouterr().err


def test_tensors_that_repeat_one_number_take_no_memory(tmp_path, capsys):
    """A file of a kilobyte whose tensor claims 40 GB, and one with many views of the same numbers."""
    views = {"wide": torch.zeros(1).expand(10**10)}, dict.fromkeys(map(str, range(2000)), torch.zeros(1 << 15))
    for number, tensors in enumerate(views):
        path = tmp_path / f"{number}.pt"
        torch.save(tensors, path)
        for command in (
            [str(path), str(tmp_path / "out.params")],
            [str(path), "resnet18_v1", "--model", "resnet18_v1"],
        ):
            assert main(["convert", *command]) == 1
            assert "may hold" in capsys.readouterr().err
