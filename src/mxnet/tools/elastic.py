"""Jobs whose workers come and go: `remx launch -n 1:4 --discovery ./hosts.sh python train.py`.

A command says which hosts there are, in lines such as `host1:2` or `localhost:4`, and is asked again every second. When
what it says changes, or a worker dies, all workers start again with those that there are now, and the program goes on
from the last step that it has saved (`mx.checkpoint.Run(..., store=kv)`).
"""

import shlex
import subprocess
import threading
import time

from .._core.errors import MXNetError
from .._wire import addresses
from .agent import say

INTERVAL = 1.0  # seconds between two questions
PATIENCE = 30.0  # seconds for an answer
RESTARTS = 10  # starts after failures, where --max-restarts does not say how many


class Changed(Exception):
    """There are other hosts now."""


MOST = 65535  # workers of a job; more are a slip of the finger, and would be started one after the other


def bounds(text):
    """(least, most) of `1:4`, or of a number alone."""
    least, colon, most = text.partition(":")
    if not (least.isdecimal() and (most.isdecimal() or not colon)):
        raise ValueError(text)
    least, most = int(least), int(most or least)
    if not 1 <= least <= most <= MOST:
        raise ValueError(text)
    return least, most


def slots_of(text):
    """[(host, slots)] of what a discovery command prints; lines that are empty or begin with # say nothing."""
    found = []
    for line in filter(None, (line.split("#")[0].strip() for line in text.splitlines())):
        host, _, slots = line.partition(":")
        if not host or not (slots or "1").isdecimal():
            raise MXNetError(f"the discovery command must print lines such as host1:4, not {line[:80]!r}")
        found.append((host, int(slots or 1)))
    return [(host, slots) for host, slots in found if slots]


class Discovery:
    """Asks the command again and again; `hosts` is what it said last."""

    def __init__(self, command):
        self._command = shlex.split(command)
        self.hosts, self.error = self.ask(), ""
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True, name="discovery of hosts")
        self._thread.start()

    def ask(self):
        """What the command says now."""
        try:
            done = subprocess.run(self._command, capture_output=True, text=True, timeout=PATIENCE)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise MXNetError(f"the discovery command {self._command[0]} failed: {error}") from None
        if done.returncode:
            raise MXNetError(f"the discovery command failed with exit code {done.returncode}: {done.stderr[:200]}")
        return slots_of(done.stdout)

    def _run(self):
        while not self._stop.wait(INTERVAL):
            try:
                self.hosts, self.error = self.ask(), ""
            except MXNetError as error:  # for the time being what it said before counts
                if not self.error:
                    say(f"remx launch: {error}")
                self.error = str(error)

    def close(self):
        """Ask no more."""
        self._stop.set()
        self._thread.join()


def shares(hosts, most):
    """[(host, workers)] of at most `most` workers; with several hosts each has the same number."""
    if len(hosts) == 1 or all(addresses.is_loopback(host) for host, _ in hosts):
        total = min(most, sum(slots for _, slots in hosts))
        return [(hosts[0][0], total)] if total else []
    chosen = hosts[:most]
    if not chosen:
        return []
    each = min(min(slots for _, slots in chosen), most // len(chosen))
    return [(host, each) for host, _ in chosen]


def run(options, least, most, attempt):
    """Call `attempt(number, shares, check)` until it succeeds; the exit code."""
    discovery, failures, number = Discovery(options.discovery), 0, 0
    limit = options.max_restarts or RESTARTS
    try:
        while True:
            found = _enough(discovery, least, most)
            try:
                code, words = attempt(number, found, lambda now=found: _check(discovery, least, most, now))
            except Changed as change:
                say(str(change))
            else:
                say(words)
                failures += 1
                if code == 0 or failures > limit:
                    return code
                say(f"all workers start again with those that are left, restart {failures} of {limit}")
                time.sleep(1.5 * INTERVAL)  # who has gone is known by then
            number += 1
    finally:
        discovery.close()


def _enough(discovery, least, most):
    """Wait until there are workers enough."""
    told = False
    while _total(found := shares(discovery.hosts, most)) < least:
        if not told:
            say(f"waiting for {least} workers; there are {_total(found)}")
        told = True
        time.sleep(INTERVAL / 2)
    return found


def _total(shares):
    return sum(count for _, count in shares)


def _check(discovery, least, most, now):
    found = shares(discovery.hosts, most)
    if found != now and _total(found) >= least:
        raise Changed(f"there are {_total(found)} workers now instead of {_total(now)}: all start again")
