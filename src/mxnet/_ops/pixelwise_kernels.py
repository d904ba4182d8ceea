"""Passes over images, channels last, for vectors of eight floats; importing this module asks for numba."""

from .vectors import FLOAT, VECTOR_BYTES, Writer, compiled, numbers, writes


@writes(5, floats=2)
def _scale(write: Writer, pixel, scale, shift, result, size, low, high):
    bounds = write.spread(low), write.spread(high)

    def some(place, away, _):
        value = write.load(place) * write.load(write.at(scale, away)) + write.load(write.at(shift, away))
        write.store(value.between(*bounds), write.at(result, away))
        return write.at(away, VECTOR_BYTES), []

    write.loop(pixel, write.at(pixel, size), VECTOR_BYTES, size.type(0), [], some)


@compiled(f"void({numbers(7)}, float32, float32)")
def scale(data, factors, shifts, result, channels, first, last, low, high):
    """Pixels `first` to `last`, whose channels, a multiple of eight, are scaled, shifted and cut off at bounds."""
    size = channels * FLOAT
    for pixel in range(first, last):
        _scale(data + pixel * size, factors, shifts, result + pixel * size, size, low, high)


@writes(3)
def _copy(write: Writer, source, size, target):
    def some(place, there, _):
        write.store(write.load(place), there)
        return write.at(there, VECTOR_BYTES), []

    write.loop(source, write.at(source, size), VECTOR_BYTES, target, [], some)


@compiled(f"void({numbers(6)})")
def join(data, result, channels, all_channels, first, last):
    """Pixels `first` to `last`, whose channels, a multiple of eight, become some of those of larger pixels."""
    size, apart = channels * FLOAT, all_channels * FLOAT
    for pixel in range(first, last):
        _copy(data + pixel * size, size, result + pixel * apart)
