"""Conveniences of training for Module: what the Estimator's handlers do, by callbacks of `fit`."""

import logging
import os

import numpy as np
import pytest

import mxnet as mx


def iterator(batch_size=8, count=32, seed=0):
    x = np.random.RandomState(seed).normal(size=(count, 4)).astype("float32")
    return mx.io.NDArrayIter(x, (x.sum(axis=1) > 0).astype("float32"), batch_size=batch_size)


def module(contexts=mx.cpu()):
    data = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc")
    return mx.mod.Module(mx.sym.SoftmaxOutput(data, name="softmax"), context=contexts)


def ready(mod, data, rate=0.5, **options):
    mod.bind(data.provide_data, data.provide_label)
    mx.random.seed(3)
    mod.init_params(mx.init.Xavier())
    mod.init_optimizer(optimizer_params={"learning_rate": rate, **options})
    return mod


def weights(mod):
    return {name: value.asnumpy() for name, value in mod.get_params()[0].items()}


class Scripted(mx.metric.EvalMetric):
    """A metric that takes these values, one for each evaluation."""

    def __init__(self, values):
        self.values = iter(values)
        super().__init__("scripted")

    def update(self, labels, preds):
        pass

    def reset(self):
        self.current = None

    def get(self):
        if self.current is None:
            self.current = next(self.values)
        return self.name, self.current

    reset_local = reset


def fit(mod, data, values, **callbacks):
    epochs = []
    mod.fit(data, data, num_epoch=len(values), validation_metric=Scripted(values), eval_metric="acc",
            epoch_end_callback=[lambda epoch, *rest: epochs.append(weights(mod)), *callbacks.pop("epochs", [])],
            **callbacks)  # fmt: skip
    return epochs


def test_early_stopping_with_the_best_weights():
    data, mod = iterator(), module()
    ready(mod, data)
    stop = mx.callback.EarlyStopping(mod, patience=2, mode="min")
    epochs = fit(mod, data, [0.5, 0.3, 0.4, 0.35, 0.1, 0.1], eval_end_callback=[stop])
    assert (len(epochs), stop.best, stop.stopped_epoch) == (4, 0.3, 3)
    np.testing.assert_array_equal(weights(mod)["fc_weight"], epochs[1]["fc_weight"])
    assert len(list(data)) == 4  # the data are reset, as after the last epoch


def test_the_best_weights_without_a_stop():
    data, mod = iterator(), module()
    ready(mod, data)
    stop = mx.callback.EarlyStopping(mod, patience=5, mode="max", monitor="scripted")
    epochs = fit(mod, data, [0.5, 0.9, 0.4], eval_end_callback=stop)
    np.testing.assert_array_equal(weights(mod)["fc_weight"], epochs[1]["fc_weight"])
    assert stop.stopped_epoch is None


def test_an_unknown_metric_and_mode():
    data, mod = iterator(), module()
    with pytest.raises(mx.MXNetError, match="there is no metric f1 among scripted"):
        fit(ready(mod, data), data, [0.5], eval_end_callback=mx.callback.EarlyStopping(mod, monitor="f1"))
    with pytest.raises(ValueError, match='"max" or "min"'):
        mx.callback.EarlyStopping(mod, mode="auto")


def test_rates_fall_on_a_plateau():
    data, mod = iterator(), module()
    ready(mod, data)
    rates = []
    reduce = mx.callback.ReduceLROnPlateau(mod, factor=0.1, patience=2, mode="max", min_lr=0.01)
    told = [reduce, lambda param: rates.append(mod._optimizer.learning_rate)]
    fit(mod, data, [0.5, 0.5, 0.5, 0.6, 0.6, 0.6, 0.6, 0.6], eval_end_callback=told)
    np.testing.assert_allclose(rates, [0.5, 0.5, 0.05, 0.05, 0.05, 0.01, 0.01, 0.01])


