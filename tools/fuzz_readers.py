"""Coverage-guided fuzzing of a reader with atheris: `python tools/fuzz_readers.py params -max_total_time=300`.

The first word is the kind (`reliability.fuzz.KINDS`: params, symbol, record, states, onnx, image, imagerecord, list,
npz, safetensors, csv, libsvm, mnist), the rest goes to libFuzzer. What a reader must not do ends the run; the input is
kept in tests/data/findings, where the tests read it again. Needs `pip install atheris`.
"""

import os
import pathlib
import sys
import tempfile

import atheris

ROOT = pathlib.Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))
READERS = ["mxnet._formats", "mxnet._graph.ir.json", "mxnet._graph.ir.node", "mxnet._core.attrs", "mxnet.recordio",
           "mxnet.optimizer.state_files", "mxnet.optimizer.state_checks", "mxnet.ndarray.utils", "mxnet.symbol.symbol",
           "mxnet.ndarray._safetensors", "mxnet.io._text", "mxnet.io._images", "mxnet.image.iterator",
           "mxnet.image.detection", "mxnet.cli._array_files", "mxnet.contrib.onnx.onnx2mx"]  # fmt: skip
BORDER = b"\0\xffindex\xff\0"  # between the two files of a record input

with atheris.instrument_imports(include=READERS):
    from reliability import fuzz, inputs, more_readers

    import mxnet as mx
    import mxnet._formats.params
    import mxnet._formats.recordio
    import mxnet._formats.states
    import mxnet._graph.ir.json
    import mxnet.recordio

    mx.optimizer.create("sgd")
    os.environ.update(more_readers.SETTINGS)


def seeds(kind, folder):
    """Write the recorded files of a kind, as they stand in one input, into a folder."""
    if kind == "record":
        indices = inputs.corpus("index")
        data = [file + BORDER + indices[i % len(indices)] for i, file in enumerate(inputs.corpus("record"))]
    else:
        data = inputs.corpus(kind)
    for number, content in enumerate(data):
        (pathlib.Path(folder) / str(number)).write_bytes(content)


def target(kind, folder):
    """What libFuzzer calls: an input is read, or refused with MXNetError."""
    read = fuzz.reader(kind, folder)

    def one(data):
        parts = data.partition(BORDER)
        given = (parts[0], parts[2]) if kind == "record" else data
        try:
            read(given)
        except mx.MXNetError:
            return
        except BaseException as error:
            print(fuzz.keep((kind, "error", f"{type(error).__name__}: {error}", given), ROOT / "tests/data/findings"))
            raise

    return one


def main():
    kind, *options = sys.argv[1:]
    memory = tempfile.gettempdir() if not os.path.isdir("/dev/shm") else "/dev/shm"
    with tempfile.TemporaryDirectory(dir=memory) as folder, tempfile.TemporaryDirectory() as corpus:
        seeds(kind, corpus)
        limits = ["-timeout=2", "-max_len=8192", f"-artifact_prefix={tempfile.gettempdir()}/"]
        atheris.Setup([sys.argv[0], *limits, *options, corpus], target(kind, folder))
        atheris.Fuzz()


if __name__ == "__main__":
    main()
