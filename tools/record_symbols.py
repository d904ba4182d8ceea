"""Record what real MXNet makes of the networks in tests/symbol/networks.py.

python tools/record_symbols.py        under MXNet 1.9.1; writes tests/data/symbols.json
"""

import contextlib
import io
import json
import pathlib
import sys

import mxnet as mx

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "symbol"))

import networks  # noqa: E402
import partial  # noqa: E402


def shapes(symbol, **known):
    args, outs, aux = symbol.infer_shape_partial(**known)
    return [list(map(list, part)) for part in (args, outs, aux)]


def inferred():
    """Partial shapes: (what is asked, what MXNet knows then)."""
    return {name: shapes(make(mx), **known) for name, (make, known) in partial.CASES.items()}


def summary():
    """The table that MXNet prints of a network."""
    text = io.StringIO()
    with mx.name.NameManager(), contextlib.redirect_stdout(text):
        mx.viz.print_summary(networks.convolutional(mx), shape=networks.RUN["convolutional"])
    return text.getvalue()


def main():
    record = {
        "version": mx.__version__,
        "texts": {name: networks.describe(mx, name) for name in networks.NETWORKS},
        "runs": {name: networks.run(mx, name) for name in networks.RUN},
        "shapes": inferred(),
        "summary": summary(),
    }
    (ROOT / "tests" / "data" / "symbols.json").write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
