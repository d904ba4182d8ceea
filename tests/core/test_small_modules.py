"""The smallest modules: libinfo, log, engine, and how the environment is read."""

import pytest

import mxnet as mx
from mxnet._core.environment import is_on, whole_number


def test_the_version_is_where_mxnet_has_it():
    assert mx.libinfo.__version__ == mx.base.__version__ == mx.__version__ == "1.9.1"
    with pytest.raises(RuntimeError, match="Cannot find the MXNet library"):
        mx.libinfo.find_lib_path()


def test_log_files_hold_bare_messages(tmp_path):
    logger = mx.log.get_logger("bare", str(tmp_path / "log"), level=mx.log.INFO)
    logger.info("hi")
    assert (tmp_path / "log").read_text() == "hi\n"


@pytest.mark.parametrize(
    "text, on, on_by_default",
    [("1", True, True), ("true", True, True), ("0", False, False), ("False", False, False), ("", False, True)],
)
def test_switches_in_the_environment_are_turned_by_numbers_and_words(monkeypatch, text, on, on_by_default):
    monkeypatch.setenv("MXNET_CHECK_NAN", text)
    assert (is_on("MXNET_CHECK_NAN"), is_on("MXNET_CHECK_NAN", default=True)) == (on, on_by_default)


def test_a_number_in_the_environment_that_is_none_is_named(monkeypatch):
    monkeypatch.setenv("MXNET_VIRTUAL_GPUS", "two")
    with pytest.raises(mx.MXNetError, match="MXNET_VIRTUAL_GPUS must be how many GPUs .*, got 'two'"):
        mx.num_gpus()
    monkeypatch.setenv("MXNET_OPTIMIZER_AGGREGATION_SIZE", "-1")
    with pytest.raises(ValueError, match="MXNET_OPTIMIZER_AGGREGATION_SIZE must be a whole number, got '-1'"):
        mx.optimizer.SGD()


def test_a_number_that_is_not_set_or_empty_is_the_default(monkeypatch):
    monkeypatch.delenv("MXNET_KEPT_MEMORY", raising=False)
    assert whole_number("MXNET_KEPT_MEMORY", 7) == 7
    monkeypatch.setenv("MXNET_KEPT_MEMORY", "")
    assert whole_number("MXNET_KEPT_MEMORY", 7) == 7
