"""Data sets, weights and embeddings from whichever host still has them: order, judges, converters, failures."""

import gzip
import hashlib
import io
import os
import pickle
import struct
import sys
import tarfile
import zipfile

import numpy as np
import published_hosts
import pytest
import torch
from published_hosts import BUSY, NOT_FOUND, SILENT, TRUNCATED, redirect

import mxnet as mx
from mxnet import cli
from mxnet._formats import cifar_pickles, mirrors
from mxnet.contrib.text import embedding
from mxnet.gluon.data import vision
from mxnet.gluon.data.vision import _files
from mxnet.gluon.model_zoo import model_store
from mxnet.gluon.model_zoo import vision as zoo

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "gluon"))

IMAGES = (np.arange(20 * 784) % 251).astype(np.uint8).reshape(20, 28, 28)
LABELS = np.arange(20, dtype=np.uint8) % 10
DEFAULT = mirrors.DEFAULT_REPOSITORY


@pytest.fixture
def hosts(monkeypatch):
    with published_hosts.playing(monkeypatch) as playing:
        yield playing


def packed(content, level=9):
    return gzip.compress(content, level, mtime=0)


def sha1(content):
    return hashlib.sha1(content).hexdigest()


def idx(array):
    return struct.pack(f">{1 + array.ndim}I", 0x800 + array.ndim, *array.shape) + array.tobytes()


CONTENTS = {
    "train-images-idx3-ubyte.gz": idx(IMAGES),
    "train-labels-idx1-ubyte.gz": idx(LABELS),
    "t10k-images-idx3-ubyte.gz": idx(IMAGES[:5]),
    "t10k-labels-idx1-ubyte.gz": idx(LABELS[:5]),
}


@pytest.fixture
def digits(monkeypatch):
    """MNIST with small files, and the hashes of these."""
    names = ("_train_data", "_train_label", "_test_data", "_test_label")
    for attribute, (name, content) in zip(names, CONTENTS.items(), strict=True):
        monkeypatch.setattr(vision.MNIST, attribute, (name, sha1(packed(content))))
        monkeypatch.setitem(_files._CONTENT, f"mnist/{name}", hashlib.sha256(content).hexdigest())


def test_first_host_with_the_right_file(hosts, digits, tmp_path, capsys):
    for name, content in CONTENTS.items():
        hosts.put(f"https://storage.googleapis.com/cvdf-datasets/mnist/{name}", packed(content))
    data = vision.MNIST(root=str(tmp_path))
    np.testing.assert_array_equal(data._data.asnumpy()[..., 0], IMAGES)
    np.testing.assert_array_equal(data._label, LABELS)
    assert sorted(os.listdir(tmp_path)) == sorted(list(CONTENTS)[:2])
    assert capsys.readouterr().err.splitlines()[:5] == [
        "train-images-idx3-ubyte.gz: apache-mxnet.s3-accelerate.dualstack.amazonaws.com: 404 Not Found",
        "train-images-idx3-ubyte.gz: apache-mxnet.s3.amazonaws.com: 404 Not Found",
        "train-images-idx3-ubyte.gz: repo.mxnet.io: 404 Not Found",
        "train-images-idx3-ubyte.gz: ossci-datasets.s3.amazonaws.com: 404 Not Found",
        "train-images-idx3-ubyte.gz: fetched from storage.googleapis.com",
    ]
    count = len(hosts.asked)
    vision.MNIST(root=str(tmp_path))
    assert len(hosts.asked) == count  # it is here


@pytest.mark.parametrize(
    "answer,reason,times",
    [
        (NOT_FOUND, "404 Not Found", 1),
        (BUSY, "503 Service Unavailable", 2),
        (TRUNCATED, "it broke off", 2),
        (SILENT, "it stopped sending", 2),
        (b"a page that says sorry", "another content: its SHA-1 is ", 1),
        (packed(idx(IMAGES[::-1])), "another content: its SHA-1 is ", 1),
        (redirect("https://elsewhere/nothing"), "404 Not Found", 1),
    ],
)
def test_hosts_that_fail(hosts, digits, tmp_path, capsys, answer, reason, times):
    name = "train-images-idx3-ubyte.gz"
    first, good = f"{DEFAULT}gluon/dataset/mnist/{name}", f"https://ossci-datasets.s3.amazonaws.com/mnist/{name}"
    hosts.put(first, answer)
    hosts.put(good, packed(CONTENTS[name]))
    path = _files.obtain(str(tmp_path), "mnist", *vision.MNIST._train_data)
    assert open(path, "rb").read() == packed(CONTENTS[name]) and os.listdir(tmp_path) == [name]
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == times + 3 and all(reason in line for line in lines[:times])
    assert hosts.asked.count(first) == times


