"""Runs the examples of docstrings; numbers may differ in their last digits, as they do between processors."""

import doctest
import inspect
import re

import numpy as np

import mxnet as mx

NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.\d*|\.\d+|\d+)(?:e[-+]?\d+)?(?!\w)")
GIVEN = {"mx": mx, "np": np, "nd": mx.nd}


class NearlyEqual(doctest.OutputChecker):
    """Compares the words exactly and the numbers to five digits; the width of columns does not count."""

    def check_output(self, want, got, optionflags):
        return super().check_output(want, got, optionflags) or self._nearly(want, got)

    @staticmethod
    def _nearly(want, got):
        words = ["".join(NUMBER.sub("0", text).split()) for text in (want, got)]
        numbers = [[float(number) for number in NUMBER.findall(text)] for text in (want, got)]
        return words[0] == words[1] and np.allclose(*numbers, rtol=1e-5, atol=1e-6)


class Examples:
    """Runs examples and keeps what failed."""

    def __init__(self):
        flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
        self.runner = doctest.DocTestRunner(NearlyEqual(), verbose=False, optionflags=flags)
        self.failed, self.said = [], []

    def run(self, name, text, **given):
        """Run the examples of one docstring."""
        test = doctest.DocTestParser().get_doctest(text, {**GIVEN, **given}, name, None, 0)
        before = self.runner.failures
        self.runner.run(test, out=self.said.append)
        if self.runner.failures > before:
            self.failed.append(name)

    def check(self):
        assert not self.failed, f"{self.failed}\n{''.join(self.said)}"


def words_of(thing):
    return inspect.getdoc(thing) or ""
