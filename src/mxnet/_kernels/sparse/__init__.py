"""Kernels for csr and row-sparse arrays."""
