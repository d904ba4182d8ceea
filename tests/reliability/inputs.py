"""Inputs for the readers: recorded files with damage, and files made up field by field with false claims."""

import json
import pathlib
import pickle
import random
import struct

DATA = pathlib.Path(__file__).parents[1] / "data"
FOLDERS = (DATA / "files", DATA / "models")
NUMBERS = (0, 1, 2, 3, 7, 8, 31, 32, 33, 127, 128, 255, 256, 65535, 65536, 2**29, 2**31 - 1, 2**31, 2**32 - 1, 2**40,
           2**62, 2**63 - 1, 2**63, 2**64 - 1)  # fmt: skip
MAGICS = (0x112, 0xF993FAC8, 0xF993FAC9, 0xF993FACA, 0xCED7230A)


def corpus(kind):
    """The recorded files that damage starts from."""
    from .more_readers import READERS

    if kind in READERS:
        return READERS[kind][0]()
    if kind == "symbol":
        texts = json.loads((DATA / "symbols.json").read_text(encoding="utf-8"))["texts"]
        recorded = [entry["json"].encode() for entry in texts.values() if len(entry["json"]) < 20_000]
        return recorded + _stored(("-symbol.json",))
    endings = {"params": (".params",), "record": (".rec",), "index": (".idx",), "states": (".states",)}[kind]
    return _stored(endings)


def _stored(endings):
    return [path.read_bytes() for folder in FOLDERS for path in sorted(folder.iterdir()) if path.name.endswith(endings)]


# -- damage to bytes ---------------------------------------------------------------------------------------------------


def _flip(rng, data):
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def _overwrite(rng, data):
    at = rng.randrange(len(data))
    form = rng.choice("BHIQ")
    number = struct.pack("<" + form, rng.choice(NUMBERS + MAGICS) % (1 << 8 * struct.calcsize(form)))
    data[at : at + len(number)] = number


def _aligned(rng, data):
    at = rng.randrange(0, len(data), 4)
    data[at : at + 8] = struct.pack("<Q", rng.choice(NUMBERS))


def _cut(rng, data):
    at = rng.randrange(len(data))
    del data[at : at + rng.choice((1, 2, 4, 8, 64, len(data)))]


def _insert(rng, data):
    at = rng.randrange(len(data) + 1)
    data[at:at] = rng.randbytes(rng.choice((1, 2, 4, 8, 64)))


def _repeat(rng, data):
    at = rng.randrange(len(data))
    part = data[at : at + rng.choice((1, 4, 8, 64))]
    data[at:at] = part * rng.choice((1, 2, 30))


def _digits(rng, data):
    """Replace a number written in decimal, as texts and indices hold them."""
    places = [i for i, byte in enumerate(data) if 48 <= byte <= 57]
    if places:
        at = rng.choice(places)
        data[at : at + 1] = str(rng.choice((*NUMBERS, -1, -(2**63), 1e308, "nan"))).encode()


DAMAGE = (_flip, _overwrite, _aligned, _cut, _insert, _repeat, _digits)


def mutated(rng, files):
    """One of the files with a few damages, now and then joined to another one."""
    data = bytearray(rng.choice(files))
    if rng.random() < 0.1:
        other = rng.choice(files)
        data[rng.randrange(len(data) + 1) :] = other[rng.randrange(len(other) + 1) :]
    for _ in range(rng.choice((1, 1, 2, 3, 8))):
        if data:
            rng.choice(DAMAGE)(rng, data)
    return bytes(data)


# -- made up field by field --------------------------------------------------------------------------------------------


def _number(rng, bits, usual):
    return (rng.choice(NUMBERS) if rng.random() < 0.15 else usual) % (1 << bits)


def _shape(rng, code, count):
    sizes = [_number(rng, 64, rng.randrange(4)) for _ in range(count)]
    size = 8 if code == "q" else 4
    return b"".join((s % (1 << 8 * size)).to_bytes(size, "little") for s in sizes)


