"""Record what MXNet 1.9.1 answers to the cases of tests/ndarray/sparse_cases.py and tests/symbol/sparse_graphs.py.

Run it with an interpreter that has MXNet:

python tools/record_sparse.py
"""

import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests" / "ndarray"), str(ROOT / "tests" / "symbol")]

import sparse_graphs  # noqa: E402
from sparse_cases import LINES, PROGRAMS, described, evaluate  # noqa: E402


def write(name, answers):
    """A file of tests/data with one answer a line."""
    rows = ",\n".join(f"{json.dumps(case)}: {json.dumps(answer)}" for case, answer in answers.items())
    (ROOT / "tests" / "data" / name).write_text("{\n" + rows + "\n}\n")
    print(len(answers), "answers in", name)


answers = {line: evaluate(line) for line in LINES}
answers.update({program.__name__: [described(value) for value in program()] for program in PROGRAMS})
write("sparse.json", answers)
write("sparse_graphs.json", {name: sparse_graphs.answers(name) for name in sparse_graphs.CASES})
