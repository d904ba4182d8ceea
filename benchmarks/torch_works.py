"""The works of the suite in PyTorch, eager, as people write them: nn.Module, torch.optim, NCHW."""

import os
import sys
import tempfile
from pathlib import Path

import small_works
import torch
import torch.nn.functional as F
from torch import nn

sys.path.append(str(Path(__file__).parents[1] / "tests" / "gluon"))
import torch_networks  # the zoo's networks in plain torch, which the tests have, too


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


def published(name, kind):
    return torch_networks.NETWORKS[name, kind]


# title -> how it is made, side of the images
ZOO = {
    "AlexNet": (published("alexnet", "torchvision"), 224),
    "VGG-11": (lambda: torch_networks.vgg((1, 1, 2, 2, 2), False), 224),
    "SqueezeNet 1.1": (published("squeezenet1.1", "torchvision"), 224),
    "DenseNet-121": (published("densenet121", "torchvision"), 224),
    "Inception v3": (published("inceptionv3", "torchvision"), 299),
    "MobileNet 1.0": (published("mobilenet1.0", "plain"), 224),
    "MobileNetV2": (published("mobilenetv2_1.0", "torchvision"), 224),
    "ResNet-18": (lambda: resnet((2, 2, 2, 2), False), 224),
    "ResNet-50": (lambda: resnet((3, 4, 6, 3), True), 224),
    "ResNet-50 v2": (published("resnet50_v2", "timm"), 224),
}


def zoo(title):
    """A network that begins as torch begins it."""
    return ZOO[title][0]()


def images(title, batch):
    return torch.randn(batch, 3, ZOO[title][1], ZOO[title][1])


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
    net = zoo("ResNet-50")
    path = os.path.join(tempfile.mkdtemp(), "net.pt")
    torch.save(net.state_dict(), path)
    if which == "save":
        return lambda: torch.save(net.state_dict(), path)
    return lambda: net.load_state_dict(torch.load(path))


def gan():
    def up(before, after, *more):
        return [nn.ConvTranspose2d(before, after, 4, *more, bias=False), nn.BatchNorm2d(after), nn.ReLU()]

    def down(before, after):
        return [nn.Conv2d(before, after, 4, 2, 1, bias=False), nn.BatchNorm2d(after), nn.LeakyReLU(0.2)]

    generator = [*up(100, 256, 1, 0), *up(256, 128, 2, 1), *up(128, 64, 2, 1), *up(64, 32, 2, 1)]
    generator += [nn.ConvTranspose2d(32, 3, 4, 2, 1), nn.Tanh()]
    judge = [*down(3, 32), *down(32, 64), *down(64, 128), *down(128, 256), nn.Conv2d(256, 1, 4), nn.Flatten(0)]
    net, noise, label = nn.Sequential(*generator, *judge), torch.randn(16, 100, 1, 1), torch.ones(16)
    return learning(net, lambda: F.binary_cross_entropy_with_logits(net(noise), label), adam)


def language_model():
    embedding, dense, drop = nn.Embedding(5000, 128), nn.Linear(128, 5000), nn.Dropout(0.2)
    rnn = nn.LSTM(128, 128, 2)
    net = nn.ModuleList([embedding, dense, drop, rnn])
    words, following = (torch.randint(5000, (35, 32)) for _ in range(2))

    def loss():
        scores = dense(drop(rnn(drop(embedding(words)))[0]))
        return F.cross_entropy(scores.flatten(0, 1), following.flatten())

    return learning(net, loss, lambda p: torch.optim.SGD(p, lr=1e-3), clip=0.25)


def transformer():
    layers = [nn.TransformerEncoderLayer(256, 4, 1024, 0.1, batch_first=True) for _ in range(2)]
    net = nn.Sequential(*layers, nn.Flatten(), nn.Linear(40 * 256, 10))
    data, label = torch.randn(16, 40, 256), labels(16)
    return learning(net, lambda: F.cross_entropy(net(data), label), adam)


def factorization_machine():
    width, rank, batch, filled = 10000, 16, 512, 39
    places, label = torch.randint(width, (batch, filled)), torch.randint(2, (batch, 1)).float()
    factors, weight = nn.Embedding(width, rank, sparse=True), nn.Embedding(width, 1, sparse=True)
    net = nn.ModuleList([factors, weight])
    bias = nn.Parameter(torch.zeros(1))
    optimizers = [torch.optim.SparseAdam(list(net.parameters()), lr=1e-3), torch.optim.Adam([bias], lr=1e-3)]

    def step():
        for optimizer in optimizers:
            optimizer.zero_grad()
        rows = factors(places)
        pairs = 0.5 * (rows.sum(1).square() - rows.square().sum(1)).sum(1, keepdim=True)
        F.binary_cross_entropy_with_logits(weight(places).sum(1) + bias + pairs, label).backward()
        for optimizer in optimizers:
            optimizer.step()

    return step


def adam(parameters):
    return torch.optim.Adam(parameters, lr=1e-3)


def learning(net, loss, make, clip=None):
    optimizer = make(net.parameters())

    def step():
        optimizer.zero_grad()
        loss().backward()
        if clip:
            nn.utils.clip_grad_norm_(net.parameters(), clip)
        optimizer.step()

    return step


def inference_works(layers, compiled=False):
    """name -> a function that prepares the work and returns one run of it."""
    table = {
        f"{title} inference, batch {batch}": lambda t=title, b=batch: inference(zoo(t), images(t, b), compiled)
        for title in ZOO
        for batch in (1, 8)
    }
    table["BERT encoder inference"] = lambda: bert(layers, False, compiled)
    return table


def works(layers):
    """The same for all networks, learning and predicting; what torch has no twin of is missing."""
    table = inference_works(layers)
    for title in ZOO:
        table[f"{title} train step, batch 8"] = lambda t=title: training(zoo(t), images(t, 8), labels(8), momentum)
    for mode in ("eager", "hybridized"):
        table[f"MLP train step, {mode}"] = lambda: training(mlp(), torch.randn(64, 784), labels(64), torch.optim.Adam)
        table[f"LeNet train step, {mode}"] = lambda: training(
            lenet(), torch.randn(256, 1, 28, 28), labels(256), momentum
        )
    table["LSTM forward+backward"] = lambda: summed(nn.LSTM(256, 256, 2), torch.randn(35, 32, 256))
    table["BERT encoder forward+backward"] = lambda: bert(layers, True, False)
    table["DCGAN train step"] = gan
    table["LSTM language model train step"] = language_model
    table["transformer train step"] = transformer
    table["factorization machine train step"] = factorization_machine
    return table


def small_parts():
    """The same of parts: updates, files, single calls."""
    table = {
        "Trainer.step, SGD momentum": lambda: optimizer_step(
            lambda p: torch.optim.SGD(p, lr=0.01, momentum=0.9, fused=True)
        ),
        "Trainer.step, Adam": lambda: optimizer_step(lambda p: torch.optim.Adam(p, lr=1e-3, fused=True)),
        "Trainer.step, LAMB": lambda: optimizer_step(Lamb),
        "save ResNet-50 .params": lambda: save_and_load("save"),
        "load ResNet-50 .params": lambda: save_and_load("load"),
    }
    table.update(small_works.torch_works())
    return table
