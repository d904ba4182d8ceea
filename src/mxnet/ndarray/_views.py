"""Methods of NDArray that change its shape: most share the memory."""

import math
from operator import index

import torch

from .._core.errors import MXNetError, NotImplementedForSymbol  # noqa: F401 - public names of this module
from .._core.modes import MODES
from ._base import plain_sizes, wrap
from ._dispatch.invoke import graph_tensor


def _generated_function(name):
    from ._dispatch.generated import generated_function

    return generated_function(name)


class Views:
    """The array with another shape."""

    __slots__ = ()

    def reshape(self, *shape, **kwargs):
        """The same memory with another shape.

        Parameters
        ----------
        *shape : int or tuple of int
            The new shape. 0 keeps a size, -1 is what remains, -2 keeps all sizes from there on, -3 joins two axes, -4
            splits one into the two sizes that follow.
        **kwargs
            `shape`, and `reverse=True` to read the codes from the right.

        Returns
        -------
        NDArray

        Examples
        --------
        >>> x = mx.nd.zeros((2, 3, 4))
        >>> x.reshape((0, -1)).shape, x.reshape(-3, 0).shape, x.reshape((-4, 1, 2, -2)).shape
        ((2, 12), (6, 4), (1, 2, 3, 4))
        """
        sizes = kwargs.get("shape", ()) if not shape else shape[0] if len(shape) == 1 else shape
        if len(kwargs) <= (not shape) and sizes.__class__ is tuple and plain_sizes(sizes):
            t = self._t
            try:  # the function reads a shape quicker than the method
                if not t.requires_grad:
                    return wrap(torch.reshape(t, sizes), self._ctx)
                return self._viewed(lambda t: torch.reshape(t, sizes))
            except (MXNetError, RuntimeError, TypeError):  # in MXNet's words below
                pass
        if len(shape) == 1 and isinstance(shape[0], (tuple, list)):
            shape = shape[0]
        elif not shape:
            shape = kwargs.get("shape")
            if shape is None:
                raise AssertionError("Shape must be provided.")
            shape = (shape,) if isinstance(shape, int) else shape
        unknown = set(kwargs) - {"shape", "reverse"}
        if unknown:
            raise TypeError(
                f"Got unknown keywords in reshape: {', '.join(unknown)}. "
                "Accepted keyword arguments are 'shape' and 'reverse'."
            )
        from .._ops.array.reshape import coded_shape

        sizes = coded_shape(tuple(index(s) for s in shape), self.shape, bool(kwargs.get("reverse", False)))
        wanted = math.prod(sizes)
        if wanted > self.size:
            raise MXNetError(
                f"NDArray.Reshape: Check failed: shape_.Size() >= shape.Size() ({self.size} vs. {wanted}) : "
                f"target shape size is larger than the current shape: {self.shape} cannot become {tuple(shape)}"
            )
        if wanted < self.size:
            raise ValueError(f"Cannot reshape array of size {self.size} into shape {tuple(shape)}")
        return self._viewed(lambda t: t.reshape(sizes))

    def _viewed(self, view):
        t, mark = self._t, None
        if t.requires_grad:
            if MODES.recording and graph_tensor(self).requires_grad:
                mark = MODES.epoch
            else:
                t = self._t.data
        try:
            return wrap(view(t), self._ctx, mark)
        except RuntimeError as error:
            raise MXNetError(f"cannot view an array of shape {self.shape} so: {error}") from None

    def expand_dims(self, axis, inplace=False):
        """The array with a new axis of length 1.

        Parameters
        ----------
        axis : int
            The place of the new axis.
        inplace : bool, default False
            Whether the result shares memory.

        Returns
        -------
        NDArray

        Examples
        --------
        >>> mx.nd.ones((2, 3)).expand_dims(1).shape
        (2, 1, 3)
        """
        if inplace:
            return self._viewed(lambda t: t.unsqueeze(axis))
        return _generated_function("expand_dims")(self, axis=axis)

    def flatten(self, inplace=False):
        """The array with all axes but the first made one.

        Parameters
        ----------
        inplace : bool, default False
            Whether the result shares memory.

        Returns
        -------
        NDArray

        Examples
        --------
        >>> mx.nd.ones((2, 3, 4)).flatten().shape
        (2, 12)
        """
        return self._viewed(lambda t: t.flatten(1)) if inplace else _generated_function("flatten")(self)

    def squeeze(self, axis=None, inplace=False):
        """The array without axes of length 1.

        Parameters
        ----------
        axis : int or tuple of int, optional
            The axes to remove; None: all of length 1.
        inplace : bool, default False
            Whether the result shares memory.

        Returns
        -------
        NDArray

        Examples
        --------
        >>> mx.nd.ones((1, 2, 1)).squeeze().shape
        (2,)
        """
        squeezed = _generated_function("squeeze")(self, axis=axis)
        return self._viewed(lambda t: t.reshape(squeezed.shape)) if inplace else squeezed

    def broadcast_to(self, shape):
        """The array with its axes of length 1 repeated to `shape`.

        Parameters
        ----------
        shape : tuple of int
            The new shape; 0 keeps a size.

        Returns
        -------
        NDArray

        Examples
        --------
        >>> mx.nd.ones((2, 1)).broadcast_to((2, 3)).shape
        (2, 3)
        """
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        own_shape = (1,) * (len(shape) - self.ndim) + self.shape
        wanted = tuple(s or o for s, o in zip(shape, own_shape, strict=True)) if len(own_shape) == len(shape) else shape
        if len(own_shape) != len(wanted) or any(o not in (1, w) for o, w in zip(own_shape, wanted, strict=True)):
            raise ValueError(
                f"operands could not be broadcast together with remapped shapes[original->remapped]: "
                f"{self.shape} and requested shape {shape}"
            )
        array = self.reshape(own_shape) if own_shape != self.shape else self
        return _generated_function("broadcast_to")(array, shape=wanted)

    def broadcast_like(self, other):
        """The array with its axes of length 1 repeated to the shape of another.

        Parameters
        ----------
        other : NDArray
            The array whose shape is taken.

        Returns
        -------
        NDArray

        Examples
        --------
        >>> mx.nd.ones((2, 1)).broadcast_like(mx.nd.zeros((2, 3))).shape
        (2, 3)
        """
        return self.broadcast_to(other.shape)

    def diag(self, k=0, **kwargs):
        """The diagonal of a matrix, or a matrix with this vector as its diagonal.

        Parameters
        ----------
        k : int, default 0
            The diagonal: 0 is the main one, positive ones lie above it, negative ones below.
        **kwargs
            `axis1` and `axis2`, the axes of the planes whose diagonals are taken.

        Returns
        -------
        NDArray

        Examples
        --------
        >>> mx.nd.array([[1, 2], [3, 4]]).diag().asnumpy()
        array([1., 4.], dtype=float32)
        """
        return _generated_function("diag")(self, k=k, **kwargs)
