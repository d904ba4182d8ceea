"""The cases beside the tests are importable by their plain names, as the recorder imports them."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
