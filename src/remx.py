"""The programs `remx` (also `python -m remx`) and `im2rec`: what keeps `mxnet` from being imported is one sentence."""

import sys
from importlib import import_module


def _run(program, module):
    """Run a module's `main`; an old MXNet under the same import name is told without a traceback."""
    try:
        run = import_module(module).main
    except ImportError as error:
        print(f"{program}: {error}", file=sys.stderr)
        return 1
    return run()


def main():
    """The command line of ReMX."""
    return _run("remx", "mxnet.cli")


def im2rec():
    """MXNet's tool that packs images into record files."""
    return _run("im2rec", "mxnet.tools.im2rec")


if __name__ == "__main__":
    sys.exit(main())
