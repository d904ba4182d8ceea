"""Cases of operators that MXNet computes on a GPU only, or cannot be called in: expected results by NumPy."""

from pathlib import Path

import numpy as np

_random = np.random.RandomState(11)


def _real(*shape, dtype="float32"):
    return _random.uniform(-2, 2, shape).astype(dtype)


def _pairs(values):
    """Complex numbers as alternating real and imaginary parts."""
    return np.stack([values.real, values.imag], -1).reshape(*values.shape[:-1], -1).astype("float32")


def _sketch(data, bucket, sign, size):
    out = np.zeros((len(data), size), data.dtype)
    for i, (b, s) in enumerate(zip(bucket.ravel().astype(int), sign.ravel(), strict=True)):
        out[:, b] += s * data[:, i]
    return out


def _asymmetric(data, low, high):
    scale = np.float32(255 / (high - low))
    shift = np.float32(255 - high * scale)
    steps = np.clip(np.rint(data * scale + shift), 0, 255).astype("uint8")
    return steps, np.array([scale]), np.array([shift])


def _group_adagrad(weight, grad, history, lr, epsilon=1e-5):
    history = history + np.square(grad).mean(1, keepdims=True)
    return weight - lr * grad / np.sqrt(history + epsilon)


def _batch_norm(data, gamma, beta, mean, var):
    shape = (1, -1, 1, 1)
    return (data - mean.reshape(shape)) / np.sqrt(var.reshape(shape) + 1e-3) * gamma.reshape(shape) + beta.reshape(
        shape
    )


def _one(value):
    return np.array([value], "float32")


def _small(*shape):
    return _random.randint(-60, 61, shape).astype("int8")


def _bits(*shape):
    return _random.randint(0, 256, shape).astype("uint8")


def _products(step):
    """The range of 32-bit sums in steps of this size."""
    return _one(-step * 2**31), _one(step * 2**31)


def _sums(data, weight, *ends):
    """Convolution of a 2x2 kernel in whole numbers."""
    size = data.shape[2] - 1
    patches = [data[:, :, i : i + size, j : j + size].astype("int32") for i in (0, 1) for j in (0, 1)]
    kernels = [weight[:, :, i, j].astype("int32") for i in (0, 1) for j in (0, 1)]
    sums = sum(np.einsum("nchw,oc->nohw", p, k) for p, k in zip(patches, kernels, strict=True))
    return [sums.astype("int32"), *_products(ends[1][0] / 255 * (ends[3][0] / 127))]


_convolved = [_bits(1, 2, 4, 4), _small(3, 2, 2, 2), _one(0.0), _one(2.0), _one(-3.0), _one(3.0)]
_factors = [_small(2, 4), _small(2, 4), _one(-2.0), _one(2.0), _one(-3.0), _one(3.0)]
_cell = _real(1, 2, 2)
_signal, _spectrum = _real(3, 8), _real(3, 8)
_sketched = _real(2, 5), np.array([[0, 2, 1, 2, 0]], "float32"), np.array([[1, -1, 1, 1, -1]], "float32")
_quantized = _real(2, 4)
_head, _data = _real(2, 3), _real(2, 3)
_old, _index, _new, _back = _real(4, 2), np.array([3, 1], "float32"), _real(2, 2), _real(4, 2)
_kept = np.array(_back)
_kept[[3, 1]] = 0
_weight, _grad, _history = _real(3, 4), _real(3, 4), np.abs(_real(3, 1))
_normalized = _real(2, 3, 4, 4), np.abs(_real(3)), _real(3), _real(3), np.abs(_real(3)) + 0.5
_picture = Path(__file__).resolve().parent.parent / "data" / "pixels.png"
_bytes = np.frombuffer(_picture.read_bytes(), "uint8")
_pixels = np.random.RandomState(5).randint(0, 256, (4, 5, 3)).astype("uint8")  # what the file was made from
_filled = np.array(_data)
_filled[[0, 1], [1, 2]] = [5, 6]