def test_a_host_that_recovers_and_one_that_sends_elsewhere(hosts, digits, tmp_path):
    name = "train-labels-idx1-ubyte.gz"
    hosts.put(f"{DEFAULT}gluon/dataset/mnist/{name}", [TRUNCATED, redirect("https://new.home/labels")])
    hosts.put("https://new.home/labels", packed(CONTENTS[name]))
    _files.obtain(str(tmp_path), "mnist", *vision.MNIST._train_label)
    assert len(hosts.asked) == 3


def test_the_same_array_in_another_packing(hosts, digits, tmp_path):
    """Debian and others pack the files anew: what counts is the array."""
    name, content = "train-labels-idx1-ubyte.gz", CONTENTS["train-labels-idx1-ubyte.gz"]
    hosts.put(f"https://repo.mxnet.io/gluon/dataset/mnist/{name}", packed(content, 1) + packed(b""))
    path = _files.obtain(str(tmp_path), "mnist", *vision.MNIST._train_label)
    assert sha1(open(path, "rb").read()) != vision.MNIST._train_label[1]
    assert gzip.open(path).read() == content
    _files.obtain(str(tmp_path), "mnist", *vision.MNIST._train_label)
    assert len(hosts.asked) == 3


def test_mnist_from_kerass_archive(hosts, digits, tmp_path):
    file = io.BytesIO()
    np.savez(file, x_train=IMAGES, y_train=LABELS, x_test=IMAGES[:5], y_test=LABELS[:5])
    hosts.put("https://storage.googleapis.com/tensorflow/tf-keras-datasets/mnist.npz", file.getvalue())
    for train, count in ((True, 20), (False, 5)):
        data = vision.MNIST(root=str(tmp_path), train=train)
        np.testing.assert_array_equal(data._data.asnumpy()[..., 0], IMAGES[:count])
        np.testing.assert_array_equal(data._label, LABELS[:count])
    assert sorted(os.listdir(tmp_path)) == sorted(CONTENTS)


def test_one_sentence_when_nobody_has_it(hosts, digits, tmp_path):
    with pytest.raises(mx.MXNetError) as caught:
        vision.MNIST(root=str(tmp_path))
    text = str(caught.value)
    for words in ("train-images-idx3-ubyte.gz could not be fetched from https://", "and 5 other addresses",
                  f"into {tmp_path}", vision.MNIST._train_data[1], "MXNET_GLUON_REPO", "(404 Not Found)"):  # fmt: skip
        assert words in text
    assert text.count("404") == 1 and os.listdir(tmp_path) == []


def test_own_mirrors_are_the_only_ones(hosts, digits, tmp_path, monkeypatch):
    monkeypatch.setenv("MXNET_GLUON_REPO", "https://intranet.example/mx")
    with pytest.raises(mx.MXNetError):
        vision.MNIST(root=str(tmp_path))
    assert {url.split("/")[2] for url in hosts.asked} == {"intranet.example"}


# -- CIFAR ---------------------------------------------------------------------------------------------------------


def tar(members):
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(f"folder/{name}")
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return file.getvalue()


ROWS = np.random.RandomState(0).randint(0, 256, (6, 3074)).astype(np.uint8)
ROWS[:, :2] %= 20


def pickled(rows):
    """As the data set's authors wrote them: protocol 2, keys of bytes."""
    values = {b"data": rows[:, 2:], b"coarse_labels": rows[:, 0].tolist(), b"fine_labels": rows[:, 1].tolist()}
    return pickle.dumps(values, protocol=2)


def obtain_cifar(tmp_path, contents):
    members = {name: sha1(content) for name, content in contents.items()}
    _files.obtain_members(str(tmp_path), "cifar100", "cifar-100-binary.tar.gz", "0" * 40, members)


CIFAR = {"train.bin": ROWS.tobytes(), "test.bin": ROWS[:2].tobytes()}


