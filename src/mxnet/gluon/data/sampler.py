"""Samplers: iterables of dataset indices."""

import numpy as np

__all__ = ["Sampler", "SequentialSampler", "RandomSampler", "FilterSampler", "BatchSampler"]


class Sampler:
    """An iterable of indices with a length."""

    def __iter__(self):
        raise NotImplementedError

    def __len__(self):
        raise NotImplementedError


class SequentialSampler(Sampler):
    """The indices `start`, `start + 1`, … in order."""

    def __init__(self, length, start=0):
        self._length = length
        self._start = start

    def __iter__(self):
        return iter(range(self._start, self._start + self._length))

    def __len__(self):
        return self._length


class RandomSampler(Sampler):
    """Every index below `length` once, in an order drawn from NumPy's global stream."""

    def __init__(self, length):
        self._length = length

    def __iter__(self):
        order = np.arange(self._length)
        np.random.shuffle(order)
        return iter(order)

    def __len__(self):
        return self._length


class FilterSampler(Sampler):
    """The indices of the samples that `fn` accepts; the dataset is read once, at construction."""

    def __init__(self, fn, dataset):
        self._fn = fn
        self._dataset = dataset
        self._indices = [i for i in range(len(dataset)) if fn(dataset[i])]

    def __iter__(self):
        return iter(self._indices)

    def __len__(self):
        return len(self._indices)


class BatchSampler(Sampler):
    """Groups a sampler's indices into lists of `batch_size`; `last_batch` says what happens to an incomplete one."""

    def __init__(self, sampler, batch_size, last_batch="keep"):
        self._sampler = sampler
        self._batch_size = batch_size
        self._last_batch = last_batch
        self._prev = []

    def __iter__(self):
        batch, self._prev = self._prev, []
        for index in self._sampler:
            batch.append(index)
            if len(batch) == self._batch_size:
                yield batch
                batch = []
        if batch and self._keeps(batch):
            yield batch

    def state_dict(self):
        """The samples that roll over into the next epoch."""
        return {"previous": [int(index) for index in self._prev]}

    def load_state_dict(self, state):
        """Continue from what `state_dict` returned."""
        self._prev = list(state["previous"])

    def _keeps(self, batch):
        if self._last_batch == "rollover":
            self._prev = batch
        elif self._last_batch not in ("keep", "discard"):
            raise self._unknown_mode()
        return self._last_batch == "keep"

    def __len__(self):
        count = len(self._sampler)
        if self._last_batch == "keep":
            return -(-count // self._batch_size)
        if self._last_batch == "discard":
            return count // self._batch_size
        if self._last_batch == "rollover":
            return (len(self._prev) + count) // self._batch_size
        raise self._unknown_mode()

    def _unknown_mode(self):
        return ValueError(f"last_batch must be one of 'keep', 'discard', or 'rollover', but got {self._last_batch}")
