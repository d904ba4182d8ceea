"""Initializers fill parameters with the values they hold before training."""

from . import ndarray, random, registry  # noqa: F401 - MXNet's module shows them
from ._initializers.base import InitDesc, Initializer, alias, create, register
from ._initializers.choosers import Load, Mixed
from ._initializers.constants import Bilinear, Constant, LSTMBias, One, Zero
from ._initializers.distributions import MSRAPrelu, Normal, Orthogonal, Uniform, Xavier
from ._initializers.fused_rnn import FusedRNN
from .ndarray import NDArray, load  # noqa: F401
from .util import is_np_array  # noqa: F401

__all__ = [
    "Bilinear", "Constant", "FusedRNN", "InitDesc", "Initializer", "LSTMBias", "Load", "MSRAPrelu", "Mixed", "Normal",
    "One", "Orthogonal", "Uniform", "Xavier", "Zero", "alias", "create", "register",
]  # fmt: skip

# Programs and pickles know the classes by this module's name.
for _name in __all__:
    if isinstance(globals()[_name], type):
        globals()[_name].__module__ = __name__
