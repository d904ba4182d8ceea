"""The layers of torchvision's and timm's networks, in the order in which the zoo's networks have theirs.

Each function takes the names in a state dict and yields the prefixes of the layers with parameters. `IDENTITY` stands
for a layer that the zoo has and the source has not, and that has to change nothing; `SHIFT` for one that
adds a constant, see `assign._shift_stem`.
"""

IDENTITY, SHIFT = "identity", "shift"


def _count(names, pattern):
    """How many consecutive numbers from 0 fill the gap of `pattern` so that a name begins with it."""
    number = 0
    while any(name.startswith(pattern.format(number) + ".") for name in names):
        number += 1
    return number


def _present(names, *prefixes):
    return [prefix for prefix in prefixes if f"{prefix}.weight" in names]


def resnet_v1(names):
    """torchvision's and timm's names are the same."""
    yield from ("conv1", "bn1")
    for stage in range(1, 5):
        for number in range(_count(names, f"layer{stage}.{{}}")):
            block = f"layer{stage}.{number}"
            steps = [f"{block}.{kind}{i}" for i in (1, 2, 3) for kind in ("conv", "bn")]
            yield from _present(names, *steps, f"{block}.downsample.0", f"{block}.downsample.1")
    yield "fc"


def resnet_v2(names):
    """timm's; it has no normalization before the first convolution and none after it."""
    yield from (IDENTITY, "stem.conv", SHIFT)
    for stage in range(4):
        for number in range(_count(names, f"stages.{stage}.blocks.{{}}")):
            block = f"stages.{stage}.blocks.{number}"
            steps = [f"{block}.{kind}{i}" for i in (1, 2, 3) for kind in ("norm", "conv")]
            yield from _present(names, *steps, f"{block}.downsample.conv")
    yield from ("norm", "head.fc")


def sequence(names):
    """AlexNet, VGG: `features` and `classifier` by their numbers; timm's VGG calls its first two dense layers fc."""
    for part in ("features", "classifier"):
        numbers = sorted({int(name.split(".")[1]) for name in names if name.startswith(f"{part}.")})
        yield from (f"{part}.{number}" for number in numbers)
    yield from _present(names, "pre_logits.fc1", "pre_logits.fc2", "head.fc")


def squeezenet(names):
    """The first convolution, then fire modules."""
    for number in sorted({int(name.split(".")[1]) for name in names if name.startswith("features.")}):
        step = f"features.{number}"
        yield from _present(names, step, f"{step}.squeeze", f"{step}.expand1x1", f"{step}.expand3x3")
    yield "classifier.1"


def densenet(names):
    """Older files have a dot inside the names of layers; `modern` takes it out."""
    yield from ("features.conv0", "features.norm0")
    for block in range(1, 5):
        number = 1
        while f"features.denseblock{block}.denselayer{number}.conv1.weight" in names:
            layer = f"features.denseblock{block}.denselayer{number}"
            yield from (f"{layer}.{kind}{i}" for i in (1, 2) for kind in ("norm", "conv"))
            number += 1
        yield from _present(names, f"features.transition{block}.norm", f"features.transition{block}.conv")
    yield from ("features.norm5", "classifier")


# Inception's branches in the zoo's order
_INCEPTION = {
    "A": "branch1x1 branch5x5_1 branch5x5_2 branch3x3dbl_1 branch3x3dbl_2 branch3x3dbl_3 branch_pool",
    "B": "branch3x3 branch3x3dbl_1 branch3x3dbl_2 branch3x3dbl_3",
    "C": "branch1x1 branch7x7_1 branch7x7_2 branch7x7_3 branch7x7dbl_1 branch7x7dbl_2 branch7x7dbl_3 branch7x7dbl_4 "
    "branch7x7dbl_5 branch_pool",
    "D": "branch3x3_1 branch3x3_2 branch7x7x3_1 branch7x7x3_2 branch7x7x3_3 branch7x7x3_4",
    "E": "branch1x1 branch3x3_1 branch3x3_2a branch3x3_2b branch3x3dbl_1 branch3x3dbl_2 branch3x3dbl_3a "
    "branch3x3dbl_3b branch_pool",
}
_MIXED = dict(zip(("5b", "5c", "5d", "6a", "6b", "6c", "6d", "6e", "7a", "7b", "7c"), "AAABCCCCDEE", strict=True))
_STEM = ("Conv2d_1a_3x3", "Conv2d_2a_3x3", "Conv2d_2b_3x3", "Conv2d_3b_1x1", "Conv2d_4a_3x3")


def inception(names):
    """Without the auxiliary classifier, which the zoo's network has not."""
    branches = [f"Mixed_{name}.{branch}" for name, kind in _MIXED.items() for branch in _INCEPTION[kind].split()]
    for layer in (*_STEM, *branches):
        yield from (f"{layer}.conv", f"{layer}.bn")
    yield "fc"


def mobilenet_v1(names):
    """timm's names, or one sequence called `model` of sequences."""
    if "conv_stem.weight" not in names:
        for number in range(_count(names, "model.{}")):
            yield from _present(names, *(f"model.{number}.{i}" for i in (0, 1, 3, 4)))
        yield "fc"
        return
    yield from ("conv_stem", "bn1")
    for stage in range(_count(names, "blocks.{}")):
        for number in range(_count(names, f"blocks.{stage}.{{}}")):
            yield from (f"blocks.{stage}.{number}.{step}" for step in ("conv_dw", "bn1", "conv_pw", "bn2"))
    yield "classifier"


def mobilenet_v2(names):
    """torchvision's and timm's names; the first block widens nothing, where the zoo's has a convolution."""
    yield from _mobilenet_v2_torchvision(names) if "features.0.0.weight" in names else _mobilenet_v2_timm(names)


def _mobilenet_v2_torchvision(names):
    yield from ("features.0.0", "features.0.1", IDENTITY, IDENTITY)
    last = _count(names, "features.{}") - 1
    for number in range(1, last):
        block = f"features.{number}.conv"
        yield from _present(names, *(f"{block}.{step}" for step in ("0.0", "0.1", "1.0", "1.1", "1", "2", "3")))
    yield from (f"features.{last}.0", f"features.{last}.1", "classifier.1")


def _mobilenet_v2_timm(names):
    yield from ("conv_stem", "bn1", IDENTITY, IDENTITY)
    for stage in range(_count(names, "blocks.{}")):
        for number in range(_count(names, f"blocks.{stage}.{{}}")):
            steps = ("conv_dw", "bn1", "conv_pw", "bn2")
            if f"blocks.{stage}.{number}.conv_pwl.weight" in names:
                steps = ("conv_pw", "bn1", "conv_dw", "bn2", "conv_pwl", "bn3")
            yield from (f"blocks.{stage}.{number}.{step}" for step in steps)
    yield from ("conv_head", "bn2", "classifier")
