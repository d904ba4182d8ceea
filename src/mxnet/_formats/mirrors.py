"""Where published files are: repositories and mirrors in the order they are asked; the content is the judge.

MXNet's own hosts are gone or going. Each file has a list of addresses; whoever asks for one says how to tell that an
answer is right. One line on stderr tells of each attempt, and one sentence what to do when none succeeded.
"""

import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

from .._core.errors import MXNetError
from .archives import sha1_of
from .fetch import OWN_MIRRORS, BadStatus, by_hand, own_mirrors, read_into, replace_file

DEFAULT_REPOSITORY = "https://apache-mxnet.s3-accelerate.dualstack.amazonaws.com/"
_REPOSITORIES = (DEFAULT_REPOSITORY, "https://apache-mxnet.s3.amazonaws.com/", "https://repo.mxnet.io/")
_TORONTO = "https://www.cs.toronto.edu/~kriz/"
# folders of a repository -> other hosts that have its files under the same names
_MIRRORS = {
    "gluon/dataset/mnist": (
        "https://ossci-datasets.s3.amazonaws.com/mnist/",
        "https://storage.googleapis.com/cvdf-datasets/mnist/",
        "http://yann.lecun.com/exdb/mnist/",
    ),
    "gluon/dataset/fashion-mnist": (
        "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
        "https://storage.googleapis.com/tensorflow/tf-keras-datasets/",
        "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion/",
    ),
    "gluon/dataset/cifar10": (_TORONTO,),
    "gluon/dataset/cifar100": (_TORONTO,),
    "gluon/dataset/wikitext-2": ("https://s3.amazonaws.com/research.metamind.io/wikitext/",),
    "gluon/dataset/wikitext-103": ("https://s3.amazonaws.com/research.metamind.io/wikitext/",),
    "gluon/embeddings/glove": (
        "https://nlp.stanford.edu/data/",
        "https://downloads.cs.stanford.edu/nlp/data/",
        "https://huggingface.co/stanfordnlp/glove/resolve/main/",
    ),
    "gluon/embeddings/fasttext": ("https://dl.fbaipublicfiles.com/fasttext/vectors-wiki/",),
}
_TRIES = 2  # of a server that broke off or had trouble of its own


class Candidate(NamedTuple):
    """An address, and what puts the file that it sent into its place; it raises MXNetError if the content is wrong.

    `known` says that the content is checked against a hash, so that an http address will do; `title` is what the file
    is called, where the end of its address does not tell.
    """

    url: str
    accept: Callable[[str], object]
    known: bool = True
    title: str = ""


def repositories() -> list[str]:
    """Addresses of the repositories of data sets and models, in the order they are asked, each ending in a slash."""
    return own_mirrors() or list(_REPOSITORIES)


def addresses(namespace: str, filename: str) -> list[str]:
    """Every address of a published file; only those in MXNET_GLUON_REPO, if it is set."""
    urls = [f"{repository}{namespace}/{filename}" for repository in repositories()]
    return urls if own_mirrors() else urls + [f"{host}{filename}" for host in _MIRRORS.get(namespace, ())]


def placed(path: str, sha1: str | None) -> Callable[[str], object]:
    """What accepts a file by its SHA-1 and moves it to `path`."""

    def accept(fetched: str) -> None:
        if sha1 is not None and sha1_of(fetched) != sha1:
            raise MXNetError(f"its SHA-1 is {sha1_of(fetched)}, not {sha1}")
        replace_file(fetched, path)

    return accept


def first_accepted(
    candidates: Sequence[Candidate], wanted: tuple[str, str | None], otherwise: str = OWN_MIRRORS
) -> str:
    """Ask the addresses in turn until the content of one is accepted; which one it was.

    `wanted` is (path, SHA-1) of the file that a person would put in its place; `otherwise`, what else one can do.
    """
    folder, failures = os.path.dirname(os.path.abspath(wanted[0])), list[str]()
    os.makedirs(folder, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".fetch-") as scratch:
        for candidate in candidates:
            failure = _attempted(candidate, scratch)
            if failure is None:
                return candidate.url
            failures.append(failure)
    reasons = dict.fromkeys(failures)  # without a network all say the same
    advice = by_hand(*wanted, [candidate.url for candidate in candidates], otherwise)
    raise MXNetError(f"{advice} ({'; '.join(reasons)})")


def _attempted(candidate: Candidate, scratch: str) -> str | None:
    """Why the address did not help; None if it did. Faults that may pass are tried once more."""
    reason = ""
    for _ in range(_TRIES):
        reason, passing = _asked(candidate, scratch)
        name, host = candidate.title or candidate.url.split("/")[-1], urlsplit(candidate.url).netloc
        print(f"{name}: {f'{host}: {reason}' if reason else f'fetched from {host}'}", file=sys.stderr, flush=True)
        if not reason:
            return None
        if not passing:
            break
    return reason


def _asked(candidate: Candidate, scratch: str) -> tuple[str, bool]:
    """Why it failed (empty: it did not), and whether that may pass."""
    import requests

    path = os.path.join(scratch, candidate.url.split("/")[-1])
    try:
        read_into(path, candidate.url, candidate.known)
        candidate.accept(path)
    except BadStatus as error:
        return error.status, error.status.startswith("5")
    except requests.ConnectTimeout:
        return "no answer", False
    except requests.ReadTimeout:
        return "it stopped sending", True
    except (requests.exceptions.ChunkedEncodingError, requests.exceptions.ContentDecodingError):
        return "it broke off", True
    except requests.ConnectionError as error:
        return ("it stopped sending" if "timed out" in str(error) else "cannot be reached"), False
    except requests.RequestException as error:
        return f"{type(error).__name__}: {error}", False
    except MXNetError as error:
        return str(error).replace(f"{path}: ", ""), False
    return "", False
