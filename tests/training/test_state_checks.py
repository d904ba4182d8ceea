"""Optimizer states are compared with the parameters when they are loaded; what does not fit changes nothing."""

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet._training.parts import Symbolic
from mxnet._training.updates import load_into_store
from mxnet.optimizer import state_files

OPTIMIZERS = ["sgd", "nag", "signum", "dcasgd", "lbsgd", "lars", "adam", "nadam", "adagrad", "rmsprop", "adadelta",
              "ftrl", "ftml", "adamax", "lamb", "sgld", "test"]  # fmt: skip


def updater(name="adam", **options):
    return mx.optimizer.get_updater(mx.optimizer.create(name, **options))


def step(update, weight):
    update(0, nd.ones(weight.shape, dtype=weight.dtype), weight)


def weights(weight):
    return {0: ("dense_weight", weight)}


def trained(name="adam", shape=(2, 3), dtype="float32", **options):
    made, weight = updater(name, **options), nd.ones(shape, dtype=dtype)
    step(made, weight)
    return made, weight


@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize("pickled", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_own_states_fit(name, pickled, dtype):
    made, weight = trained(name, dtype=dtype, multi_precision=dtype == "float16")
    other = updater(name, multi_precision=dtype == "float16")
    other.set_states(made.get_states(True, pickled), weights=weights(weight))
    step(other, weight)


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (
            lambda: trained(shape=(3, 2)),
            r"expected a float32 array of shape \(2, 3\), got a float32 array of shape \(3, 2\)",
        ),
        (lambda: trained(dtype="float64"), "got a float64 array"),
        (lambda: trained("sgd", momentum=0.9), "expected 2 parts, got a float32 array"),
        (lambda: trained("ftml"), "expected 2 parts, got 3 parts"),
        (lambda: trained("sgd"), "expected 2 parts, got nothing"),
    ],
)
def test_states_that_do_not_fit(wrong, words, late):
    data = wrong()[0].get_states()
    made, weight = trained()
    before = made.get_states(dump_optimizer=True)
    with pytest.raises(mx.MXNetError, match=r"state of parameter .* does not fit Adam.*" + words):
        made.set_states(data, weights=None if late else weights(weight))
        step(made, weight)
    if not late:
        assert made.get_states(dump_optimizer=True) == before


@pytest.mark.parametrize("state", [(nd.zeros((2, 3)),) * 2 + (1,), "text", 3, [], {"a": 1}, (None, None), (1, 2)])
def test_states_of_other_kinds(state):
    made, weight = trained()
    with pytest.raises(mx.MXNetError, match="does not fit"):
        made.set_states(state_files.dumps({0: state}), weights=weights(weight))


def test_states_of_other_parameters():
    data = trained()[0].get_states()
    made, weight = trained()
    with pytest.raises(mx.MXNetError, match="there are states for 0, the parameters are 7"):
        made.set_states(data, weights={7: ("w", weight)})
    made.set_states(data, weights={7: ("w", weight)}, complete=False)


def test_momentum_that_was_set_to_zero():
    """As in MXNet, whose SGD passes over the state then; one without momentum cannot go on with it."""
    data = trained("sgd", momentum=0.9)[0].get_states()
    made, weight = updater("sgd", learning_rate=0.1), nd.array([[1.0, 2, 3], [4, 5, 6]])
    made.set_states(data, weights=weights(weight))
    step(made, weight)
    np.testing.assert_allclose(weight.asnumpy(), [[0.9, 1.9, 2.9], [3.9, 4.9, 5.9]], rtol=1e-6)
    for name in ("sgd", "nag"):
        other = trained("sgd", (2, 2), momentum=0.9)[0].get_states()
        with pytest.raises(mx.MXNetError, match=r"expected nothing, got a float32 array of shape \(2, 2\)"):
            updater(name).set_states(other, weights=weights(weight))
    with pytest.raises(mx.MXNetError, match="expected a float32 array of shape .*, got nothing"):
        updater("sgd", momentum=0.9).set_states(trained("sgd")[0].get_states(), weights=weights(weight))


