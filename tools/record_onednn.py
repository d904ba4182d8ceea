"""Record what MXNet's oneDNN backend makes of a network: fused in reals and in 8 bits, each with all its outputs.

Run it with MXNet 1.9.1 on the CPU: python tools/record_onednn.py tests/data/onednn
Three files for each way of a network of convolutions, and of one of attention: `-symbol.json` and `-0000.params` as
MXNet writes them, `.npz` with the input `data` and the value of every output. Every second channel of each weight and
of the keys is zero, and attention is sharp, as processors without 8-bit dot products add products in pairs of 16 bits.
"""

import os
import sys

import numpy as np

import mxnet as mx
from mxnet.contrib.quantization import quantize_net_v2
from mxnet.gluon import nn

FOLDER = sys.argv[1]
WAYS = [("calibrated", "naive", "tensor-wise"), ("channels", "naive", "channel-wise"), ("open", "none", "tensor-wise")]
HEADS, SIZE = 2, 4  # of the attention


class Network(nn.HybridBlock):
    """A bit of all that is fused."""

    def __init__(self):
        super().__init__(prefix="net_")
        with self.name_scope():
            self.conv0, self.norm0 = nn.Conv2D(6, 3, padding=1, use_bias=False), nn.BatchNorm()
            self.conv1, self.norm1 = nn.Conv2D(6, 3, padding=1), nn.BatchNorm(scale=False)
            self.conv2, self.conv3, self.conv4 = nn.Conv2D(4, 1), nn.Conv2D(6, 3, strides=2), nn.Conv2D(4, 1)
            self.pool, self.pool1 = nn.MaxPool2D(), nn.MaxPool2D()
            self.dense0, self.dense1 = nn.Dense(6, activation="relu"), nn.Dense(5)
            self.dense2 = nn.Dense(3, use_bias=False)

    def hybrid_forward(self, F, x):
        a = F.Activation(self.norm0(self.conv0(x)), act_type="relu")
        b = F.Activation(self.norm1(self.conv1(a)) + a, act_type="relu")
        c = F.concat(self.pool(b), self.pool1(F.clip(self.conv2(a), 0, 1.5)), dim=1)
        leaky = F.LeakyReLU(self.conv4(a), slope=0.25)
        return self.dense1(self.dense0(c)), F.LeakyReLU(self.dense2(c), act_type="gelu"), self.conv3(a), leaky


class Attention(nn.HybridBlock):
    """Self-attention whose queries, keys and values lie side by side, as in GluonNLP's BERT."""

    def __init__(self):
        super().__init__(prefix="net_")
        with self.name_scope():
            self.dense0 = nn.Dense(3 * HEADS * SIZE, flatten=False, in_units=HEADS * SIZE)
            self.dense1 = nn.Dense(HEADS * SIZE, flatten=False, in_units=HEADS * SIZE)

    def hybrid_forward(self, F, x):
        joined = self.dense0(x)
        weights = F.softmax(F.contrib.interleaved_matmul_selfatt_qk(joined, heads=HEADS), axis=-1)
        return self.dense1(F.contrib.interleaved_matmul_selfatt_valatt(joined, weights, heads=HEADS))


def without_odd_keys(value):
    """Rows of a weight, or elements of a bias, that make every second channel of the keys are zero."""
    value.reshape((HEADS, 3, SIZE, -1))[:, 1, 1::2] = 0


def filled(data, net):
    random = np.random.RandomState(3)
    net.initialize()
    net(data)
    for name, parameter in sorted(net.collect_params().items()):
        positive = name.endswith(("var", "gamma"))
        value = random.uniform(0.5, 1, parameter.shape) if positive else random.uniform(-0.3, 0.3, parameter.shape)
        if name.endswith("weight"):
            value[:, 1::2] = 0
        if isinstance(net, Attention) and "dense0" in name:
            without_odd_keys(value)
        parameter.set_data(mx.nd.array(value))
    return net


def record(name, symbol, parameters, data):
    """The files of a symbol and of what it computes."""
    states = set(symbol.list_auxiliary_states())
    path = os.path.join(FOLDER, name)
    symbol.save(path + "-symbol.json")
    mx.nd.save(path + "-0000.params", {("aux:" if k in states else "arg:") + k: v for k, v in parameters.items()})
    values = {"data": data.asnumpy()}
    inside = symbol.get_internals()
    names = [n for n in inside.list_outputs() if n not in parameters and n != "data"]
    given = dict(parameters, data=data)
    for output in names:
        part = inside[output]
        arguments = {n: given[n] for n in part.list_arguments()}
        aux = {n: given[n] for n in part.list_auxiliary_states()}
        executor = part.bind(mx.cpu(), arguments, aux_states=aux, grad_req="null")
        values[output] = executor.forward()[0].asnumpy()
    np.savez_compressed(path + ".npz", **values)


def values(block):
    return {name: parameter.data() for name, parameter in block.collect_params().items()}


def record_all(prefix, net, data, ways):
    """Every way of a network."""
    net = filled(data, net)
    outputs = net(mx.sym.var("data"))
    symbol = mx.sym.Group(list(outputs)) if isinstance(outputs, (list, tuple)) else outputs
    record(prefix + "reals", symbol.get_backend_symbol("MKLDNN"), values(net), data)
    batches = mx.gluon.data.DataLoader(mx.gluon.data.ArrayDataset(data, mx.nd.zeros(len(data))), batch_size=len(data))
    for name, mode, granularity in ways:
        made = quantize_net_v2(
            net, quantized_dtype="auto", quantize_mode="smart", quantize_granularity=granularity, calib_mode=mode,
            calib_data=batches,
        )  # fmt: skip
        made(data)
        record(prefix + name, made._cached_graph[1], values(made), data)


def main():
    random = np.random.RandomState(7)
    record_all("", Network(), mx.nd.array(random.uniform(0, 1, (2, 4, 8, 8))), WAYS)
    data = mx.nd.array(random.uniform(-8, 8, (6, 3, HEADS * SIZE)))
    record_all("attention_", Attention(), data, WAYS[:1])  # MXNet cannot run it without calibration


if __name__ == "__main__":
    main()
