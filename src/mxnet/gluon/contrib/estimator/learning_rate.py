"""The learning-rate finder: one short training with a rising rate, after which the network is as before."""

import copy
import itertools

from ...._training.rate_search import LearningRates, check_range, search
from ....base import MXNetError
from ...trainer import Trainer
from .event_handler import copies_of, put_back

__all__ = ["LearningRates", "find_learning_rate"]


def find_learning_rate(estimator, train_data, start=1e-6, end=1.0, steps=100):
    """Train with a rate that rises from `start` to `end`, and suggest a tenth of the one with the smallest loss.

    The loss at a rate is the mean over seven batches around it. Once a running average of the loss is four times its
    best value, the search ends. Parameters, the trainer and its states are the same afterwards, random streams have
    moved on (Smith, 2015).

    Parameters
    ----------
    estimator : Estimator
        Its network, loss and optimizer are used.
    train_data : DataLoader
        Is begun anew if it has fewer batches than `steps`.
    start, end : float
        The range of rates.
    steps : int
        How many rates are tried, one batch each.

    Returns
    -------
    LearningRates
        `rates`, `losses` and `suggestion`.

    Examples
    --------
    >>> from mxnet.gluon.contrib.estimator import Estimator
    >>> mx.random.seed(0)
    >>> net = mx.gluon.nn.Dense(1)
    >>> net.initialize()
    >>> trainer = mx.gluon.Trainer(net.collect_params(), "sgd")
    >>> est = Estimator(net, mx.gluon.loss.L2Loss(), mx.metric.MSE(), trainer=trainer)
    >>> x = mx.nd.random.normal(shape=(64, 3))
    >>> data = mx.gluon.data.DataLoader(mx.gluon.data.ArrayDataset(x, x.sum(axis=1, keepdims=True)), 16)
    >>> found = est.find_learning_rate(data, start=1e-3, end=100.0, steps=50)
    >>> bool(1e-2 < found.suggestion < 2)
    True
    """
    check_range(start, end, steps)
    batches = itertools.chain.from_iterable(itertools.repeat(train_data))
    first = next(iter(train_data), None)
    if first is None:
        raise MXNetError("the data have no batch to try rates on")
    estimator.batch_processor.evaluate_batch(estimator, first, 0)  # parameters of unknown shape get theirs
    before, trainer = copies_of(estimator.net), _other_trainer(estimator)
    try:
        return search(lambda rate: _loss_at(rate, estimator, trainer, next(batches)), start, end, steps)
    finally:
        put_back(estimator.net, before)


def _loss_at(rate, estimator, trainer, batch):
    """The mean loss of a batch, after which a step of this rate is made."""
    trainer.set_learning_rate(rate)
    _, _, _, loss = estimator.batch_processor.fit_batch(estimator, batch, 0)
    trainer.step(sum(part.shape[0] for part in loss))
    return sum(float(part.mean().asscalar()) for part in loss) / len(loss)


def _other_trainer(estimator):
    """A trainer with an optimizer of the same kind and without its states or schedule."""
    optimizer = estimator.trainer.optimizer
    kept = {id(optimizer.param_dict): optimizer.param_dict, id(optimizer.lr_scheduler): None}
    store = "device" if len(estimator.context) > 1 else None  # sums gradients over the devices
    parameters = estimator.net.collect_params()
    return Trainer(parameters, copy.deepcopy(optimizer, kept), kvstore=store, update_on_kvstore=False)
