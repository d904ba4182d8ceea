"""The ports of a job: members get in, strangers do not, and what was altered, repeated or invented is noticed."""

import contextlib
import os
import socket
import struct
import threading
import time

import numpy as np
import pytest

import mxnet as mx
from mxnet._wire import addresses, handshake, pulse, secret, server
from mxnet._wire.channel import BODY_LIMIT, HEADER_LIMIT, PREFIX, TAG, Channel, ChannelError
from mxnet.kvstore import arrays, rendezvous, shard

SECRET = secret.make()
HERE = ("127.0.0.1", 0)


def echo(rank, channel):
    with contextlib.suppress(ChannelError):
        while True:
            header, buffers = channel.receive(wait=True)
            channel.send({**header, "rank": rank}, buffers)


@pytest.fixture
def port():
    made = server.Server(HERE, SECRET, "echo", range(1, 4), echo, 10)
    yield made
    made.close()


def join(port, rank=1, key=SECRET, service="echo", patience=10):
    return handshake.connect(port.address, key, service, rank, patience)


def works(channel, text="hello"):
    channel.send({"text": text}, [b"abc", np.arange(3.0)])
    header, (first, second) = channel.receive()
    assert header["text"] == text and bytes(first) == b"abc" and np.frombuffer(second).tolist() == [0, 1, 2]
    return header["rank"]


def until(true, seconds=10):
    end = time.monotonic() + seconds
    while not true() and time.monotonic() < end:
        time.sleep(0.01)
    return true()


def closed_by_the_server(sock, seconds=10):
    """Is the connection closed, whatever was said before?"""
    sock.settimeout(seconds)
    with contextlib.suppress(ConnectionResetError):
        while sock.recv(4096):
            pass
    return True


# ---------------------------------------------------------------------- who gets in
def test_members_talk_and_then_the_port_is_closed(port):
    channels = [join(port, rank) for rank in (1, 2, 3)]
    assert [works(channel) for channel in channels] == [1, 2, 3]
    assert until(lambda: not port._thread.is_alive())
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(port.address, timeout=5)
    assert [works(channel) for channel in channels] == [1, 2, 3]


def test_the_port_is_bound_to_one_address_only(port):
    assert port.address[0] == "127.0.0.1"


@pytest.mark.parametrize("size", [0, 1, 63, 65, 70_000, 3 << 20, (3 << 20) + 1])
def test_buffers_of_all_sizes_arrive(port, size):
    channel, data = join(port), os.urandom(size)
    channel.send({}, [data, b"x", data])
    _, found = channel.receive()
    assert [bytes(part) for part in found] == [data, b"x", data]
    assert all(np.frombuffer(part, np.uint8).ctypes.data % 64 == 0 for part in found if len(part))


@pytest.mark.parametrize(
    "wrong", [{"key": secret.make()}, {"service": "store"}, {"rank": 9}], ids=["secret", "service", "rank"]
)
def test_who_has_another_secret_service_or_rank_is_refused(port, wrong, monkeypatch):
    monkeypatch.setattr(handshake, "REFUSALS", 3)
    start = time.monotonic()
    with pytest.raises(ChannelError, match="was refused there .*: does it have the secret of the job"):
        join(port, **wrong)
    assert time.monotonic() - start < 5 and works(join(port)) == 1


def test_a_rank_connects_once(port, monkeypatch):
    monkeypatch.setattr(handshake, "REFUSALS", 3)
    first = join(port)
    with pytest.raises(ChannelError, match="refused"):
        join(port)
    assert works(first) == 1


def test_a_server_that_does_not_know_the_secret_is_left():
    """It may have taken the port before the right one came: it learns nothing."""
    said = []

    def pretend(listener):
        with contextlib.suppress(OSError):
            while True:
                sock, _ = listener.accept()
                with sock:
                    sock.sendall(handshake.greet()[1])
                    said.append(sock.recv(1000))
                    sock.sendall(bytes(TAG))

    with socket.create_server(HERE) as listener:
        threading.Thread(target=pretend, args=(listener,), daemon=True).start()
        with pytest.raises(ChannelError, match="does not know the secret of this job"):
            handshake.connect(listener.getsockname(), SECRET, "echo", 1, 0.5)
    assert said and all(len(one) == handshake.CLIENT.size and SECRET not in one for one in said)


