"""Learning-rate finder and schedules, early stopping, accumulated and clipped gradients, averages, best checkpoints."""

import math

import numpy as np
import pytest

import mxnet as mx
from mxnet import gluon, nd
from mxnet.gluon.contrib.estimator import (
    CheckpointHandler,
    EarlyStoppingHandler,
    EMAHandler,
    Estimator,
    GradientUpdateHandler,
    ReduceLROnPlateauHandler,
    TopKCheckpointHandler,
)
from mxnet.gluon.contrib.estimator.event_handler import BatchEnd, EpochEnd

RATE = 0.1


def data(batch, count=12):
    rng = np.random.RandomState(0)
    x = nd.array(rng.randn(count, 3))
    return gluon.data.DataLoader(gluon.data.ArrayDataset(x, nd.dot(x, nd.array([[1.0], [-2.0], [3.0]]))), batch)


def estimator(optimizer="sgd", context=None, metric=None, **options):
    net = gluon.nn.Dense(1, in_units=3)
    net.initialize(mx.init.One(), ctx=context or mx.current_context())
    trainer = gluon.Trainer(net.collect_params(), optimizer, {"learning_rate": RATE}, update_on_kvstore=False)
    metrics = [mx.metric.MSE(), *([metric] if metric else [])]
    est = Estimator(net, gluon.loss.L2Loss(), metrics, trainer=trainer, context=context, **options)
    est.logger.setLevel("ERROR")
    return est


def weights(est):
    return np.concatenate([p.data(p.list_ctx()[0]).asnumpy().ravel() for p in est.net.collect_params().values()])


class Record(BatchEnd):
    """Weights after each batch."""

    priority = -1500

    def __init__(self):
        self.seen = []

    def batch_end(self, est, *args, **kwargs):
        self.seen.append(weights(est))


@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
def test_accumulated_batches_are_one_large_batch(optimizer):
    whole, parts = estimator(optimizer), estimator(optimizer, accumulate=3)
    whole.fit(data(6), epochs=3)
    parts.fit(data(2), epochs=3)
    np.testing.assert_allclose(weights(parts), weights(whole), rtol=1e-5, atol=1e-6)


def test_the_last_batches_of_an_epoch_may_be_fewer():
    whole, parts = estimator(), estimator(accumulate=4)
    whole.fit(data(8), epochs=2)  # 8 and 4 samples
    record = Record()
    parts.fit(data(2), epochs=2, event_handlers=[record])
    np.testing.assert_allclose(weights(parts), weights(whole), rtol=1e-5, atol=1e-6)
    assert np.array_equal(record.seen[0], record.seen[2]) and not np.array_equal(record.seen[2], record.seen[3])


def test_gradients_are_written_again_after_accumulating():
    est = estimator(accumulate=2)
    est.fit(data(4), epochs=1)
    assert {p.grad_req for p in est.net.collect_params().values()} == {"write"}


class Interrupt(BatchEnd):
    """Ends the program, so to say, after some batches; all others have heard of them."""

    priority = 10**9

    def __init__(self, after):
        self.left = after

    def batch_end(self, est, *args, **kwargs):
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt


def test_a_resumed_training_has_the_gradients_and_averages_that_waited(tmp_path):
    def handlers(*more):
        return [CheckpointHandler(str(tmp_path), epoch_period=None, batch_period=1), EMAHandler(0.5), *more]

    straight, broken, resumed = (estimator(accumulate=3) for _ in range(3))
    straight.fit(data(2), batches=12, event_handlers=[EMAHandler(0.5)])
    with pytest.raises(KeyboardInterrupt):
        broken.fit(data(2), batches=12, event_handlers=handlers(Interrupt(4)), resume="auto")
    resumed.fit(data(2), batches=12, event_handlers=handlers(), resume="auto")
    np.testing.assert_array_equal(weights(resumed), weights(straight))


