"""Readers of images, lists, tables, archives and ONNX under hostile input: files to damage, made-up ones, what is read.

Each kind has a corpus of whole files, maybe a function that makes one up with false claims, and a function that does
with the bytes what a program does. `fuzz` counts MXNetError as refused, and anything else that is raised as a finding.
"""

import functools
import io
import os
import pathlib
import struct
import zipfile
import zlib

import numpy as np

from . import onnx_graphs
from .inputs import NUMBERS, mutated

DATA = pathlib.Path(__file__).parents[1] / "data" / "data_layer"
SIDE = 12  # pixels
BORDER = b"\0\xffsecond\xff\0"  # between the two files of one input
SETTINGS = {"MXNET_MAX_IMAGE_PIXELS": str(1 << 22), "MXNET_ONNX_MAX_CONSTANT_BYTES": str(1 << 23),
            "MXNET_ONNX_MAX_NODES": "2000"}  # fmt: skip


def _put(folder, name, data):
    path = os.path.join(folder, name)
    with open(path, "wb") as file:
        file.write(data)
    return path


def _drained(batches):
    """Go through an iterator, as far as a program would look."""
    for _, batch in zip(range(4), batches, strict=False):
        for array in (*batch.data, *batch.label):
            array.asnumpy()


# -- images ------------------------------------------------------------------------------------------------------------


@functools.cache
def images():
    from PIL import Image

    pixels = np.random.default_rng(0).integers(0, 255, (SIDE, SIDE + 3, 3), np.uint8)
    colour, made = Image.fromarray(pixels), []
    for form, options in (("JPEG", {}), ("JPEG", {"progressive": True}), ("JPEG", {"exif": b"Exif\0\0MM\0*\0\0\0\x08"}),
                          ("PNG", {}), ("GIF", {}), ("BMP", {}), ("WEBP", {}), ("WEBP", {"lossless": True}),
                          ("WEBP", {"exif": b"Exif\0\0ab"})):  # fmt: skip
        buffer = io.BytesIO()
        colour.save(buffer, form, **options)
        made.append(buffer.getvalue())
    for image in (colour.convert("L"), colour.convert("P"), colour.convert("1"), colour.convert("RGBA")):
        buffer = io.BytesIO()
        image.save(buffer, "PNG")
        made.append(buffer.getvalue())
    frames = [colour, colour.rotate(90)]
    for form in ("PNG", "GIF", "WEBP"):
        buffer = io.BytesIO()
        frames[0].save(buffer, form, save_all=True, append_images=frames[1:])
        made.append(buffer.getvalue())
    return made


