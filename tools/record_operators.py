#!/usr/bin/env python3
"""Run `tests/operators/operator_samples.py` on real MXNet 1.9.1; the results go to `tests/data/operators.npz`.

    python tools/record_operators.py            all operators
    python tools/record_operators.py NAME ...   these ones only; the others stay as they are

Run it with an interpreter whose `mxnet` is the original. Keys are `<operator>|<case>.<what>`, with the layout of the
conformance data: in, out, mut (an input after the call, where it changed), head and grad.
"""

import ast
import json
import pathlib
import sys

import numpy as np

import mxnet as mx
from mxnet import autograd, nd

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET = ROOT / "tests" / "data" / "operators.npz"
NAMESPACES = {"_contrib_": "contrib", "_linalg_": "linalg", "_image_": "image", "_random_": "random"}


def resolve(name):
    """The function MXNet offers for a registered name; Python wrappers with other arguments come last."""
    places = [(nd._internal, name), (nd, name)]
    places += [
        (getattr(nd, space), name[len(prefix) :]) for prefix, space in NAMESPACES.items() if name.startswith(prefix)
    ]
    return next(getattr(place, key) for place, key in places if hasattr(place, key))


def parse(text):
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def call(name, case, arrays):
    out = [nd.zeros(case.inputs[i].shape, dtype=case.inputs[i].dtype) for i in case.outs]
    given = {key: parse(value) for key, value in case.attrs.items()} | ({"out": out} if out else {})
    result = resolve(name)(*arrays, **given)
    return list(result) if isinstance(result, (list, tuple)) else [result]


def gradients(name, case):
    """Heads and gradients of every floating input, or None where MXNet cannot differentiate the call."""
    arrays = [nd.array(a, dtype=a.dtype) for a in case.inputs]
    floating = [i for i, a in enumerate(case.inputs) if a.dtype.kind == "f" and (case.grad is True or i in case.grad)]
    for i in floating:
        arrays[i].attach_grad()
    try:
        with autograd.record(train_mode=case.train):
            outputs = call(name, case, arrays)
        draw = np.random.RandomState(3)
        heads = [nd.array(draw.uniform(-1, 1, o.shape), dtype=o.dtype) for o in outputs]
        autograd.backward(outputs, heads, train_mode=case.train)
        return [h.asnumpy() for h in heads], {i: arrays[i].grad.asnumpy() for i in floating}
    except mx.base.MXNetError as error:
        print(f"{name}: no gradient, {str(error).strip().splitlines()[-1][:100]}")
        return None


def record(name, cases):
    """The arrays of one operator, under the keys of the archive."""
    arrays, meta = {}, []
    for c, case in enumerate(cases):
        inputs = [nd.array(a, dtype=a.dtype) for a in case.inputs]
        if case.seed is not None:
            mx.random.seed(case.seed)
        with autograd.train_mode() if case.train else autograd.predict_mode():
            outputs = [o.asnumpy() for o in call(name, case, inputs)]
        after = [a.asnumpy() for a in inputs]
        changed = [
            i for i, a in enumerate(after) if not np.array_equal(a, case.inputs[i], equal_nan=a.dtype.kind == "f")
        ]
        found = gradients(name, case) if case.grad else None
        entry = {
            "attrs": case.attrs,
            "train": case.train,
            "n_in": len(inputs),
            "n_out": len(outputs),
            "seed": case.seed,
        }
        meta.append({**entry, "mutated": changed, "grads": sorted(found[1]) if found else None})
        parts = {"in": dict(enumerate(case.inputs)), "out": dict(enumerate(outputs))}
        parts["mut"] = {i: after[i] for i in changed}
        if found:
            parts["head"], parts["grad"] = dict(enumerate(found[0])), found[1]
        for what, values in parts.items():
            arrays.update({f"{name}|{c}.{what}{i}": value for i, value in values.items()})
    arrays[f"{name}|meta"] = np.frombuffer(json.dumps(meta).encode(), np.uint8)
    return arrays


def main():
    sys.path.insert(0, str(ROOT / "tests" / "operators"))
    from operator_samples import SAMPLES

    wanted = sys.argv[1:] or list(SAMPLES)
    arrays = {}
    if TARGET.exists():
        with np.load(TARGET) as archive:
            arrays = {
                k: archive[k] for k in archive.files if k.split("|")[0] in SAMPLES and k.split("|")[0] not in wanted
            }
    for name in wanted:
        try:
            arrays.update(record(name, SAMPLES[name]))
        except (mx.base.MXNetError, AttributeError, TypeError) as error:
            print(f"{name}: not recorded, {type(error).__name__}: {str(error).strip().splitlines()[-1][:160]}")
    np.savez_compressed(TARGET, **arrays)


if __name__ == "__main__":
    main()
