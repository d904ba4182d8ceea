"""Mutation testing: change one operator, number or condition at a time, and see whether a test notices.

    python tools/mutate.py --sample 100 --seed 1            mutants of all modules below
    python tools/mutate.py --modules _formats/npz.py        all mutants of one

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
# The tests that hold a module's promises.
TESTS = {
    "_formats/images.py": "tests/formats/test_images.py",
    "_formats/image_kinds.py": "tests/formats/test_images.py",
    "_formats/image_damage.py": "tests/formats/test_images.py",
    "_formats/image_lists.py": "tests/formats/test_image_lists.py",
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
    "_core/hints.py": "tests/test_messages.py",
    "_ops/registry.py": "tests/core/test_attributes.py tests/core/test_attribute_bounds.py",
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
        elif isinstance(node, ast.Return) and node.value is not None:
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


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--modules", nargs="+", default=list(TESTS), choices=TESTS, metavar="MODULE")
    parser.add_argument("--sample", type=int, help="so many mutants, drawn from all")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    trees = {name: ast.parse((ROOT / "src/mxnet" / name).read_text(encoding="utf-8")) for name in options.modules}
    found = [(name, *place) for name, tree in trees.items() for place in places(tree)]
    chosen = found
    if options.sample and options.sample < len(found):
        chosen = random.Random(options.seed).sample(found, options.sample)
    killed, survived = 0, []
    os.environ.update(PYTHONDONTWRITEBYTECODE="1", OMP_NUM_THREADS="1")
    sys.dont_write_bytecode = True
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "src", folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
        for number, (name, place, kind) in enumerate(chosen, 1):
            path = pathlib.Path(folder, "mxnet", name)
            whole = path.read_text(encoding="utf-8")
            tree, line = mutant(trees[name], place, kind)
            path.write_text(ast.unparse(tree), encoding="utf-8")
            if run(folder, TESTS[name]):
                survived.append(f"{name}:{line} {kind}")
            else:
                killed += 1
            path.write_text(whole, encoding="utf-8")
            last = f"; survived: {survived[-1]}" if survived and number == killed + len(survived) else ""
            print(f"{number} of {len(chosen)} (of {len(found)}): {killed} killed{last}", flush=True)
    print(
        f"{killed} of {len(chosen)} mutants killed, {100 * killed / max(1, len(chosen)):.0f} %", *survived, sep="\n  "
    )


if __name__ == "__main__":
    main()
