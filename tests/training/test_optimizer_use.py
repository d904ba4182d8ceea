"""How programs make, tune, extend, save and restore optimizers."""

import numpy as np
import pytest

import mxnet as mx


def step(optimizer, grad=1.0, times=1, index=0):
    weight, updater = mx.nd.ones((2,)), mx.optimizer.get_updater(optimizer)
    for _ in range(times):
        updater(index, mx.nd.full((2,), grad), weight)
    return weight.asnumpy()


def test_names_are_case_blind_and_unknown_ones_refused():
    assert isinstance(mx.optimizer.create("AdaGrad"), mx.optimizer.AdaGrad)
    assert isinstance(mx.optimizer.Optimizer.create_optimizer("groupadagrad"), mx.optimizer.contrib.GroupAdaGrad)
    with pytest.raises(ValueError, match="Cannot find optimizer sgdd"):
        mx.optimizer.create("sgdd")


def test_a_program_registers_its_own():
    @mx.optimizer.register
    class Half(mx.optimizer.Optimizer):
        def create_state(self, index, weight):
            return mx.nd.zeros(weight.shape)

        def update(self, index, weight, grad, state):
            self._update_count(index)
            state += 1
            weight[:] -= 0.5 * self._get_lr(index) * grad

    weights = [mx.nd.ones((2,)), mx.nd.ones((3,))]
    updater = mx.optimizer.get_updater(mx.optimizer.create("half", learning_rate=0.2))
    updater([0, 1], [mx.nd.ones((2,)), mx.nd.ones((3,))], weights)
    assert [w.asnumpy().tolist() for w in weights] == [[pytest.approx(0.9)] * 2, [pytest.approx(0.9)] * 3]
    with pytest.warns(UserWarning, match="overriding existing optimizer"):
        mx.optimizer.register(Half)
    del mx.optimizer.Optimizer.opt_registry["half"]


@pytest.mark.parametrize("kind", [mx.optimizer.Adam])  # others: test_overridden_updates.py
def test_an_override_of_update_is_called_parameter_by_parameter(kind):
    seen = []

    class Watched(kind):
        def update(self, index, weight, grad, state):
            seen.append(index)
            super().update(index, weight, grad, state)

    weights = [mx.nd.ones((2,)), mx.nd.ones((2,))]
    mx.optimizer.get_updater(Watched(learning_rate=0.25))([0, 1], [mx.nd.ones((2,))] * 2, weights)
    assert seen == [0, 1]
    assert weights[0].asnumpy()[0] == pytest.approx(0.75, rel=1e-5)


def test_multipliers_by_name_index_attribute_and_parameter():
    names = {0: "fc_weight", 1: "fc_bias"}
    optimizer = mx.optimizer.SGD(learning_rate=0.1, wd=0.5, param_idx2name=names)
    assert optimizer._get_wds([0, 1]) == [0.5, 0.0]
    optimizer.set_lr_mult({"fc_bias": 2.0, 0: 3.0})
    optimizer.set_wd_mult({"fc_bias": 4.0})
    assert optimizer._get_lrs([0, 1, 9]) == pytest.approx([0.3, 0.2, 0.1])
    assert optimizer._get_wds([0, 1]) == [0.5, 2.0]
    data = mx.sym.Variable("data")
    weight = mx.sym.Variable("fc_weight", lr_mult=0.5, wd_mult=0.1)
    symbol = mx.sym.FullyConnected(data, weight, num_hidden=2, name="fc")
    optimizer = mx.optimizer.SGD(learning_rate=0.1, wd=0.5, param_idx2name=names, sym=symbol)
    assert optimizer._get_lrs([0]) == pytest.approx([0.05]) and optimizer._get_wds([0]) == pytest.approx([0.05])