def _blob(rng):
    magic = rng.choice((0xF993FAC9, 0xF993FAC9, 0xF993FACA, 0xF993FAC8, rng.randrange(5)))
    ndim = rng.randrange(4)
    told = _number(rng, 32, ndim)
    head = struct.pack("<I", magic)
    if magic in (0xF993FAC9, 0xF993FACA):
        storage = _number(rng, 32, rng.choice((0, 0, 0, 1, 2)))
        head += struct.pack("<I", storage)
        if storage in (1, 2):
            head += struct.pack("<I", _number(rng, 32, 1)) + _shape(rng, "q", 1)
    if magic > 31:
        head += struct.pack("<I", told) + _shape(rng, "q", ndim)
    else:
        head += _shape(rng, "I", magic)
    head += struct.pack("<III", 1, 0, _number(rng, 32, rng.randrange(13)))
    for _ in range(rng.choice((0, 0, 1, 2))):
        head += struct.pack("<II", _number(rng, 32, 6), 1) + _shape(rng, "q", 1)
    return head + rng.randbytes(rng.randrange(64))


def generated_params(rng):
    count = rng.randrange(3)
    blobs = b"".join(_blob(rng) for _ in range(count))
    names = [rng.randbytes(rng.randrange(5)) for _ in range(rng.choice((0, count)))]
    tail = struct.pack("<Q", _number(rng, 64, len(names)))
    tail += b"".join(struct.pack("<Q", _number(rng, 64, len(name))) + name for name in names)
    return struct.pack("<QQQ", 0x112, 0, _number(rng, 64, count)) + blobs + tail


def _attribute(rng):
    return rng.choice(("1", "0", "-1", "(1, 1)", "()", "None", "True", "relu", "float32", "[1]", "(((", "1e400", "",
                       "9" * 30, "(2, 3", "__import__('os')", "nan", str(rng.choice(NUMBERS))))  # fmt: skip


def _node(rng, place, operators):
    variable = place == 0 or rng.random() < 0.4
    if variable:
        inputs = []
    else:
        reach = place + 2 if rng.random() < 0.1 else place
        inputs = [[rng.randrange(reach), rng.choice((0, 0, 0, 1, -1)), 0] for _ in range(rng.randrange(4))]
    node = {"op": "null" if variable else rng.choice(operators), "name": f"n{place}", "inputs": inputs}
    keys = ("num_hidden", "num_filter", "kernel", "axis", "shape", "act_type", "num_args", "dtype", "num_outputs",
            "mode", "state_size", "num_layers", "__shape__", "lr_mult", "weight_lr_mult", "scalar")  # fmt: skip
    attrs = {rng.choice(keys): _attribute(rng) for _ in range(rng.randrange(4))}
    node[rng.choice(("attrs", "attrs", "attr", "param"))] = attrs
    if rng.random() < 0.05:
        node["subgraphs"] = [_graph(rng, 2, operators)]
    if rng.random() < 0.05:
        node[rng.choice(list(node))] = rng.choice((None, 1, [], {}, "x", [[0]], {"a": 1}))
    return node


def _graph(rng, size, operators):
    nodes = [_node(rng, i, operators) for i in range(size)]
    heads = [[rng.randrange(size), rng.choice((0, 0, 0, 3)), 0]]
    return {"nodes": nodes, "arg_nodes": [], "heads": heads}


def generated_symbol(rng, operators):
    graph = _graph(rng, rng.randrange(1, 8), operators)
    if rng.random() < 0.5:
        graph["attrs"] = {"mxnet_version": ["int", rng.choice((700, 800, 903, 10901, -1, 2**70))]}
    return json.dumps(graph).encode()


def generated_record(rng):
    pieces = []
    for _ in range(rng.randrange(1, 6)):
        length = rng.randrange(40)
        told = _number(rng, 29, length)
        part = rng.choice((0, 0, 0, 1, 2, 3, 5))
        content = rng.randbytes(length)
        if length >= 24:
            content = struct.pack("<IfQQ", _number(rng, 32, rng.randrange(3)), 1.0, 7, 0) + content[24:]
        pieces.append(struct.pack("<II", 0xCED7230A, part << 29 | told) + content + b"\0" * (-length % 4))
    return b"".join(pieces)


