"""Data iterators: batches from arrays, tables, records and images."""

from . import io, utils  # noqa: F401
from .io import *  # noqa: F403
from .io import (  # noqa: F401
    CSVIter,
    ImageDetRecordIter,
    ImageRecordInt8Iter,
    ImageRecordIter,
    ImageRecordIter_v1,
    ImageRecordUInt8Iter,
    ImageRecordUInt8Iter_v1,
    LibSVMIter,
    MNISTIter,
)