def generated_image(rng):
    """A PNG of chunks in no sensible order, with right checksums: the decoder sees them if the walk admits them."""

    def chunk(kind, data):
        length = rng.choice(NUMBERS) % (1 << 32) if rng.random() < 0.1 else len(data)
        return struct.pack(">I", length) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    size = [rng.choice((1, 7, 12, 300, 60_000)) if rng.random() < 0.3 else SIDE for _ in range(2)]
    head = struct.pack(">IIBBBBB", *size, rng.choice((1, 2, 4, 8, 16)), rng.choice((0, 2, 3, 4, 6)), 0, 0,
                       rng.choice((0, 0, 1)))  # fmt: skip
    rows = zlib.compress(rng.randbytes(rng.choice((0, 40, 600, 5000))))
    parts = [chunk(b"IDAT", rows[: len(rows) // 2]), chunk(b"IDAT", rows[len(rows) // 2 :])]
    for kind in rng.sample(
        (b"PLTE", b"tRNS", b"iCCP", b"zTXt", b"gAMA", b"acTL", b"fcTL", b"fdAT", b"eXIf", b"sBIT"), 3
    ):
        content = rng.randbytes(rng.choice((0, 1, 4, 8, 26, 30, 768)))
        if kind == b"iCCP":
            content = b"name\0\0" + zlib.compress(bytes(rng.choice((0, 100, 1 << 20))))
        parts.insert(rng.randrange(3), chunk(kind, content))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + b"".join(parts) + chunk(b"IEND", b"")


def read_image(data, folder):
    import mxnet as mx
    from mxnet import recordio

    recordio.unpack_img(recordio.pack(recordio.IRHeader(0, 1.0, 7, 0), data))
    mx.image.imdecode(data).asnumpy()


def _record(content):
    """A record file of one image between two others."""
    from mxnet import recordio

    whole = images()[3]
    packed = [
        recordio.pack(recordio.IRHeader(0, float(i), i, 0), part) for i, part in enumerate((whole, content, whole))
    ]
    return b"".join(struct.pack("<II", 0xCED7230A, len(part)) + part + b"\0" * (-len(part) % 4) for part in packed)


def records():
    return [_record(content) for content in images()]


def generated_record(rng):
    return _record(generated_image(rng) if rng.random() < 0.5 else mutated(rng, images()))


def read_record(data, folder):
    import mxnet as mx

    path = _put(folder, "a.rec", data)
    options = {"path_imgrec": path, "data_shape": (3, SIDE, SIDE), "batch_size": 1}
    _drained(mx.io.ImageRecordIter(**options, preprocess_threads=1, prefetch_buffer=1))
    _drained(mx.image.ImageIter(**options))


# -- lists and tables --------------------------------------------------------------------------------------------------


def lists():
    lines = ["0\t2\t5\t1\t0.1\t0.1\t0.5\t0.5\ta.png\n", "1\t2\t5\t0\t0.2\t0.1\t0.9\t0.5\t1\t0\t0\t1\t1\ta.png\n",
             "7\t4\t6\t10\t12\t1\t0.1\t0.2\t0.3\t0.4\t0\ta.png\n"]  # fmt: skip
    return [lines[0].encode(), "".join(lines[:2]).encode(), lines[2].encode(), (DATA / "images.lst").read_bytes()]


_WORDS = ("0", "1", "2", "5", "-1", "0.5", "nan", "inf", "-inf", "1e308", "1e400", "", " ", "a.png", "x", "\0", "１",
          "0x10", "1_000", "9" * 30, "../../etc/passwd")  # fmt: skip


def _lines(rng, separator):
    rows = [
        separator.join(rng.choice(_WORDS) for _ in range(rng.choice((1, 3, 8, 9)))) for _ in range(rng.randrange(4))
    ]
    return "\n".join(rows).encode("utf-8", "replace")


def generated_list(rng):
    return _lines(rng, "\t")


def read_list(data, folder):
    import mxnet as mx
    from mxnet.gluon.data.vision import ImageListDataset

    path = _put(folder, "a.lst", data)
    _put(folder, "a.png", images()[3])
    shape = (3, SIDE, SIDE)
    attempts = (
        lambda: list(zip(range(3), ImageListDataset(folder, "a.lst"), strict=False)),
        lambda: _drained(mx.image.ImageIter(1, shape, path_imglist=path, path_root=folder)),
        lambda: _drained(mx.image.ImageDetIter(1, shape, path_imglist=path, path_root=folder)),
    )
    first = None
    for read in attempts:
        try:
            read()
        except (mx.MXNetError, OSError) as error:  # a list may name a file that is missing or has no possible name
            first = first or error
    if first is not None:
        raise mx.MXNetError(str(first)) from first


def tables():
    return [(DATA / "data.csv").read_bytes(), b"1,2,3\n4,5,6\n", b"1e3,-2.5,0\n", b"1,2,3"]


def generated_table(rng):
    return _lines(rng, ",")


def read_table(data, folder):
    import mxnet as mx

    path = _put(folder, "a.csv", data)
    for dtype in ("float32", "int32"):
        _drained(mx.io.CSVIter(data_csv=path, data_shape=(3,), batch_size=1, dtype=dtype))


def sparse_rows():
    return [(DATA / "rows.libsvm").read_bytes(), b"1 0:1.5 2:3\n0 1:2\n", b"-1\n1 9:1e3\n"]


def generated_sparse(rng):
    pairs = lambda: " ".join(f"{rng.choice(_WORDS)}:{rng.choice(_WORDS)}" for _ in range(rng.randrange(4)))
    return "\n".join(f"{rng.choice(_WORDS)} {pairs()}" for _ in range(rng.randrange(4))).encode("utf-8", "replace")


def read_sparse(data, folder):
    import mxnet as mx

    path = _put(folder, "a.libsvm", data)
    _drained(mx.io.LibSVMIter(data_libsvm=path, data_shape=(10,), batch_size=1))


def digits():
    return [(DATA / "digits-images").read_bytes()[:4000] + BORDER + (DATA / "digits-labels").read_bytes(), _idx(3, 2)]


def _idx(count, side):
    head = b"\0\0\x08\x03" + struct.pack(">III", count, side, side) + bytes(count * side * side)
    return head + BORDER + b"\0\0\x08\x01" + struct.pack(">I", count) + bytes(count)


def generated_digits(rng):
    sizes = [rng.choice(NUMBERS) % (1 << 32) if rng.random() < 0.2 else 2 for _ in range(3)]
    head = b"\0\0\x08" + bytes([rng.choice((0, 1, 3, 3, 3, 4, 255))]) + struct.pack(">III", *sizes)
    return head + rng.randbytes(8) + BORDER + b"\0\0\x08\x01" + struct.pack(">I", 2) + b"ab"


def read_digits(data, folder):
    import mxnet as mx

    pixels, _, labels = data.partition(BORDER)
    paths = _put(folder, "images", pixels), _put(folder, "labels", labels)
    _drained(mx.io.MNISTIter(image=paths[0], label=paths[1], batch_size=1, silent=True))


# -- arrays ------------------------------------------------------------------------------------------------------------

_ARRAYS = {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.int64(3), "c": np.ones((1, 4), np.float16)}


def archives():
    made = []
    for save in (np.savez, np.savez_compressed):
        buffer = io.BytesIO()
        save(buffer, **_ARRAYS)
        made.append(buffer.getvalue())
    return made


def generated_archive(rng):
    shape = tuple(rng.choice((*NUMBERS, -1)) if rng.random() < 0.3 else 2 for _ in range(rng.randrange(4)))
    kind = rng.choice(("<f4", "<f4", "<i8", "|O", "<U4", "<f2", "V0", "|b1", "x", "<M8[s]"))
    text = f"{{'descr': {kind!r}, 'fortran_order': {rng.choice((True, False, 3))}, 'shape': {shape}}}".encode()
    version = rng.choice((b"\x01\0", b"\x02\0", b"\x03\0", b"\x09\0"))
    length = struct.pack("<H" if version == b"\x01\0" else "<I", len(text))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as file:
        file.writestr("a.npy", b"\x93NUMPY" + version + length + text + bytes(rng.choice((0, 4, 16, 32, 64))))
    return buffer.getvalue()


def read_archive(data, folder):
    from mxnet.cli._array_files import read

    read(_put(folder, "a.npz", data))


def safe_files():
    from safetensors.numpy import save

    return [
        save({k: np.atleast_1d(v) for k, v in _ARRAYS.items()}),
        save({"0": np.ones(2, np.float32)}, {"remx": "list"}),
    ]


def generated_safe(rng):
    import json

    entry = lambda: {"dtype": rng.choice(("F32", "I64", "F16", "BF16", "F8_E4M3", "X", 3)),
                     "shape": [rng.choice(NUMBERS) if rng.random() < 0.2 else 2 for _ in range(rng.randrange(3))],
                     "data_offsets": [rng.choice((0, 0, 8, *NUMBERS)), rng.choice((8, 16, *NUMBERS))]}  # fmt: skip
    tree = {rng.choice(("a", "0", "")): entry() for _ in range(rng.randrange(3))}
    if rng.random() < 0.5:
        tree["__metadata__"] = rng.choice(({"remx": "list"}, {"format": "pt"}, {}, 3))
    text = json.dumps(tree).encode()
    length = rng.choice(NUMBERS) if rng.random() < 0.1 else len(text)
    return struct.pack("<Q", length % (1 << 64)) + text + bytes(16)


def read_safe(data, folder):
    import mxnet as mx

    arrays = mx.nd.load(_put(folder, "a.safetensors", data))
    for array in arrays.values() if isinstance(arrays, dict) else arrays:
        array.wait_to_read()


# -- ONNX --------------------------------------------------------------------------------------------------------------


def _operators():
    """Small graphs of the operators whose constants are computed at import, and of some that are not."""
    from onnx import TensorProto, helper, numpy_helper

    ints, floats = lambda *v: np.array(v, np.int64), lambda *v: np.array(v, np.float32)
    cases = [
        ("ConstantOfShape", [ints(2, 3)], {}), ("Range", [np.int64(0), np.int64(4), np.int64(1)], {}),
        ("Expand", [floats(1), ints(2, 3)], {}), ("Tile", [floats(1, 2), ints(3)], {}),
        ("Pad", [floats(1, 2), ints(1, 1)], {}), ("OneHot", [ints(0, 1), np.int64(3), floats(0, 1)], {}),
        ("Reshape", [floats(1, 2, 3, 4), ints(2, -1)], {}), ("Gather", [floats(1, 2, 3), ints(0, 2)], {}),
        ("Concat", [ints(1), ints(2, 3)], {"axis": 0}), ("Slice", [floats(1, 2, 3), ints(0), ints(2)], {}),
        ("Transpose", [np.ones((2, 3), np.float32)], {"perm": [1, 0]}), ("NonZero", [floats(1, 0, 2)], {}),
        ("MatMul", [np.ones((2, 3), np.float32), np.ones((3, 2), np.float32)], {}),
        ("Resize", [np.ones((1, 1, 2, 2), np.float32), floats(), floats(1, 1, 2, 2)], {"mode": "linear"}),
        ("Conv", ["x", np.ones((1, 1, 2, 2), np.float32)], {"kernel_shape": [2, 2]}),
        ("MaxPool", ["x"], {"kernel_shape": [2, 2], "dilations": [2, 1]}), ("Relu", ["x"], {}),
        ("Gemm", [np.ones((1, 4), np.float32), np.ones((3, 4), np.float32)], {"transB": 1}),
        ("BatchNormalization", ["x", floats(1), floats(0), floats(0), floats(1)], {}),
        ("LayerNormalization", ["x", floats(1, 1, 1, 1)], {}), ("ReduceSum", ["x", ints(2, 3)], {}),
        ("EyeLike", [np.ones((2, 2), np.float32)], {}), ("Split", ["x", ints(2, 2)], {"axis": 3}),
    ]  # fmt: skip
    for name, inputs, attrs in cases:
        named = [f"c{i}" if not isinstance(value, str) else value for i, value in enumerate(inputs)]
        stored = [numpy_helper.from_array(v, n) for n, v in zip(named, inputs, strict=True) if not isinstance(v, str)]
        outputs = ["y", "z"] if name == "Split" else ["y"]
        nodes = [
            helper.make_node(name, named, outputs, name="n", **attrs),
            helper.make_node("Identity", ["y"], ["out"]),
        ]
        info = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, 4, 4])] if "x" in named else []
        yield nodes, info, stored


