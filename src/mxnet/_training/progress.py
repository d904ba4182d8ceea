"""Where a run is: random streams, ours, NumPy's and Python's, and the caller's values, in a file without code."""

import hashlib
import random as python_random

import numpy as np

from .. import random
from .._core.dtypes import dtype_name
from .._core.errors import MXNetError
from .._formats import states
from .._formats.atomic import write_file
from .._formats.params import Blob
from ..context import parse_context
from ..ndarray import NDArray, array

_ARRAY, _NDARRAY = "ndarray", "NDArray"


def streams():
    """The state of every random stream a training loop may draw from: MXNet's, torch's, NumPy's and Python's."""
    version, words, gauss = python_random.getstate()
    python = (version, np.array(words, np.uint32), gauss)
    return {"random": random.get_state(), "numpy": np.random.get_state(), "python": python}


def set_streams(state):
    """Continue every stream from what `streams` returned."""
    random.set_state(state["random"])
    np.random.set_state(state["numpy"])
    if "python" in state:  # files of the first version have none
        version, words, gauss = state["python"]
        python_random.setstate((version, tuple(words.tolist()), gauss))


# -- the file ----------------------------------------------------------------------------------------------------------


class _Bytes:
    """The bytes of an array inside the container, kept once however often the tree mentions them."""

    def __init__(self, data):
        self.blob = Blob.dense(np.frombuffer(data, np.uint8), "uint8")


def _plain(value, known):
    """Arrays as (mark, type, shape, bytes): the container's own arrays have MXNet's types only."""
    if isinstance(value, NDArray):
        return (_NDARRAY, str(value.context), dtype_name(value.dtype), _plain(value.asnumpy(), known))
    if isinstance(value, np.ndarray):
        data = value.tobytes()
        kept = known.setdefault(hashlib.sha256(data).digest(), _Bytes(data)) if data else None
        return (_ARRAY, value.dtype.str, tuple(value.shape), kept)
    if isinstance(value, dict):
        return {key: _plain(each, known) for key, each in value.items()}
    return type(value)(_plain(each, known) for each in value) if type(value) in (tuple, list) else value


def _restored(value):
    if isinstance(value, tuple) and value[:1] == (_ARRAY,):
        _, dtype, shape, data = value
        data = bytes.fromhex(data) if isinstance(data, str) else b"" if data is None else data.values
        return np.frombuffer(data, np.dtype(dtype)).reshape(shape).copy()
    if isinstance(value, tuple) and value[:1] == (_NDARRAY,):
        return array(_restored(value[3]), ctx=parse_context(value[1]), dtype=value[2])
    if isinstance(value, dict):
        return {key: _restored(each) for key, each in value.items()}
    return type(value)(_restored(each) for each in value) if isinstance(value, (tuple, list)) else value


def write_tree(fname, tree):
    """Write dicts, lists, numbers, texts and arrays to a file that holds no code."""
    write_file(fname, states.dumps(_plain(tree, {}), lambda value: getattr(value, "blob", None), lambda value: None))


def read_tree(fname):
    """What `write_tree` wrote."""
    with open(fname, "rb") as file:
        data = file.read()
    with _explained(fname):
        return _restored(states.loads(data, lambda blob: blob, lambda *described: None))


class _explained:
    """Whatever is wrong with the structure of a progress file is an error that names the file."""

    def __init__(self, fname):
        self.fname = fname

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if isinstance(error, (KeyError, TypeError, ValueError, IndexError, AttributeError, MXNetError)):
            raise MXNetError(f"{self.fname}: this is no file of `save_progress` ({kind.__name__}: {error})") from error


def save_progress(fname, **values):
    """Write the state of all random streams, and further values, to a file.

    Parameters
    ----------
    fname : str
        The name of the file.
    **values : number, str, dict or array
        The further values.

    Examples
    --------
    >>> mx.model.save_progress("run.progress", epoch=3)
    >>> mx.model.load_progress("run.progress")["epoch"]
    3
    """
    write_tree(fname, {**streams(), "values": values})


def load_progress(fname):
    """Set all random streams as they were when the file was written, and return the further values.

    Parameters
    ----------
    fname : str
        The name of the file.

    Returns
    -------
    dict

    Examples
    --------
    >>> mx.model.save_progress("run.progress", epoch=3)
    >>> before = mx.nd.random.uniform(shape=(2,)).asnumpy()
    >>> values = mx.model.load_progress("run.progress")
    >>> (mx.nd.random.uniform(shape=(2,)).asnumpy() == before).all()
    np.True_
    """
    tree = read_tree(fname)
    with _explained(fname):
        set_streams(tree)
        return tree["values"]
