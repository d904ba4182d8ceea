"""Optimizer states to bytes and back: arrays and optimizers made from what a state file holds, no code run."""

import pickle
import sys
from contextlib import contextmanager

from .._core.errors import MXNetError
from .._formats import states
from ..lr_scheduler import LRScheduler
from ..ndarray import NDArray
from ..ndarray.utils import array_of, blob_of
from .base import Optimizer


def _blob(value):
    return blob_of(value) if isinstance(value, NDArray) else None


def _described(value):
    """(module, class name, attributes) of an optimizer or a schedule."""
    if not isinstance(value, (Optimizer, LRScheduler)):
        return None
    attributes = value.__getstate__() if isinstance(value, Optimizer) else vars(value)
    return type(value).__module__, type(value).__qualname__, dict(attributes)


def _class(module, name):
    """The class a file names: one of MXNet's, or the program's own, already imported and of the right kind."""
    found = getattr(sys.modules.get(module), name, None)
    if found is None and module.startswith("mxnet.optimizer"):
        found = Optimizer.opt_registry.get(name.lower())
    if isinstance(found, type) and issubclass(found, (Optimizer, LRScheduler)):
        return found
    registered = Optimizer.opt_registry.get(name.rpartition(".")[2].lower())
    if registered is not None and registered.__module__ == module:
        return registered
    raise MXNetError(
        f"the states were written with {module}.{name}, which is no optimizer or schedule that this program has; "
        "import the module that defines it before loading"
    )


def _made(module, name, attributes):
    kind = _class(module, name)
    made = kind.__new__(kind)
    if isinstance(made, Optimizer):
        made.__setstate__(attributes)
    else:
        made.__dict__.update(attributes)
    return made


def dumps(tree):
    """States (and the optimizer, if it is among them) as bytes."""
    return states.dumps(tree, _blob, _described)


def pickled(tree):
    """States as MXNet 1.x writes and reads them: classes of the same names, arrays as the bytes of a file."""
    return pickle.dumps(tree)


def loads(data, trust=False):
    """What `dumps` wrote, or one of MXNet's pickles; with `trust` any pickle, which may run code."""
    return states.loads(data, array_of, _made, trust)


@contextmanager
def opened(fname):
    """A file of states; what is wrong with it is told with its name."""
    with open(fname, "rb") as file:
        try:
            yield file
        except MXNetError as error:
            raise MXNetError(f"{fname}: {error}") from error


def loads_for_updater(data, trust=False):
    """(states by index, the optimizer or None): what an updater keeps, and nothing else."""
    loaded = loads(data, trust)
    tree, optimizer = loaded if isinstance(loaded, tuple) and len(loaded) == 2 else (loaded, None)
    if not isinstance(tree, dict) or not isinstance(optimizer, (Optimizer, type(None))):
        raise MXNetError(
            f"these are no optimizer states: a dict of states, and maybe an optimizer, were expected, "
            f"got {type(tree).__name__} and {type(optimizer).__name__}"
        )
    return tree, optimizer
