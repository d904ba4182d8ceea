"""How exact networks are: writes docs/numbers.md: python tools/kernel_numbers.py --mxnet PYTHON

For every network, the error of its output and of its gradients against double precision, of real MXNet 1.9.1 (the
interpreter PYTHON), of torch's own operators (kernels switched off) and of ReMX with its kernels. Parameters, images
and heads are the same for all. `--only NAME` measures some networks and keeps the table's other rows, `--check` prints
without writing.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

os.environ.setdefault("MXNET_KERNELS", "wait")  # the kernels' own numbers, also on a machine that has to compile them
ROOT = Path(__file__).parents[1]
BATCH = 8
# name in the zoo -> image size: the smallest that the network takes, or one that leaves its last layers some pixels
NETWORKS = {
    "alexnet": 224,
    **{f"densenet{depth}": 224 for depth in (121, 161, 169, 201)},
    "inceptionv3": 299,
    **{f"mobilenet{width}": 64 for width in ("0.25", "0.5", "0.75", "1.0")},
    **{f"mobilenetv2_{width}": 64 for width in ("0.25", "0.5", "0.75", "1.0")},
    **{f"resnet{depth}_{version}": 64 for version in ("v1", "v2") for depth in (18, 34, 50, 101, 152)},
    **{f"squeezenet{version}": 224 for version in ("1.0", "1.1")},
    **{f"vgg{depth}{norm}": 64 for norm in ("", "_bn") for depth in (11, 13, 16, 19)},
}
FAMILIES = {
    "LeNet (few channels, 2x2 pooling)": "lenet",
    "3x3 stack (Winograd)": "winograd",
    "LSTM, two layers": "lstm",
    "GRU, two layers": "gru",
    "BERT-like encoder (attention, dense)": "encoder",
    "DeepLabV3 with ResNet-50 at 64x64": "deeplab",
}
LIMIT = 1.5  # times MXNet's error
# Draws of parameters, images and heads for each row: one near-tie of a maximum must not decide a median. Networks that
# take large images have fewer, of which each takes a minute.
DRAWS, LARGE_DRAWS, LARGE = 25, 5, 200


def network(mx, name):
    """The network and the shape of its input."""
    gluon, nn = mx.gluon, mx.gluon.nn
    if name in NETWORKS:
        size = NETWORKS[name]
        net = gluon.model_zoo.vision.get_model(name)
        return net.apply(without_dropout), (BATCH, 3, size, size)
    if name in ("lstm", "gru"):
        layer = {"lstm": gluon.rnn.LSTM, "gru": gluon.rnn.GRU}[name]
        return layer(256, 2, input_size=128), (35, 16, 128)
    net = nn.HybridSequential()
    if name == "lenet":
        net.add(
            nn.Conv2D(20, 5, activation="relu"), nn.MaxPool2D(), nn.Conv2D(50, 5, activation="relu"), nn.MaxPool2D()
        )
        net.add(nn.Dense(500, activation="relu"), nn.Dense(10))
        return net, (64, 1, 28, 28)
    if name == "winograd":
        for _ in range(4):
            net.add(nn.Conv2D(64, 3, padding=1, use_bias=False), nn.BatchNorm(), nn.Activation("relu"))
        net.add(nn.GlobalAvgPool2D(), nn.Dense(10))
        return net, (4, 64, 32, 32)
    if name == "deeplab":
        return deeplab(mx), (4, 3, 64, 64)
    return encoder(mx), (64, 4, 256)


def without_dropout(block):
    """Masks would differ between precisions."""
    if type(block).__name__ == "Dropout":
        block._rate = 0


def encoder(mx):
    """Two encoder layers on interleaved projections, as GluonNLP's BERT has them; (length, batch, units)."""
    nn = mx.gluon.nn

    class Layer(mx.gluon.HybridBlock):
        def __init__(self, units, heads):
            super().__init__()
            self.heads = heads
            with self.name_scope():
                self.project = nn.Dense(3 * units, flatten=False)
                self.out = nn.Dense(units, flatten=False)
                self.first, self.second = nn.Dense(4 * units, flatten=False), nn.Dense(units, flatten=False)
                self.norm, self.last = nn.LayerNorm(), nn.LayerNorm()

        def hybrid_forward(self, F, x):
            qkv = self.project(x)
            weights = F.softmax(F.contrib.interleaved_matmul_selfatt_qk(qkv, heads=self.heads), axis=-1)
            x = self.norm(x + self.out(F.contrib.interleaved_matmul_selfatt_valatt(qkv, weights, heads=self.heads)))
            return self.last(x + self.second(F.LeakyReLU(self.first(x), act_type="gelu")))

    net = nn.HybridSequential()
    net.add(Layer(256, 4), Layer(256, 4))
    return net


