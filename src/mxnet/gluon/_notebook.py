"""A network in a notebook: its tree of blocks, which folds, with the parameters counted."""

from html import escape
from math import prod


def _count(block):
    """How many numbers the parameters hold, as far as their shapes are known."""
    shapes = [parameter.shape for parameter in block.collect_params().values()]
    known = [prod(shape) for shape in shapes if shape is not None and all(size > 0 for size in shape)]
    later = " and more after the first batch" if len(known) < len(shapes) else ""
    return f"{sum(known):,} parameters{later}"


def _tree(block, label):
    if not block._children:
        return f"<div style='margin-left:1.2em'>{escape(label + repr(block))}</div>"
    inner = "".join(_tree(child, f"({key}): ") for key, child in block._children.items())
    head = f"{escape(label + type(block).__name__)} <small>{_count(block)}</small>"
    return f"<details open='open' style='margin-left:1.2em'><summary>{head}</summary>{inner}</details>"


def html(block):
    """The tree; a block without children is one line."""
    return f"<div style='font-family:monospace'>{_tree(block, '')}</div>"
