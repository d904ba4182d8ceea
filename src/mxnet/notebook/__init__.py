"""Training watched in a notebook: tables of metrics and live charts."""

from . import callback
