"""The first training on a machine: torch computes while kernels are compiled, and the change comes at a fixed point."""

import logging
import os
import subprocess
import sys
import threading
import time

import pytest

pytest.importorskip("numba")

from mxnet._kernels import tuning
from mxnet._kernels.runtime import code_cache, compile_process, first_run, loader
from mxnet._kernels.runtime.loader import CompiledModule, any_processor

WORK = 100


@pytest.fixture
def fresh(monkeypatch, tmp_path):
    """A process that finds nothing compiled; what is asked of the process that compiles."""
    run, asked = first_run.FirstRun(), []
    run.waits = False
    monkeypatch.setattr(loader, "FIRST_RUN", run)
    monkeypatch.setattr(loader, "PROCESS", type("P", (), {"ask": lambda self, m, folder: not asked.append(m)})())
    monkeypatch.setattr(code_cache, "kept_in", lambda: tmp_path)
    for name, value in (("CALLS", 5), ("WORK", 20 * WORK), ("MOST_CALLS", 50)):
        monkeypatch.setattr(tuning, f"FIRST_RUN_{name}", value)
    loaders = list(loader._LOADERS)
    yield run, asked
    loader._LOADERS[:] = loaders


def module():
    return CompiledModule("sort.topk_kernels", any_processor)


def used(code, calls, ready=None):
    """Which of so many calls of training the code computes."""
    found = []
    for number in range(calls):
        if ready == number:
            code.get(wait=True)  # somebody else, such as a prediction, has loaded it
        found.append(code.earned(WORK, wait=True) is not None)
    return found


@pytest.mark.parametrize("ready", [None, 0, 3, 19])
def test_the_change_does_not_depend_on_when_the_code_is_ready(fresh, ready):
    assert used(module(), 25, ready) == [False] * 19 + [True] * 6
    assert fresh[0].over and set(fresh[1]) == {"sort.topk_kernels"}


def test_little_work_changes_over_after_many_calls(fresh, monkeypatch):
    monkeypatch.setattr(tuning, "FIRST_RUN_WORK", 10**9)
    assert used(module(), 52) == [False] * 49 + [True] * 3


def test_code_that_was_compiled_before_is_used_at_once(fresh):
    code_cache.note("sort.topk_kernels")
    assert used(module(), 3) == [True] * 3 and not fresh[1] and not fresh[0].calls


def test_predictions_use_what_is_ready(fresh):
    code = module()
    assert code.earned(WORK, wait=True) is None
    code.get(wait=True)
    assert code.earned(WORK, wait=False) is not None and code.earned(WORK, wait=True) is None
    assert code.state()[0] == "compiling"


def test_training_that_waits(fresh):
    fresh[0].waits = True
    assert used(module(), 3) == [True] * 3


def test_training_that_waits_for_a_part_of_a_program(fresh):
    with pytest.raises(RuntimeError), fresh[0].waiting():
        assert used(module(), 1) == [True]
        raise RuntimeError
    assert used(CompiledModule("rnn.lstm_kernels", any_processor), 1) == [False]


def test_training_of_other_threads_does_not_wait(fresh):
    code, results = module(), {}
    with fresh[0].waiting():
        other = threading.Thread(target=lambda: results.update(other=used(code, 3)))
        other.start()
        other.join()
        results["here"] = used(code, 3)
    assert results == {"other": [False] * 3, "here": [True] * 3}
    assert used(code, 3) == [False] * 3  # they change over at the fixed point, although the code is loaded


def test_a_line_after_a_second(fresh, caplog, tmp_path):
    caplog.set_level(logging.WARNING)
    run, folder = fresh[0], str(tmp_path)
    run.tell(folder)
    assert not caplog.records
    run._begun = time.monotonic() - 1.1
    run.tell(folder)
    run.tell(folder)
    assert [r.getMessage().partition(":")[0] for r in caplog.records] == [
        "Compiling CPU kernels for this processor in the background"
    ]


def test_the_line_tells_whether_code_is_kept(tmp_path):
    assert first_run.kept(str(tmp_path / "new")) == f"once, they are kept in {tmp_path / 'new'}"
    (tmp_path / "file").write_text("")
    assert "cannot be written" in first_run.kept(str(tmp_path / "file" / "below"))


def test_the_process_compiles_and_ends_with_the_program(tmp_path):
    """The smallest module of kernels, from nothing."""
    program = (
        "import time\nfrom mxnet._kernels.runtime import code_cache, compile_process\n"
        "folder = code_cache.kept_in()\n"
        "assert compile_process.PROCESS.ask('sort.topk_kernels', str(folder))\n"
        "end = time.monotonic() + 100\n"
        "while not code_cache.is_noted('sort.topk_kernels') and time.monotonic() < end: time.sleep(0.1)\n"
        "print(code_cache.is_noted('sort.topk_kernels'), compile_process.PROCESS._child.pid)\n"
    )
    new = {**os.environ, "MXNET_HOME": str(tmp_path)}
    new.pop("NUMBA_CACHE_DIR", None)
    done = subprocess.run([sys.executable, "-c", program], env=new, capture_output=True, text=True, timeout=150)
    noted, child = done.stdout.split()
    assert noted == "True" and done.stderr == ""
    with pytest.raises(ProcessLookupError):
        os.kill(int(child), 0)


def test_without_a_place_or_a_process(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    assert not compile_process.CompileProcess().ask("a", str(tmp_path / "file" / "below"))
    monkeypatch.setattr(compile_process, "_started", lambda: (_ for _ in ()).throw(OSError("no more processes")))
    process = compile_process.CompileProcess()
    assert not process.ask("a", str(tmp_path)) and not process.ask("b", str(tmp_path))
