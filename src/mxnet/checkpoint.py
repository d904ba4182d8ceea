"""mx.checkpoint: training that goes on after a crash, and sets of files that become visible at once."""

from ._formats.manifest import together
from ._training.run import Run

__all__ = ["Run", "together"]
