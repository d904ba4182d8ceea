"""The secret that the members of a job share: made by the launcher, kept in files that only their user can read."""

import contextlib
import os
import secrets
import stat
import tempfile

from .._core.errors import MXNetError

FILE = "MXNET_KVSTORE_SECRET_FILE"  # where a launcher, ours or the user's own, put the job's secret
LEAST = 16  # bytes; a shorter secret could be guessed


def make() -> bytes:
    """A new secret, as text that fits in a line."""
    return secrets.token_hex(32).encode()


def write(path: str, secret: bytes) -> None:
    """Write the secret to a new file that nobody else can read."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(secret)


def read(path: str) -> bytes:
    """The secret of a file; a file that other users can read holds none."""
    try:
        with open(path, "rb") as file:
            _check_owner(path, os.fstat(file.fileno()))
            found = file.read(4096).strip()
    except OSError as error:
        raise MXNetError(f"the secret of the job cannot be read: {error}") from None
    if len(found) < LEAST:
        raise MXNetError(f"the secret in {path} has {len(found)} bytes; at least {LEAST} random ones are needed")
    return found


def _check_owner(path: str, status: os.stat_result) -> None:
    if os.name != "posix":
        return
    if status.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise MXNetError(f"other users may read or write {path}, which holds the secret of the job: chmod 600 {path}")
    if status.st_uid not in (os.geteuid(), 0):
        raise MXNetError(f"{path}, which holds the secret of the job, belongs to another user")


def user_key() -> str:
    """The path of this user's own key, made at its first use.

    It serves jobs that no launcher of ours has started. Processes of one user share it on one machine, and on several
    that share their home folder; elsewhere `MXNET_KVSTORE_SECRET_FILE` names a file that was copied to all of them.
    """
    folder = os.environ.get("MXNET_HOME") or os.path.join(os.path.expanduser("~"), ".mxnet")
    path = os.path.join(folder, "kvstore.key")
    if not os.path.exists(path):
        try:
            os.makedirs(folder, exist_ok=True)
            _write_once(folder, path)
        except OSError as error:
            raise MXNetError(f"no secret for the job: {FILE} is not set, and {path} cannot be made ({error})") from None
    return path


def _write_once(folder: str, path: str) -> None:
    """Give the key its name only when it is whole; of several processes the first one wins."""
    with tempfile.TemporaryDirectory(dir=folder, prefix="kvstore-") as made:
        draft = os.path.join(made, "key")
        write(draft, make())
        with contextlib.suppress(FileExistsError):
            os.link(draft, path)


def of_job() -> bytes:
    """The secret that this process was given."""
    return read(os.environ.get(FILE) or user_key())
