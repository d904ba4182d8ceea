"""Vocabulary: tokens and their indices."""

import collections

from ._constants import UNKNOWN_IDX


class Vocabulary:
    """Indices for the tokens of a counter: the unknown token first, then reserved ones, then by descending frequency.

    Parameters
    ----------
    counter : collections.Counter, optional
        The tokens with their counts.
    most_freq_count : int, optional
        The greatest number of tokens of the counter that are kept.
    min_freq : int, default 1
        Rarer tokens are left out.
    unknown_token : str, default '<unk>'
        The token in place of all that are left out.
    reserved_tokens : list of str, optional
        Tokens that are always there, such as padding.

    Examples
    --------
    >>> from collections import Counter
    >>> vocabulary = mx.contrib.text.vocab.Vocabulary(Counter(["a", "b", "a"]))
    >>> vocabulary.to_indices(["a", "c"]), vocabulary.to_tokens(1)
    ([1, 0], 'a')
    """

    def __init__(self, counter=None, most_freq_count=None, min_freq=1, unknown_token="<unk>", reserved_tokens=None):
        assert min_freq > 0, "`min_freq` must be set to a positive value."
        if reserved_tokens is not None:
            assert unknown_token not in reserved_tokens, "`reserved_token` cannot contain `unknown_token`."
            assert len(set(reserved_tokens)) == len(reserved_tokens), (
                "`reserved_tokens` cannot contain duplicate reserved tokens."
            )
        self._unknown_token = unknown_token
        self._reserved_tokens = None if reserved_tokens is None else list(reserved_tokens)
        self._idx_to_token = [unknown_token, *(reserved_tokens or ())]
        self._token_to_idx = {token: index for index, token in enumerate(self._idx_to_token)}
        if counter is not None:
            self._index_counter_keys(counter, most_freq_count, min_freq)

    def _index_counter_keys(self, counter, most_freq_count, min_freq):
        assert isinstance(counter, collections.Counter), "`counter` must be an instance of collections.Counter."
        limit = len(self._idx_to_token) + (len(counter) if most_freq_count is None else most_freq_count)
        for token, frequency in sorted(sorted(counter.items()), key=lambda item: item[1], reverse=True):
            if frequency < min_freq or len(self._idx_to_token) == limit:
                break
            if token not in self._token_to_idx:
                self._token_to_idx[token] = len(self._idx_to_token)
                self._idx_to_token.append(token)

    def __len__(self):
        return len(self.idx_to_token)

    @property
    def token_to_idx(self):
        """The index of each token, a dict.

        Examples
        --------
        >>> from collections import Counter
        >>> mx.contrib.text.vocab.Vocabulary(Counter(["a", "b", "a"])).token_to_idx
        {'<unk>': 0, 'a': 1, 'b': 2}
        """
        return self._token_to_idx

    @property
    def idx_to_token(self):
        """The tokens in the order of their indices, a list.

        Examples
        --------
        >>> from collections import Counter
        >>> mx.contrib.text.vocab.Vocabulary(Counter(["a", "b", "a"])).idx_to_token
        ['<unk>', 'a', 'b']
        """
        return self._idx_to_token

    @property
    def unknown_token(self):
        """The token that replaces those that are not in the vocabulary; its index is 0.

        Examples
        --------
        >>> mx.contrib.text.vocab.Vocabulary().unknown_token
        '<unk>'
        """
        return self._unknown_token

    @property
    def reserved_tokens(self):
        """The tokens that are always in the vocabulary, after the unknown one; None without any.

        Examples
        --------
        >>> mx.contrib.text.vocab.Vocabulary(reserved_tokens=["<pad>"]).reserved_tokens
        ['<pad>']
        """
        return self._reserved_tokens

    def to_indices(self, tokens):
        """Find the indices of tokens; unknown tokens have index 0.

        Parameters
        ----------
        tokens : str or list of str
            A token, or several.

        Returns
        -------
        int or list of int

        Examples
        --------
        >>> from collections import Counter
        >>> mx.contrib.text.vocab.Vocabulary(Counter(["a", "b", "a"])).to_indices(["b", "c"])
        [2, 0]
        """
        if isinstance(tokens, list):
            return [self.to_indices(token) for token in tokens]
        return self.token_to_idx.get(tokens, UNKNOWN_IDX)

    def to_tokens(self, indices):
        """Find the tokens of indices; an index that is too large raises ValueError.

        Parameters
        ----------
        indices : int or list of int
            An index, or several.

        Returns
        -------
        str or list of str

        Examples
        --------
        >>> from collections import Counter
        >>> mx.contrib.text.vocab.Vocabulary(Counter(["a", "b", "a"])).to_tokens([1, 2])
        ['a', 'b']
        """
        if isinstance(indices, list):
            return [self.to_tokens(index) for index in indices]
        if not isinstance(indices, int) or indices >= len(self.idx_to_token):
            raise ValueError(f"Token index {indices} in the provided `indices` is invalid.")
        return self.idx_to_token[indices]
