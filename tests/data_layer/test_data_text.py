"""Vocabularies and embeddings from files."""

import collections

import numpy as np
import pytest

import mxnet as mx
from mxnet.contrib import text


@pytest.fixture
def vectors(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text("a 1 2 3\nb 4 5 6\n")
    return str(path)


def test_vocabulary_orders_by_frequency_then_name():
    counter = text.utils.count_tokens_from_str(" Life is great! \n life is good . \n", to_lower=True)
    assert counter == collections.Counter({"life": 2, "is": 2, "great!": 1, "good": 1, ".": 1})
    vocabulary = text.vocab.Vocabulary(counter, most_freq_count=3, reserved_tokens=["<pad>"])
    assert vocabulary.idx_to_token == ["<unk>", "<pad>", "is", "life", "."]
    assert vocabulary.to_indices(["life", "nothing"]) == [3, 0] and vocabulary.to_tokens(2) == "is"
    with pytest.raises(ValueError, match="Token index 9"):
        vocabulary.to_tokens(9)


def test_custom_embedding(vectors):
    embedding = text.embedding.CustomEmbedding(vectors, init_unknown_vec=mx.nd.ones)
    assert len(embedding) == 3 and embedding.vec_len == 3
    np.testing.assert_array_equal(embedding.get_vecs_by_tokens(["b", "zzz"]).asnumpy(), [[4, 5, 6], [1, 1, 1]])
    assert embedding.get_vecs_by_tokens("A", lower_case_backup=True).asnumpy().tolist() == [1, 2, 3]
    embedding.update_token_vectors("a", mx.nd.array([7, 7, 7]))
    assert embedding.get_vecs_by_tokens("a").asnumpy().tolist() == [7, 7, 7]
    with pytest.raises(ValueError, match="Token zzz is unknown"):
        embedding.update_token_vectors("zzz", mx.nd.array([1, 1, 1]))


def test_embedding_for_a_vocabulary_and_composition(vectors):
    vocabulary = text.vocab.Vocabulary(collections.Counter(["b", "c"]))
    single = text.embedding.CustomEmbedding(vectors, vocabulary=vocabulary)
    np.testing.assert_array_equal(single.idx_to_vec.asnumpy(), [[0, 0, 0], [4, 5, 6], [0, 0, 0]])
    both = text.embedding.CompositeEmbedding(vocabulary, [single, text.embedding.CustomEmbedding(vectors)])
    assert both.idx_to_vec.shape == (3, 6) and both.vec_len == 6


def test_damaged_embedding_file(tmp_path):
    (tmp_path / "bad").write_text("a 1 2\nb 1\nc 1 2 3\n")
    with pytest.warns(UserWarning, match="likely a header"), pytest.raises(AssertionError, match="At line 3"):
        text.embedding.CustomEmbedding(str(tmp_path / "bad"))
    with pytest.raises(ValueError, match="valid path"):
        text.embedding.CustomEmbedding(str(tmp_path / "missing"))


def test_published_embeddings_are_known():
    names = text.embedding.get_pretrained_file_names()
    assert "glove.6B.50d.txt" in names["glove"] and "wiki.simple.vec" in names["fasttext"]
    assert len(names["fasttext"]) == 327
    with pytest.raises(KeyError, match="Cannot find pretrained file"):
        text.embedding.create("glove", pretrained_file_name="glove.none.txt")


def test_published_embeddings_come_from_the_first_mirror_or_from_mxnet(monkeypatch):
    monkeypatch.setenv("MXNET_GLUON_REPO", "https://one, https://two")
    assert text.embedding.GloVe._get_pretrained_file_url("glove.6B.50d.txt").startswith("https://one/gluon/embeddings/")
    monkeypatch.setenv("MXNET_GLUON_REPO", "")
    assert text.embedding.GloVe._get_pretrained_file_url("glove.6B.50d.txt").startswith("https://apache-mxnet.")


@pytest.mark.parametrize("data, words", [
    (b"\xff\xfe 1 2\n", "codec can't decode"), (b"a 1 2\nb x y\n", "line 2: could not convert"),
    (b"", "holds no vectors"), (b"1000000000 1000000000\n", "holds no vectors"),
])  # fmt: skip
def test_embedding_files_that_are_none(tmp_path, data, words):
    (tmp_path / "vectors.txt").write_bytes(data)
    with pytest.raises(mx.MXNetError, match=words):
        mx.contrib.text.embedding.CustomEmbedding(str(tmp_path / "vectors.txt"))


def test_a_file_that_is_not_of_the_encoding(vectors):
    for encoding, words in (
        ("utf16", "vectors.txt: UTF-16 stream does not start with BOM"),
        ("utf-32", "vectors.txt: "),
    ):
        with pytest.raises(mx.MXNetError, match=words):
            text.embedding.CustomEmbedding(vectors, encoding=encoding)
