"""Runs other people's programs on real MXNet and on ReMX, and compares what they do.

    python tools/programs.py --mxnet PYTHON --remx PYTHON CHECKOUT…

A checkout is a folder of programs (its name is the repository's). In it are found: functions that return symbols,
Gluon blocks, classes derived from MXNet's (`programs_parts.py`), notebooks, chapters of books, and whole scripts
(`--scripts PATTERN` chooses them by their path). Each runs in an empty folder with small data made on the spot
(`programs_probe.py`), with its own options set for a short run (`programs_scripts.py`), on both interpreters, without
network; `gpu(n)` is a CPU on both. Compared are the exit code, numbers printed, the files written, processor time and
peak memory. `--report FILE` keeps everything as JSON; the table
is printed. `--again FILE` runs the programs of an earlier report that did not agree.
"""

import argparse
import fnmatch
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from programs_parts import kinds_of
from programs_probe import write_data_sets
from programs_scripts import arguments_of, as_script, is_chapter, is_notebook, is_program

PROBE = Path(__file__).with_name("programs_probe.py")
NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?(?![\w])|\bnan\b|\binf\b")
TIMED = re.compile(r"(?i)speed|time|sec\b|samples/|elapsed|/s\b|\bms\b|\d:\d\d|warning|0x[0-9a-f]+")
MOVES = re.compile(r" moves by (\S+)$")  # what `programs_parts.show` prints
NOISE = 1e-3  # a thousand times the change of the inputs
SKIPPED = re.compile(r"(^|/)(tests?|docs?|setup\.py|\.git|perl-package|R-package|scala-package|julia|cpp-package)(/|$)")


AGAIN = ("differs", "stops otherwise", "too slow")


def programs_of(checkout, scripts):
    """(kind, path) of everything that can be run below a folder."""
    for path in sorted(checkout.rglob("*")):
        place = str(path.relative_to(checkout))
        if SKIPPED.search(place) or path.suffix not in (".py", ".ipynb", ".md") or not path.is_file():
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        if "mxnet" not in text and "mx." not in text:
            continue
        chosen = not scripts or any(fnmatch.fnmatch(place, pattern) for pattern in scripts)
        runs = {".ipynb": is_notebook, ".md": is_chapter, ".py": is_program}[path.suffix]
        if chosen and runs(text):
            yield "script", path
        if path.suffix == ".py":
            for kind in kinds_of(text):
                yield kind, path


