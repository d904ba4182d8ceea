"""Lets the tests of this folder import the cases they share with the recorder."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
