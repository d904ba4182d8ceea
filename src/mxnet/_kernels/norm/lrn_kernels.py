"""LRN by a kernel for vectors of eight floats; importing this module loads numba, and compiles."""

from typing import Any

from ..runtime.simd import FLOAT, VECTOR_BYTES, Writer, compiled, writes


@writes(6, floats=2)
def _plane(write: Writer, data, result, size, begin, end, apart, share, knorm) -> None:
    """One channel, from the squares of the channels at `begin` up to `end`, `apart` bytes from each other."""
    builder, last = write.builder, write.at(data, size, -VECTOR_BYTES)
    share, knorm = write.broadcast(share), write.broadcast(knorm)

    def add(place: Any, other: Any, sums: Any) -> Any:
        value = write.load(place)
        return other, [sums[0] + value * value]

    def compute(address: Any, other: Any, _: Any) -> Any:
        at = builder.select(builder.icmp_signed("<", address, last), address, last)  # may overlap the one before
        away = builder.sub(at, data)
        (total,) = write.loop(write.at(begin, away), write.at(end, away), apart, other, [write.zeros()], add)
        root = (total * share + knorm).sqrt()
        write.store(write.load(at) / (root * root.sqrt()), write.at(result, away))
        return other, []

    write.loop(data, write.at(data, size), VECTOR_BYTES, data, [], compute)


@compiled("void(int64, int64, int64, int64, int64, float32, float32, int64, int64)")
def lrn(data, result, channels, pixels, side, share, knorm, first, last):
    """Channels `first` to `last`, counted over all images, to the power of -3/4 of their neighbours."""
    size = pixels * FLOAT
    for plane in range(first, last):
        image, channel = plane - plane % channels, plane % channels
        begin, end = image + max(channel - side, 0), image + min(channel + side + 1, channels)
        at = plane * size
        _plane(data + at, result + at, size, data + begin * size, data + end * size, size, share, knorm)
