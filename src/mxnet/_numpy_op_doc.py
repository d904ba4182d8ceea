"""What `mx.np` and `mx.npx` tell of their functions that are one operator: NumPy's signatures, and a word on each.

A call goes to the operator, with the operator's own arguments, as in MXNet; `help` shows what is written here.
"""


def _np_all(a, axis=None, keepdims=False, out=None):
    """Whether all elements along axes are true.

    Parameters
    ----------
    a : ndarray
        The input; numbers are true unless they are 0, and NaN is true.
    axis : int, tuple of int or None, optional
        The axes to reduce; negative ones count from the last. None reduces all.
    keepdims : bool, default False
        Whether the reduced axes stay in the result with length 1, so that it broadcasts against `a`.
    out : ndarray, optional
        Where to write the result; it must have the shape and the type of the result.

    Returns
    -------
    ndarray of bool
        A zero-dimensional array if all axes are reduced. `bool(result)` makes it a Python bool.

    Notes
    -----
    True for an axis without elements.

    Examples
    --------
    >>> from mxnet import np
    >>> np.all(np.array([1, 0]))
    array(False)
    >>> np.all(np.array([[1, 2], [0, 3]]), axis=1)
    array([ True, False])
    """


def _np_amax(a, axis=None, keepdims=False, out=None):
    """Largest element along axes; another name of `np.max`.

    Parameters
    ----------
    a : ndarray
        The input, with at least one element along the reduced axes.
    axis : int, tuple of int or None, optional
        The axes to reduce; negative ones count from the last. None reduces all.
    keepdims : bool, default False
        Whether the reduced axes stay in the result with length 1, so that it broadcasts against `a`.
    out : ndarray, optional
        Where to write the result; it must have the shape and the type of the result.

    Returns
    -------
    ndarray
        Of the type of `a`; a zero-dimensional array if all axes are reduced.

    Notes
    -----
    NumPy's `where` is not supported. NaN is the result where an element is NaN. Use `np.maximum` to compare two arrays.

    Examples
    --------
    >>> from mxnet import np
    >>> np.amax(np.array([[1, 2], [4, 3]]), axis=1)
    array([2., 4.])
    >>> np.amax(np.array([[1, 2], [4, 3]]))
    array(4.)
    """


def _np_amin(a, axis=None, keepdims=False, out=None):
    """Smallest element along axes; another name of `np.min`.

    Parameters
    ----------
    a : ndarray
        The input, with at least one element along the reduced axes.
    axis : int, tuple of int or None, optional
        The axes to reduce; negative ones count from the last. None reduces all.
    keepdims : bool, default False
        Whether the reduced axes stay in the result with length 1, so that it broadcasts against `a`.
    out : ndarray, optional
        Where to write the result; it must have the shape and the type of the result.

    Returns
    -------
    ndarray
        Of the type of `a`; a zero-dimensional array if all axes are reduced.

    Notes
    -----
    NumPy's `where` is not supported. NaN is the result where an element is NaN. Use `np.minimum` to compare two arrays.

    Examples
    --------
    >>> from mxnet import np
    >>> np.amin(np.array([[1, 2], [4, 3]]), axis=1)
    array([1., 3.])
    >>> np.amin(np.array([[1, 2], [4, 3]]))
    array(1.)
    """


def _np_any(a, axis=None, keepdims=False, out=None):
    """Whether at least one element along axes is true.

    Parameters
    ----------
    a : ndarray
        The input; numbers are true unless they are 0, and NaN is true.
    axis : int, tuple of int or None, optional
        The axes to reduce; negative ones count from the last. None reduces all.
    keepdims : bool, default False
        Whether the reduced axes stay in the result with length 1, so that it broadcasts against `a`.
    out : ndarray, optional
        Where to write the result; it must have the shape and the type of the result.

    Returns
    -------
    ndarray of bool
        A zero-dimensional array if all axes are reduced. `bool(result)` makes it a Python bool.

    Notes
    -----
    False for an axis without elements.

    Examples
    --------
    >>> from mxnet import np
    >>> np.any(np.array([1, 0]))
    array(True)
    >>> np.any(np.array([[0, 2], [0, 0]]), axis=1)
    array([ True, False])
    """


