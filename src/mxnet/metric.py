"""mx.metric: running numbers over batches of labels and predictions."""

from . import ndarray  # noqa: F401 - MXNet shows it here, and GluonTS sums losses with it
from ._metrics.base import EvalMetric, alias, check_label_shapes, register
from ._metrics.classification import (
    F1,
    MCC,
    PCC,
    Accuracy,
    CrossEntropy,
    NegativeLogLikelihood,
    Perplexity,
    TopKAccuracy,
    _BinaryClassificationMetrics,
)
from ._metrics.compound import CompositeEvalMetric, CustomMetric, create, np
from ._metrics.regression import MAE, MSE, RMSE, Caffe, Loss, PearsonCorrelation, Torch

__all__ = [
    "Accuracy",
    "Caffe",
    "CompositeEvalMetric",
    "CrossEntropy",
    "CustomMetric",
    "EvalMetric",
    "F1",
    "Loss",
    "MAE",
    "MCC",
    "MSE",
    "NegativeLogLikelihood",
    "PCC",
    "PearsonCorrelation",
    "Perplexity",
    "RMSE",
    "TopKAccuracy",
    "Torch",
    "_BinaryClassificationMetrics",
    "alias",
    "check_label_shapes",
    "create",
    "np",
    "register",
]

# Programs and pickles know the classes by this module's name.
for _name in __all__:
    if isinstance(globals()[_name], type):
        globals()[_name].__module__ = __name__
