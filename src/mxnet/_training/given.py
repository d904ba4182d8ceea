"""What training interfaces are given, as the objects that they work with."""

from .. import metric
from ..io import DataDesc


def as_metric(eval_metric):
    """A metric, made from its name or a function if need be."""
    return eval_metric if isinstance(eval_metric, metric.EvalMetric) else metric.create(eval_metric)


def as_descriptions(shapes):
    """Descriptions of inputs, out of (name, shape) pairs if need be."""
    return [x if isinstance(x, DataDesc) else DataDesc(*x) for x in shapes]
