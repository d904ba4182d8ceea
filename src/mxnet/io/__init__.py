"""Data iterators: batches from arrays, tables, records and images."""

from . import io, utils
from .io import *
from .io import (
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
