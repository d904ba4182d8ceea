"""`tools/programs_parts.py`: parts of programs run with guessed arguments, and what is told of their gradients."""

from pathlib import Path

import numpy as np
import pytest

TOOLS = Path(__file__).parents[2] / "tools"


@pytest.fixture
def programs(monkeypatch):
    monkeypatch.syspath_prepend(TOOLS)
    import programs

    return programs


@pytest.fixture
def programs_parts(programs):
    import programs_parts

    return programs_parts


def _ran(output):
    return {"code": 0, "output": output, "files": []}


def test_sums_of_centred_gradients_are_compared_by_their_parts(programs, programs_parts, capsys):
    """Two gradients that cancel but for rounding print the same numbers, though their sums differ."""
    for rounding in (1e-4, -3e-4):
        programs_parts.show("gradient", np.array([70.0, -70.0 + rounding]))
    first, second = capsys.readouterr().out.splitlines()
    assert programs.compared(_ran(first), _ran(second))[0] == "agrees"


def test_gradients_that_are_noise_on_mxnet_are_not_compared(programs):
    """A gradient that moves with the last digit of the inputs proves nothing; one that stays must agree."""
    line = "Net gradient 0 (2, 3) positive {} negative -1 moves by {}"
    assert programs.compared(_ran(line.format(2, 0.3) + "\n1"), _ran(line.format(3, 0.1) + "\n1"))[0] == "agrees"
    assert programs.compared(_ran(line.format(2, 1e-6)), _ran(line.format(3, 0.4)))[0] == "differs"
    assert programs.compared(_ran(line.format(2, 1e-6)), _ran(line.format(2, 2e-6)))[0] == "agrees"


PROGRAM = """
import mxnet as mx


def unit(data, num_filter, name):
    return mx.sym.Convolution(data, num_filter=num_filter, kernel=(1, 1), name=name)


class Distance(mx.gluon.loss.Loss):
    def __init__(self, weight=None, batch_axis=0):
        super().__init__(weight, batch_axis)

    def hybrid_forward(self, F, pred, label):
        return F.mean(F.abs(pred - label), axis=0, exclude=True)


class Halving(mx.lr_scheduler.LRScheduler):
    def __call__(self, num_update):
        return 0.5 ** num_update


@mx.operator.register("programs_test_double")
class DoubleProp(mx.operator.CustomOpProp):
    def create_operator(self, ctx, shapes, dtypes):
        return Double()


class Double(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        self.assign(out_data[0], req[0], in_data[0] * 2)

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.assign(in_grad[0], req[0], out_grad[0] * 2)
"""


def test_parts_of_a_program_run(programs_parts, tmp_path, capsys):
    """Functions of symbols with guessed arguments, losses with two inputs, schedulers and custom operators."""
    file = tmp_path / "somebodys_program.py"
    file.write_text(PROGRAM)
    assert programs_parts.kinds_of(PROGRAM) == ["symbol", "blocks", "derived"]
    for kind in programs_parts.kinds_of(PROGRAM):
        programs_parts.PROBES[kind](str(file))
    printed = capsys.readouterr().out
    for start in ("unit gradients", "Distance gradient 1", "Halving 1.0 0.5", "programs_test_double gradient 0"):
        assert start in printed, printed
