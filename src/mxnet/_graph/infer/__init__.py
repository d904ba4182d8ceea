"""Shapes, dtypes and storage types over a whole graph."""
