"""What Prometheus is told: requests by status, their time, rows in a batch, and the length of the queue."""

import os

from .._core import extras

NEED = "remx serve runs on Starlette and uvicorn, which cannot be imported"
FOLDER = "PROMETHEUS_MULTIPROC_DIR"  # where several worker processes add up


class Metrics:
    """The counters of one server."""

    def __init__(self):
        client = extras.load(NEED, "serve", "prometheus_client", "prometheus_client.multiprocess")
        self._client, self._registry = client, client.CollectorRegistry()
        own = {"registry": self._registry}
        self.requests = client.Counter("remx_requests", "answered requests", ["path", "status"], **own)
        self.seconds = client.Histogram("remx_request_seconds", "seconds of a request", ["path"], **own)
        rows = [2**n for n in range(11)]
        self.rows = client.Histogram("remx_batch_rows", "rows that were computed together", buckets=rows, **own)
        self.waiting = client.Gauge("remx_queue_length", "waiting requests", multiprocess_mode="livesum", **own)

        self.deaths = client.Counter("remx_worker_deaths", "worker processes that have ended", **own)
        self.retries = client.Counter("remx_retried_requests", "requests given to another worker", **own)

    def forget(self, pid):
        """Leave out the gauges of a process that has ended; what it has counted stays."""
        self._client.multiprocess.mark_process_dead(pid)

    def text(self):
        """(body, content type) of /metrics, over all worker processes."""
        registry = self._registry
        if FOLDER in os.environ:
            registry = self._client.CollectorRegistry()
            self._client.multiprocess.MultiProcessCollector(registry)
        return self._client.generate_latest(registry), self._client.CONTENT_TYPE_LATEST
