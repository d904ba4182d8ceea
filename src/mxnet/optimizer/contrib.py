"""Optimizers beside the main ones: AdaGrad by rows."""

from .._core.errors import MXNetError
from .._kernels.optimizer import formulas
from .._ops.optimizer import steps
from ..ndarray import NDArray, clip, contrib, mean, sqrt, square, zeros  # noqa: F401 - MXNet shows them here
from .base import Optimizer
from .multi_tensor import MultiTensorOptimizer

__all__ = ["GroupAdaGrad"]

register = Optimizer.register


@register
class GroupAdaGrad(MultiTensorOptimizer):
    """AdaGrad with one learning rate for each row of a matrix: h += mean(g²) of the row; weight -= lr · g / √(h + eps).

    For the matrix of an embedding this keeps one number a row instead of one for each element, and a row-sparse
    gradient updates only the rows of the words that occurred.

    Parameters
    ----------
    eps : float, default 1e-5
        Added inside the root, so that the division is safe.
    **kwargs
        What every optimizer takes: see `Optimizer`. `wd` must be 0.

    Notes
    -----
    Weights must be matrices: use it for the embedding, and another optimizer for the rest of the network.

    Examples
    --------
    >>> update = mx.optimizer.get_updater(mx.optimizer.create("groupadagrad", learning_rate=0.1))
    >>> weight = mx.nd.ones((2, 2))
    >>> update(0, mx.nd.array([[3.0, 4.0], [0.0, 0.0]]), weight)  # the row's root mean square is √12.5
    >>> weight.asnumpy().round(4)
    array([[0.9151, 0.8869],
           [1.    , 1.    ]], dtype=float32)
    """

    _lazy = True

    def __init__(self, eps=1e-5, **kwargs):
        super().__init__(**kwargs)
        self.float_stable_eps = eps

    def create_state(self, index, weight):
        assert len(weight.shape) == 2
        return zeros((weight.shape[0], 1), weight.context, stype=weight.stype)

    def _check_loaded(self):
        if self.wd:
            raise MXNetError(
                f"the GroupAdaGrad in the states has a weight decay of {self.wd}, which it does not support"
            )

    @property
    def _limits(self):
        return {"rescale": self.rescale_grad, "clip": self.clip_gradient}

    def _step(self, weights, grads, states, lrs, wds, indices):
        assert not any(wds), "Weight decay is not supported for GroupAdaGrad"
        steps.step(formulas.group_adagrad, weights, grads, states, (lrs, wds), *self._bounds, self.float_stable_eps)
