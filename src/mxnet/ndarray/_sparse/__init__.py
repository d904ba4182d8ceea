"""Sparse arrays: csr and row-sparse classes, operators on their stored parts, graph sampling."""
