"""Metrics of a training run as TensorBoard event files."""

from ..base import MXNetError


def _writer(logging_dir):
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        raise MXNetError(
            f"LogMetricsCallback needs the package tensorboard: pip install remx[tensorboard] ({error})"
        ) from error
    return SummaryWriter(logging_dir)


class LogMetricsCallback:
    """A callback for `fit`: writes each metric, under `prefix`-name if there is a prefix, for the epoch."""

    def __init__(self, logging_dir, prefix=None):
        self.prefix = prefix
        self.summary_writer = _writer(logging_dir)

    def __call__(self, param):
        if param.eval_metric is None:
            return
        for name, value in param.eval_metric.get_name_value():
            name = name if self.prefix is None else f"{self.prefix}-{name}"
            self.summary_writer.add_scalar(name, value, global_step=param.epoch)
        # TensorBoard reads the file while the program runs.
        self.summary_writer.flush()
