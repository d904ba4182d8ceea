"""Operator families: every other module of this package. Importing this one fills the registry."""

from importlib import import_module
from pathlib import Path

MACHINERY = set(
    "__init__ bits compiled_tiles device direct dtypes families few_channels filling gradient halving infer "
    "invoke kernels layout loader loops lstm lstm_kernels matrix_kernels normed observe ordered panels pooled "
    "pooling_kernels registry sharing signature small_tile_kernels small_tiles storage tiles vectors "
    "weight_gradient whole winograd".split()
)
FAMILIES = sorted(p.stem for p in Path(__file__).parent.glob("*.py") if p.stem not in MACHINERY)

for _family in FAMILIES:
    import_module(f".{_family}", __package__)
