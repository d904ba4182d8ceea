"""`remx selftest`: every operator, six small trainings and two timings on this machine's GPU, beside its CPU.

The report can be attached to an issue: it says what was run on which device, and what differed.
"""

import json
import platform
import sys

from .._core.errors import MXNetError
from .._core.version import REMX_VERSION
from .._formats.atomic import atomic_write
from ._output import table


def add(parser):
    """The command's own options."""
    parser.add_argument("--device", choices=("gpu", "cpu"), help="what to test; a GPU if there is one")
    parser.add_argument("--json", metavar="FILE", help="write the report to a file, too")
    parser.add_argument("--no-speed", action="store_true", help="leave the timings out")


def _context(name):
    from ..context import cpu, gpu, num_gpus

    if name == "cpu" or (name is None and not num_gpus()):
        return cpu()
    from .._ops.registry.device import torch_device

    torch_device(gpu(0))  # says what is missing
    return gpu(0)


def _facts(ctx):
    """What the report begins with."""
    import torch

    facts = {
        "remx": REMX_VERSION,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "system": platform.platform(),
        "device": str(ctx),
        "device name": platform.processor() or platform.machine(),
    }
    if ctx.device_type == "gpu" and torch.cuda.is_available():
        capability = ".".join(map(str, torch.cuda.get_device_capability(0)))
        facts |= {
            "device name": torch.cuda.get_device_name(0),
            "compute capability": capability,
            "CUDA": torch.version.cuda or "none",
            "ROCm": torch.version.hip or "none",
            "cuDNN": str(torch.backends.cudnn.version()) if torch.backends.cudnn.is_available() else "none",
            "GPUs": str(torch.cuda.device_count()),
        }
    elif ctx.device_type == "gpu" and torch.backends.mps.is_available():
        facts["device name"] = "Apple MPS"
    return facts


def _is_cuda(ctx):
    from .._ops.registry.device import torch_device

    return torch_device(ctx).type == "cuda"


def _progress(done):
    if sys.stderr.isatty() and done % 10 == 0:
        print(f"\r{done} samples", end="", file=sys.stderr, flush=True)


def report(ctx, speed=True):
    """All that is found out, as plain values."""
    from ._selftest import operators, training
    from ._selftest import speed as timings

    passed, failures = operators.check(ctx, _progress)
    found = {
        "facts": _facts(ctx),
        "operators": {"passed": passed, "failed": failures},
        "trainings": training.check(ctx),
        "graphs": training.check_graphs(ctx) if _is_cuda(ctx) else [],
        "speed": [],
        "not measured": [],
    }
    if speed:
        found["speed"], found["not measured"] = timings.measure(ctx, small=ctx.device_type == "cpu")
    return found


def _show(found):
    table(("", ""), found["facts"].items())
    operators = found["operators"]
    print(f"\noperators: {operators['passed']} samples equal the CPU's, {len(operators['failed'])} do not")
    if operators["failed"]:
        table(("operator", "what is wrong"), operators["failed"])
    print()
    rows = [
        (name, ("as on the CPU" if same else f"differs: {got} instead of {want}") + "".join(f"; {r}" for r in why if r))
        for name, want, got, same, *why in [*found["trainings"], *found["graphs"]]
    ]
    table(("training", "losses"), rows)
    if found["speed"]:
        print()
        rows = [(what, f"{ours:.2f}", f"{theirs:.2f}", f"{theirs / ours:.2f}") for what, ours, theirs in found["speed"]]
        table(("milliseconds", "remx", "torch", "torch / remx"), rows)
    for name, reason in found["not measured"]:
        print(f"\n{name} could not be measured: {reason}")


def run(options):
    """Test, print, and write the file; 1 if anything differed."""
    ctx = _context(options.device)
    found = report(ctx, not options.no_speed)
    _show(found)
    if options.json:
        try:
            with atomic_write(options.json) as file:
                file.write(json.dumps(found, indent=1).encode())
        except OSError as error:
            raise MXNetError(f"the report cannot be written to {options.json}: {error.strerror}") from None
    wrong = found["operators"]["failed"] or [row for row in [*found["trainings"], *found["graphs"]] if not row[3]]
    return 1 if wrong else 0
