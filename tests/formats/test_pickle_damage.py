"""Pickles are walked over before they are read: what they claim, and how often values hold each other."""

import pickle
import struct
import tracemalloc

import numpy as np
import pytest

import mxnet as mx
from mxnet._formats import cifar_pickles, state_pickles
from mxnet._formats.pickle_damage import damage, torch_damage


def twice_each(levels):
    """Tuples that hold each other twice: a few bytes a level, and a hash that takes twice as long with each."""
    steps = [b"h" + bytes([i]) + b"\x86q" + bytes([i + 1]) for i in range(levels)]
    return b")q\0" + b"".join(steps)


KEY = b"\x80\x02}" + twice_each(60) + b"K\x01s."
WRONG = {
    "a key that takes years to hash": (KEY, "hold each other too many times"),
    "such keys one after the other": (b"\x80\x02" + b"0".join(
        b"}" + (twice_each(15) if n == 0 else b"h\x0f") + b"K\x01s" for n in range(100)) + b".", "too many times"),
    "the same by copies of the top": (b"\x80\x02})" + b"2\x86" * 60 + b"K\x01s.", "too many times"),
    "a million levels": (b"\x80\x02)" + b"\x85" * 1_000_000 + b".", "on more than 1000 levels"),
    "a memo of 2^31": (b"\x80\x02]r\xff\xff\xff\x7f.", "it has a memo 2147483647 after 2 steps"),
    "a value that was never noted": (b"\x80\x02h\x05.", "it is damaged"),
    "a stack that is empty": (b"\x80\x02\x86.", "it is damaged"),
    "bytes that are not there": (b"\x80\x05\x96" + struct.pack("<Q", 1 << 62) + b"ab.", "it is damaged"),
    "a reference to the outside": (b"\x80\x02K\x01Q.", "it has BINPERSID"),
}  # fmt: skip


@pytest.mark.parametrize("data, words", WRONG.values(), ids=WRONG)
def test_what_is_wrong(data, words, tmp_path):
    assert words in damage(data)
    with pytest.raises(mx.MXNetError, match="no optimizer states"):
        mx.optimizer.get_updater(mx.optimizer.create("sgd")).set_states(data)
    (tmp_path / "batch").write_bytes(data)
    with pytest.raises(mx.MXNetError, match="no batch of images"):
        cifar_pickles.as_binary(tmp_path / "batch", ("labels",))


class Named:
    """Has attributes, and a class that is looked up."""

    def __init__(self):
        self.values, self.again = {1: (2, 3), "x": [4.0, None, True]}, self


@pytest.mark.parametrize("protocol", range(6))
def test_what_pickle_writes_is_fine(protocol):
    shared = ["text", (1, 2), {"a": b"bytes", 3: {4, 5}}, frozenset([6]), bytearray(b"ab")]
    for value in (1, None, "x" * 300, 2**100, shared, [shared] * 1000, Named(), np.arange(5), np.float32(2), {}):
        assert damage(pickle.dumps(value, protocol)) is None


def test_references_to_the_outside_are_admitted_where_asked_for():
    assert damage(b"\x80\x02K\x01Q.", persistent=True) is None


def test_the_reader_of_states_uses_it(monkeypatch):
    monkeypatch.setattr(state_pickles.pickle_damage, "damage", lambda data: "something is wrong")
    with pytest.raises(mx.MXNetError, match="something is wrong"):
        state_pickles.read(pickle.dumps({}), lambda blob: blob, lambda *told: told)


def test_a_length_in_an_old_file_of_torchs_takes_no_memory(tmp_path):
    """492 bytes took two gigabytes: a file gives a buffer of the size that is asked for."""
    path = tmp_path / "a.pt"
    path.write_bytes(pickle.dumps(119547037146038801333356, 2) + pickle.dumps(1001, 2) + b"\x80\x02X" + b"\0\0\0\x7fab")
    tracemalloc.start()
    try:
        assert "expected 2130706432 bytes" in torch_damage(path)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()
    path.write_bytes(b"")
    assert torch_damage(path) == "it is empty"
