"""One of two processes that meet by a file, where nobody asks for a secret: python impostor.py RANK FILE SECRET."""

import sys
from datetime import timedelta

import torch.distributed as dist

import mxnet as mx
from mxnet.kvstore import gloo

if __name__ == "__main__":
    rank, path, secret = int(sys.argv[1]), sys.argv[2], sys.argv[3].encode()
    with gloo.bound("127.0.0.1"):
        store = dist.FileStore(path, 2)
        dist.init_process_group("gloo", store=store, rank=rank, world_size=2, timeout=timedelta(seconds=60))
    try:
        gloo.check_members(secret)
    except mx.MXNetError as error:
        print(error)
    dist.destroy_process_group()
