"""What training keeps for its backward pass: activations behind batch norms are computed again, not kept."""

import gc
import weakref

import numpy as np
import pytest
import torch
from learning import learn

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet._kernels.norm import fused_norm
from mxnet.gluon import nn

CHANNELS, SIZE, BATCH = 64, 32, 2
ONE = BATCH * CHANNELS * SIZE * SIZE * 4  # bytes of an activation


class Residual(gluon.HybridBlock):
    """A block of a ResNet; with a convolution in its shortcut, or without."""

    def __init__(self, side, **norm):
        super().__init__()
        self.body = nn.HybridSequential()
        self.body.add(nn.Conv2D(CHANNELS, 3, padding=1, use_bias=False), nn.BatchNorm(**norm), nn.Activation("relu"))
        self.body.add(nn.Conv2D(CHANNELS, 1, use_bias=False), nn.BatchNorm(**norm))
        self.side = nn.HybridSequential()
        if side:
            self.side.add(nn.Conv2D(CHANNELS, 1, use_bias=False), nn.BatchNorm(**norm))

    def hybrid_forward(self, F, x):
        return F.relu(self.body(x) + self.side(x))


def network(**norm):
    """A first convolution, with pooling behind it, two blocks and a last convolution."""
    mx.random.seed(7)
    net = nn.HybridSequential()
    net.add(nn.Conv2D(CHANNELS, 3, padding=1, use_bias=False), nn.BatchNorm(**norm), nn.Activation("relu"))
    net.add(nn.MaxPool2D(3, 1, 1), Residual(True, **norm), Residual(False, **norm), nn.Conv2D(8, 1))
    net.initialize(mx.init.Xavier())
    return net


def distance(one, other):
    """Relative to the size, but for gradients that are zero by nature."""
    return np.linalg.norm(one - other) / max(np.linalg.norm(other), 1e-3)


def images(batch=BATCH, seed=8):
    mx.random.seed(seed)
    return nd.random.normal(shape=(batch, 3, SIZE, SIZE))


def recorded(net, x):
    """A loss, and the bytes of large tensors that were saved on the way, each counted once."""
    saved = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        saved[storage.data_ptr()] = tensor.numel() * tensor.element_size()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor), autograd.record():
        loss = (net(x) ** 2).mean()
    return loss, sum(size for size in saved.values() if size >= ONE)


def test_inputs_of_batch_norms_are_kept_and_nothing_that_follows_from_them():
    net, x = network(), images()
    net.hybridize()
    net(x)
    _, kept = recorded(net, x)
    # Convolutions' results before six batch norms; the result of pooling and its places, which are 64 bits wide.
    assert kept == 6 * ONE + ONE + 2 * ONE


@pytest.mark.parametrize("norm", [{}, {"scale": False}, {"center": False}, {"use_global_stats": True}], ids=str)
def test_values_gradients_and_statistics_are_those_of_the_plain_graph(norm):
    """Of some hundred thousand activations one may be so close to zero that rounding decides if `relu` lets it pass.

    That changes a gradient by a thousandth of its size; so not every run has to agree to the last digits.
    """
    first, all_steps = [], []
    for seed in range(5):
        got, want = network(**norm), network(**norm)
        got.hybridize()
        seen = zip(learn(got, images(seed=seed)), learn(want, images(seed=seed)), strict=True)
        distances = [distance(a, b) for a, b in seen]
        first.append(max(distances[: len(distances) // 2]))
        all_steps.append(max(distances))
    assert min(first) < 1e-4 and max(all_steps) < 2e-2


def test_a_graph_that_is_kept_gives_its_gradients_twice():
    net, x = network(), images()
    net.hybridize()
    x.attach_grad()
    with autograd.record():
        loss = (net(x) ** 2).mean()
    loss.backward(retain_graph=True)
    first = x.grad.asnumpy()
    loss.backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), first)
    assert np.abs(first).max() > 0


def test_a_second_derivative():
    results = []
    for active in (False, True):
        net, x = network(), images()
        net.hybridize(active)
        x.attach_grad()
        with autograd.record():
            (slope,) = autograd.grad((net(x) ** 3).mean(), [x], create_graph=True)
            loss = (slope**2).sum()
        loss.backward()
        results.append([x.grad.asnumpy(), net[0].weight.grad().asnumpy(), net[4].body[3].weight.grad().asnumpy()])
    for a, b in zip(*results, strict=True):
        assert np.abs(b).max() > 0
        np.testing.assert_allclose(a, b, rtol=1e-2, atol=1e-3 * np.abs(b).max())


def test_what_was_computed_again_is_freed_with_the_step(monkeypatch):
    made, computed = [], fused_norm._recompute

    def watched(maker):
        value = computed(maker)
        made.append(weakref.ref(value))
        return value

    monkeypatch.setattr(fused_norm, "_recompute", watched)
    net, x = network(), images()
    net.hybridize()
    with autograd.record():
        loss = (net(x) ** 2).mean()
    loss.backward()
    gc.collect()
    assert len(made) == 6 and not any(value() is not None for value in made)  # while the loss is still there


def test_frozen_layers_and_part_of_the_gradients():
    results = []
    for active in (False, True):
        net, x = network(), images()
        net(x)
        net.hybridize(active)
        net[4].collect_params().setattr("grad_req", "null")
        with autograd.record():
            loss = (net(x) ** 2).mean()
        weights = [net[0].weight.data(), net[5].body[3].weight.data()]
        results.append([g.asnumpy() for g in autograd.grad(loss, weights)])
    for a, b in zip(*results, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-5 * np.abs(b).max())


def test_a_view_of_a_gradient_sees_the_next_one():
    """Gradients stay where they are in memory; activations around them can be freed in one piece."""
    x = nd.ones((2, 3, 4))
    x.attach_grad()
    view = x.grad.reshape((6, 4))
    for factor in (2, 3):
        with autograd.record():
            y = (x * factor).sum()
        y.backward()
        np.testing.assert_array_equal(view.asnumpy(), np.full((6, 4), factor))