def test_clipping_bounds_the_step():
    est, record = estimator(clip_norm=0.5), Record()
    before = weights(est)
    est.fit(data(4), epochs=1, event_handlers=[record])
    steps = np.diff([before, *record.seen], axis=0)
    np.testing.assert_allclose(np.linalg.norm(steps, axis=1), RATE * 0.5, rtol=1e-4)
    loose, plain = estimator(clip_norm=1e6), estimator()
    loose.fit(data(4), epochs=2)
    plain.fit(data(4), epochs=2)
    np.testing.assert_allclose(weights(loose), weights(plain), rtol=1e-6)


def test_clipping_on_two_devices_is_that_on_one():
    one, two = estimator(clip_norm=0.5), estimator(clip_norm=0.5, context=[mx.cpu(0), mx.cpu(1)])
    one.fit(data(4), epochs=2)
    two.fit(data(4), epochs=2)
    np.testing.assert_allclose(weights(two), weights(one), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("options", [{"accumulate": 0}, {"accumulate": 1.5}, {"clip_norm": 0}, {"clip_norm": -1.0}])
def test_wrong_options_are_told_at_once(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        estimator(**options)


class Scripted(mx.metric.EvalMetric):
    """A metric that says what the test wants, one value for each epoch."""

    def __init__(self, values):
        super().__init__("scripted")
        self.values, self.epoch = values, -1

    def reset(self):
        """The script goes on."""

    def update(self, labels, preds):
        """The script is fixed."""

    def get(self):
        return self.name, self.values[min(max(self.epoch, 0), len(self.values) - 1)]


class Next(EpochEnd):
    """Moves the scripted metric on, and keeps the weights of each epoch."""

    priority = -1500

    def __init__(self, metric):
        self.metric, self.seen, self.rates = metric, [], []

    def epoch_end(self, est, *args, **kwargs):
        self.metric.epoch += 1
        self.seen.append(weights(est))
        self.rates.append(est.trainer.learning_rate)


def scripted_fit(values, make, epochs=8):
    metric = Scripted(values)
    est, follow, handler = estimator(metric=metric), Next(metric), make(metric)
    est.fit(data(4), epochs=epochs, event_handlers=[follow, handler])
    return est, follow, handler


@pytest.mark.parametrize(("values", "epochs"), [([5, 3, 1, 4, 4, 4], 5), ([5, 4, 3, 2, 9], 5)])
def test_early_stopping_restores_the_best_weights(values, epochs):
    est, follow, _ = scripted_fit(
        values, lambda metric: EarlyStoppingHandler(metric, patience=2, mode="min", restore_best=True), 5
    )
    assert len(follow.seen) == epochs
    np.testing.assert_array_equal(weights(est), follow.seen[int(np.argmin(values))])


def test_early_stopping_keeps_the_last_weights_unless_asked():
    est, follow, _ = scripted_fit([5, 1, 4, 4], lambda m: EarlyStoppingHandler(m, patience=2, mode="min"))
    np.testing.assert_array_equal(weights(est), follow.seen[-1])


def test_the_rate_falls_on_a_plateau():
    values = [5, 4, 4, 4, 3, 3, 3, 3]
    est, follow, _ = scripted_fit(
        values, lambda m: ReduceLROnPlateauHandler(m, factor=0.5, patience=2, mode="min", min_lr=RATE * 0.3)
    )
    np.testing.assert_allclose(follow.rates, [RATE] * 4 + [RATE / 2] * 3 + [RATE * 0.3])


def test_averages_of_weights_follow_their_formula():
    est, record, ema = estimator(), Record(), EMAHandler(decay=0.6)
    est.fit(data(2), epochs=2, event_handlers=[record, ema])
    average = record.seen[0]
    for n, seen in enumerate(record.seen[1:], 1):
        decay = min(0.6, (1 + n) / (10 + n))
        average = decay * average + (1 - decay) * seen
    np.testing.assert_allclose(weights(est), average, rtol=1e-5)


def test_averages_can_be_applied_for_a_while():
    est, ema = estimator(), EMAHandler(decay=0.9, swap_at_end=False)
    est.fit(data(2), epochs=2, event_handlers=[ema])
    own = weights(est)
    with pytest.raises(RuntimeError), ema.applied(est.net):
        assert not np.allclose(weights(est), own)
        raise RuntimeError
    np.testing.assert_array_equal(weights(est), own)


def test_averages_copy_running_statistics():
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dense(4, in_units=3), gluon.nn.BatchNorm(in_channels=4), gluon.nn.Dense(1, in_units=4))
    net.initialize()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.01})
    est, ema = Estimator(net, gluon.loss.L2Loss(), mx.metric.MSE(), trainer=trainer), EMAHandler(0.99, False)
    est.logger.setLevel("ERROR")
    est.fit(data(4), epochs=2, event_handlers=[ema])
    np.testing.assert_array_equal(ema.averages["1.running_mean"].asnumpy(), net[1].running_mean.data().asnumpy())


