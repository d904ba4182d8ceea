"""What `mx.np` and `mx.npx` tell of their functions that are one operator: NumPy's signatures, and a word on each.

A call goes to the operator, with the operator's own arguments, as in MXNet; `help` shows what is written here.
"""


def _np_all(a, axis=None, keepdims=False, out=None):
    """Whether every element along the axes is true.

    Parameters
    ----------
    a : array_like
        The input.
    axis : int, tuple of int or None, optional
        The axis or axes to work along; None means all elements, unless stated otherwise.
    keepdims : bool, default False
        Whether reduced axes stay, with length 1.
    out : ndarray, optional
        Where to write the result, of its shape and type.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.all(np.array([1, 0]))
    array(False)
    """


def _np_amax(a, axis=None, keepdims=False, out=None):
    """The maximum over axes.

    Parameters
    ----------
    a : array_like
        The input.
    axis : int, tuple of int or None, optional
        The axis or axes to work along; None means all elements, unless stated otherwise.
    keepdims : bool, default False
        Whether reduced axes stay, with length 1.
    out : ndarray, optional
        Where to write the result, of its shape and type.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.amax(np.array([[1, 2], [3, 4]]), axis=1)
    array([2., 4.])
    """


def _np_amin(a, axis=None, keepdims=False, out=None):
    """The minimum over axes.

    Parameters
    ----------
    a : array_like
        The input.
    axis : int, tuple of int or None, optional
        The axis or axes to work along; None means all elements, unless stated otherwise.
    keepdims : bool, default False
        Whether reduced axes stay, with length 1.
    out : ndarray, optional
        Where to write the result, of its shape and type.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.amin(np.array([[1, 2], [3, 4]]), axis=1)
    array([1., 3.])
    """


def _np_any(a, axis=None, keepdims=False, out=None):
    """Whether some element along the axes is true.

    Parameters
    ----------
    a : array_like
        The input.
    axis : int, tuple of int or None, optional
        The axis or axes to work along; None means all elements, unless stated otherwise.
    keepdims : bool, default False
        Whether reduced axes stay, with length 1.
    out : ndarray, optional
        Where to write the result, of its shape and type.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.any(np.array([1, 0]))
    array(True)
    """


def _np_atleast_1d(*arys):
    """Arrays with at least one axis.

    Parameters
    ----------
    *arys : array_like
        The arrays.

    Returns
    -------
    ndarray or list of ndarrays

    Examples
    --------
    >>> from mxnet import np, npx
    >>> np.atleast_1d(np.array(5))
    array([5.])
    """


def _np_atleast_2d(*arys):
    """Arrays with at least two axes.

    Parameters
    ----------
    *arys : array_like
        The arrays.

    Returns
    -------
    ndarray or list of ndarrays

    Examples
    --------
    >>> from mxnet import np, npx
    >>> np.atleast_2d(np.array([1, 2]))
    array([[1., 2.]])
    """


def _np_atleast_3d(*arys):
    """Arrays with at least three axes.

    Parameters
    ----------
    *arys : array_like
        The arrays.

    Returns
    -------
    ndarray or list of ndarrays

    Examples
    --------
    >>> from mxnet import np, npx
    >>> np.atleast_3d(np.array([1, 2])).shape
    (1, 2, 1)
    """


def _np_copy(a, out=None):
    """A copy of an array.

    Parameters
    ----------
    a : array_like
        The input.
    out : ndarray, optional
        Where to write the result, of its shape and type.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.copy(np.array([1, 2]))
    array([1., 2.])
    """


def _np_cumsum(a, axis=None, dtype=None, out=None):
    """Running sums along an axis.

    Parameters
    ----------
    a : array_like
        The input.
    axis : int, tuple of int or None, optional
        The axis or axes to work along; None means all elements, unless stated otherwise.
    dtype : str or type, optional
        The type of the result.
    out : ndarray, optional
        Where to write the result, of its shape and type.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.cumsum(np.array([1, 2, 3]))
    array([1., 3., 6.])
    """


def _np_diag(array, k=0):
    """The diagonal of a matrix, or the matrix with that diagonal.

    Parameters
    ----------
    array : ndarray
        The input.
    k : int, default 0
        The diagonal: 0 is the main one, positive ones lie above it.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.diag(np.array([1, 2]))
    array([[1., 0.],
           [0., 2.]])
    """


