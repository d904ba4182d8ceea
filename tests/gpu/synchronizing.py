"""Operators that may make the host wait for a GPU, each with the reason; a test fails for any other."""

SYNCHRONIZING = {}