# operator: (attributes, inputs, outputs)
CASES = {
    "_contrib_fft": [({}, [_signal], [_pairs(np.fft.fft(_signal))])],
    "_contrib_ifft": [
        ({}, [_spectrum], [(np.fft.ifft(_spectrum[:, ::2] + 1j * _spectrum[:, 1::2]).real * 4).astype("float32")])
    ],
    "_contrib_count_sketch": [({"out_dim": 3}, _sketched, [_sketch(*_sketched, 3)])],
    "_contrib_getnnz": [({}, [np.array([[0, 1, 2], [0, 0, 3]], "float32")], [np.array([3])])],
    "_contrib_quantize_asym": [
        ({}, [_quantized], _asymmetric(_quantized, _quantized.min(), _quantized.max())),
        ({"min_calib_range": -1.0, "max_calib_range": 1.5}, [_quantized], _asymmetric(_quantized, -1.0, 1.5)),
    ],
    "_contrib_group_adagrad_update": [
        ({"lr": 0.1}, [_weight, _grad, _history], [_group_adagrad(_weight, _grad, _history, 0.1)])
    ],
    "_contrib_backward_quadratic": [({"a": 2.0, "b": 1.0}, [_head, _data], [_head * (4 * _data + 1)])],
    "_contrib_backward_gradientmultiplier": [({"scalar": 3.0}, [_head], [_head * 3])],
    "_contrib_backward_index_copy": [({}, [_back, _old, _index, _new], [_kept, np.zeros(2, "float32"), _back[[3, 1]]])],
    "_contrib_SparseEmbedding": [
        (
            {"input_dim": _old.shape[0], "output_dim": _old.shape[1], "deterministic": True},
            [np.array([3, 0, 3], "float32"), _old],
            [_old[[3, 0, 3]]],
        )
    ],
    "_sparse_retain": [({}, [_old, np.array([0, 2], "float32")], [_old * np.array([[1], [0], [1], [0]], "float32")])],
    "_sparse_adagrad_update": [
        (
            {"lr": 0.1},
            [_weight, _grad, np.abs(_weight)],
            [_weight - 0.1 * _grad / np.sqrt(np.abs(_weight) + _grad**2 + np.float32(1e-7))],
        )
    ],
    "reset_arrays": [({"num_arrays": 2}, [_head, _data], [])],
    "_cvimdecode": [({}, [_bytes], [_pixels]), ({"to_rgb": False}, [_bytes], [_pixels[:, :, ::-1]])],
    "_cvimread": [({"filename": str(_picture)}, [], [_pixels])],
    "_imdecode": [
        (
            {"index": 0, "x0": 1, "y0": 0, "x1": 4, "y1": 3, "c": 3, "size": _bytes.size, "str_img": _bytes.tobytes()},
            [np.zeros(1, "float32")],
            [_pixels[:3, 1:4].transpose(2, 0, 1)[None].astype("float32")],
        )
    ],
    "BatchNorm_v1": [({"fix_gamma": False}, _normalized, [_batch_norm(*_normalized)])],
    "IdentityAttachKLSparseReg": [({}, [np.abs(_data), np.abs(_real(3))], [np.abs(_data)])],
    "_CrossDeviceCopy": [({}, [_data], [_data])],
    "_broadcast_backward": [({"axis": 1, "keepdims": True}, [_data], [_data.sum(1, keepdims=True)])],
    "_split_v2_backward": [({"indices": (0, 2), "axis": 1}, [_data, _head], [np.concatenate([_data, _head], 1)])],
    "_scatter_set_nd": [
        ({"shape": (2, 3)}, [_data, np.array([5, 6], "float32"), np.array([[0, 1], [1, 2]], "int64")], [_filled])
    ],
    "_set_value": [({"src": 2.5, "shape": (2,)}, [], [np.full(2, 2.5, "float32")])],
    "_square_sum": [({"axis": 1, "keepdims": True}, [_data], [np.square(_data).sum(1, keepdims=True)])],
    "_zeros_without_dtype": [({"shape": (2, 3)}, [], [np.zeros((2, 3), "float32")])],
    "amp_multicast": [
        ({"num_outputs": 2}, [_data.astype("float16"), _head], [_data.astype("float16").astype("float32"), _head])
    ],
    # MXNet's CPU kernel takes no signed data, adds a bias without its scale and takes unsigned data for signed.
    "_contrib_quantized_conv": [
        ({"kernel": (2, 2), "num_filter": 3, "no_bias": True}, _convolved[:6], _sums(*_convolved)),
        (
            {"kernel": (2, 2), "num_filter": 3},
            [*_convolved[:2], _small(3), *_convolved[2:], _one(-0.0), _one(0.0)],
            _sums(*_convolved),
        ),
    ],
    # MXNet 1.9.1 cannot infer the shape of this one outside of a graph.
    "_contrib_quantized_elemwise_mul": [
        ({}, _factors, [_factors[0].astype("int32") * _factors[1], *_products(2 / 127 * (3 / 127))]),
        (
            {"enable_float_output": True},
            _factors,
            [(_factors[0] * (2 / 127.5) * _factors[1] * (3 / 127.5)).astype("float32")],
        ),
        (
            {"min_calib_range": -4.0, "max_calib_range": 4.5},
            _factors,
            [np.trunc(_factors[0] * 2.0 * _factors[1] * 3.0 / 127.5 / 4.5).astype("int8"), _one(-4.0), _one(4.5)],
        ),
    ],
    # One step: no weights but zeros, so that the state alone counts.
    "_contrib_quantized_rnn": [
        (
            {"state_size": 2, "num_layers": 1, "mode": "lstm"},
            [_bits(1, 2, 3), np.zeros(56, "float32"), np.zeros((1, 2, 2), "float32"), _cell, _one(10.0), _one(128.0)],
            [0.5 * np.tanh(0.5 * _cell)],
        )
    ],
}
