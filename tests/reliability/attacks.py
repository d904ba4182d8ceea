"""Files made by hand to harm their reader; each must be refused with MXNetError, at once and in little memory."""

import io
import json
import os
import pathlib
import pickle
import struct
import tarfile
import tempfile
import zipfile
import zlib

from . import fuzz, inputs

V2, V1, LIST = 0xF993FAC9, 0xF993FAC8, 0x112


def params(*blobs, count=None, names=b"\0" * 8):
    return struct.pack("<QQQ", LIST, 0, len(blobs) if count is None else count) + b"".join(blobs) + names


def blob(shape, flag=0, storage=0, ndim=None, data=b"", code="q"):
    sizes = b"".join((s % (1 << 64)).to_bytes(8, "little") for s in shape)
    head = struct.pack("<IiI", V2, storage, len(shape) if ndim is None else ndim % (1 << 32))
    return head + sizes + struct.pack("<iii", 1, 0, flag) + data


def sparse(storage, stored, shape, *indices, data=b"", kind=6):
    pack = lambda sizes: struct.pack("<i", len(sizes)) + b"".join((s % (1 << 64)).to_bytes(8, "little") for s in sizes)
    head = struct.pack("<Ii", V2, storage) + pack(stored) + pack(shape) + struct.pack("<iii", 1, 0, 0)
    return head + b"".join(struct.pack("<i", kind) + pack(size) for size in indices) + data


NAME = struct.pack("<Q", 1)
PARAMS = {
    "dimensions whose product is 2^64": params(blob((2**32, 2**32))),
    "dimensions whose product overflows to 4": params(blob((2**62 + 1, 4), data=b"\0" * 16)),
    "a size of 2^63": params(blob((2**63,))),
    "a size of -1": params(blob((-1,))),
    "two negative sizes": params(blob((-2, -2), data=b"\0" * 16)),
    "no elements, sizes beyond any address": params(blob((0, 2**62, 2**62))),
    "a terabyte claimed": params(blob((2**38,))),
    "2^31 dimensions": params(blob((1,), ndim=2**31)),
    "-1 dimensions": params(blob((1,), ndim=-1)),
    "33 dimensions": params(blob((1,) * 33, data=b"\0" * 4)),
    "2^64 - 1 arrays": params(count=2**64 - 1),
    "2^40 arrays": params(count=2**40),
    "2^63 names": params(names=struct.pack("<Q", 2**63)),
    "a name of 2^63 bytes": params(blob((1,), data=b"\0" * 4), names=NAME + struct.pack("<Q", 2**63)),
    "a name of 2 MB": params(blob((1,), data=b"\0" * 4), names=NAME + struct.pack("<Q", 2 << 20) + b"a" * (2 << 20)),
    "a name that is no text": params(blob((1,), data=b"\0" * 4), names=NAME + struct.pack("<Q", 2) + b"\xff\xfe"),
    "an unknown type": params(blob((1,), flag=99, data=b"\0" * 8)),
    "an unknown storage": params(blob((1,), storage=7, data=b"\0" * 8)),
    "sparse rows outside": params(sparse(1, (1, 1), (2, 1), (1,), data=b"\0" * 4 + struct.pack("<q", 9))),
    "sparse rows negative": params(sparse(1, (1, 1), (2, 1), (1,), data=b"\0" * 4 + struct.pack("<q", -9))),
    "sparse rows that are fractions": params(sparse(1, (1, 1), (2, 1), (1,), data=b"\0\0\xc0\x7f" * 2, kind=0)),
    "sparse rows twice as many as values": params(sparse(1, (1, 1), (2, 1), (2,), data=b"\0" * 20)),
    "sparse data of another width": params(sparse(1, (1, 9), (2, 1), (1,), data=b"\0" * 44)),
    "sparse without indices": params(sparse(1, (1, 1), (2, 1), (), data=b"\0" * 12)),
    "row starts that go back": params(
        sparse(2, (1,), (2, 2), (3,), (1,), data=b"\0" * 4 + struct.pack("<4q", 0, 9, 1, 0))),
    "legacy blob of 2^32 - 1 in three directions": params(struct.pack("<IIII", 3, *[2**32 - 1] * 3)),
    "V1 blob of negative size": params(struct.pack("<IIq", V1, 1, -(2**63))),
}  # fmt: skip


def graph(nodes, heads=((0, 0, 0),), **more):
    return json.dumps({"nodes": nodes, "arg_nodes": [], "heads": list(map(list, heads)), **more}).encode()


def node(op="null", name="x", inputs=(), **attrs):
    return {"op": op, "name": name, "inputs": [list(i) for i in inputs], "attrs": attrs}


