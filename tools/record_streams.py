"""Record what MXNet 1.9.1 draws on the CPU: run it with MXNet's own Python, `OMP_NUM_THREADS=1`, and the output path.

Each entry of the archive is named by the call that made it, `distribution|parameters|dtype|seed|size`; of long results
only some positions are kept, together with the CRC of the whole.
"""

import sys
import zlib

import numpy as np

import mxnet as mx

SEEDS = [0, 1, 2, 3, 7, 10, 42, 99, 123, 128, 1000, 1234, 2021, 4096, 65535, 99999, 123456, 2**31 - 1, -1, -12345]
SIZES = [1, 2, 5, 63, 64, 65, 128, 1000, 4097, 65536, 65537, 100003]
KEPT = 16
LONG = [131071, 131072, 131073, 300000, 1000000]  # vectors to shuffle; the same with 1, 2 and 4 threads

MORE = [  # distribution, parameters, dtype, size
    ("uniform", (-2.5, 0.75), "float32", 3000),
    ("uniform", (-2.5, 0.75), "float64", 3000),
    ("uniform", (-2.5, 0.75), "float16", 3000),
    ("normal", (1.5, 0.3), "float32", 3000),
    ("normal", (1.5, 0.3), "float64", 3000),
    ("normal", (1.5, 0.3), "float16", 3000),
    ("randint", (-5, 17), "int32", 3000),
    ("randint", (0, 2**40), "int64", 3000),
    ("randint", (0, 2), "int32", 100),
    ("exponential", (0.7,), "float32", 3000),
    ("exponential", (0.7,), "float64", 3000),
    ("exponential", (3.0,), "float16", 3000),
    ("gamma", (2.5, 0.5), "float32", 3000),
    ("gamma", (0.4, 2.0), "float32", 3000),
    ("gamma", (0.4, 2.0), "float64", 3000),
    ("gamma", (9.0, 0.5), "float16", 3000),
    ("poisson", (4.0,), "float32", 3000),
    ("poisson", (0.0,), "float32", 10),
    ("poisson", (35.0,), "float32", 3000),
    ("poisson", (35.0,), "float64", 3000),
    ("negative_binomial", (3, 0.4), "float32", 3000),
    ("negative_binomial", (40, 0.4), "float32", 3000),
    ("generalized_negative_binomial", (2.0, 0.3), "float32", 3000),
    ("generalized_negative_binomial", (20.0, 0.0), "float32", 3000),
    ("generalized_negative_binomial", (20.0, 0.7), "float32", 3000),
]

PER_ROW = [  # distribution, arrays of parameters, dtype of the parameters, dtype of the result, samples of each
    ("uniform", ([0.0, 2.5, -3.0], [1.0, 3.75, 4.0]), "float32", "float32", 50),
    ("uniform", ([0.0, 2.5, -3.0], [1.0, 3.75, 4.0]), "float64", "float32", 50),
    ("uniform", ([0, 2, -3], [1, 3, 4]), "int32", "float32", 50),
    ("uniform", ([0, 2, -3], [1, 3, 4]), "int64", "float64", 50),
    ("uniform", ([0.0, 2.5, -3.0], [1.0, 3.75, 4.0]), "float32", "float16", 50),
    ("normal", ([0.0, 2.5], [1.0, 3.7]), "float32", "float32", 100),
    ("normal", ([0.0, 2.5], [1.0, 3.7]), "float64", "float64", 100),
    ("exponential", ([1.0, 8.5],), "float32", "float32", 100),
    ("gamma", ([0.0, 2.5], [1.0, 0.7]), "float32", "float32", 100),
    ("gamma", ([0.3, 2.5], [1.0, 0.7]), "float64", "float64", 100),
    ("poisson", ([1.0, 18.5],), "float32", "float32", 100),
    ("negative_binomial", ([20, 49], [0.4, 0.77]), "float32", "float32", 100),
    ("generalized_negative_binomial", ([2.0, 2.5], [0.3, 0.4]), "float32", "float32", 100),
]


