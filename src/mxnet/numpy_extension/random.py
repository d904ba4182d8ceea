"""`mx.npx.random`: seeds, batches of samples, coin throws."""

from ..numpy import random as _random
from ..random import seed

__all__ = ["bernoulli", "normal_n", "seed", "uniform_n"]


def _batched(batch_shape, *parameters):
    """The batch in front of the parameters' own shape."""
    if batch_shape is None:
        return None
    batch = (batch_shape,) if isinstance(batch_shape, int) else tuple(batch_shape)
    return batch + tuple(_random._shape(None, *parameters))


def uniform_n(low=0.0, high=1.0, batch_shape=None, dtype=None, ctx=None):
    """`batch_shape` samples for each parameter."""
    return _random.uniform(low, high, _batched(batch_shape, low, high), dtype, ctx)


def normal_n(loc=0.0, scale=1.0, batch_shape=None, dtype=None, ctx=None):
    """`batch_shape` samples for each parameter."""
    return _random.normal(loc, scale, _batched(batch_shape, loc, scale), dtype, ctx)


def bernoulli(prob=None, logit=None, size=None, dtype=None, ctx=None, out=None):
    """Ones with the chance `prob`, or with the odds whose logarithm is `logit`."""
    if (prob is None) == (logit is None):
        raise ValueError(
            f"Either `prob` or `logit` must be specified, but not both. Received prob={prob}, logit={logit}"
        )
    chance = prob if logit is None else 1.0 / (1.0 + 2.718281828459045 ** (-logit))
    shape = _random._shape(size, chance)
    noise = _random.uniform(size=shape, ctx=_random._place(ctx, chance))
    return _random._deliver((noise < chance).astype(dtype or "float32"), out)
