"""`mx.npx` functions for files of `mx.np` arrays."""

from ..ndarray import utils
from ..numpy import ndarray
from ..numpy._call import as_np


def save(file, arr):
    """Write arrays to a file in MXNet's format, which `mx.nd.load` and MXNet itself can read, too.

    Parameters
    ----------
    file : str
        The name of the file. No extension is added.
    arr : ndarray, list of ndarrays or dict of str to ndarray
        What to save: arrays of `mx.np`. Other arrays are a TypeError; use `mx.nd.save` for `mx.nd` arrays.

    Examples
    --------
    >>> from mxnet import np, npx
    >>> npx.save("arrays", {"x": np.ones(2)})
    >>> npx.load("arrays")
    {'x': array([1., 1.])}
    """
    groups = arr.values() if isinstance(arr, dict) else arr if isinstance(arr, (list, tuple)) else [arr]
    wrong = [a for a in groups if not isinstance(a, ndarray)]
    if wrong:
        raise TypeError(f"npx.save writes mx.np arrays, got {type(wrong[0])}")
    if isinstance(arr, ndarray):
        arr = [arr]
    utils.save(file, arr if isinstance(arr, dict) else list(arr))


def load(file):
    """Read the arrays of a file that `save` wrote.

    Parameters
    ----------
    file : str
        The name of the file, which `mx.nd.save` may have written, too.

    Returns
    -------
    list of ndarrays or dict of str to ndarray
        A dict if the arrays were saved with names; otherwise a list, also of a single array.

    Examples
    --------
    >>> from mxnet import np, npx
    >>> npx.save("arrays", [np.ones(2)])
    >>> npx.load("arrays")
    [array([1., 1.])]
    """
    found = utils.load(file)
    return {k: as_np(v) for k, v in found.items()} if isinstance(found, dict) else as_np(found)
