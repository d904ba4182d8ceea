"""Data iterators: batches from arrays, tables, records and images."""

from . import io, utils
from .io import *
from .io import (
    CSVIter as CSVIter,
)
from .io import (
    ImageDetRecordIter as ImageDetRecordIter,
)
from .io import (
    ImageRecordInt8Iter as ImageRecordInt8Iter,
)
from .io import (
    ImageRecordIter as ImageRecordIter,
)
from .io import (
    ImageRecordIter_v1 as ImageRecordIter_v1,
)
from .io import (
    ImageRecordUInt8Iter as ImageRecordUInt8Iter,
)
from .io import (
    ImageRecordUInt8Iter_v1 as ImageRecordUInt8Iter_v1,
)
from .io import (
    LibSVMIter as LibSVMIter,
)
from .io import (
    MNISTIter as MNISTIter,
)
from .utils import _getdata_by_idx, _has_instance, _init_data
