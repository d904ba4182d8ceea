"""Bytes to NumPy and back: MXNet's file formats, each parser bounded by the bytes that are there. No torch here."""
