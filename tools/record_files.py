"""Record a corpus of small files with MXNet 1.9.1: run it with MXNet's own Python and the folder to fill.

Beside the files, `expected.json` holds what each contains. Generations that MXNet 1.9.1 reads but no longer writes are
put together byte by byte here and checked by loading them with it.
"""

import json
import os
import struct
import sys
import warnings

import numpy as np

import mxnet as mx

warnings.simplefilter("ignore")
DTYPES = ["float32", "float64", "float16", "uint8", "int32", "int8", "int64"]
MAGIC = struct.pack("<I", 0xCED7230A)
EXPECTED = {}


def described(value):
    """An array as JSON; hexadecimal bytes keep it exact."""
    array = np.array(value.asnumpy() if hasattr(value, "asnumpy") else value, order="C")
    return {"dtype": array.dtype.name, "shape": list(array.shape), "bytes": array.tobytes().hex()}


def contents(loaded):
    if isinstance(loaded, dict):
        return {"names": list(loaded), "arrays": [described(v) for v in loaded.values()]}
    return {"names": [], "arrays": [described(v) for v in loaded]}


def keep(folder, name, **facts):
    EXPECTED[name] = facts
    assert os.path.exists(os.path.join(folder, name)), name


def params(folder):
    rng = np.random.RandomState(5)
    arrays = {
        "weight": mx.nd.array(rng.randn(3, 4)),
        "bias": mx.nd.array(rng.randn(4)),
        "名前": mx.nd.arange(3),
        "": mx.nd.ones((1,)),
        "arg:data": mx.nd.array(rng.randn(2, 1, 3, 1, 2)),
    }
    cases = {f"{d}.params": [mx.nd.array(rng.randint(0, 100, (2, 3)), dtype=d)] for d in DTYPES}
    cases.update({f"{d}_named.params": {"x": mx.nd.array(rng.randint(0, 100, 5), dtype=d)} for d in DTYPES})
    cases.update({"dict.params": arrays, "list.params": list(arrays.values()), "empty.params": []})
    cases["checkpoint-0001.params"] = {"arg:fc_weight": arrays["weight"], "aux:bn_moving_mean": arrays["bias"]}
    cases["large_dims.params"] = [mx.nd.zeros((1, 1, 1, 1, 1, 1, 1, 2))]
    for name, data in cases.items():
        mx.nd.save(os.path.join(folder, name), data)
        keep(folder, name, kind="params", rewrites=True, **contents(data))


def other_storage(folder):
    dense = np.array([[0, 0], [1.5, 2], [0, 0], [3, -4]], np.float32)
    for stype in ("row_sparse", "csr"):
        name = f"{stype}.params"
        sparse = mx.nd.array(dense).tostype(stype)
        mx.nd.waitall()  # MXNet writes the size of the stored part before it waits for it
        mx.nd.save(os.path.join(folder, name), {"s": sparse})
        keep(folder, name, kind="params", rewrites=False, names=["s"], arrays=[described(dense)])
    empty = mx.nd.zeros((3, 2), stype="row_sparse")
    mx.nd.save(os.path.join(folder, "row_sparse_empty.params"), [empty])
    keep(folder, "row_sparse_empty.params", kind="params", rewrites=False, names=[], arrays=[described(empty)])
    with mx.util.np_shape(True):
        scalar, zero = mx.nd.array(np.float32(2.5)).reshape(()), mx.nd.zeros((0, 3))
        mx.nd.save(os.path.join(folder, "v3.params"), [scalar, zero])
    keep(folder, "v3.params", kind="params", rewrites="v3", names=[],
         arrays=[described(np.array(2.5, np.float32)), described(np.zeros((0, 3), np.float32))])  # fmt: skip


def old_generations(folder):
    """Blobs of MXNet before 0.10 (`legacy`) and of 0.10 to 0.11 (V1)."""
    values = np.arange(6, dtype=np.float32).reshape(2, 3)
    whole = np.array([7, 8], np.int32)

    def tail(array, flag):
        return struct.pack("<iii", 1, 0, flag) + array.tobytes()

    def listed(blobs, names):
        out = struct.pack("<QQQ", 0x112, 0, len(blobs)) + b"".join(blobs) + struct.pack("<Q", len(names))
        return out + b"".join(struct.pack("<Q", len(n)) + n.encode() for n in names)

    legacy = [struct.pack("<III", 2, 2, 3) + tail(values, 0), struct.pack("<II", 1, 2) + tail(whole, 4)]
    first = [struct.pack("<IIqq", 0xF993FAC8, 2, 2, 3) + tail(values, 0),
             struct.pack("<IIq", 0xF993FAC8, 1, 2) + tail(whole, 4)]  # fmt: skip
    for name, blobs, names in [("legacy_list.params", legacy, []), ("legacy_dict.params", legacy, ["a", "b"]),
                               ("v1_list.params", first, []), ("v1_dict.params", first, ["a", "b"])]:  # fmt: skip
        path = os.path.join(folder, name)
        with open(path, "wb") as file:
            file.write(listed(blobs, names))
        keep(folder, name, kind="params", rewrites=False, **contents(mx.nd.load(path)))


