"""The allocator with guard pages: kernels run over it, and one element too many ends the process."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

TOOL = pathlib.Path(__file__).parents[2] / "tools" / "guard_pages.py"
pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux") or shutil.which("cc") is None, reason="needs Linux and a C compiler"
)
BEYOND = """
import ctypes, torch
guard = ctypes.CDLL(None)
guard.guard_pages_on(1)
x = torch.ones({count}, dtype=torch.float32)
end = x.data_ptr() + 4 * x.numel()
print(ctypes.c_float.from_address(end - 4).value, flush=True)
ctypes.c_float.from_address(end + {past}).value
print("read beyond", flush=True)
"""


@pytest.mark.parametrize("count", [1, 13, 1024, 5000])
def test_one_element_too_many_is_fatal(tmp_path, count):
    path = tmp_path / "guard.so"
    subprocess.run(
        ["cc", "-O2", "-shared", "-fPIC", str(TOOL.with_suffix(".c")), "-o", str(path), "-lpthread"], check=True
    )
    code = BEYOND.format(count=count, past=0)
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "LD_PRELOAD": str(path)}, capture_output=True, text=True
    )
    assert done.returncode < 0 and done.stdout == "1.0\n"


def test_kernels_run_between_the_pages():
    done = subprocess.run([sys.executable, str(TOOL), "--only", "Pooling max"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("0 ended the process") == 2 and done.stdout.count("{'EQUAL': 4}") == 2
