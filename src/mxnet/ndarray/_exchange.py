"""What NDArray has for other worlds: NumPy, Python's numbers and pickles, DLPack, torch and `mx.np`."""

import torch

from .._core.modes import MODES
from .._core.writes import lend
from .._device.waiting import number, values
from .._ops.registry.torch_dtypes import SCALAR
from ._dispatch.invoke import graph_tensor, plain_tensor
from .one import OneNumber


class Exchange:
    """Methods that give an array's numbers away, or take them back."""

    __slots__ = ()

    def asnumpy(self):
        """A NumPy copy of the values; bfloat16 becomes float32.

        Examples
        --------
        >>> mx.nd.array([1, 2]).asnumpy()
        array([1., 2.], dtype=float32)
        """
        try:
            array = self._t.numpy().copy()
        except (RuntimeError, TypeError):  # it is recorded, or on a GPU, or of a type that NumPy lacks
            array = _numpy(self._t.data)
        return array.view(OneNumber) if array.size == 1 and array.ndim else array

    def asscalar(self):
        """The only element, as NumPy's scalar; arrays with more elements raise ValueError.

        Examples
        --------
        >>> mx.nd.array([5]).asscalar().item()
        5.0
        """
        t = self._t
        try:  # torch refuses all but one element
            return SCALAR[t.dtype](t.item() if t.is_cpu else number(t))
        except RuntimeError:
            if t.numel() == 1:
                raise
        raise ValueError(
            f"The current array is not a scalar: its shape is {self.shape}; reduce it first, or use asnumpy()"
        )

    item = asscalar

    def tolist(self):
        """The values as nested lists of Python numbers.

        Examples
        --------
        >>> mx.nd.array([[1, 2]]).tolist()
        [[1.0, 2.0]]
        """
        return values(self._t).tolist()

    def __array__(self, dtype=None, copy=None):
        array = self.asnumpy()
        return array if dtype is None else array.astype(dtype, copy=False)

    def __dlpack__(self, **kwargs):
        return self._lent().__dlpack__(**kwargs)

    def _lent(self):
        """The tensor without its history, for others to keep."""
        t = plain_tensor(self)
        lend(t)
        return t

    def __dlpack_device__(self):
        return self._t.__dlpack_device__()

    def to_dlpack_for_read(self):
        """A DLPack capsule over the array's memory, contiguous.

        Examples
        --------
        >>> mx.nd.from_dlpack(mx.nd.array([1, 2]).to_dlpack_for_read()).asnumpy()
        array([1., 2.], dtype=float32)
        """
        return torch.utils.dlpack.to_dlpack(self._lent().contiguous())

    def to_dlpack_for_write(self):
        """A DLPack capsule over the array's memory, which the receiver may change.

        Examples
        --------
        >>> x = mx.nd.array([1, 2])
        >>> y = mx.nd.from_dlpack(x.to_dlpack_for_write())
        >>> y[:] = 7
        >>> x.asnumpy()
        array([7., 7.], dtype=float32)
        """
        if not self._t.is_contiguous() and not self._t.requires_grad:
            self._t = self._t.contiguous()
        return torch.utils.dlpack.to_dlpack(self._lent())

    def as_torch(self):
        """A torch tensor over the same memory; inside `record` it carries the gradient's history.

        Examples
        --------
        >>> mx.nd.ones((2,)).as_torch()
        tensor([1., 1.])
        """
        plain = self._lent()
        return graph_tensor(self) if MODES.recording else plain

    def as_nd_ndarray(self):
        """The array as an NDArray, which it already is.

        Examples
        --------
        >>> x = mx.nd.ones((2,))
        >>> x.as_nd_ndarray() is x
        True
        """
        return self

    def as_np_ndarray(self):
        """An `mx.np.ndarray` over the same memory.

        Examples
        --------
        >>> mx.nd.ones((2,)).as_np_ndarray()
        array([1., 1.])
        """
        from ..numpy import ndarray

        return ndarray(self)

    def __reduce__(self):
        return type(self), (None,), self.__getstate__()

    def __getstate__(self):
        """As MXNet pickles an array: the bytes that a file would hold."""
        from .utils import pickled

        return {"handle": pickled(self)}

    def __setstate__(self, state):
        from .utils import unpickled

        self._t, self._ctx = unpickled(state["handle"])
        self._ag = None


def _numpy(tensor):
    """A copy for NumPy of a tensor that may be on a GPU, and of bfloat16 as float32."""
    tensor = tensor.float() if tensor.dtype is torch.bfloat16 else tensor
    on_host = values(tensor).numpy()
    return on_host.copy() if tensor.is_cpu else on_host
