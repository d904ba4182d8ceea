"""Record graphs of `mx.np` functions as MXNet 1.9.1 writes them, and what they compute: run with real MXNet."""

import gzip
import json
import sys

import numpy as onp

import mxnet as mx

EXPRESSIONS = """
F.np.pad(a, ((1, 1), (0, 0), (2, 0)))
F.np.pad(a, ((1, 1), (0, 0), (2, 0)), mode='edge')
F.np.pad(a, ((1, 1), (0, 2), (2, 3)), mode='reflect')
F.np.pad(a, ((3, 1), (0, 2), (2, 3)), mode='symmetric')
F.np.pad(a, ((1, 1), (0, 0), (2, 0)), mode='maximum')
F.np.pad(a, ((1, 1), (0, 0), (2, 0)), mode='minimum')
F.np.average(a)
F.np.average(a, axis=1)
F.np.average(a, axis=(0, 1))
F.np.average(a, axis=1, returned=True)
F.np.average(a, axis=1, weights=a, returned=True)
F.np.ediff1d(a)
F.np.ediff1d(a, to_begin=1.5, to_end=a)
F.np.ediff1d(a, to_begin=a, to_end=2)
F.np.hsplit(a, 3)
F.np.hsplit(a, (1, 2))
F.np.vsplit(a, 2)
F.np.dsplit(a, 2)
F.np.dsplit(a, (1, 2))
F.np.split(a, [1, 2], axis=2)
F.np.split(a, 2, axis=2)
F.np.array_split(a, 3, axis=2)
F.np.atleast_1d(a)
F.np.atleast_2d(a[0, 0, 0], a[0, 0])
F.np.atleast_3d(a[0, 0, 0], a[0, 0], a[0])
F.np.insert(a, 1, a[0], axis=0)
F.np.percentile(a, 30, axis=1)
F.np.percentile(a, 30, axis=1, interpolation='lower', keepdims=True)
F.np.percentile(a, 30, axis=(0, 1), interpolation='midpoint')
F.np.percentile(a, 50, axis=2, interpolation='nearest')
F.np.quantile(a, 0.3)
F.np.unique(a.astype('int32'))
F.np.unique(a.astype('int32') % 5, True, True, True)
F.np.unique(a % 2, axis=1)
F.np.where(a > 3, a, 0)
F.np.where(a > 3, 1, a)
F.np.where(a > 3, 1.5, 0.0)
F.np.where(a > 3, a.astype('int32'), 0.5)
F.np.where(a > 3, a, -a)
F.np.flip(a)
F.np.flip(a, axis=(0, 2))
F.np.append(a, a)
F.np.append(a, a, axis=1)
F.np.take(a, a % 3, axis=1)
F.np.take(a, a - 1, mode='wrap')
F.np.take(a, F.np.zeros(()), axis=1)
F.np.repeat(a, 2, 1)
F.np.repeat(a, 2)
F.np.tile(a, (2, 1))
F.np.clip(a, 2, 5)
F.np.clip(a, None, 5)
F.np.ravel(a)
F.np.linalg.norm(a)
F.np.linalg.norm(a, axis=1)
F.np.linalg.norm(a, ord=2, axis=1)
F.np.linalg.norm(a, ord=1, axis=1, keepdims=True)
F.np.linalg.norm(a, ord='inf', axis=1)
F.np.linalg.norm(a, ord='fro', axis=(1, 2))
F.np.linalg.norm(a, ord='nuc', axis=(1, 2))
F.np.linalg.norm(a, ord=3, axis=1)
F.np.linalg.norm(a, ord=1, axis=(0, 1))
F.np.swapaxes(a, 0, 1)
F.np.expand_dims(a, -1)
F.np.diag_indices_from(F.np.dot(a[0], a[0].T))[1]
F.np.concatenate([a, a], axis=None)
F.np.concatenate([a, a], axis=-1)
F.np.stack([a, a], axis=1)
F.np.hstack([a, a])
F.np.vstack((a, a))
F.np.dstack((a, a))
F.np.column_stack((a, a))
F.np.std(a, axis=1, ddof=1)
F.np.var(a)
F.np.mean(a)
F.np.mean(a, axis=(0, 1), keepdims=True)
F.np.sum(a)
F.np.sum(a, axis=1, keepdims=True)
F.np.sum(a, axis=None)
F.np.prod(a, axis=2)
F.np.max(a, axis=(0, 1))
F.np.any(a, axis=1)
F.np.all(a)
F.np.transpose(a)
F.np.transpose(a, (2, 0, 1))
F.np.reshape(a, (-1, 2))
F.np.squeeze(a[:, :1])
F.np.broadcast_to(a, (5, 2, 3, 4))
F.np.argmax(a, axis=1)
F.np.argmin(a)
F.np.argsort(-a)
F.np.sort(-a)
F.np.cumsum(a, axis=1)
F.np.tril(a)
F.np.dot(a, a[0].T)
F.np.matmul(a, a.transpose(0, 2, 1))
F.np.tensordot(a, a, [[0, 1], [0, 1]])
F.np.einsum('ijk->kj', a)
F.np.full_like(a, 2)
F.np.zeros_like(a)
F.np.zeros((2, 3)) + a[:, :, 0]
F.np.ones((2, 3), dtype='float64')
F.np.arange(4) + a
F.np.linspace(0, 1, 4) + a
F.np.eye(4) + a[0, 0]
F.np.full((4,), 3) + a
F.np.around(a / 3, 1)
F.np.rot90(a)
F.np.roll(a, 1)
F.np.roll(a, (1, 2), axis=(0, 2))
F.np.moveaxis(a, 0, 1)
F.np.inner(a, a)
F.np.outer(a[0, 0], a[1, 0])
F.np.diff(a)
F.np.nan_to_num(a)
F.np.power(a, 2)
F.np.maximum(a, 2)
F.np.minimum(2, a)
F.np.maximum(a, -a)
F.np.arctan2(a, 2)
F.np.logspace(0, 1, 4) + a
F.np.identity(4) + a[0, 0]
F.np.polyval(a[0, 0], a)
F.np.diag(a[0, 0], 1)
F.np.diagflat(a[0, 0])
F.np.diagonal(a)
F.np.trace(a)
F.np.vdot(a, a)
F.np.logical_not(a - 1)
F.np.isnan(a)
F.np.sqrt(a) + F.np.exp(-a) + F.np.log1p(a)
a.reshape(-1, 2)
a[0]
a[:, 1:2]
a[0, 1]
a[0, 1, 2]
a[:, ::-1]
a[-1, 1:, -2]
a.astype('int32')
a > 3
-a / 2 + 2 / a - a % 2 * a**2
1 - a
2**(a / 10)
a.argmax(axis=1)
a.T
F.npx.softmax(a)
F.npx.log_softmax(a, axis=1)
F.npx.relu(a - 5)
F.npx.sigmoid(a)
F.npx.one_hot(a, 4)
F.npx.pick(a, a[:, :, 0], axis=2)
F.npx.topk(a, k=2)
F.npx.topk(a, k=2, ret_typ='both')
F.npx.reshape(a, (-2, -1))
F.npx.reshape(a, (-6, 1, 2, -5))
F.npx.batch_dot(a, a, transpose_b=True)
F.npx.nonzero(a)
F.npx.leaky_relu(a - 5, act_type='gelu')
F.npx.arange_like(a, axis=1)
F.npx.cast(a, dtype='int32')
F.npx.activation(a, act_type='tanh')
F.npx.batch_flatten(a)
F.npx.sequence_mask(a, F.np.ones((3,)), use_sequence_length=True)
F.npx.layer_norm(a, F.np.ones((4,)), F.np.zeros((4,)))
F.npx.fully_connected(a, F.np.ones((5, 4)), None, num_hidden=5, no_bias=True, flatten=False)
F.npx.smooth_l1(a)
F.npx.reshape_like(a, F.np.zeros((4, 6)))
""".strip().splitlines()


def main(path):
    mx.npx.set_np()
    data = (onp.arange(24).reshape(2, 3, 4) * 5 % 23 + 1).astype("float32")
    array, symbol, graphs = mx.np.array(data), mx.sym.var("a").as_np_ndarray(), []
    for text in EXPRESSIONS:
        made = eval(text, {"F": mx.sym, "a": symbol})
        made = mx.sym.Group(list(made)) if isinstance(made, (list, tuple)) else made
        found = eval(text, {"F": mx.nd, "a": array})
        found = [f.asnumpy() for f in (found if isinstance(found, (list, tuple)) else [found])]
        outputs = [[str(f.dtype), list(f.shape), f.reshape(-1).astype("float64").round(5).tolist()] for f in found]
        graphs.append({"text": text, "graph": json.loads(made.tojson()), "outputs": outputs})
    with gzip.GzipFile(path, "wb", mtime=0) as file:
        file.write(json.dumps({"data": data.tolist(), "graphs": graphs}, separators=(",", ":")).encode())


if __name__ == "__main__":
    main(sys.argv[1])
