"""`python -m mxnet.cli`: the command line where the script `remx` is not on the path."""

import sys

from . import main

sys.exit(main())
