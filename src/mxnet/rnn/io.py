"""Sentences in batches of similar length."""

import bisect
import itertools
import random

import numpy as np

from .. import ndarray
from ..io import DataBatch, DataDesc, DataIter


def encode_sentences(sentences, vocab=None, invalid_label=-1, invalid_key="\n", start_label=0, unknown_token=None):
    r"""Lists of words as lists of numbers, and the vocabulary: a new one, or the given one.

    With a given vocabulary a word outside it is an error, unless `unknown_token` stands in for it.

    Parameters
    ----------
    sentences : list of list of str
        The sentences.
    vocab : dict of str to int, optional
        The vocabulary; without it a new one is made.
    invalid_label : int, default -1
        The number of padding, which no word gets.
    invalid_key : str, default '\n'
        The key of padding in the vocabulary.
    start_label : int, default 0
        The least number of a word.
    unknown_token : str, optional
        Stands in for words outside of a given vocabulary.

    Returns
    -------
    (list of list of int, dict)

    Examples
    --------
    >>> numbers, vocabulary = mx.rnn.encode_sentences([["a", "b"], ["a"]], start_label=1)
    >>> numbers, vocabulary["a"]
    ([[1, 2], [1]], 1)
    """
    grows = vocab is None
    if grows:
        vocab = {invalid_key: invalid_label}
    free = (number for number in itertools.count(start_label) if number != invalid_label)

    def code(word):
        if word not in vocab:
            assert grows or unknown_token, f"Unknown token {word}"
            word = unknown_token or word
            vocab[word] = next(free)
        return vocab[word]

    return [list(map(code, sentence)) for sentence in sentences], vocab


