"""States that one batch hands to the next: after a backward they are constants."""

import numpy as np
import pytest

from mxnet import autograd, gluon, nd
from mxnet.gluon import nn, rnn


class Characters(nn.Block):
    def __init__(self, layer):
        super().__init__()
        self.layer, self.dense = layer, nn.Dense(5)

    def forward(self, x, state):
        output, state = self.layer(nd.one_hot(x.T, 5), state)
        return self.dense(output.reshape((-1, output.shape[-1]))), state


@pytest.mark.parametrize("kind", [rnn.RNN, rnn.LSTM, rnn.GRU])
def test_states_go_on_without_their_history(kind):
    layer = kind(8)
    model = Characters(layer)
    model.initialize()
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
    assert np.all(np.diff(losses) < -0.005)


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