def nested_graphs(depth):
    inner = {"nodes": [node()], "arg_nodes": [0], "heads": [[0, 0, 0]]}
    for _ in range(depth):
        inner = {"nodes": [{**node("_foreach"), "subgraphs": [inner]}], "arg_nodes": [], "heads": [[0, 0, 0]]}
    return json.dumps(inner).encode()


SYMBOLS = {
    "a node that feeds itself": graph([node(), node("exp", "y", [(1, 0, 0)])], [(1, 0, 0)]),
    "a cycle of two": graph([node("exp", "a", [(1, 0, 0)]), node("exp", "b", [(0, 0, 0)])]),
    "a head that is not there": graph([node()], [(7, 0, 0)]),
    "a head of -1": graph([node()], [(-1, 0, 0)]),
    "output 2^63": graph([node()], [(0, 2**63, 0)]),
    "no heads": graph([node()], []),
    "no nodes": graph([], [(0, 0, 0)]),
    "lists 100,000 deep": b"[" * 100_000,
    "objects 100,000 deep": b'{"nodes":' * 100_000,
    "graphs 5,000 deep": b'{"nodes":[{"op":"_foreach","name":"","subgraphs":[' * 5000,
    "graphs 150 deep": nested_graphs(150),
    "2^40 inputs": graph([node(), node("Concat", "y", [(0, 0, 0)], num_args=str(2**40))], [(1, 0, 0)]),
    "2^40 outputs": graph([node(), node("SliceChannel", "y", [(0, 0, 0)], num_outputs=str(2**40))], [(1, 0, 0)]),
    "an attribute that is code": graph([node(), node("Pooling", "y", [(0, 0, 0)], kernel="__import__('os').abort()")],
                                       [(1, 0, 0)]),
    "an attribute 50,000 deep": graph([node(), node("Pooling", "y", [(0, 0, 0)], kernel="(" * 50_000)], [(1, 0, 0)]),
    "an operator that is not there": graph([node("os.system", "y")]),
    "a variable with inputs": graph([node(), node("null", "y", [(0, 0, 0)])], [(1, 0, 0)]),
    "a subgraph that is its own input": graph([{**node("_foreach", "y", [(0, 0, 0)]), "subgraphs": [
        {"nodes": [node("exp", "z", [(0, 0, 0)])], "arg_nodes": [0], "heads": [[0, 0, 0]]}]}]),
    "inputs that overlap two nodes": graph([node(), node("Concat", "y", [(0, 0, 0), (1, 0, 0)], num_args="2")],
                                           [(1, 0, 0)]),
    "a count that is missing": graph([node(), node("_foreach", "y", [(0, 0, 0)])], [(1, 0, 0)]),
    "a fraction for an index": b'{"nodes":[{"op":"null","name":"x","inputs":[]}],"arg_nodes":[0],"heads":[[0.5,0,0]]}',
    "an index of 10^400": b'{"nodes":[{"op":"null","name":"x","inputs":[]}],"arg_nodes":[0],"heads":[[1e400,0,0]]}',
    "no JSON": b"\x80\x04.",
    "a number of 10,000 digits": graph([node()], [(0, 0, 0)], attrs={"mxnet_version": ["int", 0]}).replace(
        b'"int", 0', b'"int", ' + b"9" * 10_000),
}  # fmt: skip


class Call:
    """Pickled, it is a call."""

    def __init__(self, *call):
        self.call = call

    def __reduce__(self):
        return self.call


def deep(levels):
    tree = ()
    for _ in range(levels):
        tree = (tree,)
    return tree


STATES = {
    "posix.system through a reduce chain": pickle.dumps({0: [Call(os.system, ("true",))]}, 2),
    "__import__": pickle.dumps(Call(__import__, ("os",))),
    "builtins by another name": b"c__builtin__\neval\n(V1\ntR.",
    "an optimizer with a call for a class": b"cmxnet.optimizer.optimizer\nSGD\n(V1\ntR}V__class__\ncos\nsystem\nsb.",
    "an extension code": b"\x80\x02\x82\x01.",
    "an instruction across a frame": b"\x80\x04\x95\x03\0\0\0\0\0\0\0}\x94(\x8c\x02lru.",
    "a persistent reference": b"\x80\x02K\x01Q.",
    "numpy.load through a dtype": b"cnumpy\nload\n(Vx\ntR.",
    "a bytearray by its size": b"\x80\x05\x96" + struct.pack("<Q", 1 << 62) + b"ab.",
    "os.system": pickle.dumps(Call(os.system, ("true",))),
    "eval": pickle.dumps(Call(eval, ("1",))),
    "getattr": pickle.dumps(Call(getattr, ({}, "clear"))),
    "protocol 0": pickle.dumps(Call(eval, ("1",)), 0),
    "a bytearray of 2^60": pickle.dumps(Call(bytearray, (1 << 60,))),
    "a memo of 2^31": b"\x80\x02]r\xff\xff\xff\x7f.",
    "bytes of 2^60": b"\x80\x04\x8e" + struct.pack("<Q", 1 << 60) + b".",
    "a class of this package": b"cmxnet.recordio\nMXRecordIO\n(Vx\nVw\ntR.",
    "a class by a path": b"cmxnet.optimizer.optimizer\nos.system\n.",
    "an optimizer where states belong": b"cmxnet.optimizer.optimizer\nSGD\n)\x81.",
    "200 levels": pickle.dumps(deep(200)),
    "a number": pickle.dumps(1),
    "a container of 2^60": b"\x89REMX-states\n" + struct.pack("<Q", 1 << 60),
    "a container 100,000 deep": b"\x89REMX-states\n" + struct.pack("<Q", 100_000) + b"[" * 100_000,
}


