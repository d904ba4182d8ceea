"""Optimizer steps over lists of tensors in a single pass."""
