"""What `remx` says to wrong names, files and numbers: a sentence, an exit code, and nothing written."""

import os
import shutil

import pytest

from mxnet import nd
from mxnet.cli import main
from mxnet.gluon import nn

FORMATS = ".onnx, .pt2, .params, .safetensors, .npz, .pt, .pth"


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A folder with a network, damaged ones, and things of the wrong kind."""
    folder = tmp_path_factory.mktemp("saved")
    net = nn.HybridSequential(prefix="net_")
    with net.name_scope():
        net.add(nn.Conv2D(2, 3), nn.Flatten(), nn.Dense(3))
    net.initialize()
    net.hybridize()
    net(nd.ones((1, 1, 5, 5)))
    net.export(str(folder / "net"))
    (folder / "damaged-symbol.json").write_text("{ no JSON")
    (folder / "damaged-0000.params").write_bytes(b"no arrays")
    (folder / "folder" / "deep").mkdir(parents=True)
    (folder / "picture.svg").mkdir()
    (folder / "file").write_text("text")
    (folder / "notes.txt").write_text("text")
    (folder / "bytes.py").write_bytes(b"# \xff\n")
    (folder / "broken.ipynb").write_text("{no")
    (folder / "list.ipynb").write_text("[1]")
    (folder / "gone.lst").write_text("0\t0.0\tnowhere.jpg\n")
    (folder / "hosts").write_text("# none\n")
    return folder


@pytest.fixture
def place(saved, tmp_path, monkeypatch):
    """A copy of that folder, in which the commands run."""
    shutil.copytree(saved, tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setattr(shutil, "which", lambda name: None)  # pictures are drawn here, whatever is installed
    return tmp_path / "here"


def state(folder):
    """Every file and folder, with its bytes."""
    return {p: p.read_bytes() if p.is_file() else None for p in folder.rglob("*")}


def told(command, capsys):
    """(exit code, what was said) of a command."""
    try:
        code = main(command.split())
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
        print(end.code)
    out, err = capsys.readouterr()
    return code, out + err


FAULTS = [
    ("convert net net.onx", f"there is no format .onx (did you mean net.onnx?); formats are {FORMATS}"),
    ("convert net net.ONNX --shape 1,1,5,5", "did you mean net.onnx?"),
    ("convert net new/net.h5", "new/net.h5: there is no format .h5; formats are"),
    ("convert net net.json", "there is no format .json; formats are"),
    ("convert notes.txt out", "notes.txt: there is no format .txt"),
    ("convert net folder", "folder is a folder; name a file or a prefix in it, such as folder/net"),
    ("convert net new/", "new/ is a folder"),
    ("convert net file/out", "cannot write file/out: file is a file, not a folder"),
    ("convert nowhere out", "there is no file nowhere-symbol.json; prefixes there: damaged, net"),
    ("convert nowhere.params out.npz", "there is no file nowhere.params"),
    ("convert nowhere.onnx out", "No such file or directory: 'nowhere.onnx'"),
    ("convert damaged out", "damaged-symbol.json: the symbol is not valid JSON"),
    ("convert net out --epoch 7", "there is no file net-0007.params"),
    ("convert net out --epoch -1", "--epoch: -1 is too small; the least is 0"),
    ("convert net new/out.onnx --shape foo=1,2", "the network has no input foo; give --shape data=…"),
    ("convert net out.pt2 --shape 1,1,2,2", "kernel size (3, 3) exceeds input (2, 2)"),
    ("summary damaged", "damaged-symbol.json: the symbol is not valid JSON"),
    ("summary net --shape foo=1,2", "the network has no input foo"),
    ("summary net --shape 0,1,5,5", "the sizes of an input are whole numbers from 1 to"),
    ("summary net --shape 99999999999999999999,1,5,5", "the sizes of an input are whole numbers from 1 to"),
    ("explain net --shape 1,1,5,5 --epoch 7", "there is no file net-0007.params; there are epochs"),
    ("explain net --shape 1,1,5,5 --epoch -1", "--epoch: -1 is too small; the least is 0"),
    ("fetch mnist --root file", "cannot write to file: file is a file, not a folder"),
    ("fetch mnist --root file/deep", "cannot write to file/deep: file is a file, not a folder"),
    ("summary net --width 3", "3 is too small; the least is 40"),
    ("plot net -o net.svgg", "net.svgg: pictures end in .svg, .pdf"),
    ("plot net -o net", "net: pictures end in .svg, .pdf"),
    ("plot net -o picture.svg", "Is a directory"),
    ("plot net -o file/net.svg", "file is no folder; make it first"),
    ("plot net -o folder/net.svg --shape 1,1", "Input data should be 4D"),
    ("plot net -o new/deep/net.svg", "new/deep is no folder; make it first"),
    ("check folder", "there are no .py or .ipynb files below folder"),
    ("check notes.txt", "notes.txt is no .py or .ipynb file"),
    ("check bytes.py", "no program: invalid or missing encoding declaration"),
    ("check broken.ipynb list.ipynb", "2 files: 0 missing, 0 different, 2 not Python 3"),
    ("bench --calls 0", "0 is too small"),
    ("demo --epochs 0", "0 is too small"),
    ("demo --output file", "file is a file, not a folder"),
    ("im2rec all folder --list", "there are no images (.jpeg, .jpg, .png)"),
    ("im2rec all folder --list --chunks 0", "0 is too small"),
    ("im2rec all folder --list --train-ratio 0.8 --test-ratio 0.5", "more than 1 together"),
    ("im2rec gone folder --quiet", "gone.lst could be read: no records were written for it"),
    ("im2rec all nowhere --list", "nowhere is not a folder"),
    ("launch -n 0 python", "is no number of workers"),
    ("launch -n 2 --launcher ssh python", "wants a file of host names"),
    ("launch -n 2 -H hosts python", "names no host"),
    ("launch -n 1 no_such_program", "No such file or directory: 'no_such_program'"),
]


@pytest.mark.parametrize(("command", "words"), FAULTS, ids=[command for command, _ in FAULTS])
def test_faults_are_told_and_change_nothing(place, capsys, command, words):
    before = state(place)
    code, said = told(command, capsys)
    assert code in (1, 2) and words in said
    assert state(place) == before


def test_prefixes_may_have_dots(place):
    assert main(["convert", "net", "net_v1.5"]) == 0
    assert main(["convert", "net_v1.5", "net.best-symbol.json"]) == 0
    assert main(["convert", "net.best", "again.params"]) == 0
    for name in ("net_v1.5-0000.params", "net.best-symbol.json", "net.best-0000.params", "again-symbol.json"):
        assert (place / name).is_file()
    assert nd.load("again.params").keys() == nd.load("net-0000.params").keys()


def test_a_file_that_cannot_be_read_does_not_hide_the_others(place, capsys):
    (place / "other.py").write_text("# -*- coding: latin-1 -*-\nimport mxnet as mx\nmx.nd.nothing('é')\n", "latin-1")
    code, said = told("check .", capsys)
    assert code == 2
    assert "other.py:3" in said and "1 missing" in said and "3 not Python 3" in said


def test_notebooks_of_format_three_are_looked_through(place, capsys):
    cell = '{"cell_type": "code", "input": ["import mxnet as mx\\n", "mx.nd.nothing()"]}'
    (place / "old.ipynb").write_text(f'{{"worksheets": [{{"cells": [{cell}]}}]}}')
    code, said = told("check old.ipynb", capsys)
    assert code == 1 and "old.ipynb[1]:2" in said


def test_records_appear_when_they_are_whole(place, monkeypatch):
    """Whoever stops the tool half-way finds the records of the last time."""
    from mxnet import recordio

    picture = os.path.join(os.path.dirname(__file__), "..", "data", "data_layer", "picture.png")
    for name in ("a.png", "b.png"):
        shutil.copy(picture, place / "folder" / name)
    (place / "all.lst").write_text("0\t1\ta.png\n1\t1\tb.png\n")
    assert main(["im2rec", "all", "folder", "--quiet", "--pass-through"]) == 0
    before, write = state(place), recordio.MXIndexedRecordIO.write_idx

    def interrupted(self, number, content):
        if number == 1:
            raise KeyboardInterrupt
        write(self, number, content)

    monkeypatch.setattr(recordio.MXIndexedRecordIO, "write_idx", interrupted)
    with pytest.raises(KeyboardInterrupt):
        main(["im2rec", "all", "folder", "--quiet", "--pass-through"])
    assert state(place) == before
