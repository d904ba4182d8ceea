"""A few training steps, and all that they change."""

from mxnet import autograd, gluon


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