ATTRIBUTES = [("lr", "fast"), ("beta1", (1, 2)), ("idx2name", 3), ("lr_scheduler", 0.1),
              ("_index_update_count", {0: "x"}), ("_all_index_update_counts", {0: 1}), ("lr_mult", {"a": None}),
              ("clip_gradient", "x"), ("multi_precision", None), ("aggregate_num", -1)]  # fmt: skip


@pytest.mark.parametrize(("name", "value"), ATTRIBUTES)
def test_an_optimizer_with_damaged_attributes(name, value):
    made, weight = trained()
    optimizer = mx.optimizer.create("adam")
    setattr(optimizer, name, value)
    with pytest.raises(mx.MXNetError, match=f"the optimizer in the states has .* for {name}"):
        made.set_states(state_files.dumps((made.states, optimizer)), weights=weights(weight))


SCHEDULES = [
    mx.lr_scheduler.FactorScheduler(7, 0.5),
    mx.lr_scheduler.MultiFactorScheduler([3, 9], 0.5, warmup_steps=2, warmup_mode="constant"),
    mx.lr_scheduler.PolyScheduler(9, pwr=3),
    mx.lr_scheduler.CosineScheduler(9, final_lr=0.1),
    mx.lr_scheduler.OneCycleScheduler(9),
]


@pytest.mark.parametrize("schedule", SCHEDULES, ids=lambda schedule: type(schedule).__name__)
def test_a_schedule_with_damaged_attributes(schedule):
    """Whichever attribute is missing or of another kind; whole ones are loaded."""
    made, weight = trained()
    rule = mx.optimizer.create("adam")
    rule.lr_scheduler = schedule

    def load():
        made.set_states(state_files.dumps((made.states, rule)))

    load()
    step(made, weight)
    for name, value in list(vars(schedule).items()):
        for wrong in (None, "text" if not isinstance(value, str) else 3, [], [1, "text"], {}):
            if wrong == [] and name == "step" and isinstance(value, list):
                continue  # no step is fine
            setattr(schedule, name, wrong)
            with pytest.raises(
                mx.MXNetError, match=f"the {type(schedule).__name__} in the states has .* for {name}, which"
            ):
                load()
        setattr(schedule, name, value)
    load()


@pytest.mark.parametrize("wrong", [0, -1, 0.5])
def test_a_schedule_whose_steps_would_never_end(wrong):
    schedule = mx.lr_scheduler.FactorScheduler(7)
    schedule.step = wrong
    with pytest.raises(mx.MXNetError, match="for step, which is a number of at least 1"):
        updater().set_states(state_files.dumps(({}, mx.optimizer.create("adam", lr_scheduler=schedule))))


def test_an_optimizer_that_updates_one_weight_at_a_time():
    rule = mx.optimizer.create("sgld")
    rule.aggregate_num = 4
    made, weight = updater("sgld"), nd.ones((2, 3))
    made.set_states(state_files.dumps(({}, rule)))
    step(made, weight)
    assert made.optimizer.aggregate_num == 0


@pytest.mark.parametrize("base", [mx.optimizer.Optimizer, mx.lr_scheduler.LRScheduler])
def test_base_classes_are_no_optimizers(base):
    rule = mx.optimizer.create("sgd")
    if base is mx.optimizer.Optimizer:
        rule = base()
    else:
        rule.lr_scheduler = base()
    with pytest.raises(mx.MXNetError, match=f"{base.__name__} of no kind"):
        updater().set_states(state_files.dumps(({}, rule)))


def test_an_optimizer_that_could_take_no_step():
    optimizer = mx.optimizer.create("groupadagrad")
    optimizer.wd = 0.1
    with pytest.raises(mx.MXNetError, match="weight decay of 0.1, which it does not support"):
        updater("groupadagrad").set_states(state_files.dumps(({}, optimizer)))


