"""Constructors that explain a wrong keyword argument: what it was probably meant to be, or what there is."""

import functools
import inspect
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import Any

# Names of other libraries, or of the operator behind a layer; they are suggested where a class has the other name.
USUAL = {
    "affine": "center",
    "betas": "beta1",
    "bias": "use_bias",
    "bias_init": "bias_initializer",
    "dilate": "dilation",
    "eps": "epsilon",
    "in_features": "in_units",
    "k": "top_k",
    "kernel": "kernel_size",
    "lr": "learning_rate",
    "num_features": "in_channels",
    "num_filter": "channels",
    "num_hidden": "units",
    "num_units": "units",
    "out_channels": "channels",
    "out_features": "units",
    "p": "rate",
    "pad": "padding",
    "stride": "strides",
    "weight_decay": "wd",
    "weight_init": "weight_initializer",
}


def suggestion(wrong: str, known: Iterable[str]) -> str:
    """The end of a message about an unknown name: the names it resembles, or all that there are."""
    names = sorted(known)
    near = [USUAL[wrong]] if USUAL.get(wrong) in names else get_close_matches(wrong, names)
    return f"did you mean {' or '.join(near)}?" if near else f"there are: {', '.join(names)}"


class ExplainsArguments:
    """Base of classes whose constructors explain a wrong argument by the class that was called.

    The `__init__` of every class of this package below it is wrapped; classes of a program stay as they are. A class
    can have `_elsewhere`: what to do with arguments that belong somewhere else.
    """

    __slots__ = ()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        init = vars(cls).get("__init__")
        if inspect.isfunction(init) and cls.__module__.startswith("mxnet."):
            setattr(cls, "__init__", _explained(init))  # noqa: B010 - an assignment would change the type that checkers infer


def _explained(init: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(init)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807 - it takes the place of that method
        try:
            init(self, *args, **kwargs)
        except TypeError as error:
            at = error.__traceback__
            if at is None or at.tb_next is not None:  # it was raised inside, not by the call
                raise
            raise TypeError(_words(str(error), init, type(self), kwargs)) from None

    return __init__


def _words(said: str, init: Callable[..., None], cls: type, given: dict[str, Any]) -> str:
    """The message with the name of the class that was called, and what to write instead."""
    said = said.replace(f"{init.__qualname__}()", f"{cls.__name__}.__init__()")
    known = parameters(cls)
    wrong = next((name for name in given if name not in known), None)
    if wrong is None:
        return said
    elsewhere = getattr(cls, "_elsewhere", {}).get(wrong)
    if elsewhere:
        return f"{said}; {elsewhere}"
    if f"argument '{wrong}'" in said:
        return f"{said}; {suggestion(wrong, known)}"
    return f"{said}, and no argument is called {wrong}; {suggestion(wrong, known)}"


def parameters(cls: type) -> set[str]:
    """The keyword arguments that a class and its bases take."""
    found: set[str] = set()
    for base in cls.__mro__:
        init = vars(base).get("__init__")
        if inspect.isfunction(init):
            kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
            found |= {p.name for p in inspect.signature(init).parameters.values() if p.kind not in kinds}
            if not any(p.kind is kinds[1] for p in inspect.signature(init).parameters.values()):
                break  # nothing else is handed on
    return found - {"self"}
