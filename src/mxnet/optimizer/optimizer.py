"""All of MXNet's optimizers, under the module path that programs and state files know."""

from ..base import py_str  # noqa: F401 - MXNet shows it here
from ..ndarray import NDArray, array, maximum, multiply, zeros  # noqa: F401
from ..ndarray import abs as NDabs
from ..ndarray.contrib import multi_lamb_update, multi_mp_lamb_update  # noqa: F401
from ..random import normal  # noqa: F401
from ..util import is_np_array  # noqa: F401
from .adaptive import FTML, LAMB, AdaDelta, AdaGrad, Adam, Adamax, AdamW, Ftrl, Nadam, RMSProp
from .base import Optimizer
from .large_batch import LBSGD
from .sgd import DCASGD, LARS, NAG, SGD, SGLD, Signum, Test, ccSGD
from .updater import Updater, get_updater

__all__ = [
    "AdaDelta",
    "AdaGrad",
    "Adam",
    "AdamW",
    "Adamax",
    "DCASGD",
    "FTML",
    "Ftrl",
    "LAMB",
    "LARS",
    "LBSGD",
    "NAG",
    "NDabs",
    "Nadam",
    "Optimizer",
    "RMSProp",
    "SGD",
    "SGLD",
    "Signum",
    "Test",
    "Updater",
    "ccSGD",
    "create",
    "get_updater",
    "register",
]

create = Optimizer.create_optimizer
register = Optimizer.register

# Pickled optimizers name this module: files written by MXNet open here, and the other way round.
for _class in (Optimizer, Updater, *Optimizer.opt_registry.values()):
    if _class.__module__.startswith(__package__) and not _class.__module__.endswith("contrib"):
        _class.__module__ = __name__
