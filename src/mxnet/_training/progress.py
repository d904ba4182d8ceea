"""Where a training run is: random streams, ours and NumPy's, and the caller's numbers, in a file that holds no code."""

import numpy as np

from .. import random
from .._core.errors import MXNetError
from .._formats import states
from .._formats.atomic import write_file

_ARRAY = "ndarray"


def _plain(value):
    """Arrays as (mark, type, shape, digits): the container's own arrays have MXNet's types only."""
    if isinstance(value, np.ndarray):
        return (_ARRAY, value.dtype.str, tuple(value.shape), value.tobytes().hex())
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    return type(value)(_plain(each) for each in value) if type(value) in (tuple, list) else value


def _restored(value):
    if isinstance(value, tuple) and value[:1] == (_ARRAY,):
        return np.frombuffer(bytes.fromhex(value[3]), value[1]).reshape(value[2]).copy()
    if isinstance(value, dict):
        return {key: _restored(each) for key, each in value.items()}
    return type(value)(_restored(each) for each in value) if isinstance(value, (tuple, list)) else value


def save_progress(fname, **values):
    """Write the state of all random streams, and `values` (numbers, texts, dicts, arrays of NumPy) beside it."""
    tree = {"random": random.get_state(), "numpy": np.random.get_state(), "values": values}
    write_file(fname, states.dumps(_plain(tree), lambda value: None, lambda value: None))


def load_progress(fname):
    """Set all random streams as they were when the file was written; return the values."""
    with open(fname, "rb") as file:
        data = file.read()
    try:
        tree = _restored(states.loads(data, lambda blob: None, lambda *described: None))
        random.set_state(tree["random"])
        np.random.set_state(tree["numpy"])
        return tree["values"]
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise MXNetError(f"{fname}: this is no file of `save_progress` ({type(error).__name__}: {error})") from error
