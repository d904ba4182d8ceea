"""The part of `remx selftest` that times ResNet-50 and an LSTM beside the same networks in plain torch."""

import time

from .training import cuda_graphs


def _residual(torch, channels, width, stride):
    """A bottleneck block of ResNet v1 as Gluon builds it: the stride is in the first convolution."""

    class Block(torch.nn.Module):
        def __init__(self):
            super().__init__()
            nn, out = torch.nn, width * 4
            self.body = nn.Sequential(
                nn.Conv2d(channels, width, 1, stride), nn.BatchNorm2d(width), nn.ReLU(inplace=True),
                nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU(inplace=True),
                nn.Conv2d(width, out, 1), nn.BatchNorm2d(out),
            )  # fmt: skip
            same = channels == out and stride == 1
            self.side = nn.Identity() if same else nn.Sequential(
                nn.Conv2d(channels, out, 1, stride, bias=False), nn.BatchNorm2d(out)
            )  # fmt: skip

        def forward(self, x):
            return torch.relu(self.body(x) + self.side(x))

    return Block()


def _torch_resnet(torch):
    nn, channels = torch.nn, 64
    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)]
    for stage, (count, width) in enumerate(zip((3, 4, 6, 3), (64, 128, 256, 512), strict=True)):
        for i in range(count):
            layers.append(_residual(torch, channels, width, 2 if stage and not i else 1))
            channels = width * 4
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 1000))


def _torch_lstm(torch):
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm, self.out = torch.nn.LSTM(64, 256, 2), torch.nn.Linear(256, 1000)

        def forward(self, x):
            return self.out(self.lstm(x)[0][-1])

    return Net()


def _our_lstm():
    from ...gluon import nn, rnn
    from ...gluon.block import HybridBlock

    class Net(HybridBlock):
        def __init__(self):
            super().__init__()
            self.lstm, self.out = rnn.LSTM(256, 2), nn.Dense(1000)

        def hybrid_forward(self, F, x):
            return self.out(F.SequenceLast(self.lstm(x)))

    return Net()


def _our_resnet():
    from ...gluon.model_zoo import vision

    return vision.resnet50_v1()


def _torch_functions(torch, make, shape, batch, device):
    """One prediction and one step of training in plain torch, and what waits for the device."""
    net = make(torch).to(device)
    data, label = torch.rand(shape, device=device), torch.zeros(batch, dtype=torch.long, device=device)
    optimizer = torch.optim.SGD(net.parameters(), 0.01, 0.9)

    def predict():
        net.eval()
        with torch.no_grad():
            net(data)

    def train():
        net.train()
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(net(data), label).backward()
        optimizer.step()

    return predict, train


def _our_functions(make, shape, batch, ctx):
    from ... import autograd, gluon, nd

    net = make()
    net.initialize(ctx=ctx)
    net.hybridize(static_alloc=True, static_shape=True)
    data, label = nd.random.uniform(shape=shape, ctx=ctx), nd.zeros((batch,), ctx=ctx)
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.01, "momentum": 0.9})
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    net(data)

    def train():
        with autograd.record():
            loss = loss_of(net(data), label)
        loss.backward()
        trainer.step(batch)

    return lambda: net(data), train


def _milliseconds(function, wait, rounds):
    """The fastest of some runs."""
    best = float("inf")
    for _ in range(rounds + 2):
        wait()
        start = time.perf_counter()
        function()
        wait()
        best = min(best, time.perf_counter() - start)
    return best * 1e3


def measure(ctx, rounds=5, small=False):
    """Rows of (what, milliseconds of ReMX, milliseconds of torch), and of (what, why it could not be measured).

    `small` is for machines without a GPU.
    """
    images, sequences = (2, 8) if small else (32, 64)
    size = 64 if small else 224
    networks = {
        f"ResNet-50, {images} images of {size} x {size}": (_our_resnet, _torch_resnet, (images, 3, size, size), images),
        f"LSTM, {sequences} sequences of 50": (_our_lstm, _torch_lstm, (50, sequences, 64), sequences),
    }
    rows, failures = [], []
    for name, network in networks.items():
        try:
            rows += _rows(name, ctx, rounds, *network)
        except Exception as error:  # a GPU whose memory is too small, say: the rest of the report counts
            failures.append((name, f"{type(error).__name__}: {str(error).strip().splitlines()[0][:300]}"))
    return rows, failures


def _rows(name, ctx, rounds, ours, theirs, shape, batch):
    import torch

    from ... import nd
    from ..._ops.registry.device import torch_device

    rows, device = [], torch_device(ctx)
    plain = [_milliseconds(f, nd.waitall, rounds) for f in _torch_functions(torch, theirs, shape, batch, device)]
    for how in ("", ", CUDA graphs") if device.type == "cuda" else ("",):
        with cuda_graphs(bool(how)):
            mine = [_milliseconds(f, nd.waitall, rounds) for f in _our_functions(ours, shape, batch, ctx)]
        for what, a, b in zip(("prediction", "training"), mine, plain, strict=True):
            rows.append((f"{name}, {what}{how}", a, b))
    return rows
