"""Loggers with MXNet's short, coloured head: level, date, place."""

import logging
import sys

CRITICAL, ERROR, WARNING, INFO, DEBUG, NOTSET = (
    logging.CRITICAL,
    logging.ERROR,
    logging.WARNING,
    logging.INFO,
    logging.DEBUG,
    logging.NOTSET,
)
_LETTERS = {WARNING: "W", INFO: "I", DEBUG: "D", ERROR: "E", CRITICAL: "C"}


class _Formatter(logging.Formatter):
    """`I0131 12:00:00 123 file:line] message`, coloured in a terminal."""

    def __init__(self, colored=True):
        self.colored = colored
        super().__init__(datefmt="%m%d %H:%M:%S")

    def format(self, record):
        color = "\x1b[31m" if record.levelno >= WARNING else "\x1b[32m" if record.levelno >= INFO else "\x1b[34m"
        head = f"{_LETTERS.get(record.levelno, 'U')}%(asctime)s %(process)d %(pathname)s:%(funcName)s:%(lineno)d"
        if self.colored:
            head = f"{color}{head}]\x1b[0m"
        else:
            head += "]"
        self._style._fmt = f"{head} %(message)s"
        return super().format(record)


def getLogger(name=None, filename=None, filemode=None, level=WARNING):
    """The old name of `get_logger`.

    Parameters
    ----------
    name : str, optional
        The name of the logger; None means the root logger.
    filename : str, optional
        The file; without it the terminal.
    filemode : str, optional
        The mode of the file, 'a' by default.
    level : int, default WARNING
        The least level that is written.

    Returns
    -------
    logging.Logger

    Examples
    --------
    >>> mx.log.getLogger("evaluation", "evaluation.log").name
    'evaluation'
    """
    return get_logger(name, filename, filemode, level)


def get_logger(name=None, filename=None, filemode=None, level=WARNING):
    """A logger that writes to a file, or in colour to the terminal.

    Parameters
    ----------
    name : str, optional
        The name of the logger; None means the root logger.
    filename : str, optional
        The file; without it the terminal.
    filemode : str, optional
        The mode of the file, 'a' by default.
    level : int, default WARNING
        The least level that is written.

    Returns
    -------
    logging.Logger

    Examples
    --------
    >>> mx.log.get_logger("training", "training.log", level=mx.log.INFO).warning("started")
    >>> "started" in open("training.log").read()
    True
    """
    logger = logging.getLogger(name)
    known = name is None or getattr(logger, "_init_done", False)  # the root logger is left alone
    if not known:
        logger.addHandler(_handler(filename, filemode))
        logger.setLevel(level)
        logger._init_done = True
    return logger


def _handler(filename, filemode):
    if filename:
        return logging.FileHandler(filename, filemode or "a")  # which gets the bare messages, as in MXNet
    handler = logging.StreamHandler()
    handler.setFormatter(_Formatter(colored=getattr(sys.stderr, "isatty", lambda: False)()))
    return handler
