"""Optimizer states: MXNet's pickles read without their code, our container written and read, attacks refused."""

import pickle
import struct

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import mxnet as mx
from mxnet._formats import params, states
from mxnet.base import MXNetError
from mxnet.ndarray.utils import array_of

from .corpus import EXPECTED, FOLDER, array, cuts, files


def as_array(blob):
    return array_of(blob, strict=False).asnumpy()


def as_object(module, name, state):
    return {"class": name, **state}


def read(data):
    return states.loads(data, as_array, as_object)


def write(tree):
    return states.dumps(
        tree,
        lambda v: params.Blob.dense(v, v.dtype.name) if isinstance(v, np.ndarray) else None,
        lambda v: None,
    )


def flat(state):
    return [part for inner in state for part in flat(inner)] if isinstance(state, (tuple, list)) else [state]


@pytest.mark.parametrize("name", files("states"))
def test_mxnets_pickles(name):
    loaded, facts = read((FOLDER / name).read_bytes()), EXPECTED[name]
    if isinstance(loaded, tuple):
        loaded, optimizer = loaded
        for key, value in facts.get("optimizer", {}).items():
            assert optimizer[key] == value
    assert {str(k) for k in loaded} == set(facts["states"])
    for key, state in loaded.items():
        for part, described in zip(flat(state), facts["states"][str(key)], strict=True):
            if described is None:
                assert part is None
            else:
                np.testing.assert_array_equal(part, array(described))


def test_the_container_keeps_types_and_values():
    tree = {0: None, "w": (np.arange(3.0), [1, 2.5, True, "text"]), 7: {"a": (), -1: float("inf")}}
    back = read(write(tree))
    np.testing.assert_array_equal(back["w"][0], np.arange(3.0))
    assert back["w"][1] == [1, 2.5, True, "text"] and back[0] is None and back[7] == {"a": (), -1: float("inf")}


def test_what_needs_code_is_not_written():
    with pytest.raises(MXNetError, match="without code"):
        write({0: object()})


@pytest.mark.parametrize("name", ["0_sgd.states", "2_adam_whole.states"])
def test_cut_pickles(name):
    data = (FOLDER / name).read_bytes()
    for cut in cuts(data, 200):
        with pytest.raises(MXNetError, match="no optimizer states|optimizer states: byte"):
            read(data[:cut])


def test_cut_containers():
    data = write({0: (np.arange(4.0), 1)})
    for cut in range(len(data)):
        with pytest.raises(MXNetError):
            read(data[:cut])


class Run:
    def __init__(self, call):
        self.call = call

    def __reduce__(self):
        return self.call


def nested(levels):
    tree = ()
    for _ in range(levels):
        tree = (tree,)
    return tree


def laughs(levels=50):
    tree = [0]
    for _ in range(levels):
        tree = [tree, tree]
    return tree


ATTACKS = {
    "system": pickle.dumps(Run((__import__("os").system, ("true",)))),
    "eval": pickle.dumps(Run((eval, ("1",)))),
    "getattr": pickle.dumps(Run((getattr, ({}, "clear")))),
    "old protocol": pickle.dumps(Run((eval, ("1",))), 0),
    "a huge bytearray": pickle.dumps(Run((bytearray, (1 << 60,)))),
    "numpy object": pickle.dumps(np.array([{}], object)),
    "memo": b"\x80\x02]r\xff\xff\xff\x7f.",
    "claimed bytearray": b"\x80\x05\x96" + struct.pack("<Q", 1 << 60) + b".",
    "claimed bytes": b"\x80\x04\x8e" + struct.pack("<Q", 1 << 60) + b".",
    "extension": b"\x80\x02\x82\x01.",
    "persistent": b"Pname\n.",
    "deep": pickle.dumps(nested(200)),
    "no pickle": b"hello",
    "empty": b"",
    "an attribute path": b"cmxnet.optimizer.optimizer\nos.system\n.",
    "module of the project": b"cmxnet.recordio\nMXRecordIO\n(Vx\nVw\ntR.",
    "container length": states.MAGIC + struct.pack("<Q", 1 << 60),
    "container json": states.MAGIC + struct.pack("<Q", 3) + b"[[[",
    "container index": write({0: np.arange(2.0)}).replace(b'"array":0', b'"array":9'),
}


@pytest.mark.parametrize("data", ATTACKS.values(), ids=ATTACKS.keys())
def test_attacks_are_refused(data):
    with pytest.raises(MXNetError):
        read(data)


def test_shared_values_are_built_once():
    back = read(pickle.dumps(laughs(12)))
    assert back[0] is back[1]
    with pytest.raises(MXNetError, match="hold each other too many times"):
        read(pickle.dumps(laughs()))


