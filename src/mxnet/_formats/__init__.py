"""Bytes to NumPy and back: the file formats of MXNet, each parser bounded by the bytes that are there. No torch here."""
