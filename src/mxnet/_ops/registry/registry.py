"""The registry: an operator is one plain function from tensors to tensors, registered once.

    @op("FullyConnected", fill=dense_shapes, inputs=without_bias)
    def fully_connected(data, weight, bias=None, *, num_hidden: int, no_bias: bool = False, flatten: bool = True):

Positional parameters are inputs, `*data` means any number of them, keyword-only parameters are attributes.
Keyword-only parameters that begin with an underscore are injected by the caller and are not attributes:
`_train` (is the network training), `_device` (the torch device to create on), `_rng` (the context's random stream),
`_ctx` (the context itself), `_kept` (a dict in which an executor stores the node's state between runs, None
elsewhere), `_stypes` (the storage types in the graph of its inputs, which are passed as dense tensors; None: all
dense), `_graphs` (the bodies of a control flow operator, as functions).
An operator with `**attrs` takes attributes of any name, as text.
"""

import inspect
import sys
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any

from ..._core.attrs import Attr, attribute, text
from ..._core.errors import MXNetError

Attrs = dict[str, Any]
INJECTED = ("_train", "_device", "_rng", "_ctx", "_kept", "_stypes", "_graphs", "_set_gamma")
REGISTRY: dict[str, "Op"] = {}


def described(head: str, meaning: str | None) -> str:
    """One parameter of a list: its name and type, and below them what it means."""
    return f"{head}\n    {meaning}" if meaning else head


class Op:
    """A registered operator: the function, and the declarations that `nd` and `sym` functions are generated from.

    inputs   attrs -> names of the inputs this call has (`bias` is absent under `no_bias`)
    outputs  their number, or their names, or attrs -> either
    visible  number of outputs that a caller sees
    aux      inputs that are auxiliary states (or attrs -> them); the function updates them in place when `_train`
    mutates  inputs the function changes in place (optimizer states)
    count    the attribute that counts the inputs of a variadic operator
    fill     (attrs, shapes) -> shapes: deduces unknown input shapes; a shape is a tuple or None, 0 an unknown size
    fill_types  (attrs, dtypes) -> dtypes: the same for dtype names
    shape    "same" | "broadcast" | (attrs, shapes) -> output shapes, without running; otherwise, or where it returns
             None, a trial run finds them and reports errors
    dtype    "same": floating inputs must share one dtype (MXNet promotes nothing); "any": no check
    storage  (attrs, storage types) -> those of the outputs, for an operator on arrays of any storage
    differentiable  does a gradient pass through it? Bound graphs are checked by this
    plain    a faster function for calls with default attributes that are neither recorded nor traced; it may return
             None to decline a call
    quick    attrs -> such a function for these attributes, or None; called once per set of attributes. Its results
             share no memory with the inputs; for a variadic operator it takes the inputs as one list
    """

    def __init__(
        self,
        names: tuple[str, ...],
        fn: Callable[..., Any],
        *,
        inputs: Callable[[Attrs], tuple[str, ...]] | None,
        outputs: int | tuple[str, ...] | Callable[[Attrs], int | tuple[str, ...]],
        visible: int | Callable[[Attrs], int] | None,
        aux: tuple[str, ...] | Callable[[Attrs], tuple[str, ...]],
        mutates: tuple[str, ...],
        count: str,
        fill: Callable[..., Any] | None,
        fill_types: Callable[..., Any] | None,
        shape: str | Callable[..., Any] | None,
        dtype: str,
        storage: Callable[..., Any] | None,
        differentiable: bool,
        plain: Callable[..., Any] | None,
        quick: Callable[..., Any] | None,
        module: str,
    ) -> None:
        self.name, self.names, self.fn, self.module = names[0], names, fn, module
        self.inputs_of, self.outputs, self.visible = inputs, outputs, visible
        self.aux, self.mutates, self.count = aux, mutates, count
        self.fill, self.fill_types, self.shape, self.dtype = fill, fill_types, shape, dtype
        self.storage, self.differentiable, self.plain, self.quick = storage, differentiable, plain, quick
        self.inputs: tuple[str, ...] = ()
        self.optional: frozenset[str] = frozenset()
        self.variadic: str | None = None
        self.attrs: dict[str, Attr] = {}
        self.injected: tuple[str, ...] = ()
        self.free = False
        self._read_signature()
        self.defaults = {a.name: a.default for a in self.attrs.values() if not a.required}

    @property
    def doc(self) -> str:
        """The function's docstring."""
        return inspect.getdoc(self.fn) or ""

    def words(self) -> tuple[str, dict[str, str], str]:
        """What the operator computes, the meaning of each parameter (and of `returns`), and an example.

        Meanings come from the `Parameters` section of the function's docstring, then from `_ops/words`.
        """
        from . import words

        about, _, section = self.doc.partition("\n\nParameters\n----------\n")
        shared, example = words.of_operator(self.module, self.name)
        meanings: dict[str, str] = {}
        name = ""
        for line in section.splitlines():
            if line.startswith("    "):
                meanings[name] = f"{meanings.get(name, '')} {line.strip()}".strip()
            else:
                name = line.strip()
        return about, {**shared, **meanings}, example

    def _read_signature(self) -> None:
        """Read straight from the code object: `inspect.signature` would double the time of the first import."""
        function = self.fn
        code: Any = function.__code__
        names, plain, keyword = code.co_varnames, code.co_argcount, code.co_kwonlyargcount
        optional = len(function.__defaults__ or ())
        defaults: dict[str, Any] = function.__kwdefaults__ or {}
        self.inputs, self.optional = tuple(names[:plain]), frozenset(names[plain - optional : plain])
        only = names[plain : plain + keyword]
        self.injected = tuple(n for n in only if n in INJECTED)
        for name in only:
            if name not in INJECTED:
                required = name not in defaults
                self.attrs[name] = attribute(name, function.__annotations__[name], defaults.get(name), required)
        rest = plain + keyword
        if code.co_flags & inspect.CO_VARARGS:
            self.variadic = names[rest]
        self.free = bool(code.co_flags & inspect.CO_VARKEYWORDS)

    def parse(self, given: Attrs) -> Attrs:
        """Typed attributes out of what a user or a file gave; attributes that were not given are left out."""
        parsed: Attrs = {}
        for key, value in given.items():
            attr = self.attrs.get(key)
            if attr is not None:
                parsed[key] = attr.parse(value, self.name)
            elif self.free:
                parsed[key] = text(value)
            elif self.attrs and not (key.startswith("__") and key.endswith("__")):
                raise MXNetError(self.unknown(key))  # an operator without attributes ignores what it is given
        for attr in self.attrs.values():
            if attr.required and attr.name not in parsed and attr.name != self.count:
                raise MXNetError(
                    f"Required parameter {attr.name} of {attr.kind} is not presented, in operator {self.name}"
                )
        return parsed

    def unknown(self, key: str) -> str:
        _, meanings, _ = self.words()
        possible = "\n".join(described(a.describe(), meanings.get(a.name)) for a in self.attrs.values())
        near = get_close_matches(key, [*self.attrs, *self.inputs], 1)
        hint = f". Did you mean {near[0]}?" if near else ""
        return (
            f"Cannot find argument '{key}', Possible Arguments:\n----------------\n{possible}\n"
            f", in operator {self.name}{hint}"
        )

    def full(self, parsed: Attrs) -> Attrs:
        """Parsed attributes with the defaults filled in."""
        return {**self.defaults, **parsed}

    def input_names(self, parsed: Attrs, given: int = 0) -> tuple[str, ...]:
        """The inputs this call has; `given` counts the inputs of a variadic operator."""
        if self.inputs_of is not None:
            return self.inputs_of(self.full(parsed))
        if self.variadic is not None:
            number = parsed.get(self.count, given) or given
            return self.inputs + tuple(f"arg{i}" for i in range(number - len(self.inputs)))
        return self.inputs

    def aux_names(self, parsed: Attrs) -> tuple[str, ...]:
        """The inputs that are auxiliary states."""
        return self.aux(self.full(parsed)) if callable(self.aux) else self.aux

    def output_names(self, parsed: Attrs) -> tuple[str, ...]:
        outputs = self.outputs(self.full(parsed)) if callable(self.outputs) else self.outputs
        if isinstance(outputs, tuple):
            return outputs
        return ("output",) if outputs == 1 else tuple(f"output{i}" for i in range(outputs))

    def visible_outputs(self, parsed: Attrs) -> int:
        """How many of the outputs a caller sees (BatchNorm hides its mean and variance)."""
        if self.visible is None:
            return len(self.output_names(parsed))
        return self.visible(self.full(parsed)) if callable(self.visible) else self.visible

    def __repr__(self) -> str:
        return f"<operator {self.name}>"


