"""Batch normalization in passes over memory, fused with sums and ReLU; scale and shift; LRN."""
