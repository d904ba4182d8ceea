"""Print what MXNet 1.9.1 does where tests hold its answers as literals: run it with MXNet's own interpreter.

The answers are in tests/symbol/test_head_gradients.py, tests/symbol/test_fixed_gamma.py and
tests/training/test_overridden_updates.py.
"""

import itertools

import numpy as np

import mxnet as mx
from mxnet import optimizer as opt

S = mx.sym


def head_gradients():
    """The gradient of SoftmaxOutput with operators behind it, and without head gradients."""
    loss = S.SoftmaxOutput(S.var("x"), S.var("l"))
    for name, symbol in {"loss": loss, "transpose": S.transpose(loss), "mean": S.mean(loss), "x + 1": loss + 1}.items():
        data = mx.nd.array(np.arange(8).reshape(2, 4) / 10)
        gradient = mx.nd.zeros((2, 4))
        executor = symbol.bind(mx.cpu(), {"x": data, "l": mx.nd.array([1, 3])}, {"x": gradient})
        executor.forward(is_train=True)
        executor.backward()
        print("head gradients", name, gradient.asnumpy().round(4).tolist())


def fixed_gamma():
    """The stored gamma after a forward pass, by what is wanted of data, gamma and beta."""
    norm = S.BatchNorm(S.var("data"), name="bn", fix_gamma=True)
    for requests in itertools.product(["null", "write"], repeat=3):
        wanted = dict(zip(["data", "bn_gamma", "bn_beta"], requests, strict=True))
        executor = norm.simple_bind(mx.cpu(), data=(2, 3, 4, 4), grad_req=wanted)
        executor.arg_dict["bn_gamma"][:] = 2
        executor.forward(is_train=True)
        mx.nd.waitall()  # gamma is written behind the engine's back: to read it earlier is a race
        print("fixed gamma", requests, executor.arg_dict["bn_gamma"].asnumpy().tolist())


def overridden_updates():
    """Which methods of derived optimizers are called for two parameters."""
    for name in ("SGD", "NAG", "LARS", "LAMB", "Adam", "RMSProp", "AdaGrad", "Ftrl"):
        for method in ("update", "update_multi_precision"):
            calls = []
            note = {method: lambda self, index, *rest, calls=calls: calls.append(index)}
            optimizer = type("Derived", (getattr(opt, name),), note)(learning_rate=0.1)
            opt.get_updater(optimizer)([0, 1], [mx.nd.ones((2,))] * 2, [mx.nd.ones((2,)) for _ in range(2)])
            print("overridden", name, method, calls)


if __name__ == "__main__":
    head_gradients()
    fixed_gamma()
    overridden_updates()