def keep(archive, name, values):
    values = np.ascontiguousarray(values)
    archive[name + "|crc"] = np.uint32(zlib.crc32(values.tobytes()))
    flat = values.reshape(-1)
    places = range(flat.size) if flat.size <= 300 else [*range(KEPT), *range(KEPT, flat.size, flat.size // 61 | 1)]
    archive[name] = flat[np.array(list(places), np.int64)]


def draw(distribution, parameters, dtype, size):
    return getattr(mx.nd.random, distribution)(*parameters, shape=(size,), dtype=dtype).asnumpy()


def name(distribution, parameters, dtype, seed, size):
    return f"{distribution}|{','.join(map(str, parameters))}|{dtype}|{seed}|{size}"


def twice(archive, case, seed):
    """Draw two times: the second shows how much of the stream the first consumed."""
    distribution, parameters, dtype, size = case
    mx.random.seed(seed)
    keep(archive, name(distribution, parameters, dtype, seed, size), draw(*case))
    keep(archive, name(distribution, parameters, dtype, seed, size) + "|after", draw("uniform", (0, 1), "float32", 200))


def serial(archive, seed):
    mx.random.seed(seed)
    chances = mx.nd.array([[0.1, 0.2, 0.3, 0.4], [0.25, 0.25, 0.0, 0.5]])
    samples, log = mx.nd.random.multinomial(chances, shape=(40,), get_prob=True)
    keep(archive, f"multinomial|||{seed}|80", samples.asnumpy())
    keep(archive, f"multinomial_log|||{seed}|80", log.asnumpy())
    keep(archive, f"shuffle|vector||{seed}|500", mx.nd.random.shuffle(mx.nd.arange(500)).asnumpy())
    keep(archive, f"shuffle|rows||{seed}|300", mx.nd.random.shuffle(mx.nd.arange(300).reshape((300, 1))).asnumpy())
    keep(archive, f"multinomial|again||{seed}|80", mx.nd.random.multinomial(chances, shape=(40,)).asnumpy())
    mx.random.seed(seed)
    samples, tries = mx.nd._internal._sample_unique_zipfian(range_max=1000, shape=(5, 60))
    keep(archive, f"zipfian|samples||{seed}|300", samples.asnumpy())
    keep(archive, f"zipfian|tries||{seed}|5", tries.asnumpy())


def main(path):
    archive = {}
    for seed in SEEDS:
        for size in SIZES:
            for distribution in ("uniform", "normal"):
                mx.random.seed(seed)
                case = (distribution, (0, 1), "float32", size)
                keep(archive, name(*case[:3], seed, size), draw(*case))
    for case in MORE:
        for seed in (7, 128):
            twice(archive, case, seed)
    for distribution, parameters, kind, dtype, samples in PER_ROW:
        arrays = [mx.nd.array(p, dtype=kind) for p in parameters]
        mx.random.seed(7)
        text = ";".join(",".join(map(str, p)) for p in parameters)
        drawn = getattr(mx.nd.random, distribution)(*arrays, shape=(samples,), dtype=dtype).asnumpy()
        keep(archive, f"rows:{distribution}:{kind}|{text}|{dtype}|7|{drawn.size}", drawn)
    for seed in (7, 128):
        serial(archive, seed)
    for size in LONG:
        mx.random.seed(7)
        keep(archive, f"shuffle|vector||7|{size}", mx.nd.random.shuffle(mx.nd.arange(size)).asnumpy())
    for text, context in (("cpu(0)", mx.cpu(0)), ("cpu(3)", mx.cpu(3))):
        mx.random.seed(7, ctx=context)
        keep(archive, f"uniform|0,1|float32|7@{text}|100", draw("uniform", (0, 1), "float32", 100))
    np.savez_compressed(path, **archive)


if __name__ == "__main__":
    main(sys.argv[1])
