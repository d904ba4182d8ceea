"""The optimizer of `SVRGModule`: weights by any optimizer, full gradients in a key-value store by assignment."""

import inspect

from ... import optimizer as opt

_COMMON = tuple(inspect.signature(opt.Optimizer).parameters)


@opt.register
class _AssignmentOptimizer(opt.Optimizer):
    """Puts the gradient in the weight's place: how a store keeps the full gradients."""

    def update(self, index, weight, grad, state):
        weight[:] = grad


@opt.register
class _SVRGOptimizer(opt.Optimizer):
    """Hands keys whose name says "full" to the assignment, all others to the optimizer the user chose."""

    def __init__(self, default_optimizer, **kwargs):
        super().__init__(**self._check_params(**kwargs))
        self.default_opt = default_optimizer
        if isinstance(default_optimizer, str):
            self.default_opt = opt.create(default_optimizer, **kwargs)
        self.aux_opt = opt.create(_AssignmentOptimizer.__name__)

    @staticmethod
    def _check_params(**kwargs):
        """The options that every optimizer takes."""
        return {name: value for name, value in kwargs.items() if name in _COMMON}

    def update(self, index, weight, grad, state):
        self._chosen(index).update(index, weight, grad, state)

    def create_state(self, index, weight):
        return self._chosen(index).create_state(index, weight)

    def _chosen(self, index):
        return self.aux_opt if "full" in self._check_index(index) else self.default_opt

    def _check_index(self, index):
        """The name of a parameter that is given by index or by name."""
        return index if index in self.idx2name.values() else self.idx2name[index]
