"""A worker process of `remx serve --workers N`: the application on a Unix socket, until its input ends."""

import os
import sys
import threading


def _end_with_the_front():
    """The front holds the other end of this process's input; when it is gone, nobody needs an answer."""
    while os.read(0, 1024):
        pass
    os._exit(1)


def main(path):
    """Serve until a signal, or the end of the front."""
    threading.Thread(target=_end_with_the_front, daemon=True).start()  # before imports, which take seconds
    import uvicorn

    from .app import application
    from .settings import Settings

    settings = Settings.told()
    common = {"log_level": "warning", "server_header": False, "timeout_keep_alive": 86400}
    uvicorn.run(application(settings), uds=path, timeout_graceful_shutdown=int(settings.timeout) + 1, **common)


if __name__ == "__main__":
    main(sys.argv[1])
