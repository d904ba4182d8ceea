"""Operators with NumPy's semantics, which `mx.np` and `mx.npx` call."""
