"""The clamp of a fused activation: (low, high) as Python has it, and as compiled kernels take it."""

INFINITY = float("inf")

Clamp = tuple[float | None, float | None]  # None: no limit on that side


def limits(clamp: Clamp) -> tuple[float, float]:
    """Both limits as numbers; infinity where there is none."""
    low, high = clamp
    return -INFINITY if low is None else low, INFINITY if high is None else high