def test_trust_opens_any_pickle():
    assert states.loads(pickle.dumps({0: {1, 2}}), as_array, as_object, trust=True) == {0: {1, 2}}


@given(st.binary(max_size=60), st.integers(0, 10**6), st.sampled_from(files("states")))
@settings(max_examples=150, deadline=None)
@example(b"\x00\x00\x00~", 287, "sparse_adam_whole.states")  # more memory than most machines have
def test_damage_gives_states_or_a_clear_error(patch, place, name):
    data = bytearray((FOLDER / name).read_bytes())
    place %= len(data)
    data[place : place + len(patch)] = patch
    try:
        read(bytes(data))
    except MXNetError:
        pass


@pytest.mark.parametrize("name", [name for name in files("states") if "after" in EXPECTED[name]])
def test_training_goes_on_from_mxnets_states(name):
    facts = EXPECTED[name]
    updater = mx.optimizer.get_updater(mx.optimizer.create("test"))
    updater.set_states((FOLDER / name).read_bytes())
    weight = mx.nd.array(array(facts["weight"]), dtype=facts["weight"]["dtype"])
    before = updater.get_states(dump_optimizer=True)
    if "sgld" in name:  # it adds noise
        return
    for data in (None, before):  # as it was loaded, and through our own container
        updater.set_states(data or (FOLDER / name).read_bytes())
        trained = weight.copy()
        updater(0, trained * 0.25, trained)
        np.testing.assert_allclose(
            trained.asnumpy(), array(facts["after"]), rtol=2e-3 if "16" in str(trained.dtype) else 1e-5
        )


@pytest.mark.parametrize("pickled", [False, True], ids=["container", "pickle"])
@pytest.mark.parametrize("name", [name for name in files("states") if "sparse" in name])
def test_sparse_states_stay_sparse(name, pickled):
    updater = mx.optimizer.get_updater(mx.optimizer.create("test"))
    updater.set_states((FOLDER / name).read_bytes())
    updater.set_states(updater.get_states(dump_optimizer=True, pickled=pickled))
    for part, described in zip(flat(updater.states[0]), EXPECTED[name]["states"]["0"], strict=True):
        assert part.stype == "row_sparse"
        np.testing.assert_array_equal(part.asnumpy(), array(described))


OPTIMIZERS = ["adadelta", "adagrad", "adam", "adamax", "dcasgd", "ftml", "ftrl", "groupadagrad", "lamb", "lars",
              "lbsgd", "nadam", "nag", "rmsprop", "sgd", "signum"]  # fmt: skip


@pytest.mark.parametrize("pickled", [False, True], ids=["container", "pickle"])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_every_optimizer_goes_on_from_what_it_wrote(name, pickled):
    """The pickles were read by MXNet 1.9.1, which went on with the same numbers."""
    schedule = mx.lr_scheduler.CosineScheduler(20, warmup_steps=3)
    first = mx.optimizer.get_updater(mx.optimizer.create(name, learning_rate=0.1, lr_scheduler=schedule))
    weight = mx.nd.array([[1, 2], [3, 4]])
    for _ in range(3):
        first(0, weight * 0.5, weight)
    second = mx.optimizer.get_updater(mx.optimizer.create("test"))
    second.set_states(first.get_states(dump_optimizer=True, pickled=pickled))
    again = weight.copy()
    for updater, trained in ((first, weight), (second, again)):
        updater(0, trained * 0.25, trained)
    np.testing.assert_array_equal(weight.asnumpy(), again.asnumpy())


RAN = []


def ran(*arguments):
    RAN.append(arguments)
    return {}


def test_a_foreign_pickle_runs_only_when_it_is_trusted(tmp_path):
    path, data = tmp_path / "a.states", pickle.dumps(Run((ran, ("code",))))
    path.write_bytes(data)
    net = mx.gluon.nn.Dense(1, in_units=1)
    net.initialize()
    module = mx.mod.Module(mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=1), label_names=None)
    module.bind([("data", (1, 1))])
    module.init_params()
    module.init_optimizer()
    trainers = [mx.gluon.Trainer(net.collect_params(), "sgd", kvstore=store) for store in (None, "device")]
    updater = mx.optimizer.get_updater(mx.optimizer.create("sgd"))
    loaders = [updater.set_states, *[trainer.load_states for trainer in trainers], module.load_optimizer_states]
    for load in loaders:
        given = data if load is loaders[0] else str(path)
        RAN.clear()
        with pytest.raises(MXNetError, match="not admitted because it could run code; load them with trust=True"):
            load(given)
        assert RAN == []
        load(given, trust=True)
        assert RAN == [("code",)]
