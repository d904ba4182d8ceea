"""Networks with published weights."""

from . import model_store, vision
