"""Operator families: every other module of this package. Importing this one fills the registry."""

from importlib import import_module
from pathlib import Path

MACHINERY = {"__init__", "observe", "registry", "storage", "gradient", "dtypes", "device", "invoke", "infer", "signature", "filling", "layout", "families"}
FAMILIES = sorted(p.stem for p in Path(__file__).parent.glob("*.py") if p.stem not in MACHINERY)

for _family in FAMILIES:
    import_module(f".{_family}", __package__)
