"""What the text modules agree on: the unknown token's index and the hashes of the published embedding files."""

from importlib import resources

from ..._formats.mirrors import DEFAULT_REPOSITORY as APACHE_REPO_URL  # noqa: F401 - MXNet's name

UNKNOWN_IDX = 0


def _hashes(family, kind):
    """File name to SHA-1 for one family of embeddings ("glove", "fasttext") and kind ("archive", "file")."""
    lines = resources.files("mxnet").joinpath("_data/text_embeddings.txt").read_text("utf-8").splitlines()
    rows = [line.split() for line in lines if line and not line.startswith("#")]
    return {name: sha1 for row_family, row_kind, name, sha1 in rows if (row_family, row_kind) == (family, kind)}


# MXNet has these two names the wrong way round; they are kept, since programs may use them
GLOVE_PRETRAINED_FILE_SHA1 = _hashes("glove", "archive")
GLOVE_PRETRAINED_ARCHIVE_SHA1 = _hashes("glove", "file")
FAST_TEXT_ARCHIVE_SHA1 = _hashes("fasttext", "archive")
FAST_TEXT_FILE_SHA1 = _hashes("fasttext", "file")