def op(
    *names: str,
    inputs: Callable[[Attrs], tuple[str, ...]] | None = None,
    outputs: int | tuple[str, ...] | Callable[[Attrs], int | tuple[str, ...]] = 1,
    visible: int | Callable[[Attrs], int] | None = None,
    aux: tuple[str, ...] | Callable[[Attrs], tuple[str, ...]] = (),
    mutates: tuple[str, ...] = (),
    count: str = "num_args",
    fill: Callable[..., Any] | None = None,
    fill_types: Callable[..., Any] | None = None,
    shape: str | Callable[..., Any] | None = None,
    dtype: str = "same",
    storage: Callable[..., Any] | None = None,
    differentiable: bool = True,
    plain: Callable[..., Any] | None = None,
    quick: Callable[..., Any] | None = None,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register the decorated function under `names`, the first being MXNet's own, the others its aliases.

    The keyword arguments are the declarations that `Op` documents.
    """

    caller: str = sys._getframe(1).f_globals["__name__"]  # pyright: ignore[reportPrivateUsage]

    def register(fn: Callable[..., Any]) -> Callable[..., Any]:
        operator = Op(
            names,
            fn,
            inputs=inputs,
            outputs=outputs,
            visible=visible,
            aux=aux,
            mutates=mutates,
            count=count,
            fill=fill,
            fill_types=fill_types,
            shape=shape,
            dtype=dtype,
            storage=storage,
            differentiable=differentiable,
            plain=plain,
            quick=quick,
            module=caller.partition("._ops.")[2],
        )
        _add(operator)
        return fn

    return register


def _add(operator: Op) -> None:
    for name in operator.names:
        if name in REGISTRY:
            raise ValueError(f"operator {name} is registered twice")
        REGISTRY[name] = operator


def find(name: str) -> Op:
    """The operator of that name; its module is imported if it was not yet."""
    operator = lookup(name)
    if operator is None:
        raise MXNetError(f"Operator {name} is not registered")
    return operator


def lookup(name: str) -> Op | None:
    """The operator of that name, if there is one."""
    if name not in REGISTRY:
        from . import discovery

        discovery.load(name)
    return REGISTRY.get(name)


def known(name: str) -> bool:
    """Is there an operator of that name? Nothing is loaded for the answer."""
    from . import discovery

    return name in discovery.KNOWN or name in REGISTRY


def names() -> list[str]:
    """Every operator's names, without loading them."""
    from . import discovery

    return sorted({*discovery.KNOWN, *REGISTRY})


def load() -> dict[str, Op]:
    """Import every module of operators; the registry is complete afterwards."""
    from . import discovery

    discovery.load_all()
    return REGISTRY
