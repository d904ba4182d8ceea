"""Record MXNet's lists of operators by precision, and networks that it converted; run it with MXNet 1.9.1."""

import json
import pathlib
import sys

from mxnet.contrib.amp import lists

KINDS = ("FUNCS", "FP32_FUNCS", "USE_FP32_PARAMS")
COMMON = ("FP32_FUNCS", "CONDITIONAL_FP32_FUNCS", "WIDEST_TYPE_CASTS", "LOSS_OUTPUT_FUNCTIONS")


def recorded():
    """{type: {list: names}} of both types."""
    found = {}
    for dtype, short in (("float16", "FP16"), ("bfloat16", "BF16")):
        module = getattr(lists, f"symbol_{short.lower()}")
        names = [f"{short}_{kind}" for kind in KINDS] + list(COMMON)
        found[dtype] = {name: getattr(module, name) for name in names if hasattr(module, name)}
    return found


if __name__ == "__main__":
    root = pathlib.Path(__file__).parent.parent
    (root / "src/mxnet/_data/amp.json").write_text(json.dumps(recorded(), indent=0) + "\n")
    sys.path.insert(0, str(root / "tests/bridges"))
    from amp_nets import converted

    (root / "tests/data/amp.json").write_text(json.dumps(converted()) + "\n")