class Side:
    """One interpreter that has imported its MXNet and forks for each program."""

    def __init__(self, command, paths):
        self.home = tempfile.TemporaryDirectory()
        write_data_sets(self.home.name)
        env = {**os.environ, "MXNET_HOME": self.home.name, "OMP_NUM_THREADS": "1",
               "PYTHONPATH": os.pathsep.join(paths), "PYTHONHASHSEED": "0",
               "PYTHONWARNINGS": "ignore", "MPLBACKEND": "Agg"}  # fmt: skip
        self.process = subprocess.Popen(
            [*command, str(PROBE), "serve"], env=env, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def begin(self, kind, path, root, seconds):
        """Start a program in an empty folder."""
        self.kept = tempfile.TemporaryDirectory()
        self.folder = Path(self.kept.name)
        (self.folder / "work").mkdir()
        script = as_script(path, self.folder)
        text = path.read_text(encoding="utf-8", errors="replace")
        order = {
            "kind": kind, "path": str(script), "seconds": seconds, "root": str(root), "beside": str(path.parent),
            "arguments": arguments_of(text) if kind == "script" and path.suffix == ".py" else [],
            "out": str(self.folder / "out"), "folder": str(self.folder / "work"),
        }  # fmt: skip
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()

    def end(self):
        """Exit code, processor seconds, megabytes, output and files of the program that was begun."""
        work = self.folder / "work"
        answer = json.loads(self.process.stdout.readline())
        files = [p for p in work.rglob("*") if not p.is_symlink() and not p.name.endswith(".manifest.json")]
        answer["files"] = sorted(str(p.relative_to(work)) for p in files)  # manifests are ReMX's own
        answer["output"] = (self.folder / "out").read_text(encoding="utf-8", errors="replace")
        self.kept.cleanup()
        return answer


def numbers_of(output):
    """Numbers that a program printed, but for times and speeds."""
    kept = [line for line in output.split("\n") if not TIMED.search(line)]
    return [float(n) for n in NUMBER.findall("\n".join(kept))]


def without_noise(theirs, ours):
    """Both outputs without the gradients that are noise: those that another rounding of the inputs changes on MXNet."""
    lines = theirs.split("\n"), ours.split("\n")
    noise = {line.split(" positive ")[0] for line in lines[0] if float((MOVES.search(line) or "00")[1]) > NOISE}
    return ["\n".join(MOVES.sub("", s) for s in side if s.split(" positive ")[0] not in noise) for side in lines]


def close(one, other):
    """Do two printed numbers agree to about three digits?"""
    if math.isnan(one) or math.isnan(other):
        return math.isnan(one) and math.isnan(other)
    return one == other or abs(one - other) <= 2e-3 * max(abs(one), abs(other)) + 2e-5


def last_line(output):
    """The line that says why a program stopped."""
    lines = [line for line in output.strip().split("\n") if line.strip()]
    return next((line for line in reversed(lines) if re.match(r"[\w.]*(Error|Exception|Interrupt|Exit)\b", line)),
                lines[-1] if lines else "")  # fmt: skip


def error_class(line):
    """The class of an error, without its module."""
    return line.split(":")[0].split(".")[-1]


def compared(theirs, ours):
    """(verdict, why)."""
    if "timeout" in (theirs["code"], ours["code"]):
        alone = theirs["code"] == 0
        return ("too slow" if alone else "too long"), "more than the time allowed" + (", here only" if alone else "")
    if theirs["code"] != 0:
        if ours["code"] == 0:
            return "runs only here", last_line(theirs["output"])
        there, here = last_line(theirs["output"]), last_line(ours["output"])
        return "stops alike" if error_class(there) == error_class(here) else "stops otherwise", f"{there} | {here}"
    if ours["code"] != 0:
        return "differs", last_line(ours["output"])
    expected, found = map(numbers_of, without_noise(theirs["output"], ours["output"]))
    if not expected:
        return "prints nothing", ""
    if len(expected) != len(found):
        return "differs", f"{len(expected)} numbers printed there, {len(found)} here"
    wrong = [(a, b) for a, b in zip(expected, found, strict=True) if not close(a, b)]
    if wrong:
        return (
            "differs",
            f"{len(wrong)} of {len(expected)} numbers: first {wrong[0][0]:.6g} there, {wrong[0][1]:.6g} here",
        )
    if theirs["files"] != ours["files"]:
        return "differs", f"files: {sorted(set(theirs['files']) ^ set(ours['files']))[:4]}"
    return "agrees", ""


def main():
    """Run everything and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkouts", nargs="+", type=Path)
    parser.add_argument("--mxnet", required=True, help="an interpreter with MXNet 1.9.1")
    parser.add_argument("--remx", required=True, help="an interpreter with ReMX")
    parser.add_argument("--mxnet-path", action="append", default=[], help="a folder that its programs import from")
    parser.add_argument("--remx-path", action="append", default=[])
    parser.add_argument("--scripts", action="append", default=[], metavar="PATTERN", help="scripts to run whole")
    parser.add_argument("--kinds", default="symbol,blocks,derived,script")
    parser.add_argument("--most", type=int, default=10**9, help="how many programs of each checkout")
    parser.add_argument("--seconds", type=int, default=120, help="processor time of the longest run")
    parser.add_argument("--report", type=Path)
    parser.add_argument("--again", type=Path, help="a report: only its programs that did not agree")
    options = parser.parse_args()
    if shutil.which(options.mxnet) is None or shutil.which(options.remx) is None:
        parser.error("--mxnet and --remx are interpreters")
    theirs = Side([options.mxnet], options.mxnet_path)
    ours = Side([options.remx, "-m", "mxnet.cli", "run"], options.remx_path)  # with the names of older versions
    results, again = [], None
    if options.again:
        kept = json.loads(options.again.read_text())
        again = {(r["kind"], r["program"]) for r in kept if r["verdict"] in AGAIN}
    for checkout in (folder.resolve() for folder in options.checkouts):
        chosen = [p for p in programs_of(checkout, options.scripts) if p[0] in options.kinds.split(",")]
        if again is not None:
            chosen = [p for p in chosen if (p[0], f"{checkout.name}/{p[1].relative_to(checkout)}") in again]
        for kind, path in chosen[: options.most]:
            for side in (theirs, ours):
                side.begin(kind, path, checkout, options.seconds)
            there, here = theirs.end(), ours.end()
            verdict, why = compared(there, here)
            place = f"{checkout.name}/{path.relative_to(checkout)}"
            results.append(
                {"program": place, "kind": kind, "verdict": verdict, "why": why, "mxnet": there, "remx": here}
            )
            times = f"{there['seconds']:.1f}/{here['seconds']:.1f} s {there['megabytes']}/{here['megabytes']} MB"
            print(f"{verdict:15} {kind:7} {place}  {times}  {why[:200]}", flush=True)
            if options.report:
                options.report.write_text(json.dumps(results, indent=1))
    counts = {v: sum(r["verdict"] == v for r in results) for v in sorted({r["verdict"] for r in results})}
    print(f"{len(results)} programs of {len({r['program'].split('/')[0] for r in results})} checkouts: {counts}")


if __name__ == "__main__":
    sys.exit(main())
