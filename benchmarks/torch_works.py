"""The works of the suite in PyTorch, eager, as people write them: nn.Module, torch.optim, NCHW."""

import os
import tempfile

import small_works
import torch
import torch.nn.functional as F
from torch import nn


def mlp():
    return nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10))


def lenet():
    return nn.Sequential(
        nn.Conv2d(1, 20, 5),
        nn.ReLU(),
        nn.MaxPool2d(2, 2),
        nn.Conv2d(20, 50, 5),
        nn.ReLU(),
        nn.MaxPool2d(2, 2),
        nn.Flatten(),
        nn.Linear(800, 500),
        nn.ReLU(),
        nn.Linear(500, 10),
    )


def normed(inputs, outputs, kernel, stride=1, groups=1):
    conv = nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False)
    return [conv, nn.BatchNorm2d(outputs)]


class Residual(nn.Module):
    """A ResNet v1 block: basic, or bottleneck with the stride in its first convolution, as Gluon's."""

    def __init__(self, inputs, outputs, stride, bottleneck):
        super().__init__()
        if bottleneck:
            inner = outputs // 4
            body = [*normed(inputs, inner, 1, stride), nn.ReLU(inplace=True), *normed(inner, inner, 3)]
            body += [nn.ReLU(inplace=True), *normed(inner, outputs, 1)]
        else:
            body = [*normed(inputs, outputs, 3, stride), nn.ReLU(inplace=True), *normed(outputs, outputs, 3)]
        self.body = nn.Sequential(*body)
        same = inputs == outputs and stride == 1
        self.shortcut = nn.Identity() if same else nn.Sequential(*normed(inputs, outputs, 1, stride))

    def forward(self, x):
        return F.relu(self.body(x) + self.shortcut(x))


def resnet(blocks, bottleneck):
    layers, channels = [*normed(3, 64, 7, 2), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)], 64
    for stage, count in enumerate(blocks):
        width = (256 if bottleneck else 64) * 2**stage
        for i in range(count):
            layers.append(Residual(channels, width, 2 if stage and not i else 1, bottleneck))
            channels = width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 1000))


class Inverted(nn.Module):
    """A MobileNetV2 block."""

    def __init__(self, inputs, outputs, stride, expansion):
        super().__init__()
        wide = inputs * expansion
        body = [*normed(inputs, wide, 1), nn.ReLU6(inplace=True), *normed(wide, wide, 3, stride, wide)]
        self.body = nn.Sequential(*body, nn.ReLU6(inplace=True), *normed(wide, outputs, 1))
        self.same = inputs == outputs and stride == 1

    def forward(self, x):
        return x + self.body(x) if self.same else self.body(x)