# ---------------------------------------------------------------------- strangers
def test_garbage_is_refused_and_members_get_in(port):
    random = np.random.default_rng(1)
    for size in (1, 50, handshake.CLIENT.size, 5000):
        with socket.create_connection(port.address, timeout=5) as sock:
            with contextlib.suppress(OSError):
                sock.sendall(random.bytes(size))
                sock.shutdown(socket.SHUT_WR)
            assert closed_by_the_server(sock)
    assert works(join(port)) == 1 and port.refused == 4


def test_a_pickle_is_not_opened(port, tmp_path):
    witness = tmp_path / "witness"
    pickled = b"cposix\nsystem\n(S'touch " + str(witness).encode() + b"'\ntR."
    with socket.create_connection(port.address, timeout=5) as sock:
        sock.sendall(pickled * 4)
        assert closed_by_the_server(sock)
    assert not witness.exists() and works(join(port)) == 1


def test_who_stays_silent_is_dropped(port, monkeypatch):
    monkeypatch.setattr(handshake, "LIMIT", 0.5)
    with socket.create_connection(port.address, timeout=5) as silent:
        start = time.monotonic()
        assert closed_by_the_server(silent) and time.monotonic() - start < 3
    assert works(join(port)) == 1


def test_a_byte_now_and_then_does_not_prolong_the_time(port, monkeypatch):
    monkeypatch.setattr(handshake, "LIMIT", 0.5)
    with socket.create_connection(port.address, timeout=5) as slow:
        start = time.monotonic()
        with contextlib.suppress(OSError):
            for _ in range(40):
                slow.sendall(b"R")
                time.sleep(0.1)
        assert time.monotonic() - start < 3


def test_a_flood_of_connections_does_not_keep_members_out(port):
    flood = [socket.create_connection(port.address, timeout=5) for _ in range(3 * server.WAITING)]
    try:
        start = time.monotonic()
        assert works(join(port)) == 1 and time.monotonic() - start < 5
        assert len(port._waiting) <= server.WAITING
        assert until(lambda: port.refused >= 2 * server.WAITING - 1)
    finally:
        for sock in flood:
            sock.close()


# ---------------------------------------------------------------------- messages
@pytest.fixture
def pair():
    """Two channels that know each other's keys, and the sockets between them."""
    one, other = socket.socketpair()
    channels = Channel(one, b"a" * 32, b"b" * 32, 2), Channel(other, b"b" * 32, b"a" * 32, 2)
    yield channels
    for channel in channels:
        channel.close()


def message(*messages):
    """The bytes of messages as the first of a pair sends them."""
    one, other = socket.socketpair()
    with one, other:
        channel = Channel(one, b"a" * 32, b"b" * 32, 2)
        for header, buffers in messages:
            channel.send(header, buffers)
        return other.recv(1 << 20)


