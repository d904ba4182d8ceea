"""The handler that updates parameters: after each batch or several, with gradients of a bounded norm if asked."""

from ...utils import clip_global_norm
from .event_handler import BatchEnd, EpochEnd, TrainBegin, TrainEnd

__all__ = ["GradientUpdateHandler"]


class GradientUpdateHandler(TrainBegin, BatchEnd, EpochEnd, TrainEnd):
    """Updates the parameters after each batch, before everything else.

    Parameters
    ----------
    priority : int
        Handlers run in ascending order of it.
    accumulate : int
        Number of batches whose gradients are summed up before one update; the last ones of an epoch may be fewer. The
        update is that of one batch of all their samples, but for layers such as BatchNorm that look at whole batches.
    clip_norm : float or None
        Largest L2 norm of all gradients together, averaged over the samples; longer ones are scaled down to it.
        On several devices the trainer must be made with `update_on_kvstore=False`.

    Examples
    --------
    >>> from mxnet.gluon.contrib.estimator import Estimator, GradientUpdateHandler
    >>> net = mx.gluon.nn.Dense(1)
    >>> net.initialize(mx.init.Zero())
    >>> trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 1.0})
    >>> est = Estimator(net, mx.gluon.loss.L2Loss(), mx.metric.MSE(), trainer=trainer)
    >>> est.logger.setLevel("ERROR")
    >>> data = mx.gluon.data.DataLoader(mx.gluon.data.ArrayDataset(mx.nd.ones((4, 1)), 4 * mx.nd.ones((4, 1))), 2)
    >>> est.fit(data, epochs=1, event_handlers=[GradientUpdateHandler(accumulate=2, clip_norm=1.0)])
    >>> print(round(net.bias.data().asscalar(), 4))  # one step, of length 1 in both parameters together
    0.7071
    """

    def __init__(self, priority=-2000, accumulate=1, clip_norm=None):
        if accumulate < 1 or int(accumulate) != accumulate:
            raise ValueError(f"accumulate must be a whole number of batches from 1 on, got {accumulate}")
        if clip_norm is not None and not clip_norm > 0:
            raise ValueError(f"clip_norm must be positive, or None for gradients as they are, got {clip_norm}")
        self.priority, self.accumulate, self.clip_norm = priority, int(accumulate), clip_norm
        self._samples = self._batches = 0
        self._changed = []

    def state_dict(self):
        """How many batches wait for their update, and the sums of their gradients."""
        waiting = [[grad.copy() for grad in parameter.list_grad()] for parameter in self._changed if self._batches]
        return {"samples": self._samples, "batches": self._batches, "gradients": waiting}

    def load_state_dict(self, state):
        """Continue from what `state_dict` returned."""
        self._samples, self._batches = state.get("samples", 0), state.get("batches", 0)
        for parameter, kept in zip(self._changed, state.get("gradients", ()), strict=False):
            for grad, value in zip(parameter.list_grad(), kept, strict=True):
                grad[:] = value

    def train_begin(self, estimator, *args, **kwargs):
        """Let gradients add up, if several batches make one update."""
        self._samples = self._batches = 0
        if self.accumulate > 1:
            parameters = estimator.net.collect_params().values()
            self._changed = [parameter for parameter in parameters if parameter.grad_req == "write"]
            self._set_request("add")
            self._clear_gradients()

    def batch_end(self, estimator, *args, **kwargs):
        """One step of the trainer, by the number of samples, if enough batches are together."""
        loss = kwargs["loss"]
        parts = loss if isinstance(loss, list) else [loss]
        self._samples += sum(part.shape[0] for part in parts)
        self._batches += 1
        if self._batches == self.accumulate:
            self._update(estimator)

    def epoch_end(self, estimator, *args, **kwargs):
        """The last batches of an epoch may be fewer."""
        if self._batches:
            self._update(estimator)

    def train_end(self, estimator, *args, **kwargs):
        """Gradients are written again, as before."""
        self._set_request("write")
        self._changed = []

    def _update(self, estimator):
        samples, self._samples, self._batches = self._samples, 0, 0
        if self.clip_norm is None:
            estimator.trainer.step(samples)
        else:
            self._clipped_step(estimator, samples)
        self._clear_gradients()

    def _clipped_step(self, estimator, samples):
        """The trainer divides by the number of samples, so the bound is multiplied by it."""
        trainer, bound = estimator.trainer, self.clip_norm * samples
        if len(estimator.context) > 1:
            trainer.allreduce_grads()
        for context in estimator.context:
            parameters = estimator.net.collect_params().values()
            clip_global_norm([p.grad(context) for p in parameters if p.grad_req != "null"], bound)
        if len(estimator.context) > 1:
            trainer.update(samples)
        else:
            trainer.step(samples)

    def _set_request(self, request):
        for parameter in self._changed:
            parameter.grad_req = request

    def _clear_gradients(self):
        for parameter in self._changed:
            if parameter._grad is not None:
                parameter.zero_grad()
