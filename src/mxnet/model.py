"""mx.model: checkpoints, `FeedForward`, and the helpers that training interfaces share."""

from ._feed_forward import BASE_ESTIMATOR, FeedForward
from ._feed_forward import train_multi_device as _train_multi_device
from ._training.checkpoint import BatchEndParam, latest_checkpoint, load_checkpoint, load_params, save_checkpoint
from ._training.progress import load_progress, save_progress
from ._training.updates import call_all as _multiple_callbacks
from ._training.updates import create_kvstore as _create_kvstore
from ._training.updates import create_sparse_kvstore as _create_sparse_kvstore
from ._training.updates import initialize_kvstore as _initialize_kvstore
from ._training.updates import update_params as _update_params
from ._training.updates import update_params_on_kvstore as _update_params_on_kvstore
from .callback import LogValidationMetricsCallback
from .context import Context, cpu
from .executor_manager import DataParallelExecutorManager
from .initializer import Uniform
from .io import DataDesc
from .optimizer import get_updater

__all__ = [
    "BASE_ESTIMATOR",
    "BatchEndParam",
    "Context",
    "DataDesc",
    "DataParallelExecutorManager",
    "FeedForward",
    "LogValidationMetricsCallback",
    "Uniform",
    "_create_kvstore",
    "_create_sparse_kvstore",
    "_initialize_kvstore",
    "_multiple_callbacks",
    "_train_multi_device",
    "_update_params",
    "_update_params_on_kvstore",
    "cpu",
    "get_updater",
    "latest_checkpoint",
    "load_checkpoint",
    "load_params",
    "load_progress",
    "save_checkpoint",
    "save_progress",
]
