"""The other workers of `dist_async`: connections to their shards, requests on their way, and who still lives."""

import atexit
import collections
import contextlib
import logging
import os
import selectors
import sys
import threading
import time

import torch
import torch.distributed as dist

from .._core.errors import MXNetError
from .._wire import addresses, handshake, pulse, secret
from .._wire.channel import ChannelError
from .._wire.server import Server
from . import arrays, group, shard

PULSE = 1.0  # seconds between two questions whether the others live
ON_THEIR_WAY = 64  # requests whose answers were not read yet; more could fill the buffers of both directions
NAME = 64  # bytes in which a worker tells the others where its port is


class Answer:
    """What a worker says to one request."""

    def __init__(self, peer=None, items=None, error=None):
        self.peer, self.items, self.error = peer, items, error

    def wait(self):
        """[(key, sent)], as soon as they are here."""
        if self.items is None and self.error is None:
            self.peer.read_until(self)
        if self.error is not None:
            raise self.error
        return self.items

    def set(self, header, buffers):
        """Take what has arrived."""
        if said := header.get("refused"):
            self.error = MXNetError(f"{said} (said by worker {self.peer.rank}, which holds the key)")
        elif said := header.get("failed"):
            self.error = MXNetError(f"worker {self.peer.rank}, which holds the key, failed: {said}")
        else:
            self.items = arrays.unpack_items(header, buffers)


class Here:
    """This process's own shard, which needs no messages."""

    def ask(self, call, items):
        try:
            return Answer(items=shard.call(call, items))
        except MXNetError as error:
            return Answer(error=error)


class Peer:
    """Another worker's shard. Answers come in the order of the requests."""

    def __init__(self, rank, channel):
        self.rank, self.channel = rank, channel
        self._waiting = collections.deque()
        self._writing, self._reading = threading.Lock(), threading.RLock()

    def ask(self, call, items):
        """Send a request; its arrays may change afterwards."""
        header, buffers = arrays.pack_items(items)
        answer = Answer(self)
        with self._writing:
            if len(self._waiting) >= ON_THEIR_WAY:
                self.read_until(self._waiting[0])
            with self._blamed():
                self.channel.send({"call": call, **header}, buffers)
            self._waiting.append(answer)
        return answer

    def read_until(self, answer):
        """Read answers up to this one."""
        with self._reading, self._blamed():
            while answer.items is None and answer.error is None:
                header, buffers = self.channel.receive()
                self._waiting.popleft().set(header, buffers)

    @contextlib.contextmanager
    def _blamed(self):
        try:
            yield
        except ChannelError as error:
            raise ChannelError(f"worker {self.rank}: {error}") from None


