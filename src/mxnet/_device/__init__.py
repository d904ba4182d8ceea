"""Accelerators as torch knows them: copies, late errors, settings, memory, captured graphs. Imports `_core` and torch."""
