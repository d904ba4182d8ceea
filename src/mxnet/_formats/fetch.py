"""Files from the network: over https or with a known hash, under a temporary name until they are whole and right."""

import contextlib
import os
import shutil
import uuid
import warnings
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from .._core.environment import is_on
from .._core.errors import MXNetError
from .._core.progress import progress
from .archives import sha1_of

_LOCAL = ("localhost", "127.0.0.1", "::1")
_SECONDS = 10, 60  # until a server is reached, and without a byte, until it counts as gone


def check_sha1(filename: str, sha1_hash: str) -> bool:
    """Whether the SHA-1 of a file is the expected one.

    Parameters
    ----------
    filename : str
        The name of the file.
    sha1_hash : str
        The expected SHA-1, in hexadecimal digits.

    Returns
    -------
    bool

    Examples
    --------
    >>> with open("empty", "wb"):
    ...     pass
    >>> mx.gluon.utils.check_sha1("empty", "da39a3ee5e6b4b0d3255bfef95601890afd80709")
    True
    """
    return sha1_of(filename) == sha1_hash


def replace_file(src: str, dst: str) -> None:
    """Move a file over another in one step; on failure the source is removed and OSError is raised.

    Parameters
    ----------
    src : str
        The new file.
    dst : str
        The file that it replaces.

    Examples
    --------
    >>> for name in ("old", "new"):
    ...     with open(name, "w") as file:
    ...         _ = file.write(name)
    >>> mx.gluon.utils.replace_file("new", "old")
    >>> open("old").read()
    'new'
    """
    try:
        os.replace(src, dst)
    except OSError as error:
        _remove_quietly(src)
        raise OSError(
            f"Moving downloaded temp file - {src}, to {dst} failed. Please retry the download. ({error})"
        ) from error