def test_an_optimizer_without_an_attribute_gets_the_usual_one():
    made, weight = trained()
    optimizer = mx.optimizer.create("adam", learning_rate=0.5)
    del optimizer.beta1
    made.set_states(state_files.dumps((made.states, optimizer)))
    assert (made.optimizer.beta1, made.optimizer.lr) == (0.9, 0.5)
    step(made, weight)


def net(units, prefix="net_"):
    made = gluon.nn.Dense(units, in_units=3, prefix=prefix)
    made.initialize()
    return made, gluon.Trainer(made.collect_params(), "adam", kvstore=None)


def one_step(model, trainer):
    with autograd.record():
        loss = model(nd.ones((2, 3))).sum()
    loss.backward()
    trainer.step(2)


def test_trainer(tmp_path):
    path = str(tmp_path / "a.states")
    for units in (4, 5):
        model, trainer = net(units)
        one_step(model, trainer)
        if units == 4:
            trainer.save_states(path)
    before = trainer._updaters[0].get_states(True)
    with pytest.raises(mx.MXNetError, match=r"a.states.*parameter 'net_bias' \(0\) does not fit Adam.*\(5,\)"):
        trainer.load_states(path)
    assert trainer._updaters[0].get_states(True) == before
    one_step(model, trainer)


def test_module(tmp_path):
    path = str(tmp_path / "a.states")
    for units in (4, 5):
        data = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=units, name="fc")
        module = mx.mod.Module(mx.sym.SoftmaxOutput(data, name="softmax"))
        module.bind([("data", (2, 3))], [("softmax_label", (2,))])
        module.init_params()
        module.init_optimizer(kvstore=None, optimizer="adam")
        module.forward_backward(mx.io.DataBatch([nd.ones((2, 3))], [nd.zeros(2)]))
        module.update()
        if units == 4:
            module.save_optimizer_states(path)
            module.load_optimizer_states(path)
    with pytest.raises(mx.MXNetError, match=r"parameter 'fc_weight' \(0\) does not fit"):
        module.load_optimizer_states(path)


@pytest.mark.parametrize("before, after", [(1, 2), (2, 1)])
def test_module_on_another_number_of_devices(tmp_path, before, after):
    """MXNet numbers the states of one device and names those of several; states of the other kind are kept, not used.

    The weights after the fourth step were recorded from MXNet 1.9.1.
    """
    prefix = str(tmp_path / "net")
    output = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc")
    module = mx.mod.Module(mx.sym.LinearRegressionOutput(output, mx.sym.var("softmax_label")), context=devices(before))
    two_steps(module, mx.init.One())
    module.save_checkpoint(prefix, 0, save_optimizer_states=True)
    module = mx.mod.Module.load(prefix, 0, load_optimizer_states=True, context=devices(after))
    with pytest.warns(UserWarning, match="another number of devices"):
        two_steps(module)
    np.testing.assert_allclose(module.get_params()[0]["fc_weight"].asnumpy()[0], [0.4087] * 3, rtol=1e-6)


def devices(number):
    return [mx.cpu(i) for i in range(number)]


def two_steps(module, initializer=None):
    module.bind([("data", (4, 3))], [("softmax_label", (4, 2))])
    if initializer is not None:
        module.init_params(initializer)
    module.init_optimizer(optimizer_params={"learning_rate": 0.1, "momentum": 0.9})
    for _ in range(2):
        module.forward_backward(mx.io.DataBatch([nd.ones((4, 3))], [nd.zeros((4, 2))]))
        module.update()


