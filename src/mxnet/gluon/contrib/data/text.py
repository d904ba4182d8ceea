"""WikiText language-model data sets, in samples of a fixed length whatever the sentences."""

import os

import numpy as np

from .... import base
from .... import ndarray as nd
from ...._formats.archives import extract
from ...._formats.fetch import check_sha1, download  # noqa: F401 - MXNet's module shows it
from ...._formats.mirrors import Candidate, addresses, first_accepted
from ....contrib import text
from ...data import dataset

__all__ = ["WikiText103", "WikiText2"]

_END = "<eos>"
_FILES = {"train": "wiki.train.tokens", "validation": "wiki.valid.tokens", "test": "wiki.test.tokens"}


class _LanguageModelDataset(dataset._DownloadedDataset):
    """Text as indices into a vocabulary, which is made from the text unless it is given."""

    def __init__(self, root, namespace, vocabulary):
        self._vocab, self._counter, self._namespace = vocabulary, None, namespace
        super().__init__(root, None)

    @property
    def vocabulary(self):
        """The numbers of the words, a `Vocabulary`.

        Examples
        --------
        >>> def size():  # downloads the files
        ...     return len(mx.gluon.contrib.data.text.WikiText2(segment="test").vocabulary)
        """
        return self._vocab

    @property
    def frequencies(self):
        """How often each word occurs, a `collections.Counter`; None if the vocabulary was given.

        Examples
        --------
        >>> def commonest():  # downloads the files
        ...     return mx.gluon.contrib.data.text.WikiText2(segment="test").frequencies.most_common(10)
        """
        return self._counter

    def _build_vocab(self, content):
        self._counter = self._counter or text.utils.count_tokens_from_str(content)
        if not self._vocab:
            self._vocab = text.vocab.Vocabulary(counter=self._counter, reserved_tokens=[_END])


class _WikiText(_LanguageModelDataset):
    _archive = ("", "")
    _hashes = {}

    def __init__(self, root, segment, vocab, seq_len):
        self._segment, self._seq_len = segment, seq_len
        super().__init__(root, os.path.basename(self._archive[0]).removesuffix("-v1.zip"), vocab)

    def _get_data(self):
        path = os.path.join(self._root, _FILES[self._segment])
        if not os.path.exists(path) or not check_sha1(path, self._hashes[self._segment]):
            self._fetch()
        with open(path, encoding="utf8") as file:
            words = self._indices(file.read())
        whole = (len(words) - 1) // self._seq_len * self._seq_len
        self._data, self._label = (
            nd.array(part[:whole], dtype="int32").reshape((-1, self._seq_len)) for part in (words[:-1], words[1:])
        )

    def _fetch(self):
        name, digest = self._archive
        path = os.path.join(self._root, name)
        if os.path.exists(path) and check_sha1(path, digest):
            self._extract(path)
        else:
            urls = addresses(f"gluon/dataset/{self._namespace}", name)
            first_accepted([Candidate(url, self._extract) for url in urls], (path, digest))

    def _extract(self, archive):
        extract(archive, {_FILES[kind]: sha1 for kind, sha1 in self._hashes.items()}, self._root)

    def _indices(self, content):
        self._build_vocab(content)
        lines = (line.split() for line in content.splitlines())
        words = [word for line in lines if line for word in (*line, _END)]
        return np.array(self._vocab.to_indices(words), dtype=np.int32)


def _root(name):
    return os.path.join(base.data_dir(), "datasets", name)


class WikiText2(_WikiText):
    """WikiText-2: about 2 million words of Wikipedia articles, for word language models.

    A sample is a pair of int32 arrays of shape (seq_len,): words, and the words that follow them. Lines end with the
    word `<eos>`; a last part that is shorter than `seq_len` is left out. The files are downloaded once, to `root`. The
    licence is Creative Commons Attribution-ShareAlike.

    Parameters
    ----------
    root : str, default '~/.mxnet/datasets/wikitext-2'
        The folder of the files.
    segment : {'train', 'validation', 'test'}, default 'train'
        The part of the text.
    vocab : mxnet.contrib.text.vocab.Vocabulary, optional
        The numbers of the words. Without it they are made from the segment; pass the vocabulary of the training text to
        the other segments.
    seq_len : int, default 35
        The length of a sample.

    Examples
    --------
    >>> def data(batch_size):  # downloads the files
    ...     train = mx.gluon.contrib.data.text.WikiText2(segment="train", seq_len=35)
    ...     test = mx.gluon.contrib.data.text.WikiText2(segment="test", vocab=train.vocabulary, seq_len=35)
    ...     return [mx.gluon.data.DataLoader(part, batch_size, last_batch="discard") for part in (train, test)]
    """

    _archive = ("wikitext-2-v1.zip", "3c914d17d80b1459be871a5039ac23e752a53cbe")
    _hashes = {
        "train": "863f29c46ef9d167fff4940ec821195882fe29d1",
        "validation": "0418625c8b4da6e4b5c7a0b9e78d4ae8f7ee5422",
        "test": "c7b8ce0aa086fb34dab808c5c49224211eb2b172",
    }

    def __init__(self, root=_root("wikitext-2"), segment="train", vocab=None, seq_len=35):
        super().__init__(root, segment, vocab, seq_len)


class WikiText103(_WikiText):
    """WikiText-103: about 103 million words of Wikipedia articles, for word language models.

    A sample is a pair of int32 arrays of shape (seq_len,): words, and the words that follow them. Lines end with the
    word `<eos>`; a last part that is shorter than `seq_len` is left out. The files are downloaded once, to `root`. The
    licence is Creative Commons Attribution-ShareAlike.

    Parameters
    ----------
    root : str, default '~/.mxnet/datasets/wikitext-103'
        The folder of the files.
    segment : {'train', 'validation', 'test'}, default 'train'
        The part of the text.
    vocab : mxnet.contrib.text.vocab.Vocabulary, optional
        The numbers of the words. Without it they are made from the segment; pass the vocabulary of the training text to
        the other segments.
    seq_len : int, default 35
        The length of a sample.

    Examples
    --------
    >>> def data(batch_size):  # downloads the files
    ...     train = mx.gluon.contrib.data.text.WikiText103(segment="train", seq_len=35)
    ...     test = mx.gluon.contrib.data.text.WikiText103(segment="test", vocab=train.vocabulary, seq_len=35)
    ...     return [mx.gluon.data.DataLoader(part, batch_size, last_batch="discard") for part in (train, test)]
    """

    _archive = ("wikitext-103-v1.zip", "0aec09a7537b58d4bb65362fee27650eeaba625a")
    _hashes = {
        "train": "b7497e2dfe77e72cfef5e3dbc61b7b53712ac211",
        "validation": "c326ac59dc587676d58c422eb8a03e119582f92b",
        "test": "8a5befc548865cec54ed4273cf87dbbad60d1e47",
    }

    def __init__(self, root=_root("wikitext-103"), segment="train", vocab=None, seq_len=35):
        super().__init__(root, segment, vocab, seq_len)
