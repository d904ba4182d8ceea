"""DLPack tensors by their address, as programs that call MXNet's library by hand pass them on."""

import ctypes
import gc

import numpy as np
import pytest

import mxnet as mx
from mxnet.base import _LIB, MXNetError, NDArrayHandle, check_call
from mxnet.ndarray._dlpack import from_dlpack_address


def _address(capsule):
    """The pointer in a capsule, which is marked as consumed."""
    api = ctypes.pythonapi
    get = api.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    address = get(capsule, b"dltensor")
    api.PyCapsule_SetName(ctypes.py_object(capsule), _USED)
    api.PyCapsule_SetDestructor(ctypes.py_object(capsule), None)
    return address


_USED = ctypes.c_char_p(b"used_dltensor")


def test_an_array_over_a_tensor_of_another_capsule():
    source = mx.nd.array([[1, 2, 3], [4, 5, 6]])
    capsule = mx.nd.to_dlpack_for_write(source)
    array = from_dlpack_address(_address(capsule))
    np.testing.assert_array_equal(array.asnumpy(), [[1, 2, 3], [4, 5, 6]])
    array[:] = 7
    np.testing.assert_array_equal(source.asnumpy(), np.full((2, 3), 7))


def test_the_memory_outlives_source_and_capsule():
    source = mx.nd.arange(6)
    capsule = mx.nd.to_dlpack_for_read(source)
    array = from_dlpack_address(_address(capsule))
    del source, capsule
    gc.collect()
    np.testing.assert_array_equal(array.asnumpy(), np.arange(6))


def test_a_capsule_is_consumed_by_hand_through_the_library():
    """Like `test_from_dlpack_backward_compatibility` of MXNet: `mxnet.base` makes ctypes return whole pointers."""
    source, name, handle = mx.nd.array([[1, 2], [3, 4]]), ctypes.c_char_p(b"dltensor"), NDArrayHandle()
    capsule = ctypes.py_object(mx.nd.to_dlpack_for_write(source))
    address = ctypes.c_void_p(ctypes.pythonapi.PyCapsule_GetPointer(capsule, name))
    check_call(_LIB.MXNDArrayFromDLPack(address, ctypes.byref(handle)))
    ctypes.pythonapi.PyCapsule_SetName(capsule, _USED)
    ctypes.pythonapi.PyCapsule_SetDestructor(capsule, None)
    array = mx.nd.NDArray(handle=handle)
    array[0] = 9
    np.testing.assert_array_equal(source.asnumpy(), [[9, 9], [3, 4]])


def test_tensors_go_out_and_come_back_through_the_library():
    source, address, handle = mx.nd.arange(3), ctypes.c_void_p(), NDArrayHandle()
    check_call(_LIB.MXNDArrayToDLPack(source.handle, ctypes.byref(address)))
    check_call(_LIB.MXNDArrayFromDLPackEx(address, False, ctypes.byref(handle)))
    np.testing.assert_array_equal(mx.nd.NDArray(handle).asnumpy(), [0, 1, 2])
    check_call(_LIB.MXNDArrayToDLPack(source.handle, ctypes.byref(address)))
    check_call(_LIB.MXNDArrayCallDLPackDeleter(address))
    with pytest.raises(MXNetError, match="null pointer"):
        check_call(_LIB.MXNDArrayFromDLPack(ctypes.c_void_p(), ctypes.byref(handle)))
