"""A few training steps, and all that they change."""

import mxnet as mx
from mxnet import autograd, gluon, nd


def learn(net, x, steps=2):
    """Outputs, gradients and statistics of some steps."""
    x.attach_grad()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.01, "momentum": 0.9})
    seen = []
    for _ in range(steps):
        with autograd.record():
            out = net(x)
            loss = (out**2).mean()
        loss.backward()
        parameters = net.collect_params().values()
        seen += [out.asnumpy(), x.grad.asnumpy(), *(p.grad().asnumpy() for p in parameters if p.grad_req != "null")]
        trainer.step(4)
        seen += [p.data().asnumpy() for p in parameters]
    return seen


def learn_sequences(kind, hybrid):
    """What a recurrent layer of two directions gives in training and in a prediction, and its gradients."""
    mx.random.seed(4)
    net = getattr(gluon.rnn, kind)(32, num_layers=2, bidirectional=True, input_size=12)
    net.initialize(mx.init.Xavier())
    if hybrid:
        net.hybridize()
    data = nd.random.normal(shape=(6, 8, 12))
    data.attach_grad()
    with autograd.record():
        output, states = net(data, net.begin_state(8))
        loss = (output * output).sum() + states[-1].sum()
    loss.backward()
    prediction = net(data, net.begin_state(8))[0]
    return [output, *states, prediction, data.grad, *(p.grad() for p in net.collect_params().values())]
