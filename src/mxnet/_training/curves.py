"""Curves of a training, drawn by matplotlib: a panel for each quantity, training and validation in one panel."""

import functools
import io
import re

from .._core.extras import load

_ROLES = re.compile(r"^(training|train|validation|valid|val|test)[ _-]+|[ _-]+(training|train|validation|val|test)$")


@functools.cache
def _figure_class():
    need = "Pictures are drawn by matplotlib, which cannot be imported"
    figure = load(need, "plot", "matplotlib.figure", "matplotlib.backends.backend_agg")

    class Picture(figure.Figure):
        """A figure that a notebook shows as the value of a cell, whether pyplot was imported or not."""

        def _repr_png_(self):
            return png(self)

    return Picture


def picture(**options):
    """An empty figure of its own: pyplot neither keeps it nor shows it twice."""
    return _figure_class()(layout="constrained", **options)


def png(figure):
    """The figure as bytes."""
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=100)
    return file.getvalue()


def panels(names):
    """{quantity: names of its curves}, in the order in which they come."""
    found = {}
    for name in names:
        found.setdefault(_ROLES.sub("", name), []).append(name)
    return found


def draw(curves, xlabel="epoch", title=None):
    """A figure of {name: values}."""
    if not curves or not any(len(values) for values in curves.values()):
        raise ValueError("there is nothing to draw yet: curves maps names to one value for each epoch")
    groups = panels(curves)
    figure = picture(figsize=(4.2 * len(groups), 3))
    for place, (quantity, names) in enumerate(groups.items()):
        axes = figure.add_subplot(1, len(groups), place + 1)
        for name in names:
            values = [float(value) for value in curves[name]]
            axes.plot(range(1, len(values) + 1), values, label=name, marker="." if len(values) <= 30 else None)
        axes.set_xlabel(xlabel)
        axes.set_ylabel(quantity)
        axes.grid(alpha=0.3)
        if len(names) > 1:
            axes.legend(frameon=False)
    if title:
        figure.suptitle(title)
    return figure
