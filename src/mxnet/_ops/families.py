"""Operator families: every other module of this package. Each is loaded when one of its operators is wanted."""

from functools import cache
from importlib import import_module
from pathlib import Path

from .index import INDEX

MACHINERY = set(
    "__init__ attention_kernels bits compiled_tiles device direct dtypes entries families few_channels few_kernels "
    "few_rows filling gradient halving halving_kernels head_by_head index infer kernels label_entropy layout loader "
    "loops lrn_kernels lstm lstm_kernels masks matrix_kernels merge_kernels merging normed observe one_pass "
    "one_pass_kernels ordered panels pixelwise pixelwise_kernels pooled pooling_kernels quantized_ranges "
    "random_kernels random_quick recurrence region_bins region_kernels registry sharing signature small_tile_kernels "
    "small_tiles smooth smooth_kernels steady storage tables teams tiled tiles truth turning turning_kernels vectors "
    "weight_gradient whole winograd".split()
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
    return sorted(path.stem for path in Path(__file__).parent.glob("*.py") if path.stem not in MACHINERY)
