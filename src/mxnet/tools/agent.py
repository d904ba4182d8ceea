"""This machine's share of a distributed job: starts the workers, listens to their pulse, ends them together."""

import contextlib
import os
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

from .._core.environment import whole_number
from .._wire import pulse, secret

GRACE = 10.0  # seconds between the request to end and the end
CAUSE = 3.0  # seconds in which the first cause of a failure must show
STALE = 3 * pulse.INTERVAL  # a pulse older than this counts as silence when somebody has to be blamed
TAKEN = (signal.SIGTERM, signal.SIGINT, *([signal.SIGHUP, signal.SIGQUIT] if os.name == "posix" else []))


class Ended(Exception):
    """The job was ended from outside: by a signal, or because who started it is gone."""

    def __init__(self, words, code):
        super().__init__(words)
        self.code = code


class Signals:
    """The signals that have come; while workers run they are looked for, not raised where they come.

    An exception that a handler raises inside `Popen.poll` may leave its lock taken; the launcher would wait for ever.
    """

    seen, looked_for = [], 0

    @classmethod
    def check(cls):
        """Raise `Ended` if a signal has come."""
        if cls.seen:
            raise Ended(f"ended by signal {cls.seen[0]}, with all workers", 128 + cls.seen[0])

    @classmethod
    @contextlib.contextmanager
    def polled(cls):
        """Inside, `check` is called now and then."""
        cls.looked_for += 1
        try:
            yield
        finally:
            cls.looked_for -= 1
        cls.check()


@contextlib.contextmanager
def signals_end_the_job():
    """Raise `Ended` at the first signal, but let nothing interrupt the end; then signals go back to who had them."""
    Signals.seen = []

    def end(number, _):
        Signals.seen.append(number)
        if len(Signals.seen) == 1 and not Signals.looked_for:
            Signals.check()

    known = threading.current_thread() is threading.main_thread()
    before = {number: signal.signal(number, end) for number in TAKEN} if known else {}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


class Folder:
    """A folder of the job that only this user can enter: the secret, and the pipe for pulses."""

    def __enter__(self):
        self.path = tempfile.mkdtemp(prefix="mxnet-launch-")
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)

    def fill(self, job_secret):
        """Variables that tell workers where to find both."""
        place, pipe = (os.path.join(self.path, name) for name in ("secret", "pulse"))
        secret.write(place, job_secret)
        if not hasattr(os, "mkfifo"):
            return {secret.FILE: place}, None
        os.mkfifo(pipe, 0o600)
        return {secret.FILE: place, pulse.PIPE: pipe}, os.open(pipe, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)


