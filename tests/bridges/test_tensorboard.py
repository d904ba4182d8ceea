"""Event files, read back by the real TensorBoard."""

import io

import numpy as np
import pytest

import mxnet as mx
from mxnet import nd
from mxnet.contrib.tensorboard import SummaryWriter
from mxnet.gluon import nn

accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")


def events_of(folder):
    """What TensorBoard reads from a folder."""
    events = accumulator.EventAccumulator(str(folder), size_guidance={accumulator.IMAGES: 0, accumulator.TENSORS: 0})
    events.Reload()
    return events


def picture_of(events, tag):
    image = pytest.importorskip("PIL.Image")
    return np.asarray(image.open(io.BytesIO(events.Images(tag)[-1].encoded_image_string)))


def test_scalars_and_histograms(tmp_path):
    with SummaryWriter(logdir=str(tmp_path), flush_secs=5, verbose=False) as writer:
        for step in range(3):
            writer.add_scalar(tag="loss", value=nd.array([1 / (step + 1)]), global_step=step)
        writer.add_histogram(tag="weight", values=nd.arange(100), global_step=0, bins=10)
        writer.add_histogram(tag="spread", values=np.ones(5))
        writer.add_scalar("curves", {"train": 1.0, "test": 2.0}, 0)
    events = events_of(tmp_path)
    assert [(e.step, round(e.value, 4)) for e in events.Scalars("loss")] == [(0, 1.0), (1, 0.5), (2, 0.3333)]
    histogram = events.Histograms("weight")[0].histogram_value
    assert (histogram.num, histogram.min, histogram.max) == (100, 0, 99) and set(histogram.bucket) <= {0, 10}
    assert events.Histograms("spread")[0].histogram_value.num == 5
    assert (tmp_path / "curves_train").is_dir()


def test_pictures(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_image("gray", nd.array([[0, 1], [2, 4]]))
        writer.add_image("signed", nd.array([[[-1, 0, 1]]]))
        writer.add_image("bytes", nd.array(np.arange(12).reshape(3, 2, 2), dtype="uint8"))
        writer.add_image("batch", nd.ones((3, 1, 2, 2)))
    events = events_of(tmp_path)
    assert picture_of(events, "gray")[..., 0].tolist() == [[0, 63], [127, 255]]
    assert picture_of(events, "signed")[..., 0].tolist() == [[0, 127, 254]]
    assert picture_of(events, "bytes")[0, 0].tolist() == [0, 4, 8]
    sheet = picture_of(events, "batch")[..., 0]
    assert sheet.shape == (4, 4) and sheet[:2].min() == 255 and sheet[2:, 2:].max() == 0  # the fourth place is empty
    with SummaryWriter(tmp_path) as writer, pytest.raises(ValueError, match="2, 3 or 4 axes.*shape \\(3,\\)"):
        writer.add_image("line", nd.ones((3,)))


def test_texts_sounds_curves_and_embeddings(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_text("note", "**bold**", 1)
        writer.add_audio("tone", nd.array(np.sin(np.arange(800) / 10)), sample_rate=8000)
        writer.add_pr_curve("curve", nd.array([0, 1, 1]), nd.array([0.2, 0.6, 0.9]), 10)
        writer.add_embedding("digits", nd.ones((4, 3)), labels=nd.arange(4), images=nd.ones((4, 1, 5, 5)))
    events = events_of(tmp_path)
    assert events.Tags()["audio"] == ["tone"] and {"note/text_summary", "curve"} <= set(events.Tags()["tensors"])
    assert (tmp_path / "00000" / "digits" / "tensors.tsv").read_text().count("\n") == 4
    assert "digits" in (tmp_path / "projector_config.pbtxt").read_text()


def test_graphs_of_blocks_and_symbols(tmp_path):
    net = nn.HybridSequential(prefix="net_")
    with net.name_scope():
        net.add(nn.Dense(3, activation="relu"), nn.Dense(2))
    with SummaryWriter(tmp_path / "block") as writer:
        writer.add_graph(net)
    nodes = {node.name: node for node in events_of(tmp_path / "block").Graph().node}
    assert list(nodes["net_dense0/fwd"].input) == ["data", "net_dense0/weight", "net_dense0/bias"]
    assert nodes["net_dense0/fwd"].op == "FullyConnected" and nodes["net_dense0/fwd"].attr["num_hidden"].s == b"3"
    with SummaryWriter(tmp_path / "symbol") as writer:
        writer.add_graph(mx.sym.FullyConnected(mx.sym.var("x"), num_hidden=2, name="fc"))
        with pytest.raises(mx.MXNetError, match="Symbol or a HybridBlock"):
            writer.add_graph(3)
    assert {node.name for node in events_of(tmp_path / "symbol").Graph().node} == {"x", "fc", "fc/weight", "fc/bias"}


def test_closed_and_opened_again(tmp_path):
    writer = SummaryWriter(tmp_path)
    writer.add_scalar("a", 1, 0)
    writer.close()
    writer.reopen()
    writer.add_scalar("a", 2, 1)
    writer.close()
    assert writer.get_logdir() == str(tmp_path)
    found = sorted(events_of(tmp_path).Scalars("a"), key=lambda e: e.step)  # the two files come in any order
    assert [e.value for e in found] == [1, 2]
