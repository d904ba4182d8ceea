"""Export networks (all, or those named) to ONNX with an open batch and compare with ONNX Runtime.

The model zoo, recurrent layers, networks of other kinds, and those of the seeds, whose blocks get symbols for `nd`.
"""

import pathlib
import sys
import tempfile
import time

import mxnet as mx
from mxnet import gluon, nd
from mxnet.gluon.model_zoo import vision

TESTS = pathlib.Path(__file__).resolve().parent.parent / "tests"
sys.path[:0] = [str(TESTS / "bridges"), str(TESTS / "seeds")]
import test_notes_4_networks as seeds  # noqa: E402
from onnx_nets import (  # noqa: E402
    Decoder,
    Detector,
    Encoder,
    InterleavedEncoder,
    Tagger,
    TextCNN,
    assert_same_in_onnx_runtime,
    exported,
    generator,
    words,
)

LARGE = {"inception": 299, "alexnet": 224, "squeezenet": 224, "vgg": 224, "densenet": 224}


def normal(*shape):
    return nd.random.normal(shape=shape)


def lengths(batch, longest):
    return nd.arange(batch) % longest + 1


def tagger(layer, **options):
    return lambda: Tagger(layer(5, layout="NTC", **options)), lambda n: (words(n, 7),)


NETWORKS = {
    "rnn": tagger(gluon.rnn.RNN, num_layers=2, activation="tanh"),
    "gru": tagger(gluon.rnn.GRU, num_layers=2, bidirectional=True),
    "lstm": tagger(gluon.rnn.LSTM, num_layers=2, bidirectional=True),
    "lstm-projection": tagger(gluon.rnn.LSTM, projection_size=3),
    "encoder": (Encoder, lambda n: (words(n), words(n) > 9, lengths(n, 11))),
    "interleaved": (InterleavedEncoder, lambda n: (words(n, 7), lengths(n, 7))),
    "detector": (Detector, lambda n: (normal(n, 3, 16, 16),)),
    "detector-old": (lambda: Detector(modern=False), lambda n: (normal(n, 3, 16, 16),)),
    "text": (TextCNN, lambda n: (words(n, 9),)),
    "decoder": (Decoder, lambda n: (nd.arange(n), normal(n, 4, 6), normal(2, n, 6), normal(2, n, 6))),
    "generator": (generator, lambda n: (normal(n, 10, 1, 1),)),
}
SEEDS = {f"seed-{name}": value for name, value in seeds.NETWORKS.items()}


def check(name, net, inputs):
    """Export with a batch of two, run with three."""
    started = time.time()
    net.initialize(mx.init.Xavier(magnitude=3))
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "net.onnx"
        net(*inputs(2))
        space(net, mx.sym)
        exported(net, inputs, path)
        space(net, nd)
        assert_same_in_onnx_runtime(path, net, *inputs(3))
    print(f"{name}: the same, {time.time() - started:.0f} s", flush=True)


def space(block, functions):
    """Let the `nd` of imperative blocks be the functions of arrays or of symbols."""
    forward = type(block).forward
    for name, cell in zip(forward.__code__.co_freevars, forward.__closure__ or (), strict=True):
        if name == "nd":
            cell.cell_contents = functions
    if hasattr(block, "verbose"):
        block.verbose = False  # symbols have no shape to print
    for child in block._children.values():
        space(child, functions)


def main(names):
    """Check every network whose name is asked for."""
    for name in names or [*NETWORKS, *SEEDS, *vision._VARIANTS]:
        if name in NETWORKS:
            make, inputs = NETWORKS[name]
            check(name, make(), inputs)
        elif name in SEEDS:
            make, shape = SEEDS[name]
            check(name, make(), lambda n, shape=shape: (normal(n, *shape[1:]),))
        else:
            size = next((s for word, s in LARGE.items() if word in name), 64)
            check(name, vision.get_model(name, classes=10), lambda n, s=size: (normal(n, 3, s, s),))


if __name__ == "__main__":
    main(sys.argv[1:])
