"""`make faults`: fuzzing, guard pages, attack files, kills while saving and training, failing disks, in numbers."""

import argparse
import importlib.util
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "tests"))
from reliability import fuzz

FINDINGS = pathlib.Path(__file__).parents[1] / "tests" / "data" / "findings"
CHUNK = 20_000  # inputs that one process reads


class Progress:
    """What fuzzing came to so far, in a file, so that a run that was ended goes on where it was (`--progress`)."""

    def __init__(self, path):
        self._path = pathlib.Path(path) if path else None
        self._kinds = json.loads(self._path.read_text()) if self._path and self._path.exists() else {}

    def of(self, kind, seed):
        """(inputs done, what came of them) with this seed."""
        told = self._kinds.get(f"{kind} {seed}", {"done": 0})
        return told["done"], fuzz.Result(**{name: told[name] for name in told if name != "done"})

    def note(self, kind, seed, done, result):
        plain = {**vars(result), "findings": [[*finding[:3], ""] for finding in result.findings]}
        self._kinds[f"{kind} {seed}"] = {"done": done, **plain}
        if self._path:
            self._path.write_text(json.dumps(self._kinds, indent=1))


def fuzzing(options):
    """Mutated and generated inputs for each reader."""
    bad, progress = 0, Progress(options.progress)
    for kind in options.kinds:
        start = time.monotonic()
        first, result = progress.of(kind, options.seed)
        while first < options.inputs:
            count = min(CHUNK, options.inputs - first)
            more = fuzz.in_process(kind, options.seed + first, count)
            for finding in more.findings:
                print("  ", finding[1], fuzz.keep(finding, FINDINGS), flush=True)
            result.add(more)
            first += count
            progress.note(kind, options.seed, first, result)
        done = result.clean + result.refused
        print(
            f"fuzzing {kind}: {done} inputs, {result.clean} read, {result.refused} refused, slowest "
            f"{result.slowest * 1000:.0f} ms, at most {result.growth / 1e6:.1f} MB more memory, "
            f"{len(result.findings)} findings ({time.monotonic() - start:.0f} s)",
            flush=True,
        )
        bad += len(result.findings)
    return bad


def guided(options):
    """Inputs that coverage of the readers' code leads to, by atheris, if it is installed."""
    if importlib.util.find_spec("atheris") is None:
        print("atheris: not tried, it is not installed", flush=True)
        return 0
    bad, tool = 0, str(pathlib.Path(__file__).with_name("fuzz_readers.py"))
    for kind in options.kinds:
        command = [sys.executable, tool, kind, f"-runs={options.guided}", f"-seed={options.seed % (1 << 31)}"]
        done = subprocess.run(command, capture_output=True, text=True)
        told = [line for line in done.stderr.splitlines() if "Done " in line or "ERROR" in line][-1:]
        print(f"atheris {kind}: {told[0] if told else 'no report'}, exit code {done.returncode}", flush=True)
        bad += done.returncode != 0
    return bad


def attacks(options):
    """Handmade attack files."""
    from reliability import attacks as handmade

    wrong = handmade.run_all()
    print(f"attack files: {len(handmade.ATTACKS)} tried, {len(wrong)} not refused", *wrong, sep="\n  ", flush=True)
    cuts = handmade.truncations()
    print(f"truncations at every byte: {cuts[0]} tried, {len(cuts[1])} wrong", *cuts[1][:20], sep="\n  ", flush=True)
    return len(wrong) + len(cuts[1])


