"""Counting tokens."""

import collections
import re


def count_tokens_from_str(source_str, token_delim=" ", seq_delim="\n", to_lower=False, counter_to_update=None):
    """Count the tokens between delimiters (regular expressions), into a new Counter or a given one."""
    tokens = [token for token in re.split(f"{token_delim}|{seq_delim}", source_str) if token]
    counter = collections.Counter() if counter_to_update is None else counter_to_update
    counter.update(token.lower() for token in tokens) if to_lower else counter.update(tokens)
    return counter
