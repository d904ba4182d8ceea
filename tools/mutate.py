"""Mutation testing: change one operator, number or condition at a time, and see whether a test notices.

    python tools/mutate.py --sample 100 --seed 1            mutants of all modules below
    python tools/mutate.py --modules _formats/npz.py        all mutants of one
    python tools/mutate.py --sample 240 --results FILE --most 12   12 more of the sample; FILE tells which are done
    python tools/mutate.py --results FILE --again           those that have survived, once more

It works on a copy of the sources, so that nothing else sees a mutant. A mutant is killed if a test of its module fails
or takes too long; those that survive are listed with their lines.
"""

import argparse
import ast
import copy
import os
import pathlib
import random
import shutil
import signal
import sys
import tempfile
import time

import cv2  # noqa: F401 - loaded once, for all forks
import hypothesis  # noqa: F401
import PIL.Image  # noqa: F401
import pytest
import torch  # noqa: F401

ROOT = pathlib.Path(__file__).parents[1]
SECONDS = 240
SLOW = ["--deselect", "tests/formats/test_images.py::test_a_chunk_of_two_gigabytes_and_a_damaged_jpeg_2000"]
_REGISTRY = "tests/core/test_registry.py tests/core/test_attributes.py tests/core/test_attribute_bounds.py"
# The tests that hold a module's promises.
TESTS = {
    "_formats/images.py": "tests/formats/test_images.py",
    "_formats/image_kinds.py": "tests/formats/test_image_kinds.py tests/formats/test_images.py",
    "_formats/image_damage.py": "tests/formats/test_image_kinds.py tests/formats/test_images.py",
    "_formats/image_lists.py": "tests/formats/test_image_lists.py",
    "_formats/idx.py": "tests/formats/test_idx.py",
    "_formats/npz.py": "tests/formats/test_npz.py",
    "_formats/params.py": "tests/formats/test_params.py",
    "_formats/source.py": "tests/formats/test_params.py tests/formats/test_states.py",
    "_formats/recordio.py": "tests/formats/test_recordio.py",
    "_formats/states.py": "tests/formats/test_states.py",
    "_formats/state_trees.py": "tests/formats/test_states.py",
    "_formats/state_pickles.py": "tests/formats/test_states.py",
    "_formats/archives.py": "tests/formats/test_archives.py",
    "_formats/atomic.py": "tests/formats/test_atomic.py",
    "_formats/manifest.py": "tests/formats/test_models.py tests/reliability/test_saving.py",
    "_formats/fetch.py": "tests/formats/test_fetch.py",
    "_core/attrs.py": "tests/core/test_attribute_bounds.py tests/core/test_attributes.py",
    "_core/lru.py": "tests/core/test_lru.py",
    "_core/environment.py": "tests/core/test_small_modules.py",
    "_core/arguments.py": "tests/core/test_small_modules.py",
    "_core/dtypes.py": "tests/core/test_small_modules.py tests/core/test_attributes.py",
    "_core/nest.py": "tests/core/test_small_modules.py",
    "_core/streams.py": "tests/core/test_streams.py",
    "_core/hints.py": "tests/core/test_hints.py",
    "_core/errors.py": "tests/test_messages.py",
    "_core/writes.py": "tests/graph/test_writes.py",
    "_ops/registry/registry.py": _REGISTRY,
    "_ops/registry/signature.py": _REGISTRY,
    "_ops/registry/shape_rules.py": _REGISTRY,
    "_ops/registry/discovery.py": _REGISTRY,
}

SWAPS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Add: ast.Sub, ast.Sub: ast.Add,
    ast.Mult: ast.Add, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.LShift: ast.RShift, ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip


def _annotations(tree):
    """Nodes that say types, which nobody runs."""
    found = set()
    for node in ast.walk(tree):
        for name in ("annotation", "returns"):
            part = getattr(node, name, None)
            if part is not None:
                found.update(map(id, ast.walk(part)))
    return found


