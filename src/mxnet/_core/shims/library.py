"""`mxnet.base._LIB`: stands for MXNet's C library, with the functions that Python programs call by hand.

Like the C functions, they return 0, or -1 after a failure that `check_call` raises. Results are written through
`ctypes.byref`. A function that is not here is an AttributeError that says so.
"""

import ctypes
import os
import threading
from collections.abc import Callable
from difflib import get_close_matches
from importlib import import_module
from typing import Any

from ..errors import MXNetError
from ..version import MXNET_VERSION
from .handles import handle_of, owner_of

_FUNCTIONS: dict[str, Callable[..., Any]] = {}
_FAILED = threading.local()


def last_error() -> Exception:
    """What the last function that failed in this thread raised."""
    return getattr(_FAILED, "error", None) or MXNetError("no error")


class Library:
    """MXNet's C functions by name; see the module."""

    def __getattr__(self, name: str) -> Any:
        function = _FUNCTIONS.get(name)
        if function is None:
            near = get_close_matches(name, _FUNCTIONS, 1, 0.8)
            hint = f"; did you mean {near[0]}?" if near else "; use the Python function that MXNet has for it"
            raise AttributeError(
                f"{name} is not there: ReMX runs on PyTorch and has no C library; _LIB only stands for "
                f"{len(_FUNCTIONS)} of its functions{hint}"
            )
        call = _returning_code(function)
        setattr(self, name, call)
        return call

    def __dir__(self) -> list[str]:
        return sorted(_FUNCTIONS)


def _returning_code(function: Callable[..., Any]) -> Callable[..., int]:
    def call(*arguments: Any) -> int:
        try:
            function(*arguments)
        except Exception as error:  # C functions have no exceptions: `check_call` raises it
            _FAILED.error = error
            return -1
        return 0

    return call


