"""Is a generator's output distributed as claimed? Mean, variance and chi-square checks."""

import numpy as np


def _scipy_stats():
    try:
        import scipy.stats
    except ImportError:
        raise ImportError("these checks need SciPy: pip install scipy") from None
    return scipy.stats


def gen_buckets_probs_with_ppf(ppf, nbuckets):
    """Buckets of equal probability from a distribution's inverse, and the probabilities."""
    assert nbuckets > 0
    edges = [ppf(i / nbuckets) for i in range(nbuckets + 1)]
    return list(zip(edges[:-1], edges[1:], strict=True)), [1 / nbuckets] * nbuckets


def mean_check(generator, mu, sigma, nsamples=1000000):
    """Is the sample mean within three standard errors?"""
    mean = np.array(generator(nsamples)).mean()
    return bool(abs(mean - mu) < 3 * sigma / np.sqrt(nsamples))


def var_check(generator, sigma, nsamples=1000000):
    """Is the sample variance within three standard errors?"""
    variance = np.array(generator(nsamples)).var(ddof=1)
    return bool(abs(variance - sigma**2) < 3 * np.sqrt(2 * sigma**4 / (nsamples - 1)))


def chi_square_check(generator, buckets, probs, nsamples=1000000):
    """The p value of the samples falling into buckets (ranges or values), with observed and expected counts."""
    stats = _scipy_stats()
    assert isinstance(buckets, list) and len(probs) == len(buckets)
    samples = np.asarray(generator(nsamples))
    expected = (nsamples * np.array(probs, dtype=np.float32)).astype(np.int32)
    if isinstance(buckets[0], (list, tuple)):
        edges = np.array(buckets, dtype=np.float32).reshape(-1)
        which = np.searchsorted(edges, samples, side="right") // 2
        observed = np.array([(which == i).sum() for i in range(len(buckets))])
    else:
        observed = np.array([(samples == value).sum() for value in buckets])
    # newer SciPy wants the totals to agree to rounding
    scaled = expected * (observed.sum() / expected.sum()) if expected.sum() else expected
    return stats.chisquare(f_obs=observed, f_exp=scaled)[1], observed, expected


def verify_generator(generator, buckets, probs, nsamples=1000000, nrepeat=5, success_rate=0.2, alpha=0.05):
    """Repeat the chi-square check; raise if too few repetitions pass. Returns the p values."""
    results = [chi_square_check(generator, buckets, probs, nsamples) for _ in range(nrepeat)]
    values = [r[0] for r in results]
    if (np.array(values) > alpha).sum() < nrepeat * success_rate:
        raise AssertionError(
            f"Generator test fails, Chi-square p={values}, obs_freq={[r[1] for r in results]}, "
            f"expected_freq={[r[2] for r in results]}.\nbuckets={buckets}, probs={probs}"
        )
    return values


__all__ = [n for n, v in list(globals().items()) if getattr(v, "__module__", None) == __name__ and n[0] != "_"]
