"""Accelerators as torch knows them: copies, late errors, settings, memory and captured graphs. Imports `_core` and torch."""