def test_each_altered_byte_is_noticed():
    whole = message(({"call": "push", "key": 3}, [b"values"]))
    for place in range(len(whole)):
        one, other = socket.socketpair()
        with one, other:
            other_side = Channel(other, b"b" * 32, b"a" * 32, 0.05)
            one.sendall(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
            with pytest.raises(ChannelError):
                other_side.receive()


def test_a_repeated_message_is_noticed(pair):
    whole = message(({"call": "push"}, [b"values"]))
    pair[0].sock.sendall(whole + whole)
    assert pair[1].receive()[0] == {"call": "push"}
    with pytest.raises(ChannelError, match="wrong number"):
        pair[1].receive()


def test_a_message_left_out_or_sent_back_is_noticed(pair):
    first, both = message(({"n": 1}, [])), message(({"n": 1}, []), ({"n": 2}, []))
    pair[0].sock.sendall(both[len(first) :])
    with pytest.raises(ChannelError, match="wrong number"):
        pair[1].receive()
    pair[1].sock.sendall(first)  # as the first has sent it
    with pytest.raises(ChannelError, match="authentication code is wrong"):
        pair[0].receive()


def test_a_recorded_connection_is_of_no_use_in_another(port):
    """Replay: all that a member has ever sent, sent again by somebody who listened."""
    taken = []

    class Recorder(socket.socket):
        def sendall(self, data, *rest):
            taken.append(bytes(data))
            return super().sendall(data, *rest)

    sock = Recorder(socket.AF_INET, socket.SOCK_STREAM)
    sock.connect(port.address)
    first = sock.recv(handshake.SERVER_FIRST)
    session = handshake.Session(SECRET, "echo", first[8:], b"n" * 32, 2)
    sock.sendall(handshake.CLIENT.pack(handshake.GREETING, b"n" * 32, 2, session.derive(b"client")))
    assert sock.recv(TAG) == session.derive(b"server")
    channel = Channel(sock, session.derive(b"to server"), session.derive(b"to client"), 5)
    assert works(channel) == 2
    channel.close()
    with socket.create_connection(port.address, timeout=5) as replayed:
        with contextlib.suppress(OSError):
            for data in taken:
                replayed.sendall(data)
        assert closed_by_the_server(replayed)
    assert works(join(port, 3)) == 3


@pytest.mark.parametrize("prefix", [(0, HEADER_LIMIT + 1, 0), (0, 2, BODY_LIMIT + 1), (0, 2, 1 << 62)])
def test_impossible_lengths_are_refused_before_memory_is_taken(pair, prefix):
    pair[0].sock.sendall(PREFIX.pack(*prefix) + b"{}" + bytes(TAG))
    with pytest.raises(ChannelError, match="impossible length"):
        pair[1].receive()


def test_no_memory_is_taken_for_buffers_that_a_forger_announces(pair):
    pair[0].sock.sendall(PREFIX.pack(0, 2, BODY_LIMIT) + b"{}" + bytes(TAG))
    with pytest.raises(ChannelError, match="authentication code is wrong"):
        pair[1].receive()


def test_a_member_that_stops_within_a_message_is_not_waited_for_longer_than_allowed(pair):
    pair[1].patience = 0.3
    pair[1].sock.settimeout(0.3)
    pair[0].sock.sendall(message(({"n": 1}, []))[:30])
    start = time.monotonic()
    with pytest.raises(ChannelError, match=r"silent for 0.3 s"):
        pair[1].receive()
    assert time.monotonic() - start < 3


# ---------------------------------------------------------------------- the meeting point
def test_the_meeting_point_keeps_values_for_all():
    store, at = rendezvous.open_here(HERE, SECRET, "store", 2, 5)
    other = rendezvous.open_there(at, SECRET, "store", 1, 5)
    store.set("a", b"\x00\xff")
    assert other.get("a") == b"\x00\xff" and other.check(["a"]) and not other.check(["a", "b"])
    assert [store.add("n", 2), other.add("n", 3), store.get("n")] == [2, 5, b"5"]
    assert other.compare_set("c", "", "x") == b"x" and store.compare_set("c", "y", "z") == b"x"
    assert other.num_keys() == 3 and other.delete_key("a") and not store.check(["a"])
    with pytest.raises(RuntimeError, match="nobody has set missing"):
        other.wait(["missing"], 0.05)
    with pytest.raises(ChannelError, match="knows no '__init__'"):
        other._values.call("__init__")
    assert other.num_keys() == 2  # and the connection still stands
    store.close()


# ---------------------------------------------------------------------- what a shard lets in
@pytest.mark.parametrize(
    ("header", "buffers", "words"),
    [
        ({"call": "eval", "items": [], "tensors": []}, [], "knows no 'eval'"),
        ({"call": "call", "items": [], "tensors": []}, [], "knows no 'call'"),
        ({"items": [], "tensors": []}, [], "knows no 'None'"),
        ({"call": "push", "items": [["k", "object", None]], "tensors": []}, [], "unknown kind 'object'"),
        ({"call": "push", "items": [], "tensors": [["float32", [2]]]}, [b"1234"], "4 bytes are no float32 array"),
        ({"call": "push", "items": [], "tensors": [["object", [1]]]}, [b"12345678"], "no object array"),
        ({"call": "push", "items": [], "tensors": [["float32", [-1, -1]]]}, [b"1234"], "no float32 array"),
    ],
)
def test_messages_that_are_none_are_refused_in_words(header, buffers, words):
    assert words in shard.answer(header, [memoryview(one) for one in buffers])[0]["refused"]


@pytest.mark.parametrize("header", [{}, {"call": "push"}, {"call": "push", "items": 3, "tensors": 4}])
def test_a_message_without_its_parts_does_not_end_the_server(header):
    assert shard.answer(header, [])[0]["failed"]


def test_pickles_do_not_set_the_optimizer(tmp_path):
    witness = tmp_path / "witness"
    pickled = b"cposix\nsystem\n(S'touch " + str(witness).encode() + b"'\ntR."
    for call in ("set_optimizer", "set_states"):
        header, buffers = arrays.pack_items(shard.as_items(pickled, "mxnet.optimizer"))
        said = shard.answer({"call": call, **header}, [memoryview(one) for one in buffers])[0]
        assert "refused" in said and not witness.exists(), said


def test_arrays_of_all_kinds_come_back():
    for array in (
        mx.nd.array([[1, 2], [3, 4]], dtype="float16"),
        mx.nd.sparse.zeros("row_sparse", (4, 2)),
        mx.nd.array([[0, 0], [5, 6]]).tostype("row_sparse"),
        mx.nd.array([1, 2], dtype="int64"),
    ):
        header, buffers = arrays.pack_items([("k", arrays.to_wire(array))])
        [(key, sent)] = arrays.unpack_items(header, [memoryview(bytearray(one.tobytes())) for one in buffers])
        found = arrays.from_wire(sent)
        assert (key, found.stype, found.shape, found.dtype) == ("k", array.stype, array.shape, array.dtype)
        np.testing.assert_array_equal(found.asnumpy(), array.asnumpy())


# ---------------------------------------------------------------------- the secret and the address
def test_a_secret_that_others_can_read_is_refused(tmp_path):
    path = tmp_path / "secret"
    secret.write(path, SECRET)
    assert path.stat().st_mode & 0o777 == 0o600 and secret.read(path) == SECRET
    path.chmod(0o640)
    with pytest.raises(mx.MXNetError, match="chmod 600"):
        secret.read(path)
    path.chmod(0o600)
    path.write_bytes(b"short\n")
    with pytest.raises(mx.MXNetError, match="has 5 bytes; at least 16"):
        secret.read(path)
    with pytest.raises(mx.MXNetError, match="cannot be read: .*No such file"):
        secret.read(tmp_path / "none")


def test_processes_of_a_user_share_a_key(tmp_path, monkeypatch):
    monkeypatch.delenv(secret.FILE, raising=False)
    monkeypatch.setenv("MXNET_HOME", str(tmp_path / "home"))
    found = set()
    threads = [threading.Thread(target=lambda: found.add(secret.of_job())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 1 and len(found.pop()) == 64
    assert [name.name for name in (tmp_path / "home").iterdir()] == ["kvstore.key"]


def test_the_address_that_is_bound(monkeypatch):
    for name in ("DMLC_NODE_HOST", "DMLC_INTERFACE", "LOCAL_WORLD_SIZE", "SLURM_NNODES"):
        monkeypatch.delenv(name, raising=False)
    assert addresses.own("localhost", 2) == addresses.own("127.0.0.1", 2) == "127.0.0.1"
    assert addresses.of_interface("lo") == "127.0.0.1" and addresses.interface_of("127.0.0.1") == "lo"
    assert addresses.towards("127.0.0.1") == "127.0.0.1" and addresses.is_own("127.0.0.1")
    with pytest.raises(mx.MXNetError, match="unknown here; name it by its address"):
        addresses.own("no-such-host.invalid", 2)
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "2")
    assert addresses.own("no-such-host.invalid", 2) == "127.0.0.1"
    monkeypatch.setenv("DMLC_INTERFACE", "no-such-interface")
    with pytest.raises(mx.MXNetError, match="'no-such-interface'; this machine has .*lo"):
        addresses.own("127.0.0.1", 2)
    monkeypatch.setenv("DMLC_NODE_HOST", "192.0.2.7")
    assert addresses.own("127.0.0.1", 2) == "192.0.2.7"


def test_pulses_are_lines_of_rank_and_idle_time():
    assert pulse.parse(pulse.line(3).decode())[0] == 3
    assert pulse.parse("1 lost") == (1, None)
    assert pulse.parse("x y") is None and pulse.parse("") is None


def test_frames_have_the_documented_form(pair):
    whole = message(({"a": 1}, [b"xyz"]))
    number, length, size = struct.unpack("<QIQ", whole[:20])
    assert (number, size) == (0, 64) and len(whole) == 20 + length + 32 + 64 + 32
    assert whole[20 : 20 + length] == b'{"a":1,"sizes":[3]}'
