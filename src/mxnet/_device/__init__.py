"""Accelerators as torch knows them: copies, late errors, settings, memory, graphs. Imports `_core` and torch."""

from .._core.machine.amx import limit_onednn

limit_onednn()  # before oneDNN computes anything: every array and every graph imports this package
