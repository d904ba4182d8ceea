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


def docstring(operator: Op) -> str:
    """The operator's description, then its inputs and attributes with their types and meanings."""
    about, meanings = operator.words()
    heads: dict[str, str] = {}
    if operator.variadic is not None:
        heads[operator.variadic] = f"{operator.variadic} : any number of arrays"
    for name in operator.inputs:
        heads[name] = f"{name} : array" + (", optional" if name in operator.optional else "")
    heads.update({attr.name: attr.describe() for attr in operator.attrs.values()})
    lines = [about or f"Operator {operator.name}.", "", "Parameters", "----------"]
    lines += [described(head, meanings.get(name)) for name, head in heads.items()]
    if len(operator.names) > 1:
        lines += ["", f"Also known as {', '.join(operator.names[1:])}."]
    return "\n".join(lines)


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
