"""Writes docs/messages.md: each mistake of tests/test_messages.py, made for real, with the message it gives."""

import inspect
import os
import sys
import tempfile
import textwrap
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

import test_messages as mistakes  # noqa: E402 - found by the line above

TITLES = {
    "data_elsewhere": "The data is on another device than the network",
    "not_initialized": "`initialize` was forgotten",
    "touched_early": "A parameter is read before the first batch",
    "other_input_size": "The input has another size than the layer was made for",
    "pictures_with_channels_last": "Pictures with their channels last",
    "mixed_dtypes": "Two dtypes in one operation",
    "numpy_into_a_network": "A NumPy array goes into a network",
    "written_while_recording": "Writing into an array while recording",
    "nothing_recorded": "`record` was forgotten",
    "backward_twice": "`backward` twice on the same graph",
    "step_without_backward": "A step without a new gradient",
    "parameter_missing_in_file": "A parameter is missing in a file",
    "parameter_of_another_shape": "A parameter in a file has another shape",
    "another_prefix": "The file was saved by a network of another prefix",
    "no_such_file": "There is no such file",
    "label_of_another_length": "More or fewer labels than predictions",
    "label_of_another_shape": "Labels of another shape than the predictions",
    "gpu_that_is_not_there": "A GPU is asked for where there is none",
    "branch_on_a_symbol": "`if` on a value in `hybrid_forward`",
    "shape_of_a_symbol": "`x.shape` in `hybrid_forward`",
    "samples_of_different_shapes": "Samples of different shapes in one batch",
    "argument_misspelt": "An argument is misspelt",
    "products_that_do_not_fit": "Matrices that do not fit",
    "scalar_of_many": "`asscalar` of many numbers",
    "module_not_bound": "A Module is used before `bind`",
}
HEAD = """# Mistakes and their messages

The mistakes that users of MXNet make most, the code that makes each, and what ReMX says. The class of every error is
MXNet's, and so are its words; what to do is added at the end. The texts are made by `docs/make_messages.py`, and
`tests/test_messages.py` holds them.

```text
def dense(**names):                       # used below
    net = nn.Dense(3, in_units=4, **names)
    net.initialize()
    return net
```
"""
TAIL = """
## The loss becomes NaN
There is no message: like MXNet, ReMX computes on. `MXNET_CHECK_NAN=1 python train.py` raises at the first operator that
makes a NaN, with its name, the ranges of its inputs and the block. By hand, layer after layer:

```python
import mxnet as mx
from mxnet import nd
from mxnet.gluon import nn

net = nn.HybridSequential()
net.add(nn.Dense(4), nn.HybridLambda("log"), nn.Dense(2))
net.initialize(mx.init.Normal(1))
x = nd.ones((2, 3))
for layer in net:
    x = layer(x)
    if not nd.contrib.isfinite(x).min().asscalar():
        print(f"the output of {layer.name} is not finite")
        break
```

Usual causes: a learning rate that is too large, the logarithm of zero (add a small number first), or `float16` without
loss scaling.
"""


def message(mistake):
    """Make the mistake; the class and the words it gives."""
    try:
        mistake()
    except Exception as error:  # every class of failure is wanted here
        return f"{type(error).__name__}: {error}"
    raise SystemExit(f"{mistake.__name__} is no mistake any more")


def section(mistake):
    body = textwrap.dedent(inspect.getsource(mistake).split("\n", 1)[1]).rstrip()
    lines = message(mistake).splitlines()
    words = [textwrap.wrap(line, 116, break_long_words=False, break_on_hyphens=False) or [""] for line in lines]
    text = "\n".join(line for wrapped in words for line in wrapped)
    return f"\n## {TITLES[mistake.__name__]}\n```text\n{body}\n```\n```text\n{text}\n```\n"


def main():
    os.environ.pop("MXNET_VIRTUAL_GPUS", None)
    os.chdir(tempfile.mkdtemp())
    sections = [section(mistake) for mistake in mistakes.MISTAKES]
    (ROOT / "docs" / "messages.md").write_text(HEAD + "".join(sections) + TAIL, encoding="utf-8")


if __name__ == "__main__":
    main()
