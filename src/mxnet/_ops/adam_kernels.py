"""Adam's step by kernels for vectors of eight floats; importing this module asks for numba, and compiles.

All of it is one pass over memory: torch's kernel has no place for MXNet's rescaling and limit, and divides twice.
"""

from .vectors import FLOAT, VECTOR_BYTES, Writer, compiled, writes


@writes(5, floats=7)
def _learn(write: Writer, weight, grad, mean, variance, size, *factors):
    """Bytes of whole vectors."""
    _step(write, (weight, grad, mean, variance), size, factors)


@writes(5, floats=7)
def _learn_few(write: Writer, weight, grad, mean, variance, size, *factors):
    """Fewer bytes than a vector has, aside, where there is room around them."""
    aside, places = write.aside(4), (weight, grad, mean, variance)
    copies = [write.at(aside, number * VECTOR_BYTES) for number in range(4)]
    for copy, place in zip(copies, places, strict=True):
        write.move(copy, place, size)
    _step(write, copies, VECTOR_BYTES, factors)
    for number in (0, 2, 3):  # the gradient stays as it is
        write.move(places[number], copies[number], size)


def _step(write: Writer, places, size, factors):
    first, away = places[0], [write.builder.sub(place, places[0]) for place in places[1:]]
    rate, decay, rescale, limit, beta1, beta2, epsilon = map(write.spread, factors)
    share1, share2, low = 1.0 - beta1, 1.0 - beta2, 0.0 - limit

    def learn(weight, other, _):
        grad, mean, variance = (write.at(weight, distance) for distance in away)
        old, slope, average, square = map(write.load, (weight, grad, mean, variance))
        slope = (slope * rescale + old * decay).between(low, limit)
        average = average * beta1 + slope * share1
        square = square * beta2 + slope * slope * share2
        write.store(old - rate * average / (square.root() + epsilon), weight)
        write.store(average, mean)
        write.store(square, variance)
        return other, []

    write.loop(first, write.at(first, size), VECTOR_BYTES, first, [], learn)


@compiled("void(int64[:, ::1], float32[:, ::1], int64, int64, float32, float32, float32, float32, float32)")
def adam(tensors, rates, first, last, rescale, limit, beta1, beta2, epsilon):
    """One step for floats `first` to `last` of all tensors, one behind the other.

    A column of `tensors` has the addresses of weight, gradient, mean and variance, and their size; one of `rates` the
    learning rate and the decay.
    """
    behind = 0
    for number in range(tensors.shape[1]):
        weight, grad, mean, variance, size = tensors[:, number]
        rate, decay = rates[:, number]
        start, stop = max(first - behind, 0) * FLOAT, min(last - behind, size) * FLOAT
        behind += size
        if stop <= start:
            continue
        few = (stop - start) % VECTOR_BYTES
        middle = stop - few
        if middle > start:
            _learn(weight + start, grad + start, mean + start, variance + start, middle - start,
                   rate, decay, rescale, limit, beta1, beta2, epsilon)  # fmt: skip
        if few:
            _learn_few(weight + middle, grad + middle, mean + middle, variance + middle, few,
                       rate, decay, rescale, limit, beta1, beta2, epsilon)  # fmt: skip
