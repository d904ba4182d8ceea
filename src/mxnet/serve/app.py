"""The HTTP application: KServe v2, the prediction calls of MXNet Model Server and TorchServe, health and metrics."""

import asyncio
import logging
import time
from contextlib import asynccontextmanager

from .._core import extras
from .._core.version import REMX_VERSION
from . import kserve, predictions
from .batching import Batcher
from .errors import Refused
from .metrics import NEED, Metrics
from .model import Model

LOG = logging.getLogger("mxnet.serve")


class Bodies:
    """Reads bodies of requests up to a limit for each, and one for all that are not answered yet."""

    held = 0  # bytes

    async def body(self, request):
        """The body of a request, while it is not too large."""
        longest, parts, size = self.settings.max_body, [], 0
        if (coding := request.headers.get("content-encoding", "identity").lower()) != "identity":
            words = f"a body must not be compressed, this one is {coding[:20]}"
            raise Refused(415, words, {"accept-encoding": "identity"})
        told = request.headers.get("content-length", "0")
        if told.isdecimal() and int(told) > longest:
            raise Refused(413, f"a body may have {longest} bytes, this one has {told}")
        async for part in request.stream():
            size += len(part)
            if size > longest:
                raise Refused(413, f"a body may have {longest} bytes")
            self._hold(request, len(part))
            parts.append(part)
        return b"".join(parts)

    def _hold(self, request, count):
        if self.held + count > self.settings.max_bodies:
            raise Refused(503, "too many bytes are waiting", {"retry-after": "1"})
        self.held += count
        request.state.held = getattr(request.state, "held", 0) + count

    def release(self, request):
        """The request is answered: its body no longer counts."""
        self.held -= getattr(request.state, "held", 0)


class Server(Bodies):
    """A model with its queue and its counters, as the handlers see it."""

    def __init__(self, settings, model):
        self.settings, self.model, self.metrics = settings, model, Metrics()
        self.batcher, self.ready = None, False

    @asynccontextmanager
    async def lifespan(self, _):
        """Ready between the start and the end of the event loop; what was accepted is answered at the end."""
        limits = self.model.max_batch, self.settings.max_delay, self.settings.queue
        self.batcher = Batcher(self.model.run, *limits, self.metrics.rows.observe, self.metrics.waiting.set)
        self.batcher.start()
        self.ready = True
        yield
        self.ready = False
        await self.batcher.stop()

    def check_model(self, name, version=None):
        """Only the model that is served is known, and only its epoch."""
        if name != self.model.name:
            raise Refused(404, f"there is no model {name!r}; this server has {self.model.name!r}")
        if version not in (None, self.model.version):
            raise Refused(404, f"{name} has no version {version!r}; it has {self.model.version!r}")

    async def infer(self, arrays):
        """The outputs for a request's inputs."""
        rows = self.model.rows_of(arrays)
        return await self.batcher.submit(arrays, rows)


async def answered(server, request, coming, limit, told):
    """An answer within `limit` seconds; faults are answers too, in the words of their protocol."""
    from starlette.requests import ClientDisconnect
    from starlette.responses import JSONResponse, Response

    try:
        return await asyncio.wait_for(coming, limit)
    except Refused as error:
        return JSONResponse(told(error.status, str(error)), error.status, error.headers)
    except asyncio.TimeoutError:
        return JSONResponse(told(504, f"no answer within {limit:g} s"), 504)
    except ClientDisconnect:
        return Response(status_code=499)
    except Exception:  # a fault of ours: the client learns only that it happened, the log has all
        LOG.exception("a request failed")
        return JSONResponse(told(500, "the server failed to answer this request"), 500)
    finally:
        server.release(request)


def handler(server, function, told):
    """A handler with a limit of time and counters."""

    async def handle(request):
        start, path = time.perf_counter(), function.__name__
        answer = await answered(server, request, function(server, request), server.settings.timeout, told)
        server.metrics.requests.labels(path, str(answer.status_code)).inc()
        server.metrics.seconds.labels(path).observe(time.perf_counter() - start)
        return answer

    return handle


async def metrics(server, request):
    """GET /metrics."""
    from starlette.responses import Response

    body, kind = server.metrics.text()
    return Response(body, media_type=kind)


def application(settings, model=None):
    """The ASGI application that serves one model: that of the settings, or another one with the same methods."""
    extras.load(NEED, "serve", "starlette.applications")
    from starlette.applications import Starlette
    from starlette.routing import Route

    server = Server(settings, model or Model(settings))
    table = [(kserve.error, kserve.ROUTES), (predictions.error, predictions.ROUTES)]
    table.append((kserve.error, [("GET", "/metrics", metrics)]))
    routes = [
        Route(path, handler(server, function, told), methods=[method])
        for told, found in table
        for method, path, function in found
    ]
    LOG.info("remx %s serves %s, version %s", REMX_VERSION, server.model.name, server.model.version)
    return Starlette(routes=routes, lifespan=server.lifespan, exception_handlers={404: _unknown, 405: _unknown})


async def _unknown(request, error):
    from starlette.responses import JSONResponse

    words = {404: "unknown path", 405: "wrong method"}[error.status_code]
    told = kserve.error(error.status_code, f"{words}: {request.method} {request.url.path}")
    return JSONResponse(told, error.status_code)