def frame(length, part=0, data=b""):
    return struct.pack("<II", 0xCED7230A, part << 29 | length) + data


RECORDS = {
    "a part of 2^29 - 1 bytes": (frame(2**29 - 1), b"0\t0\n"),
    "a beginning without an end": (frame(4, 1, b"abcd") * 3, b"0\t0\n"),
    "an end without a beginning": (frame(4, 3, b"abcd"), b"0\t0\n"),
    "2^32 - 1 labels": (frame(24, 0, struct.pack("<IfQQ", 2**32 - 1, 0, 0, 0)), b"0\t0\n"),
    "an index beyond the file": (frame(24, 0, b"\0" * 24), b"0\t999999999999\n"),
    "an index before the file": (frame(24, 0, b"\0" * 24), b"0\t-8\n"),
    "an index of 2^80": (frame(24, 0, b"\0" * 24), b"0\t" + str(2**80).encode() + b"\n"),
    "an index that is no text": (frame(24, 0, b"\0" * 24), b"\xff\xfe\t\x80\n"),
    "a number of 10,000 digits": (frame(24, 0, b"\0" * 24), b"0\t" + b"9" * 10_000),
}


# -- archives and images -----------------------------------------------------------------------------------------------


def zipped(name, data, link=False):
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w", zipfile.ZIP_DEFLATED) as file:
        info = zipfile.ZipInfo(name)
        info.compress_type = zipfile.ZIP_DEFLATED
        info.external_attr = (0o120777 if link else 0o100644) << 16
        file.writestr(info, data)
    return memory.getvalue()


def tarred(name, data=b"", kind=tarfile.REGTYPE, target="", mode="w:gz"):
    memory = io.BytesIO()
    with tarfile.open(fileobj=memory, mode=mode) as file:
        info = tarfile.TarInfo(name)
        info.type, info.linkname, info.size = kind, target, len(data)
        file.addfile(info, io.BytesIO(data))
    return memory.getvalue()


def read_archive(data):
    """Extract `a.params` into a folder; afterwards nothing may be outside of it, and nothing in it but that file."""
    from mxnet._formats.archives import extract

    with tempfile.TemporaryDirectory() as outer:
        archive, folder = pathlib.Path(outer, "archive"), pathlib.Path(outer, "folder")
        archive.write_bytes(data)
        folder.mkdir()
        try:
            extract(archive, {"a.params": "a9993e364706816aba3e25717850c26c9cd0d89d"}, folder)  # SHA-1 of b"abc"
        finally:
            assert sorted(os.listdir(outer)) == ["archive", "folder"] and set(os.listdir(folder)) <= {"a.params"}


ARCHIVES = {
    "only a path out of the folder": zipped("../../b.params", b"abc"),
    "an absolute path to something else": zipped("/etc/cron.d/b", b"abc"),
    "a zip with a link": zipped("a.params", b"/etc/passwd", link=True),
    "a zip bomb": zipped("a.params", b"\0" * (40 << 20)),
    "other contents": zipped("a.params", b"abd"),
    "a tar with a symbolic link": tarred("a.params", kind=tarfile.SYMTYPE, target="/etc/passwd"),
    "a tar with a hard link": tarred("a.params", kind=tarfile.LNKTYPE, target="../archive"),
    "a tar with a device": tarred("a.params", kind=tarfile.CHRTYPE),
    "a tar bomb before the member": tarred("b", b"\0" * (40 << 20)),
    "neither zip nor tar": b"PK\x05\x06" + b"\xff" * 30,
    "a cut zip": zipped("a.params", b"abc")[:-10],
}


def png(width, height):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(b"\0" * 1000)) + chunk(b"IEND", b"")