class Worker:
    """A process, when it ended and how, and when it was last heard of."""

    def __init__(self, rank, process):
        self.rank, self.process = rank, process
        self.heard = self.active = None  # of the monotonic clock; None before its first pulse
        self.code = self.ended = None
        self.lost = False  # has it failed for want of another worker?

    def poll(self):
        """The exit code, if it has ended."""
        if self.code is None:
            self.code = self.process.poll()
            self.ended = time.monotonic() if self.code is not None else None
        return self.code

    def hear(self, idle):
        self.heard = time.monotonic()
        self.lost = self.lost or idle is None
        self.active = self.heard - (idle or 0.0)

    def silence(self):
        """Seconds since its last pulse, while it should have one."""
        return 0.0 if self.heard is None or self.poll() is not None else time.monotonic() - self.heard

    def signal(self, number):
        """To the process and to all that it has started."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, number) if os.name == "posix" else self.process.send_signal(number)


def first_cause(ends, lost=()):
    """The rank to name of [(rank, exit code, when)]: who was killed, else who has not said that it lost another one."""
    killed = [end for end in ends if end[1] < 0 and end[1] != -signal.SIGTERM]
    others = [end for end in ends if end[0] not in lost]
    return min(killed or others or ends, key=lambda end: end[2])[0]


class Workers:
    """The workers of one attempt on this machine."""

    def __init__(self, pipe, patience):
        self._pipe, self._patience, self._rest = pipe, patience, b""
        self.workers = []

    def start(self, command, environment):
        """Start one, in a session of its own: its children end with it, and Ctrl-C reaches the launcher only."""
        try:
            process = subprocess.Popen(command, env=environment, start_new_session=True)
        except OSError as error:
            raise Ended(f"{command[0]} cannot be started: {error}", 1) from None
        self.workers.append(Worker(int(environment["RANK"]), process))

    # ------------------------------------------------------------------ pulses
    def _listen(self):
        if self._pipe is None:
            return
        with contextlib.suppress(BlockingIOError):
            self._rest += os.read(self._pipe, 1 << 16)
        *lines, self._rest = self._rest.split(b"\n")
        by_rank = {worker.rank: worker for worker in self.workers}
        for found in filter(None, (pulse.parse(line.decode("ascii", "replace")) for line in lines)):
            if found[0] in by_rank:
                by_rank[found[0]].hear(found[1])

    def _silent(self, longest):
        """The worker that has been silent for the longest time, if that is too long."""
        worst = max(self.workers, key=Worker.silence)
        return worst if worst.silence() > longest else None

    # ------------------------------------------------------------------ waiting
    def wait(self, check=lambda: None):
        """Wait for all; (exit code, what to say). `check` is called now and then, and may raise `Ended`."""
        with selectors.DefaultSelector() as selector:
            if self._pipe is not None:
                selector.register(self._pipe, selectors.EVENT_READ)
            while True:
                selector.select(0.1)
                Signals.check()
                check()
                self._listen()
                codes = [worker.poll() for worker in self.workers]
                if any(codes):
                    return self._failure()
                if all(code == 0 for code in codes):
                    return 0, ""
                if silent := self._silent(self._patience):
                    return 1, self._of_silence(silent)
                if self._pipe is None or not selector.get_map():
                    time.sleep(0.1)

    def _failure(self):
        """What to say of workers that failed: whether another one was silent, else who was the first."""
        self._await_cause()
        ends = [(w.rank, w.code, w.ended) for w in self.workers if w.poll()]
        rank = first_cause(ends, [worker.rank for worker in self.workers if worker.lost])
        code = next(end[1] for end in ends if end[0] == rank)
        words = f"worker {rank} failed with exit code {code}; the others were ended"
        if silent := self._silent(STALE):
            words = f"{self._of_silence(silent)} (worker {rank} failed with exit code {code})"
        elif idle := self._idle({end[0] for end in ends}):
            words += f"; worker {idle.rank} has not used the store since {pulse.clock(idle.active)}"
        return (code if 0 < code < 256 else 1), words

    def _await_cause(self):
        """When one dies the others follow at once, and may even be seen before it."""
        limit = time.monotonic() + CAUSE
        time.sleep(0.2)
        self._listen()
        while all(w.lost for w in self.workers if w.poll()) and time.monotonic() < limit and not self._silent(STALE):
            time.sleep(0.05)
            self._listen()

    def _of_silence(self, worker):
        return (
            f"worker {worker.rank} has been silent since {pulse.clock(worker.heard)}, for {worker.silence():.0f} s; "
            "the others were ended"
        )

    def _idle(self, failed):
        """A worker that lives, but kept the others waiting."""
        known = [w for w in self.workers if w.active is not None and w.rank not in failed and w.poll() is None]
        worst = min(known, key=lambda worker: worker.active, default=None)
        return worst if worst and time.monotonic() - worst.active > 0.9 * self._patience else None

    # ------------------------------------------------------------------ the end
    def end(self):
        """End all: who is silent at once, the others by a request first."""
        concerned = [worker for worker in self.workers if worker.poll() != 0]  # who is done may be another by now
        for worker in concerned:
            if worker.poll() is None:
                worker.signal(signal.SIGKILL if worker.silence() > STALE else signal.SIGTERM)
        limit = time.monotonic() + GRACE
        while any(worker.poll() is None for worker in concerned) and time.monotonic() < limit:
            time.sleep(0.05)
        for worker in concerned:  # also what a worker has left behind
            worker.signal(signal.SIGKILL)
            worker.process.wait()


def worker_environment(options):
    """What MXNet's launcher tells its workers; the agent adds their ranks."""
    variables = {"DMLC_ROLE": "worker", "DMLC_NUM_WORKER": str(options.num_workers * options.nodes)}
    variables["OMP_NUM_THREADS"] = os.environ.get("OMP_NUM_THREADS", "1")
    for pair in options.env_worker:
        name, separator, value = pair.partition(":")
        if not separator:
            raise SystemExit(f"--env-worker wants NAME:VALUE, got {pair!r}")
        variables[name] = value
    return variables


def patience_of(variables):
    """How long a worker may be silent: what its store will be told."""
    os.environ.update({name: value for name, value in variables.items() if name == "MXNET_KVSTORE_TIMEOUT"})
    what = "a whole number of seconds, at least 1"
    return whole_number("MXNET_KVSTORE_TIMEOUT", 1800, what, below=10**9, least=1)


def again_and_again(options, attempt):
    """Call `attempt(number)` until it succeeds or no restart is left; the exit code."""
    for number in range(options.max_restarts + 1):
        code, words = attempt(number)
        say(words)
        if code == 0 or number == options.max_restarts:
            break
        say(f"all workers start again, restart {number + 1} of {options.max_restarts}")
    return code


def environments(options, variables, attempt):
    """What each worker on this machine finds in its environment: torch's names and MXNet's."""
    world = options.num_workers * options.nodes
    common = {
        **os.environ,
        **variables,
        "WORLD_SIZE": str(world),
        "LOCAL_WORLD_SIZE": str(options.num_workers),
        "GROUP_RANK": str(options.node_rank),
        "MASTER_ADDR": options.master,
        "MASTER_PORT": str(options.port),
        "DMLC_PS_ROOT_URI": options.master,
        "DMLC_PS_ROOT_PORT": str(options.port),
        "DMLC_NODE_HOST": options.address,
        "TORCHELASTIC_RESTART_COUNT": str(attempt),
        "TORCHELASTIC_MAX_RESTARTS": str(options.max_restarts),
    }
    first = options.node_rank * options.num_workers
    return [
        {**common, "RANK": str(first + local), "DMLC_WORKER_ID": str(first + local), "LOCAL_RANK": str(local)}
        for local in range(options.num_workers)
    ]


def run_once(options, variables, job_secret, patience, attempt=0, check=lambda: None):
    """Start this machine's workers and wait for their end: (exit code, what to say)."""
    with Folder() as folder, Signals.polled():
        told, pipe = folder.fill(job_secret)
        workers = Workers(pipe, patience)
        try:
            for environment in environments(options, {**variables, **told}, attempt):
                workers.start(options.command, environment)
            return workers.wait(check)
        finally:
            workers.end()
            if pipe is not None:
                os.close(pipe)


def say(words):
    """A line for the user."""
    if words:
        print(words, file=sys.stderr, flush=True)