def test_learning_rate_belongs_to_the_scheduler(capsys):
    optimizer = mx.optimizer.SGD(learning_rate=0.3)
    optimizer.set_learning_rate(0.2)
    assert optimizer.learning_rate == 0.2
    scheduler = mx.lr_scheduler.FactorScheduler(step=2, factor=0.5, base_lr=1.0)
    optimizer = mx.optimizer.SGD(learning_rate=0.3, lr_scheduler=scheduler)
    assert "has been overwritten" in capsys.readouterr().out
    with pytest.raises(UserWarning, match="already been defined"):
        optimizer.set_learning_rate(0.2)
    assert step(optimizer, times=3) == pytest.approx([1 - 0.3 - 0.3 - 0.15] * 2)


def test_float16_warns_without_a_master_copy():
    weight = mx.nd.ones((2,), dtype="float16")
    with pytest.warns(UserWarning, match="multi_precision=True option of the SGD optimizer"):
        mx.optimizer.SGD(momentum=0.9).create_state_multi_precision(0, weight)
    with pytest.warns(UserWarning, match="multi_precision=True option of the optimizer"):
        mx.optimizer.Adam().create_state_multi_precision(0, weight)
    momentum, master = mx.optimizer.SGD(momentum=0.9, multi_precision=True).create_state_multi_precision(0, weight)
    assert momentum.dtype == master.dtype == np.float32


def test_states_travel_through_bytes():
    scheduler = mx.lr_scheduler.FactorScheduler(step=2, factor=0.5, base_lr=0.1)
    first = mx.optimizer.get_updater(mx.optimizer.Adam(learning_rate=0.1, lr_scheduler=scheduler))
    weight = mx.nd.ones((3,))
    for _ in range(5):
        first(0, mx.nd.ones((3,)), weight)
    second = mx.optimizer.get_updater(mx.optimizer.SGD())
    second.set_states(first.get_states(dump_optimizer=True))
    assert isinstance(second.optimizer, mx.optimizer.Adam) and second.optimizer.num_update == 5
    copy = weight.copy()
    first(0, mx.nd.ones((3,)), weight)
    second(0, mx.nd.ones((3,)), copy)
    assert (copy.asnumpy() == weight.asnumpy()).all()


def test_bad_state_bytes_are_refused():
    updater = mx.optimizer.get_updater(mx.optimizer.SGD())
    with pytest.raises(mx.MXNetError):
        updater.set_states(b"cos\nsystem\n(S'true'\ntR.")


def test_updates_leave_gradients_and_recorded_graphs_alone():
    weight = mx.nd.ones((2,))
    weight.attach_grad()
    with mx.autograd.record():
        loss = (weight * weight).sum()
    loss.backward(retain_graph=True)
    before = weight.grad.asnumpy()
    mx.optimizer.get_updater(mx.optimizer.SGD(rescale_grad=0.5, clip_gradient=0.1))(0, weight.grad, weight)
    assert (weight.grad.asnumpy() == before).all()
    assert weight.asnumpy() == pytest.approx([1 - 0.01 * 0.1] * 2)


def test_channels_last_weights_and_strided_ones_update_alike():
    grad = mx.nd.array(np.random.RandomState(0).normal(size=(4, 3, 2, 2)))
    plain = mx.nd.ones((4, 3, 2, 2))
    last = mx.nd.ones((4, 3, 2, 2))
    last._t = last._t.to(memory_format=__import__("torch").channels_last)
    for weight in (plain, last):
        updater = mx.optimizer.get_updater(mx.optimizer.Adam(learning_rate=0.1))
        for _ in range(3):
            updater(0, grad, weight)
    np.testing.assert_allclose(plain.asnumpy(), last.asnumpy(), rtol=1e-6)


def test_sgld_follows_mxnets_noise():
    """Half a step down, then noise of variance lr from the context's stream."""
    mx.random.seed(0)
    noise = mx.nd.random.normal(0, 0.1, shape=(2,)).asnumpy()
    mx.random.seed(0)
    assert step(mx.optimizer.SGLD(learning_rate=0.01)) == pytest.approx(1 - 0.005 + noise, rel=1e-6)


