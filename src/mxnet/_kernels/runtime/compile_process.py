"""A process that compiles kernels while a program trains: a compiler in a thread would hold the interpreter's lock.

It reads module names from its standard input, compiles the modules one by one into the cache folder, and ends with the
program that started it. It has the program's own priority, because the program waits for it in the end: with a niceness
of 10, beside a training that used both of two cores, it compiled 2 of 41 functions in nine seconds (ER, 2026-11).
"""

import atexit
import os
import subprocess
import sys
from pathlib import Path

from ..._core.machine.cache_folder import make_folder

_PROGRAM = f"from {__name__} import main; main()"


class CompileProcess:
    """The compiler process of a program, started when the first module is requested."""

    def __init__(self) -> None:
        self._child: subprocess.Popen[str] | None = None
        self._asked: set[str] = set()
        self._useless = not sys.executable or bool(getattr(sys, "frozen", False))

    def ask(self, module: str, folder: str) -> bool:
        """Request the compilation of a module; False if no process can do it."""
        if module not in self._asked:
            self._asked.add(module)
            self._useless = self._useless or not self._told(module, folder)
        return not self._useless

    def _told(self, module: str, folder: str) -> bool:
        try:
            if self._child is None:
                make_folder(folder)
                if not os.access(folder, os.W_OK):
                    return False
                self._child = _started()
                atexit.register(self.end)
            assert self._child.stdin is not None
            self._child.stdin.write(f"{module}\n")
            self._child.stdin.flush()
        except OSError:  # no more processes, a folder that cannot be made, or the process has died
            return False
        return True

    def end(self) -> None:
        """End the process; the modules compiled so far stay in the cache."""
        child, self._child = self._child, None
        if child is not None:
            child.kill()
            child.wait()

    def forget(self) -> None:
        """Called in a forked process: the compiler process belongs to the parent."""
        self._child, self._useless = None, True


def _started() -> "subprocess.Popen[str]":
    here = str(Path(__file__).parents[3])
    path = os.pathsep.join(filter(None, (here, os.environ.get("PYTHONPATH"))))
    new = {**os.environ, "PYTHONPATH": path, "MXNET_KERNELS": "wait"}
    quiet = subprocess.DEVNULL
    return subprocess.Popen(
        [sys.executable, "-c", _PROGRAM], env=new, stdin=subprocess.PIPE, stdout=quiet, stderr=quiet, text=True
    )


def main() -> None:
    """Compile what the input names."""
    from .loader import compile_module

    for line in iter(sys.stdin.readline, ""):
        compile_module(line.strip())


PROCESS = CompileProcess()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=PROCESS.forget)
