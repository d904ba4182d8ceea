"""`remx serve PREFIX --shape 1,3,224,224`: a saved network as a service over HTTP."""

import argparse
import contextlib
import os
import socket
import tempfile

from .._core import extras
from .._core.arguments import at_least, port
from .._core.errors import MXNetError
from ..serve.tensors import DATATYPE_OF
from ._networks import add_network, known_shapes, load_symbol, params_path


def _type_of(text):
    name, _, dtype = text.rpartition("=")
    if dtype not in DATATYPE_OF:
        raise argparse.ArgumentTypeError(f"{dtype!r} is not one of {', '.join(DATATYPE_OF)}")
    return name or "data", dtype


def _seconds(text):
    try:
        if 0 <= float(text) < float("inf"):
            return float(text)
    except ValueError:
        pass
    raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds")


def _name(text):
    if "/" in text:
        raise argparse.ArgumentTypeError(f"{text!r} cannot be part of a path: a name has no slash")
    return text


def add(parser):
    """The command's own options."""
    add_network(parser)
    parser.add_argument("--type", action="append", default=[], metavar="[NAME=]DTYPE", type=_type_of,
                        help="dtype of an input, float32 if left out; may be repeated")  # fmt: skip
    parser.add_argument("--epoch", type=at_least(0), help="which parameters; the latest if left out")
    parser.add_argument("--name", type=_name, help="the model's name in paths; the last part of PREFIX if left out")
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on; loopback if left out")
    parser.add_argument("--port", type=port, default=8080, help="the port to listen on")
    parser.add_argument("--workers", type=at_least(1), default=1, help="processes that answer")
    parser.add_argument("--max-batch", type=at_least(1), default=32, help="rows that are computed together")
    parser.add_argument("--max-delay", type=_seconds, default=0.0, help="seconds that a request waits for others")
    parser.add_argument("--max-body", type=at_least(1), default=64 << 20, help="bytes that a body may have")
    parser.add_argument("--timeout", type=_seconds, default=30.0, help="seconds for a request")
    parser.add_argument("--queue", type=at_least(1), default=1024, help="requests that may wait")
    parser.add_argument("--max-bodies", type=at_least(1), default=1 << 30, help="bytes of all bodies that may wait")


def settings_of(options):
    """What the options say, checked against the network's files."""
    from ..serve.settings import Settings

    prefix = options.prefix.removesuffix("-symbol.json")
    shapes = known_shapes(load_symbol(prefix), options.shape)
    if not shapes:
        raise MXNetError("give the shape of every input, with the batch first: --shape data=1,3,224,224")
    if strange := set(dict(options.type)) - set(shapes):
        raise MXNetError(f"--type: the network has no input {', '.join(sorted(strange))}; it has {', '.join(shapes)}")
    path = params_path(prefix, options.epoch)
    epoch = int(path.name.removesuffix(".params").rpartition("-")[2])
    names = ("max_batch", "max_delay", "max_body", "timeout", "queue", "max_bodies")
    limits = {name: getattr(options, name) for name in names}
    return Settings(prefix, epoch, options.name or os.path.basename(prefix), shapes, dict(options.type), **limits)


def run(options):
    """Serve until a signal ends it; requests that were accepted are answered first. The exit code."""
    from ..serve.metrics import FOLDER, NEED

    with tempfile.TemporaryDirectory(prefix="remx-serve-") as folder:
        if options.workers > 1:
            os.environ[FOLDER] = folder  # before the first import of prometheus_client, which looks at it
        uvicorn = extras.load(NEED, "serve", "uvicorn", "starlette", "prometheus_client", "h11", "httptools")
        from ..serve.connection import CONFIG

        settings = settings_of(options)
        app = _application(settings, options.workers, folder)
        with _bound(options.host, options.port) as listener:
            host = f"[{options.host}]" if ":" in options.host else options.host
            address = f"http://{host}:{listener.getsockname()[1]}"
            print(f"{settings.name} at {address}/v2/models/{settings.name}", flush=True)
            patience = int(settings.timeout) + 1
            server = uvicorn.Server(
                uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=patience, **CONFIG)
            )
            with contextlib.suppress(KeyboardInterrupt):
                server.run(sockets=[listener])
        return 0 if server.started else 1


def _bound(host, number):
    """A socket with the address, which refuses connections until the server listens; the port is any free one if 0."""
    found = None
    try:
        family, _, _, _, address = socket.getaddrinfo(host, number, type=socket.SOCK_STREAM)[0]
        found = socket.socket(family, socket.SOCK_STREAM)
        if os.name == "posix":
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(address)
        return found
    except OSError as error:
        if found is not None:
            found.close()
        raise MXNetError(f"cannot listen on {host}, port {number}: {error.strerror}") from None


_ALONE = (
    "requests are computed one by one, in the given shapes: the first axis of the inputs is no batch, "
    "because outputs have another length or depend on more than their own row"
)


def _application(settings, workers, folder):
    """What answers: the model itself, or a front before several processes that have it."""
    from ..serve.model import Model

    model = Model(settings)  # here in any case: what is wrong with the files is said once
    if not model.has_rows:
        print(_ALONE, flush=True)
    if workers == 1:
        from ..serve.app import application

        return application(settings, model)
    from ..serve import front

    settings.publish()
    return front.application(settings, folder, workers)
