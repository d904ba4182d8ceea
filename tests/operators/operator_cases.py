"""All recorded operator cases: the conformance data of MXNet 1.9.1, the samples' results, and cases with a formula."""

import json
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np
import operator_formulas as formulas

DATA = Path(__file__).resolve().parent.parent / "data"
TOLERANCE = {"float16": (2e-2, 2e-3), "float32": (1e-3, 1e-5), "float64": (1e-5, 1e-8)}


@dataclass
class Recorded:
    """One call and what MXNet gave: outputs, inputs changed in place, gradients for given heads (or None)."""

    operator: str
    attrs: dict
    inputs: list
    outputs: list
    train: bool = False
    seed: int | None = None
    mutated: dict = field(default_factory=dict)
    heads: list | None = None
    grads: dict | None = None

    @property
    def size(self):
        return sum(a.size for a in self.inputs)

    def __repr__(self):
        return f"{self.operator}({', '.join(str(a.shape) for a in self.inputs)}, {self.attrs})"


def _read(operator, arrays):
    for c, meta in enumerate(json.loads(arrays["meta"].tobytes())):
        differentiable = meta["grads"] is not None
        yield Recorded(
            operator,
            meta["attrs"],
            [arrays[f"{c}.in{i}"] for i in range(meta["n_in"])],
            [arrays[f"{c}.out{i}"] for i in range(meta["n_out"])],
            meta["train"],
            meta.get("seed"),
            {i: arrays[f"{c}.mut{i}"] for i in meta["mutated"]},
            [arrays[f"{c}.head{i}"] for i in range(meta["n_out"])] if differentiable else None,
            {i: arrays[f"{c}.grad{i}"] for i in meta["grads"]} if differentiable else None,
        )


@cache
def _extra():
    with np.load(DATA / "operators.npz") as archive:
        grouped = {}
        for key in archive.files:
            operator, what = key.split("|")
            grouped.setdefault(operator, {})[what] = archive[key]
    return grouped


@cache
def operators():
    """Names with at least one case."""
    return sorted(
        {"_contrib_backward_hawkesll"}
        | {p.stem for p in (DATA / "conformance").glob("*.npz")}
        | set(_extra())
        | set(formulas.CASES)
    )


@cache
def cases(operator):
    """All cases recorded under one name."""
    found = []
    path = DATA / "conformance" / f"{operator}.npz"
    if path.exists():
        with np.load(path) as archive:
            found += _read(operator, {k: archive[k] for k in archive.files})
    if operator in _extra():
        found += _read(operator, _extra()[operator])
    if operator == "_contrib_backward_hawkesll":  # its results are the recorded gradients
        for case in cases("_contrib_hawkesll"):
            grads = [case.grads.get(i, np.zeros_like(a)) for i, a in enumerate(case.inputs)]
            found.append(Recorded(operator, {}, [*case.heads, *case.inputs], grads))
    for attrs, inputs, outputs in formulas.CASES.get(operator, ()):
        found.append(Recorded(operator, {k: str(v) for k, v in attrs.items()}, list(inputs), list(outputs)))
    return found


def compare(what, got, want, scale=1):
    """Same shape, same dtype, values within the dtype's tolerance (`scale` times it for gradients)."""
    assert got.shape == want.shape, f"{what}: shape {got.shape}, MXNet gives {want.shape}"
    assert got.dtype == want.dtype, f"{what}: dtype {got.dtype}, MXNet gives {want.dtype}"
    if want.dtype.kind != "f":
        np.testing.assert_array_equal(got, want, err_msg=what)
        return
    relative, absolute = TOLERANCE[str(want.dtype)]
    largest = np.abs(want[np.isfinite(want)]).max(initial=0)
    np.testing.assert_allclose(got, want, relative * scale, absolute * scale * max(1, largest), err_msg=what)
