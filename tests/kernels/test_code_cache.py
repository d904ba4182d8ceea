"""Compiled kernels: kept in the user's folder, read where it cannot be written, compiled by one process for all."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("numba")

LOAD = """
import sys, time
from mxnet._graph.inference import parameter_watch
started = time.monotonic()
assert parameter_watch._loader.get(wait=True) is not None
from mxnet._kernels.runtime import code_cache
print(code_cache.LOG.misses, code_cache.folder())
"""


def environment(home):
    return {**{k: v for k, v in os.environ.items() if k != "NUMBA_CACHE_DIR"}, "MXNET_HOME": str(home)}


def load(home, code=LOAD):
    done = subprocess.run([sys.executable, "-c", code], env=environment(home), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    misses, folder = done.stdout.split()
    return int(misses), Path(folder)


def test_code_is_kept_by_version_and_processor(tmp_path):
    from mxnet._core.version import REMX_VERSION

    misses, folder = load(tmp_path)
    assert (
        misses > 0 and folder.parent == tmp_path / "kernels" and folder.name.startswith(f"remx-{REMX_VERSION}-numba-")
    )
    assert list(folder.rglob("*.nbc"))
    assert load(tmp_path) == (0, folder)


def test_a_copy_elsewhere_loads_the_same_code(tmp_path):
    """As in another virtual environment; its files are newer, too."""
    import mxnet

    first = load(tmp_path / "home")
    shutil.copytree(Path(mxnet.__file__).parent, tmp_path / "copy" / "mxnet", copy_function=shutil.copyfile)
    found = f"import sys; sys.path.insert(0, {str(tmp_path / 'copy')!r})" + LOAD
    checked = found + "import mxnet; assert 'copy' in mxnet.__file__\n"
    assert load(tmp_path / "home", checked) == (0, first[1])


def test_a_folder_that_cannot_be_written_is_read(tmp_path):
    """As root permissions do not bind, so numba's own test of the folder is made to fail."""
    _, folder = load(tmp_path)
    before = sorted(folder.rglob("*"))
    refuse = (
        "import tempfile\n"
        "def refuse(*a, **k): raise PermissionError(13, 'read-only')\n"
        "import numba.core.caching as c\n"
        "c.tempfile = type(sys)('t'); c.tempfile.TemporaryFile = refuse\n"
        "import os\n"
        "c.os = type('O', (), {'__getattr__': lambda s, n: refuse if n == 'replace' else getattr(os, n)})()"
    )
    assert load(tmp_path, LOAD.replace("import sys, time", "import sys, time\n" + refuse)) == (0, folder)
    assert sorted(folder.rglob("*")) == before


def test_a_home_that_cannot_be_made_costs_nothing_but_time(tmp_path):
    (tmp_path / "file").write_text("")
    done = subprocess.run(
        [sys.executable, "-c", LOAD], env=environment(tmp_path / "file"), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_one_process_compiles_for_all(tmp_path):
    slow = LOAD.replace("print(", "print(code_cache.LOG.misses > 0, made[0], ").replace(
        "started =",
        "made = [0]\n"
        "from mxnet._kernels.runtime import simd\n"
        "compile_it = simd._compile\n"
        "def counted(function, signature, more):\n"
        "    found = compile_it(function, signature, more)\n"
        "    made[0] += sum(found.stats.cache_misses.values())\n"
        "    return found\n"
        "simd._compile = counted\n"
        "started =",
    )
    both = [
        subprocess.Popen([sys.executable, "-c", slow], env=environment(tmp_path), stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    counts = [int(each.communicate(timeout=120)[0].split()[1]) for each in both]
    assert sum(counts) == 1


def test_a_wait_of_a_second_is_told_once(caplog, monkeypatch):
    from concurrent.futures import Future
    from threading import Timer

    from mxnet._kernels.runtime import code_cache, loader

    monkeypatch.setattr(loader, "_told", [])
    monkeypatch.setattr(code_cache.LOG, "misses", 1)
    for _ in range(2):
        future = Future()
        Timer(1.3, future.set_result, (7,)).start()
        started = time.monotonic()
        assert loader._waited_for(future) == 7 and time.monotonic() - started > 1
    assert [record.getMessage().partition(":")[0] for record in caplog.records] == [
        "Compiling CPU kernels for this processor"
    ]


def test_the_programs_own_functions_stay_where_numba_keeps_them(tmp_path):
    from numba.core import caching

    from mxnet._kernels.runtime import code_cache

    code_cache.install()
    assert code_cache.KernelLocator.from_function(load, __file__) is None
    assert caching.CacheImpl._locator_classes.count(code_cache.KernelLocator) == 1


def test_folder_depends_on_the_sources_of_all_kernels(tmp_path, monkeypatch):
    from mxnet._kernels.runtime import code_cache

    (tmp_path / "one_kernels.py").write_text("A = 1\n")
    monkeypatch.setattr(code_cache, "_HERE", str(tmp_path))
    keys = []
    for text in ("B = 1\n", "B = 2\n", "B = 1\n"):
        (tmp_path / "shared.py").write_text(text)
        code_cache._sources.cache_clear()
        keys.append(code_cache.folder())
    code_cache._sources.cache_clear()
    assert keys[0] == keys[2] != keys[1]


# -- other users -------------------------------------------------------------------------------------------------------

EVIL = "import os, pickle, sys\nclass Evil:\n    def __reduce__(self): return os.mkdir, (sys.argv[1],)\n" + (
    "sys.stdout.buffer.write(pickle.dumps(Evil()))"
)


def poison(folder, trace):
    """Put code into the files of a cache that numba opens first: they are pickles."""
    code = subprocess.run([sys.executable, "-c", EVIL, str(trace)], capture_output=True, check=True).stdout
    indices = list(folder.rglob("*.nbi"))
    assert indices
    for path in indices:
        path.write_bytes(code)


@pytest.mark.skipif(os.name != "posix", reason="owners and modes of files are those of POSIX")
def test_code_that_another_user_may_have_put_there_is_not_loaded(tmp_path):
    home, trace = tmp_path / "home", tmp_path / "trace"
    _, folder = load(home)
    poison(folder, trace)
    (home / "kernels").chmod(0o777)
    environ = {**environment(home), "XDG_CACHE_HOME": str(tmp_path / "own")}
    done = subprocess.run([sys.executable, "-c", LOAD], env=environ, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not trace.exists()
    assert Path(done.stdout.split()[1]).is_relative_to(tmp_path / "own" / "remx" / "kernels")
    assert f"all users can write in {home / 'kernels'}" in done.stderr

    (home / "kernels").chmod(0o755)  # the attack itself works: without the check it would have run
    subprocess.run([sys.executable, "-c", LOAD], env=environ, capture_output=True, text=True)
    assert trace.exists()
