"""The program `remx`, also as `python -m remx`: what keeps `mxnet` from being imported is one sentence here."""

import sys


def main():
    """Run `mxnet.cli`; an old MXNet under the same import name is told without a traceback."""
    try:
        from mxnet.cli import main as run
    except ImportError as error:
        print(f"remx: {error}", file=sys.stderr)
        return 1
    return run()


if __name__ == "__main__":
    sys.exit(main())
