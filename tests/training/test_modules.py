"""Modules as programs use them: checkpoints, resuming, buckets, chains, Python losses, several devices."""

import warnings

import numpy as np
import pytest
import training_cases
from training_cases import examples, fitted, network

import mxnet as mx


def batches(size=16):
    return mx.io.NDArrayIter(*examples(), batch_size=size)


@pytest.mark.parametrize("contexts", [2, 4])
def test_devices_agree_with_one(contexts):
    one, several = fitted(mx)[0].get_params()[0], fitted(mx, contexts=contexts)[0].get_params()[0]
    for name, array in one.items():
        np.testing.assert_allclose(array.asnumpy(), several[name].asnumpy(), rtol=1e-5, atol=1e-6)


def test_a_checkpoint_goes_on_where_it_stopped(tmp_path):
    prefix = str(tmp_path / "net")
    whole = fitted(mx, epochs=4)[0].get_params()[0]
    module, _ = fitted(mx, epochs=2)
    module.save_checkpoint(prefix, 2, save_optimizer_states=True)
    resumed = mx.mod.Module.load(prefix, 2, load_optimizer_states=True)
    resumed.fit(
        batches(),
        num_epoch=4,
        begin_epoch=2,
        optimizer_params={"learning_rate": 0.5, "momentum": 0.9},
    )
    for name, array in resumed.get_params()[0].items():
        np.testing.assert_allclose(array.asnumpy(), whole[name].asnumpy(), rtol=1e-5, atol=1e-6)


def test_predict_score_and_other_batch_sizes(tmp_path):
    module, _ = fitted(mx)
    data, label = examples()
    scores = module.predict(mx.io.NDArrayIter(data, label, batch_size=32))
    assert scores.shape == (80, 3)
    accuracy = dict(module.score(batches(), "acc"))["accuracy"]
    assert accuracy == pytest.approx((scores.asnumpy().argmax(1) == label).mean())
    assert module.predict(mx.nd.array(data[:16])).shape == (16, 3)
    for outputs, number, batch in module.iter_predict(batches(32), num_batch=2):
        assert outputs[0].shape == (32, 3) and number < 2 and batch.pad == 0
    path = str(tmp_path / "p.params")
    module.save_params(path)
    other = mx.mod.Module(network(mx))
    other.bind([("data", (16, 5))], [("softmax_label", (16,))])
    other.load_params(path)
    assert (other.get_params()[0]["fc1_weight"].asnumpy() == module.get_params()[0]["fc1_weight"].asnumpy()).all()


def test_fixed_parameters_stay_and_missing_ones_are_named():
    module = mx.mod.Module(network(mx), fixed_param_names=["fc1_weight"])
    module.bind([("data", (16, 5))], [("softmax_label", (16,))])
    with pytest.raises(RuntimeError, match="fc1_bias is not presented"):
        module.init_params(arg_params={}, aux_params={})
    module.init_params(mx.init.One())
    module.init_optimizer(optimizer_params={"learning_rate": 1.0})
    for batch in batches():
        module.forward_backward(batch)
        module.update()
    args, _ = module.get_params()
    assert (args["fc1_weight"].asnumpy() == 1).all() and (args["fc2_weight"].asnumpy() != 1).any()


def test_wrong_names_are_explained():
    with pytest.raises(ValueError, match=r"input with name 'image' is not found.*Did you mean one of:\s+data"):
        mx.mod.Module(network(mx), data_names=["image"])
    module = mx.mod.Module(network(mx))
    with pytest.raises(ValueError, match="Data provided by data_shapes don't match names"):
        module.bind([("image", (16, 5))])


def test_input_gradients_and_outputs_of_each_device():
    module = mx.mod.Module(network(mx), context=[mx.cpu(0), mx.cpu(1)])
    module.bind([("data", (16, 5))], [("softmax_label", (16,))], inputs_need_grad=True)
    module.init_params(mx.init.Xavier())
    module.forward(next(iter(batches())), is_train=True)
    module.backward()
    assert module.get_input_grads()[0].shape == (16, 5)
    assert [o.shape for o in module.get_outputs(merge_multi_context=False)[0]] == [(8, 3), (8, 3)]
    assert module.output_shapes == [("softmax_output", (16, 3))]


def test_buckets_share_parameters():
    def sym_gen(length):
        data = mx.sym.Variable("data")
        net = mx.sym.FullyConnected(mx.sym.sum(data, axis=1, keepdims=True), num_hidden=3, name="fc")
        return mx.sym.SoftmaxOutput(net, name="softmax"), ["data"], ["softmax_label"]

    module = mx.mod.BucketingModule(sym_gen, default_bucket_key=8)
    module.bind([("data", (4, 8))], [("softmax_label", (4,))])
    module.init_params(mx.init.One())
    module.init_optimizer(optimizer_params={"learning_rate": 0.1})
    for length in (8, 5, 8, 3):
        batch = mx.io.DataBatch(
            [mx.nd.ones((4, length))],
            [mx.nd.zeros((4,))],
            bucket_key=length,
            provide_data=[("data", (4, length))],
            provide_label=[("softmax_label", (4,))],
        )
        module.forward_backward(batch)
        module.update()
    weights = {key: bucket.get_params()[0]["fc_weight"].asnumpy() for key, bucket in module._buckets.items()}
    assert set(weights) == {8, 5, 3}
    with pytest.raises(TypeError, match="NoneType"):
        module.forward(mx.io.DataBatch([mx.nd.ones((4, 3))]))  # which says neither its bucket nor its shapes
    assert set(module._buckets) == {8, 5, 3}
    assert (module.get_params()[0]["fc_weight"].asnumpy() != 1).any()


