"""Passes over NHWC images for vectors of eight floats; importing this module loads numba."""

from ..runtime.simd import FLOAT, VECTOR_BYTES, Writer, compiled, numbers, writes


@writes(6, floats=2)
def _scale(write: Writer, pixel, scale, shift, addend, result, size, low, high):
    clamp = write.broadcast(low), write.broadcast(high)

    def go(added: bool) -> None:
        def some(place, offset, _):
            value = write.load(place) * write.load(write.at(scale, offset)) + write.load(write.at(shift, offset))
            value = value + write.load(write.at(addend, offset)) if added else value
            write.store(value.clamp(*clamp), write.at(result, offset))
            return write.at(offset, write.bytes), []

        write.loop(pixel, write.at(pixel, size), write.bytes, size.type(0), [], some)

    with write.builder.if_else(write.builder.icmp_signed("!=", addend, addend.type(0))) as (there, missing):
        with there:
            go(True)
        with missing:
            go(False)


@compiled(f"void({numbers(8)}, float32, float32)")
def scale(data, factors, shifts, addend, result, channels, first, last, low, high):
    """Pixels `first` to `last`, whose channels, a multiple of eight, are scaled, shifted and clamped.

    An addend (0: none) is added before the clamp.
    """
    size = channels * FLOAT
    for place in range(first * size, last * size, size):
        _scale(data + place, factors, shifts, addend + place if addend else 0, result + place, size, low, high)


@writes(3)
def _copy(write: Writer, source, size, target):
    def some(place, there, _):
        write.store(write.load(place), there)
        return write.at(there, VECTOR_BYTES), []

    write.loop(source, write.at(source, size), VECTOR_BYTES, target, [], some)


@compiled(f"void({numbers(6)})")
def concat(data, result, channels, all_channels, first, last):
    """Pixels `first` to `last`, whose channels, a multiple of eight, become some of those of larger pixels."""
    size, apart = channels * FLOAT, all_channels * FLOAT
    for pixel in range(first, last):
        _copy(data + pixel * size, size, result + pixel * apart)