class BucketSentenceIter(DataIter):
    """Encoded sentences for language models, padded to the smallest bucket that holds them.

    The label of a sentence is the sentence moved by one. Without `buckets`, every length that fills a batch is one.

    Parameters
    ----------
    sentences : list of list of int
        The encoded sentences.
    batch_size : int
        The number of sentences in a batch.
    buckets : list of int, optional
        The lengths of the buckets; without it, every length that fills a batch.
    invalid_label : int, default -1
        The number of padding.
    data_name : str, default 'data'
        The name of the data.
    label_name : str, default 'softmax_label'
        The name of the label.
    dtype : str, default 'float32'
        The data type of the batches.
    layout : str, default 'NT'
        NT: batch first; TN: time first.

    Examples
    --------
    >>> batches = mx.rnn.BucketSentenceIter([[1, 2, 3], [4, 5]], batch_size=2, buckets=[4])
    WARNING: discarded 0 sentences longer than the largest bucket.
    >>> batch = next(batches)
    >>> batch.bucket_key, batch.data[0].shape
    (4, (2, 4))
    """

    def __init__(
        self,
        sentences,
        batch_size,
        buckets=None,
        invalid_label=-1,
        data_name="data",
        label_name="softmax_label",
        dtype="float32",
        layout="NT",
    ):
        super().__init__()
        if not buckets:
            lengths = np.bincount([len(sentence) for sentence in sentences])
            buckets = [length for length, count in enumerate(lengths) if count >= batch_size]
        buckets.sort()
        self.data, discarded = self._sorted_into(buckets, sentences, invalid_label, dtype)
        self.buckets = [bucket for bucket, rows in zip(buckets, self.data, strict=True) if rows]
        self.data = [np.asarray(rows, dtype=dtype) for rows in self.data if rows]
        print(f"WARNING: discarded {discarded} sentences longer than the largest bucket.")
        self.batch_size = batch_size
        self.data_name = data_name
        self.label_name = label_name
        self.dtype = dtype
        self.invalid_label = invalid_label
        self.layout = layout
        self.major_axis = layout.find("N")
        if self.major_axis not in (0, 1):
            raise ValueError(f"Invalid layout {layout}: Must by NT (batch major) or TN (time major)")
        self.default_bucket_key = max(self.buckets)
        shape = (batch_size, self.default_bucket_key)
        self.provide_data, self.provide_label = self._described(shape if self.major_axis == 0 else shape[::-1])
        self.idx = [
            (i, first) for i, rows in enumerate(self.data) for first in range(0, len(rows) - batch_size + 1, batch_size)
        ]
        self._orders = [np.arange(len(rows)) for rows in self.data]  # where each sentence came from
        self.reset()

    @staticmethod
    def _sorted_into(buckets, sentences, invalid_label, dtype):
        rows = [[] for _ in buckets]
        discarded = 0
        for sentence in sentences:
            place = bisect.bisect_left(buckets, len(sentence))
            if place == len(buckets):
                discarded += 1
                continue
            padded = np.full((buckets[place],), invalid_label, dtype=dtype)
            padded[: len(sentence)] = sentence
            rows[place].append(padded)
        return rows, discarded

    def _described(self, shape):
        return (
            [DataDesc(name=self.data_name, shape=shape, layout=self.layout)],
            [DataDesc(name=self.label_name, shape=shape, layout=self.layout)],
        )

    def state_dict(self):
        """The position, for `load_state_dict` of an iterator over the same sentences. Not in MXNet.

        Examples
        --------
        >>> batches = mx.rnn.BucketSentenceIter([[1, 2], [3, 4]], batch_size=1, buckets=[2])
        WARNING: discarded 0 sentences longer than the largest bucket.
        >>> isinstance(batches.state_dict(), dict)
        True
        """
        return {"curr_idx": self.curr_idx, "idx": list(self.idx), "orders": list(self._orders)}

    def load_state_dict(self, state):
        """Continue at a position that `state_dict` returned. Not in MXNet.

        Parameters
        ----------
        state : dict
            The position.

        Examples
        --------
        >>> batches = mx.rnn.BucketSentenceIter([[1, 2], [3, 4]], batch_size=1, buckets=[2])
        WARNING: discarded 0 sentences longer than the largest bucket.
        >>> position = batches.state_dict()
        >>> first = batches.next()
        >>> batches.load_state_dict(position)
        >>> batches.next().data[0].asnumpy().tolist() == first.data[0].asnumpy().tolist()
        True
        """
        self.curr_idx, self.idx = state["curr_idx"], list(state["idx"])
        moves = [np.argsort(order)[wanted] for order, wanted in zip(self._orders, state["orders"], strict=True)]
        self._reorder(moves)

    def _reorder(self, moves):
        """Put the sentences of each bucket into another order."""
        self._orders = [order[move] for order, move in zip(self._orders, moves, strict=True)]
        self.data = [rows[move] for rows, move in zip(self.data, moves, strict=True)]
        self.nddata = [ndarray.array(rows, dtype=self.dtype) for rows in self.data]
        self.ndlabel = [ndarray.array(self._next_words(rows), dtype=self.dtype) for rows in self.data]

    def _next_words(self, rows):
        """The labels of sentences: each word's successor, and `invalid_label` after the last one."""
        label = np.roll(rows, -1, axis=1)
        label[:, -1] = self.invalid_label
        return label

    def reset(self):
        """Start again, with batches and the sentences in each bucket in a new order."""
        self.curr_idx = 0
        random.shuffle(self.idx)
        moves = [np.arange(len(rows)) for rows in self.data]
        for move in moves:
            np.random.shuffle(move)  # draws what shuffling the rows themselves would
        self._reorder(moves)

    def next(self):
        if self.curr_idx == len(self.idx):
            raise StopIteration
        bucket, first = self.idx[self.curr_idx]
        self.curr_idx += 1
        data, label = (array[bucket][first : first + self.batch_size] for array in (self.nddata, self.ndlabel))
        if self.major_axis == 1:
            data, label = data.T, label.T
        described, described_label = self._described(data.shape)
        return DataBatch(
            [data],
            [label],
            pad=0,
            bucket_key=self.buckets[bucket],
            provide_data=described,
            provide_label=described_label,
        )
