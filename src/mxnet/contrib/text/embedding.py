"""Token embeddings: vectors for tokens, from published or own text files."""

import functools
import itertools
import logging
import os
import warnings

from ... import base, registry
from ... import ndarray as nd
from ..._core.errors import MXNetError, ValueRefused
from ..._formats.archives import extract
from ..._formats.fetch import check_sha1, own_mirrors
from ..._formats.mirrors import Candidate, addresses, first_accepted, placed, repositories
from ...util import default_array, is_np_array
from . import _constants as C
from . import vocab

EMBEDDING_ROOT = os.path.join(base.data_dir(), "embeddings")


def register(embedding_cls):
    """Register a class of embeddings under its name in lower case.

    `create` then finds it. The class derives from `CustomEmbedding` or another class of this module.

    Parameters
    ----------
    embedding_cls : class
        The class.

    Returns
    -------
    class

    Examples
    --------
    >>> from mxnet.contrib.text import embedding
    >>> @embedding.register
    ... class Mine(embedding.CustomEmbedding):
    ...     pass
    >>> with open("vectors.txt", "w") as file:
    ...     print("hello 1 2", file=file)
    ...     print("world 3 4", file=file)
    >>> embedding.create("mine", pretrained_file_path="vectors.txt").get_vecs_by_tokens("world").asnumpy()
    array([3., 4.], dtype=float32)
    """
    return registry.get_register_func(_TokenEmbedding, "token embedding")(embedding_cls)


def create(embedding_name, **kwargs):
    """An embedding by the name of its class.

    The name is that of the class in lower case. An unknown name raises AssertionError with the names it resembles.

    Parameters
    ----------
    embedding_name : str
        'glove', 'fasttext', or a class that `register` has added.
    **kwargs
        Arguments of the class, such as `pretrained_file_name` and `vocabulary`.

    Returns
    -------
    embedding

    Examples
    --------
    >>> mx.contrib.text.embedding.create("glove", pretrained_file_name="glove.6B.50d.txt")  # doctest: +SKIP
    """
    return registry.get_create_func(_TokenEmbedding, "token embedding")(embedding_name, **kwargs)


def get_pretrained_file_names(embedding_name=None):
    """The names of the published files.

    Parameters
    ----------
    embedding_name : str, optional
        The class of embeddings; None: all.

    Returns
    -------
    list of str or dict

    Examples
    --------
    >>> "glove.6B.50d.txt" in mx.contrib.text.embedding.get_pretrained_file_names("glove")
    True
    """
    classes = registry.get_registry(_TokenEmbedding)
    if embedding_name is None:
        return {name: list(cls.pretrained_file_name_sha1) for name, cls in classes.items()}
    if embedding_name not in classes:
        raise KeyError(
            f"Cannot find `embedding_name` {embedding_name}. Use "
            "`get_pretrained_file_names(embedding_name=None).keys()` to get all the valid embedding names."
        )
    return list(classes[embedding_name].pretrained_file_name_sha1)


def _lines(file, path):
    """The lines of a file; bytes of another encoding are an error that names it."""
    try:
        yield from file
    except UnicodeError as error:  # also what has no byte order mark
        raise ValueRefused(f"{path}: {error}") from None


def _extracted(folder, name, sha1):
    """What takes the file out of an archive, if its hash is right."""
    return functools.partial(extract, wanted={name: sha1}, folder=folder, largest=1 << 33)


