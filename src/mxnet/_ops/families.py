"""Operator families: every other module of this package. Each is loaded when one of its operators is wanted."""

from functools import cache
from importlib import import_module
from pathlib import Path

from .index import INDEX

MACHINERY = set(  # and all that is called kernels
    "__init__ bits colours compiled_tiles device direct dtypes entries families few_channels few_rows filling gemm "
    "gradient halving head_by_head index infer label_entropy layout loader loops lstm masks merging norm_passes normed "
    "observe one_pass ordered panels pixelwise planes plans pooled quantized_ranges random_quick recurrence "
    "region_bins registry sharing signature small_tiles smooth steady storage tables teams tile_tasks tiled tiles "
    "transposed truth turning vectors weight_gradient whole winograd".split()
)
KNOWN = {name: family for family, names in INDEX.items() for name in names.split()}


def load(name: str) -> None:
    """Import the family that has an operator; all of them, if it is not in the index."""
    family = KNOWN.get(name)
    if family is None:
        load_all()
    else:
        import_module(f".{family}", __package__)


def load_all() -> None:
    for family in families():
        import_module(f".{family}", __package__)


@cache
def families() -> list[str]:
    stems = (path.stem for path in Path(__file__).parent.glob("*.py"))
    return sorted(stem for stem in stems if stem not in MACHINERY and not stem.endswith("kernels"))
