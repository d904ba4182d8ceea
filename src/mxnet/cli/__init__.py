"""The command line `remx`: what a person does with networks, data and old programs without writing Python."""

import argparse
import os
import select
import subprocess
import sys
from importlib import import_module

from .._core.errors import MXNetError
from .._core.version import MXNET_VERSION, REMX_VERSION

# command -> the module that has `add(parser)` and `run(options)`; loaded only for help of its own and when it runs
_COMMANDS = {
    "info": ("info", "versions, devices and features of this installation, and what is missing"),
    "summary": ("summary", "the layers of a saved network as a table"),
    "plot": ("plot", "a saved network as a picture"),
    "convert": ("convert", "between MXNet's files, safetensors and ONNX, and from torchvision's and timm's weights"),
    "fetch": ("fetch", "data sets, published weights and embeddings from whichever mirror still has them"),
    "check": ("check", "which MXNet names of a program ReMX lacks or treats differently"),
    "explain": ("explain", "what computes each layer of a saved network, why, and for how long"),
    "selftest": ("selftest", "run every operator and small trainings on this machine's GPU, beside its CPU"),
    "serve": ("serve", "a saved network as a service over HTTP"),
    "warmup": ("warmup", "compile the CPU kernels ahead of time, so that no program waits for them"),
    "completion": ("completion", "completion of commands, options and files for bash, zsh or fish"),
    "bench": ("bench", "how fast this machine runs small calls and a small network"),
}
READER_GONE = 141  # the code of a program that SIGPIPE ended
_TOOLS = {
    "demo": ("mxnet.tools.demo", "train LeNet on the bundled digits"),
    "im2rec": ("mxnet.tools.im2rec", "image lists and record files from folders of images"),
    "run": ("mxnet.cli.run", "run an old program with names put back that NumPy, Python and others have dropped"),
    "launch": ("mxnet.tools.launch", "start the workers of a distributed job"),
}


def _parser(wanted):
    parser = argparse.ArgumentParser(prog="remx", description=__doc__)
    parser.add_argument(
        "--version", action="version", version=f"remx {REMX_VERSION} (the API of MXNet {MXNET_VERSION})"
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, (module, text) in _COMMANDS.items():
        command = commands.add_parser(name, help=text, description=text)
        if name == wanted:
            import_module(f"{__name__}.{module}").add(command)
    for name, (_, text) in _TOOLS.items():
        commands.add_parser(name, help=text, add_help=False)
    return parser


def _run_tool(name, arguments):
    """A tool parses its own arguments; what it returns is an exit code only if it is a number of its kind."""
    code = import_module(_TOOLS[name][0]).main(arguments)
    return code if isinstance(code, int) else 0


def _run_command(name, arguments):
    options = _parser(name).parse_args(arguments)
    return import_module(f"{__name__}.{_COMMANDS[name][0]}").run(options) or 0


def _reader_is_gone():
    """Has the program that read the output, such as `head`, ended? What is left in the buffer then goes nowhere."""
    if sys.stdout is not sys.__stdout__ or not hasattr(select, "poll"):
        return False
    pipe = select.poll()
    pipe.register(sys.stdout.fileno(), 0)  # reports errors only
    if not pipe.poll(0):
        return False
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
    return True


def main(arguments=None):
    """Run one command; the exit code. Faults of the user's files are one line, not a traceback."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    wanted = arguments[0] if arguments else None
    try:
        code = _run_tool(wanted, arguments[1:]) if wanted in _TOOLS else _run_command(wanted, arguments)
        sys.stdout.flush()  # a reader that is gone is noticed here, not when the interpreter ends
        return code
    except (MXNetError, OSError, ImportError, ValueError, subprocess.SubprocessError) as error:
        if isinstance(error, BrokenPipeError) and _reader_is_gone():
            return READER_GONE
        print(f"remx {wanted}: {error}", file=sys.stderr)
        return 1
