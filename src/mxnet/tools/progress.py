"""Bars for loops of one's own: tqdm's for who is looking, a line now and then for a log file."""

from .._core.progress import progress

__all__ = ["progress"]
