"""Digests of memory, used to detect changes. Importing this module imports numba, which compiles the code.

128 bits for each memory: the sum of all words, and the sum of the products of their halves, after each word was mixed
with a key of its place. Any change of a single word alters the first; words that change places alter the second.
"""

import numpy as np
from numba import carray, types
from numba.extending import intrinsic

from .simd import compiled

KEY, STEP = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)
HALF, LOW = np.uint64(32), np.uint64(0xFFFFFFFF)


def _cast(kind):
    """What makes an address a pointer to numbers of a kind."""
    pointer = types.CPointer(kind)

    def generate(context, builder, signature, arguments):
        return builder.inttoptr(arguments[0], context.get_value_type(pointer))

    @intrinsic
    def cast(typing, address):
        return pointer(types.int64), generate

    return cast


_words, _halves = _cast(types.uint64), _cast(types.uint32)


@compiled("void(int64[:, ::1], uint64[:, ::1])")
def digest(places, made):
    """The digest of each row's memory: an address and a number of bytes, a multiple of four."""
    for row in range(places.shape[0]):
        address, count = places[row, 0], places[row, 1] // 8
        words = carray(_words(address), count)
        total, mixed, key = np.uint64(0), np.uint64(0), KEY
        for i in range(count):
            word = words[i] ^ key
            total += words[i]
            mixed += (word & LOW) * (word >> HALF)
            key += STEP
        if places[row, 1] % 8:
            rest = np.uint64(carray(_halves(address), 2 * count + 1)[2 * count])
            total += rest
            mixed += rest * KEY
        made[row, 0], made[row, 1] = total, mixed
