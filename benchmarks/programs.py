"""Steps of whole programs beside real MXNet: which are slower here?

REMX_MXNET_PYTHON=/path/to/python python benchmarks/programs.py [--rounds N] [--threads N] [--below RATIO] [NAME ...]

Both interpreters take turns. The table lists the ratio MXNet / ReMX of the medians, the smallest first.
"""

import argparse
import os
import statistics
import sys

from contest import Contestant, measure


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5, help="turns of each interpreter")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--below", type=float, default=float("inf"), help="only ratios below this one")
    parser.add_argument("names", nargs="*", help="works whose names contain one of these")
    args = parser.parse_args()
    ours = Contestant("programs", args.threads)
    theirs = Contestant("programs", args.threads, interpreter=os.environ["REMX_MXNET_PYTHON"])
    theirs.peer, rows = "MXNet", []
    for name in ours.works:
        if not args.names or any(part in name for part in args.names):
            times = measure(name, [ours, theirs], args.rounds)
            mine, other = (statistics.median(times[who]) * 1e3 for who in ("programs", "MXNet"))
            rows.append((other / mine, name, mine, other))
            print(f"{other / mine:6.2f}  {name:34} {mine:10.2f} {other:10.2f} ms", file=sys.stderr, flush=True)
    for ratio, name, mine, other in sorted(rows):
        if ratio < args.below:
            print(f"{ratio:6.2f}  {name:34} {mine:10.2f} {other:10.2f} ms")


if __name__ == "__main__":
    main()