def test_the_best_checkpoints_are_kept(tmp_path):
    values = [5.0, 2.0, 4.0, 1.0, 3.0]
    est, follow, handler = scripted_fit(
        values, lambda m: TopKCheckpointHandler(str(tmp_path), m, k=2, mode="min", model_prefix="net"), len(values)
    )
    names = ["net-epoch3-1.0000.params", "net-epoch1-2.0000.params"]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names)
    assert [(value, path) for value, path in handler.saved] == [
        (1.0, str(tmp_path / names[0])),
        (2.0, str(tmp_path / names[1])),
    ]
    est.net.load_parameters(str(tmp_path / names[0]))
    np.testing.assert_array_equal(weights(est), follow.seen[3])


@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
def test_the_finder_suggests_a_rate_that_learns_and_leaves_no_trace(optimizer, tmp_path):
    est = estimator(optimizer)
    est.trainer.optimizer.lr_scheduler = None
    est.fit(data(4), epochs=1)  # states are there
    before, rate = weights(est), est.trainer.learning_rate
    est.trainer.save_states(str(tmp_path / "before"))
    updates = est.trainer.optimizer.num_update
    found = est.find_learning_rate(data(4), start=1e-4, end=100.0, steps=60)
    np.testing.assert_array_equal(weights(est), before)
    assert est.trainer.learning_rate == rate and est.trainer.optimizer.num_update == updates
    est.trainer.save_states(str(tmp_path / "after"))
    assert (tmp_path / "before").read_bytes() == (tmp_path / "after").read_bytes()
    assert len(found.rates) == len(found.losses) and found.suggestion < found.rates[-1]
    assert 1e-3 < found.suggestion < 5
    fresh = estimator(optimizer)
    fresh.trainer.set_learning_rate(found.suggestion)
    fresh.fit(data(4), epochs=30)
    assert fresh.train_metrics[0].get()[1] < 0.5


def test_the_finder_tells_what_it_cannot_do():
    est = estimator()
    with pytest.raises(ValueError, match="rates must be positive and rise"):
        est.find_learning_rate(data(4), start=1.0, end=0.1)
    with pytest.raises(mx.MXNetError, match="begin with a smaller one"):
        est.find_learning_rate(data(4), start=1e6, end=1e9)


def test_one_cycle_rises_and_falls():
    schedule = mx.lr_scheduler.OneCycleScheduler(max_update=200, max_lr=0.4, rise=0.25, start_factor=10)
    rates = [schedule(n) for n in range(220)]
    assert math.isclose(rates[0], 0.04) and math.isclose(max(rates), 0.4) and rates.index(max(rates)) == 50
    assert np.all(np.diff(rates[:51]) > 0) and np.all(np.diff(rates[50:201]) < 0)
    assert math.isclose(rates[200], 0.4e-4) and rates[200:] == [rates[200]] * 20
    for wrong in ({"max_update": 0}, {"max_update": 10, "rise": 1.0}, {"max_update": 10, "start_factor": 0.5}):
        with pytest.raises(ValueError):
            mx.lr_scheduler.OneCycleScheduler(**wrong)


