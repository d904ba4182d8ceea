"""A training loop with events: `Estimator.fit`, and handlers that log, validate, save and stop."""

from .batch_processor import *
from .estimator import *
from .event_handler import *
from .history import *
from .learning_rate import *
from .weight_handlers import *
