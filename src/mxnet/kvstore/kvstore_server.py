"""The server side of a distributed store, for programs that run it by hand."""

from .base import create  # noqa: F401 - MXNet shows it here

__all__ = ["KVStoreServer"]


class KVStoreServer:
    """Serves a distributed store until its workers are done; the launcher runs it in a process of its own.

    Parameters
    ----------
    kvstore : KVStore
        The store.

    Examples
    --------
    >>> server = mx.kvstore.kvstore_server.KVStoreServer(mx.kv.create("local"))
    """

    def __init__(self, kvstore):
        self.kvstore = kvstore
        self.handle = kvstore.handle
        self.init_logginig = False

    def run(self):
        """Serve until all workers are done; the process of a server calls it."""
        self.kvstore.serve()
