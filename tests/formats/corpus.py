"""The recorded files and what they hold (`tools/record_files.py`)."""

import json
import pathlib

import numpy as np

FOLDER = pathlib.Path(__file__).parents[1] / "data" / "files"
EXPECTED = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))


def files(kind):
    return sorted(name for name, facts in EXPECTED.items() if facts["kind"] == kind)


def array(described):
    return np.frombuffer(bytes.fromhex(described["bytes"]), described["dtype"]).reshape(described["shape"])


def cuts(data, most=400):
    """Every place to cut a small file, a spread of places for a larger one."""
    return range(len(data)) if len(data) <= most else range(0, len(data), len(data) // most + 1)