class _TokenEmbedding(vocab.Vocabulary):
    """A vocabulary with a vector for each token; tokens that are not in it have the vector of index 0."""

    pretrained_file_name_sha1: dict[str, str] = {}

    @classmethod
    def _get_download_file_name(cls, pretrained_file_name):
        return pretrained_file_name

    @classmethod
    def _get_pretrained_file_url(cls, pretrained_file_name):
        name = cls._get_download_file_name(pretrained_file_name)
        return f"{repositories()[0]}gluon/embeddings/{cls.__name__.lower()}/{name}"

    @classmethod
    def _get_pretrained_file(cls, embedding_root, pretrained_file_name):
        """The path of a published file, downloaded and unpacked unless the right one is there."""
        folder = os.path.join(os.path.expanduser(embedding_root), cls.__name__.lower())
        path = os.path.join(folder, pretrained_file_name)
        sha1 = cls.pretrained_file_name_sha1[pretrained_file_name]
        if os.path.exists(path) and check_sha1(path, sha1):
            return path
        try:
            first_accepted(cls._candidates(folder, pretrained_file_name, sha1), (path, sha1))
        except MXNetError as error:
            raise MXNetError(f"The embedding {pretrained_file_name} is not in {folder}: {error}") from error
        return path

    @classmethod
    def _candidates(cls, folder, pretrained_file_name, sha1):
        """Where the file or an archive with it may be; the hash of the file itself is what counts."""
        archive, family = cls._get_download_file_name(pretrained_file_name), cls.__name__.lower()
        accept = _extracted(folder, pretrained_file_name, sha1)
        if archive == pretrained_file_name:
            accept = placed(os.path.join(folder, archive), sha1)
        found = [Candidate(url, accept) for url in addresses(f"gluon/embeddings/{family}", archive)]
        own_host = getattr(cls, "_own_host", None)
        if own_host and not own_mirrors():
            found += own_host(folder, pretrained_file_name, sha1)
        return found

    def _load_embedding(self, pretrained_file_path, elem_delim, init_unknown_vec, encoding="utf8"):
        path = os.path.expanduser(pretrained_file_path)
        if not os.path.isfile(path):
            raise ValueError("`pretrained_file_path` must be a valid path to the pre-trained token embedding file.")
        logging.info("Loading pre-trained token embedding vectors from %s", path)
        self._vec_len = None
        vectors, unknown = [], None
        with open(path, encoding=encoding) as file:
            for number, line in enumerate(_lines(file, path), 1):
                token, vector = self._parsed(line, number, elem_delim, path)
                if token == self.unknown_token and unknown is None:
                    unknown = vector
                elif self._accepts(token, vector, number, unknown):
                    self._token_to_idx[token] = len(self._idx_to_token)
                    self._idx_to_token.append(token)
                    vectors.append(vector)
        self._set_vectors(vectors, unknown, init_unknown_vec)

    @staticmethod
    def _parsed(line, number, elem_delim, path):
        fields = line.rstrip().split(elem_delim)
        assert len(fields) > 1, (
            f"At line {number} of the pre-trained text embedding file: the data format of the "
            f"pre-trained token embedding file {path} is unexpected."
        )
        try:
            return fields[0], [float(value) for value in fields[1:]]
        except ValueError as error:
            raise ValueRefused(f"{path}, line {number}: {error}") from None

    def _accepts(self, token, vector, number, unknown):
        seen = token in self._token_to_idx and (token != self.unknown_token or unknown is not None)
        if seen:
            warnings.warn(
                f"At line {number} of the pre-trained token embedding file: the embedding vector for token "
                f"{token} has been loaded and a duplicate embedding for the  same token is seen and "
                "skipped.",
                stacklevel=4,
            )
            return False
        if len(vector) == 1:
            warnings.warn(
                f"At line {number} of the pre-trained text embedding file: token {token} with 1-dimensional "
                f"vector {vector} is likely a header and is skipped.",
                stacklevel=4,
            )
            return False
        if self._vec_len is None:
            self._vec_len = len(vector)
        assert len(vector) == self._vec_len, (
            f"At line {number} of the pre-trained token embedding file: the dimension of token {token} is "
            f"{len(vector)} but the dimension of previous tokens is {self._vec_len}. Dimensions of all the tokens "
            "must be the same."
        )
        return True

    def _set_vectors(self, vectors, unknown, init_unknown_vec):
        if self._vec_len is None:
            raise ValueRefused("the pre-trained token embedding file holds no vectors")
        first = len(self._idx_to_token) - len(vectors)  # the unknown token and reserved ones start as zeros
        self._idx_to_vec = default_array([[0.0] * self._vec_len] * first + vectors)
        if unknown is not None:
            self._idx_to_vec[C.UNKNOWN_IDX] = default_array(unknown)
        else:
            initial = init_unknown_vec(shape=self._vec_len)
            self._idx_to_vec[C.UNKNOWN_IDX] = initial.as_np_ndarray() if is_np_array() else initial

    def _index_tokens_from_vocabulary(self, vocabulary):
        self._token_to_idx = dict(vocabulary.token_to_idx)
        self._idx_to_token = list(vocabulary.idx_to_token)
        self._unknown_token = vocabulary.unknown_token
        reserved = vocabulary.reserved_tokens
        self._reserved_tokens = None if reserved is None else list(reserved)

    def _set_idx_to_vec_by_embeddings(self, token_embeddings, vocab_len, vocab_idx_to_token):
        """The vectors of several embeddings side by side, for the tokens of a vocabulary."""
        ends = list(itertools.accumulate(embedding.vec_len for embedding in token_embeddings))
        self._vec_len = ends[-1]
        vectors = default_array([[0.0] * self._vec_len] * vocab_len)
        for embedding, end in zip(token_embeddings, ends, strict=True):
            columns = slice(end - embedding.vec_len, end)
            vectors[0, columns] = embedding.idx_to_vec[0]
            if vocab_len > 1:
                vectors[1:, columns] = embedding.get_vecs_by_tokens(vocab_idx_to_token[1:])
        self._idx_to_vec = vectors

    def _build_embedding_for_vocabulary(self, vocabulary):
        if vocabulary is None:
            return
        given = type(vocabulary).__name__
        assert isinstance(vocabulary, vocab.Vocabulary), f"vocabulary must be a text.vocab.Vocabulary, not {given}"
        self._set_idx_to_vec_by_embeddings([self], len(vocabulary), vocabulary.idx_to_token)
        self._index_tokens_from_vocabulary(vocabulary)

    @property
    def vec_len(self):
        """The number of elements of a vector.

        Examples
        --------
        >>> with open("vectors.txt", "w") as file:
        ...     _ = file.write("cat 1 2\\ndog 3 4\\n")
        >>> mx.contrib.text.embedding.CustomEmbedding("vectors.txt").vec_len
        2
        """
        return self._vec_len

    @property
    def idx_to_vec(self):
        """All vectors, an NDArray of shape (number of tokens, `vec_len`); row 0 belongs to the unknown token.

        Examples
        --------
        >>> with open("vectors.txt", "w") as file:
        ...     _ = file.write("cat 1 2\\ndog 3 4\\n")
        >>> mx.contrib.text.embedding.CustomEmbedding("vectors.txt").idx_to_vec.asnumpy()
        array([[0., 0.],
               [1., 2.],
               [3., 4.]], dtype=float32)
        """
        return self._idx_to_vec

    def get_vecs_by_tokens(self, tokens, lower_case_backup=False):
        """Find the vectors of tokens; unknown tokens have the vector of index 0.

        Parameters
        ----------
        tokens : str or list of str
            A token, or several.
        lower_case_backup : bool, default False
            Whether a token that is not known is looked up in lower case.

        Returns
        -------
        NDArray
            Of shape (`vec_len`,) for one token, (number of tokens, `vec_len`) for a list.

        Examples
        --------
        >>> with open("vectors.txt", "w") as file:
        ...     _ = file.write("cat 1 2\\ndog 3 4\\n")
        >>> vectors = mx.contrib.text.embedding.CustomEmbedding("vectors.txt")
        >>> vectors.get_vecs_by_tokens("Dog", lower_case_backup=True).asnumpy()
        array([3., 4.], dtype=float32)
        """
        single = not isinstance(tokens, list)
        indices = [self._find(token, lower_case_backup) for token in ([tokens] if single else tokens)]
        vectors = self.idx_to_vec.take(default_array(indices), axis=0)
        return vectors[0] if single else vectors

    def _find(self, token, lower_case_backup):
        if token in self.token_to_idx or not lower_case_backup:
            return self.token_to_idx.get(token, C.UNKNOWN_IDX)
        return self.token_to_idx.get(token.lower(), C.UNKNOWN_IDX)

    def update_token_vectors(self, tokens, new_vectors):
        """Set the vectors of known tokens; an unknown token raises ValueError.

        Parameters
        ----------
        tokens : str or list of str
            A token, or several.
        new_vectors : NDArray
            A vector for each, of shape (number of tokens, `vec_len`); one token may have shape (`vec_len`,).

        Examples
        --------
        >>> with open("vectors.txt", "w") as file:
        ...     _ = file.write("cat 1 2\\ndog 3 4\\n")
        >>> vectors = mx.contrib.text.embedding.CustomEmbedding("vectors.txt")
        >>> vectors.update_token_vectors("cat", mx.nd.array([5, 6]))
        >>> vectors.get_vecs_by_tokens("cat").asnumpy()
        array([5., 6.], dtype=float32)
        """
        assert self.idx_to_vec is not None, "The property `idx_to_vec` has not been properly set."
        if not isinstance(tokens, list) or len(tokens) == 1:
            assert isinstance(new_vectors, nd.NDArray) and len(new_vectors.shape) in [1, 2], (
                "`new_vectors` must be a 1-D or 2-D NDArray if `tokens` is a singleton."
            )
            tokens = tokens if isinstance(tokens, list) else [tokens]
            if len(new_vectors.shape) == 1:
                new_vectors = new_vectors.expand_dims(axis=0)
        else:
            assert isinstance(new_vectors, nd.NDArray) and len(new_vectors.shape) == 2, (
                "`new_vectors` must be a 2-D NDArray if `tokens` is a list of multiple strings."
            )
        assert new_vectors.shape == (len(tokens), self.vec_len), (
            "The length of new_vectors must be equal to the number of tokens and the width of "
            "new_vectors must be equal to the dimension of embeddings of the glossary."
        )
        self._idx_to_vec[default_array([self._known(token) for token in tokens])] = new_vectors

    def _known(self, token):
        if token not in self.token_to_idx:
            raise ValueError(
                f"Token {token} is unknown. To update the embedding vector for an unknown token, please "
                f"specify it explicitly as the `unknown_token` {self.idx_to_token[C.UNKNOWN_IDX]} in "
                "`tokens`. This is to avoid unintended updates."
            )
        return self.token_to_idx[token]

    @classmethod
    def _check_pretrained_file_names(cls, pretrained_file_name):
        name = cls.__name__.lower()
        if pretrained_file_name not in cls.pretrained_file_name_sha1:
            raise KeyError(
                f"Cannot find pretrained file {pretrained_file_name} for token embedding {name}. "
                f"Valid pretrained files for embedding {name}: {', '.join(cls.pretrained_file_name_sha1)}"
            )

    def _load_published(self, pretrained_file_name, embedding_root, init_unknown_vec, vocabulary):
        path = self._get_pretrained_file(embedding_root, pretrained_file_name)
        self._load_embedding(path, " ", init_unknown_vec)
        self._build_embedding_for_vocabulary(vocabulary)


