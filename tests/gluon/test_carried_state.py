"""States that one batch hands to the next: after a backward they are constants."""

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.gluon import nn, rnn

LOSSES = {  # of MXNet 1.9.1, seed 7
    rnn.RNN: [2.4039593, 2.2945652, 1.7502168, 1.6378326],
    rnn.LSTM: [1.6250499, 1.6121587, 1.6004314, 1.5897493],
    rnn.GRU: [1.5196337, 1.4997550, 1.4806814, 1.4629132],
}


class Characters(nn.Block):
    def __init__(self, layer):
        super().__init__()
        self.layer, self.dense = layer, nn.Dense(5)

    def forward(self, x, state):
        output, state = self.layer(nd.one_hot(x.T, 5), state)
        return self.dense(output.reshape((-1, output.shape[-1]))), state


@pytest.mark.parametrize("kind", LOSSES)
def test_states_go_on_without_their_history(kind):
    mx.random.seed(7)
    layer = kind(8)
    model = Characters(layer)
    model.initialize(mx.init.Xavier())
    trainer = gluon.Trainer(model.collect_params(), "sgd", {"learning_rate": 0.1})
    loss_of, x, losses = gluon.loss.SoftmaxCrossEntropyLoss(), nd.array([[1, 2, 3], [2, 3, 4]]), []
    state = layer.begin_state(batch_size=2)
    for _ in range(4):
        with autograd.record():
            output, state = model(x, state)
            loss = loss_of(output, x.T.reshape((-1,))).mean()
        loss.backward()
        trainer.step(1)
        losses.append(loss.asscalar())
    np.testing.assert_allclose(losses, LOSSES[kind], rtol=1e-5)


def test_a_result_beside_the_way_to_the_loss():  # MXNet stops here: "The any container is empty"
    x = nd.ones(3)
    x.attach_grad()
    with autograd.record():
        inner = x * 2
        beside = inner.reshape((3, 1)) + 1  # made from what the backward below frees
        loss = inner.sum()
    loss.backward()
    with autograd.record():
        again = (beside.reshape((3,)) * x).sum()
    again.backward()
    assert x.grad.asnumpy().tolist() == [3, 3, 3]