def generated_index(rng):
    lines = [f"{rng.choice((n, n, rng.choice(NUMBERS), 'x'))}\t{rng.choice((0, 8, 36, -1, *NUMBERS, 'y', ''))}"
             for n in range(rng.randrange(6))]  # fmt: skip
    return "\n".join(lines).encode()


_WORDS = ("mxnet.ndarray.ndarray NDArray", "mxnet.optimizer.optimizer SGD", "mxnet.lr_scheduler FactorScheduler",
          "builtins bytearray", "numpy dtype", "numpy.core.multiarray scalar", "collections OrderedDict", "os system",
          "_codecs encode", "builtins set", "mxnet.optimizer.optimizer Optimizer", "mxnet.optimizer os")  # fmt: skip


def _opcodes(rng):
    """A stream of pickle instructions in no sensible order."""
    simple = b"(0120NI01\nNtld}])esuab\x81RQ\x85\x86\x87\x88\x89\x8f\x90\x91\x92\x93\x94"
    choices = [
        lambda: bytes([rng.choice(simple)]),
        lambda: b"c" + rng.choice(_WORDS).replace(" ", "\n").encode() + b"\n",
        lambda: b"K" + rng.randbytes(1),
        lambda: b"J" + rng.randbytes(4),
        lambda: b"q" + bytes([rng.randrange(6)]),
        lambda: b"h" + bytes([rng.randrange(6)]),
        lambda: b"C\x03abc",
        lambda: b"X\x01\x00\x00\x00" + bytes([rng.randrange(97, 123)]),
        lambda: b"X\x06\x00\x00\x00handle",
        lambda: b"\x96" + struct.pack("<Q", _number(rng, 64, 2)) + b"ab",
        lambda: b"B" + struct.pack("<I", _number(rng, 32, 2)) + b"ab",
        lambda: b"\x8a\x02ab",
        lambda: b"G" + rng.randbytes(8),
    ]
    body = b"".join(rng.choice(choices)() for _ in range(rng.randrange(1, 25)))
    return b"\x80" + bytes([rng.choice((2, 3, 4, 5))]) + body + b"."


def _tree(rng, depth):
    if depth == 0 or rng.random() < 0.3:
        return rng.choice((None, 1, -1, 2.5, "x", {"array": rng.choice((0, 1, -1, 10**9))}, True, {}, {"tuple": 1}))
    inner = [_tree(rng, depth - 1) for _ in range(rng.randrange(3))]
    module, name = rng.choice(_WORDS).split(" ")
    return rng.choice(
        (
            inner,
            {"tuple": inner},
            {"dict": [[_tree(rng, 0), part] for part in inner]},
            {"object": [module, name, {"dict": [["lr", part] for part in inner]}]},
            {"dict": inner, "tuple": inner},
        )
    )


def generated_states(rng):
    kind = rng.random()
    if kind < 0.5:
        return _opcodes(rng)
    if kind < 0.7:
        return pickle.dumps({rng.randrange(9): rng.choice((None, (1, 2), [], "x", {1: 2}, b"x"))}, rng.randrange(6))
    text = json.dumps(_tree(rng, 4)).encode()
    return b"\x89REMX-states\n" + struct.pack("<Q", _number(rng, 64, len(text))) + text + generated_params(rng)


def stream(kind, seed, count):
    """`count` inputs of a kind, two damaged files to one made up; the same for the same seed. Records come in pairs."""
    rng = random.Random(f"{kind}{seed}")
    from .more_readers import READERS

    make = {"params": generated_params, "states": generated_states, **{k: v[1] for k, v in READERS.items()}}.get(kind)
    if kind == "symbol":
        from mxnet._ops.registry import registry

        operators = sorted(registry.load())
        make = lambda rng: generated_symbol(rng, operators)
    if kind == "record":
        records, indices = corpus("record"), corpus("index")
        for i in range(count):
            fresh = i % 3 == 0
            record = generated_record(rng) if fresh or rng.random() < 0.1 else mutated(rng, records)
            yield record, generated_index(rng) if fresh else mutated(rng, indices)
        return
    files = corpus(kind)
    for i in range(count):
        yield make(rng) if i % 3 == 0 else mutated(rng, files)