def _np_atleast_1d(*arys):
    """Arrays with at least one axis; arrays that have more are returned unchanged.

    A number becomes a vector of length 1.

    Parameters
    ----------
    *arys : ndarray
        The arrays.

    Returns
    -------
    ndarray, or a list of ndarrays if there are several inputs

    Examples
    --------
    >>> from mxnet import np
    >>> np.atleast_1d(np.array([1, 2])).shape
    (2,)
    >>> [x.shape for x in np.atleast_1d(np.array(3), np.ones((2, 2)))]
    [(1,), (2, 2)]
    """


def _np_atleast_2d(*arys):
    """Arrays with at least two axes; arrays that have more are returned unchanged.

    A number becomes a (1, 1) matrix, a vector of length n a (1, n) matrix.

    Parameters
    ----------
    *arys : ndarray
        The arrays.

    Returns
    -------
    ndarray, or a list of ndarrays if there are several inputs

    Examples
    --------
    >>> from mxnet import np
    >>> np.atleast_2d(np.array([1, 2])).shape
    (1, 2)
    >>> [x.shape for x in np.atleast_2d(np.array(3), np.ones((2, 2)))]
    [(1, 1), (2, 2)]
    """


def _np_atleast_3d(*arys):
    """Arrays with at least three axes; arrays that have more are returned unchanged.

    A vector of length n becomes (1, n, 1), a matrix (m, n) becomes (m, n, 1).

    Parameters
    ----------
    *arys : ndarray
        The arrays.

    Returns
    -------
    ndarray, or a list of ndarrays if there are several inputs

    Examples
    --------
    >>> from mxnet import np
    >>> np.atleast_3d(np.array([1, 2])).shape
    (1, 2, 1)
    >>> [x.shape for x in np.atleast_3d(np.array(3), np.ones((2, 2)))]
    [(1, 1, 1), (2, 2, 1)]
    """


def _np_copy(a, out=None):
    """Copy of an array, which shares no memory with it.

    Parameters
    ----------
    a : ndarray
        The input.
    out : ndarray, optional
        Where to write the result; it must have the shape and the type of the result.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> x = np.array([1, 2])
    >>> y = np.copy(x)
    >>> y[0] = 9
    >>> x
    array([1., 2.])
    """


def _np_cumsum(a, axis=None, dtype=None, out=None):
    """Cumulative sum along an axis: element i of the result is the sum of elements 0 … i.

    Parameters
    ----------
    a : ndarray
        The input.
    axis : int or None, optional
        The axis; None takes the flattened array.
    dtype : str or type, optional
        The type of the result. By default that of `a`, float32 for booleans.
    out : ndarray, optional
        Where to write the result; it must have the shape and the type of the result.

    Returns
    -------
    ndarray
        Of the shape of `a`, or a vector if `axis` is None.

    Examples
    --------
    >>> from mxnet import np
    >>> np.cumsum(np.array([[1, 2], [3, 4]]))
    array([ 1.,  3.,  6., 10.])
    >>> np.cumsum(np.array([[1, 2], [3, 4]]), axis=1)
    array([[1., 3.],
           [3., 7.]])
    """


def _np_diag(array, k=0):
    """Diagonal of a matrix, or the square matrix that has a vector on its diagonal.

    Parameters
    ----------
    array : ndarray
        A matrix, whose diagonal is taken, or a vector, which becomes the diagonal.
    k : int, default 0
        Which diagonal: 0 is the main one, positive ones lie above it, negative ones below it.

    Returns
    -------
    ndarray
        A vector for a matrix, a matrix for a vector.

    Examples
    --------
    >>> from mxnet import np
    >>> np.diag(np.array([[1, 2], [3, 4]]))
    array([1., 4.])
    >>> np.diag(np.array([1, 2]), k=1)
    array([[0., 1., 0.],
           [0., 0., 2.],
           [0., 0., 0.]])
    """


