"""The matrix products that an encoder and an LSTM are made of, alone: the least time that this core needs for them."""

import time

import torch

from mxnet import nd

RUNS = 5

# work -> (rows, inner size, columns, how often), of a forward pass in each layer or of one in each direction
ENCODER = (
    (512, 768, 2304, 1),
    (512, 768, 768, 1),
    (512, 768, 3072, 1),
    (512, 3072, 768, 1),
    (128, 64, 128, 48),
    (128, 128, 64, 48),
)
LSTM = ((1120, 256, 1024, 2), (32, 256, 1024, 70))  # all steps of a layer together; one step of a layer


def backward(shapes):
    """A product's two gradients: heads times the right factor, and the left factor times heads."""
    return shapes + tuple(s for m, k, n, count in shapes for s in ((m, n, k, count), (k, m, n, count)))


def _lstm_training(layers):
    whole, step = LSTM
    m, k, n, _ = whole
    # the gradient by a step's state is a product of that step; those by the weights are one product for all steps
    return (*backward((whole,)), step, (step[0], step[2], step[1], step[3]), (k, m, n, 2))


WORKS = {
    "BERT encoder inference": lambda layers: [(m, k, n, count * layers) for m, k, n, count in ENCODER],
    "BERT encoder forward+backward": lambda layers: [(m, k, n, count * layers) for m, k, n, count in backward(ENCODER)],
    "LSTM forward+backward": _lstm_training,
}


def milliseconds(work, threads, layers):
    """The sum over the products of the best time of each, by whichever of torch and `nd.dot` is faster."""
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        return 1e3 * sum(count * _best(m, k, n) for m, k, n, count in WORKS[work](layers))
    finally:
        torch.set_num_threads(before)


def _best(m, k, n):
    left, right = torch.randn(m, k), torch.randn(k, n)
    ours, theirs = nd.array(left.numpy()), nd.array(right.numpy())
    out = torch.empty(m, n)
    calls = (lambda: torch.mm(left, right, out=out), lambda: nd.dot(ours, theirs).wait_to_read())
    return min(_seconds(call) for call in calls)


def _seconds(call):
    call()
    repeats, best = 1, float("inf")
    for _ in range(RUNS):
        start = time.perf_counter()
        for _ in range(repeats):
            call()
        taken = (time.perf_counter() - start) / repeats
        best, repeats = min(best, taken), max(1, min(200, int(0.02 / max(taken, 1e-7))))
    return best
