"""A worker's sign of life for its launcher: a line a second, which says how long ago it last used the store.

The launcher reads them from a named pipe. A process that is stopped writes nothing, and a launcher that is gone takes
its workers with it.
"""

import contextlib
import os
import signal
import threading
import time

PIPE = "MXNET_KVSTORE_PULSE"
INTERVAL = 1.0


class Activity:
    """When this process last finished a call of the store, and whether it is in one now."""

    inside = 0
    last = time.monotonic()
    pipe: int | None = None  # to the launcher


def start(rank: int) -> None:
    """Begin to write, if a launcher listens."""
    path = os.environ.get(PIPE)
    if not path:
        return
    try:
        pipe = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return  # started by hand in the surroundings of a job that has ended
    Activity.pipe = pipe
    threading.Thread(target=_beat, args=(pipe, rank, os.getpid()), daemon=True, name="pulse").start()


def idle() -> float:
    """Seconds since this process last used the store; 0 while it is being used."""
    return 0.0 if Activity.inside else time.monotonic() - Activity.last


def line(rank: int) -> bytes:
    """What the launcher is told: the rank, and for how long the store was not used."""
    return f"{rank} {idle():.1f}\n".encode()


def tell_lost(rank: int) -> None:
    """Let the launcher know that this worker fails for want of another: it is not the first cause."""
    if Activity.pipe is not None:
        with contextlib.suppress(OSError):
            os.write(Activity.pipe, f"{rank} lost\n".encode())


def _beat(pipe: int, rank: int, process: int) -> None:
    while True:
        try:
            with contextlib.suppress(BlockingIOError):  # full: the launcher itself is stopped
                os.write(pipe, line(rank))
        except BrokenPipeError:
            os.kill(process, signal.SIGTERM)
            return
        time.sleep(INTERVAL)


def clock(moment: float) -> str:
    """The time of day of a moment of the monotonic clock, which no correction of the time can move."""
    return time.strftime("%H:%M:%S", time.localtime(time.time() - (time.monotonic() - moment)))


def parse(text: str) -> tuple[int, float | None] | None:
    """(rank, idle seconds) of a line, None for the seconds where contact was lost; None if it is no line of ours."""
    rank, _, idle = text.partition(" ")
    try:
        return int(rank), None if idle == "lost" else float(idle)
    except ValueError:
        return None
