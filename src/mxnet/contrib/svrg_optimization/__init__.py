"""Stochastic variance-reduced gradient: a module whose updates lean on the gradient over all the data."""

from . import svrg_module, svrg_optimizer