def _np_diagflat(array, k=0):
    """Square matrix with the elements of an array on a diagonal and zeros elsewhere.

    Parameters
    ----------
    array : ndarray
        The elements; the array is flattened first.
    k : int, default 0
        Which diagonal: 0 is the main one, positive ones lie above it, negative ones below it.

    Returns
    -------
    ndarray
        A matrix of n + |k| rows and columns for n elements.

    Examples
    --------
    >>> from mxnet import np
    >>> np.diagflat(np.array([[1, 2]]))
    array([[1., 0.],
           [0., 2.]])
    >>> np.diagflat(np.array([1, 2]), k=-1)
    array([[0., 0., 0.],
           [1., 0., 0.],
           [0., 2., 0.]])
    """


def _np_diagonal(a, offset=0, axis1=0, axis2=1):
    """Diagonals of the matrices that two axes of an array span.

    Parameters
    ----------
    a : ndarray
        The input, of at least two axes.
    offset : int, default 0
        Which diagonal: 0 is the main one, positive ones lie above it, negative ones below it.
    axis1 : int, default 0
        The axis of the rows.
    axis2 : int, default 1
        The axis of the columns.

    Returns
    -------
    ndarray
        Both axes are replaced by one at the end, along the diagonal. A copy; NumPy returns a read-only view.

    Examples
    --------
    >>> from mxnet import np
    >>> np.diagonal(np.array([[1, 2], [3, 4]]))
    array([1., 4.])
    >>> np.diagonal(np.ones((2, 3, 4)), axis1=1, axis2=2).shape
    (2, 3)
    """


def _np_dot(a, b, out=None):
    """Dot product of two arrays.

    - Two vectors: Σ a[i] · b[i].
    - Two matrices: the matrix product.
    - A zero-dimensional array and another array: the elementwise product.
    - More axes: the sum over the last axis of `a` and the second to last of `b`; batches are not matched, which
      `np.matmul` does.

    Parameters
    ----------
    a : ndarray
        The first input.
    b : ndarray
        The second input, of the same type.
    out : ndarray, optional
        Where to write the result; it must have the shape and the type of the result.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.dot(np.array([1, 2]), np.array([3, 4]))
    array(11.)
    >>> np.dot(np.array([[1, 2], [3, 4]]), np.array([1, 1]))
    array([3., 7.])
    >>> np.dot(np.ones((2, 3, 4)), np.ones((5, 4, 6))).shape
    (2, 3, 5, 6)
    """


def _np_max(a, axis=None, keepdims=False, out=None):
    """Largest element along axes.

    Parameters
    ----------
    a : ndarray
        The input, with at least one element along the reduced axes.
    axis : int, tuple of int or None, optional
        The axes to reduce; negative ones count from the last. None reduces all.
    keepdims : bool, default False
        Whether the reduced axes stay in the result with length 1, so that it broadcasts against `a`.
    out : ndarray, optional
        Where to write the result; it must have the shape and the type of the result.

    Returns
    -------
    ndarray
        Of the type of `a`; a zero-dimensional array if all axes are reduced.

    Notes
    -----
    NumPy's `where` is not supported. NaN is the result where an element is NaN. Use `np.maximum` to compare two arrays.

    Examples
    --------
    >>> from mxnet import np
    >>> np.max(np.array([[1, 2], [4, 3]]), axis=1)
    array([2., 4.])
    >>> np.max(np.array([[1, 2], [4, 3]]))
    array(4.)
    """


def _np_min(a, axis=None, keepdims=False, out=None):
    """Smallest element along axes.

    Parameters
    ----------
    a : ndarray
        The input, with at least one element along the reduced axes.
    axis : int, tuple of int or None, optional
        The axes to reduce; negative ones count from the last. None reduces all.
    keepdims : bool, default False
        Whether the reduced axes stay in the result with length 1, so that it broadcasts against `a`.
    out : ndarray, optional
        Where to write the result; it must have the shape and the type of the result.

    Returns
    -------
    ndarray
        Of the type of `a`; a zero-dimensional array if all axes are reduced.

    Notes
    -----
    NumPy's `where` is not supported. NaN is the result where an element is NaN. Use `np.minimum` to compare two arrays.

    Examples
    --------
    >>> from mxnet import np
    >>> np.min(np.array([[1, 2], [4, 3]]), axis=1)
    array([1., 3.])
    >>> np.min(np.array([[1, 2], [4, 3]]))
    array(1.)
    """