def test_kvstore(tmp_path):
    path = str(tmp_path / "a.states")
    store = mx.kv.create("local")
    store.set_optimizer(mx.optimizer.create("adam"))
    store.init(3, nd.ones((2, 3)))
    store.push(3, nd.ones((2, 3)))
    store.save_optimizer_states(path)
    other = mx.kv.create("local")
    other.set_optimizer(mx.optimizer.create("adam"))
    other.init(3, nd.ones((3, 3)))
    with pytest.raises(mx.MXNetError, match="parameter 3 .* does not fit"):
        other.load_optimizer_states(path)
    other = mx.kv.create("local")
    other.set_optimizer(mx.optimizer.create("adam"))
    with pytest.raises(mx.MXNetError, match="there are states for 3, the parameters are 0, 1"):
        other.load_optimizer_states(path, keys=[0, 1])
    other.load_optimizer_states(path, keys=[3])  # its value may come later, and is compared then
    other.init(3, nd.ones((3, 3)))
    with pytest.raises(mx.MXNetError, match="parameter 3 .* does not fit"):
        other.push(3, nd.ones((3, 3)))


def test_trainer_with_a_store(tmp_path):
    """Its store knows only the parameters that have values; the trainer knows all."""
    path = str(tmp_path / "a.states")
    for count in (2, 1):
        model = gluon.nn.Sequential()
        model.add(*[gluon.nn.Dense(3, in_units=3, use_bias=False) for _ in range(count)])
        model.initialize()
        trainer = gluon.Trainer(model.collect_params(), "adam", kvstore=mx.kv.create("local"), update_on_kvstore=True)
        one_step(model, trainer)
        if count == 2:
            trainer.save_states(path)
    with pytest.raises(mx.MXNetError, match="a.states: .*there are states for 1, the parameters are 0"):
        trainer.load_states(path)


class Store(mx.kv.KVStoreBase):
    """A store of the user's own, which takes a name and nothing else."""

    loaded = None

    def load_optimizer_states(self, fname):
        self.loaded = fname


def test_a_store_of_the_users_own():
    store = Store()
    load_into_store(store, "a.states", False, [0])
    assert store.loaded == "a.states"


@pytest.mark.parametrize("on_store", [False, True])
def test_a_module_that_is_resumed(tmp_path, on_store):
    """The states of a run are compared with the parameters before the run goes on."""
    data = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=4, name="fc")
    module = mx.mod.Module(mx.sym.SoftmaxOutput(data, name="softmax"))
    module.bind([("data", (2, 3))], [("softmax_label", (2,))])
    module.init_params()
    module.init_optimizer(kvstore=mx.kv.create("local") if on_store else None, optimizer="adam")
    module.forward_backward(mx.io.DataBatch([nd.ones((2, 3))], [nd.zeros(2)]))
    module.update()
    place, kept = lambda ending: str(tmp_path / f"run.{ending}"), {"auxiliary": [], "carried": []}
    Symbolic.write(module, place)
    Symbolic.load(module, place, kept)
    states, optimizer = state_files.loads((tmp_path / "run.states").read_bytes())
    key = "fc_weight" if on_store else 0
    states[key] = (nd.zeros((5, 3)), nd.zeros((5, 3)))
    (tmp_path / "run.states").write_bytes(state_files.dumps((states, optimizer)))
    with pytest.raises(mx.MXNetError, match=r"run.states: .*parameter 'fc_weight' .* does not fit Adam"):
        Symbolic.load(module, place, kept)


def test_a_momentum_of_some_parameters_that_is_not_needed():
    """One updater had momentum and saw one of the weights; the other has none, and updates both."""
    made, weight = trained("sgd", momentum=0.9)
    other, both = updater("sgd"), [weight, nd.ones((2, 3))]
    other.set_states(made.get_states())
    before = [each.asnumpy() for each in both]
    other([0, 1], [nd.ones((2, 3))] * 2, both)
    for old, new in zip(before, both, strict=True):
        np.testing.assert_allclose(new.asnumpy(), old - 0.01, rtol=1e-6)


def test_an_optimizer_without_a_rate():
    made, _ = trained("adam")
    made.optimizer.lr = None
    with pytest.raises(mx.MXNetError, match="no learning rate and no schedule"):
        updater().set_states(made.get_states(dump_optimizer=True))
    made.optimizer.lr_scheduler = mx.lr_scheduler.FactorScheduler(10)
    updater().set_states(made.get_states(dump_optimizer=True))  # the schedule tells it
