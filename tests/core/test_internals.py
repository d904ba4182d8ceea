"""Internals of MXNet that other people's programs touch: each is there, or says what to use instead."""

import ctypes
import sys
import types

import numpy as np
import pytest

import mxnet as mx
from mxnet.base import _LIB, MXNetError, check_call


# ---------------------------------------------------------------------- the library
class IndexCreator(mx.recordio.MXRecordIO):
    """What MXNet's rec2idx does: asks the library where each record begins."""

    def tell(self):
        place = ctypes.c_size_t()
        check_call(_LIB.MXRecordIOReaderTell(self.handle, ctypes.byref(place)))
        return place.value


@pytest.fixture
def records(tmp_path):
    writer = mx.recordio.MXIndexedRecordIO(str(tmp_path / "a.idx"), str(tmp_path / "a.rec"), "w")
    for key in range(5):
        writer.write_idx(key, bytes([key]) * (key + 1))
    writer.close()
    return tmp_path


def test_the_library_tells_where_records_begin(records):
    reader = IndexCreator(str(records / "a.rec"), "r")
    places = []
    while True:
        place = reader.tell()
        if reader.read() is None:
            break
        places.append(place)
    lines = (records / "a.idx").read_text().split("\n")[:-1]
    assert [f"{key}\t{place}" for key, place in enumerate(places)] == lines


def test_records_are_read_and_written_through_the_library(tmp_path):
    path = mx.base.c_str(str(tmp_path / "b.rec"))
    handle = mx.base.RecordIOHandle()
    check_call(_LIB.MXRecordIOWriterCreate(path, ctypes.byref(handle)))
    check_call(_LIB.MXRecordIOWriterWriteRecord(handle, ctypes.c_char_p(b"one"), ctypes.c_size_t(3)))
    place = ctypes.c_size_t()
    check_call(_LIB.MXRecordIOWriterTell(handle, ctypes.byref(place)))
    check_call(_LIB.MXRecordIOWriterWriteRecord(handle, ctypes.c_char_p(b"t\0o"), ctypes.c_size_t(3)))
    check_call(_LIB.MXRecordIOWriterFree(handle))

    handle, size, data = mx.base.RecordIOHandle(), ctypes.c_size_t(), ctypes.c_char_p()
    check_call(_LIB.MXRecordIOReaderCreate(path, ctypes.byref(handle)))
    check_call(_LIB.MXRecordIOReaderReadRecord(handle, ctypes.byref(data), ctypes.byref(size)))
    assert (data.value, size.value) == (b"one", 3)
    check_call(_LIB.MXRecordIOReaderSeek(handle, place))
    data = ctypes.POINTER(ctypes.c_char)()
    check_call(_LIB.MXRecordIOReaderReadRecord(handle, ctypes.byref(data), ctypes.byref(size)))
    assert mx.base.ctypes2buffer(data, size.value) == b"t\0o"
    check_call(_LIB.MXRecordIOReaderReadRecord(handle, ctypes.byref(data), ctypes.byref(size)))
    assert size.value == 0  # the end
    check_call(_LIB.MXRecordIOReaderFree(handle))


def test_a_failure_is_a_code_and_then_an_error(tmp_path):
    handle = mx.base.RecordIOHandle()
    code = _LIB.MXRecordIOReaderCreate(mx.base.c_str(str(tmp_path / "none.rec")), ctypes.byref(handle))
    assert code == -1
    with pytest.raises(MXNetError, match=r"none\.rec"):
        check_call(code)
    with pytest.raises(MXNetError, match="stands for no record file"):
        check_call(_LIB.MXRecordIOReaderTell(handle, ctypes.byref(ctypes.c_size_t())))


def asked(function, kind, *arguments):
    result = kind()
    check_call(getattr(_LIB, function)(*arguments, ctypes.byref(result)))
    return result.value


