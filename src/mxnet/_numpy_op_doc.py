"""What `mx.np` and `mx.npx` tell of their functions that are one operator: NumPy's signatures, and a word on each.

A call goes to the operator, with the operator's own arguments, as in MXNet; `help` shows what is written here.
"""


def _np_all(a, axis=None, keepdims=False, out=None):
    """Is every element true?"""


def _np_amax(a, axis=None, keepdims=False, out=None):
    """The greatest over axes."""


def _np_amin(a, axis=None, keepdims=False, out=None):
    """The least over axes."""


def _np_any(a, axis=None, keepdims=False, out=None):
    """Is some element true?"""


def _np_atleast_1d(*arys):
    """Each array with at least one axis."""


def _np_atleast_2d(*arys):
    """Each array with at least two axes."""


def _np_atleast_3d(*arys):
    """Each array with at least three axes."""


def _np_copy(a, out=None):
    """A copy."""


def _np_cumsum(a, axis=None, dtype=None, out=None):
    """Running sums."""


def _np_diag(array, k=0):
    """A matrix's diagonal, or a matrix with it."""


def _np_diagflat(array, k=0):
    """A matrix with the flat array as diagonal."""


def _np_diagonal(a, offset=0, axis1=0, axis2=1):
    """Diagonals of the planes of two axes."""


def _np_dot(a, b, out=None):
    """NumPy's dot product."""


def _np_max(a, axis=None, keepdims=False, out=None):
    """The greatest over axes."""


def _np_min(a, axis=None, keepdims=False, out=None):
    """The least over axes."""


def _np_moveaxis(a, source, destination):
    """Axes moved to other places."""


def _np_prod(a, axis=None, dtype=None, out=None, keepdims=False):
    """The product over axes."""


def _np_product(a, axis=None, dtype=None, out=None, keepdims=False):
    """The product over axes."""


def _np_repeat(a, repeats, axis=None):
    """Each element so many times."""


def _np_reshape(a, newshape, order="C", out=None):
    """The elements in another shape; one size may be -1."""


def _np_roll(a, shift, axis=None):
    """Elements moved round."""


def _np_sometrue(a, axis=None, keepdims=False, out=None):
    """Is some element true?"""


def _np_squeeze(a, axis=None, out=None):
    """Without axes of size one."""


def _np_sum(a, axis=None, dtype=None, keepdims=False, initial=None, out=None):
    """The sum over axes."""


def _np_trace(a, offset=0, axis1=0, axis2=1, out=None):
    """Sums of diagonals."""


def _np_transpose(a, axes=None):
    """Axes in another order, reversed unless told."""


def _npx_constraint_check(x, msg):
    """True if every element is; else a ValueError with the message."""


def _npx_nonzero(a):
    """The positions of what is not zero, one row each."""


def _npx_reshape(a, newshape, reverse=False, order="C"):
    """The elements in a shape in which negative numbers are codes.

    -1 is what is left, -2 copies a size, -3 drops a size of one, -4 copies all that remain, -5 joins two sizes,
    -6 splits one into the two numbers that follow.
    """
