"""The errors that programs for Horovod catch."""

from mxnet.base import MXNetError


class HorovodInternalError(MXNetError):
    """A collective operation failed, because another process has died or left."""