def read_image(data):
    from mxnet._formats.images import decode

    decode(data)


IMAGES = {
    "a PNG of 2^31 - 1 squared": png(2**31 - 1, 2**31 - 1),
    "a PNG of 100,000 squared": png(100_000, 100_000),
    "a GIF of 65,535 squared": b"GIF89a" + struct.pack("<HH", 65535, 65535) + b"\0" * 20,
    "a BMP of negative size": b"BM" + b"\0" * 12 + struct.pack("<Iii", 40, -(2**31), 2**31 - 1) + b"\0" * 28,
    "a JPEG of 65,535 squared": b"\xff\xd8\xff\xc0\x00\x11\x08\xff\xff\xff\xff\x03" + b"\0" * 9 + b"\xff\xd9",
    "a JPEG of 30,000 squared behind bytes that are no marker": b"\xff\xd8\xff\xe0\0\x04ab"
    + b"junk" * 9
    + b"\xff\xc0\x00\x11\x08"
    + struct.pack(">HH", 30_000, 30_000)
    + b"\x03"
    + b"\0" * 9
    + b"\xff\xd9",
    "a TIFF of 2^32 - 1 squared": b"II*\0\x08\0\0\0\x02\0"
    + struct.pack("<HHII", 256, 4, 1, 2**32 - 1)
    + struct.pack("<HHII", 257, 4, 1, 2**32 - 1)
    + b"\0" * 4,
    "a TIFF whose directory is elsewhere": b"II*\0" + struct.pack("<I", 2**32 - 1) + b"\0" * 40,
    "a PPM of 999,999,999 squared": b"P6 999999999 999999999 255\n" + b"\0" * 40,
    "a PAM of 100,000 squared": b"P7\nWIDTH 100000\nHEIGHT 100000\nDEPTH 3\nMAXVAL 255\nENDHDR\n" + b"\0" * 40,
    "a Radiance image of 100,000 squared": b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 100000 +X 100000\n" + b"\0" * 40,
    "a Sun raster of 2^32 - 1 squared": b"\x59\xa6\x6a\x95" + struct.pack(">II", 2**32 - 1, 2**32 - 1) + b"\0" * 40,
    "a JPEG 2000 of 2^32 - 1 squared": b"\xff\x4f\xff\x51\0\x2f\0\0" + struct.pack(">4I", 2**32 - 1, 2**32 - 1, 0, 0),
    "a WebP of 2^24 squared": b"RIFF\x20\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0" + b"\xff" * 6 + b"\0" * 8,
    "an EXR, whose size nobody reads": b"\x76\x2f\x31\x01\x02\0\0\0" + b"\0" * 60,
    "a JPEG without an end": b"\xff\xd8\xff\xe0" + b"\0" * 30,
}
GROUPS = {"params": PARAMS, "symbol": SYMBOLS, "states": STATES, "record": RECORDS, "archive": ARCHIVES,
          "image": IMAGES}  # fmt: skip
ATTACKS = [(kind, name, data) for kind, group in GROUPS.items() for name, data in group.items()]


def reader(kind, folder):
    own = {"archive": read_archive, "image": read_image}
    return own[kind] if kind in own else fuzz.reader(kind, folder)


def run_all():
    """The attacks that were not refused, each with what happened instead."""
    import signal

    signal.signal(signal.SIGPROF, fuzz.alarm)
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        for kind in fuzz.KINDS:
            fuzz.warm(kind, fuzz.reader(kind, folder))
        for kind, name, data in ATTACKS:
            before = fuzz._peak()
            outcome, words = fuzz.attempt(reader(kind, folder), data)
            if fuzz._peak() - before > fuzz.SPARE + 4 * fuzz._size(data):
                outcome = f"{(fuzz._peak() - before) >> 20} MB of memory, then {outcome}"
            if outcome != "refused":
                wrong.append(f"{kind}: {name}: {outcome} {words[:200]}")
    return wrong


def truncations(most=None):
    """(number, failures): recorded files cut at every byte."""
    count, wrong = 0, []
    with tempfile.TemporaryDirectory() as folder:
        for kind in fuzz.KINDS:
            read = fuzz.reader(kind, folder)
            for number, data in enumerate(inputs.corpus(kind)):
                step = 1 if most is None else max(1, len(data) // most)
                for cut in range(0, len(data), step):
                    part = data[:cut]
                    outcome, words = fuzz.attempt(read, (part, b"0\t0\n") if kind == "record" else part)
                    count += 1
                    if outcome not in ("refused", "clean") or (outcome == "clean" and kind in ("params", "symbol")):
                        wrong.append(f"{kind} {number} cut at {cut}: {outcome} {words[:200]}")
    return count, wrong
