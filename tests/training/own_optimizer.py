"""An optimizer of a program's own, which only the worker that chooses it imports."""

import mxnet as mx


@mx.optimizer.Optimizer.register
class Halving(mx.optimizer.Optimizer):
    """Takes half of the gradient; counts in an attribute of its own."""

    def __init__(self, share=0.5, **settings):
        super().__init__(**settings)
        self.share, self.names = share, {"a": [1, 2]}

    def create_state(self, index, weight):
        return mx.nd.zeros(weight.shape)

    def update(self, index, weight, grad, state):
        state += 1
        weight -= self.share * grad