def mobilenet():
    layers, channels = [*normed(3, 32, 3, 2), nn.ReLU6(inplace=True)], 32
    plan = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]
    for expansion, width, count, stride in plan:
        for i in range(count):
            layers.append(Inverted(channels, width, 1 if i else stride, expansion))
            channels = width
    layers += [*normed(channels, 1280, 1), nn.ReLU6(inplace=True), nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    return nn.Sequential(*layers, nn.Linear(1280, 1000, bias=False))


class EncoderLayer(nn.Module):
    """A BERT layer with torch's own fused attention."""

    def __init__(self, units=768, hidden=3072, heads=12):
        super().__init__()
        self.heads = heads
        self.qkv, self.proj = nn.Linear(units, 3 * units), nn.Linear(units, units)
        self.ffn1, self.ffn2 = nn.Linear(units, hidden), nn.Linear(hidden, units)
        self.ln1, self.ln2 = nn.LayerNorm(units), nn.LayerNorm(units)

    def forward(self, x):
        batch, length, units = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(batch, length, units)
        x = self.ln1(x + self.proj(mixed))
        return self.ln2(x + self.ffn2(F.gelu(self.ffn1(x))))


IMAGES = {
    "ResNet-18": lambda: resnet((2, 2, 2, 2), False),
    "ResNet-50": lambda: resnet((3, 4, 6, 3), True),
    "MobileNetV2": mobilenet,
}


def training(net, data, label, make):
    optimizer = make(net.parameters())
    criterion = nn.CrossEntropyLoss()

    def step():
        optimizer.zero_grad()
        criterion(net(data), label).backward()
        optimizer.step()

    return step


def labels(count):
    return torch.arange(count) % 10


def momentum(parameters):
    return torch.optim.SGD(parameters, lr=0.01, momentum=0.9)


def inference(net, data, compiled=False):
    net.eval()
    run = torch.compile(net) if compiled else net

    def step():
        with torch.no_grad():
            run(data)

    step()
    return step


def summed(net, data):
    def step():
        net.zero_grad()
        out = net(data)
        (out[0] if isinstance(out, tuple) else out).sum().backward()

    return step


def bert(layers, train, compiled):
    net, data = nn.Sequential(*[EncoderLayer() for _ in range(layers)]), torch.randn(4, 128, 768)
    return summed(net, data) if train else inference(net, data, compiled)


def optimizer_step(make):
    """torch.optim's fastest setting on the CPU, without the gradients' own cost."""
    parameters = [nn.Parameter(torch.randn(64, 64) if i % 2 else torch.randn(64)) for i in range(200)]
    for p in parameters:
        p.grad = torch.full_like(p, 0.5)
    return make(parameters).step


class Lamb:
    """LAMB by multi-tensor calls, for torch has none of its own."""

    def __init__(self, parameters, lr=1e-3, betas=(0.9, 0.999), eps=1e-6):
        self.parameters, self.lr, self.betas, self.eps, self.count = parameters, lr, betas, eps, 0
        self.means, self.squares = ([torch.zeros_like(p) for p in parameters] for _ in range(2))

    @torch.no_grad()
    def step(self):
        self.count += 1
        (first, second), t = self.betas, self.count
        grads = [p.grad for p in self.parameters]
        torch._foreach_lerp_(self.means, grads, 1 - first)
        torch._foreach_mul_(self.squares, second)
        torch._foreach_addcmul_(self.squares, grads, grads, 1 - second)
        roots = torch._foreach_sqrt(self.squares)
        torch._foreach_div_(roots, (1 - second**t) ** 0.5)
        torch._foreach_add_(roots, self.eps)
        steps = torch._foreach_div(self.means, roots)
        torch._foreach_div_(steps, 1 - first**t)
        sizes, slopes = (torch.stack(torch._foreach_norm(x)) for x in (self.parameters, steps))
        trust = torch.where((sizes == 0) | (slopes == 0), torch.ones_like(sizes), sizes / slopes)
        torch._foreach_mul_(steps, (trust * -self.lr).tolist())
        torch._foreach_add_(self.parameters, steps)


def save_and_load(which):
    net = IMAGES["ResNet-50"]()
    path = os.path.join(tempfile.mkdtemp(), "net.pt")
    torch.save(net.state_dict(), path)
    if which == "save":
        return lambda: torch.save(net.state_dict(), path)
    return lambda: net.load_state_dict(torch.load(path))


def works(layers, compiled=False):
    """name -> a function that prepares the work and returns one run of it; what torch has no twin of is missing."""
    table = {
        f"{title} inference, batch {batch}": lambda t=title, b=batch: inference(
            IMAGES[t](), torch.randn(b, 3, 224, 224), compiled
        )
        for title in IMAGES
        for batch in (1, 8)
    }
    table["BERT encoder inference"] = lambda: bert(layers, False, compiled)
    if compiled:
        table["MLP inference"] = lambda: inference(mlp(), torch.randn(64, 784), True)
        return {**table, **{f"{name}, inductor": work for name, work in table.items()}}
    for mode in ("eager", "hybridized"):
        table[f"MLP train step, {mode}"] = lambda: training(mlp(), torch.randn(64, 784), labels(64), torch.optim.Adam)
        table[f"LeNet train step, {mode}"] = lambda: training(
            lenet(), torch.randn(256, 1, 28, 28), labels(256), momentum
        )
    table["ResNet-18 train step, batch 8"] = lambda: training(
        IMAGES["ResNet-18"](), torch.randn(8, 3, 224, 224), labels(8), momentum
    )
    table["LSTM forward+backward"] = lambda: summed(nn.LSTM(256, 256, 2), torch.randn(35, 32, 256))
    table["BERT encoder forward+backward"] = lambda: bert(layers, True, False)
    table["Trainer.step, SGD momentum"] = lambda: optimizer_step(
        lambda p: torch.optim.SGD(p, lr=0.01, momentum=0.9, fused=True)
    )
    table["Trainer.step, Adam"] = lambda: optimizer_step(lambda p: torch.optim.Adam(p, lr=1e-3, fused=True))
    table["Trainer.step, LAMB"] = lambda: optimizer_step(Lamb)
    table.update(small_works.torch_works())
    table["save ResNet-50 .params"] = lambda: save_and_load("save")
    table["load ResNet-50 .params"] = lambda: save_and_load("load")
    return table
