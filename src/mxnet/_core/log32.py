"""The logarithm of float32 as glibc computes it since 2.27, to the last bit: MXNet's normal numbers are made with it.

It is not always the rounded logarithm: of fractions one in 140 is its neighbour, around one it is one in 18.
A number is z * 2**k with z from 0.699 to 1.398. Each sixteenth of that range has a factor near 1 / z; what is left,
z * factor - 1, is small, and a polynomial of third degree gives its logarithm in double precision.
"""

import math

import numpy as np

LOWEST = 0x3F330000  # the bits of the smallest z
FACTORS = np.array(
    [
        1.398907162146528, 1.3403141896637998, 1.286432210124115, 1.2367150214269895,
        1.1906977166711752, 1.1479821020556429, 1.1082251448272158, 1.0711297413057381,
        1.036437278977283, 1.0, 0.9492859795739057, 0.8951049428609004,
        0.8476821620351103, 0.8050314851692001, 0.7664671008843108, 0.731428603316328,
    ]
)  # fmt: skip
LOGS = np.array(  # of one over each factor
    [
        -0.33569133332882284, -0.2929040563774074, -0.2518726580937369, -0.21245868807117255,
        -0.17453945183745634, -0.1380057072319758, -0.10275976698545139, -0.06871392447020525,
        -0.0357891387398228, 0.0, 0.05204517742929496, 0.11081431298787942,
        0.1652495223695143, 0.21687389031699977, 0.2659635028121397, 0.3127556664073557,
    ]
)  # fmt: skip
CUBE, SQUARE, LINE = -0.25089342214237154, 0.333456765744066, -0.4999997485802103
LOG_2 = math.log(2)
_FACTORS, _LOGS = FACTORS.tolist(), LOGS.tolist()


def log32(values: np.ndarray) -> np.ndarray:
    """Logarithms of float32 numbers, all of them positive and normal."""
    bits = values.view(np.int32)
    above = bits - np.int32(LOWEST)
    part, power = (above >> 19) & 15, above >> 23
    z = (bits - (power << 23)).view(np.float32)
    r = z * FACTORS[part] - 1.0
    square = r * r
    small = CUBE * square + (SQUARE * r + LINE)
    return (small * square + ((LOGS[part] + power * LOG_2) + r)).astype(np.float32)


def log32_of(value: np.float32) -> np.float32:
    """The logarithm of one such number: for a handful, arrays take longer."""
    z, power = math.frexp(value)
    if z < 0.69921875:
        z, power = 2 * z, power - 1
    part = int((z - 0.69921875) * 32 if z < 1 else 9.625 + (z - 1) * 16)
    r = z * _FACTORS[part] - 1.0
    square = r * r
    small = CUBE * square + (SQUARE * r + LINE)
    return np.float32(small * square + ((_LOGS[part] + power * LOG_2) + r))
