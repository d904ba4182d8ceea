"""What the tests of the server share."""

import numpy as np


def tensor(array, **changed):
    """A tensor of the protocol."""
    array = np.asarray(array, "float32")
    item = {"name": "data", "shape": list(array.shape), "datatype": "FP32", **changed}
    if "data" not in item and "parameters" not in changed:
        item["data"] = array.ravel().tolist()
    return item
