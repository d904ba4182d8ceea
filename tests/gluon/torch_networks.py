"""Networks with the names that torchvision and timm give their layers, written with plain torch for the tests."""

import torch
from torch import nn
from torch.nn import functional as F


def conv(before, after, size, stride=1, padding=0, groups=1, bias=False):
    return nn.Conv2d(before, after, size, stride, padding, groups=groups, bias=bias)


class Residual(nn.Module):
    """torchvision's BasicBlock (`deep` False) and Bottleneck, which halves in its 3x3 convolution."""

    def __init__(self, before, after, stride, deep):
        super().__init__()
        inner = after // 4 if deep else after
        plan = [(before, inner, 1, 1), (inner, inner, 3, stride), (inner, after, 1, 1)]
        for i, (a, b, size, step) in enumerate(plan if deep else [(before, after, 3, stride), (after, after, 3, 1)], 1):
            setattr(self, f"conv{i}", conv(a, b, size, step, size // 2))
            setattr(self, f"bn{i}", nn.BatchNorm2d(b))
        self.steps = i
        if stride != 1 or before != after:
            self.downsample = nn.Sequential(conv(before, after, 1, stride), nn.BatchNorm2d(after))

    def forward(self, x):
        out = x
        for i in range(1, self.steps + 1):
            out = getattr(self, f"bn{i}")(getattr(self, f"conv{i}")(out))
            out = F.relu(out) if i < self.steps else out
        return F.relu(out + (self.downsample(x) if hasattr(self, "downsample") else x))


class ResNet(nn.Module):
    def __init__(self, counts, deep):
        super().__init__()
        self.conv1, self.bn1 = conv(3, 64, 7, 2, 3), nn.BatchNorm2d(64)
        before = 64
        for stage, (count, width) in enumerate(zip(counts, (64, 128, 256, 512), strict=True), 1):
            after, blocks = width * (4 if deep else 1), []
            for i in range(count):
                blocks.append(Residual(before, after, 2 if stage > 1 and i == 0 else 1, deep))
                before = after
            setattr(self, f"layer{stage}", nn.Sequential(*blocks))
        self.fc = nn.Linear(before, 1000)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.bn1(self.conv1(x))), 3, 2, 1)
        for stage in range(1, 5):
            x = getattr(self, f"layer{stage}")(x)
        return self.fc(x.mean((2, 3)))