def _np_moveaxis(a, source, destination):
    """Array with axes moved to other positions; the other axes keep their order.

    Parameters
    ----------
    a : ndarray
        The input.
    source : int or tuple of int
        The axes to move.
    destination : int or tuple of int
        Where each of them goes.

    Returns
    -------
    ndarray

    Notes
    -----
    Typical use: images from channels last to channels first, `np.moveaxis(images, -1, 1)`.

    Examples
    --------
    >>> from mxnet import np
    >>> np.moveaxis(np.ones((2, 3, 4)), 0, -1).shape
    (3, 4, 2)
    >>> np.moveaxis(np.ones((2, 3, 4)), (0, 1), (1, 2)).shape
    (4, 2, 3)
    """


def _np_prod(a, axis=None, dtype=None, out=None, keepdims=False):
    """Product of elements along axes.

    Parameters
    ----------
    a : ndarray
        The input.
    axis : int, tuple of int or None, optional
        The axes to reduce; negative ones count from the last. None reduces all.
    dtype : str or type, optional
        The type of the result. By default that of `a`, float32 for booleans.
    out : ndarray, optional
        Where to write the result; it must have the shape and the type of the result.
    keepdims : bool, default False
        Whether the reduced axes stay in the result with length 1, so that it broadcasts against `a`.

    Returns
    -------
    ndarray
        A zero-dimensional array if all axes are reduced; 1 for an axis without elements.

    Notes
    -----
    Products of integers keep their type and wrap around on overflow (NumPy: int64).

    Examples
    --------
    >>> from mxnet import np
    >>> np.prod(np.array([[1, 2], [3, 4]]))
    array(24.)
    >>> np.prod(np.array([[1, 2], [3, 4]]), axis=1)
    array([ 2., 12.])
    """


def _np_product(a, axis=None, dtype=None, out=None, keepdims=False):
    """Product of elements along axes; NumPy's old name of `np.prod`.

    Parameters
    ----------
    a : ndarray
        The input.
    axis : int, tuple of int or None, optional
        The axes to reduce; negative ones count from the last. None reduces all.
    dtype : str or type, optional
        The type of the result. By default that of `a`, float32 for booleans.
    out : ndarray, optional
        Where to write the result; it must have the shape and the type of the result.
    keepdims : bool, default False
        Whether the reduced axes stay in the result with length 1, so that it broadcasts against `a`.

    Returns
    -------
    ndarray
        A zero-dimensional array if all axes are reduced; 1 for an axis without elements.

    Notes
    -----
    Products of integers keep their type and wrap around on overflow (NumPy: int64).

    Examples
    --------
    >>> from mxnet import np
    >>> np.product(np.array([[1, 2], [3, 4]]))
    array(24.)
    >>> np.product(np.array([[1, 2], [3, 4]]), axis=1)
    array([ 2., 12.])
    """


def _np_repeat(a, repeats, axis=None):
    """Array in which each element is repeated.

    Parameters
    ----------
    a : ndarray
        The input.
    repeats : int
        How often each element occurs in the result.
    axis : int or None, optional
        The axis along which to repeat; None takes the flattened array.

    Returns
    -------
    ndarray

    Notes
    -----
    `np.tile` repeats the array as a whole instead.

    Examples
    --------
    >>> from mxnet import np
    >>> np.repeat(np.array([1, 2]), 3)
    array([1., 1., 1., 2., 2., 2.])
    >>> np.repeat(np.array([[1, 2]]), 2, axis=0)
    array([[1., 2.],
           [1., 2.]])
    """