def _np_diagflat(array, k=0):
    """A matrix with the flattened array as its diagonal.

    Parameters
    ----------
    array : array_like
        The diagonal.
    k : int, default 0
        The diagonal: 0 is the main one, positive ones lie above it, negative ones below.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np, npx
    >>> np.diagflat(np.array([1, 2]))
    array([[1., 0.],
           [0., 2.]])
    """


def _np_diagonal(a, offset=0, axis1=0, axis2=1):
    """The diagonals of the planes of two axes.

    Parameters
    ----------
    a : array_like
        The input.
    offset : int, default 0
        The diagonal: 0 is the main one, positive ones lie above it, negative ones below.
    axis1 : int, default 0
        The first axis.
    axis2 : int, default 1
        The second axis.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np, npx
    >>> np.diagonal(np.array([[1, 2], [3, 4]]))
    array([1., 4.])
    """


def _np_dot(a, b, out=None):
    """The dot product of vectors, or the matrix product.

    Parameters
    ----------
    a : array_like
        The input.
    b : array_like
        The second input.
    out : ndarray, optional
        Where to write the result, of its shape and type.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.dot(np.array([[1, 2], [3, 4]]), np.array([1, 1]))
    array([3., 7.])
    """


def _np_max(a, axis=None, keepdims=False, out=None):
    """The maximum over axes.

    Parameters
    ----------
    a : array_like
        The input.
    axis : int, tuple of int or None, optional
        The axis or axes to work along; None means all elements, unless stated otherwise.
    keepdims : bool, default False
        Whether reduced axes stay, with length 1.
    out : ndarray, optional
        Where to write the result, of its shape and type.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.max(np.array([[1, 2], [3, 4]]), axis=1)
    array([2., 4.])
    """


def _np_min(a, axis=None, keepdims=False, out=None):
    """The minimum over axes.

    Parameters
    ----------
    a : array_like
        The input.
    axis : int, tuple of int or None, optional
        The axis or axes to work along; None means all elements, unless stated otherwise.
    keepdims : bool, default False
        Whether reduced axes stay, with length 1.
    out : ndarray, optional
        Where to write the result, of its shape and type.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.min(np.array([[1, 2], [3, 4]]), axis=1)
    array([1., 3.])
    """


def _np_moveaxis(a, source, destination):
    """Axes moved to other places.

    Parameters
    ----------
    a : array_like
        The input.
    source : int or sequence of int
        Where the axes are.
    destination : int or sequence of int
        Where they go.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.moveaxis(np.ones((2, 3, 4)), 0, -1).shape
    (3, 4, 2)
    """


def _np_prod(a, axis=None, dtype=None, out=None, keepdims=False):
    """The product over axes.

    Parameters
    ----------
    a : array_like
        The input.
    axis : int, tuple of int or None, optional
        The axis or axes to work along; None means all elements, unless stated otherwise.
    dtype : str or type, optional
        The type of the result.
    out : ndarray, optional
        Where to write the result, of its shape and type.
    keepdims : bool, default False
        Whether reduced axes stay, with length 1.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.prod(np.array([[1, 2], [3, 4]]), axis=1)
    array([ 2., 12.])
    """


def _np_product(a, axis=None, dtype=None, out=None, keepdims=False):
    """The product over axes, as `prod`.

    Parameters
    ----------
    a : array_like
        The input.
    axis : int or tuple of int, optional
        The axes to reduce; None: all.
    dtype : str or type, optional
        The data type of the result.
    out : ndarray, optional
        Where to write the result, of its shape and type.
    keepdims : bool, default False
        Whether reduced axes stay with length 1.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np, npx
    >>> np.product(np.array([[1, 2], [3, 4]]), axis=1)
    array([ 2., 12.])
    """


def _np_repeat(a, repeats, axis=None):
    """Every element repeated.

    Parameters
    ----------
    a : array_like
        The input.
    repeats : int
        How often each element is repeated.
    axis : int, tuple of int or None, optional
        The axis or axes to work along; None means all elements, unless stated otherwise.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.repeat(np.array([1, 2]), 2)
    array([1., 1., 2., 2.])
    """