@functools.cache
def networks():
    import onnx
    from onnx import helper

    made = []
    for nodes, infos, stored in _operators():
        graph = helper.make_graph(nodes, "g", infos, [onnx.ValueInfoProto(name="out")], stored)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
        made.append(model.SerializeToString())
    return made


def generated_network(rng):
    """Any operators; or two of the graphs joined, an input of one being the output of the other, or a constant."""
    import onnx

    if rng.random() < 0.5:
        return onnx_graphs.generated(rng)
    first, second = (onnx.ModelProto.FromString(rng.choice(networks())) for _ in range(2))
    for node in second.graph.node:
        node.input[:] = [rng.choice(("y", "out", "c0", "c1", "", name)) for name in node.input]
        node.output[:] = [f"{name}2" for name in node.output]
        node.name = "second"
    for tensor in first.graph.initializer:
        if rng.random() < 0.3:
            value = rng.choice((*NUMBERS, -1)) % (1 << 63)
            tensor.CopyFrom(onnx.numpy_helper.from_array(np.full(tuple(tensor.dims), value, np.int64), tensor.name))
    first.graph.node.extend(second.graph.node)
    first.graph.output.extend([onnx.ValueInfoProto(name="out2")])
    return first.SerializeToString()


def read_network(data, folder):
    import mxnet as mx

    sym, _, _ = mx.contrib.onnx.import_model(_put(folder, "a.onnx", data))
    sym.list_arguments()
    mx.contrib.onnx.get_model_metadata(os.path.join(folder, "a.onnx"))


# kind: (whole files, one made up, what a program does)
READERS = {
    "onnx": (networks, generated_network, read_network),
    "image": (images, generated_image, read_image),
    "imagerecord": (records, generated_record, read_record),
    "list": (lists, generated_list, read_list),
    "npz": (archives, generated_archive, read_archive),
    "safetensors": (safe_files, generated_safe, read_safe),
    "csv": (tables, generated_table, read_table),
    "libsvm": (sparse_rows, generated_sparse, read_sparse),
    "mnist": (digits, generated_digits, read_digits),
}
SPARE = {"imagerecord": 512 << 20, "onnx": 256 << 20}  # threads have stacks; onnx makes the constants that are allowed
