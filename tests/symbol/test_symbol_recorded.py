"""Networks as MXNet writes, runs and differentiates them."""

import networks
import numpy as np
import partial
import pytest

import mxnet as mx


@pytest.mark.parametrize("name", networks.NETWORKS)
def test_text_and_names_are_mxnets(record, name):
    assert networks.describe(mx, name) == record["texts"][name]


@pytest.mark.parametrize("name", networks.NETWORKS)
def test_json_survives_a_round_trip(record, name):
    text = record["texts"][name]["json"]
    assert mx.sym.load_json(text).tojson() == text


@pytest.mark.parametrize("name", networks.RUN)
def test_a_training_step_is_mxnets(record, name):
    found, wanted = networks.run(mx, name), record["runs"][name]
    assert found.keys() == wanted.keys()
    for key, values in wanted.items():
        np.testing.assert_allclose(found[key], values, rtol=1e-4, atol=2e-6, err_msg=key)


@pytest.mark.parametrize("case", partial.CASES)
def test_partial_shapes_are_mxnets(record, case):
    make, known = partial.CASES[case]
    found = [list(map(list, part)) for part in make(mx).infer_shape_partial(**known)]
    assert found == record["shapes"][case]
