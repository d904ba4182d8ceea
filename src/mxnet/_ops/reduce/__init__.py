"""Operators that reduce axes: sums, means, norms, arg-reductions, histograms."""
