"""Requests that come at the same time are computed together, up to a bound of rows."""

import asyncio
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from .errors import Refused


class Waiting(NamedTuple):
    """A request in the queue."""

    inputs: dict
    rows: int
    answer: Any  # a future


class Batcher:
    """A queue before a model, and the thread that computes; while it does, the next batch gathers."""

    def __init__(self, run, max_batch, max_delay=0.0, queue=1024, seen=lambda rows: None, queued=lambda n: None):
        self._run, self._max_batch, self._max_delay, self._longest = run, max_batch, max_delay, queue
        self._waiting, self._seen, self._queued = deque(), seen, queued
        self._thread = ThreadPoolExecutor(1, "serve")
        self._came, self._task = asyncio.Event(), None

    def __len__(self):
        return len(self._waiting)

    def start(self):
        """Begin to compute; called in the event loop."""
        self._task = asyncio.get_running_loop().create_task(self._serve())

    async def stop(self):
        """End when all that was accepted is answered."""
        self._longest = 0
        while self._waiting and not self._task.done():
            await asyncio.sleep(0.01)
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        self._thread.shutdown()

    async def submit(self, inputs, rows):
        """The outputs for some inputs."""
        if len(self._waiting) >= self._longest:
            raise Refused(503, "too many requests are waiting", {"retry-after": "1"})
        answer = asyncio.get_running_loop().create_future()
        one = Waiting(inputs, rows, answer)
        self._waiting.append(one)
        self._queued(len(self._waiting))
        self._came.set()
        try:
            return await answer
        except asyncio.CancelledError:  # the client has given up, or waited too long
            self._waiting = deque(other for other in self._waiting if other is not one)
            self._queued(len(self._waiting))
            raise

    async def _serve(self):
        while True:
            self._came.clear()
            if not self._waiting:
                await self._came.wait()
            await self._gather_more()
            if batch := self._take():
                await self._answer(batch)

    async def _gather_more(self):
        """Wait for more requests, if that is wanted and the batch is not full."""
        limit = asyncio.get_running_loop().time() + self._max_delay
        while sum(one.rows for one in self._waiting) < self._max_batch:
            left = limit - asyncio.get_running_loop().time()
            if left <= 0:
                return
            self._came.clear()
            try:
                await asyncio.wait_for(self._came.wait(), left)
            except asyncio.TimeoutError:
                return

    def _take(self):
        """The oldest requests that fit in a batch; those that nobody waits for any more are dropped."""
        batch, rows = [], 0
        while self._waiting and (not batch or rows + self._waiting[0].rows <= self._max_batch):
            one = self._waiting.popleft()
            if not one.answer.done():
                batch.append(one)
                rows += one.rows
        self._queued(len(self._waiting))
        return batch

    async def _answer(self, batch):
        self._seen(sum(one.rows for one in batch))
        loop = asyncio.get_running_loop()
        try:
            found = await loop.run_in_executor(self._thread, self._run, [one.inputs for one in batch])
        except Exception as error:  # whatever the network raises belongs to a request, and the server goes on
            await self._answer_failed(batch, error)
            return
        for one, outputs in zip(batch, found, strict=True):
            if not one.answer.done():
                one.answer.set_result(outputs)

    async def _answer_failed(self, batch, error):
        """The error of a request alone; the requests of a batch are computed once more, each by itself."""
        if len(batch) > 1:
            for one in batch:
                await self._answer([one])
        elif not batch[0].answer.done():
            batch[0].answer.set_exception(error)
