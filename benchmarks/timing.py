"""Times of a work's runs, on a core whose clock runs."""

import os
import time


def settle():
    """Keep this thread, not those that there are already, where the clock runs.

    Some virtual machines have a core whose clock stands still from tick to tick, for milliseconds.
    """
    cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else ()
    for core in sorted(cores):
        os.sched_setaffinity(0, {core})
        if len({time.perf_counter() for _ in range(1000)}) > 500:
            return
    if cores:
        os.sched_setaffinity(0, cores)


_settled = []


def burst(step, rounds):
    """Seconds of each of `rounds` runs; what a step calls `before` itself does not count."""
    if rounds and not _settled:
        _settled.append(True)
        burst(step, 1)  # the engine's threads begin here, and may go where they want
        settle()
    clock = time.process_time if os.environ.get("REMX_BENCH_CLOCK") == "processor" else time.perf_counter
    before, calls = getattr(step, "before", None), getattr(step, "calls", 1)
    seconds = []
    for _ in range(rounds):
        if before is not None:
            before()
        start = clock()
        step()
        seconds.append((clock() - start) / calls)
    return seconds
