"""Datasets, samplers and the loader that turns them into batches."""

from . import batchify, vision
from .dataloader import *
from .dataset import *
from .sampler import *