class PreActivation(nn.Module):
    """timm's block of ResNet V2."""

    def __init__(self, before, after, stride, deep):
        super().__init__()
        inner = after // 4 if deep else after
        plan = [(before, inner, 1, 1), (inner, inner, 3, stride), (inner, after, 1, 1)]
        for i, (a, b, size, step) in enumerate(plan if deep else [(before, after, 3, stride), (after, after, 3, 1)], 1):
            setattr(self, f"norm{i}", nn.BatchNorm2d(a))
            setattr(self, f"conv{i}", conv(a, b, size, step, size // 2))
        self.steps = i
        if stride != 1 or before != after:
            self.downsample = nn.ModuleDict({"conv": conv(before, after, 1, stride)})

    def forward(self, x):
        out = F.relu(self.norm1(x))
        short = self.downsample["conv"](out) if hasattr(self, "downsample") else x
        for i in range(1, self.steps + 1):
            out = F.relu(getattr(self, f"norm{i}")(out)) if i > 1 else out
            out = getattr(self, f"conv{i}")(out)
        return out + short


class ResNetV2(nn.Module):
    def __init__(self, counts, deep):
        super().__init__()
        self.stem = nn.ModuleDict({"conv": conv(3, 64, 7, 2, 3)})
        before, stages = 64, []
        for stage, (count, width) in enumerate(zip(counts, (64, 128, 256, 512), strict=True)):
            after, blocks = width * (4 if deep else 1), []
            for i in range(count):
                blocks.append(PreActivation(before, after, 2 if stage and i == 0 else 1, deep))
                before = after
            stages.append(nn.ModuleDict({"blocks": nn.Sequential(*blocks)}))
        self.stages = nn.ModuleList(stages)
        self.norm = nn.BatchNorm2d(before)
        self.head = nn.ModuleDict({"fc": conv(before, 1000, 1, bias=True)})

    def forward(self, x):
        x = F.max_pool2d(self.stem["conv"](x), 3, 2, 1)
        for stage in self.stages:
            x = stage["blocks"](x)
        return self.head["fc"](F.relu(self.norm(x)).mean((2, 3), keepdim=True)).flatten(1)


class Sequences(nn.Module):
    """`features` and `classifier`."""

    def __init__(self, features, classifier):
        super().__init__()
        self.features, self.classifier = nn.Sequential(*features), nn.Sequential(*classifier)

    def forward(self, x):
        return self.classifier(self.features(x).flatten(1))


def _classifier(inputs, drop_first):
    drop, act = nn.Dropout(), nn.ReLU()
    dense = [nn.Linear(inputs, 4096), nn.Linear(4096, 4096), nn.Linear(4096, 1000)]
    if drop_first:
        return drop, dense[0], act, drop, dense[1], act, dense[2]
    return dense[0], act, drop, dense[1], act, drop, dense[2]


def alexnet():
    steps = [conv(3, 64, 11, 4, 2, bias=True), nn.ReLU(), nn.MaxPool2d(3, 2), conv(64, 192, 5, 1, 2, bias=True),
             nn.ReLU(), nn.MaxPool2d(3, 2)]  # fmt: skip
    for before, after in ((192, 384), (384, 256), (256, 256)):
        steps += [conv(before, after, 3, 1, 1, bias=True), nn.ReLU()]
    return Sequences([*steps, nn.MaxPool2d(3, 2)], _classifier(256 * 36, True))


def vgg_features(counts, norm):
    steps, before = [], 3
    for count, after in zip(counts, (64, 128, 256, 512, 512), strict=True):
        for _ in range(count):
            steps += [conv(before, after, 3, 1, 1, bias=True), *([nn.BatchNorm2d(after)] if norm else []), nn.ReLU()]
            before = after
        steps.append(nn.MaxPool2d(2, 2))
    return steps


def vgg(counts, norm):
    return Sequences(vgg_features(counts, norm), _classifier(512 * 49, False))


class TimmVGG(nn.Module):
    """Its dense layers are convolutions."""

    def __init__(self, counts):
        super().__init__()
        self.features = nn.Sequential(*vgg_features(counts, False))
        self.pre_logits = nn.ModuleDict({"fc1": conv(512, 4096, 7, bias=True), "fc2": conv(4096, 4096, 1, bias=True)})
        self.head = nn.ModuleDict({"fc": nn.Linear(4096, 1000)})

    def forward(self, x):
        x = F.relu(self.pre_logits["fc1"](self.features(x)))
        return self.head["fc"](F.relu(self.pre_logits["fc2"](x)).flatten(1))


class Fire(nn.Module):
    def __init__(self, before, squeezed):
        super().__init__()
        self.squeeze = conv(before, squeezed, 1, bias=True)
        self.expand1x1 = conv(squeezed, 4 * squeezed, 1, bias=True)
        self.expand3x3 = conv(squeezed, 4 * squeezed, 3, 1, 1, bias=True)

    def forward(self, x):
        x = F.relu(self.squeeze(x))
        return torch.cat([F.relu(self.expand1x1(x)), F.relu(self.expand3x3(x))], 1)


def squeezenet(first, size, plan):
    steps, before = [conv(3, first, size, 2, bias=True), nn.ReLU()], first
    for squeezed in plan:
        steps.append(Fire(before, squeezed) if squeezed else nn.MaxPool2d(3, 2, ceil_mode=True))
        before = 8 * squeezed if squeezed else before
    last = [nn.Dropout(), conv(512, 1000, 1, bias=True), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    net = Sequences(steps, last)
    net.forward = lambda x: net.classifier(net.features(x))
    return net


class DenseLayer(nn.Module):
    def __init__(self, before, growth):
        super().__init__()
        self.norm1, self.conv1 = nn.BatchNorm2d(before), conv(before, 4 * growth, 1)
        self.norm2, self.conv2 = nn.BatchNorm2d(4 * growth), conv(4 * growth, growth, 3, 1, 1)

    def forward(self, x):
        return torch.cat([x, self.conv2(F.relu(self.norm2(self.conv1(F.relu(self.norm1(x))))))], 1)


class Transition(nn.Module):
    def __init__(self, before):
        super().__init__()
        self.norm, self.conv = nn.BatchNorm2d(before), conv(before, before // 2, 1)

    def forward(self, x):
        return F.avg_pool2d(self.conv(F.relu(self.norm(x))), 2, 2)


class DenseNet(nn.Module):
    def __init__(self, first, growth, counts):
        super().__init__()
        steps = {"conv0": conv(3, first, 7, 2, 3), "norm0": nn.BatchNorm2d(first), "relu0": nn.ReLU(),
                 "pool0": nn.MaxPool2d(3, 2, 1)}  # fmt: skip
        width = first
        for block, count in enumerate(counts, 1):
            inner = nn.Sequential()
            for number in range(1, count + 1):
                inner.add_module(f"denselayer{number}", DenseLayer(width, growth))
                width += growth
            steps[f"denseblock{block}"] = inner
            if block < len(counts):
                steps[f"transition{block}"] = Transition(width)
                width //= 2
        steps["norm5"] = nn.BatchNorm2d(width)
        self.features, self.classifier = nn.Sequential(), nn.Linear(width, 1000)
        for name, step in steps.items():
            self.features.add_module(name, step)

    def forward(self, x):
        return self.classifier(F.relu(self.features(x)).mean((2, 3)))


class Unit(nn.Module):
    """Inception's convolution with normalization and rectification."""

    def __init__(self, before, after, size, **options):
        super().__init__()
        self.conv, self.bn = nn.Conv2d(before, after, size, bias=False, **options), nn.BatchNorm2d(after, eps=0.001)

    def forward(self, x):
        return F.relu(self.bn(self.conv(x)))


def _pooled(x):
    return F.avg_pool2d(x, 3, 1, 1)


class Mixed(nn.Module):
    """A block of Inception: its units by name, and how they are joined."""

    def __init__(self, units, join):
        super().__init__()
        for name, unit in units.items():
            setattr(self, name, unit)
        self.join = join

    def chain(self, x, *names):
        for name in names:
            x = getattr(self, name)(x)
        return x

    def forward(self, x):
        return torch.cat(self.join(self, x), 1)


WIDE, TALL = {"size": (1, 7), "padding": (0, 3)}, {"size": (7, 1), "padding": (3, 0)}
WIDE3, TALL3 = {"size": (1, 3), "padding": (0, 1)}, {"size": (3, 1), "padding": (1, 0)}


def mixed_a(before, pooled):
    units = {
        "branch1x1": Unit(before, 64, 1), "branch5x5_1": Unit(before, 48, 1), "branch5x5_2": Unit(48, 64, 5, padding=2),
        "branch3x3dbl_1": Unit(before, 64, 1), "branch3x3dbl_2": Unit(64, 96, 3, padding=1),
        "branch3x3dbl_3": Unit(96, 96, 3, padding=1), "branch_pool": Unit(before, pooled, 1),
    }  # fmt: skip
    return Mixed(units, lambda self, x: [
        self.branch1x1(x), self.chain(x, "branch5x5_1", "branch5x5_2"),
        self.chain(x, "branch3x3dbl_1", "branch3x3dbl_2", "branch3x3dbl_3"), self.branch_pool(_pooled(x)),
    ])  # fmt: skip


def mixed_b(before):
    units = {
        "branch3x3": Unit(before, 384, 3, stride=2), "branch3x3dbl_1": Unit(before, 64, 1),
        "branch3x3dbl_2": Unit(64, 96, 3, padding=1), "branch3x3dbl_3": Unit(96, 96, 3, stride=2),
    }  # fmt: skip
    return Mixed(units, lambda self, x: [
        self.branch3x3(x), self.chain(x, "branch3x3dbl_1", "branch3x3dbl_2", "branch3x3dbl_3"), F.max_pool2d(x, 3, 2),
    ])  # fmt: skip


def mixed_c(width):
    units = {"branch1x1": Unit(768, 192, 1), "branch_pool": Unit(768, 192, 1), "branch7x7_1": Unit(768, width, 1),
             "branch7x7_2": Unit(width, width, **WIDE), "branch7x7_3": Unit(width, 192, **TALL),
             "branch7x7dbl_1": Unit(768, width, 1), "branch7x7dbl_2": Unit(width, width, **TALL),
             "branch7x7dbl_3": Unit(width, width, **WIDE), "branch7x7dbl_4": Unit(width, width, **TALL),
             "branch7x7dbl_5": Unit(width, 192, **WIDE)}  # fmt: skip
    return Mixed(units, lambda self, x: [
        self.branch1x1(x), self.chain(x, *(f"branch7x7_{i}" for i in (1, 2, 3))),
        self.chain(x, *(f"branch7x7dbl_{i}" for i in (1, 2, 3, 4, 5))), self.branch_pool(_pooled(x)),
    ])  # fmt: skip


def mixed_d():
    units = {"branch3x3_1": Unit(768, 192, 1), "branch3x3_2": Unit(192, 320, 3, stride=2),
             "branch7x7x3_1": Unit(768, 192, 1), "branch7x7x3_2": Unit(192, 192, **WIDE),
             "branch7x7x3_3": Unit(192, 192, **TALL), "branch7x7x3_4": Unit(192, 192, 3, stride=2)}  # fmt: skip
    return Mixed(units, lambda self, x: [
        self.chain(x, "branch3x3_1", "branch3x3_2"), self.chain(x, *(f"branch7x7x3_{i}" for i in (1, 2, 3, 4))),
        F.max_pool2d(x, 3, 2),
    ])  # fmt: skip


def mixed_e(before):
    units = {"branch1x1": Unit(before, 320, 1), "branch3x3_1": Unit(before, 384, 1),
             "branch3x3_2a": Unit(384, 384, **WIDE3), "branch3x3_2b": Unit(384, 384, **TALL3),
             "branch3x3dbl_1": Unit(before, 448, 1), "branch3x3dbl_2": Unit(448, 384, 3, padding=1),
             "branch3x3dbl_3a": Unit(384, 384, **WIDE3), "branch3x3dbl_3b": Unit(384, 384, **TALL3),
             "branch_pool": Unit(before, 192, 1)}  # fmt: skip

    def join(self, x):
        once, twice = self.branch3x3_1(x), self.chain(x, "branch3x3dbl_1", "branch3x3dbl_2")
        return [self.branch1x1(x), self.branch3x3_2a(once), self.branch3x3_2b(once), self.branch3x3dbl_3a(twice),
                self.branch3x3dbl_3b(twice), self.branch_pool(_pooled(x))]  # fmt: skip

    return Mixed(units, join)


class Inception(nn.Module):
    def __init__(self, transform_input=False):
        super().__init__()
        self.transform_input = transform_input
        self.Conv2d_1a_3x3, self.Conv2d_2a_3x3 = Unit(3, 32, 3, stride=2), Unit(32, 32, 3)
        self.Conv2d_2b_3x3, self.Conv2d_3b_1x1 = Unit(32, 64, 3, padding=1), Unit(64, 80, 1)
        self.Conv2d_4a_3x3 = Unit(80, 192, 3)
        self.blocks = {
            "Mixed_5b": mixed_a(192, 32), "Mixed_5c": mixed_a(256, 64), "Mixed_5d": mixed_a(288, 64),
            "Mixed_6a": mixed_b(288), "Mixed_6b": mixed_c(128), "Mixed_6c": mixed_c(160), "Mixed_6d": mixed_c(160),
            "Mixed_6e": mixed_c(192), "Mixed_7a": mixed_d(), "Mixed_7b": mixed_e(1280), "Mixed_7c": mixed_e(2048),
        }  # fmt: skip
        for name, block in self.blocks.items():
            setattr(self, name, block)
        self.AuxLogits = nn.ModuleDict({"fc": nn.Linear(8, 1000)})  # not used for predictions
        self.fc = nn.Linear(2048, 1000)

    def forward(self, x):
        if self.transform_input:
            mean, deviation = torch.tensor([0.485, 0.456, 0.406]), torch.tensor([0.229, 0.224, 0.225])
            x = (x * deviation.view(3, 1, 1) + mean.view(3, 1, 1) - 0.5) / 0.5
        x = F.max_pool2d(self.Conv2d_2b_3x3(self.Conv2d_2a_3x3(self.Conv2d_1a_3x3(x))), 3, 2)
        x = F.max_pool2d(self.Conv2d_4a_3x3(self.Conv2d_3b_1x1(x)), 3, 2)
        for block in self.blocks.values():
            x = block(x)
        return self.fc(x.mean((2, 3)))


class Separable(nn.Module):
    """timm's depthwise block; `last` says whether rectification follows the second normalization."""

    def __init__(self, before, after, stride, last):
        super().__init__()
        self.conv_dw, self.bn1 = conv(before, before, 3, stride, 1, before), nn.BatchNorm2d(before)
        self.conv_pw, self.bn2, self.last = conv(before, after, 1), nn.BatchNorm2d(after), last

    def forward(self, x):
        x = self.bn2(self.conv_pw(F.relu6(self.bn1(self.conv_dw(x)))))
        return F.relu6(x) if self.last else x


class Inverted(nn.Module):
    """timm's inverted residual."""

    def __init__(self, before, after, stride):
        super().__init__()
        wide = 6 * before
        self.conv_pw, self.bn1 = conv(before, wide, 1), nn.BatchNorm2d(wide)
        self.conv_dw, self.bn2 = conv(wide, wide, 3, stride, 1, wide), nn.BatchNorm2d(wide)
        self.conv_pwl, self.bn3 = conv(wide, after, 1), nn.BatchNorm2d(after)
        self.short = stride == 1 and before == after

    def forward(self, x):
        out = F.relu6(self.bn2(self.conv_dw(F.relu6(self.bn1(self.conv_pw(x))))))
        out = self.bn3(self.conv_pwl(out))
        return out + x if self.short else out


class TimmMobileNet(nn.Module):
    """Of both versions."""

    def __init__(self, stages, head=0):
        super().__init__()
        self.conv_stem, self.bn1 = conv(3, 32, 3, 2, 1), nn.BatchNorm2d(32)
        self.blocks = nn.Sequential(*(nn.Sequential(*stage) for stage in stages))
        last = 1024
        if head:
            self.conv_head, self.bn2, last = conv(320, head, 1), nn.BatchNorm2d(head), head
        self.classifier = nn.Linear(last, 1000)

    def forward(self, x):
        x = self.blocks(F.relu6(self.bn1(self.conv_stem(x))))
        if hasattr(self, "conv_head"):
            x = F.relu6(self.bn2(self.conv_head(x)))
        return self.classifier(x.mean((2, 3)))


V2 = ((24, 2, 2), (32, 3, 2), (64, 4, 2), (96, 3, 1), (160, 3, 2), (320, 1, 1))


def timm_mobilenet_v1():
    stages, before = [], 32
    for count, after in ((1, 64), (2, 128), (2, 256), (6, 512), (2, 1024)):
        stages.append([])
        for i in range(count):
            stages[-1].append(Separable(before, after, 2 if i == 0 and after > 64 else 1, True))
            before = after
    return TimmMobileNet(stages)


def timm_mobilenet_v2():
    stages, before = [[Separable(32, 16, 1, False)]], 16
    for after, count, stride in V2:
        stages.append([])
        for i in range(count):
            stages[-1].append(Inverted(before, after, stride if i == 0 else 1))
            before = after
    return TimmMobileNet(stages, 1280)


def mobilenet_v1():
    """One sequence called model, with plain rectification."""

    def step(before, after, stride):
        return nn.Sequential(conv(before, before, 3, stride, 1, before), nn.BatchNorm2d(before), nn.ReLU(),
                             conv(before, after, 1), nn.BatchNorm2d(after), nn.ReLU())  # fmt: skip

    widths, strides = [32, 64, 128, 128, 256, 256, *[512] * 6, 1024, 1024], [1, 2, 1, 2, 1, 2, 1, 1, 1, 1, 1, 2, 1]
    steps = [nn.Sequential(conv(3, 32, 3, 2, 1), nn.BatchNorm2d(32), nn.ReLU())]
    steps += [step(*each) for each in zip(widths, widths[1:], strides, strict=False)]
    net = nn.ModuleDict({"model": nn.Sequential(*steps), "fc": nn.Linear(1024, 1000)})
    net.forward = lambda x: net["fc"](net["model"](x).mean((2, 3)))
    return net


class TorchvisionInverted(nn.Module):
    def __init__(self, before, after, stride, widen):
        super().__init__()
        wide, steps = before * widen, []
        if widen != 1:
            steps.append(nn.Sequential(conv(before, wide, 1), nn.BatchNorm2d(wide), nn.ReLU6()))
        steps += [nn.Sequential(conv(wide, wide, 3, stride, 1, wide), nn.BatchNorm2d(wide), nn.ReLU6()),
                  conv(wide, after, 1), nn.BatchNorm2d(after)]  # fmt: skip
        self.conv, self.short = nn.Sequential(*steps), stride == 1 and before == after

    def forward(self, x):
        return x + self.conv(x) if self.short else self.conv(x)


def torchvision_mobilenet_v2():
    steps, before = [nn.Sequential(conv(3, 32, 3, 2, 1), nn.BatchNorm2d(32), nn.ReLU6())], 16
    steps.append(TorchvisionInverted(32, 16, 1, 1))
    for after, count, stride in V2:
        for i in range(count):
            steps.append(TorchvisionInverted(before, after, stride if i == 0 else 1, 6))
            before = after
    steps.append(nn.Sequential(conv(320, 1280, 1), nn.BatchNorm2d(1280), nn.ReLU6()))
    net = Sequences(steps, [nn.Dropout(), nn.Linear(1280, 1000)])
    net.forward = lambda x: net.classifier(net.features(x).mean((2, 3)))
    return net


# the zoo's name, whose names the source has -> how it is made
NETWORKS = {
    ("resnet18_v1", "torchvision"): lambda: ResNet((2, 2, 2, 2), False),
    ("resnet50_v1", "torchvision"): lambda: ResNet((3, 4, 6, 3), True),
    ("resnet18_v2", "timm"): lambda: ResNetV2((2, 2, 2, 2), False),
    ("resnet50_v2", "timm"): lambda: ResNetV2((3, 4, 6, 3), True),
    ("vgg11_bn", "torchvision"): lambda: vgg((1, 1, 2, 2, 2), True),
    ("vgg11", "timm"): lambda: TimmVGG((1, 1, 2, 2, 2)),
    ("alexnet", "torchvision"): alexnet,
    ("densenet121", "torchvision"): lambda: DenseNet(64, 32, (6, 12, 24, 16)),
    ("squeezenet1.0", "torchvision"): lambda: squeezenet(96, 7, (0, 16, 16, 32, 0, 32, 48, 48, 64, 0, 64)),
    ("squeezenet1.1", "torchvision"): lambda: squeezenet(64, 3, (0, 16, 16, 0, 32, 32, 0, 48, 48, 64, 64)),
    ("inceptionv3", "torchvision"): Inception,
    ("mobilenet1.0", "timm"): timm_mobilenet_v1,
    ("mobilenet1.0", "plain"): mobilenet_v1,
    ("mobilenetv2_1.0", "torchvision"): torchvision_mobilenet_v2,
    ("mobilenetv2_1.0", "timm"): timm_mobilenet_v2,
}


def trained(make, seed=0):
    """A network with weights and statistics as trained ones have them: none is 0 or 1, and signals keep their size."""
    with torch.device("meta"):
        net = make()
    net.to_empty(device="cpu")
    drawn = torch.randn(65521, generator=torch.Generator().manual_seed(seed))  # a prime number, repeated

    def fill(tensor, mean, deviation):
        values = drawn.repeat(-(-tensor.numel() // len(drawn)))[: tensor.numel()]
        tensor.data.copy_((mean + deviation * values).view_as(tensor))

    for module in net.modules():
        if isinstance(module, nn.Conv2d | nn.Linear):
            fill(module.weight, 0, (2 / module.weight[0].numel()) ** 0.5)
        if isinstance(module, nn.BatchNorm2d):
            fill(module.weight, 0.75, 0.1)
            fill(module.running_mean, 0, 0.1)
            fill(module.running_var, 1, 0.1)
            module.num_batches_tracked.fill_(1)
        if getattr(module, "bias", None) is not None:
            fill(module.bias, 0, 0.1)
    return net.eval()
