"""Operators of MXNet's `contrib` namespace that belong to no other chapter."""