@register
class GloVe(_TokenEmbedding):
    """Vectors of the GloVe project, which are downloaded.

    The vectors were learned from co-occurrence counts of words. The file is downloaded once, checked, and kept in
    `embedding_root`; later calls need no network. A file has one token per line, followed by its vector.
    `get_vecs_by_tokens` returns the vectors of tokens, and `idx_to_vec` the whole matrix, to which the weight of an
    `nn.Embedding` can be set. Index 0 belongs to unknown tokens.

    Parameters
    ----------
    pretrained_file_name : str, default 'glove.840B.300d.txt'
        The file, one of `get_pretrained_file_names`.
    embedding_root : str, default EMBEDDING_ROOT
        The folder of the files.
    init_unknown_vec : callable, default nd.zeros
        Makes the vector of unknown tokens.
    vocabulary : Vocabulary, optional
        The tokens to keep; None: all.
    **kwargs
        Accepted for old programs.

    Examples
    --------
    >>> vectors = mx.contrib.text.embedding.GloVe(pretrained_file_name="glove.6B.50d.txt")  # doctest: +SKIP
    """

    pretrained_archive_name_sha1 = C.GLOVE_PRETRAINED_FILE_SHA1
    pretrained_file_name_sha1 = C.GLOVE_PRETRAINED_ARCHIVE_SHA1

    @classmethod
    def _get_download_file_name(cls, pretrained_file_name):
        corpus = pretrained_file_name.split(".")[1]
        return next(name for name in cls.pretrained_archive_name_sha1 if name.split(".")[1] == corpus)

    def __init__(
        self,
        pretrained_file_name="glove.840B.300d.txt",
        embedding_root=EMBEDDING_ROOT,
        init_unknown_vec=nd.zeros,
        vocabulary=None,
        **kwargs,
    ):
        self._check_pretrained_file_names(pretrained_file_name)
        super().__init__(**kwargs)
        self._load_published(pretrained_file_name, embedding_root, init_unknown_vec, vocabulary)