def test_little_things():
    assert asked("MXGetVersion", ctypes.c_int) == 10901
    assert asked("MXGetGPUCount", ctypes.c_int) == mx.context.num_gpus()
    assert asked("MXEngineSetBulkSize", ctypes.c_int, ctypes.c_int(7)) == 0
    assert mx.engine.set_bulk_size(0) == 7
    assert asked("MXIsNumpyShape", ctypes.c_int) == 0
    with mx.autograd.record():
        assert asked("MXAutogradIsRecording", ctypes.c_bool) is True
        assert asked("MXAutogradSetIsTraining", ctypes.c_int, 0) == 1
        assert not mx.autograd.is_training()
    check_call(_LIB.MXRandomSeed(3))
    drawn = mx.nd.random.uniform(shape=(4,)).asnumpy()
    mx.random.seed(3)
    np.testing.assert_array_equal(mx.nd.random.uniform(shape=(4,)).asnumpy(), drawn)
    check_call(_LIB.MXNDArrayWaitAll())
    check_call(_LIB.MXStorageEmptyCache(1, 0))
    count, names = ctypes.c_uint(), ctypes.POINTER(ctypes.c_char_p)()
    check_call(_LIB.MXListAllOpNames(ctypes.byref(count), ctypes.byref(names)))
    assert {"Convolution", "dot"} <= {names[i].decode() for i in range(count.value)}


def test_the_profiler_through_the_library(tmp_path):
    path = str(tmp_path / "trace.json")
    keys, values = mx.base.c_str_array(["filename", "profile_all"]), mx.base.c_str_array([path, "True"])
    check_call(_LIB.MXSetProcessProfilerConfig(2, keys, values, None))
    check_call(_LIB.MXSetProcessProfilerState(1, 0, None))
    mx.nd.exp(mx.nd.ones(3)).wait_to_read()
    check_call(_LIB.MXSetProcessProfilerState(0, 0, None))
    check_call(_LIB.MXDumpProcessProfile(1, 0, None))
    assert '"exp"' in (tmp_path / "trace.json").read_text()


def test_arrays_through_the_library():
    array, room = mx.nd.array([[1, 2], [3, 4]]), (ctypes.c_float * 4)()
    check_call(_LIB.MXNDArraySyncCopyToCPU(array.handle, room, ctypes.c_size_t(4)))
    assert list(room) == [1, 2, 3, 4]
    room[0] = 9
    check_call(_LIB.MXNDArraySyncCopyFromCPU(array.handle, room, ctypes.c_size_t(4)))
    assert array.asnumpy().tolist() == [[9, 2], [3, 4]]
    pointer = ctypes.c_void_p()
    check_call(_LIB.MXNDArrayGetData(array.handle, ctypes.byref(pointer)))
    assert ctypes.cast(pointer, mx.base.mx_float_p)[0] == 9
    with pytest.raises(MXNetError, match="4 elements"):
        check_call(_LIB.MXNDArraySyncCopyToCPU(array.handle, room, ctypes.c_size_t(3)))


def test_a_function_that_is_missing_is_named():
    with pytest.raises(AttributeError, match=r"MXRandomSed is not there.*did you mean MXRandomSeed\?"):
        _LIB.MXRandomSed(1)
    with pytest.raises(AttributeError, match="MXImperativeInvokeEx is not there: ReMX runs on PyTorch"):
        _LIB.MXImperativeInvokeEx()
    assert not hasattr(_LIB, "MXNoSuchThing") and "MXRandomSeed" in dir(_LIB)