@pytest.mark.parametrize("host", [f"{DEFAULT}gluon/dataset/cifar100/", "https://www.cs.toronto.edu/~kriz/"])
def test_cifar_by_the_hashes_of_its_members(hosts, tmp_path, host):
    hosts.put(f"{host}cifar-100-binary.tar.gz", tar(CIFAR))
    obtain_cifar(tmp_path, CIFAR)
    assert {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)} == CIFAR


def test_cifar_from_the_python_version(hosts, tmp_path):
    hosts.put("https://www.cs.toronto.edu/~kriz/cifar-100-binary.tar.gz", tar({"train.bin": b"other"}))
    hosts.put(
        "https://www.cs.toronto.edu/~kriz/cifar-100-python.tar.gz",
        tar({"meta": b"", "train": pickled(ROWS), "test": pickled(ROWS[:2])}),
    )
    obtain_cifar(tmp_path, CIFAR)
    assert {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)} == CIFAR


def test_cifar_pickles_with_other_images_or_code(hosts, tmp_path, capsys):
    url = "https://www.cs.toronto.edu/~kriz/cifar-100-python.tar.gz"
    hosts.put(url, tar({"train": pickled(ROWS[::-1]), "test": pickled(ROWS[:2])}))
    with pytest.raises(mx.MXNetError, match="another content: train.bin made from it"):
        obtain_cifar(tmp_path, CIFAR)
    evil = tmp_path / "evil"
    evil.write_bytes(b"cos\nsystem\n(S'true'\ntR.")
    with pytest.raises(mx.MXNetError, match="it mentions os.system"):
        cifar_pickles.as_binary(evil, ("labels",))
    evil.write_bytes(pickled(ROWS)[:-40])
    with pytest.raises(mx.MXNetError, match="it is no batch of images"):
        cifar_pickles.as_binary(evil, ("labels",))


# -- embeddings ----------------------------------------------------------------------------------------------------


def zipped(members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


VECTORS = b"hello 1 2 3\nworld 4 5 6\n"


def test_glove_from_stanford(hosts, tmp_path, monkeypatch):
    monkeypatch.setitem(embedding.GloVe.pretrained_file_name_sha1, "glove.6B.50d.txt", sha1(VECTORS))
    hosts.put("https://nlp.stanford.edu/data/glove.6B.zip", redirect("https://downloads.cs.stanford.edu/x.zip"))
    hosts.put("https://downloads.cs.stanford.edu/x.zip", zipped({"glove.6B.50d.txt": VECTORS, "other.txt": b""}))
    made = mx.contrib.text.embedding.create(
        "glove", pretrained_file_name="glove.6B.50d.txt", embedding_root=str(tmp_path)
    )
    np.testing.assert_array_equal(made.get_vecs_by_tokens("world").asnumpy(), [4, 5, 6])
    assert os.listdir(tmp_path / "glove") == ["glove.6B.50d.txt"]


@pytest.mark.parametrize(
    "name,url,content",
    [
        ("wiki.simple.vec", "vectors-wiki/wiki.simple.vec", VECTORS),
        ("crawl-300d-2M.vec", "vectors-english/crawl-300d-2M.vec.zip", zipped({"crawl-300d-2M.vec": VECTORS})),
    ],
)
def test_fasttext_from_its_own_host(hosts, tmp_path, monkeypatch, name, url, content):
    monkeypatch.setitem(embedding.FastText.pretrained_file_name_sha1, name, sha1(VECTORS))
    hosts.put(f"https://dl.fbaipublicfiles.com/fasttext/{url}", content)
    made = embedding.FastText(name, embedding_root=str(tmp_path))
    np.testing.assert_array_equal(made.get_vecs_by_tokens("hello").asnumpy(), [1, 2, 3])
    assert os.listdir(tmp_path / "fasttext") == [name]


# -- weights of the zoo --------------------------------------------------------------------------------------------


@pytest.fixture
def weights(monkeypatch, tmp_path):
    """SqueezeNet's weights as MXNet's repository has them: (zip, parameters)."""
    net = zoo.squeezenet1_1()
    net.initialize(mx.init.Xavier())
    net(mx.nd.zeros((1, 3, 224, 224)))
    net.save_parameters(str(tmp_path / "w.params"))
    content = (tmp_path / "w.params").read_bytes()
    monkeypatch.setitem(model_store._SHA1, "squeezenet1.1", sha1(content))
    stem = f"squeezenet1.1-{sha1(content)[:8]}"
    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "no"))
    return net, f"gluon/models/{stem}.zip", zipped({f"{stem}.params": content})


