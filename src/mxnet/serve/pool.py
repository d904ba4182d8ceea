"""The worker processes of a server: started, watched, replaced when they end, and asked on behalf of clients.

An answer depends on its request alone. So a request whose worker has died is given to another one, and no request that
was accepted is lost with a worker.
"""

import asyncio
import contextlib
import logging
import os
import sys

from .errors import Refused
from .link import Call, Link, NotThere, WorkerLost

LOG = logging.getLogger("mxnet.serve")
ATTEMPTS = 4  # workers that may die with one request
STARTS = 3  # attempts in a row in which the worker itself gives up before it is ready
PAUSE = 0.2  # seconds between two looks whether a new worker is ready, and before another attempt


class Worker:
    """A process with a socket of its own, and the connections to it that wait for use."""

    def __init__(self, path):
        self.path, self.process = path, None
        self.links, self.busy, self.ready = [], 0, False
        self.lost = False  # has a connection failed since its last answer? Its end may not be known yet

    async def start(self):
        """Start the process; it ends when its input does, and so never outlives this one."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path)
        command = [sys.executable, "-m", "mxnet.serve.worker", self.path]
        self.process = await asyncio.create_subprocess_exec(*command, stdin=asyncio.subprocess.PIPE)

    async def until_ready(self):
        """Wait until it answers, or has ended."""
        while self.process.returncode is None:
            try:
                answer = await self.ask(Call((b"GET", b"/v2/health/ready"), [], b""))
                if answer.what == (200,):
                    self.ready = True
                    return
            except WorkerLost:
                pass
            await asyncio.sleep(PAUSE)

    async def ask(self, call):
        """The answer to a request, over a connection that nobody else uses meanwhile."""
        self.links = [link for link in self.links if link.idle]
        link = self.links.pop() if self.links else await Link.open(self.path)
        self.busy += 1
        done = False
        try:
            answer = await link.ask(call)
            done, self.lost = link.idle, False
            return answer
        finally:
            self.busy -= 1
            self.links.append(link) if done else link.close()

    async def ended(self):
        """Wait for the end of the process; the exit code."""
        code = await self.process.wait()
        self.ready = False
        for link in self.links:
            link.close()
        self.links = []
        return code

    async def stop(self, patience):
        """Ask it to end, and make it end."""
        if self.process is None or self.process.returncode is not None:
            return
        self.process.terminate()
        try:
            await asyncio.wait_for(self.process.wait(), patience)
        except asyncio.TimeoutError:
            self.process.kill()
            await self.process.wait()


class Pool:
    """Several workers; each request goes to the one with the least to do."""

    def __init__(self, folder, count, longest, on_death=lambda pid: None, on_retry=lambda: None):
        self.workers = [Worker(os.path.join(folder, f"worker-{number}")) for number in range(count)]
        self._longest, self._waiting = longest * count, 0
        self._on_death, self._on_retry = on_death, on_retry
        self._change, self._tasks, self.broken = asyncio.Event(), [], ""

    @property
    def ready(self):
        """Can anybody answer?"""
        return any(worker.ready for worker in self.workers)

    async def start(self):
        """Start all, and wait for the first."""
        self._tasks = [asyncio.create_task(self._keep(worker)) for worker in self.workers]
        await self._until(lambda: self.ready or self.broken)
        if self.broken:
            raise RuntimeError(self.broken)

    async def stop(self, patience):
        """End all workers."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.gather(*(worker.stop(patience) for worker in self.workers))

    async def _keep(self, worker):
        """Start a worker again whenever it ends."""
        failures = 0
        while failures < STARTS:
            await worker.start()
            await worker.until_ready()
            self._change.set()
            was_ready, pid, code = worker.ready, worker.process.pid, await worker.ended()
            LOG.warning("worker process %d has ended with exit code %d and is replaced", pid, code)
            self._on_death(pid)
            if was_ready:
                failures = 0
                continue
            failures += code > 0  # one that was killed tells nothing of the next one
            await asyncio.sleep(PAUSE)
        self.broken = f"a worker process has ended {STARTS} times before it was ready"
        LOG.error(self.broken)
        self._change.set()

    async def _until(self, condition):
        while not condition():
            self._change.clear()
            await self._change.wait()

    async def ask(self, call):
        """The answer of some worker; of another one if that dies meanwhile."""
        if self._waiting >= self._longest:
            raise Refused(503, "too many requests are waiting", {"retry-after": "1"})
        self._waiting += 1
        try:
            return await self._ask(call)
        finally:
            self._waiting -= 1

    async def _ask(self, call):
        attempts = 0
        while attempts < ATTEMPTS:
            await self._until(lambda: self.ready or self.broken)
            if not self.ready:
                raise Refused(503, "no worker process can be started")
            worker = min((one for one in self.workers if one.ready), key=lambda one: (one.lost, one.busy))
            try:
                return await worker.ask(call)
            except WorkerLost as error:
                worker.lost = True
                attempts += not isinstance(error, NotThere)
                self._on_retry()
                await asyncio.sleep(0.01)
        raise Refused(500, "the server failed to answer this request")
