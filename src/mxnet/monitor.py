"""`Monitor`: statistics of a network's values while it trains."""

import logging
import re
from math import sqrt

from .base import py_str
from .ndarray import NDArray

__all__ = ["Monitor"]


def _mean_size(array):
    return array.norm() / sqrt(array.size)


class Monitor:
    """Prints statistics of outputs and weights every few batches.

    Parameters
    ----------
    interval : int
        The number of batches between two reports.
    stat_func : callable, optional
        The statistic of an array; by default its root mean square, norm(x) / sqrt(x.size).
    pattern : str, default '.*'
        A regular expression that the names must match.
    sort : bool, default False
        Whether the report is sorted by name.
    monitor_all : bool, default False
        Whether inputs are reported as well.

    Examples
    --------
    >>> net = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc")
    >>> executor = net.simple_bind(mx.cpu(), data=(1, 3))
    >>> monitor = mx.mon.Monitor(1, pattern="fc_output")
    >>> monitor.install(executor)
    >>> monitor.tic()
    >>> outputs = executor.forward()
    >>> [(name, value.strip()) for _, name, value in monitor.toc()]
    [('fc_output', '0.0')]
    """

    def __init__(self, interval, stat_func=None, pattern=".*", sort=False, monitor_all=False):
        self.interval, self.stat_func = interval, _mean_size if stat_func is None else stat_func
        self.re_prog, self.sort, self.monitor_all = re.compile(pattern), sort, monitor_all
        self.activated, self.step = False, 0
        self.queue, self.exes = [], []

    def stat_helper(self, name, array):
        """Record the statistic of an array whose name matches the pattern; executors call it with every value.

        Parameters
        ----------
        name : str or bytes
            The name of the value.
        array : NDArray
            The value.

        Examples
        --------
        >>> monitor = mx.mon.Monitor(1, stat_func=lambda array: array.max())
        >>> monitor.tic()
        >>> monitor.stat_helper("x", mx.nd.array([1, 3]))
        >>> [(name, value.strip()) for _, name, value in monitor.toc()]
        [('x', '3.0')]
        """
        name = name if isinstance(name, str) else py_str(name)
        if self.activated and self.re_prog.match(name):
            self.queue.append((self.step, name, self.stat_func(array)))

    def install(self, exe):
        """Watch an executor; a module is watched with `Module.install_monitor`.

        Parameters
        ----------
        exe : Executor
            The executor.

        Examples
        --------
        >>> executor = (mx.sym.var("x") * 2).simple_bind(mx.cpu(), x=(2,))
        >>> monitor = mx.mon.Monitor(1)
        >>> monitor.install(executor)
        """
        exe.set_monitor_callback(self.stat_helper, self.monitor_all)
        self.exes.append(exe)

    def tic(self):
        """Start collecting if a report is due in this batch; call it before the forward pass.

        Examples
        --------
        >>> monitor = mx.mon.Monitor(interval=2)
        >>> for _ in range(3):
        ...     monitor.tic()
        ...     print(monitor.activated, monitor.toc())
        True []
        False []
        True []
        """
        if not self.step % self.interval:
            self.activated, self.queue = True, []
        self.step += 1

    def toc(self):
        """Stop collecting; call it after the backward pass.

        Returns
        -------
        list of (int, str, str)
            Number of the batch, name and statistic as text of every value that was seen.

        Examples
        --------
        >>> executor = mx.sym.relu(mx.sym.var("x"), name="act").simple_bind(mx.cpu(), x=(2,))
        >>> monitor = mx.mon.Monitor(1, pattern="act.*")
        >>> monitor.install(executor)
        >>> monitor.tic()
        >>> outputs = executor.forward(x=mx.nd.array([3, 4]))
        >>> [(batch, name) for batch, name, value in monitor.toc()]
        [(1, 'act_output')]
        """
        if not self.activated:
            return []
        for exe in self.exes:
            for name, array in (*exe.arg_dict.items(), *exe.aux_dict.items()):
                self.stat_helper(name, array)
        seen, self.queue, self.activated = self.queue, [], False
        if self.sort:
            seen.sort(key=lambda entry: entry[1])
        return [(step, name, _text(values)) for step, name, values in seen]

    def toc_print(self):
        """Stop collecting and write what was seen with the `logging` module, at the level INFO.

        Examples
        --------
        >>> monitor = mx.mon.Monitor(1)
        >>> monitor.tic()
        >>> monitor.toc_print()
        """
        for step, name, text in self.toc():
            logging.info("Batch: %7d %-30s %s", step, name, text)


def _text(values):
    values = [values] if isinstance(values, NDArray) else values
    assert isinstance(values, list) and all(isinstance(v, NDArray) for v in values)
    return "".join(f"{v.asscalar() if v.shape == (1,) else v.asnumpy()!s}\t" for v in values)
