"""The machine under the process: freed memory, instruction sets, the folder of compiled code. Imports `_core` only."""