# ---------------------------------------------------------------------- modules
@pytest.mark.parametrize("package", ["ndarray", "symbol"])
@pytest.mark.parametrize("name", ["op", "_internal", "contrib", "image", "linalg", "random", "sparse"])
def test_modules_of_operators_are_there_after_the_import(package, name):
    import subprocess

    code = (
        f"import sys, mxnet; module = sys.modules['mxnet.{package}.{name}']; assert 'torch' not in sys.modules;"
        f"assert len(dir(module)) > 8; import mxnet.{package} as p; assert p.{name} is module;"
        f"assert vars(module) is module.__dict__; import types; assert isinstance(module, types.ModuleType)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_module_that_loads_later_is_the_one_that_is_imported():
    from mxnet.ndarray import op

    assert sys.modules["mxnet.ndarray.op"] is op is mx.nd.op and op.relu is mx.nd.relu
    with pytest.raises(AttributeError, match="nosuch"):
        op.nosuch


# ---------------------------------------------------------------------- handles
def test_handles_have_a_value_and_lead_back():
    array, symbol, csr = mx.nd.arange(3), mx.sym.var("a") + 1, mx.nd.ones((2, 2)).tostype("csr")
    for thing in (array, symbol, csr):
        assert isinstance(thing.handle, ctypes.c_void_p) and isinstance(thing.handle.value, int)
        assert thing.handle.value == thing.handle.value
    again = mx.nd.NDArray(array.handle)
    again[0] = 7
    assert array.asnumpy().tolist() == [7, 1, 2]
    assert mx.sym.Symbol(symbol.handle).tojson() == symbol.tojson()
    assert mx.nd.sparse._ndarray_cls(csr.handle).stype == "csr"
    assert mx.nd.sparse._ndarray_cls(array.handle).stype == "default"
    assert mx.nd.NDArray(mx.nd._new_empty_handle()).handle is None


# ---------------------------------------------------------------------- helpers
def test_default_context():
    assert mx.Context._default_ctx.value == mx.cpu()
    with mx.cpu(1):
        assert mx.Context._default_ctx.value == mx.cpu(1)
    mx.Context._default_ctx.value = mx.cpu(2)
    try:
        assert mx.current_context() == mx.nd.ones(1).context == mx.cpu(2)
    finally:
        mx.Context._default_ctx.value = mx.cpu()


def test_the_scope_of_recording():
    with mx.autograd._RecordingStateScope(True, False):
        assert mx.autograd.is_recording() and not mx.autograd.is_training()
    with mx.autograd._RecordingStateScope(is_record=None, train_mode=True):
        assert not mx.autograd.is_recording() and mx.autograd.is_training()


@pytest.mark.parametrize("merge, in_layout", [(None, None), (False, None), (True, None), (True, "TNC")])
def test_sequences_of_cells(merge, in_layout):
    """(sequence, axis, namespace, batch size), as recorded from MXNet 1.9.1."""
    from mxnet.gluon.rnn.rnn_cell import _format_sequence

    data = mx.nd.arange(24).reshape((2, 3, 4))
    found, axis, F, batch = _format_sequence(None, data, "NTC", merge, in_layout)
    assert (axis, F, batch) == (1, mx.nd, 2)
    if merge is False:
        assert [step.shape for step in found] == [(2, 4)] * 3
        np.testing.assert_array_equal(found[1].asnumpy(), data.asnumpy()[:, 1])
    else:
        assert found.shape == ((3, 2, 4) if in_layout else (2, 3, 4))


def test_sequences_of_steps_and_first_states():
    from mxnet.gluon.rnn.rnn_cell import _format_sequence, _get_begin_state

    steps = [mx.nd.ones((2, 4)), mx.nd.zeros((2, 4))]
    found, axis, F, batch = _format_sequence(2, steps, "TNC", True)
    assert (found.shape, axis, batch) == ((2, 2, 4), 0, 2)
    cell = mx.gluon.rnn.LSTMCell(3)
    states = _get_begin_state(cell, F, None, steps, batch)
    assert [state.shape for state in states] == [(2, 3), (2, 3)]
    assert _get_begin_state(cell, F, states, steps, batch) is states
    symbols, _, space, batch = _format_sequence(3, mx.sym.var("x"), "NTC", False)
    assert len(symbols) == 3 and space is mx.sym and batch == 0


def test_data_in_canonical_form():
    found = mx.io._init_data([np.ones(2), np.zeros(2)], allow_empty=False, default_name="data")
    assert [name for name, _ in found] == ["_0_data", "_1_data"]
    assert mx.io.io._init_data(None, allow_empty=True, default_name="x") == []


def test_training_on_several_devices_by_the_old_function():
    data = mx.io.NDArrayIter(np.eye(4, dtype="float32"), np.array([0, 1, 0, 1]), 2)
    symbol = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc"), name="softmax")
    params = {"fc_weight": mx.nd.zeros((2, 4)), "fc_bias": mx.nd.zeros(2)}
    metric = mx.metric.create("acc")
    mx.model._train_multi_device(
        symbol, [mx.cpu(0)], symbol.list_arguments(), list(params), [], params, {}, 0, 20, None,
        mx.optimizer.create("sgd", learning_rate=1.0, rescale_grad=0.5), None, False, data, eval_metric=metric,
    )  # fmt: skip
    assert metric.get() == ("accuracy", 1.0) and params["fc_weight"].asnumpy().any()


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: mx.th, "array.as_torch"),
        (lambda: mx.rtc, "array.as_torch"),
        (lambda: mx.base._init_op_module("mine", "nd", None), "mx.operator.register"),
        (lambda: mx.libinfo.find_lib_path(), "has no C library"),
    ],
)
def test_what_cannot_be_says_what_to_use(call, words):
    with pytest.raises((AttributeError, NotImplementedError, RuntimeError), match=words):
        call()


def test_modules_are_modules():
    assert isinstance(mx.nd.op, types.ModuleType)