@register
class FastText(_TokenEmbedding):
    """Vectors of the fastText project, which are downloaded.

    The vectors were learned from character n-grams of words. The file is downloaded once, checked, and kept in
    `embedding_root`; later calls need no network. A file has one token per line, followed by its vector.
    `get_vecs_by_tokens` returns the vectors of tokens, and `idx_to_vec` the whole matrix, to which the weight of an
    `nn.Embedding` can be set. Index 0 belongs to unknown tokens.

    Parameters
    ----------
    pretrained_file_name : str, default 'wiki.simple.vec'
        The file, one of `get_pretrained_file_names`.
    embedding_root : str, default EMBEDDING_ROOT
        The folder of the files.
    init_unknown_vec : callable, default nd.zeros
        Makes the vector of unknown tokens.
    vocabulary : Vocabulary, optional
        The tokens to keep; None: all.
    **kwargs
        Accepted for old programs.

    Examples
    --------
    >>> vectors = mx.contrib.text.embedding.FastText(pretrained_file_name="wiki.simple.vec")  # doctest: +SKIP
    """

    pretrained_archive_name_sha1 = C.FAST_TEXT_ARCHIVE_SHA1
    pretrained_file_name_sha1 = C.FAST_TEXT_FILE_SHA1

    @classmethod
    def _get_download_file_name(cls, pretrained_file_name):
        return os.path.splitext(pretrained_file_name)[0] + ".zip"

    @classmethod
    def _own_host(cls, folder, name, sha1):
        """fastText's own host has the vectors of Wikipedia unpacked, those of the crawl in an archive of its own."""
        host = "https://dl.fbaipublicfiles.com/fasttext"
        if name.startswith("wiki."):
            return [Candidate(f"{host}/vectors-wiki/{name}", placed(os.path.join(folder, name), sha1))]
        return [Candidate(f"{host}/vectors-english/{name}.zip", _extracted(folder, name, sha1))]

    def __init__(
        self,
        pretrained_file_name="wiki.simple.vec",
        embedding_root=EMBEDDING_ROOT,
        init_unknown_vec=nd.zeros,
        vocabulary=None,
        **kwargs,
    ):
        self._check_pretrained_file_names(pretrained_file_name)
        super().__init__(**kwargs)
        self._load_published(pretrained_file_name, embedding_root, init_unknown_vec, vocabulary)


