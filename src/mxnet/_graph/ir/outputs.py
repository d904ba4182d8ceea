"""Names and number of an operator's outputs in MXNet, some of whose kernels have work space as hidden outputs."""

from typing import Any

# Operators with hidden outputs that are not computed here; they count in the numbers of `node_row_ptr` in JSON.
_COUNTS = {
    "BilinearSampler": 2,
    "Correlation": 3,
    "Dropout": 2,
    "GridGenerator": 2,
    "InstanceNorm": 3,
    "L2Normalization": 2,
    "LRN": 2,
    "ROIPooling": 2,
    "SpatialTransformer": 3,
    "_contrib_BatchNormWithReLU": 4,
    "_linalg_det": 3,
    "_linalg_slogdet": 4,
    "sort": 2,
}
# Operators with one output whose name is not "output".
NAMES = {
    "SliceChannel": "output0",
    "_linalg_det": "output0",
    "make_loss": "loss",
    "sort": "output0",
}


def _pooling(attrs: dict[str, Any]) -> int:
    """Max pooling has the positions of the maxima as a second output."""
    channels_first = (attrs["layout"] or "NC")[:2] == "NC"
    return 2 if attrs["pool_type"] == "max" and 1 <= len(attrs["kernel"] or ()) <= 3 and channels_first else 1


def declared(name: str, attrs: dict[str, Any], count: int) -> int:
    """How many outputs MXNet counts for a call of an operator that has `count` of them here."""
    return _pooling(attrs) if name == "Pooling" else max(_COUNTS.get(name, 1), count)
