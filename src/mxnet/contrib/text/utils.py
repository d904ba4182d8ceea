"""Counting tokens."""

import collections
import re


def count_tokens_from_str(source_str, token_delim=" ", seq_delim="\n", to_lower=False, counter_to_update=None):
    r"""Count the tokens of a text.

    Parameters
    ----------
    source_str : str
        The text.
    token_delim : str, default ' '
        A regular expression between tokens.
    seq_delim : str, default '\n'
        A regular expression between sequences.
    to_lower : bool, default False
        Whether the text is made lower case.
    counter_to_update : collections.Counter, optional
        A counter to add to.

    Returns
    -------
    collections.Counter

    Examples
    --------
    >>> mx.contrib.text.utils.count_tokens_from_str("a b a").most_common()
    [('a', 2), ('b', 1)]
    """
    tokens = [token for token in re.split(f"{token_delim}|{seq_delim}", source_str) if token]
    counter = collections.Counter() if counter_to_update is None else counter_to_update
    counter.update(token.lower() for token in tokens) if to_lower else counter.update(tokens)
    return counter