def scores(net):
    return net(mx.nd.ones((1, 3, 224, 224))).asnumpy()


def test_mxnets_own_weights_from_a_mirror(hosts, weights, tmp_path, recwarn):
    net, file, archive = weights
    hosts.put(f"{DEFAULT}{file}", zipped({"something": b"else"}))
    hosts.put(f"https://repo.mxnet.io/{file}", archive)
    found = zoo.squeezenet1_1(pretrained=True, root=str(tmp_path / "models"))
    np.testing.assert_array_equal(scores(found), scores(net))
    assert len(os.listdir(tmp_path / "models")) == 1
    assert not [warning for warning in recwarn if "torchvision" in str(warning.message)]


def torch_squeezenet(folder):
    from torch_networks import NETWORKS, trained

    source = trained(NETWORKS["squeezenet1.1", "torchvision"])
    file = io.BytesIO()
    torch.save(source.state_dict(), file)
    return source, file.getvalue()


def test_torchvisions_weights_in_their_place(hosts, weights, tmp_path, monkeypatch):
    from mxnet.gluon.model_zoo._torch_weights import published

    source, content = torch_squeezenet(tmp_path)
    name = f"squeezenet1_1-{hashlib.sha256(content).hexdigest()[:8]}.pth"
    entry = published.Substitute("squeezenet1.1", f"https://download.pytorch.org/models/{name}")
    monkeypatch.setattr(published, "SUBSTITUTES", [entry])
    hosts.put(entry.url, b"a page")
    with pytest.raises(
        mx.MXNetError, match="squeezenet1.1-.* could not be fetched .*its SHA-256 is .*not what its name"
    ):
        zoo.squeezenet1_1(pretrained=True, root=str(tmp_path / "models"))
    hosts.put(entry.url, content)
    for _ in range(2):  # then it is here
        with pytest.warns(UserWarning, match="MXNet's weights of squeezenet1.1 could not .* these are torchvision's"):
            found = zoo.squeezenet1_1(pretrained=True, root=str(tmp_path / "models"))
    assert hosts.asked.count(entry.url) == 2
    wanted = source(torch.ones(1, 3, 224, 224)).detach().numpy()
    np.testing.assert_allclose(scores(found), wanted, rtol=0, atol=1e-4 * np.abs(wanted).max())


# -- remx fetch ----------------------------------------------------------------------------------------------------


def test_remx_fetch(hosts, digits, weights, tmp_path, capsys):
    for name, content in CONTENTS.items():
        hosts.put(f"https://ossci-datasets.s3.amazonaws.com/mnist/{name}", packed(content))
    hosts.put(f"{DEFAULT}{weights[1]}", weights[2])
    assert cli.main(["fetch", "mnist", "squeezenet1.1", "--root", str(tmp_path / "here")]) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"mnist: the published arrays, in {tmp_path / 'here'}",
        f"squeezenet1.1: MXNet's own weights, in {tmp_path / 'here'}",
    ]
    assert cli.main(["fetch", "cifar10", "resnet51_v1", "--root", str(tmp_path / "here")]) == 1
    error = capsys.readouterr().err.splitlines()[-1]
    assert "cifar10: cifar-10-binary.tar.gz could not be fetched" in error and "did you mean resnet" in error
    assert cli.main(["fetch", "--list"]) == 0
    names = capsys.readouterr().out.split()
    assert {"mnist", "cifar100", "wikitext-2", "resnet50_v1", "glove.6B.50d.txt", "wiki.simple.vec"} <= set(names)


@pytest.mark.parametrize("name", ["mnist", "MNIST", "Fashion_MNIST", "fashion-mnist", "FashionMNIST", "CIFAR-10"])
def test_data_sets_by_any_spelling(hosts, name, tmp_path, capsys):
    assert cli.main(["fetch", name, "--root", str(tmp_path)]) == 1  # nobody has it, but the name is known
    assert "could not be fetched" in capsys.readouterr().err.splitlines()[-1]
