"""Kernels between guard pages: every tensor ends where an unmapped page begins, so that one element too many is fatal.

    python tools/guard_pages.py                 all samples of operators and networks, kernels on and off
    python tools/guard_pages.py --only Pooling  those whose name has this in it

The samples of tests/operators and the networks below run in float32 with the compiled loops and without them, forward
and backward, and are compared with the same in float64. It compiles tools/guard_pages.c, for which Linux and a C
compiler are needed, and preloads it. A process that ends names the sample that ended it.
"""

import argparse
import ctypes
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "operators"))
TOLERANCE = {"rtol": 2e-3, "atol": 2e-3}
# The result depends on rounding (places of equal values), on random numbers, or is compared by other tests.
NOT_COMPARED = ("argsort", "topk", "sort", "random", "sample", "shuffle", "multinomial", "Dropout",
                "quantize", "MultiBox", "Proposal", "box_nms", "sign", "round", "floor", "ceil", "fix", "trunc",
                "rint")  # fmt: skip

# Limits of `_kernels.tuning` below which torch is as fast: here every call is large enough.
LIMITS = ("_ELEMENTS", "_COMPILE", "_CALL", "_WORK", "_AFTER", "_BEFORE", "_BINS", "_WEIGHTS", "_WEIGHTS_ONE_ROW",
          "STRIDE2_CHANNELS", "STRIDE2_PIXELS", "CHANNELS_LAST_FILTERS", "CHANNELS_LAST_CONVOLUTIONS",
          "RANDOM_REJECTION", "RANDOM_CHOICE", "GEMM_PARTIAL", "BOX_CALL", "WINOGRAD_F2X2_CHANNELS",
          "WINOGRAD_TORCH_CHANNELS")  # fmt: skip


