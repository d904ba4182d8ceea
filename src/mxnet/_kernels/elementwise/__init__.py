"""Kernels that go over elements once: ELU, softplus, transposition."""
