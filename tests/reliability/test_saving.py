"""Saving survives kills, full disks and read-only folders; checkpoints of several files have a manifest."""

import json
import os

import pytest

import mxnet as mx

from . import kills

QUICK = ("save_checkpoint, same epoch", "Run.save")  # the others take `python tools/faults.py kills`


@pytest.mark.parametrize("name", QUICK)
def test_killed_while_saving(name, tmp_path):
    _, _, broken = kills.kill_while_saving(name, tmp_path, times=4)
    assert not broken


@pytest.mark.parametrize("fault", kills.FAULTS)
@pytest.mark.parametrize("name", [name for name in kills.SAVERS if name != "onnx"])
def test_a_failing_disk_leaves_the_old_set(name, fault, tmp_path):
    assert kills.save_with_fault(name, fault, tmp_path) is None


@pytest.mark.parametrize("fault", kills.MOUNTED)
@pytest.mark.parametrize("name", ["nd.save", "idx", "Run.save"])
def test_a_real_file_system_that_fails(name, fault, tmp_path):
    wrong = kills.save_on_mount(name, fault, tmp_path)
    if wrong is NotImplemented:
        pytest.skip("mounting needs root")
    assert wrong is None


@pytest.fixture
def saved(tmp_path):
    prefix = str(tmp_path / "net")
    kills.Checkpoint(str(tmp_path)).save(3)
    return prefix


def test_the_manifest_lists_sizes_and_hashes(saved):
    with open(f"{saved}-0003.manifest.json") as file:
        files = json.load(file)["files"]
    assert set(files) == {"net-symbol.json", "net-0003.params"}
    assert files["net-0003.params"]["size"] == os.path.getsize(f"{saved}-0003.params")
    assert len(files["net-0003.params"]["sha256"]) == 64
    assert mx.model.latest_checkpoint(saved) == 3


def test_silent_damage_is_found(saved):
    path = f"{saved}-0003.params"
    times = os.stat(path)
    with open(path, "r+b") as file:
        file.seek(500)
        file.write(b"\xff")
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    with pytest.raises(mx.MXNetError, match="SHA-256"):
        mx.model.load_checkpoint(saved, 3)


def test_a_checkpoint_without_manifest_is_read(saved):
    os.remove(f"{saved}-0003.manifest.json")
    assert mx.model.load_checkpoint(saved, 3)[1]["f_weight"].shape == (100, 200)
    assert mx.model.latest_checkpoint(saved) is None


def test_a_file_written_again_is_told_and_read(saved):
    mx.nd.save(f"{saved}-0003.params", {"arg:w": mx.nd.ones(2)})
    os.utime(f"{saved}-0003.manifest.json", (0, 0))
    with pytest.warns(UserWarning, match="replaced since"):
        assert list(mx.model.load_checkpoint(saved, 3)[1]) == ["w"]


def test_a_broken_manifest(saved):
    with open(f"{saved}-0003.manifest.json", "w") as file:
        file.write('{"files": {"../x": {}}}')
    with pytest.raises(mx.MXNetError, match="no manifest"):
        mx.model.load_checkpoint(saved, 3)
