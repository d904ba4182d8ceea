"""The call signature that an operator's faces show: inputs first, then attributes, then what the face adds."""

from .registry import Op


def parameters(operator: Op, tail: str) -> str:
    """The text between the parentheses of the generated function."""
    if operator.variadic is not None:
        return f"*{operator.variadic}, **kwargs"
    parts = [f"{name}=None" for name in operator.inputs]
    parts += [f"{name}=_Null" for name in operator.attrs]
    return ", ".join([*parts, tail, "**kwargs"])


def docstring(operator: Op) -> str:
    """The operator's own words, then its inputs and attributes with their types."""
    lines = [operator.doc or f"Operator {operator.name}.", "", "Parameters", "----------"]
    if operator.variadic is not None:
        lines.append(f"{operator.variadic} : any number of arrays")
    lines += [f"{name} : array" + (", optional" if name in operator.optional else "") for name in operator.inputs]
    lines += [attr.describe() for attr in operator.attrs.values()]
    if len(operator.names) > 1:
        lines += ["", f"Also known as {', '.join(operator.names[1:])}."]
    return "\n".join(lines)


def namespace(name: str) -> tuple[str, str]:
    """Where MXNet shows an operator: (sub-namespace, name in it)."""
    for prefix in ("_contrib_", "_linalg_", "_image_", "_sparse_", "_random_"):
        if name.startswith(prefix):
            return prefix.strip("_"), name[len(prefix) :]
    return ("_internal", name) if name.startswith("_") else ("op", name)
