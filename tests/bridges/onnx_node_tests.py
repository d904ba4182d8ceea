"""The ONNX project's own node tests, run through the importer: `python onnx_node_tests.py` prints what fails."""

import re
import sys
import warnings

import numpy as np
from onnx import defs, helper, numpy_helper
from onnx.backend.test.case.node import collect_testcases

import mxnet as mx
from mxnet.contrib.onnx.onnx2mx._node import TABLE
from mxnet.contrib.onnx.onnx2mx.import_onnx import GraphProto

NEEDS_CONSTANT = re.compile(r"its input (\S+) must be a constant")
DEFINED = {s.name for s in defs.get_all_schemas() if s.has_function or s.has_context_dependent_function}
RANDOM = ("test_bernoulli",)
TYPES = {"float32", "float64", "float16", "uint8", "int8", "int32", "int64", "bool"}  # those of MXNet 1.9.1


def cases():
    """Tests of a single operator that the table has, on types that MXNet has."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {case.name: case for case in collect_testcases(None)}
    for name, case in sorted(found.items()):
        graph = case.model.graph
        known = len(graph.node) == 1 and supported(graph.node[0])
        if name.startswith(RANDOM):
            continue
        if known and {_type(info) for info in (*graph.input, *graph.output)} <= TYPES and "training" not in name:
            yield case


def supported(node):
    """Has the table the operator, or ONNX a definition of it?"""
    return node.domain == "" and (node.op_type in TABLE or node.op_type in DEFINED)


def _type(info):
    kind = info.type.tensor_type.elem_type
    return helper.tensor_dtype_to_np_dtype(kind).name if kind else "none"


def run(case):
    """Import the model and compare its outputs with the recorded ones."""
    for inputs, outputs in case.data_sets:
        values = {i.name: np.asarray(_array(v)) for i, v in zip(case.model.graph.input, inputs, strict=False)}
        sym, params, feed = _imported(case.model, values)
        arrays = {name: mx.nd.array(value, dtype=value.dtype) for name, value in feed.items()}
        known = {**params, **arrays}
        args = {name: known[name] for name in sym.list_arguments()}
        executor = sym.bind(mx.cpu(), args, aux_states={n: known[n] for n in sym.list_auxiliary_states()})
        for got, wanted in zip(executor.forward(), outputs, strict=False):
            _compare(got.asnumpy(), np.asarray(_array(wanted)), case)


def _array(value):
    return numpy_helper.to_array(value) if hasattr(value, "SerializeToString") else value


def _imported(model, values):
    """Inputs that MXNet has as attributes become constants of the model."""
    model = type(model).FromString(model.SerializeToString())
    values = dict(values)
    while True:
        try:
            sym, args, auxs = GraphProto().from_onnx(model)
            return sym, {**args, **auxs}, values
        except mx.MXNetError as error:
            found = NEEDS_CONSTANT.search(str(error))
            name = found and (found[1] if found[1] in values else _shape_input(values))
            if not name:
                raise
            model.graph.initializer.append(numpy_helper.from_array(values.pop(name), name))


def _shape_input(values):
    """The input behind a constant that an operator's own definition wants: a list of whole numbers."""
    return next((n for n, v in values.items() if v.dtype.kind == "i" and v.ndim < 2), None)


def _compare(got, wanted, case):
    if wanted.ndim == 0:  # MXNet's smallest shape is (1,)
        got = got.reshape(())
    assert got.shape == wanted.shape, f"shape {got.shape}, not {wanted.shape}"
    assert got.dtype == wanted.dtype, f"type {got.dtype}, not {wanted.dtype}"
    rtol = max(case.rtol, 2e-3) if wanted.dtype == "float16" else case.rtol  # two of its last places
    np.testing.assert_allclose(got, wanted, rtol=rtol, atol=max(case.atol, 1e-6))


def results():
    """{name: None or the error} of all cases."""
    found = {}
    for case in cases():
        try:
            run(case)
            found[case.name] = None
        except Exception as error:  # every failure is a result here
            found[case.name] = f"{type(error).__name__}: {str(error).strip()[:200]}"
    return found


if __name__ == "__main__":
    outcome = results()
    failures = {name: error for name, error in outcome.items() if error}
    for name, error in failures.items():
        print(f"{name}: {error}".replace("\n", " ")[:300])
    print(f"{len(outcome) - len(failures)} of {len(outcome)} pass; {len(TABLE)} operators", file=sys.stderr)
