"""`remx serve --workers N`: the process that clients talk to. It computes nothing; its workers do."""

import asyncio
from contextlib import asynccontextmanager

from . import kserve, predictions
from .app import Bodies, answered
from .link import Call
from .metrics import Metrics
from .pool import Pool


class Front(Bodies):
    """Takes whole requests and hands them to the pool."""

    def __init__(self, settings, folder, workers):
        self.settings, self.metrics = settings, Metrics()
        lost = {"on_death": self._died, "on_retry": self.metrics.retries.inc}
        self.pool = Pool(folder, workers, settings.queue, **lost)

    def _died(self, pid):
        self.metrics.deaths.inc()
        self.metrics.forget(pid)

    @asynccontextmanager
    async def lifespan(self, _):
        """Requests that were accepted are answered before this ends."""
        await self.pool.start()
        yield
        await self.pool.stop(self.settings.timeout + 1)

    async def forward(self, request):
        """The answer of a worker."""
        from starlette.responses import Response

        target = request.scope["raw_path"]
        if request.scope["query_string"]:
            target += b"?" + request.scope["query_string"]
        call = Call((request.method.encode(), target), request.scope["headers"], await self.body(request))
        answer = await self.pool.ask(call)
        made = Response(answer.body, answer.what[0])
        made.raw_headers = [(b"content-length", str(len(answer.body)).encode()), *answer.headers]
        return made


def application(settings, folder, workers):
    """The ASGI application of the front process."""
    from starlette.applications import Starlette
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Route

    front = Front(settings, folder, workers)

    async def forward(request):
        told = predictions.error if request.url.path.startswith("/predictions/") else kserve.error
        limit = settings.timeout + 1  # the worker's own limit answers first
        return await answered(front, request, front.forward(request), limit, told)

    async def ready(request):
        return JSONResponse({"ready": front.pool.ready}, 200 if front.pool.ready else 503)

    async def metrics(request):
        body, kind = await asyncio.to_thread(front.metrics.text)
        return Response(body, media_type=kind)

    routes = [
        Route("/v2/health/live", lambda request: JSONResponse({"live": True})),
        Route("/v2/health/ready", ready),
        Route("/metrics", metrics),
        Route("/{path:path}", forward, methods=["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"]),
    ]
    return Starlette(routes=routes, lifespan=front.lifespan)
