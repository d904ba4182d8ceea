"""A request that cannot be answered: the status of HTTP, and a sentence."""

from .._core.errors import MXNetError

LONGEST = 1000  # letters of a sentence, which may quote the request


class Refused(MXNetError):
    """What the client is told."""

    def __init__(self, status, words, headers=None):
        super().__init__(words[:LONGEST].encode(errors="backslashreplace").decode())
        self.status, self.headers = status, headers or {}
