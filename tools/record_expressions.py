"""Record what MXNet 1.9.1 answers to tests/operators/expressions.txt. Run it with an interpreter that has MXNet.

python tools/record_expressions.py
"""

import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "operators"))

from expressions import LINES, evaluate, mx, nd  # noqa: E402


def answer(line):
    """MXNet reports a late failure at the next call; wait for it, so that it is not taken for that call's."""
    result = evaluate(line)
    try:
        nd.waitall()
    except mx.base.MXNetError as error:
        print(line, "failed late:", str(error).strip().splitlines()[-1])
    return result


answers = {line: answer(line) for line in LINES}
rows = ",\n".join(f"{json.dumps(line)}: {json.dumps(answer)}" for line, answer in answers.items())
(ROOT / "tests" / "data" / "expressions.json").write_text("{\n" + rows + "\n}\n")
print(len(answers), "answers,", sum(a == "MXNetError" for a in answers.values()), "of them errors")
