"""The options of `remx demo`, apart from the demonstration: the help and the completion of shells need no torch."""

import argparse
from pathlib import Path

from .._core.arguments import at_least, port

_ABOUT = "A convolution net learns handwritten digits; its curve, mistakes and files stay in a folder."


def parser():
    """The command line."""
    options = argparse.ArgumentParser(prog="remx demo", description=_ABOUT)
    options.add_argument("--output", type=Path, default=Path("demo"), help="folder for the results")
    options.add_argument("--epochs", type=at_least(1), default=16)
    options.add_argument("--batch-size", type=at_least(1), default=64)
    options.add_argument(
        "--examples", type=at_least(1), default=4000, help="how many of the 4,000 training digits to use"
    )
    options.add_argument("--serve", action="store_true", help="then open a page on this machine to draw digits on")
    options.add_argument("--port", type=port, default=0, help="port of the page; any free one if left out")
    options.add_argument("--no-browser", action="store_true", help="print the page's address only")
    return options
