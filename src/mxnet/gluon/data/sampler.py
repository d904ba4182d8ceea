"""Samplers: the order in which the samples of a dataset are read."""

from itertools import chain, islice

import numpy as np

__all__ = ["Sampler", "SequentialSampler", "RandomSampler", "FilterSampler", "BatchSampler"]


class Sampler:
    """Base of all samplers: an iterable of dataset indices that has a length.

    Subclasses define `__iter__` and `__len__`.

    Examples
    --------
    >>> class EvenSampler(mx.gluon.data.Sampler):
    ...     def __init__(self, length):
    ...         self.indices = range(0, length, 2)
    ...     def __iter__(self):
    ...         return iter(self.indices)
    ...     def __len__(self):
    ...         return len(self.indices)
    >>> list(mx.gluon.data.SimpleDataset("abcde").sample(EvenSampler(5)))
    ['a', 'c', 'e']
    """

    def __len__(self):
        raise NotImplementedError(f"{type(self).__name__} must define __len__, the number of indices")

    def __iter__(self):
        raise NotImplementedError(f"{type(self).__name__} must define __iter__, which yields indices")


class _FixedSampler(Sampler):
    """A sampler whose indices, a sequence, are known when it is made."""

    def __init__(self, indices):
        self._indices = indices

    def __len__(self):
        return len(self._indices)

    def __iter__(self):
        return iter(self._indices)


class SequentialSampler(_FixedSampler):
    """The indices `start`, `start + 1`, … in order.

    Parameters
    ----------
    length : int
        Number of indices.
    start : int
        First index.

    Examples
    --------
    >>> list(mx.gluon.data.SequentialSampler(3, start=5))
    [5, 6, 7]
    """

    def __init__(self, length, start=0):
        super().__init__(range(start, start + length))


class RandomSampler(_FixedSampler):
    """Each index from 0 to `length - 1` once, in another order every time it is iterated.

    The order comes from NumPy's global random state: `np.random.seed` makes it repeatable.

    Parameters
    ----------
    length : int
        Number of indices.

    Examples
    --------
    >>> sampler = mx.gluon.data.RandomSampler(4)
    >>> sorted(int(index) for index in sampler)
    [0, 1, 2, 3]
    """

    def __init__(self, length):
        super().__init__(range(length))

    def __iter__(self):
        return iter(np.random.permutation(len(self)))


class FilterSampler(_FixedSampler):
    """The indices of the samples that a function accepts. The whole dataset is read when the sampler is made.

    Parameters
    ----------
    fn : callable
        Takes a sample and returns whether to keep it.
    dataset : Dataset
        Dataset to select from.

    Examples
    --------
    >>> list(mx.gluon.data.FilterSampler(str.isupper, mx.gluon.data.SimpleDataset("aBcD")))
    [1, 3]
    """

    def __init__(self, fn, dataset):
        super().__init__([index for index in range(len(dataset)) if fn(dataset[index])])
        self._fn, self._dataset = fn, dataset


# For each value of `last_batch`: how many batches `new` samples make after `carried` ones of the epoch before.
_NUMBER_OF_BATCHES = {
    "keep": lambda new, carried, size: -(-new // size),
    "discard": lambda new, carried, size: new // size,
    "rollover": lambda new, carried, size: (carried + new) // size,
}


class BatchSampler(Sampler):
    """Lists of `batch_size` indices, taken from another sampler.

    Parameters
    ----------
    sampler : Sampler
        Sampler of single indices.
    batch_size : int
        Number of indices in a batch.
    last_batch : {"keep", "discard", "rollover"}
        What happens to the indices at the end that do not fill a batch: they are a shorter batch, they are dropped, or
        the next iteration begins with them.

    Examples
    --------
    >>> sampler = mx.gluon.data.BatchSampler(mx.gluon.data.SequentialSampler(5), 2)
    >>> list(sampler), len(sampler)
    ([[0, 1], [2, 3], [4]], 3)
    """

    def __init__(self, sampler, batch_size, last_batch="keep"):
        self._sampler, self._batch_size, self._last_batch = sampler, batch_size, last_batch
        self._prev = []  # the indices that roll over

    def __len__(self):
        return self._rule()(len(self._sampler), len(self._prev), self._batch_size)

    def __iter__(self):
        carried, self._prev = self._prev, []
        indices = chain(carried, self._sampler)
        while batch := list(islice(indices, int(self._batch_size))):
            if len(batch) == self._batch_size or self._keeps(batch):
                yield batch

    def _keeps(self, rest):
        """Whether the incomplete last batch is one; else it rolls over or is dropped."""
        self._rule()
        self._prev = rest if self._last_batch == "rollover" else []
        return self._last_batch == "keep"

    def _rule(self):
        if self._last_batch not in _NUMBER_OF_BATCHES:
            raise ValueError(f"last_batch must be one of {', '.join(_NUMBER_OF_BATCHES)}, got {self._last_batch!r}")
        return _NUMBER_OF_BATCHES[self._last_batch]

    def state_dict(self):
        """The indices that roll over into the next epoch, for `load_state_dict`. Not in MXNet.

        Examples
        --------
        >>> sampler = mx.gluon.data.BatchSampler(mx.gluon.data.SequentialSampler(3), 2, "rollover")
        >>> batches = list(sampler)
        >>> batches, len(sampler.state_dict())
        ([[0, 1]], 1)
        """
        return {"previous": [int(index) for index in self._prev]}

    def load_state_dict(self, state):
        """Continue from what `state_dict` returned. Not in MXNet.

        Parameters
        ----------
        state : dict
            The indices.

        Examples
        --------
        >>> sampler = mx.gluon.data.BatchSampler(mx.gluon.data.SequentialSampler(3), 2, "rollover")
        >>> batches = list(sampler)
        >>> again = mx.gluon.data.BatchSampler(mx.gluon.data.SequentialSampler(3), 2, "rollover")
        >>> again.load_state_dict(sampler.state_dict())
        >>> list(again)
        [[2, 0], [1, 2]]
        """
        self._prev = list(state["previous"])
