"""Text: vocabularies and pre-trained token embeddings."""

from . import embedding, utils, vocab
