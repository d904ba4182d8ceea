"""Progress of long work: a moving bar for who is looking, a line now and then for a log file."""

import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sized
from importlib.util import find_spec
from typing import Any, TextIO

LINE_EVERY = 10.0  # seconds between the lines of a log


def progress(
    iterable: Iterable[Any] | None = None,
    *,
    total: int | None = None,
    desc: str = "",
    unit: str = "it",
    leave: bool = True,
    unit_scale: bool = False,
) -> Any:
    """An iterable that shows how far it is; without one, `update(n)` moves it. It has tqdm's methods.

    In a terminal or a notebook it is tqdm's bar, if tqdm is there; anywhere else, lines without control characters.
    """
    if total is None and isinstance(iterable, Sized):
        total = len(iterable)
    bar = _tqdm() if _is_watched() else None
    if bar is not None:
        return bar(iterable, total=total, desc=desc or None, unit=unit, leave=leave, unit_scale=unit_scale)
    return Lines(iterable, total, desc, unit, unit_scale, leave=leave)


def _is_watched() -> bool:
    return sys.stderr.isatty() or in_notebook()


def in_notebook() -> bool:
    """Whether the program runs in the kernel of a notebook."""
    shell = sys.modules.get("IPython")
    running = shell.get_ipython() if shell is not None else None
    return running is not None and "IPKernelApp" in running.config


def _tqdm() -> Any:
    try:
        if in_notebook() and _has_widgets():
            from tqdm.notebook import tqdm
        else:
            from tqdm import tqdm
    except ImportError:  # a bar is nice to have
        return None
    return tqdm


def _has_widgets() -> bool:
    """Whether the notebook can show tqdm's own bar, which raises without this package."""
    try:
        return find_spec("ipywidgets") is not None
    except ValueError:  # what a program put in its place has no specification
        return False


class Lines:
    """What a log file gets: a line each LINE_EVERY seconds and one at the end, each whole and on its own."""

    def __init__(
        self,
        iterable: Iterable[Any] | None = None,
        total: int | None = None,
        desc: str = "",
        unit: str = "it",
        unit_scale: bool = False,
        file: TextIO | None = None,
        leave: bool = True,
    ):
        self.iterable, self.total, self.desc = iterable, total, desc
        self.unit, self._scale = (f"M{unit.strip()}", 1e6) if unit_scale else (unit.strip(), 1)
        self.n, self.postfix = 0, ""
        self._file = file if file is not None else sys.stderr
        self._begin = self._last = time.monotonic()
        self._closed = not leave  # then there is a last line only after others

    def __iter__(self) -> Iterator[Any]:
        with self:
            for item in self.iterable if self.iterable is not None else ():
                yield item
                self.update()

    def __len__(self) -> int:
        return self.total or 0

    def __enter__(self) -> "Lines":
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()

    def update(self, n: int = 1) -> None:
        """Say that `n` more are done."""
        self.n += n
        if time.monotonic() - self._last >= LINE_EVERY:
            self._closed = False
            self._print()

    def set_postfix(self, ordered: Mapping[str, Any] | None = None, refresh: bool = True, **values: Any) -> None:
        """Values to show after the count."""
        self.postfix = ", ".join(f"{name}={value}" for name, value in {**(ordered or {}), **values}.items())

    def set_description(self, desc: str | None = None, refresh: bool = True) -> None:
        """The words before the count."""
        self.desc = desc or ""

    def close(self) -> None:
        """Print the last line, once."""
        if not self._closed:
            self._closed = True
            self._print()

    def _print(self) -> None:
        self._last = time.monotonic()
        seconds = self._last - self._begin
        done = f"{self.n / self._scale:.1f}" if self._scale > 1 else f"{self.n}"
        share = f" ({100 * self.n // self.total} %)" if self.total else ""
        speed = f", {self.n / self._scale / seconds:.1f} {self.unit}/s" if seconds > 0 else ""
        head = f"{self.desc}: " if self.desc else ""
        tail = f", {self.postfix}" if self.postfix else ""
        print(f"{head}{done} {self.unit}{share} in {seconds:.1f} s{speed}{tail}", file=self._file, flush=True)