def kills(options):
    """SIGKILL at random moments of saving."""
    from reliability import kills as killing

    bad = 0
    each = -(-options.kills // len(killing.SAVERS))
    for name in killing.SAVERS:
        with tempfile.TemporaryDirectory() as folder:
            count, old, broken = killing.kill_while_saving(name, folder, each, options.seed)
        print(f"kills while {name} saved: {count}, {old} found an older set than the last one begun, "
              f"{len(broken)} broken", *broken, sep="\n  ", flush=True)  # fmt: skip
        bad += len(broken)
    return bad


def disk(options):
    """Full and read-only folders, simulated and real."""
    from reliability import kills as killing

    bad = 0
    for name in killing.SAVERS:
        for fault in (*killing.FAULTS, *killing.MOUNTED):
            with tempfile.TemporaryDirectory() as folder:
                save = killing.save_on_mount if fault in killing.MOUNTED else killing.save_with_fault
                words = save(name, fault, folder)
            if words is NotImplemented:
                print(f"{name}, {fault}: not tried, mounting needs root", flush=True)
                continue
            print(f"{name}, {fault}: {words or 'the old set stays, no litter'}", flush=True)
            bad += words is not None
    return bad


def resume(options):
    """Training runs that are killed and go on: equal to uninterrupted ones?"""
    from reliability import resume_runs

    bad = 0
    for number, (name, kills, terms, wrong) in enumerate(resume_runs.campaign(options.runs, options.seed), 1):
        print(f"run {number}, {name}: {kills} SIGKILL, {terms} SIGTERM, {wrong or 'equal bit for bit'}", flush=True)
        bad += wrong is not None
    print(f"killed and resumed: {options.runs} runs, {bad} differ", flush=True)
    return bad


def workers(options):
    """Data workers that fail."""
    from reliability import workers as failing

    bad = 0
    for name in failing.FAULTS:
        slowest, wrong = failing.many(name, options.worker_faults)
        print(f"data workers, {name}: {options.worker_faults} times, reported after at most {slowest:.1f} s, "
              f"{len(wrong)} wrong", *wrong, sep="\n  ", flush=True)  # fmt: skip
        bad += len(wrong)
    with tempfile.TemporaryDirectory() as folder:
        seconds = failing.parent_killed(folder)
    print("data workers, their parent killed: " + ("STILL THERE" if seconds is None else f"gone after {seconds:.1f} s"))
    words = failing.full_shared_memory()
    told = words is None or ("out of shared memory" in words and "in flight" in words)
    shown = "not tried, needs the right to mount" if words is None else "reported" if told else words
    print(f"data workers, /dev/shm of 1 MB: {shown}", flush=True)
    return bad + (seconds is None) + (not told)


def memory(options):
    """What steps of training and inferences leave behind."""
    from reliability import memory as slope

    bad = 0
    for kind, names, count in (
        ("training", slope.TRAINING, options.steps),
        ("inference", slope.INFERENCE, options.inferences),
        ("shapes", slope.SHAPES, options.steps),
    ):
        for name in names:
            found = slope.measured(kind, name, count)
            print(f"memory, {kind}, {name}: {count} steps, {found.resident:.0f} bytes ({found.used:.0f} in use) and "
                  f"{found.objects:.4f} objects a step", flush=True)  # fmt: skip
            bad += found.resident > slope.LIMIT
    return bad


def chaos(options):
    """Jobs of four hosts, disturbed: are the weights those of an undisturbed run?"""
    from reliability import chaos as disturbed

    bad = 0
    for name, restarts, seconds, wrong in disturbed.campaign(options.disturbances):
        print(f"four hosts, {name}: {restarts} restarts, {seconds:.0f} s, {wrong or 'equal bit for bit'}", flush=True)
        bad += wrong is not None
    return bad


def soak(options):
    """Trains, saves, loads, resumes, serves and is killed at random, for so many minutes."""
    from reliability import soak as stay

    told, wrong = stay.soak(60 * options.minutes, options.seed, lambda words: print(f"soak: {words}", flush=True))
    print(f"soak, {options.minutes:g} minutes: {told}, {wrong or 'nothing lost, nothing left behind'}", flush=True)
    return int(wrong is not None)


def guard(options):
    """Kernels between guard pages, where there is a C compiler."""
    if shutil.which("cc") is None or not sys.platform.startswith("linux"):
        print("guard pages: not tried, they need Linux and a C compiler", flush=True)
        return 0
    return subprocess.run([sys.executable, str(pathlib.Path(__file__).with_name("guard_pages.py"))]).returncode


PARTS = {
    "fuzz": fuzzing,
    "guided": guided,
    "guard": guard,
    "attacks": attacks,
    "kills": kills,
    "disk": disk,
    "resume": resume,
    "workers": workers,
    "memory": memory,
    "chaos": chaos,
    "soak": soak,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=list(PARTS), metavar=f"{{{','.join(PARTS)}}}")
    parser.add_argument("--inputs", type=int, default=100_000, help="inputs for each kind of file")
    parser.add_argument("--progress", help="a file that fuzzing notes its results in, and goes on from")
    parser.add_argument("--guided", type=int, default=100_000, help="inputs for each kind that atheris makes")
    parser.add_argument("--kinds", nargs="+", default=list(fuzz.KINDS), choices=fuzz.KINDS)
    parser.add_argument("--runs", type=int, default=50, help="runs that are killed and resumed")
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--steps", type=int, default=10_000, help="steps of training whose memory is measured")
    parser.add_argument("--inferences", type=int, default=100_000)
    parser.add_argument("--worker-faults", type=int, default=20, help="how often each fault of data workers happens")
    parser.add_argument("--disturbances", type=int, default=1, help="how often each disturbance of four hosts happens")
    parser.add_argument("--minutes", type=float, default=10, help="how long the soak lasts")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    sys.exit(1 if sum([PARTS[part](options) for part in options.parts]) else 0)


if __name__ == "__main__":
    main()
