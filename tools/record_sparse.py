"""Record what MXNet 1.9.1 answers to tests/ndarray/sparse_cases.py. Run it with an interpreter that has MXNet.

python tools/record_sparse.py
"""

import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "ndarray"))

from sparse_cases import LINES, PROGRAMS, described, evaluate  # noqa: E402

answers = {line: evaluate(line) for line in LINES}
answers.update({program.__name__: [described(value) for value in program()] for program in PROGRAMS})
rows = ",\n".join(f"{json.dumps(name)}: {json.dumps(answer)}" for name, answer in answers.items())
(ROOT / "tests" / "data" / "sparse.json").write_text("{\n" + rows + "\n}\n")
print(len(answers), "answers")
