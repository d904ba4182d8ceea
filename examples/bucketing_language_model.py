"""A language model for sentences of different lengths: BucketingModule unrolls a graph per length with shared weights.

The text is Python's own documentation, which is included in Python; `--data` selects another text file.
"""

import re
from pathlib import Path
from pydoc_data import topics

import common

import mxnet as mx

BUCKETS = [10, 20, 30]


def sentences(path, most):
    """Return the sentences as lists of words."""
    text = Path(path).read_text(encoding="utf-8") if path else "\n".join(topics.topics.values())
    found = (re.findall(r"[a-z]+", sentence.lower()) for sentence in re.split(r"[.:]\s", text))
    return [words for words in found if 4 <= len(words) <= BUCKETS[-1]][:most]


def network(vocabulary, size):
    """Return a function that creates the graph for a length."""
    cell = mx.rnn.SequentialRNNCell()
    cell.add(mx.rnn.LSTMCell(size, prefix="lstm_"))

    def unrolled(length):
        embedded = mx.sym.Embedding(mx.sym.Variable("data"), input_dim=vocabulary, output_dim=size, name="embed")
        cell.reset()
        outputs, _ = cell.unroll(length, embedded, merge_outputs=True)
        scores = mx.sym.FullyConnected(outputs.reshape((-1, size)), num_hidden=vocabulary, name="scores")
        label = mx.sym.Variable("softmax_label").reshape((-1,))
        return mx.sym.SoftmaxOutput(scores, label, name="softmax", use_ignore=True), ("data",), ("softmax_label",)

    return unrolled


def main(arguments=None):
    chosen = common.options(__doc__, arguments, epochs=(5, 2), size=(128, 16), sentences=(4000, 200))
    encoded, vocabulary = mx.rnn.encode_sentences(sentences(chosen.data, chosen.sentences), start_label=1)
    train = mx.rnn.BucketSentenceIter(encoded, 32, buckets=BUCKETS, invalid_label=0)
    module = mx.mod.BucketingModule(network(len(vocabulary) + 1, chosen.size), train.default_bucket_key)
    module.bind(train.provide_data, train.provide_label)
    module.init_params(mx.init.Xavier())
    module.init_optimizer("local", "adam", {"learning_rate": 0.005})
    metric, history = mx.metric.Perplexity(ignore_label=0), []
    for epoch in range(chosen.epochs):
        train.reset()
        metric.reset()
        for batch in train:
            module.forward(batch, is_train=True)
            module.update_metric(metric, batch.label)
            module.backward()
            module.update()
        history.append(metric.get()[1])
        print(f"epoch {epoch + 1}: perplexity {history[-1]:.1f} over {len(vocabulary)} words")
    return history


if __name__ == "__main__":
    main()
