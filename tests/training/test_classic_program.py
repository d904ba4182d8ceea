"""A program of 2016 runs unmodified, logs what MXNet 1.9.1 logged, and goes on from its checkpoints."""

import logging
import pathlib
import re

import classic_program
import numpy as np
import pytest
import training_cases

import mxnet as mx

RECORDED = np.load(pathlib.Path(__file__).resolve().parents[1] / "data" / "classic.npz")
NUMBER = r"-?\d+\.\d+"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    where = tmp_path_factory.mktemp("classic")
    training_cases.write_digits(mx, where, RECORDED["images"], RECORDED["labels"])
    return where


def run(folder, *arguments):
    lines = training_cases.Lines()
    root = logging.getLogger()
    level, handlers = root.level, root.handlers
    root.handlers = [lines]
    root.setLevel(logging.INFO)
    try:
        with mx.name.NameManager():  # names are counted from 0, whatever ran before
            model = classic_program.main(["--data-dir", str(folder), "--model-prefix", str(folder / "net"), *arguments])
    finally:
        root.handlers = handlers
        root.setLevel(level)
    return model, training_cases.without_times(lines.lines, str(folder))


def test_the_lines_are_mxnets(folder):
    model, lines = run(folder)
    expected = RECORDED["lines"].tolist()
    assert [re.sub(NUMBER, "#", line) for line in lines] == [re.sub(NUMBER, "#", line) for line in expected]
    numbers = [np.array(re.findall(NUMBER, "\n".join(text)), dtype=float) for text in (lines, expected)]
    np.testing.assert_allclose(*numbers, atol=2e-3)
    for name, array in model.get_params()[0].items():
        np.testing.assert_allclose(array.asnumpy(), RECORDED[name], atol=1e-3, err_msg=name)


def test_it_goes_on_from_its_checkpoint(folder):
    if not (folder / "net-0002.params").exists():
        run(folder)
    _, lines = run(folder, "--load-epoch", "2", "--num-epochs", "3", "--kv-store", "device")
    assert any(line.startswith("Epoch[2] Validation-accuracy=") for line in lines)
    assert (folder / "net-0003.params").exists()
