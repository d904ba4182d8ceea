"""Export model-zoo networks (all, or those named) to ONNX with an open batch and compare with ONNX Runtime."""

import pathlib
import sys
import tempfile
import time

import mxnet as mx
from mxnet import gluon, nd
from mxnet.gluon.model_zoo import vision

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "bridges"))
from onnx_nets import Tagger, assert_same_in_onnx_runtime, exported, words

LARGE = {"inception": 299, "alexnet": 224, "squeezenet": 224, "vgg": 224, "densenet": 224}
LAYERS = {
    "rnn": lambda: gluon.rnn.RNN(5, 2, activation="tanh", layout="NTC"),
    "gru": lambda: gluon.rnn.GRU(5, 2, bidirectional=True, layout="NTC"),
    "lstm": lambda: gluon.rnn.LSTM(5, 2, bidirectional=True, layout="NTC"),
    "lstm-projection": lambda: gluon.rnn.LSTM(5, projection_size=3, layout="NTC"),
}


def check(name, net, inputs):
    """Export with a batch of two, run with three."""
    started = time.time()
    net.initialize(mx.init.Xavier(magnitude=3))
    with tempfile.TemporaryDirectory() as folder:
        path = exported(net, inputs(2), pathlib.Path(folder) / "net.onnx")
        assert_same_in_onnx_runtime(path, net, *inputs(3))
    print(f"{name}: the same, {time.time() - started:.0f} s", flush=True)


def main(names):
    """Check every network whose name is asked for."""
    for name in names or [*LAYERS, *vision._VARIANTS]:
        if name in LAYERS:
            check(name, Tagger(LAYERS[name]()), lambda n: (words(n, 7),))
        else:
            size = next((s for word, s in LARGE.items() if word in name), 64)
            check(name, vision.get_model(name, classes=10), lambda n, s=size: (nd.random.normal(shape=(n, 3, s, s)),))


if __name__ == "__main__":
    main(sys.argv[1:])
