"""Packages that are not there: one sentence on how to get them, in the class that MXNet's users catch."""

import sys

import numpy as np
import pytest

import mxnet as mx
from mxnet import nd, recordio

HEADER = recordio.IRHeader(0, 1.0, 0, 0)
PICTURE = np.zeros((4, 4, 3), np.uint8)
GIF = bytes.fromhex("47494638396101000100800000000000ffffff2c00000000010001000002024401003b")  # of one pixel
USES = [
    ("cv2", "image", mx.MXNetError, lambda: recordio.pack_img(HEADER, PICTURE)),
    ("cv2", "image", mx.MXNetError, lambda: recordio.unpack_img(recordio.pack(HEADER, GIF))),
    ("cv2", "image", mx.MXNetError, lambda: mx.image.imresize(nd.array(PICTURE), 2, 2)),
    ("cv2", "image", mx.MXNetError, lambda: mx.io.ImageRecordIter(path_imgrec="x", data_shape=(3, 4, 4), batch_size=1)),
    ("safetensors", "safetensors", mx.MXNetError, lambda: nd.save("x.safetensors", nd.ones(1))),
    ("torch.utils.tensorboard", "tensorboard", mx.MXNetError, lambda: mx.contrib.tensorboard.SummaryWriter("logs")),
    ("graphviz", "plot", ImportError, lambda: mx.viz.plot_network(mx.sym.var("x") + 1)),
    ("onnx", "onnx", ImportError, lambda: mx.contrib.onnx.import_model("x.onnx")),
    ("onnxscript", "onnx", ImportError, lambda: mx.onnx.export_model("x", "y")),
]


@pytest.mark.parametrize(("module", "extra", "kind", "use"), USES, ids=[f"{use[0]}-{n}" for n, use in enumerate(USES)])
def test_a_package_that_is_missing(module, extra, kind, use, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setitem(sys.modules, "mxnet._core.shims.opencv", None)  # as without Pillow
    with pytest.raises(kind, match=rf"pip install 'remx\[{extra}\]' \(.*{module}"):
        use()
    assert not list(tmp_path.iterdir())