def test_one_cycle_drives_a_trainer():
    net = gluon.nn.Dense(1, in_units=3)
    net.initialize()
    schedule = mx.lr_scheduler.OneCycleScheduler(max_update=9, max_lr=0.5)
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"lr_scheduler": schedule})
    est = Estimator(net, gluon.loss.L2Loss(), mx.metric.MSE(), trainer=trainer)
    est.logger.setLevel("ERROR")
    est.fit(data(4), epochs=3)
    assert math.isclose(trainer.learning_rate, schedule(9)) and schedule.base_lr == 0.5


def test_handlers_of_ones_own_still_replace_the_update():
    est, record = estimator(accumulate=5), Record()
    est.fit(data(4), epochs=1, event_handlers=[GradientUpdateHandler(), record])
    assert not np.array_equal(record.seen[0], record.seen[1])


def test_a_metric_that_is_not_a_number():
    """As in MXNet it is told and does not count; the best weights come back, rates fall, and nothing is saved."""
    values = [5.0, 3.0, *[float("nan")] * 6]
    with pytest.warns(RuntimeWarning, match="is not updated"):
        est, follow, stop = scripted_fit(
            values, lambda m: EarlyStoppingHandler(m, patience=2, mode="min", restore_best=True)
        )
    assert stop.best == 3.0 and len(follow.seen) == 8
    np.testing.assert_array_equal(weights(est), follow.seen[1])
    _, follow, _ = scripted_fit(values, lambda m: ReduceLROnPlateauHandler(m, factor=0.5, patience=2, mode="min"))
    np.testing.assert_allclose(follow.rates, [RATE] * 4 + [RATE / 2] * 2 + [RATE / 4] * 2)


def test_a_plateau_and_a_schedule_do_not_go_together():
    est = estimator()
    est.trainer.optimizer.lr_scheduler = mx.lr_scheduler.FactorScheduler(5)
    with pytest.raises(ValueError, match="which its lr_scheduler sets"):
        est.fit(data(4), epochs=1, event_handlers=[ReduceLROnPlateauHandler(est.train_metrics[0], mode="min")])


class PartlyUsed(gluon.HybridBlock):
    """A network with a layer that no batch reaches."""

    def __init__(self):
        super().__init__()
        self.used, self.idle = gluon.nn.Dense(1, in_units=3), gluon.nn.Dense(4)

    def hybrid_forward(self, F, x):
        return self.used(x)


def test_averages_of_a_network_with_an_idle_layer():
    net = PartlyUsed()
    net.initialize()
    trainer = gluon.Trainer(net.used.collect_params(), "sgd", {"learning_rate": RATE})
    est, ema = Estimator(net, gluon.loss.L2Loss(), mx.metric.MSE(), trainer=trainer), EMAHandler(0.5)
    est.logger.setLevel("ERROR")
    est.fit(data(4), epochs=2, event_handlers=[ema])
    assert "used.weight" in ema.averages and "idle.weight" not in ema.averages


def test_hybridized_networks_train_alike():
    ends = []
    for hybridized in (False, True):
        est = estimator(accumulate=3, clip_norm=0.5)
        if hybridized:
            est.net.hybridize(static_alloc=True)
        est.fit(data(2), epochs=3, event_handlers=[EMAHandler(0.6)])
        ends.append(weights(est))
    np.testing.assert_allclose(ends[0], ends[1], rtol=1e-6)


def test_the_finder_on_two_devices_finds_what_it_finds_on_one():
    one, two = (
        estimator(context=context).find_learning_rate(data(4), start=1e-4, end=100.0, steps=60)
        for context in (None, [mx.cpu(0), mx.cpu(1)])
    )
    assert one.suggestion == two.suggestion
    np.testing.assert_allclose(two.losses[:40], one.losses[:40], rtol=1e-4)


@pytest.mark.filterwarnings("ignore:No trainer specified")
def test_clipping_on_two_devices_with_the_default_trainer():
    net, contexts = gluon.nn.Dense(1, in_units=3), [mx.cpu(0), mx.cpu(1)]
    net.initialize(ctx=contexts)
    est = Estimator(net, gluon.loss.L2Loss(), mx.metric.MSE(), context=contexts, clip_norm=0.5)
    est.logger.setLevel("ERROR")
    est.fit(data(4), epochs=1)
    assert np.isfinite(weights(est)).all()
