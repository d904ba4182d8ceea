"""Signatures, docstrings and namespaces of the functions generated from operators (`mx.nd.X`, `mx.sym.X`)."""

from collections.abc import Callable

from . import registry
from .registry import Op, described

# general operators that MXNet also lists in `nd.sparse` and `sym.sparse`
SPARSE = (
    "ElementWiseSum Embedding FullyConnected LinearRegressionOutput LogisticRegressionOutput MAERegressionOutput abs "
    "adam_update add_n arccos arccosh arcsin arcsinh arctan arctanh broadcast_add broadcast_div broadcast_minus "
    "broadcast_mul broadcast_plus broadcast_sub cast_storage cbrt ceil clip concat cos cosh degrees dot elemwise_add "
    "elemwise_div elemwise_mul elemwise_sub exp expm1 fix floor ftrl_update gamma gammaln log log10 log1p log2 "
    "make_loss mean negative norm radians relu rint round rsqrt sgd_mom_update sgd_update sigmoid sign sin sinh slice "
    "sqrt square stop_gradient sum tan tanh trunc where zeros_like"
).split()


def parameters(operator: Op, tail: str) -> str:
    """The parameter list of the generated function: inputs, then attributes, then `tail`."""
    if operator.variadic is not None:
        return f"*{operator.variadic}, **kwargs"
    parts = [f"{name}=None" for name in operator.inputs]
    parts += [f"{name}=_Null" for name in operator.attrs]
    return ", ".join([*parts, tail, "**kwargs"])


# The parameters that every generated function has beside its operator's.
TAILS = {
    "nd": "out : NDArray or list of NDArrays, optional\n    The array to write the result to.",
    "sym": "name : str, optional\n    The name of the new node.\n"
    "attr : dict of str to str, optional\n    Attributes of the node.",
}


def docstring(operator: Op, face: str = "nd") -> str:
    """What the operator computes, its inputs and attributes with types and meanings, its result, and an example."""
    about, meanings, example = operator.words()
    heads: dict[str, str] = {}
    for name in operator.inputs:
        heads[name] = f"{name} : array" + (", optional" if name in operator.optional else "")
    if operator.variadic is not None:
        heads[operator.variadic] = f"*{operator.variadic} : any number of arrays"
    heads.update({attr.name: attr.describe() for attr in operator.attrs.values()})
    lines = [about or f"Operator {operator.name}.", "", "Parameters", "----------"]
    lines += [described(head, meanings.get(name)) for name, head in heads.items()]
    lines += [
        TAILS[face],
        "",
        "Returns",
        "-------",
        described("out : array", meanings.get("returns") or _result(operator)),
    ]
    if len(operator.names) > 1:
        lines += ["", "Notes", "-----", f"Also known as {', '.join(operator.names[1:])}."]
    if example:
        lines += ["", "Examples", "--------", example]
    return "\n".join(lines)


def _result(operator: Op) -> str:
    if isinstance(operator.outputs, tuple):
        return f"Several arrays: {', '.join(operator.outputs)}."
    rules = {"same": "The result, of the shape of the first input.", "broadcast": "The result, of the broadcast shape."}
    return rules.get(operator.shape, "The result.") if isinstance(operator.shape, str) else "The result."


def listed_inputs(operator: Op, shown: list[str]) -> str:
    """The inputs of a call that failed, a line for each: name, what was given, first sentence of the meaning."""
    meanings = {name: f"{text.removesuffix('.').partition('. ')[0]}." for name, text in operator.words()[1].items()}
    names = [*operator.inputs, *[f"{operator.variadic}[{i}]" for i in range(len(shown) - len(operator.inputs))]]
    pairs = zip(names, shown, strict=False)
    lines = (f"    {name}: {given}. {meanings.get(name.partition('[')[0], '')}".rstrip() for name, given in pairs)
    return "\nInputs:\n" + "\n".join(lines) if shown else ""


def namespace(name: str) -> tuple[str, str]:
    """The namespace in which MXNet exposes an operator: (sub-namespace, name in it)."""
    for prefix in ("_contrib_", "_linalg_", "_image_", "_sparse_", "_random_"):
        if name.startswith(prefix):
            return prefix.strip("_"), name[len(prefix) :]
    return ("_internal", name) if name.startswith("_") else ("op", name)


def names_in_namespace(space: str, home: Callable[[str], tuple[str, str]] = namespace) -> dict[str, str]:
    """Names in a sub-namespace (`op`, `contrib`, `linalg`, …), with the operators behind them."""
    found = {name: name for name in SPARSE} if space == "sparse" else {}
    for name in registry.names():
        where, short = home(name)
        if where == space:
            found[short] = name
    return found