def test_moving_averages():
    data, mod = iterator(), module()
    ready(mod, data)
    seen, ema = [], mx.callback.ExponentialMovingAverage(mod, decay=0.5, swap_at_end=False)
    mod.fit(data, num_epoch=1, batch_end_callback=[ema, lambda param: seen.append(weights(mod)["fc_weight"])])
    average = seen[0]
    for n, value in enumerate(seen[1:], 1):
        d = min(0.5, (1 + n) / (10 + n))
        average = d * average + (1 - d) * value
    np.testing.assert_allclose(ema.averages[0]["fc_weight"].asnumpy(), average, rtol=1e-5)
    with ema.applied():
        np.testing.assert_allclose(weights(mod)["fc_weight"], average, rtol=1e-5)
    np.testing.assert_array_equal(weights(mod)["fc_weight"], seen[-1])


def test_moving_averages_at_the_end():
    data, mod = iterator(), module()
    ready(mod, data)
    ema = mx.callback.ExponentialMovingAverage(mod, decay=0.5)
    mod.fit(data, num_epoch=1, batch_end_callback=ema)
    np.testing.assert_array_equal(weights(mod)["fc_weight"], ema.averages[0]["fc_weight"].asnumpy())


def test_top_k_checkpoints(tmp_path):
    data, mod = iterator(), module()
    ready(mod, data)
    top = mx.callback.TopKCheckpoint(mod, str(tmp_path / "net"), k=2, mode="max")
    epochs = fit(mod, data, [0.5, 0.9, 0.4, 0.7, float("nan")], eval_end_callback=top)
    assert top.saved == [(0.9, 2), (0.7, 4)]
    names = [name for name in sorted(os.listdir(tmp_path)) if "manifest" not in name]
    assert names == ["net-0002.params", "net-0004.params", "net-symbol.json"]
    assert not [name for name in os.listdir(tmp_path) if "0001" in name]
    _, arguments, _ = mx.model.load_checkpoint(str(tmp_path / "net"), 4)
    np.testing.assert_array_equal(arguments["fc_weight"].asnumpy(), epochs[3]["fc_weight"])


@pytest.mark.parametrize("contexts", [[mx.cpu()], [mx.cpu(0), mx.cpu(1)]])
def test_accumulated_batches_are_one_large_batch(contexts):
    def trained(batch_size, accumulate):
        data, mod = iterator(batch_size), module(contexts)
        ready(mod, data, momentum=0.9)
        update = mx.callback.GradientUpdate(mod, accumulate=accumulate)
        mod.fit(data, num_epoch=2, epoch_end_callback=update)
        return weights(mod), mod._optimizer.num_update

    (large, updates), (small, few) = trained(16, 1), trained(4, 4)
    assert updates == few == 4
    for name in large:
        np.testing.assert_allclose(small[name], large[name], rtol=1e-4, atol=1e-6)


def test_the_last_batches_of_an_epoch_may_be_fewer():
    data, mod = iterator(8, 24), module()
    ready(mod, data)
    update = mx.callback.GradientUpdate(mod, accumulate=2)
    mod.fit(data, num_epoch=3, epoch_end_callback=update)
    assert mod._optimizer.num_update == 6
    update.detach()
    mod.fit(data, num_epoch=1)
    assert mod._optimizer.num_update == 9


@pytest.mark.parametrize("contexts", [[mx.cpu()], [mx.cpu(0), mx.cpu(1)]])
def test_clipped_gradients(contexts):
    def moved(clip_norm):
        data, mod = iterator(8, 8), module(contexts)
        before = weights(ready(mod, data, rate=1.0))
        mod.fit(data, num_epoch=1, epoch_end_callback=mx.callback.GradientUpdate(mod, clip_norm=clip_norm))
        return np.concatenate([(weights(mod)[name] - before[name]).ravel() for name in before])

    free, bounded = moved(100.0), moved(0.01)
    assert np.linalg.norm(free) > 0.05
    np.testing.assert_allclose(np.linalg.norm(bounded), 0.01, rtol=1e-4)
    np.testing.assert_allclose(bounded, free * 0.01 / np.linalg.norm(free), rtol=1e-3, atol=1e-7)


@pytest.mark.parametrize("options", [{"accumulate": 0}, {"accumulate": 1.5}, {"clip_norm": 0}])
def test_updates_that_make_no_sense(options):
    with pytest.raises(ValueError, match=f"{next(iter(options))} must be"):
        mx.callback.GradientUpdate(module(), **options)


