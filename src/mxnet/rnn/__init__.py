"""`mx.rnn`: recurrent networks for the symbolic API, and iterators over sentences in buckets."""

from ..model import load_checkpoint, save_checkpoint
from .io import *
from .rnn import *
from .rnn_cell import *