def records(folder):
    plain = [b"", b"a", b"abcd", b"hello", bytes(range(256)) * 3]
    cut = [MAGIC, MAGIC + MAGIC, b"abcd" + MAGIC + b"efgh", b"abc" + MAGIC + b"e", MAGIC * 3 + b"x", b"1234" + MAGIC]
    header = mx.recordio.IRHeader
    packed = [
        mx.recordio.pack(header(0, 4.5, 7, 9), b"content"),
        mx.recordio.pack(header(0, [1, 2, 3.5], 2**40, 0), b"content"),
        mx.recordio.pack(header(3, 1, 1, 0), b""),
    ]
    for name, contents_ in (("plain", plain), ("cut", cut), ("packed", packed), ("none", [])):
        stem = os.path.join(folder, name)
        writer = mx.recordio.MXIndexedRecordIO(stem + ".idx", stem + ".rec", "w")
        for key, record in enumerate(contents_):
            writer.write_idx(key * 10, record)
        writer.close()
        with open(stem + ".idx", encoding="utf-8") as file:
            index = dict(tuple(map(int, line.split("\t"))) for line in file)
        keep(folder, name + ".rec", kind="records", records=[r.hex() for r in contents_])
        keep(folder, name + ".idx", kind="index", index=[[k, v] for k, v in index.items()])


PLAIN = ["adadelta", "adagrad", "adamax", "dcasgd", "ftml", "ftrl", "groupadagrad", "lamb", "lars", "nag", "sgld",
         "signum"]  # fmt: skip


def optimizer_cases():
    """Each optimizer MXNet has, with options that change what it keeps, and each schedule."""
    schedules = [
        mx.lr_scheduler.FactorScheduler(10, 0.5),
        mx.lr_scheduler.MultiFactorScheduler([2, 4], 0.5),
        mx.lr_scheduler.PolyScheduler(20, pwr=2),
        mx.lr_scheduler.CosineScheduler(20, warmup_steps=3),
    ]
    half = {"momentum": 0.9, "multi_precision": True}
    first = [("sgd", {"momentum": 0.9}), ("sgd", {}), ("adam", {"lr_scheduler": schedules[0]}), ("nadam", {}),
             ("sgd", half), ("rmsprop", {"centered": True})]  # fmt: skip
    more = [(name, {"lr_scheduler": schedules[i % 4]} if i % 2 else {}) for i, name in enumerate(PLAIN)]
    return [*first, *more, ("rmsprop", {}), ("adam", {"multi_precision": True}), ("lbsgd", {"momentum": 0.5}),
            ("nag", {"momentum": 0.5, "lr_scheduler": schedules[3]}), ("lars", half), ("ccsgd", {})]  # fmt: skip


def states(folder):
    for number, (name, options) in enumerate(optimizer_cases()):
        updater = mx.optimizer.get_updater(mx.optimizer.create(name, learning_rate=0.1, **options))
        weights = {}
        for index in (0, "fc_weight"):
            weights[index] = mx.nd.array(
                [[1, 2], [3, 4]], dtype="float16" if "multi_precision" in options else "float32"
            )
            updater(index, weights[index] * 0.5, weights[index])
        for whole in (False, True):
            file_name = f"{number}_{name}{'_whole' if whole else ''}.states"
            with open(os.path.join(folder, file_name), "wb") as file:
                file.write(updater.get_states(whole))
            flat = {}
            for key, state in updater.states.items():
                flat[str(key)] = [None if p is None else described(p) for p in parts_of(state)]
            facts = {"kind": "states", "states": flat, "weight": described(weights[0])}
            if whole:
                facts["optimizer"] = {"class": type(updater.optimizer).__name__, "lr": updater.optimizer.lr,
                                      "num_update": updater.optimizer.num_update}  # fmt: skip
            keep(folder, file_name, **facts)
        updater(0, weights[0] * 0.25, weights[0])
        EXPECTED[f"{number}_{name}_whole.states"]["after"] = described(weights[0])


def sparse_states(folder):
    """States of row-sparse weights, whose arrays are row-sparse as well."""
    values = mx.nd.array([[1, 2], [5, 6], [3, 4]])
    gradient = mx.nd.array([[1, 2], [0, 0], [3, 4]]).tostype("row_sparse")
    for name, options in (("sgd", {"momentum": 0.9}), ("adam", {}), ("adagrad", {}), ("ftrl", {})):
        updater = mx.optimizer.get_updater(mx.optimizer.create(name, learning_rate=0.1, **options))
        updater(0, gradient, values.tostype("row_sparse"))
        mx.nd.waitall()
        file_name = f"sparse_{name}_whole.states"
        with open(os.path.join(folder, file_name), "wb") as file:
            file.write(updater.get_states(True))
        keep(folder, file_name, kind="states", states={"0": [described(p) for p in parts_of(updater.states[0])]})


def parts_of(state):
    """The arrays of a state, however they are nested."""
    if isinstance(state, (tuple, list)):
        return [part for inner in state for part in parts_of(inner)]
    return [state]


def main(folder):
    os.makedirs(folder, exist_ok=True)
    for part in (params, other_storage, old_generations, records, states, sparse_states):
        part(folder)
    with open(os.path.join(folder, "expected.json"), "w", encoding="utf-8") as file:
        json.dump(EXPECTED, file, indent=0, sort_keys=True, ensure_ascii=False)
    print(len(EXPECTED), "files")


if __name__ == "__main__":
    main(sys.argv[1])
