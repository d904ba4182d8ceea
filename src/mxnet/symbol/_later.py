"""Modules of higher layers, loaded when a symbol is first bound: composing graphs needs no arrays."""

from importlib import import_module


def later(name):
    """The module `mxnet.<name>`."""
    return import_module(f"mxnet.{name}")
