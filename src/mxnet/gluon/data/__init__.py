"""Datasets, samplers and the loader that turns them into batches."""

from . import batchify, vision  # noqa: F401
from .dataloader import *  # noqa: F403
from .dataset import *  # noqa: F403
from .sampler import *  # noqa: F403