def test_adamw_decays_the_weight_itself():
    moved = step(mx.optimizer.create("adamw", learning_rate=0.1, wd=0.5))
    assert moved == pytest.approx([1 - 0.1 * (1 + 0.5)] * 2, rel=1e-4)


def rates_of_its_own(base):
    class Own(base):
        def _get_lr(self, index):
            return 0.5 / (1 + index)

        def _get_wd(self, index):
            return 0.25 * index

    return Own()


def rates_in_lists(base):
    class Own(base):
        def _get_lrs(self, indices):
            assert len(indices) <= max(self.aggregate_num, 1)  # no more at once than MXNet hands over
            return [0.5 / (1 + i) for i in indices]

    return Own()


# Two steps from weights 1, 3, 5 with gradients 0.1, by MXNet 1.9.1
@pytest.mark.parametrize(
    ("name", "kind", "expected"),
    [
        ("Adam", rates_of_its_own, [-4e-6, 2.500676, 4.666828]),
        ("Adam", rates_in_lists, [-4e-6, 2.499998, 4.666665]),
        ("RMSProp", rates_of_its_own, [-1.728206, 1.712202, 4.110504]),
        ("AdaGrad", rates_of_its_own, [0.14645, 2.225568, 3.930761]),
        ("NAG", rates_of_its_own, [0.9, 2.588281, 4.169444]),
        ("SGD", rates_of_its_own, [0.998, 2.998, 4.998]),  # MXNet asks SGD in lists, and so not at all
        ("SGD", rates_in_lists, [0.9, 2.95, 4.966666]),
        ("AdaGrad", rates_in_lists, [0.14645, 2.573225, 4.715483]),
    ],
)
def test_subclasses_say_the_rates_where_mxnet_asks_them(name, kind, expected):
    updater = mx.optimizer.get_updater(kind(getattr(mx.optimizer, name)))
    weights = [mx.nd.array([w]) for w in (1, 3, 5)]
    for _ in range(2):
        updater([0, 1, 2], [mx.nd.array([0.1])] * 3, weights)
    np.testing.assert_allclose([w.asscalar() for w in weights], expected, rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize("stype", ["default", "row_sparse"])
@pytest.mark.parametrize(
    "name, dtype, expected",
    [
        ("nag", "float32", [[1, 1], [0.45, -0.05], [1, 1]]),  # without momentum it is SGD, which is lazy
        ("nag", "float16", [[0.9501953, 0.9501953], [0.4499512, -0.0499878], [0.9501953, 0.9501953]]),
        ("sgd", "float16", [[0.9501953, 0.9501953], [0.4499512, -0.0499878], [0.9501953, 0.9501953]]),
        ("lars", "float32", [[1, 1], [0.9994570, 0.9989634], [1, 1]]),  # norms of whole arrays
    ],
)
def test_rows_of_a_sparse_gradient(name, dtype, expected, stype):
    """Recorded from MXNet: which rows a sparse gradient changes, and what they become."""
    weight = mx.nd.ones((3, 2), dtype=dtype).tostype(stype)
    rows = mx.nd.array([[1, 2]], dtype=dtype)
    grad = mx.nd.sparse.row_sparse_array((rows, [1]), shape=(3, 2), dtype=dtype)
    optimizer = mx.optimizer.create(name, learning_rate=0.5, wd=0.1, multi_precision=dtype == "float16")
    mx.optimizer.get_updater(optimizer)(0, grad, weight)
    np.testing.assert_allclose(weight.asnumpy(), expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("shape", [(2,), (1,)])
def test_a_gradient_of_another_shape_is_refused(shape):
    updater = mx.optimizer.get_updater(mx.optimizer.SGD())
    with pytest.raises(mx.MXNetError, match=r"at 1-th input: expected \[3\], got \[\d\]"):
        updater(0, mx.nd.ones(shape), mx.nd.ones((3,)))
    with pytest.raises(mx.MXNetError, match=r"gradient of parameter 1 "):
        updater([0, 1], [mx.nd.ones((4,)), mx.nd.ones((2,))], [mx.nd.ones((4,)), mx.nd.ones((3,))])


def sparse_rows(values, rows):
    return mx.nd.sparse.row_sparse_array((np.array(values, "f"), rows), shape=(4, 2))


LAZY = {"sgd": {"momentum": 0.9}, "adam": {}, "adagrad": {}, "ftrl": {}}


@pytest.mark.parametrize("name", LAZY)
def test_sparse_states_have_all_rows_after_a_lazy_step(name):
    """As in MXNet, whose weights keep rows of zeros (ftrl's second), too."""
    optimizer = mx.optimizer.create(name, learning_rate=0.1, **LAZY[name])
    weight = sparse_rows(np.arange(8).reshape(4, 2), [0, 1, 2, 3])
    state = optimizer.create_state(0, weight)
    optimizer.update(0, weight, sparse_rows([[1, 2], [0, 0]], [0, 1]), state)
    for array in [weight, *(state if isinstance(state, tuple) else [state])]:
        assert array.stype == "row_sparse" and array.indices.asnumpy().tolist() == [0, 1, 2, 3]


def test_sparse_states_of_an_update_operator():
    weight, momentum = sparse_rows(np.ones((4, 2)), [0, 1, 2, 3]), mx.nd.sparse.zeros("row_sparse", (4, 2))
    gradient = sparse_rows([[10, 20]], [1])
    mx.nd.sgd_mom_update(weight, gradient, momentum, lr=0.1, momentum=0.9, out=weight)
    assert weight.data.asnumpy().tolist() == [[1, 1], [0, -1], [1, 1], [1, 1]]
    assert momentum.indices.asnumpy().tolist() == [0, 1, 2, 3]
    with pytest.raises(mx.MXNetError, match="expected float32, got float64"):
        mx.nd.sgd_mom_update(weight, gradient.astype("float64"), momentum, lr=0.1, momentum=0.9, out=weight)


TWO_LAZY_STEPS = {  # recorded from MXNet: what rows of ones become that both steps touch, one step, none
    "sgd": [0.9, 0.95, 1], "adam": [0.7999988, 0.8999994, 1],
    "ftrl": [0.27004397, 0.2993333, 1], "adagrad": [0.8292894, 0.9, 1],
}  # fmt: skip


@pytest.mark.parametrize("own", [[0, 1, 2, 3], [0, 1, 2], [2]], ids=["all rows", "three", "one"])
@pytest.mark.parametrize("name", TWO_LAZY_STEPS)
def test_lazy_steps_on_rows_that_a_sparse_weight_has_and_has_not(name, own):
    """MXNet refuses weights that lack rows; here the missing ones begin as zeros."""
    updater = mx.optimizer.get_updater(mx.optimizer.create(name, learning_rate=0.1))
    weight = sparse_rows(np.ones((len(own), 2)), own)
    before, dense = weight.copy(), weight.tostype("default")
    other = mx.optimizer.get_updater(mx.optimizer.create(name, learning_rate=0.1))
    for touched in ([0, 1], [0]):
        gradient = sparse_rows(np.full((len(touched), 2), 0.5), touched)
        updater(0, gradient, weight)
        other(0, gradient if name != "ftrl" else gradient.tostype("default"), dense)
    assert weight.indices.asnumpy().tolist() == sorted({*own, 0, 1})
    for row, expected in enumerate(TWO_LAZY_STEPS[name]):
        if row in own:
            np.testing.assert_allclose(weight.asnumpy()[row], [expected] * 2, rtol=2e-6)
    assert before.data.asnumpy().tolist() == [[1, 1]] * len(own)
    if name != "ftrl":  # whose dense steps change all rows
        np.testing.assert_allclose(weight.asnumpy(), dense.asnumpy(), rtol=1e-6)
