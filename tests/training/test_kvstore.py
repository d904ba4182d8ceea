"""Key-value stores of one process."""

import numpy as np
import pytest
import torch

import mxnet as mx
from mxnet.kvstore import group, peers


def devices(value, count=4, shape=(2, 2)):
    return [mx.nd.full(shape, value, ctx=mx.cpu(i)) for i in range(count)]


@pytest.mark.parametrize("kind", ["local", "device", "nccl", "local_allreduce_cpu"])
@pytest.mark.parametrize("key", [3, "weight"])
def test_push_sums_over_devices_and_pull_copies(kind, key):
    store = mx.kv.create(kind)
    assert (store.type, store.rank, store.num_workers) == (kind, 0, 1)
    store.init(key, mx.nd.zeros((2, 2)))
    store.push(key, devices(2.0))
    outs = devices(0.0)
    store.pull(key, out=outs)
    assert all((out.asnumpy() == 8).all() and out.context == mx.cpu(i) for i, out in enumerate(outs))
    grads = devices(1.0)
    store.pushpull(key, grads)
    assert (grads[3].asnumpy() == 4).all()


def test_lists_of_keys():
    store = mx.kv.create()
    outs = [devices(0.0, 2), devices(0.0, 2)]
    store.broadcast(["a", "b"], [mx.nd.ones((2, 2)), mx.nd.full((2, 2), 5.0)], out=outs)
    assert [out[1].asnumpy()[0, 0] for out in outs] == [1, 5]
    store.push(["a", "b"], [devices(1.0, 2), devices(2.0, 2)])
    store.pull(["a", "b"], out=outs)
    assert [out[1].asnumpy()[0, 0] for out in outs] == [2, 4]


def test_an_updater_takes_gradients_in():
    store, keys = mx.kv.create("local"), []

    def update(key, pushed, stored):
        keys.append(key)
        stored += pushed * 2

    store._set_updater(update)
    store.init("w", mx.nd.ones((2, 2)))
    store.push("w", devices(1.0))
    out = mx.nd.zeros((2, 2))
    store.pull("w", out=out)
    assert keys == [b"w"] and (out.asnumpy() == 9).all()


def test_an_optimizer_in_the_store_keeps_states_in_files(tmp_path):
    path = str(tmp_path / "store.states")

    def trained(steps, load=False):
        store = mx.kv.create("device")
        store.set_optimizer(mx.optimizer.SGD(learning_rate=0.1, momentum=0.9))
        store.init(0, mx.nd.ones((2, 2)))
        if load:
            store.load_optimizer_states(path)
        for _ in range(steps):
            store.push(0, devices(1.0))
        out = mx.nd.zeros((2, 2))
        store.pull(0, out=out)
        return store, 1 - out.asnumpy()[0, 0]

    store, _ = trained(1)
    store.save_optimizer_states(path)
    assert trained(1)[1] == pytest.approx(0.4)
    assert trained(1, load=True)[1] == pytest.approx(0.4 + 0.36)


def test_mistakes_are_named():
    store = mx.kv.create()
    store.init(1, mx.nd.ones((2,)))
    with pytest.raises(mx.MXNetError, match="duplicate init of key 1"):
        store.init(1, mx.nd.ones((2,)))
    with pytest.raises(mx.MXNetError, match="Mixed key types are not allowed"):
        store.init("a", mx.nd.ones((2,)))
    with pytest.raises(mx.MXNetError, match="key 5 has not been inited"):
        store.pull(5, out=mx.nd.ones((2,)))
    with pytest.raises(mx.MXNetError, match="operands shape mismatch"):
        store.pull(1, out=mx.nd.ones((3,)))
    with pytest.raises(AssertionError, match="unexpected type for keys"):
        store.init(1.5, mx.nd.ones((2,)))
    with pytest.raises(AssertionError, match="inconsistent types of keys"):
        store.push([1, "a"], [mx.nd.ones((2,))] * 2)
    with pytest.raises(TypeError, match="name must be a string"):
        mx.kv.create(3)
    with pytest.raises(Exception, match="Gradient compression is not supported for this type of kvstore"):
        store.set_gradient_compression({"type": "2bit"})
    device = mx.kv.create("device")
    with pytest.raises(mx.MXNetError, match="Unknown type for gradient compression 1bit"):
        device.set_gradient_compression({"type": "1bit"})
    with pytest.raises(mx.MXNetError, match="threshold must be greater than 0"):
        device.set_gradient_compression({"type": "2bit", "threshold": 0})


