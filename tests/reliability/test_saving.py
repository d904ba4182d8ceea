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


def test_a_checkpoint_whose_files_were_removed_is_not_the_latest(saved):
    symbol, arguments, auxiliary = mx.model.load_checkpoint(saved, 3)
    mx.model.save_checkpoint(saved, 4, symbol, arguments, auxiliary)
    assert mx.model.latest_checkpoint(saved) == 4
    os.remove(f"{saved}-0004.params")
    assert mx.model.latest_checkpoint(saved) == 3


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


def test_a_set_whose_renames_did_not_happen_is_finished_by_its_reader(saved, monkeypatch):
    """Killed right after the manifest: the new set is valid, under temporary names."""
    from mxnet._formats import atomic

    def die(self):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        real = atomic.Waiting.place
        patched.setattr(atomic.Waiting, "place", lambda w: real(w) if "manifest" in w.name else die(w))
        mx.model.save_checkpoint(saved, 3, mx.sym.var("other"), {"w": mx.nd.ones(2)}, {})
    assert mx.nd.load(f"{saved}-0003.params")["arg:f_weight"].shape == (100, 200)
    symbol, arguments, _ = mx.model.load_checkpoint(saved, 3)
    assert symbol.name == "other" and list(arguments) == ["w"]
    assert not kills.litter(os.path.dirname(saved))


def test_a_failure_inside_a_set_changes_nothing(saved):
    before = {name: os.stat(os.path.join(os.path.dirname(saved), name)) for name in os.listdir(os.path.dirname(saved))}
    with pytest.raises(AttributeError):
        mx.model.save_checkpoint(saved, 3, mx.sym.var("other"), {"w": 3}, {})
    assert before == {
        name: os.stat(os.path.join(os.path.dirname(saved), name)) for name in os.listdir(os.path.dirname(saved))
    }


def test_real_mxnets_files_are_not_touched_by_the_manifest(tmp_path):
    """The bytes under MXNet's names are those that `nd.save` and `Symbol.save` write alone."""
    prefix = str(tmp_path / "net")
    symbol, weight = mx.sym.var("x"), mx.nd.ones(3)
    mx.model.save_checkpoint(prefix, 0, symbol, {"w": weight}, {})
    symbol.save(prefix + "-alone.json")
    mx.nd.save(prefix + "-alone.params", {"arg:w": weight})
    for saved, alone in (("-symbol.json", "-alone.json"), ("-0000.params", "-alone.params")):
        with open(prefix + saved, "rb") as one, open(prefix + alone, "rb") as other:
            assert one.read() == other.read()


def test_buckets_are_one_set(tmp_path):
    def symbol_of(length):
        out = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="f", flatten=False)
        return mx.sym.MakeLoss(out), ("data",), ()

    module = mx.mod.BucketingModule(symbol_of, default_bucket_key=4)
    module.bind([("data", (1, 4, 3))])
    module.init_params()
    module.save_checkpoint(str(tmp_path / "b"), 1)
    with open(tmp_path / "b-0001.manifest.json") as file:
        assert set(json.load(file)["files"]) == {"b-0001.params", "b-4-symbol.json", "b.buckets"}
    again = mx.mod.BucketingModule.load(str(tmp_path / "b"), 1, symbol_of, default_bucket_key=4)
    assert (again.get_params()[0]["f_weight"] == module.get_params()[0]["f_weight"]).min()