def deeplab(mx):
    """DeepLabV3: the last two stages of a ResNet-50 are dilated instead of strided; atrous spatial pyramid pooling."""
    nn = mx.gluon.nn
    trunk = mx.gluon.model_zoo.vision.resnet50_v1().features[:-1]
    for stage, rate in ((trunk[-2], 2), (trunk[-1], 4)):
        stage.apply(lambda block, rate=rate: dilate(block, rate))

    class Head(mx.gluon.HybridBlock):
        def __init__(self, channels, classes):
            super().__init__()
            with self.name_scope():
                self.branches = nn.HybridSequential()
                self.branches.add(unit(mx, channels, 1), *(unit(mx, channels, 3, rate) for rate in (12, 24, 36)))
                self.image, self.project = unit(mx, channels, 1), unit(mx, channels, 1)
                self.classify = nn.Conv2D(classes, 1)

        def hybrid_forward(self, F, x):
            image = self.image(F.contrib.AdaptiveAvgPooling2D(x))
            parts = [*(branch(x) for branch in self.branches), F.broadcast_like(image, x, (2, 3), (2, 3))]
            return F.contrib.BilinearResize2D(self.classify(self.project(F.concat(*parts))), height=64, width=64)

    net = nn.HybridSequential()
    net.add(*trunk, Head(256, 21))
    return net


