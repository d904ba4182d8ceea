"""Kernels that order elements."""