def networks():
    """{name: (function of arrays, inputs)}: sizes that fill no vector, for kernels that small samples do not reach."""
    import numpy as np

    from mxnet import nd

    rng = np.random.RandomState(0)
    made = {}

    def real(*shape):
        return rng.uniform(-1, 1, shape).astype(np.float32)

    for channels, filters, size, kernel, stride, groups in (
        (3, 8, 19, 3, 1, 1), (16, 24, 13, 3, 1, 1), (16, 16, 15, 1, 1, 1), (17, 13, 11, 3, 2, 1), (8, 8, 21, 5, 1, 8),
        (64, 64, 9, 3, 1, 1), (4, 12, 30, 7, 2, 1), (32, 40, 7, 1, 2, 1),
    ):  # fmt: skip
        options = {"kernel": (kernel, kernel), "num_filter": filters, "stride": (stride, stride), "num_group": groups,
                   "pad": (kernel // 2, kernel // 2)}  # fmt: skip
        made[f"Convolution {channels} {filters} {size} {kernel} {stride} {groups}"] = (
            lambda x, w, b, o=options: nd.Convolution(x, w, b, **o),
            [real(3, channels, size, size + 2), real(filters, channels // groups, kernel, kernel), real(filters)],
        )
    for kind, kernel, stride in (("max", 3, 2), ("avg", 2, 2), ("max", 2, 2), ("avg", 3, 1)):
        options = {"pool_type": kind, "kernel": (kernel, kernel), "stride": (stride, stride), "pad": (1, 1)}
        made[f"Pooling {kind} {kernel}"] = (lambda x, o=options: nd.Pooling(x, **o), [real(2, 13, 37, 41)])
    made |= {
        "FullyConnected": (
            lambda x, w, b: nd.FullyConnected(x, w, b, num_hidden=131),
            [real(67, 129), real(131, 129), real(131)],
        ),
        "BatchNorm": (
            lambda x, g, b: nd.BatchNorm(x, g, b, nd.zeros(7), nd.ones(7), fix_gamma=False),
            [real(5, 7, 31, 33), real(7), real(7)],
        ),
        "LayerNorm": (nd.LayerNorm, [real(61, 131), real(131), real(131)]),
        "softmax": (nd.softmax, [real(301, 77)]),
        "log_softmax": (nd.log_softmax, [real(300, 77)]),
        "LRN": (lambda x: nd.LRN(x, nsize=5), [real(2, 19, 23, 29)]),
        "transpose": (lambda x: nd.transpose(x, axes=(0, 2, 3, 1)), [real(3, 37, 41, 43)]),
        "gelu": (lambda x: nd.LeakyReLU(x, act_type="gelu"), [real(103, 401)]),
        "sigmoid": (nd.sigmoid, [real(103, 401)]),
        "tanh": (nd.tanh, [real(103, 401)]),
        "concat": (lambda *x: nd.concat(*x, dim=1), [real(3, 5, 37, 41), real(3, 7, 37, 41)]),
        "dot": (nd.dot, [real(133, 77), real(77, 91)]),
        "batch_dot": (nd.batch_dot, [real(5, 33, 17), real(5, 17, 29)]),
        "sum": (lambda x: nd.sum(x, axis=(0, 2, 3)), [real(5, 7, 61, 67)]),
        "UpSampling": (lambda x: nd.UpSampling(x, scale=2, sample_type="nearest"), [real(2, 5, 31, 33)]),
        "BilinearResize2D": (lambda x: nd.contrib.BilinearResize2D(x, height=29, width=51), [real(2, 5, 31, 33)]),
        "Deconvolution": (
            lambda x, w: nd.Deconvolution(x, w, kernel=(4, 4), num_filter=9, stride=(2, 2)),
            [real(2, 7, 15, 17), real(7, 9, 4, 4)],
        ),
        "ROIPooling": (
            lambda x, r: nd.ROIPooling(x, r, pooled_size=(5, 7), spatial_scale=0.5),
            [real(2, 11, 31, 33), np.abs(real(67, 5)) * [0, 30, 30, 66, 62]],
        ),
        "RNN": (
            lambda x, p, s, c: nd.RNN(x, p, s, c, state_size=33, num_layers=1, mode="lstm"),
            [real(9, 5, 31), real(4 * 33 * (31 + 33) + 8 * 33), real(1, 5, 33), real(1, 5, 33)],
        ),
        "Embedding": (
            lambda i, w: nd.Embedding(i, w, input_dim=101, output_dim=37),
            [rng.randint(0, 101, (63,)).astype(np.float32), real(101, 37)],
        ),
        "clip": (lambda x: nd.clip(x, -0.5, 0.5), [real(103, 401)]),
        "mean": (lambda x: nd.mean(x, axis=1), [real(301, 403)]),
        "resize and norm": (lambda x: nd.L2Normalization(x), [real(31, 407)]),
        "Correlation": (
            lambda a, b: nd.Correlation(a, b, kernel_size=1, max_displacement=2, pad_size=2),
            [real(1, 5, 13, 15), real(1, 5, 13, 15)],
        ),
    }
    made |= _hybrid_networks(real) | _other_kernels(rng, real)
    return made | {f"{name}, not recorded": (_unrecorded(call), inputs) for name, (call, inputs) in made.items()}


def _unrecorded(call):
    """Some kernels compute only where nothing is recorded."""
    from mxnet import autograd

    def compute(*arrays):
        with autograd.pause():
            return call(*(array.detach() for array in arrays))

    return compute


def _hybrid(make, recorded, *shapes):
    """A function that computes with a hybridized block, in training or in inference, in the dtype of its input."""
    import mxnet as mx
    from mxnet import autograd, gluon

    def compute(x):
        mx.random.seed(1)
        net = gluon.nn.HybridSequential()
        net.add(*make(gluon.nn))
        net.initialize(mx.init.Xavier())
        net(mx.nd.ones(x.shape))
        net.cast(x.dtype)
        net.hybridize()
        if recorded:
            return net(x)
        with autograd.pause():
            net(x)
            return net(x)  # folded and packed

    return compute


def _hybrid_networks(real):
    blocks = {
        "3x3": (lambda nn: [nn.Conv2D(16, 3, padding=1, use_bias=False), nn.BatchNorm(), nn.Activation("relu")],
                (2, 8, 13, 15)),
        "3x3 of many": (lambda nn: [nn.Conv2D(64, 3, padding=1), nn.BatchNorm(), nn.Conv2D(48, 3, padding=1)],
                        (1, 64, 17, 19)),
        "1x1": (lambda nn: [nn.Conv2D(24, 1), nn.BatchNorm(), nn.Activation("relu"), nn.Conv2D(17, 1)], (2, 13, 11, 9)),
        "stride 2": (lambda nn: [nn.Conv2D(16, 3, 2, 1), nn.BatchNorm(), nn.Conv2D(16, 1, 2)], (2, 16, 15, 17)),
        "depthwise": (lambda nn: [nn.Conv2D(24, 3, padding=1, groups=24, use_bias=False), nn.BatchNorm(),
                                  nn.Activation("relu"), nn.Conv2D(7, 1)], (2, 24, 13, 11)),
        "few channels": (lambda nn: [nn.Conv2D(16, 7, 2, 3), nn.BatchNorm(), nn.MaxPool2D(3, 2, 1)], (2, 3, 31, 33)),
        "one channel": (lambda nn: [nn.Conv2D(8, 5), nn.Activation("tanh"), nn.MaxPool2D(2, 2)], (3, 1, 28, 28)),
        "pools": (lambda nn: [nn.Conv2D(16, 3), nn.AvgPool2D(3, 2, 1), nn.GlobalAvgPool2D(), nn.Dense(9)],
                  (2, 8, 19, 21)),
        "dense": (lambda nn: [nn.Dense(131, activation="relu"), nn.Dense(67), nn.ELU()], (33, 129)),
        "few rows": (lambda nn: [nn.Dense(131, activation="relu"), nn.Dense(67)], (1, 129)),
    }  # fmt: skip
    made = {}
    for name, (make, shape) in blocks.items():
        for way in ("training", "inference"):
            made[f"{way} {name}"] = (_hybrid(make, way == "training"), [real(*shape)])
    return made


def _other_kernels(rng, real):
    """Calls that reach kernels which no sample of one operator reaches."""
    import numpy as np

    import mxnet as mx
    from mxnet import nd

    def recurrent(mode, gates, state):
        size = gates * 33 * (31 + 33) + 2 * gates * 33
        states = [real(1, 5, 33)] * state
        return (
            lambda x, p, *s: nd.RNN(x, p, *s, state_size=33, num_layers=1, mode=mode),
            [real(9, 5, 31), real(size), *states],
        )

    def deconvolution(channels, filters, kernel, stride, size):
        options = {"kernel": (kernel, kernel), "num_filter": filters, "stride": (stride, stride)}
        return (
            lambda x, w: nd.Deconvolution(x, w, **options),
            [real(2, channels, size, size + 2), real(channels, filters, kernel, kernel)],
        )

    def momentum(w, g, m):
        new = w.copy()
        nd.sgd_mom_update(new, g, m.copy(), lr=0.1, momentum=0.9, out=new)
        return new

    def adam(w, g, m, v):
        new = w.copy()
        nd.adam_update(new, g, m.copy(), v.abs(), lr=0.1, out=new)
        return new

    def trained(w, g):
        weight, update = w.copy(), mx.optimizer.get_updater(mx.optimizer.create("adam", learning_rate=0.1))
        for _ in range(2):
            update([0, 1], [g, g], [weight, weight])
        return weight

    def rows(x, y):
        parts = [nd.sparse.row_sparse_array((a, nd.array(n, dtype="int64")), shape=(99, 7), dtype=a.dtype)
                 for a, n in ((x, range(33)), (y, range(11, 44)))]  # fmt: skip
        total = parts[0] + parts[1]
        return total.tostype("default"), nd.sparse.retain(total, nd.array([3, 20, 70])).tostype("default")

    def columns(x, y):
        dense = nd.where(x > 0.5, x, nd.zeros_like(x))
        csr = dense.tostype("csr")
        both = csr + nd.where(x < -0.5, x, nd.zeros_like(x)).tostype("csr")
        return nd.sparse.dot(csr, y), both.tostype("default")

    boxes = np.sort(np.abs(real(1, 61, 4)), axis=2)
    return {
        "RNN gru": recurrent("gru", 3, 1), "RNN lstm": recurrent("lstm", 4, 2), "RNN tanh": recurrent("rnn_tanh", 1, 1),
        "Deconvolution one pixel": deconvolution(33, 9, 4, 4, 1), "Deconvolution blocks": deconvolution(17, 9, 2, 2, 9),
        "Deconvolution few": deconvolution(32, 3, 4, 2, 15), "Deconvolution many": deconvolution(32, 32, 4, 2, 9),
        "sgd_mom_update": (momentum, [real(103, 41)] * 3), "adam_update": (adam, [real(103, 41)] * 4),
        "updater": (trained, [real(103, 41), real(103, 41)]), "row_sparse": (rows, [real(33, 7), real(33, 7)]),
        "one channel": (lambda x, w: nd.Convolution(x, w, kernel=(5, 5), num_filter=8, no_bias=True),
                        [real(3, 1, 28, 28), real(8, 1, 5, 5)]),
        "topk few": (lambda x: nd.topk(x, k=3), [real(7, 9037)]),
        "csr": (columns, [real(61, 37), real(37, 13)]),
        "topk": (lambda x: nd.topk(x, k=5, ret_typ="value"), [real(61, 1037)]),
        "sort": (lambda x: nd.sort(x, axis=0), [real(1037, 7)]), "argsort": (nd.argsort, [real(61, 237)]),
        "elu": (lambda x: nd.LeakyReLU(x, act_type="elu", slope=0.3), [real(103, 401)]),
        "random": (lambda x: nd.random.uniform(shape=(333, 7)) + nd.random.normal(shape=(333, 7)), [real(1)]),
        "box_nms": (nd.contrib.box_nms, [np.concatenate([real(1, 61, 2), boxes], 2).astype(np.float32)]),
        "box_encode": (lambda s, m, a, r: nd.contrib.box_encode(s, m, a, r, nd.zeros_like(a[0, 0]),
                                                                nd.ones_like(a[0, 0])),
                       [np.ones((1, 61), np.float32), np.zeros((1, 61), np.float32), boxes, boxes + 0.1]),
        "box_decode": (lambda x, a: nd.contrib.box_decode(x, a), [real(1, 61, 4), boxes]),
        "random hue": (lambda x: nd.image.random_hue(nd.abs(x), 0.1, 0.2), [real(37, 41, 3)]),
        "random colour": (lambda x: nd.image.random_color_jitter(nd.abs(x), 0.1, 0.1, 0.1, 0.1), [real(37, 41, 3)]),
        "selfatt": (lambda x: nd.contrib.interleaved_matmul_selfatt_valatt(
            x, nd.softmax(nd.contrib.interleaved_matmul_selfatt_qk(x, heads=4)), heads=4), [real(33, 3, 4 * 3 * 17)]),
    }  # fmt: skip


def computing():
    """Names of the kernels that have computed since this was asked last, as they explain their decisions."""
    from mxnet._kernels import registry

    log, registry.SWITCH.log = registry.SWITCH.log, []
    return {decision.kernel for decision in log if decision.used}


def samples():
    """{name: (function, inputs)} of the operators' own samples."""
    import numpy as np
    from operator_samples import SAMPLES

    from mxnet import nd

    made = {}
    for name, cases in SAMPLES.items():
        for number, case in enumerate(cases):
            if case.seed is not None or case.outs or not all(isinstance(x, np.ndarray) for x in case.inputs):
                continue
            made[f"{name} {number}"] = (lambda *x, n=name, a=case.attrs: _invoked(n, x, a), list(case.inputs))
    return made if nd else {}


def _invoked(name, arrays, attrs):
    from mxnet._ops.registry import registry
    from mxnet.ndarray._dispatch.invoke import invoke

    return invoke(registry.find(name), list(arrays), attrs)


def computed(function, inputs, dtype):
    """Outputs and gradients, as NumPy's arrays."""
    from mxnet import autograd, nd

    arrays = [nd.array(x, dtype=dtype if x.dtype == "float32" else x.dtype) for x in inputs]
    learning = [a for a, x in zip(arrays, inputs, strict=True) if x.dtype == "float32"]
    for array in learning:
        array.attach_grad()
    with autograd.record():
        found = function(*arrays)
        found = list(found) if isinstance(found, (list, tuple)) else [found]
    values = [f.asnumpy() for f in found]
    try:
        autograd.backward([f for f in found if f.dtype.__name__.startswith("float")])
    except Exception:
        return values  # it has no gradient
    return values + [a.grad.asnumpy() for a in learning]


def every_kernel(on):
    """Use compiled loops wherever they can compute, or nowhere."""
    from mxnet._kernels import all_kernels, registry, tuning
    from mxnet._kernels.runtime.loader import CompiledModule

    if not on:
        registry.SWITCH.mode = registry.OFF
        return
    for name in vars(tuning):
        if name.endswith(LIMITS):
            setattr(tuning, name, 1)
    registry.SWITCH.mode = registry.TRACED  # the decisions tell which kernels compute
    CompiledModule.ready = lambda self, work, call: self.get(True) is not None
    CompiledModule.earned = lambda self, work, wait=False: self.get(True)
    for kernel in all_kernels():
        kernel.minimum_work = 1


def child(options):
    """Run the samples from number `options.first` on; print the name of each before it runs."""
    import warnings

    import numpy as np

    import mxnet as mx

    warnings.simplefilter("ignore")
    every_kernel(options.kernels == "on")
    guard = ctypes.CDLL(None)
    cases = {name: case for name, case in {**networks(), **samples()}.items() if options.only in name}
    for number, (name, (function, inputs)) in enumerate(cases.items()):
        if number < options.first:
            continue
        print("REACHED", *computing(), flush=True)
        print("BEGIN", number, name, flush=True)
        guard.guard_pages_on(1)
        try:
            found = computed(function, inputs, "float32")
        except mx.MXNetError as error:
            print("REFUSED", str(error)[:100].replace("\n", " "), flush=True)
            continue
        finally:
            guard.guard_pages_on(0)
        if any(word in name for word in NOT_COMPARED):
            print("RAN", flush=True)
            continue
        try:
            wanted = computed(function, inputs, "float64")
            for a, b in zip(found, wanted, strict=False):
                np.testing.assert_allclose(a, b, **TOLERANCE)
            print("EQUAL", flush=True)
        except AssertionError as error:
            print("DIFFERS", " ".join(str(error).split())[:200], flush=True)
        except mx.MXNetError:
            print("RAN", flush=True)  # there is none in float64
    print("REACHED", *computing(), flush=True)
    print("END", guard.guard_pages_made(), flush=True)


def library(folder):
    path = pathlib.Path(folder, "guard_pages.so")
    source = str(pathlib.Path(__file__).with_suffix(".c"))
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", source, "-o", str(path), "-lpthread"], check=True)
    return str(path)


def parent(options):
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        preloaded = {**os.environ, "LD_PRELOAD": library(folder)}
        for kernels in ("on", "off"):
            first, counts, ended, reached = 0, {}, [], set()
            while True:
                command = [
                    sys.executable,
                    __file__,
                    "--child",
                    "--kernels",
                    kernels,
                    "--first",
                    str(first),
                    "--only",
                    options.only,
                ]
                done = subprocess.run(command, env=preloaded, capture_output=True, text=True)
                lines = [line.split(" ", 2) for line in done.stdout.splitlines()]
                for before, line in zip([["", "", ""], *lines], lines, strict=False):
                    if line[0] == "REACHED":
                        reached.update(" ".join(line[1:]).split())
                    if line[0] in ("EQUAL", "RAN", "REFUSED", "DIFFERS"):
                        counts[line[0]] = counts.get(line[0], 0) + 1
                        if line[0] == "DIFFERS":
                            print(f"  {before[2]} differs: {' '.join(line[1:])}")
                if lines and lines[-1][0] == "END":
                    break
                last = next((line for line in reversed(lines) if line[0] == "BEGIN"), None)
                if last is None:
                    print(done.stderr[-2000:])
                    return 1
                ended.append(f"{last[2]} (exit code {done.returncode}) {done.stderr.strip().splitlines()[-1:]}")
                first = int(last[1]) + 1
            told = f"kernels {kernels}: {counts}, {len(ended)} ended the process, {lines[-1][1]} tensors guarded"
            if kernels == "on":
                told += f"; {_reached(reached)}"
            print(told, *ended, sep="\n  ", flush=True)
            bad += len(ended) + counts.get("DIFFERS", 0)
    return bad


def _reached(names):
    """How many of all kernels have computed, and which have not."""
    from mxnet._kernels import all_kernels

    every = {kernel.name for kernel in all_kernels()}
    missing = ", ".join(sorted(every - names))
    return f"{len(every & names)} of {len(every)} kernels computed" + (f", not {missing}" if missing else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="samples whose name has this in it")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--kernels", default="on", help=argparse.SUPPRESS)
    parser.add_argument("--first", type=int, default=0, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options)
    else:
        sys.exit(1 if parent(options) else 0)


if __name__ == "__main__":
    main()