class CustomEmbedding(_TokenEmbedding):
    """Vectors from a text file: a token and its values on each line.

    Parameters
    ----------
    pretrained_file_path : str
        The file.
    elem_delim : str, default ' '
        What separates a token and its values.
    encoding : str, default 'utf8'
        The encoding of the file.
    init_unknown_vec : callable, default nd.zeros
        Makes the vector of unknown tokens.
    vocabulary : Vocabulary, optional
        The tokens to keep; None: all.
    **kwargs
        Accepted for old programs.

    Examples
    --------
    >>> with open("vectors.txt", "w") as file:
    ...     _ = file.write("a 1 2" + chr(10) + "b 3 4" + chr(10))
    >>> vectors = mx.contrib.text.embedding.CustomEmbedding("vectors.txt")
    >>> vectors.get_vecs_by_tokens(["b", "?"]).asnumpy()
    array([[3., 4.],
           [0., 0.]], dtype=float32)
    """

    def __init__(
        self,
        pretrained_file_path,
        elem_delim=" ",
        encoding="utf8",
        init_unknown_vec=nd.zeros,
        vocabulary=None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self._load_embedding(pretrained_file_path, elem_delim, init_unknown_vec, encoding)
        self._build_embedding_for_vocabulary(vocabulary)


class CompositeEmbedding(_TokenEmbedding):
    """For the tokens of a vocabulary, the vectors of several embeddings side by side.

    Parameters
    ----------
    vocabulary : Vocabulary
        The tokens.
    token_embeddings : list of embeddings
        The embeddings.

    Examples
    --------
    >>> from collections import Counter
    >>> from mxnet.contrib.text import embedding, vocab
    >>> with open("vectors.txt", "w") as file:
    ...     _ = file.write("a 1 2" + chr(10) + "b 3 4" + chr(10))
    >>> vectors = embedding.CustomEmbedding("vectors.txt")
    >>> both = embedding.CompositeEmbedding(vocab.Vocabulary(Counter(["a"])), [vectors, vectors])
    >>> both.get_vecs_by_tokens("a").asnumpy()
    array([1., 2., 1., 2.], dtype=float32)
    """

    def __init__(self, vocabulary, token_embeddings):
        parts = token_embeddings if isinstance(token_embeddings, list) else [token_embeddings]
        assert isinstance(vocabulary, vocab.Vocabulary), (
            f"vocabulary must be an mxnet.contrib.text.vocab.Vocabulary, got {type(vocabulary)}"
        )
        strangers = [type(part) for part in parts if not isinstance(part, _TokenEmbedding)]
        assert not strangers, f"token_embeddings must be a token embedding or a list of them, got {strangers}"
        self._index_tokens_from_vocabulary(vocabulary)
        self._set_idx_to_vec_by_embeddings(parts, len(self), self.idx_to_token)
