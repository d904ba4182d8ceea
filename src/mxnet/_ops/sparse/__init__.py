"""Operators that exist for sparse arrays only."""
