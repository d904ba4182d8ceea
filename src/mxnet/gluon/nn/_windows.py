"""What convolutions and poolings share: sizes of windows, and the paragraphs of their docstrings."""

from ...base import numeric_types


def repeated(value, times):
    """`value` once for every dimension if it is a number, else itself."""
    return (value,) * times if isinstance(value, numeric_types) else value


def sized(value, dimensions, name):
    value = repeated(value, dimensions)
    assert len(value) == dimensions, f"{name} must be a number or a list of {dimensions} ints"
    return value


def layouts(dimensions):
    """The layouts of that many dimensions: channels first, channels last."""
    spatial = "DHW"[-dimensions:]
    return "NC" + spatial, f"N{spatial}C"


LENGTH = "floor((size + 2 * padding - {}) / stride) + 1"


def describe(classes, text):
    """Add what they have in common to each docstring, before the examples; `python -OO` has no docstrings."""
    for each in classes:
        each.__doc__ = each.__doc__ and each.__doc__.replace("\n    Examples\n", f"{text}    Examples\n", 1)
