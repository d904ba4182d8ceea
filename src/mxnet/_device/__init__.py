"""Accelerators as torch knows them: copies, late errors, settings, memory, graphs. Imports `_core` and torch."""
