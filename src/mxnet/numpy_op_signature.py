"""From an operator's full name to the `mx.np` or `mx.npx` function that shows it."""

from importlib import import_module

_SPACES = {"_npx_": "mxnet.numpy_extension", "_np_": "mxnet.numpy"}


def _get_builtin_op(op_name):
    """The function behind `_np_sum` or `_npx_relu`; an operator without one is an error."""
    for prefix, module in _SPACES.items():
        if op_name.startswith(prefix):
            return getattr(import_module(module), op_name[len(prefix) :])
    raise ValueError(f"{op_name} is no operator of mx.np or mx.npx")
