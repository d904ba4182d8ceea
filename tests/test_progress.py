"""Progress as a person meets it: a bar in a terminal, whole lines in a log file, a bar in a notebook."""

import fcntl
import io
import logging
import os
import pty
import struct
import subprocess
import sys
import termios
from types import SimpleNamespace

import pytest

import mxnet as mx
from mxnet import gluon, nd
from mxnet._core import progress as module
from mxnet._core.progress import Lines, progress
from mxnet.gluon.contrib.estimator import Estimator
from mxnet.gluon.contrib.estimator.event_handler import ProgressBarHandler

WORK = """
from mxnet._core.progress import progress
bar = progress(range(20), desc="work", unit="batch")
for number in bar:
    bar.set_postfix(loss=f"{1 / (number + 1):.2f}")
"""
CALLBACK = """
from types import SimpleNamespace
import mxnet as mx
show = mx.callback.ProgressBar(total=20, length=20)
for number in range(20):
    show(SimpleNamespace(epoch=0, nbatch=number, eval_metric=None))
"""


def in_a_terminal(program):
    """What a program writes to a terminal."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
    process = subprocess.Popen([sys.executable, "-c", program], stdout=theirs, stderr=theirs)
    os.close(theirs)
    said = b""
    try:
        while chunk := os.read(ours, 4096):
            said += chunk
    except OSError:  # Linux says so when the other end is closed
        pass
    os.close(ours)
    assert process.wait() == 0, said.decode()
    return said.decode()


def in_a_file(program):
    return subprocess.run([sys.executable, "-c", program], stderr=subprocess.PIPE, text=True, check=True).stderr


def test_a_terminal_gets_a_moving_bar():
    pytest.importorskip("tqdm")
    said = in_a_terminal(WORK)
    assert "\rwork: 100%" in said and "20/20" in said and said.count("\n") == 1


def test_a_file_gets_whole_lines():
    said = in_a_file(WORK)
    assert "\r" not in said and said.count("\n") == 1
    assert said.startswith("work: 20 batch (100 %) in ")
    assert said.endswith(", loss=0.05\n")


def test_long_work_tells_how_far_it_is(monkeypatch):
    clock = iter(range(0, 1000, 4))
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    file = io.StringIO()
    for _ in Lines(range(12), 12, "long", file=file):
        pass
    lines = file.getvalue().splitlines()
    assert 3 <= len(lines) <= 6 and all(line.startswith("long: ") for line in lines) and "(100 %)" in lines[-1]


def test_a_notebook_gets_a_bar_too(monkeypatch):
    tqdm = pytest.importorskip("tqdm")
    shell = SimpleNamespace(config={"IPKernelApp": {}})
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    with progress(total=3) as bar:
        assert isinstance(bar, tqdm.tqdm)


def test_without_tqdm_there_are_lines(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setattr(module, "_is_watched", lambda: True)
    assert list(progress([1, 2], desc="two")) == [1, 2]
    assert capsys.readouterr().err.startswith("two: 2 it (100 %)")


def test_the_callback_moves_in_a_terminal_and_logs_tenths(caplog):
    said = in_a_terminal(CALLBACK)
    assert said.count("\n") == 1 and said.count("\r") >= 20 and "[==========----------] 50%" in said
    caplog.set_level(logging.INFO)
    show = mx.callback.ProgressBar(total=100, length=10)
    for number in range(100):
        show(SimpleNamespace(epoch=0, nbatch=number, eval_metric=None))
    lines = [record.getMessage() for record in caplog.records]
    assert len(lines) == 11 and lines[5] == "[=====-----] 50%" and not any("\r" in line for line in lines)


def test_the_estimator_shows_its_metrics(capsys):
    net = gluon.nn.Dense(2)
    net.initialize()
    data = gluon.data.DataLoader(gluon.data.ArrayDataset(nd.ones((8, 3)), nd.zeros((8,))), 4)
    estimator = Estimator(net, gluon.loss.SoftmaxCrossEntropyLoss(), train_metrics=mx.metric.Accuracy())
    estimator.fit(data, epochs=2, event_handlers=[ProgressBarHandler(estimator.train_metrics, total=2)])
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("epoch ")]
    assert len(lines) == 2 and "2 batch (100 %)" in lines[0] and "accuracy=" in lines[0]


def test_downloads_show_megabytes(tmp_path, monkeypatch, capsys):
    requests = pytest.importorskip("requests")
    content = b"x" * 3_000_000

    def get(url, **_):
        pieces = (content[start : start + 65536] for start in range(0, len(content), 65536))
        headers = {"content-length": str(len(content))}
        return SimpleNamespace(status_code=200, headers=headers, iter_content=lambda chunk_size: pieces)

    monkeypatch.setattr(requests, "get", get)
    gluon.utils.download("https://example.org/weights.params", str(tmp_path))
    assert "weights.params: 3.0 MB (100 %)" in capsys.readouterr().err
