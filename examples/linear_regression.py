"""Linear regression in two ways: with arrays and gradients, then with Gluon's layer, loss and trainer.

Both find the weights 2 and -3.4 and the bias 4.2 to two digits.
"""

import common

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.gluon import nn

WEIGHT, BIAS = nd.array([[2.0], [-3.4]]), 4.2


def made(count):
    """Return points on a plane with a little noise."""
    x = nd.random.normal(shape=(count, 2))
    return x, nd.dot(x, WEIGHT) + BIAS + nd.random.normal(scale=0.01, shape=(count, 1))


def by_hand(loader, epochs, rate=0.03):
    """Minimize the squared error over two parameters by gradient descent."""
    weight, bias = nd.random.normal(scale=0.01, shape=(2, 1)), nd.zeros((1,))
    for parameter in (weight, bias):
        parameter.attach_grad()
    for epoch in range(epochs):
        for x, y in loader:
            with autograd.record():
                loss = ((nd.dot(x, weight) + bias - y) ** 2 / 2).sum()
            loss.backward()
            for parameter in (weight, bias):
                parameter -= rate * parameter.grad / len(x)
        print(f"by hand, epoch {epoch + 1}: loss of the last batch {loss.asscalar() / len(x):.6f}")
    return weight, bias


def by_gluon(loader, epochs):
    """Do the same with a dense layer, a loss and a trainer."""
    net = nn.Dense(1)
    net.initialize(mx.init.Normal(0.01))
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.03})
    loss_of = gluon.loss.L2Loss()
    for epoch in range(epochs):
        for x, y in loader:
            with autograd.record():
                loss = loss_of(net(x), y)
            loss.backward()
            trainer.step(len(x))
        print(f"by Gluon, epoch {epoch + 1}: loss of the last batch {loss.mean().asscalar():.6f}")
    return net.weight.data().T, net.bias.data()


def main(arguments=None):
    chosen = common.options(__doc__, arguments, epochs=(3, 3), examples=(1000, 600))
    loader = gluon.data.DataLoader(gluon.data.ArrayDataset(*made(chosen.examples)), 10, shuffle=True)
    found = {"by hand": by_hand(loader, chosen.epochs), "by Gluon": by_gluon(loader, chosen.epochs)}
    for name, (weight, bias) in found.items():
        print(f"{name}: weight {weight.asnumpy().ravel()}, bias {bias.asnumpy()}; true: [2, -3.4], 4.2")
    return found


if __name__ == "__main__":
    main()
