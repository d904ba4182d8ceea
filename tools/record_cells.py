"""Runs the tests' cases of recurrent cells on real MXNet 1.9.1 and writes the answers to tests/data/cells.json."""

import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "gluon"))

import cell_cases as cases  # noqa: E402

target = ROOT / "tests" / "data" / "cells.json"
target.parent.mkdir(exist_ok=True)
target.write_text(json.dumps(cases.record(), indent=0, sort_keys=True) + "\n")