class Watch:
    """Asks the other workers now and then whether they live: who holds no key of ours would not be missed else.

    They answer from a thread of their own, with the time since their program last used the store: one that hangs
    elsewhere is missed, too.
    """

    def __init__(self):
        self.lost, self._departed, self._leaving = "", set(), False
        self._channels, self._heard, self._used, self._change = {}, {}, {}, threading.Condition()
        self._thread, self._stop = None, False

    def start(self, channels, patience):
        self._channels, self._patience = channels, patience
        self._heard = dict.fromkeys(channels, time.monotonic())
        self._thread = threading.Thread(target=self._run, daemon=True, name="watch over workers")
        self._thread.start()

    def check(self):
        """Raise if a worker is gone."""
        if self.lost:
            raise ChannelError(self.lost)

    # ------------------------------------------------------------------ asking
    def _run(self):
        with selectors.DefaultSelector() as selector:
            for rank, channel in self._channels.items():
                selector.register(channel.sock, selectors.EVENT_READ, rank)
            unanswered = set()
            while not self._stop and not self.lost:
                self._ask(selector, set(self._channels) - unanswered - self._departed)
                unanswered = set(self._channels) - self._departed - self._listen(selector)
                self._find_silent(unanswered)
                self._find_idle()

    def _ask(self, selector, ranks):
        for rank in ranks:
            try:
                self._channels[rank].send({"call": "alive"})
            except ChannelError as error:
                self._gone(rank, error)

    def _listen(self, selector):
        """Who answers before the next question is due."""
        end, answered = time.monotonic() + PULSE, set()
        while (left := end - time.monotonic()) > 0 and not self._stop and not self.lost:
            for key, _ in selector.select(min(left, 0.2)):
                if self._hear(key.data):
                    answered.add(key.data)
                else:
                    selector.unregister(key.fileobj)
        return answered

    def _hear(self, rank):
        try:
            header, _ = self._channels[rank].receive()
        except ChannelError as error:
            self._gone(rank, error)
            return False
        self._heard[rank] = time.monotonic()
        self._used[rank] = self._heard[rank] - header.get("idle", 0.0)
        return True

    def _find_silent(self, ranks):
        for rank in ranks:
            silent = time.monotonic() - self._heard[rank]
            if silent > self._patience:
                since = pulse.clock(self._heard[rank])
                self._say(f"worker {rank} has been silent since {since}, for {silent:.0f} s")
                self._channels[rank].close()

    def _find_idle(self):
        """Who answers, but whose program has not used the store for too long: while others train, it hangs."""
        for rank in set(self._used) - self._departed:
            idle = self._heard[rank] - self._used[rank]
            if idle > self._patience:
                words = f"worker {rank} has not used the store since {pulse.clock(self._used[rank])}, for {idle:.0f} s"
                self._forsake(rank, words) if self._leaving else self._say(words)

    def _forsake(self, rank, words):
        """Nobody trains any more who would miss it: it may be busy with something of its own."""
        logging.warning("%s: this worker does not wait for it any longer", words)
        with self._change:
            self._departed.add(rank)
            self._change.notify_all()

    def _gone(self, rank, error):
        if rank not in self._departed and not self._stop:
            self._say(f"worker {rank}: {error}")

    def _say(self, words):
        with self._change:
            self.lost = self.lost or words
            self._change.notify_all()

    # ------------------------------------------------------------------ being asked
    def serve(self, rank, channel):
        """Answer another worker's watch until it says goodbye."""
        try:
            while True:
                header, _ = channel.receive(wait=True)
                if header.get("call") == "bye":
                    with self._change:
                        self._departed.add(rank)
                        self._change.notify_all()
                channel.send({"idle": pulse.idle()})
        except ChannelError as error:
            self._gone(rank, error)

    # ------------------------------------------------------------------ the end
    def leave(self, wait):
        """Say goodbye, and stay until all others have or use the store no longer: they may need the values here."""
        self._leaving = True
        for channel in self._channels.values():
            with contextlib.suppress(ChannelError):
                channel.send({"call": "bye"})
        with self._change:
            while wait and not self.lost and len(self._departed) < len(self._channels):
                self._change.wait(1.0)
        self._stop = True
        if self._thread is not None:
            self._thread.join()


WATCH = Watch()


class Peers:
    """All shards by rank, once connected."""

    shards = server = None


def _address():
    if group.Meeting.address is not None:
        return group.Meeting.address
    master = os.environ.get("MASTER_ADDR", addresses.LOOPBACK)  # the program has made the process group itself
    return addresses.own(master, dist.get_world_size())


def _tell_all(where):
    """Every worker's (address, port)."""
    text = f"{where[0]} {where[1]}".encode().ljust(NAME)
    told = group.gather_over_workers(torch.frombuffer(bytearray(text), dtype=torch.uint8))
    return [(a, int(p)) for a, p in (row.numpy().tobytes().decode().split() for row in told)]


def _serve_shard(rank, channel):
    with contextlib.suppress(ChannelError):  # the watch tells when a worker is gone
        while True:
            channel.send(*shard.answer(*channel.receive(wait=True)))


def connect():
    """Open this worker's port and connect to those of all others, once."""
    if Peers.shards is not None:
        return
    rank, world, patience = dist.get_rank(), dist.get_world_size(), group._patience().total_seconds()
    key = group.Meeting.secret or secret.of_job()
    others = [other for other in range(world) if other != rank]

    def serve(member, channel):
        _serve_shard(member, channel) if member < world else WATCH.serve(member - world, channel)

    with group.contact():
        members = [*others, *(world + other for other in others)]  # a second connection for each one's watch
        Peers.server = Server((_address(), 0), key, f"shard {rank} of {world}", members, serve, patience)
        places = _tell_all(Peers.server.address)
        channels = {
            (other, member): handshake.connect(places[other], key, f"shard {other} of {world}", member, patience)
            for other in others
            for member in (rank, world + rank)
        }
        Peers.shards = [Here() if other == rank else Peer(other, channels[other, rank]) for other in range(world)]
        WATCH.start({other: channels[other, world + rank] for other in others}, patience)
        dist.barrier()
    atexit.register(disconnect)


def _has_failed():
    """Does this process end by an exception? Then the others should miss it at once."""
    return getattr(sys, "last_value", None) is not None and not hasattr(sys, "ps1")


def disconnect():
    """Leave when all workers are done."""
    if not _has_failed():
        WATCH.leave(wait=not group.Lost.seen)
