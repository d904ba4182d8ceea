"""What a server is told: the network, its inputs, and its limits."""

import json
import os
from dataclasses import asdict, dataclass, field

VARIABLE = "MXNET_SERVE_SETTINGS"  # how several worker processes are told


@dataclass
class Settings:
    """The options of `remx serve`."""

    prefix: str
    epoch: int
    name: str
    shapes: dict  # input -> shape, with the batch's axis first
    types: dict = field(default_factory=dict)  # input -> dtype, where it is not float32
    max_batch: int = 32  # rows that are computed together
    max_delay: float = 0.0  # seconds that a request waits for others
    max_body: int = 64 << 20  # bytes
    timeout: float = 30.0  # seconds for a request, its body included
    queue: int = 1024  # requests that may wait
    max_bodies: int = 1 << 30  # bytes of all bodies whose requests are not answered yet

    def publish(self):
        """Put the settings where worker processes find them."""
        os.environ[VARIABLE] = json.dumps(asdict(self))

    @classmethod
    def told(cls):
        """The settings that `publish` left."""
        return cls(**json.loads(os.environ[VARIABLE]))
