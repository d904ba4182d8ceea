"""What users write gives what MXNet gave: values, dtypes, shapes, gradients, and errors where MXNet refuses."""

import json
import pathlib
import sys

import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from expressions import LINES, evaluate

ANSWERS = json.loads((pathlib.Path(__file__).parent.parent / "data" / "expressions.json").read_text())


@pytest.mark.parametrize("line", LINES)
def test_gives_what_mxnet_gave(line):
    got, want = evaluate(line), ANSWERS[line]
    if want == "MXNetError":
        assert got == want
        return
    assert [g[1:] for g in got] == [w[1:] for w in want]
    for (values, dtype, _), (expected, _, _) in zip(got, want, strict=True):
        np.testing.assert_allclose(values, expected, rtol=1e-2 if dtype == "float16" else 1e-5, atol=1e-6)
