"""Rewritings for inference: folding, packed weights, 8-bit layers, batches in chunks."""