def _words(tree):
    """Nodes inside of docstrings and messages."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            found.update(map(id, ast.walk(node)))
    return found


def places(tree):
    """(number of the node, kind of change) of every mutant."""
    skipped = _annotations(tree) | _words(tree)
    for number, node in enumerate(ast.walk(tree)):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPS:
            yield number, "compare"
        elif (isinstance(node, ast.BinOp) and type(node.op) in SWAPS) or isinstance(node, ast.BoolOp):
            yield number, "operator"
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield number, "not"
        elif isinstance(node, ast.Constant) and type(node.value) in (int, bool):
            yield number, "constant"
        elif isinstance(node, ast.Return) and getattr(node.value, "value", node.value) is not None:
            yield number, "return"
        elif isinstance(node, (ast.If, ast.IfExp)):
            yield number, "condition"


def mutant(tree, number, kind):
    """(the changed tree, its line)."""
    tree = copy.deepcopy(tree)
    node = next(node for i, node in enumerate(ast.walk(tree)) if i == number)
    if kind == "compare":
        node.ops[0] = SWAPS[type(node.ops[0])]()
    elif kind == "operator":
        node.op = SWAPS[type(node.op)]()
    elif kind == "not":
        node.op, node.operand = ast.Not(), ast.UnaryOp(ast.Not(), node.operand)
    elif kind == "constant":
        node.value = not node.value if type(node.value) is bool else node.value + 1
    elif kind == "return":
        node.value = ast.Constant(None)
    elif kind == "condition":
        node.test = ast.UnaryOp(ast.Not(), node.test)
    return ast.fix_missing_locations(tree), node.lineno


def run(folder, tests):
    """Did all tests pass? They run in a fork of this process, which has the large packages loaded."""
    child = os.fork()
    if not child:
        code = 1
        try:
            code = _tested(folder, tests)
        finally:
            os._exit(code)
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status == 0
        time.sleep(0.05)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def _tested(folder, tests):
    """Run tests against the copy in `folder`; 0 if all pass."""
    sys.path.insert(0, str(folder))
    os.environ["PYTHONPATH"] = str(folder)
    os.chdir(ROOT)
    for handle in (1, 2):
        os.dup2(os.open(os.devnull, os.O_WRONLY), handle)
    return int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", *SLOW, *tests.split()]) != 0)


class Results:
    """Which mutants were tried, and which of them survived, in a file of lines."""

    def __init__(self, path):
        self._path = pathlib.Path(path) if path else None
        self.known = {}
        if self._path and self._path.exists():
            self.known = dict(line.rsplit("\t", 1) for line in self._path.read_text().splitlines())

    def note(self, mutant, outcome):
        self.known[mutant] = outcome
        if self._path:
            self._path.write_text("".join(f"{name}\t{told}\n" for name, told in self.known.items()))

    def with_outcome(self, outcome):
        return [mutant for mutant, told in self.known.items() if told == outcome]


def chosen(options, trees):
    """The mutants of the sample, by names such as `_formats/npz.py:43 compare 217`."""
    found = {}
    for name, tree in trees.items():
        lines = [getattr(node, "lineno", 0) for node in ast.walk(tree)]
        found.update({f"{name}:{lines[place]} {kind} {place}": (name, place, kind) for place, kind in places(tree)})
    if options.sample and options.sample < len(found):
        return dict(random.Random(options.seed).sample(sorted(found.items()), options.sample)), len(found)
    return found, len(found)


def attempt(folder, trees, name, place, kind):
    """Did a test notice the mutant?"""
    path = pathlib.Path(folder, "mxnet", name)
    whole = path.read_text(encoding="utf-8")
    path.write_text(ast.unparse(mutant(trees[name], place, kind)[0]), encoding="utf-8")
    try:
        return not run(folder, TESTS[name])
    finally:
        path.write_text(whole, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--modules", nargs="+", default=list(TESTS), choices=TESTS, metavar="MODULE")
    parser.add_argument("--sample", type=int, help="so many mutants, drawn from all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--results", help="a file that keeps what was found, so that a run can go on")
    parser.add_argument("--most", type=int, help="try no more than so many this time")
    parser.add_argument("--again", action="store_true", help="try those that have survived once more")
    options = parser.parse_args()
    trees = {name: ast.parse((ROOT / "src/mxnet" / name).read_text(encoding="utf-8")) for name in options.modules}
    (sample, count), results = chosen(options, trees), Results(options.results)
    due = [
        name
        for name in sample
        if (results.known.get(name) == "survived" if options.again else name not in results.known)
    ]
    os.environ.update(PYTHONDONTWRITEBYTECODE="1", OMP_NUM_THREADS="1")
    sys.dont_write_bytecode = True
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "src", folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
        for name in due[: options.most]:
            outcome = "killed" if attempt(folder, trees, *sample[name]) else "survived"
            results.note(name, outcome)
            print(f"{len(results.known)} of {len(sample)} (of {count}): {name} {outcome}", flush=True)
    killed, survived = results.with_outcome("killed"), results.with_outcome("survived")
    share = 100 * len(killed) / max(1, len(killed) + len(survived))
    print(f"{len(killed)} of {len(killed) + len(survived)} mutants killed, {share:.0f} %", *survived, sep="\n  ")


if __name__ == "__main__":
    main()