def _np_reshape(a, newshape, order="C", out=None):
    """Array with the same elements in another shape.

    Parameters
    ----------
    a : ndarray
        The input.
    newshape : int or tuple of int
        The new shape, of as many elements. One length may be -1; it is computed from the others.
    order : str, default 'C'
        The order in which elements are read and placed: only 'C', the last axis fastest.
    out : ndarray, optional
        Where to write the result; it must have the shape and the type of the result.

    Returns
    -------
    ndarray
        A copy, also as the method `a.reshape`; NumPy returns a view.

    Notes
    -----
    The special codes 0, -2, -3 and -4 of `mx.nd.reshape` are not understood here; `npx.reshape` has codes of its own.

    Examples
    --------
    >>> from mxnet import np
    >>> np.reshape(np.arange(6), (2, -1))
    array([[0., 1., 2.],
           [3., 4., 5.]])
    """


def _np_roll(a, shift, axis=None):
    """Array with its elements shifted along an axis; elements that leave one end come back at the other.

    Parameters
    ----------
    a : ndarray
        The input.
    shift : int or tuple of int
        By how many places elements move; negative values move them back. A tuple has one shift for each axis.
    axis : int, tuple of int or None, optional
        The axes of the shifts; None rolls the flattened array and restores the shape.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.roll(np.array([1, 2, 3]), 1)
    array([3., 1., 2.])
    >>> np.roll(np.array([[1, 2, 3], [4, 5, 6]]), -1, axis=1)
    array([[2., 3., 1.],
           [5., 6., 4.]])
    """


def _np_sometrue(a, axis=None, keepdims=False, out=None):
    """Whether at least one element along axes is true; NumPy's old name of `np.any`.

    Parameters
    ----------
    a : ndarray
        The input; numbers are true unless they are 0, and NaN is true.
    axis : int, tuple of int or None, optional
        The axes to reduce; negative ones count from the last. None reduces all.
    keepdims : bool, default False
        Whether the reduced axes stay in the result with length 1, so that it broadcasts against `a`.
    out : ndarray, optional
        Where to write the result; it must have the shape and the type of the result.

    Returns
    -------
    ndarray of bool
        A zero-dimensional array if all axes are reduced. `bool(result)` makes it a Python bool.

    Examples
    --------
    >>> from mxnet import np
    >>> np.sometrue(np.array([[0, 2], [0, 0]]), axis=1)
    array([ True, False])
    """


def _np_squeeze(a, axis=None, out=None):
    """Array without its axes of length 1.

    Parameters
    ----------
    a : ndarray
        The input.
    axis : int, tuple of int or None, optional
        Which axes to remove; they must have length 1. None removes all axes of length 1.
    out : ndarray, optional
        Where to write the result; it must have the shape and the type of the result.

    Returns
    -------
    ndarray

    Notes
    -----
    Give `axis` in code that handles batches: without it, a batch of one sample loses its batch axis.

    Examples
    --------
    >>> from mxnet import np
    >>> np.squeeze(np.ones((1, 2, 1))).shape
    (2,)
    >>> np.squeeze(np.ones((1, 2, 1)), axis=0).shape
    (2, 1)
    """


def _np_sum(a, axis=None, dtype=None, keepdims=False, initial=None, out=None):
    """Sum of elements along axes.

    Parameters
    ----------
    a : ndarray
        The input.
    axis : int, tuple of int or None, optional
        The axes to reduce; negative ones count from the last. None reduces all.
    dtype : str or type, optional
        The type of the result and of the sum. By default that of `a`, float32 for booleans.
    keepdims : bool, default False
        Whether the reduced axes stay in the result with length 1, so that it broadcasts against `a`.
    initial : number, optional
        A number added to the sum.
    out : ndarray, optional
        Where to write the result; it must have the shape and the type of the result.

    Returns
    -------
    ndarray
        A zero-dimensional array if all axes are reduced; 0 for an axis without elements.

    Notes
    -----
    The sum of integers keeps their type and wraps around on overflow, also for int8 and uint8 (NumPy: int64). Give a
    wider `dtype` for sums of many elements. NumPy's `where` is not supported.

    Examples
    --------
    >>> from mxnet import np
    >>> x = np.array([[1, 2], [3, 4]])
    >>> np.sum(x)
    array(10.)
    >>> np.sum(x, axis=1, keepdims=True)
    array([[3.],
           [7.]])
    >>> np.sum(np.array([200, 100], dtype="uint8"))
    array(44, dtype=uint8)
    >>> np.sum(np.array([200, 100], dtype="uint8"), dtype="int32")
    array(300, dtype=int32)
    """


