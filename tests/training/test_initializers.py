"""How programs choose and write initializers."""

import json
import logging

import numpy as np
import pytest

import mxnet as mx


def fill(initializer, name="fc_weight", shape=(2, 3), **desc):
    array = mx.nd.full(shape, 7.0)
    initializer(mx.init.InitDesc(name, **desc), array)
    return array.asnumpy()


def test_a_program_writes_its_own():
    class Threshold(mx.init.Initializer):
        def _init_weight(self, name, data):
            data[:] = mx.nd.random.uniform(-10, 10, data.shape)
            data *= data.abs() >= 5

    values = fill(Threshold(), shape=(20, 20))
    assert ((values == 0) | (np.abs(values) >= 5)).all() and (fill(Threshold(), "fc_bias") == 0).all()


def test_registered_names_aliases_and_json():
    assert mx.init.create("zeros") == mx.init.Zero()
    assert mx.init.create("xavier", magnitude=2).magnitude == 2.0
    made = mx.init.create(mx.init.Normal(0.5).dumps())
    assert isinstance(made, mx.init.Normal) and made.sigma == 0.5
    assert json.loads(mx.init.Constant(np.array([1.0, 2.0])).dumps()) == ["constant", {"value": [1.0, 2.0]}]
    with pytest.raises(AssertionError, match="is not registered. Please register with initializer.register"):
        mx.init.create("nothing")

    @mx.init.register
    class Sevens(mx.init.Initializer):
        def _init_weight(self, name, data):
            data[:] = 7

    assert (fill(mx.init.create("sevens")) == 7).all()


def test_an_attribute_of_the_variable_wins():
    assert (fill(mx.init.Xavier(), attrs={"__init__": mx.init.One().dumps()}) == 1).all()


def test_unknown_endings_are_refused():
    with pytest.raises(ValueError, match="Unknown initialization pattern for fc_something"):
        fill(mx.init.Xavier(), "fc_something")
    with pytest.raises(ValueError, match="cannot be applied to vector"):
        fill(mx.init.Xavier(), shape=(3,))


def test_plain_strings_follow_the_old_rule():
    array = mx.nd.zeros((3,))
    with pytest.warns(DeprecationWarning, match="has been deprecated"):
        mx.init.Uniform()("bn_moving_var", array)
    assert (array.asnumpy() == 1).all()


def test_mixed_takes_the_first_pattern_and_load_the_file(tmp_path, caplog):
    mixed = mx.init.Mixed(["bias", ".*"], [mx.init.Zero(), mx.init.One()])
    assert (fill(mixed, "fc_weight") == 1).all()
    with pytest.raises(ValueError, match="did not match any pattern"):
        fill(mx.init.Mixed(["x"], [mx.init.Zero()]))
    path = str(tmp_path / "saved.params")
    mx.nd.save(path, {"arg:fc_weight": mx.nd.full((2, 3), 4.0)})
    caplog.set_level(logging.INFO)
    loader = mx.init.Load(path, default_init=mx.init.Zero(), verbose=True)
    assert (fill(loader) == 4).all() and (fill(loader, "other_weight") == 0).all()
    assert [r.getMessage() for r in caplog.records] == [
        "Initialized fc_weight by loading",
        "Initialized other_weight by default",
    ]
    with pytest.raises(AssertionError, match="Shape mismatch"):
        fill(loader, shape=(3, 3))


def test_verbosity_logs_each_array(caplog):
    caplog.set_level(logging.INFO)
    fill(mx.init.One().set_verbosity(True))
    assert caplog.records[0].getMessage() == "Initialized fc_weight as weight: 1.0"
