"""Saved networks for the commands."""

import pytest

from mxnet import nd
from mxnet.gluon import nn


@pytest.fixture
def save_network(tmp_path):
    """A function that saves a network with a convolution and moving statistics, for 8 x 8 images; its prefix."""

    def save(channels, epoch):
        net = nn.HybridSequential(prefix="net_")
        with net.name_scope():
            net.add(nn.Conv2D(4, 3), nn.BatchNorm(), nn.Flatten(), nn.Dense(10))
        net.initialize()
        net.hybridize()
        net(nd.ones((1, channels, 8, 8)))
        net.export(str(tmp_path / "net"), epoch=epoch)
        return str(tmp_path / "net")

    return save
