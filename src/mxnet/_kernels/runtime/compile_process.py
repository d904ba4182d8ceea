"""A process that compiles kernels while a program trains: a compiler in a thread would keep the interpreter's lock.

It reads names of modules from its input, compiles one after the other into the folder of compiled code, and ends with
the program that has started it.
"""

import atexit
import os
import subprocess
import sys
from pathlib import Path

from ..._core.machine.cache_folder import make_folder

_PROGRAM = f"from {__name__} import main; main()"
_LEAST_URGENT = 10


class CompileProcess:
    """Started for the first module that is asked for; one for a program."""

    def __init__(self) -> None:
        self._child: subprocess.Popen[str] | None = None
        self._asked: set[str] = set()
        self._useless = not sys.executable or bool(getattr(sys, "frozen", False))

    def ask(self, module: str, folder: str) -> bool:
        """Have a module compiled; False if no process can do it."""
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
        """What it has compiled so far stays."""
        child, self._child = self._child, None
        if child is not None:
            child.kill()
            child.wait()

    def forget(self) -> None:
        """In a forked process: the child is somebody else's."""
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

    if hasattr(os, "nice"):
        os.nice(_LEAST_URGENT)
    for line in iter(sys.stdin.readline, ""):
        compile_module(line.strip())


PROCESS = CompileProcess()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=PROCESS.forget)