def _np_reshape(a, newshape, order="C", out=None):
    """The elements in another shape.

    Parameters
    ----------
    a : array_like
        The input.
    newshape : int or tuple of int
        The new shape; -1 stands for what is left over.
    order : str, default 'C'
        Memory order; only 'C' is supported.
    out : ndarray, optional
        Where to write the result, of its shape and type.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.reshape(np.arange(4), (2, 2))
    array([[0., 1.],
           [2., 3.]])
    """


def _np_roll(a, shift, axis=None):
    """Elements moved along an axis; those that leave one end return at the other.

    Parameters
    ----------
    a : array_like
        The input.
    shift : int or tuple of int
        How far elements move.
    axis : int, tuple of int or None, optional
        The axis or axes to work along; None means all elements, unless stated otherwise.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.roll(np.array([1, 2, 3]), 1)
    array([3., 1., 2.])
    """


def _np_sometrue(a, axis=None, keepdims=False, out=None):
    """Whether any element is not zero, as `any`.

    Parameters
    ----------
    a : array_like
        The input.
    axis : int or tuple of int, optional
        The axes to reduce; None: all.
    keepdims : bool, default False
        Whether reduced axes stay with length 1.
    out : ndarray, optional
        Where to write the result, of its shape and type.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np, npx
    >>> np.sometrue(np.array([[0, 2], [0, 0]]), axis=1)
    array([ True, False])
    """


def _np_squeeze(a, axis=None, out=None):
    """Without axes of length 1.

    Parameters
    ----------
    a : array_like
        The input.
    axis : int, tuple of int or None, optional
        The axis or axes to work along; None means all elements, unless stated otherwise.
    out : ndarray, optional
        Where to write the result, of its shape and type.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.squeeze(np.ones((1, 2))).shape
    (2,)
    """


def _np_sum(a, axis=None, dtype=None, keepdims=False, initial=None, out=None):
    """The sum over axes.

    Parameters
    ----------
    a : array_like
        The input.
    axis : int, tuple of int or None, optional
        The axis or axes to work along; None means all elements, unless stated otherwise.
    dtype : str or type, optional
        The type of the result.
    keepdims : bool, default False
        Whether reduced axes stay, with length 1.
    initial : number, optional
        What the sum begins with.
    out : ndarray, optional
        Where to write the result, of its shape and type.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.sum(np.array([[1, 2], [3, 4]]), axis=1)
    array([3., 7.])
    """


def _np_trace(a, offset=0, axis1=0, axis2=1, out=None):
    """The sum of the diagonal.

    Parameters
    ----------
    a : array_like
        The input.
    offset : int, default 0
        The diagonal: 0 is the main one.
    axis1 : int
        The first axis.
    axis2 : int
        The second axis.
    out : ndarray, optional
        Where to write the result, of its shape and type.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.trace(np.array([[1, 2], [3, 4]]))
    array(5.)
    """


def _np_transpose(a, axes=None):
    """The axes in another order, reversed by default.

    Parameters
    ----------
    a : array_like
        The input.
    axes : tuple of int, optional
        The new order of the axes; None reverses them.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np, npx
    >>> np.transpose(np.array([[1, 2], [3, 4]]))
    array([[1., 3.],
           [2., 4.]])
    """


def _npx_constraint_check(x, msg):
    """True if all elements are true; otherwise a ValueError with the message is raised.

    Parameters
    ----------
    x : ndarray
        The truth values.
    msg : str
        The message.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np, npx
    >>> npx.constraint_check(np.array([True, True]), "must be positive")
    array(True)
    """


def _npx_nonzero(a):
    """The indices of the elements that are not zero, a row for each.

    Parameters
    ----------
    a : ndarray
        The input.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np, npx
    >>> npx.nonzero(np.array([[0, 1], [2, 0]]))
    array([[0, 1],
           [1, 0]], dtype=int64)
    """


def _npx_reshape(a, newshape, reverse=False, order="C"):
    """The elements in a new shape, in which negative numbers are codes.

    Parameters
    ----------
    a : array_like
        The input.
    newshape : int or tuple of int
        The new shape: -1 is what remains, -2 copies a size, -3 drops a size of 1, -4 copies all sizes that remain, -5
        joins two sizes, -6 splits one into the two numbers that follow.
    reverse : bool, default False
        Whether the codes are read from the right.
    order : str, default 'C'
        Memory order; only 'C' is supported.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np, npx
    >>> npx.reshape(np.zeros((2, 3, 4)), (-2, -5)).shape
    (2, 12)
    """
