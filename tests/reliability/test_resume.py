"""Killed and resumed equals uninterrupted, bit for bit; SIGTERM saves; nothing of the user's is lost."""

import os
import random
import signal
import threading

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet._training.termination import Termination

from . import resume_runs


@pytest.fixture(scope="module")
def server():
    with resume_runs.Server() as running:
        yield running


@pytest.mark.parametrize("name", ["Gluon loop", "Module", "Estimator", "BucketingModule"])
def test_killed_and_resumed(name, server):
    kills, terms, wrong = resume_runs.kill_and_resume(server, name, random.Random(name), interruptions=2)
    assert wrong is None
