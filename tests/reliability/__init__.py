"""Hostile input, crashes, full disks: the quick form of what `tools/faults.py` measures at length."""
