"""What happens to one batch: override it to train in another way."""

from .... import autograd
from ...utils import split_and_load

__all__ = ["BatchProcessor"]


class BatchProcessor:
    """What Estimator does with a batch: forward, loss and backward on every device. Subclass it to change that.

    Examples
    --------
    >>> from mxnet.gluon.contrib.estimator import BatchProcessor
    >>> class Halved(BatchProcessor):
    ...     def fit_batch(self, estimator, batch, batch_axis=0):
    ...         data, label, pred, loss = super().fit_batch(estimator, batch, batch_axis)
    ...         return data, label, pred, [x / 2 for x in loss]
    >>> processor = Halved()
    """

    def __init__(self):
        pass

    def _get_data_and_label(self, batch, ctx, batch_axis=0):
        return tuple(split_and_load(part, ctx_list=ctx, batch_axis=batch_axis) for part in (batch[0], batch[1]))

    def evaluate_batch(self, estimator, val_batch, batch_axis=0):
        """Compute the loss of a validation batch.

        Parameters
        ----------
        estimator : Estimator
            The estimator, which has the network, the loss and the contexts.
        val_batch : tuple of NDArray
            Data and labels, as the loader gives them.
        batch_axis : int, default 0
            The axis of the samples.

        Returns
        -------
        (list, list, list, list)
            Data, labels, predictions and losses, each with an array for every context.

        Examples
        --------
        >>> from mxnet.gluon.contrib.estimator import BatchProcessor, Estimator
        >>> net = mx.gluon.nn.Dense(1, in_units=2)
        >>> estimator = Estimator(net, mx.gluon.loss.L2Loss(), mx.metric.MAE())
        >>> batch = mx.nd.ones((4, 2)), mx.nd.ones((4, 1))
        >>> data, label, pred, loss = BatchProcessor().evaluate_batch(estimator, batch)
        >>> loss[0].shape
        (4,)
        """
        data, label = self._get_data_and_label(val_batch, estimator.context, batch_axis)
        pred = [estimator.val_net(x) for x in data]
        loss = [estimator.val_loss(p, y) for p, y in zip(pred, label, strict=True)]
        return data, label, pred, loss

    def fit_batch(self, estimator, train_batch, batch_axis=0):
        """Compute the loss of a training batch and its gradients; the trainer's step follows.

        Parameters
        ----------
        estimator : Estimator
            The estimator, which has the network, the loss and the contexts.
        train_batch : tuple of NDArray
            Data and labels, as the loader gives them.
        batch_axis : int, default 0
            The axis of the samples.

        Returns
        -------
        (list, list, list, list)
            Data, labels, predictions and losses, each with an array for every context.

        Examples
        --------
        >>> from mxnet.gluon.contrib.estimator import BatchProcessor, Estimator
        >>> net = mx.gluon.nn.Dense(1, in_units=2)
        >>> estimator = Estimator(net, mx.gluon.loss.L2Loss(), mx.metric.MAE())
        >>> batch = mx.nd.ones((4, 2)), mx.nd.ones((4, 1))
        >>> data, label, pred, loss = BatchProcessor().fit_batch(estimator, batch)
        >>> net.weight.grad().shape
        (1, 2)
        """
        data, label = self._get_data_and_label(train_batch, estimator.context, batch_axis)
        with autograd.record():
            pred = [estimator.net(x) for x in data]
            loss = [estimator.loss(p, y) for p, y in zip(pred, label, strict=True)]
        for part in loss:
            part.backward()
        return data, label, pred, loss