def _np_trace(a, offset=0, axis1=0, axis2=1, out=None):
    """Sum of the diagonal of a matrix.

    Parameters
    ----------
    a : ndarray
        The input, of at least two axes.
    offset : int, default 0
        Which diagonal: 0 is the main one, positive ones lie above it.
    axis1 : int, default 0
        The axis of the rows.
    axis2 : int, default 1
        The axis of the columns.
    out : ndarray, optional
        Where to write the result; it must have the shape and the type of the result.

    Returns
    -------
    ndarray
        Of the shape of the remaining axes.

    Examples
    --------
    >>> from mxnet import np
    >>> np.trace(np.array([[1, 2], [3, 4]]))
    array(5.)
    >>> np.trace(np.ones((3, 3, 5))).shape
    (5,)
    """


def _np_transpose(a, axes=None):
    """Array with its axes in another order, reversed by default; `x.T` is the reversed form.

    Parameters
    ----------
    a : ndarray
        The input.
    axes : tuple of int, optional
        The new order: axis i of the result is axis `axes[i]` of the input. None reverses all axes.

    Returns
    -------
    ndarray
        A copy; NumPy returns a view.

    Examples
    --------
    >>> from mxnet import np
    >>> np.transpose(np.array([[1, 2], [3, 4]]))
    array([[1., 3.],
           [2., 4.]])
    >>> np.transpose(np.ones((2, 3, 4)), (1, 0, 2)).shape
    (3, 2, 4)
    """


def _npx_constraint_check(x, msg):
    """True if all elements are true; otherwise a ValueError with the message is raised.

    Multiply a result by the returned array to keep the check in a graph, which would drop an unused one.

    Parameters
    ----------
    x : ndarray
        The truth values, of any shape; anything but zero is true.
    msg : str
        The message of the ValueError.

    Returns
    -------
    ndarray
        The boolean True, of shape ().

    Examples
    --------
    >>> from mxnet import np, npx
    >>> npx.constraint_check(np.array([True, True]), "must be positive")
    array(True)
    """


def _npx_nonzero(a):
    """The indices of the elements that are not zero, a row for each.

    `np.nonzero` returns the same numbers as a tuple with one vector for each axis. How many rows there are depends on
    the values, hence a graph knows the shape of the result only when it runs.

    Parameters
    ----------
    a : ndarray
        The input, with N axes.

    Returns
    -------
    ndarray
        The indices in row-major order, (elements that are not zero, N), int64.

    Examples
    --------
    >>> from mxnet import np, npx
    >>> npx.nonzero(np.array([[0, 1], [2, 0]]))
    array([[0, 1],
           [1, 0]], dtype=int64)
    """


def _npx_reshape(a, newshape, reverse=False, order="C"):
    """The elements in a new shape, in which negative numbers are codes.

    The codes are not those of `mx.nd.reshape`: there 0 copies a size, and -2, -3 and -4 mean something else.

    Parameters
    ----------
    a : array_like
        The input, of any shape.
    newshape : int or tuple of int
        The new shape: -1 is what remains (once only), -2 copies a size, -3 drops a size of 1, -4 copies all sizes that
        remain, -5 joins two sizes, -6 splits one into the two numbers that follow, one of which can be -1. Sizes are
        read from left to right; 0 is a size of 0.
    reverse : bool, default False
        Whether the codes are matched with the axes of `a` from the right to the left.
    order : str, default 'C'
        Memory order; only 'C' is supported.

    Returns
    -------
    ndarray
        The elements of `a` in the same order.

    Examples
    --------
    >>> from mxnet import np, npx
    >>> npx.reshape(np.zeros((2, 3, 4)), (-2, -5)).shape
    (2, 12)
    >>> npx.reshape(np.zeros((8, 3)), (-6, 2, -1, -4)).shape
    (2, 4, 3)
    """
