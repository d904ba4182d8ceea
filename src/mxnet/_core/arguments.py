"""Numbers on command lines that have a least value."""

import argparse
from collections.abc import Callable


def at_least(least: int) -> Callable[[str], int]:
    """A type for argparse: whole numbers from `least` on, others are refused in words."""

    def number(text: str) -> int:
        value = int(text)
        if value < least:
            raise argparse.ArgumentTypeError(f"{value} is too small; the least is {least}")
        return value

    number.__name__ = "whole number"  # argparse says: invalid whole number value: 'x'
    return number


def port(text: str) -> int:
    """A type for argparse: a port, or 0 for any that is free."""
    if not (text.isdecimal() and int(text) < 65536):
        raise argparse.ArgumentTypeError(f"{text!r} is no port: a number from 0 to 65535")
    return int(text)


def share(text: str) -> float:
    """A type for argparse: a part of the whole, from 0 to 1."""
    value = float(text)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{value} is not between 0 and 1")
    return value