def _remove_quietly(path: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.remove(path)


def download(
    url: str,
    path: str | None = None,
    overwrite: bool = False,
    sha1_hash: str | None = None,
    retries: int = 5,
    verify_ssl: bool = True,
) -> str:
    """Fetch `url` into `path` (a file or a directory; by default the working directory) and return the file's name.

    An existing file is kept unless `overwrite`, or unless its SHA-1 is not `sha1_hash`. The file appears under its
    name only when it is whole; failures are tried again up to `retries` times. An http address without a hash is
    asked over https instead, unless `MXNET_ALLOW_HTTP=1`.

    Parameters
    ----------
    url : str
        The address.
    path : str, optional
        The file or folder to write to; the working directory without it.
    overwrite : bool, default False
        Whether an existing file is replaced.
    sha1_hash : str, optional
        The expected SHA-1; an existing file with another one is replaced.
    retries : int, default 5
        How many times to try again.
    verify_ssl : bool, default True
        Whether the server's certificate is checked.

    Returns
    -------
    str
        The name of the file.

    Examples
    --------
    >>> mx.gluon.utils.download("https://example.com/net.params", "models")  # doctest: +SKIP
    'models/net.params'
    """
    fname = _target(url, path)
    assert retries >= 0, f"Number of retries should be at least 0, currently it's {retries}"
    if not verify_ssl:
        warnings.warn(
            "Unverified HTTPS request is being made (verify_ssl=False). "
            "Adding certificate verification is strongly advised.",
            stacklevel=2,
        )
    if overwrite or not _is_present(fname, sha1_hash):
        os.makedirs(os.path.dirname(os.path.abspath(fname)), exist_ok=True)
        _fetch_with_retries(url, fname, overwrite, sha1_hash, retries, verify_ssl)
    return fname


def _target(url: str, path: str | None) -> str:
    last = url.split("/")[-1]
    if path is None:
        assert last, "Can't construct file-name from this URL. Please set the `path` option manually."
        return last
    path = os.path.expanduser(path)
    return os.path.join(path, last) if os.path.isdir(path) else path


def _is_present(fname: str, sha1_hash: str | None) -> bool:
    return os.path.exists(fname) and (not sha1_hash or check_sha1(fname, sha1_hash))


def _fetch_with_retries(
    url: str, fname: str, overwrite: bool, sha1_hash: str | None, retries: int, verify_ssl: bool
) -> None:
    for left in range(max(retries, 1) - 1, -1, -1):
        try:
            print(f"Downloading {fname} from {url}...")
            _fetch(url, fname, overwrite, sha1_hash, verify_ssl)
            break
        except Exception as error:  # whatever failed, network or file system, is worth another attempt
            if left == 0 or isinstance(error, MXNetError):
                warnings.warn(by_hand(fname, sha1_hash, [url]), stacklevel=4)
                raise
            print(f"download failed due to {error!r}, retrying, {left} attempt{'s' if left > 1 else ''} left")


# -- who may be asked --------------------------------------------------------------------------------------------------


def own_mirrors() -> list[str]:
    """The mirrors that MXNET_GLUON_REPO names, in their order, each ending in a slash."""
    names = os.environ.get("MXNET_GLUON_REPO", "").split(",")
    return [name.strip().rstrip("/") + "/" for name in names if name.strip()]


def _unsafe_allowed(url: str) -> bool:
    """May `url` be read without https and without a hash: on this machine, from a mirror that was set, or if told."""
    return (
        is_on("MXNET_ALLOW_HTTP")
        or urlsplit(url).hostname in _LOCAL
        or any(url.startswith(mirror) for mirror in own_mirrors())
    )


def _is_safe(url: str, verified: bool) -> bool:
    return urlsplit(url).scheme == "https" or verified or _unsafe_allowed(url)


def _secured(url: str, verified: bool) -> str:
    """The address to ask: an http one whose file nothing verifies becomes an https one."""
    if _is_safe(url, verified):
        return url
    parts = urlsplit(url)
    if parts.scheme != "http":
        raise MXNetError(f"{url}: files are fetched over https (or http with a hash), not {parts.scheme or 'a path'}")
    return urlunsplit(parts._replace(scheme="https"))


def _check_hops(response: Any, verified: bool) -> None:
    """A server may send elsewhere, but not to where nothing verifies the file."""
    for hop in (*getattr(response, "history", ()), response):
        address = getattr(hop, "url", None)
        if isinstance(address, str) and not _is_safe(address, verified):
            raise MXNetError(
                f"{address}: the server leads to an address without https, and no hash is known for the file; "
                "give sha1_hash, or set MXNET_ALLOW_HTTP=1 if you trust the network"
            )


class BadStatus(RuntimeError):
    """A server answered, but not with the file."""

    def __init__(self, url: str, response: Any) -> None:
        super().__init__(f"Failed downloading url {url}")
        self.status = f"{response.status_code} {getattr(response, 'reason', '')}".strip()


def read_into(path: str, url: str, verified: bool, verify_ssl: bool = True, leave: bool = False) -> None:
    """Write what `url` sends to `path`; `verified` says that the caller checks the content against a known hash.

    With `leave`, the progress of a short transfer is shown, too.
    """
    import requests

    response = requests.get(_secured(url, verified), stream=True, verify=verify_ssl, timeout=_SECONDS)
    with contextlib.ExitStack() as held:
        held.callback(getattr(response, "close", lambda: None))  # what programs' tests put in its place has none
        _check_hops(response, verified)
        if response.status_code != 200:
            raise BadStatus(url, response)
        _write_body(response, url, path, leave)


def _fetch(url: str, fname: str, overwrite: bool, sha1_hash: str | None, verify_ssl: bool) -> None:
    partial = f"{fname}.{uuid.uuid4()}"
    try:
        read_into(partial, url, sha1_hash is not None, verify_ssl, leave=True)
        if sha1_hash and not check_sha1(partial, sha1_hash):
            raise UserWarning(
                f"File {fname} is downloaded but the content hash does not match."
                " The repo may be outdated or download may be incomplete. "
                'If the "repo_url" is overridden, consider switching to the default repo.'
            )
        if overwrite or not _is_present(fname, sha1_hash):
            replace_file(partial, fname)
        else:  # another process was faster
            warnings.warn(f"File {fname} exists in file system so the downloaded file is deleted", stacklevel=4)
    finally:
        _remove_quietly(partial)


def _write_body(response: Any, url: str, path: str, leave: bool) -> None:
    """What the server sends, as long as the disk has room for it."""
    room = shutil.disk_usage(os.path.dirname(os.path.abspath(path))).free // 2
    with open(path, "wb") as file, _progress(response, url, leave) as bar:
        for chunk in response.iter_content(chunk_size=1 << 16):
            room -= len(chunk)
            if room < 0:
                raise MXNetError(f"{url} sends more than half of what the disk of {path} has free; stopped")
            file.write(chunk)
            bar.update(len(chunk))


def _progress(response: Any, url: str, leave: bool) -> Any:
    size = getattr(response, "headers", {}).get("content-length", "")
    total = int(size) if size.isdigit() else None
    return progress(total=total, desc=url.split("/")[-1], unit="B", unit_scale=True, leave=leave)


OWN_MIRRORS = ", or set MXNET_GLUON_REPO to one or more https mirrors, separated by commas"


def by_hand(fname: str, sha1_hash: str | None, urls: Sequence[str], otherwise: str = OWN_MIRRORS) -> str:
    """What to do without the network: which file, with which hash, belongs in which folder."""
    folder, name = os.path.split(os.path.abspath(fname))
    digest = f" (SHA-1 {sha1_hash})" if sha1_hash else ""
    more = f" and {len(urls) - 2} other addresses" if len(urls) > 3 else ""
    where = ", ".join(urls[:2] if more else urls) + more
    return f"{name} could not be fetched from {where}. Put the file {name}{digest} into {folder}{otherwise}."
