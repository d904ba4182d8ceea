"""Python objects that travel between the processes, signed with the job's secret."""

import hmac
import pickle

import numpy as np

import mxnet as mx
from mxnet._wire import secret
from mxnet._wire.channel import digest
from mxnet.base import MXNetError
from mxnet.kvstore.group import Meeting

from . import basics
from .collectives import allgather, broadcast_

_SIGNED = 32  # bytes of the signature


def _signature(data):
    key = Meeting.secret or secret.of_job()  # a program that has made the process group itself has met nobody here
    return digest(key, b"horovod object", data)


def _packed(obj):
    data = pickle.dumps(obj)
    return _signature(data) + data


def _unpacked(data):
    signature, data = data[:_SIGNED], data[_SIGNED:]
    if not hmac.compare_digest(signature, _signature(data)):
        raise MXNetError("an object came that no member of this job has sent")
    return pickle.loads(data)


def _array(data):
    return mx.nd.array(np.frombuffer(data, np.uint8), dtype="uint8")


def broadcast_object(obj, root_rank=0, name=None):
    """The object of the process `root_rank`; what travels is pickled."""
    if basics.size() == 1:
        return obj
    mine = basics.rank() == root_rank
    data = _packed(obj) if mine else b""
    length = broadcast_(mx.nd.array([len(data)], dtype="int64"), root_rank, name).asnumpy()[0]
    array = _array(data) if mine else mx.nd.zeros(int(length), dtype="uint8")
    broadcast_(array, root_rank, name)
    return obj if mine else _unpacked(array.asnumpy().tobytes())


def allgather_object(obj, name=None):
    """The objects of all processes, by rank; what travels is pickled."""
    if basics.size() == 1:
        return [obj]
    data = _packed(obj)
    lengths = allgather(mx.nd.array([len(data)], dtype="int64"), name).asnumpy()
    together = allgather(_array(data), name).asnumpy().tobytes()
    ends = np.cumsum(lengths)
    return [_unpacked(together[end - length : end]) for end, length in zip(ends, lengths, strict=True)]
