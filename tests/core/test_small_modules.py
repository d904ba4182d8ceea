"""The smallest modules: libinfo, log, engine."""

import pytest

import mxnet as mx


def test_the_version_is_where_mxnet_has_it():
    assert mx.libinfo.__version__ == mx.base.__version__ == mx.__version__ == "1.9.1"
    with pytest.raises(RuntimeError, match="Cannot find the MXNet library"):
        mx.libinfo.find_lib_path()


def test_log_files_hold_bare_messages(tmp_path):
    logger = mx.log.get_logger("bare", str(tmp_path / "log"), level=mx.log.INFO)
    logger.info("hi")
    assert (tmp_path / "log").read_text() == "hi\n"
