"""`mx.rnn`: recurrent networks for the symbolic API, and iterators over sentences in buckets."""

from .io import *
from .rnn import *
from .rnn_cell import *