def test_compressed_gradients_pack_four_to_a_byte():
    from mxnet.kvstore.compression import pack, unpack

    signs = np.random.RandomState(0).randint(-1, 2, 37).astype("int8")
    import torch

    packed = pack(torch.from_numpy(signs))
    assert packed.numel() == 10 and (unpack(packed, 37).numpy() == signs).all()


def test_a_program_registers_its_own_store():
    @mx.kv.KVStoreBase.register
    class Counting(mx.kv.KVStoreBase):
        calls = 0

        def broadcast(self, key, value, out, priority=0):
            for array in out:
                array[:] = value

        def pushpull(self, key, value, out=None, priority=0):
            Counting.calls += 1
            total = sum(v.as_in_context(mx.cpu()) for v in value)
            for array in out or value:
                array[:] = total

        def is_capable(self, capability):
            return False

        type, rank, num_workers = "counting", 0, 1

    store = mx.kv.create("counting")
    grads = devices(1.0)
    store.pushpull("w", grads)
    assert Counting.calls == 1 and (grads[2].asnumpy() == 4).all()
    del mx.kv.KVStoreBase.kv_registry["counting"]


def test_options_of_compression_and_row_ids_are_checked():
    store = mx.kv.create("device")
    for wrong in (None, "2bit"):
        with pytest.raises(AssertionError, match="unexpected type for param_dict: <class"):
            store.set_gradient_compression(wrong)
    with pytest.raises(mx.MXNetError, match="Cannot find argument 'treshold'"):
        store.set_gradient_compression({"type": "2bit", "treshold": 0.5})
    store.init("rows", mx.nd.ones((5, 2)).tostype("row_sparse"))
    out = mx.nd.sparse.zeros("row_sparse", (5, 2))
    with pytest.raises(mx.MXNetError, match="asks for rows 3 to 9, but the stored value has 5 rows"):
        store.row_sparse_pull("rows", out=out, row_ids=mx.nd.array([3, 9]))


@pytest.mark.parametrize(
    ("header", "words"),
    [
        (
            {"refused": "Updater needs to be set"},
            r"^Updater needs to be set \(said by worker 1, which holds the key\)$",
        ),
        ({"failed": "TypeError: no"}, "^worker 1, which holds the key, failed: TypeError: no$"),
    ],
)
def test_what_another_worker_refused_is_told_in_its_words(header, words):
    """A worker that answers with an error is alive: contact is not lost."""
    answer = peers.Answer(peers.Peer(1, channel=None))
    answer.set(header, [])
    with pytest.raises(mx.MXNetError, match=words), group.contact(rank=0):
        answer.wait()
    assert not group.Lost.seen


def test_other_mistakes_do_not_count_as_lost_workers():
    error = ValueError("not enough values to unpack")
    with pytest.raises(ValueError) as raised, group.contact(rank=0):
        raise error
    assert raised.value is error and not group.Lost.seen


def test_a_broken_connection_does(monkeypatch):
    monkeypatch.setattr(group.Lost, "seen", False)
    with pytest.raises(mx.MXNetError, match=r"^worker 0 lost contact .* \(Connection closed by peer\)$"):
        with group.contact(rank=0):
            raise torch.distributed.DistNetworkError("Connection closed by peer")
    assert group.Lost.seen
