"""Sampling at intervals, as language models want it."""

from ...data import sampler

__all__ = ["IntervalSampler"]


class IntervalSampler(sampler.Sampler):
    """0, k, 2k, …, then 1, k + 1, … if `rollover`."""

    def __init__(self, length, interval, rollover=True):
        assert interval <= length, f"Interval {interval} must be smaller than or equal to length {length}"
        self._length, self._interval, self._rollover = length, interval, rollover

    def __iter__(self):
        for start in range(self._interval if self._rollover else 1):
            yield from range(start, self._length, self._interval)

    def __len__(self):
        return self._length
