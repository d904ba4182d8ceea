"""Operator families: every other module of this package. Importing this one fills the registry."""

from importlib import import_module
from pathlib import Path

MACHINERY = set(
    "__init__ compiled_tiles device dtypes families few_channels filling gradient halving infer invoke layout "
    "loops observe ordered registry signature storage tiles weight_gradient whole winograd".split()
)
FAMILIES = sorted(p.stem for p in Path(__file__).parent.glob("*.py") if p.stem not in MACHINERY)

for _family in FAMILIES:
    import_module(f".{_family}", __package__)
