"""Sampling at intervals, as language models want it."""

from ...data import sampler

__all__ = ["IntervalSampler"]


class IntervalSampler(sampler.Sampler):
    """The indices 0, k, 2k, …, then 1, k + 1, … if `rollover`.

    Parameters
    ----------
    length : int
        The number of indices.
    interval : int
        The distance k.
    rollover : bool, default True
        Whether to go on from 1, 2, … until all indices are given.

    Examples
    --------
    >>> from mxnet.gluon.contrib.data import IntervalSampler
    >>> list(IntervalSampler(6, 3)), list(IntervalSampler(6, 3, rollover=False))
    ([0, 3, 1, 4, 2, 5], [0, 3])
    """

    def __init__(self, length, interval, rollover=True):
        assert interval <= length, f"Interval {interval} must be smaller than or equal to length {length}"
        self._length, self._interval, self._rollover = length, interval, rollover

    def __iter__(self):
        for start in range(self._interval if self._rollover else 1):
            yield from range(start, self._length, self._interval)

    def __len__(self):
        return self._length