def test_modules_in_a_row_with_a_python_loss():
    data = mx.sym.Variable("data")
    first = mx.mod.Module(mx.sym.FullyConnected(data, num_hidden=3, name="fc1"), label_names=None)

    def gradient(scores, labels):
        return mx.nd.softmax(scores) - mx.nd.one_hot(labels, 3)

    chain = mx.mod.SequentialModule()
    chain.add(first).add(
        mx.mod.PythonLossModule(grad_func=gradient, data_names=("fc1_output",)), take_labels=True, auto_wiring=True
    )
    chain.fit(
        batches(),
        num_epoch=10,
        initializer=mx.init.Xavier(),
        optimizer_params={"learning_rate": 0.5},
        eval_metric="acc",
    )
    assert dict(chain.score(batches(), "acc"))["accuracy"] > 0.8


def test_feed_forward_trains_predicts_and_is_saved(tmp_path):
    data, label = examples()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        model = mx.model.FeedForward(
            network(mx), num_epoch=15, learning_rate=0.5, momentum=0.9, initializer=mx.init.Xavier()
        )
        model.fit(data, label, eval_data=(data, label))
        assert model.predict(data).shape == (80, 3)
        accuracy = model.score(batches())
        assert accuracy > 0.8
        model.save(str(tmp_path / "ff"))
        loaded = mx.model.FeedForward.load(str(tmp_path / "ff"), 15)
        assert loaded.score(batches()) == accuracy


@pytest.mark.parametrize(
    ("label", "error"),
    [
        (None, ValueError),
        ([0, 1, 2, 0], TypeError),
        (np.ones(3), ValueError),
        (np.ones((4, 2)), ValueError),
        (np.ones((4, 1, 1)), ValueError),
    ],
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_feed_forward_refuses_labels_that_do_not_fit(label, error):
    model = mx.model.FeedForward(network(mx), num_epoch=1)
    with pytest.raises(error, match="y"):
        model.fit(np.ones((4, 3), "float32"), label)


@pytest.mark.parametrize(
    ("size", "loads", "ends"),
    [(10, [1, 1, 1], [3, 6, 10]), (10, [1, 2], [3, 10]), (7, [0.5, 0.5, 1], [2, 4, 7]), (5, [1] * 4, [1, 2, 3, 5])],
)
def test_batches_are_split_by_work_load(size, loads, ends):
    parts = mx.executor_manager._split_input_slice(size, loads)
    assert [part.stop for part in parts] == ends and [part.start for part in parts] == [0, *ends[:-1]]


def test_no_device_goes_without_samples():
    with pytest.raises(ValueError, match="Too many slices"):
        mx.executor_manager._split_input_slice(2, [1, 1, 1])


def test_speedometer_and_checkpoints_in_a_classic_program(tmp_path, caplog):
    caplog.set_level("INFO")
    fitted(mx, callbacks=[mx.callback.Speedometer(16, 2)], epochs=1)
    assert sum("samples/sec\taccuracy=" in r.getMessage() for r in caplog.records) == 2
    assert training_cases.fitted(mx, epochs=1)[1][0].startswith("Epoch[0] Train-accuracy=")


class Stop(Exception):
    pass


def test_modules_in_a_row_resume(tmp_path):
    def chain():
        data = mx.sym.Variable("data")
        first = mx.sym.Activation(mx.sym.FullyConnected(data, num_hidden=4, name="fc1"), act_type="tanh", name="act")
        second = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(data, num_hidden=3, name="fc2"), name="softmax")
        made = mx.mod.SequentialModule()
        made.add(mx.mod.Module(first, label_names=None))
        return made.add(mx.mod.Module(second), take_labels=True, auto_wiring=True)

    def trained(name, stop=None, seed=3):
        def batch_end(param):
            if (param.epoch, param.nbatch) == stop:
                raise Stop

        mx.random.seed(seed)
        module = chain()
        module.fit(
            batches(), num_epoch=4, initializer=mx.init.Xavier(),
            optimizer_params={"learning_rate": 0.5, "momentum": 0.9}, batch_end_callback=batch_end,
            resume="auto", resume_prefix=str(tmp_path / name), resume_every=2,
        )  # fmt: skip
        return {name: array.asnumpy() for name, array in module.get_params()[0].items()}

    whole = trained("whole")
    with pytest.raises(Stop):
        trained("parts", stop=(2, 2))
    again = trained("parts", seed=4)  # which would begin with other parameters
    assert whole.keys() == again.keys()
    for name, values in whole.items():
        np.testing.assert_array_equal(values, again[name])


def test_helpers_that_other_libraries_take_from_the_training_modules():
    """Detectors' own modules import `_as_list`, GluonTS sums losses with `mx.metric.ndarray`."""
    from mxnet.module.base_module import _as_list

    assert _as_list("data") == ["data"] and _as_list(["a", "b"]) == ["a", "b"]
    assert mx.metric.ndarray is mx.nd
