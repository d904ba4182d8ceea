"""Settings of whole test runs: `REMX_TEST_WITHOUT=numba` hides a package, as if it were not installed.

Training waits for kernels that are compiled for the first time, so that results do not depend on what was compiled.
"""

import os
import sys

os.environ.setdefault("MXNET_KERNELS", "wait")
for _name in os.environ.get("REMX_TEST_WITHOUT", "").split():
    sys.modules[_name] = None  # type: ignore[assignment] - importing it raises ImportError from now on
