"""Rewritings for training: memory format, recomputation, mirroring, gradient flow."""