def _stands_for(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        _FUNCTIONS[name] = function
        return function

    return register


def _mx(module: str) -> Any:
    return import_module(f"mxnet.{module}")


def _plain(value: Any) -> Any:
    """A Python value out of a ctypes one; bytes are text."""
    value = getattr(value, "value", value)
    return value.decode() if isinstance(value, bytes) else value


def _target(reference: Any) -> Any:
    """What `ctypes.byref(x)` or `ctypes.pointer(x)` refers to."""
    return reference._obj if hasattr(reference, "_obj") else reference.contents


def _write(reference: Any, value: Any) -> None:
    _target(reference).value = value


def _write_handle(reference: Any, made: Any) -> None:
    """Have the handle that is referred to stand for an object, and keep that alive."""
    target = _target(reference)
    target.value, target.owner = handle_of(made).value, made


def _object(handle: Any, kind: str) -> Any:
    found = owner_of(handle)
    if found is None:
        raise MXNetError(f"this handle stands for no {kind}: it is empty, was freed, or is not one of ReMX's")
    return found


# ---------------------------------------------------------------------- record files
def _open_records(uri: Any, handle: Any, flag: str) -> None:
    _write_handle(handle, _mx("recordio").MXRecordIO(_plain(uri), flag))


@_stands_for("MXRecordIOReaderCreate")
def _reader(uri: Any, handle: Any) -> None:
    _open_records(uri, handle, "r")


@_stands_for("MXRecordIOWriterCreate")
def _writer(uri: Any, handle: Any) -> None:
    _open_records(uri, handle, "w")


@_stands_for("MXRecordIOReaderFree")
@_stands_for("MXRecordIOWriterFree")
def _close_records(handle: Any) -> None:
    _object(handle, "record file").close()


@_stands_for("MXRecordIOReaderReadRecord")
def _read_record(handle: Any, data: Any, size: Any) -> None:
    record = _object(handle, "record file").read()
    text = ctypes.create_string_buffer(record or b"", len(record or b"") + 1)
    target = _target(data)
    if isinstance(target, ctypes.c_char_p):
        target.value = None if record is None else record
    else:
        ctypes.memmove(ctypes.byref(target), ctypes.byref(ctypes.c_void_p(ctypes.addressof(text))), 8)
        target.kept = text  # lives as long as the pointer's Python object
    _write(size, len(record or b""))


@_stands_for("MXRecordIOReaderSeek")
def _seek_record(handle: Any, place: Any) -> None:
    _object(handle, "record file")._reader.seek(int(_plain(place)))


@_stands_for("MXRecordIOReaderTell")
@_stands_for("MXRecordIOWriterTell")
def _tell_record(handle: Any, place: Any) -> None:
    records = _object(handle, "record file")
    _write(place, records._file.tell() if records.writable else records._reader.offset)


@_stands_for("MXRecordIOWriterWriteRecord")
def _write_record(handle: Any, data: Any, size: Any) -> None:
    content = data if isinstance(data, (bytes, bytearray)) else ctypes.string_at(data, int(_plain(size)))
    _object(handle, "record file").write(content[: int(_plain(size))])


# ---------------------------------------------------------------------- arrays
@_stands_for("MXNDArrayWaitToRead")
@_stands_for("MXNDArrayWaitToWrite")
def _wait(handle: Any) -> None:
    _object(handle, "array").wait_to_read()


@_stands_for("MXNDArrayWaitAll")
def _wait_all() -> None:
    _mx("ndarray").waitall()


@_stands_for("MXNDArrayGetContext")
def _context(handle: Any, kind: Any, number: Any) -> None:
    context = _object(handle, "array").context
    _write(kind, context.device_typeid)
    _write(number, context.device_id)


@_stands_for("MXNDArrayGetData")
def _data(handle: Any, pointer: Any) -> None:
    _write(pointer, _object(handle, "array")._lent().data_ptr())


@_stands_for("MXNDArraySyncCopyToCPU")
def _copy_out(handle: Any, pointer: Any, size: Any) -> None:
    values = _object(handle, "array").asnumpy()
    _check_size(values, size)
    ctypes.memmove(pointer, values.ctypes.data, values.nbytes)


@_stands_for("MXNDArraySyncCopyFromCPU")
def _copy_in(handle: Any, pointer: Any, size: Any) -> None:
    array = _object(handle, "array")
    values = array.asnumpy()
    _check_size(values, size)
    ctypes.memmove(values.ctypes.data, pointer, values.nbytes)
    array[:] = values


def _check_size(values: Any, size: Any) -> None:
    if values.size != int(_plain(size)):
        raise MXNetError(f"the array has {values.size} elements, memory of {int(_plain(size))} was given")


@_stands_for("MXNDArrayToDLPack")
def _to_dlpack(handle: Any, address: Any) -> None:
    _write(address, _mx("ndarray._dlpack").to_dlpack_address(_object(handle, "array")))


@_stands_for("MXNDArrayFromDLPack")
@_stands_for("MXNDArrayFromDLPackEx")
def _from_dlpack(address: Any, *rest: Any) -> None:
    _write_handle(rest[-1], _mx("ndarray._dlpack").from_dlpack_address(_plain(address)))


@_stands_for("MXNDArrayCallDLPackDeleter")
def _free_dlpack(address: Any) -> None:
    _mx("ndarray._dlpack").from_dlpack_address(_plain(address))  # freed with the array that owns it


# ---------------------------------------------------------------------- random numbers, engine, storage, devices
@_stands_for("MXRandomSeed")
def _seed(number: Any) -> None:
    _mx("random").seed(int(_plain(number)))


@_stands_for("MXRandomSeedContext")
def _seed_context(number: Any, kind: Any, device: Any) -> None:
    _mx("random").seed(int(_plain(number)), _named_context(kind, device))


def _named_context(kind: Any, device: Any) -> Any:
    context = _mx("context").Context
    return context(context.devtype2str[int(_plain(kind))], int(_plain(device)))


@_stands_for("MXGetVersion")
def _version(number: Any) -> None:
    major, minor, patch = (int(part) for part in MXNET_VERSION.split("."))
    _write(number, major * 10000 + minor * 100 + patch)


@_stands_for("MXNotifyShutdown")
def _shut_down() -> None:
    _wait_all()


@_stands_for("MXSetNumOMPThreads")
def _threads(number: Any) -> None:
    import_module("torch").set_num_threads(int(_plain(number)))


@_stands_for("MXEngineSetBulkSize")
def _bulk(size: Any, before: Any) -> None:
    _write(before, _mx("engine").set_bulk_size(int(_plain(size))))


@_stands_for("MXStorageEmptyCache")
def _empty_cache(kind: Any, device: Any) -> None:
    _named_context(kind, device).empty_cache()


@_stands_for("MXGetGPUCount")
def _gpus(count: Any) -> None:
    _write(count, _mx("context").num_gpus())


@_stands_for("MXGetGPUMemoryInformation64")
def _gpu_memory(device: Any, free: Any, total: Any) -> None:
    found = _mx("context").gpu_memory_info(int(_plain(device)))
    _write(free, found[0])
    _write(total, found[1])


@_stands_for("MXGetEnv")
def _environment(name: Any, value: Any) -> None:
    found = os.environ.get(_plain(name))
    _write(value, None if found is None else found.encode())


@_stands_for("MXSetEnv")
def _set_environment(name: Any, value: Any) -> None:
    _mx("util").setenv(_plain(name), _plain(value))


# ---------------------------------------------------------------------- modes
@_stands_for("MXAutogradIsRecording")
def _is_recording(answer: Any) -> None:
    _write(answer, _mx("autograd").is_recording())


@_stands_for("MXAutogradIsTraining")
def _is_training(answer: Any) -> None:
    _write(answer, _mx("autograd").is_training())


@_stands_for("MXAutogradSetIsRecording")
def _set_recording(on: Any, before: Any) -> None:
    _write(before, int(_mx("autograd").set_recording(bool(_plain(on)))))


@_stands_for("MXAutogradSetIsTraining")
def _set_training(on: Any, before: Any) -> None:
    _write(before, int(_mx("autograd").set_training(bool(_plain(on)))))


@_stands_for("MXIsNumpyShape")
def _is_np_shape(answer: Any) -> None:
    _write(answer, int(_mx("util").is_np_shape()))


@_stands_for("MXSetIsNumpyShape")
def _set_np_shape(on: Any, before: Any) -> None:
    _write(before, int(_mx("util").set_np_shape(bool(_plain(on)))))


# ---------------------------------------------------------------------- profiler
@_stands_for("MXSetProfilerState")
@_stands_for("MXSetProcessProfilerState")
def _profiler_state(state: Any, *_: Any) -> None:
    _mx("profiler").set_state("run" if int(_plain(state)) else "stop")


@_stands_for("MXProfilePause")
@_stands_for("MXProcessProfilePause")
def _profiler_pause(paused: Any, *_: Any) -> None:
    profiler = _mx("profiler")
    (profiler.pause if int(_plain(paused)) else profiler.resume)()


@_stands_for("MXDumpProfile")
@_stands_for("MXDumpProcessProfile")
def _profiler_dump(finished: Any, *_: Any) -> None:
    _mx("profiler").dump(bool(_plain(finished)))


@_stands_for("MXSetProfilerConfig")
@_stands_for("MXSetProcessProfilerConfig")
def _profiler_config(count: Any, keys: Any, values: Any, *_: Any) -> None:
    number = int(_plain(count))
    given = {_plain(keys[i]): _plain(values[i]) for i in range(number)}
    _mx("profiler").set_config(**{k: _word(v) for k, v in given.items()})


def _word(value: str) -> Any:
    return {"True": True, "true": True, "1": True, "False": False, "false": False, "0": False}.get(value, value)


# ---------------------------------------------------------------------- operators
@_stands_for("MXListAllOpNames")
def _operators(count: Any, names: Any) -> None:
    """Every operator's name, in C's array of strings."""
    found = _mx("operator").get_all_registered_operators()
    array = (ctypes.c_char_p * len(found))(*(name.encode() for name in found))
    _write(count, len(found))
    ctypes.memmove(ctypes.byref(_target(names)), ctypes.byref(ctypes.cast(array, ctypes.POINTER(ctypes.c_char_p))), 8)
    _target(names).kept = array
