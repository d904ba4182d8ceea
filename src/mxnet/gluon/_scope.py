"""Names of blocks: the scope in which a block's children get their prefixes and counters."""

import threading

from .. import name
from ._parameter_dict import ParameterDict


class _BlockScope:
    """What `Block.name_scope()` returns; inside it new blocks and operators carry the block's prefix."""

    __module__ = "mxnet.gluon.block"
    _current = threading.local()

    def __init__(self, block):
        self._block, self._counter = block, {}  # how many children of each kind have names
        self._outer = self._names = None  # while it is entered

    @staticmethod
    def create(prefix, params, hint):
        """The full prefix and the parameter dictionary of a new block."""
        current = getattr(_BlockScope._current, "value", None)
        if prefix is None:
            prefix = current._next(hint) if current else name.manager().get(None, hint) + "_"
        if params is not None:
            params = ParameterDict(params.prefix, params)
        elif current is None:
            params = ParameterDict(prefix)
        else:
            parent = current._block.params
            params = ParameterDict(parent.prefix + prefix, parent._shared)
        return (current._block.prefix if current else "") + prefix, params

    def _next(self, hint):
        return f"{name.numbered(self._counter, hint)}_"

    def __enter__(self):
        if not self._block._empty_prefix:
            self._names = name.Prefix(self._block.prefix)
            self._names.__enter__()
            current = _BlockScope._current
            self._outer, current.value = getattr(current, "value", None), self
        return self

    def __exit__(self, ptype, value, trace):
        if not self._block._empty_prefix:
            self._names.__exit__(ptype, value, trace)
            self._names, _BlockScope._current.value = None, self._outer