def unit(mx, channels, size, rate=1):
    """Convolution, batch norm and ReLU; the image keeps its size."""
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Conv2D(channels, size, padding=rate * (size // 2), dilation=rate, use_bias=False))
    net.add(mx.gluon.nn.BatchNorm(), mx.gluon.nn.Activation("relu"))
    return net


def dilate(block, rate):
    """A convolution without steps; a larger window is spread."""
    if type(block).__name__ == "Conv2D":
        block._kwargs["stride"] = (1, 1)
        if max(block._kwargs["kernel"]) > 1:
            block._kwargs["dilate"] = block._kwargs["pad"] = (rate, rate)


def parameters(net):
    """Parameters by their place, whatever the blocks are called."""
    return list(net.collect_params().values())


def measure(mx, name, folder, seed, dtype="float32"):
    """Output and gradients, hybridized, from the parameters in the folder."""
    given = np.load(Path(folder) / f"{name}-{seed}.npz")
    net, shape = network(mx, name)
    net.initialize()
    net.hybridize()
    if dtype != "float32":
        net.cast(dtype)
    data = mx.nd.array(given["data"], dtype=dtype)
    net(data)
    for i, parameter in enumerate(parameters(net)):
        parameter.set_data(mx.nd.array(given[f"p{i}"], dtype=dtype))
    for _ in range(3):
        output = net(data)
    with mx.autograd.record():
        loss = (net(data) * mx.nd.array(given["head"], dtype=dtype)).sum()
    loss.backward()
    wanted = [p for p in parameters(net) if p.grad_req != "null"]
    return output.asnumpy(), [p.grad().asnumpy() for p in wanted]


def prepare(mx, name, folder, seed):
    """Parameters as a network in training has them, an input and a head, for all contestants."""
    mx.random.seed(seed)
    rng = np.random.RandomState(seed)
    net, shape = network(mx, name)
    net.initialize(mx.init.Xavier(magnitude=2))
    data = rng.randn(*shape).astype("float32")
    out = net(mx.nd.array(data))
    arrays = {}
    for i, parameter in enumerate(parameters(net)):
        value = parameter.data().asnumpy()
        if parameter.name.endswith("running_mean"):
            value = rng.randn(*value.shape) * 0.1
        elif parameter.name.endswith("running_var"):
            value = rng.rand(*value.shape) + 0.5
        arrays[f"p{i}"] = value.astype("float32")
    head = rng.randn(*out.shape).astype("float32")
    np.savez(Path(folder) / f"{name}-{seed}.npz", data=data, head=head, **arrays)


def errors(found, exact):
    """Largest error of the output, and median over parameters of the relative error of gradients."""
    (output, grads), (wanted, slopes) = found, exact
    forward = np.abs(output - wanted).max() / np.abs(wanted).max()
    each = [np.linalg.norm(g - s) / np.linalg.norm(s) for g, s in zip(grads, slopes, strict=True) if np.linalg.norm(s)]
    return float(forward), float(np.median(each))


def contest(name, folder, seeds, mxnet):
    """(of MXNet, of torch, of ReMX), each (forward, gradient): medians over the seeds."""
    import mxnet as mx

    for seed in seeds:
        prepare(mx, name, folder, seed)
    found = {}
    if mxnet:
        command = [mxnet, __file__, "--worker", name, folder, ",".join(map(str, seeds))]
        subprocess.run(command, check=True, env={**os.environ, "PYTHONPATH": ""})
    for seed in seeds:
        with mx.runtime.kernels_off():
            exact = measure(mx, name, folder, seed, "float64")
            found.setdefault("torch", []).append(errors(measure(mx, name, folder, seed), exact))
        found.setdefault("ReMX", []).append(errors(measure(mx, name, folder, seed), exact))
        if mxnet:
            found.setdefault("MXNet", []).append(errors(recorded(name, folder, seed), exact))
    for file in Path(folder).iterdir():
        file.unlink()
    return [tuple(np.median(found[who], axis=0)) if who in found else None for who in ("MXNet", "torch", "ReMX")]


def worker(name, folder, seeds):
    """What real MXNet computes, in a file for each seed."""
    import mxnet as mx

    for seed in seeds.split(","):
        output, grads = measure(mx, name, folder, seed)
        arrays = {f"g{i}": g for i, g in enumerate(grads)}
        np.savez(Path(folder) / f"{name}-{seed}-mxnet.npz", output=output, **arrays)


def recorded(name, folder, seed):
    found = np.load(Path(folder) / f"{name}-{seed}-mxnet.npz")
    return found["output"], [found[f"g{i}"] for i in range(len(found.files) - 1)]


TEXTS = {
    "en": (
        "# Accuracy of the kernels",
        "The table shows errors relative to double precision. The error of the output is the largest error "
        "divided by the largest value; the error of the gradients is the median of the relative errors of all"
        " parameters. MXNet is version 1.9.1, torch is ReMX with `MXNET_KERNELS=torch`, and ReMX uses its own"
        " kernels. Batches have 8 images. Each number is the median over several random draws of parameters, "
        "images and head gradients; the second column shows the number of draws, which are the same for all "
        "three. `tools/kernel_numbers.py` writes this page.\n\n"
        "If two values are almost equal, rounding decides which one a maximum or a ReLU selects, and a "
        "different choice changes all gradients of earlier layers. One such case changes gradients by about a"
        " percent. Deep networks have a few of these cases in every run, in all three columns, so their "
        "errors vary from draw to draw.",
        "| network | draws | output: MXNet | torch | ReMX | gradients: MXNet | torch | ReMX |",
        ("The goal is an error of at most 1.5 times MXNet's. Every row meets it.",
         "The goal is an error of at most 1.5 times MXNet's. Rows that do not meet it: {}."),
    ),
    "zh": (
        "# 内核的数值",
        "相对于双精度的误差：输出（最大误差与最大值之比）和梯度（所有参数的相对误差的中位数）。"
        "MXNet 是 1.9.1；torch 是设了 `MXNET_KERNELS=torch` 的 ReMX；"
        "ReMX 使用自己的内核。每批 8 张图像；每个数是多次随机抽取（参数、图像和头梯度，三者共用）的中位数，"
        "次数见第二列。"
        "由 `tools/kernel_numbers.py` 生成。\n\n"
        "两个数几乎相等时，取最大值或 ReLU 可能作出另一种判断，从而改变它之前的所有梯度。"
        "一次这样的判断就会带来百分之一左右的误差；深层网络每次运行都有几次，三列都是如此，误差随抽取而变化。",
        "| 网络 | 抽取次数 | 输出：MXNet | torch | ReMX | 梯度：MXNet | torch | ReMX |",
        ("目标是 ReMX 的误差不超过 MXNet 的 1.5 倍。每一行都做到了。",
         "目标是 ReMX 的误差不超过 MXNet 的 1.5 倍。没有做到的行：{}。"),
    ),
}  # fmt: skip


def page(rows, language):
    """The page with the table; a row's cells are the draws, three errors of outputs and three of gradients."""
    title, text, head, (good, bad) = TEXTS[language]
    late = above(rows)
    lines = [title, "", text, "", bad.format(", ".join(late)) if late else good, "", head, "|---" * 8 + "|"]
    lines += [f"| {name} | {' | '.join(cells)} |" for name, cells in rows.items()]
    return "\n".join(lines) + "\n"


def above(rows):
    """Networks whose errors are above the limit, as far as the table shows."""
    ratios = {n: [float(c[i + 2]) / float(c[i]) for i in (1, 4) if c[i]] for n, c in rows.items()}
    return [name for name, each in ratios.items() if any(ratio > LIMIT for ratio in each)]


def known_rows():
    """The rows of the page as it is."""
    text = (ROOT / "docs" / "numbers.md").read_text(encoding="utf-8")
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"]
    return {name: rest for name, *rest in cells[2:]}


def draws_of(name):
    return LARGE_DRAWS if NETWORKS.get(name, 0) > LARGE else DRAWS


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mxnet", help="an interpreter with MXNet 1.9.1")
    parser.add_argument("--only", action="append", help="a network; may be repeated")
    parser.add_argument("--seeds", type=int, help="draws of parameters and images; the table has medians")
    parser.add_argument("--check", action="store_true", help="print, and write nothing")
    parser.add_argument("--worker", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        worker(*options.worker)
        return 0
    labels = {**{name: name for name in NETWORKS}, **FAMILIES}
    measured = {}
    with tempfile.TemporaryDirectory() as folder:
        for label, name in labels.items():
            if options.only and name not in options.only:
                continue
            draws = options.seeds or draws_of(name)
            results = contest(name, folder, range(draws), options.mxnet)
            errors = [f"{r[part]:.1e}" if r else "" for part in (0, 1) for r in results]
            measured[label] = [str(draws), *errors]
            print(label, *measured[label], flush=True)
    if not options.check:
        known = {**(known_rows() if options.only else {}), **measured}
        rows = {label: known[label] for label in labels if label in known}
        for language, folder in (("en", "."), ("zh", "zh")):
            (ROOT / "docs" / folder / "numbers.md").write_text(page(rows, language), encoding="utf-8")
    late = above(measured)
    if late:
        print(f"more than {LIMIT} times MXNet's error: {', '.join(late)}")
    return bool(late)


if __name__ == "__main__":
    sys.exit(main())
