"""Recurrent cells outside the stable set: convolutional ones, projection, variational dropout."""

from .conv_rnn_cell import *
from .rnn_cell import *
