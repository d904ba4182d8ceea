"""Checks on the metrics that an estimator and its handlers hold."""

from ....metric import Accuracy, CompositeEvalMetric, EvalMetric
from ...loss import SoftmaxCrossEntropyLoss


def _check_metrics(metrics):
    """A list of metrics from one, several, or a composite."""
    if isinstance(metrics, CompositeEvalMetric):
        return [m for metric in metrics.metrics for m in _check_metrics(metric)]
    if isinstance(metrics, EvalMetric):
        return [metrics]
    metrics = metrics or []
    if not all(isinstance(metric, EvalMetric) for metric in metrics):
        raise ValueError(f"metrics must be a Metric or a list of Metric, refer to mxnet.metric.EvalMetric: {metrics}")
    return metrics


def _check_handler_metric_ref(handler, known_metrics):
    """A handler beside default ones must hold the estimator's own metric objects."""
    for attribute in dir(handler):
        if "metric" in attribute:
            reference = getattr(handler, attribute)
            for metric in reference if isinstance(reference, list) else [reference] if reference else []:
                _check_metric_known(handler, metric, known_metrics)


def _check_metric_known(handler, metric, known_metrics):
    if metric not in known_metrics:
        raise ValueError(
            f"Event handler {type(handler).__name__} refers to a metric instance {metric} outside of the known "
            "training and validation metrics. Please use the metrics from estimator.train_metrics and "
            "estimator.val_metrics instead."
        )


def _suggest_metric_for_loss(loss):
    return Accuracy() if isinstance(loss, SoftmaxCrossEntropyLoss) else None
