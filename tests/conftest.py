"""Settings of whole test runs: `REMX_TEST_WITHOUT=numba` hides a package, as if it were not installed."""

import os
import sys

for _name in os.environ.get("REMX_TEST_WITHOUT", "").split():
    sys.modules[_name] = None  # type: ignore[assignment] - importing it raises ImportError from now on
