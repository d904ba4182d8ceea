"""Arrays over the memory of other libraries: NumPy, torch, and whatever speaks DLPack."""

import ctypes

import numpy as np
import torch

from .._core.errors import MXNetError
from .._core.modes import MODES
from .._core.writes import lend
from .._ops.registry.torch_dtypes import NAME, TORCH
from ..context import cpu, gpu
from ._creation import array
from .ndarray import NDArray, wrap


def from_numpy(ndarray, zero_copy=True, array_cls=NDArray):
    """An array over a NumPy array's memory, which becomes read-only; a copy with `zero_copy=False`.

    Parameters
    ----------
    ndarray : numpy.ndarray
        The NumPy array, contiguous in memory.
    zero_copy : bool, default True
        Whether the memory is shared.
    array_cls : type, default NDArray
        The class of the result.

    Returns
    -------
    NDArray

    Examples
    --------
    >>> x = np.ones((2,), dtype="float32")
    >>> mx.nd.from_numpy(x).asnumpy(), x.flags["WRITEABLE"]
    (array([1., 1.], dtype=float32), False)
    """
    if not zero_copy:
        return array(ndarray, dtype=ndarray.dtype)
    if not ndarray.flags["C_CONTIGUOUS"]:
        raise ValueError(
            "Only c-contiguous arrays are supported for zero-copy: make a copy with zero_copy=False or "
            "np.ascontiguousarray"
        )
    if str(ndarray.dtype) not in TORCH:
        raise ValueError(f"{ndarray.dtype} is not supported: there are {', '.join(TORCH)}")
    if ndarray.flags["WRITEABLE"]:
        tensor = torch.from_numpy(ndarray)
        ndarray.flags["WRITEABLE"] = False
    else:
        tensor = torch.from_numpy(_writable_view(ndarray))
    lend(tensor)
    return _as(array_cls, wrap(tensor, cpu()))


def _writable_view(array):
    """The same memory as a writable array: an array is read-only here because we made it so before."""
    memory = (ctypes.c_char * array.nbytes).from_address(array.ctypes.data)
    memory.owner = array
    return np.frombuffer(memory, dtype=array.dtype).reshape(array.shape)


def from_dlpack(dlpack):
    """An array over the memory of a DLPack capsule, or of an object that exports one.

    Parameters
    ----------
    dlpack : capsule or object with __dlpack__
        What another library exported.

    Returns
    -------
    NDArray
        An array over the same memory.

    Examples
    --------
    >>> import torch
    >>> mx.nd.from_dlpack(torch.ones(2)).asnumpy()
    array([1., 1.], dtype=float32)
    """
    try:
        tensor = torch.from_dlpack(dlpack) if hasattr(dlpack, "__dlpack__") else torch.utils.dlpack.from_dlpack(dlpack)
    except RuntimeError as error:
        raise AssertionError(f"Invalid DLPack Tensor: {error}") from None
    return from_torch(tensor)


def from_dlpack_address(address):
    """An array over the DLManagedTensor at an address, which it owns from now on.

    This is what `MXNDArrayFromDLPack` does with the pointer out of a capsule; the caller renames the capsule and takes
    its destructor away.
    """
    if not address:
        raise MXNetError("MXNDArrayFromDLPack takes the address of a DLManagedTensor, got a null pointer")
    return from_dlpack(_new_capsule(address, _DLTENSOR, None))


def to_dlpack_address(array):
    """The address of a DLManagedTensor over an array's memory, which the caller owns from now on."""
    capsule = array.to_dlpack_for_read()
    address = _pointer_in_capsule(capsule, _DLTENSOR)
    _set_destructor(capsule, None)
    return address


def _python_function(name, result, *arguments):
    """A function of Python's C API with types of its own: `ctypes.pythonapi` is shared by the process."""
    return ctypes.PYFUNCTYPE(result, *arguments)((name, ctypes.pythonapi))


_DLTENSOR = b"dltensor"  # a capsule keeps a pointer to its name


_pointer, _name = ctypes.c_void_p, ctypes.c_char_p


_new_capsule = _python_function("PyCapsule_New", ctypes.py_object, _pointer, _name, _pointer)


_pointer_in_capsule = _python_function("PyCapsule_GetPointer", _pointer, ctypes.py_object, _name)


_set_destructor = _python_function("PyCapsule_SetDestructor", ctypes.c_int, ctypes.py_object, _pointer)


def from_torch(tensor):
    """An array over a torch tensor's memory; while recording the tensor's history goes along.

    Parameters
    ----------
    tensor : torch.Tensor
        The tensor.

    Returns
    -------
    NDArray
        An array over the same memory.

    Examples
    --------
    >>> import torch
    >>> tensor = torch.ones(2)
    >>> x = mx.nd.from_torch(tensor)
    >>> x[:] = 3
    >>> tensor
    tensor([3., 3.])
    """
    if tensor.dtype not in NAME:
        raise MXNetError(f"MXNet has no arrays of {tensor.dtype}; convert the tensor to one of {', '.join(TORCH)}")
    where = cpu() if tensor.device.type == "cpu" else gpu(tensor.device.index or 0)
    tensor = tensor.reshape(1) if tensor.dim() == 0 else tensor
    if tensor.requires_grad and not MODES.recording:
        tensor = tensor.detach()
    lend(tensor)
    return wrap(tensor, where, MODES.epoch if tensor.requires_grad else None)


def _as(cls, made):
    if cls is NDArray:
        return made
    result = cls.__new__(cls)
    result._t, result._ctx, result._ag = made._t, made._ctx, made._ag
    return result


def to_dlpack_for_read(data):
    """A DLPack capsule over the array's memory.

    Parameters
    ----------
    data : NDArray
        The array.

    Returns
    -------
    capsule
        A DLPack capsule, for `from_dlpack` of any library.

    Examples
    --------
    >>> capsule = mx.nd.to_dlpack_for_read(mx.nd.ones((2,)))
    >>> mx.nd.from_dlpack(capsule).asnumpy()
    array([1., 1.], dtype=float32)
    """
    return data.to_dlpack_for_read()


def to_dlpack_for_write(data):
    """A DLPack capsule over the array's memory, which the receiver may change.

    Parameters
    ----------
    data : NDArray
        The array.

    Returns
    -------
    capsule
        A DLPack capsule, for `from_dlpack` of any library.

    Examples
    --------
    >>> capsule = mx.nd.to_dlpack_for_read(mx.nd.ones((2,)))
    >>> mx.nd.from_dlpack(capsule).asnumpy()
    array([1., 1.], dtype=float32)
    """
    return data.to_dlpack_for_write()
