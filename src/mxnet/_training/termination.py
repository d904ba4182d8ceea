"""SIGTERM while training: the batch is finished and saved, then the signal has its usual meaning."""

import os
import signal
import threading


class Termination:
    """Inside the block SIGTERM is noted in `requested`; `obey` gives it back to whoever would have got it.

    Nothing happens in other threads than the main one, where Python knows no signals, and where SIGTERM is ignored.
    """

    def __init__(self, wanted=True):
        self._wanted = wanted
        self._installed = False
        self.requested = False

    def __enter__(self):
        if self._wanted and threading.current_thread() is threading.main_thread():
            self._previous, self._process = signal.getsignal(signal.SIGTERM), os.getpid()
            if self._previous not in (signal.SIG_IGN, None):  # None: another program's handler, which would be lost
                signal.signal(signal.SIGTERM, self._note)
                self._installed = True
        return self

    def __exit__(self, kind, error, trace):
        self._restore()

    def _restore(self):
        if self._installed and os.getpid() == self._process:
            signal.signal(signal.SIGTERM, self._previous)
            self._installed = False

    def _note(self, number, frame):
        if os.getpid() != self._process:  # a child made by fork, which nobody taught to finish a batch
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
        self.requested = True

    def obey(self):
        """Call the handler that was there before; without one, leave the program with status 143.

        A handler that returns has decided that training goes on.
        """
        self._restore()
        self.requested = False
        if not callable(self._previous):
            raise SystemExit(128 + signal.SIGTERM)
        signal.raise_signal(signal.SIGTERM)
        self.__enter__()
