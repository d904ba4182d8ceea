"""The exceptions of the public API; `mxnet.base` and `mxnet.error` show them under MXNet's names."""

import sys
from collections.abc import Callable
from typing import Any, NoReturn


class MXNetError(RuntimeError):
    """Any failure that a user can cause and that has no closer Python type."""

    __module__ = "mxnet.base"


class ValueRefused(MXNetError, ValueError):
    """A value out of range, where MXNet raises Python's own class."""

    __module__ = "mxnet.base"


class NameUnknown(MXNetError, KeyError):
    """A name or key that nobody has, where MXNet raises Python's own class."""

    __module__ = "mxnet.base"
    __str__ = RuntimeError.__str__  # KeyError's shows the text as a quoted string


class OperatorMissing(MXNetError, NotImplementedError):
    """An operator of another format that has no counterpart here, where MXNet raises Python's own class."""

    __module__ = "mxnet.base"


class _NotOffered(MXNetError):
    """A function that a kind of object does not offer: its name, its operator's name, the types it was given."""

    __module__ = "mxnet.base"
    reason = ""

    def __init__(self, function: Callable[..., Any], alias: str | None, *args: Any) -> None:
        super().__init__()
        self.function = function.__name__
        self.alias = alias
        self.types = [str(type(a)) for a in args]

    def __reduce__(self) -> tuple[Any, ...]:
        """A pickle holds the words, not the arguments that they were made of."""
        return self.__class__.__new__, (self.__class__,), self.__dict__

    def __str__(self) -> str:
        alias = f' (namely operator "{self.alias}")' if self.alias else ""
        arguments = f" with arguments ({', '.join(self.types)})" if self.types else ""
        return f"Function {self.function}{alias}{arguments} {self.reason}"


_NO_BRANCH = (
    "A symbol has no values yet, so Python cannot branch on it: use F.where or F.contrib.cond, "
    "or do not hybridize this block."
)
_NO_VALUES = (
    "A symbol has no values yet: compute with its operators (F.…) only, or do not hybridize the block that makes "
    "this call."
)


class NotImplementedForSymbol(_NotOffered):
    """A method of NDArray that has no meaning on a Symbol."""

    __module__ = "mxnet.base"
    reason = "is not implemented for Symbol and only available in NDArray."

    def __str__(self) -> str:
        advice = _NO_BRANCH if self.function == "__bool__" else _NO_VALUES  # __bool__: an `if` in hybrid_forward
        return f"{super().__str__()} {advice}"


class NotSupportedForSparseNDArray(_NotOffered):
    """An operation that sparse storage does not offer."""

    __module__ = "mxnet.base"
    reason = "is not supported for SparseNDArray and only available in NDArray."


class ValueFault(MXNetError):
    """Raised where values are at fault, not shapes or types. MXNet finds them while its engine runs, so that executors
    tell it when their outputs are read."""


class FaultyOutputs(list):
    """The outputs of a forward pass that met a `ValueFault`: whoever reads them gets the error."""

    def __init__(self, error: ValueFault) -> None:
        super().__init__()
        self.error = error

    def _fail(self, *_: object) -> NoReturn:
        raise self.error

    __getitem__ = __iter__ = __len__ = _fail  # type: ignore[assignment]


def no_attribute(module: str, name: str, advice: str = "") -> AttributeError:
    """The error of a module without such a name; Python adds "Did you mean" when it shows it, by the module's `dir`."""
    return AttributeError(f"module '{module}' has no attribute '{name}'{advice}", name=name, obj=sys.modules[module])


def cause(error: Exception) -> Exception | None:
    """What an error of ours is raised from: nothing where torch said what is wrong, which our message repeats.

    A TypeError may be a fault inside an operator, whose traceback is needed.
    """
    return error if isinstance(error, TypeError) else None
