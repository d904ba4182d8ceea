"""Old programs on new versions: names that NumPy, Python and others have dropped since, put back for this process.

In a notebook `%load_ext mxnet.compat`, on the command line `remx run train.py`. `import mxnet` alone changes nothing.
"""

from ._compat.names import instead_of
from ._compat.restore import USED, forget, restore, told

__all__ = ["disable", "enable", "instead_of", "used"]


def enable():
    """Put the names back until `disable`; NumPy prints scalars as it did before 2.0.

    >>> import numpy, mxnet.compat
    >>> mxnet.compat.enable()
    >>> numpy.product([2, 3]), numpy.float is float
    (6, True)
    >>> mxnet.compat.used()
    ['numpy.product', 'numpy.float']
    >>> mxnet.compat.disable()
    """
    restore()


def disable():
    """Take the old names away again, and forget which were used.

    Examples
    --------
    >>> mx.compat.disable()
    """
    forget()


def used():
    """The old names that the program has used so far, in order.

    Examples
    --------
    >>> mx.compat.used()
    []
    """
    return list(USED)


def load_ipython_extension(ipython):
    """`%load_ext mxnet.compat`: put the names back; after a cell that used new ones of them, say which."""
    restore()
    said = []

    def tell(*_):
        if USED and list(USED) != said:
            said[:] = list(USED)
            print(f"mxnet.compat: {told()}")

    ipython.events.register("post_run_cell", tell)


def unload_ipython_extension(ipython):
    """`%unload_ext mxnet.compat`."""
    forget()
