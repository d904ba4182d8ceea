"""DLPack tensors by their address, as programs that call MXNet's library by hand pass them on."""

import ctypes
import gc

import numpy as np

import mxnet as mx
from mxnet.ndarray.functions import from_dlpack_address


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
