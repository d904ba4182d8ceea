"""One of several processes that train a Gluon block as a torch module under DistributedDataParallel.

python ddp_worker.py RANK WORLD MEETING_FILE RESULT.params
"""

import gc
import sys

import numpy as np
import torch
from torch import distributed
from torch.nn.parallel import DistributedDataParallel

import mxnet as mx
from mxnet import nd
from mxnet.contrib.torch import to_module
from mxnet.gluon import nn


def network():
    """The same weights in every process."""
    mx.random.seed(5)
    net = nn.HybridSequential()
    net.add(nn.Dense(8, activation="tanh", in_units=4), nn.Dense(2, in_units=8))
    net.initialize(mx.init.Xavier())
    return net


def batch(step, size=8):
    return np.random.default_rng(step).normal(size=(size, 4)).astype("float32")


def main(rank, world, meeting, result):
    distributed.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=world)
    net = network()
    module = DistributedDataParallel(to_module(net, nd.array(batch(0))).train())
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
    for step in range(3):
        optimizer.zero_grad()
        part = torch.from_numpy(batch(step)[rank::world])
        module(part).square().sum(1).mean().backward()
        optimizer.step()
    if rank == 0:
        net.save_parameters(result)
    # Gloo's threads end with the group, which the module holds, too. One that still drops its last work while Python
    # ends is killed on its way to the interpreter's lock, and torch aborts the process.
    del module, optimizer
    gc.collect()
    distributed.destroy_process_group()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4])
