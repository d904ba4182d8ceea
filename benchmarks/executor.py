"""Bound symbols beside the same networks written in torch functions: forward, and forward with backward.

python benchmarks/executor.py            a line per network and mode: torch, ReMX, overhead
python benchmarks/executor.py --memory   activations kept by a chain, with and without mirroring
"""

import argparse
import os
import statistics
import time

import numpy as np
import torch
import torch.nn.functional as F

import mxnet as mx


def mlp():
    x = mx.sym.var("data")
    for i, width in enumerate((256, 128), 1):
        x = mx.sym.Activation(mx.sym.FullyConnected(x, num_hidden=width, name=f"fc{i}"), act_type="relu")
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(x, num_hidden=10, name="fc3"), name="softmax"), (128, 784)


def mlp_torch(p, x):
    x = F.relu(F.linear(x, p["fc1_weight"], p["fc1_bias"]))
    x = F.relu(F.linear(x, p["fc2_weight"], p["fc2_bias"]))
    return F.linear(x, p["fc3_weight"], p["fc3_bias"])


def lenet():
    x = mx.sym.var("data")
    for i, filters in enumerate((20, 50), 1):
        x = mx.sym.Activation(mx.sym.Convolution(x, kernel=(5, 5), num_filter=filters, name=f"c{i}"), act_type="tanh")
        x = mx.sym.Pooling(x, pool_type="max", kernel=(2, 2), stride=(2, 2))
    x = mx.sym.Activation(mx.sym.FullyConnected(mx.sym.Flatten(x), num_hidden=500, name="fc1"), act_type="tanh")
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(x, num_hidden=10, name="fc2"), name="softmax"), (64, 1, 28, 28)


def lenet_torch(p, x):
    x = F.max_pool2d(torch.tanh(F.conv2d(x, p["c1_weight"], p["c1_bias"])), 2, 2)
    x = F.max_pool2d(torch.tanh(F.conv2d(x, p["c2_weight"], p["c2_bias"])), 2, 2)
    x = torch.tanh(F.linear(x.flatten(1), p["fc1_weight"], p["fc1_bias"]))
    return F.linear(x, p["fc2_weight"], p["fc2_bias"])


def once(step):
    """Seconds of processor time: what others do on the machine does not count."""
    start = time.process_time()
    step()
    return time.process_time() - start


def compare(name, ours, theirs, rounds):
    """Alternate the two, so that what else the machine does touches both."""
    for _ in range(20):
        ours(), theirs()
    ratios, a, b = [], [], []
    for _ in range(rounds):
        b.append(once(theirs))
        a.append(once(ours))
        ratios.append(a[-1] / b[-1])
    print(
        f"{name:24s} torch {statistics.median(b) * 1e6:9.1f} us   ReMX {statistics.median(a) * 1e6:9.1f} us   "
        f"overhead {100 * (statistics.median(ratios) - 1):+.1f}%"
    )


def bench(name, make, direct, rounds):
    symbol, shape = make()
    parameters = [n for n in symbol.list_arguments() if n not in ("data", "softmax_label")]
    executor = symbol.simple_bind(mx.cpu(), data=shape, grad_req=dict.fromkeys(parameters, "write"))
    random = np.random.RandomState(0)
    for array in executor.arg_arrays:
        array[:] = random.uniform(-0.1, 0.1, array.shape)
    executor.arg_dict["softmax_label"][:] = random.randint(0, 10, shape[0])
    tensors = {n: torch.tensor(a.asnumpy()) for n, a in executor.arg_dict.items()}
    data, label = tensors.pop("data"), tensors.pop("softmax_label").long()
    for t in tensors.values():
        t.requires_grad_()

    def infer():
        with torch.no_grad():
            return torch.softmax(direct(tensors, data), 1)

    def train():
        scores = direct(tensors, data)
        torch.softmax(scores.detach(), 1)  # the executor hands out probabilities, too
        loss = F.cross_entropy(scores, label, reduction="sum")
        for t in tensors.values():
            t.grad = None
        loss.backward()

    def train_ours():
        executor.forward(is_train=True)
        executor.backward()

    compare(f"{name} forward", lambda: executor.forward(), infer, rounds)
    compare(f"{name} forward+backward", train_ours, train, rounds)


def kept(depth, mirror):
    """MiB of activations that the backward pass of a chain keeps."""
    os.environ["MXNET_BACKWARD_DO_MIRROR"] = str(int(mirror))
    x = mx.sym.var("data")
    for i in range(depth):
        x = mx.sym.Activation(mx.sym.FullyConnected(x, num_hidden=64, name=f"fc{i}"), act_type="tanh")
    executor = mx.sym.LinearRegressionOutput(x, name="out").simple_bind(mx.cpu(), data=(256, 64))
    seen = {}

    def pack(tensor):
        if tensor.shape[:1] == (256,):
            seen[tensor.data_ptr()] = tensor.numel() * tensor.element_size()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        executor.forward(is_train=True)
    executor.backward()
    return sum(seen.values()) / 2**20


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--rounds", type=int, default=300)
    args = parser.parse_args()
    if args.memory:
        for depth in (25, 50, 100, 200, 400):
            print(f"{depth:4d} layers: {kept(depth, False):7.2f} MiB kept, {kept(depth, True):6.2f} MiB with mirroring")
        return
    bench("MLP", mlp, mlp_torch, args.rounds)
    bench("LeNet", lenet, lenet_torch, args.rounds)


if __name__ == "__main__":
    main()
