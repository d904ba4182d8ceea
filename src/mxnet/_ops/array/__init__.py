"""Operators on the form of arrays: creation, reshaping, slicing, indexing, joining, sorting."""
