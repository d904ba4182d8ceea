"""Bytes to NumPy and back: every file format of MXNet, each parser bounded by the bytes that are there. No torch here."""