def test_the_rate_finder_leaves_the_module_as_it_was():
    data, mod = iterator(8, 64), module()
    ready(mod, data, rate=0.3, momentum=0.9, lr_scheduler=mx.lr_scheduler.FactorScheduler(100, 0.5, base_lr=0.3))
    before, state = weights(mod), mod._optimizer.num_update
    found = mx.callback.find_learning_rate(mod, data, start=1e-4, end=1e4, steps=60)
    assert 1e-3 < found.suggestion < 100 and len(found.rates) == len(found.losses)
    assert min(found.losses) < found.losses[0]
    for name, value in weights(mod).items():
        np.testing.assert_array_equal(value, before[name])
    assert (mod._optimizer.num_update, mod._optimizer.learning_rate) == (state, 0.3)
    assert len(list(data)) == 8
    with pytest.raises(ValueError, match="positive and rise"):
        mx.callback.find_learning_rate(mod, data, start=1, end=0.1)


def test_one_cycle_for_a_module(caplog):
    caplog.set_level(logging.ERROR)
    data, mod, rates = iterator(), module(), []
    schedule = mx.lr_scheduler.OneCycleScheduler(max_update=20, max_lr=1.0)
    mod.fit(data, num_epoch=5, optimizer_params={"lr_scheduler": schedule},
            batch_end_callback=lambda param: rates.append(mod._optimizer.learning_rate))  # fmt: skip
    assert rates.index(max(rates)) in range(3, 9) and rates[-1] < 0.01 < rates[0] < max(rates)


def test_a_plateau_and_a_schedule_do_not_go_together():
    data, mod = iterator(), module()
    ready(mod, data, lr_scheduler=mx.lr_scheduler.FactorScheduler(5))
    with pytest.raises(mx.MXNetError, match="which its lr_scheduler sets"):
        fit(mod, data, [0.5, 0.5], eval_end_callback=mx.callback.ReduceLROnPlateau(mod, patience=1))


class Interrupt(Exception):
    """The program is killed, so to say."""


def resumable(folder, values, epochs=6, after=None):
    """One process's part of a training with all callbacks; it is interrupted after so many batches."""
    data, mod, batches = iterator(), module(), [0]
    ready(mod, data)

    def interrupt(param):
        batches[0] += 1
        if batches[0] == after:
            raise Interrupt

    stop = mx.callback.EarlyStopping(mod, patience=3, mode="max")
    reduce = mx.callback.ReduceLROnPlateau(mod, factor=0.5, patience=2, mode="max")
    top = mx.callback.TopKCheckpoint(mod, str(folder / "best"), k=2, mode="max")
    ema = mx.callback.ExponentialMovingAverage(mod, decay=0.5, swap_at_end=False)
    update = mx.callback.GradientUpdate(mod, accumulate=3)
    mod.fit(data, data, num_epoch=epochs, validation_metric=Scripted(values), eval_metric="acc",
            eval_end_callback=[top, reduce, stop], batch_end_callback=[ema, interrupt], epoch_end_callback=update,
            resume="auto", resume_prefix=str(folder / "run"), resume_every=1)  # fmt: skip
    return stop, reduce, top, ema, mod


def test_callbacks_continue_where_a_killed_training_was(tmp_path):
    values = [0.5, 0.9, 0.4, 0.7, 0.7, 0.7]
    folders = [tmp_path / "straight", tmp_path / "broken"]
    for folder in folders:
        folder.mkdir()
    straight = resumable(folders[0], values)
    with pytest.raises(Interrupt):
        resumable(folders[1], values, after=4 + 4 + 4 + 2)  # in the fourth epoch, one batch waits for its update
    resumed = resumable(folders[1], values[3:])
    for one, other in zip(straight[:3], resumed[:3], strict=True):
        assert {name: value for name, value in one.state_dict().items() if name != "_parameters"} == {
            name: value for name, value in other.state_dict().items() if name != "_parameters"
        }
    assert resumed[0].stopped_epoch == 4 and resumed[2].saved == [(0.9, 2), (0.7, 4)]
    assert resumed[3].updates == straight[3].updates == 4 * 5 - 1
    for name, value in straight[3].averages[0].items():
        np.testing.assert_array_equal(resumed[3].averages[0][name].asnumpy(), value.asnumpy())
    for name, value in weights(straight[4]).items():  # those of the second epoch
        np.testing.assert_array_equal(weights(resumed[4])[name], value)
