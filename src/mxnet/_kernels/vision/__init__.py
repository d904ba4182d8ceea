"""Kernels for boxes, non-maximum suppression, regions of interest, resizing and colour."""
