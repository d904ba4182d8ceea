"""Make random calls on real MXNet 1.9.1 and on ReMX, and list where the answers differ.

    python tools/compare_calls.py --reference PYTHON_WITH_MXNET --calls 2000 --seed 1 --report differences.json

A call is a line of text and some arrays, both drawn from the seed and the call's number. One process makes the calls of
one side and notes each answer at once; where it dies, the call counts as a crash, and the next process goes on behind.
Each difference belongs to a class: what ReMX refuses, and other shapes, types, values, gradients. Calls that MXNet
refuses, or that kill it, are counted only: there is nothing to compare with.
"""

import argparse
import collections
import contextlib
import json
import os
import pathlib
import pickle
import random
import re
import subprocess
import sys
import tempfile

import numpy as np

FLOATS = ("float32", "float32", "float64", "float16")
TYPES = (*FLOATS, "int32", "int64", "int8", "uint8", "bool")
SIDES = (0, 1, 1, 2, 2, 3, 4, 5)
TOLERANCES = {"float16": (1e-2, 1e-2), "float32": (2e-5, 1e-5), "float64": (1e-6, 1e-6)}  # relative, absolute

# -- what is called ----------------------------------------------------------------------------------------------------
# Group, names, text, arrays. `{f}` is a name, `a` to `d` are the arrays; the other words in braces are in WORDS.

UNARY = """abs arccos arccosh arcsin arcsinh arctan arctanh cbrt ceil cos cosh degrees erf exp expm1 fix floor gamma
gammaln log log10 log1p log2 logical_not negative radians rcbrt reciprocal relu rint round rsqrt sigmoid sign sin sinh
softsign sqrt square tan tanh trunc ones_like zeros_like identity BlockGrad make_loss shape_array size_array Flatten
hard_sigmoid softmin erfinv amp_multicast""".split()
BINARY = """broadcast_add broadcast_sub broadcast_mul broadcast_div broadcast_mod broadcast_power broadcast_maximum
broadcast_minimum broadcast_hypot broadcast_equal broadcast_not_equal broadcast_greater broadcast_greater_equal
broadcast_lesser broadcast_lesser_equal broadcast_logical_and broadcast_logical_or broadcast_logical_xor""".split()
ELEMENTWISE = "elemwise_add elemwise_sub elemwise_mul elemwise_div maximum minimum power modulo add_n arctan2".split()
REDUCTIONS = "sum mean prod nansum nanprod max min norm".split()
NP_UNARY = """abs absolute arccos arccosh arcsin arcsinh arctan arctanh cbrt ceil cos cosh degrees exp expm1 fix floor
invert isfinite isinf isnan isneginf isposinf log log10 log1p log2 logical_not negative rad2deg radians reciprocal rint
sign sin sinh sqrt square tan tanh trunc ravel copy ones_like zeros_like flatnonzero argmax argmin all any sum mean std
var max min prod cumsum nonzero unique diff flip fliplr flipud transpose squeeze atleast_1d atleast_2d
atleast_3d diag diagflat tril triu nan_to_num sort argsort median average shape expand_dims""".split()
NP_BINARY = """add subtract multiply true_divide mod power maximum minimum hypot arctan2 copysign equal not_equal
greater greater_equal less less_equal logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor lcm fmod
ldexp dot inner outer vdot kron matmul cross array_equal shares_memory append polyval""".split()
NP_REDUCTIONS = "sum mean prod max min std var argmax argmin all any cumsum".split()

CALLS = [
    ("nd", UNARY, "nd.{f}(a)", {"a": "any"}),
    ("nd", BINARY, "nd.{f}(a, b)", {"a": "any", "b": "broad"}),
    ("nd", ELEMENTWISE, "nd.{f}(a, b)", {"a": "any", "b": "same"}),
    ("nd", REDUCTIONS, "nd.{f}(a, axis={axes}, keepdims={bool})", {"a": "any"}),
    ("nd", REDUCTIONS[:-1], "nd.{f}(a, axis={axes}, exclude={bool})", {"a": "any"}),
    ("nd", ["argmax", "argmin"], "nd.{f}(a, axis={axis}, keepdims={bool})", {"a": "any"}),
    ("nd", ["sort", "argsort"], "nd.{f}(a, axis={axis}, is_ascend={bool})", {"a": "any"}),
    ("nd", ["value", "indices", "mask", "both"], "nd.topk(a, axis={axis}, k={int}, ret_typ='{f}', is_ascend={bool})",
     {"a": "any"}),
    ("nd", ["softmax", "log_softmax", "softmin"], "nd.{f}(a, axis={axis}, temperature={temperature})", {"a": "any"}),
    ("nd", ["+", "-", "*", "/", "%", "**", "==", "<", ">="], "a {f} {number}", {"a": "any"}),
    ("nd", ["+", "-", "*", "/", "%", "**"], "{number} {f} a", {"a": "any"}),
    ("nd", ["+", "-", "*", "/", "==", "<"], "a {f} b", {"a": "any", "b": "broad"}),
    ("nd", ["transpose"], "nd.transpose(a, axes={order})", {"a": "any"}),
    ("nd", ["reshape"], "nd.reshape(a, shape={newshape})", {"a": "any"}),
    ("nd", ["expand_dims"], "nd.expand_dims(a, axis={axis})", {"a": "any"}),
    ("nd", ["flip", "reverse"], "nd.{f}(a, axis={axis})", {"a": "any"}),
    ("nd", ["tile"], "nd.tile(a, reps={reps})", {"a": "any"}),
    ("nd", ["repeat"], "nd.repeat(a, repeats={int}, axis={axis})", {"a": "any"}),
    ("nd", ["slice"], "nd.slice(a, begin={begin}, end={end})", {"a": "any"}),
    ("nd", ["slice_axis"], "nd.slice_axis(a, axis={axis}, begin={int}, end={end1})", {"a": "any"}),
    ("nd", ["clip"], "nd.clip(a, {number}, {number})", {"a": "any"}),
    ("nd", ["concat"], "nd.concat(a, b, dim={axis})", {"a": "any", "b": "same"}),
    ("nd", ["stack"], "nd.stack(a, b, axis={axis})", {"a": "any", "b": "same"}),
    ("nd", ["where"], "nd.where(a, b, c)", {"a": "any", "b": "same", "c": "same"}),
    ("nd", ["take"], "nd.take(a, b, axis={axis}, mode='{takemode}')", {"a": "any", "b": "index"}),
    ("nd", ["pick"], "nd.pick(a, b, axis={axis}, keepdims={bool})", {"a": "any", "b": "index"}),
    ("nd", ["one_hot"], "nd.one_hot(a, depth={int}, on_value={number}, dtype='{dtype}')", {"a": "index"}),
    ("nd", ["Embedding"], "nd.Embedding(a, b, input_dim={rows}, output_dim={columns})", {"a": "index", "b": "matrix"}),
    ("nd", ["gather_nd"], "nd.gather_nd(a, b)", {"a": "any", "b": "places"}),
    ("nd", ["cast"], "nd.cast(a, dtype='{dtype}')", {"a": "any"}),
    ("nd", ["swapaxes"], "nd.swapaxes(a, {axis}, {axis})", {"a": "any"}),
    ("nd", ["split"], "nd.split(a, num_outputs={int}, axis={axis}, squeeze_axis={bool})", {"a": "any"}),
    ("nd", ["broadcast_to"], "nd.broadcast_to(a, shape={newshape})", {"a": "any"}),
    ("nd", ["broadcast_axis"], "nd.broadcast_axis(a, axis={axis}, size={int})", {"a": "any"}),
    ("nd", ["smooth_l1"], "nd.smooth_l1(a, scalar={number})", {"a": "any"}),
    ("nd", ["diag"], "nd.diag(a, k={small})", {"a": "any"}),
    ("nd", ["L2Normalization"], "nd.L2Normalization(a, mode='{normmode}')", {"a": "any"}),
    ("nd", ["LRN"], "nd.LRN(a, nsize=3)", {"a": "image"}),
    ("nd", ["LeakyReLU"], "nd.LeakyReLU(a, act_type='{leaky}', slope={number})", {"a": "any"}),
    ("nd", ["Activation"], "nd.Activation(a, act_type='{activation}')", {"a": "any"}),
    ("nd", ["LayerNorm"], "nd.LayerNorm(a, b, c, axis={axis})", {"a": "any", "b": "last", "c": "last"}),
    ("nd", ["FullyConnected"], "nd.FullyConnected(a, b, num_hidden={rows}, no_bias=True, flatten={bool})",
     {"a": "any", "b": "matrix"}),
    ("nd", ["Pooling"], "nd.Pooling(a, kernel=({int}, {int}), pool_type='{pool}', stride=({one}, {one}))",
     {"a": "image"}),
    ("nd", ["Convolution"], "nd.Convolution(a, b, no_bias=True, num_filter=2, kernel=(2, 2), pad=({small}, 1))",
     {"a": "image", "b": "filters"}),
    ("nd", ["dot"], "nd.dot(a, b, transpose_a={bool}, transpose_b={bool})", {"a": "any", "b": "same"}),
    ("nd", ["batch_dot"], "nd.batch_dot(a, b, transpose_b={bool})", {"a": "cube", "b": "same"}),
    ("nd", ["SequenceMask", "SequenceReverse"], "nd.{f}(a)", {"a": "any"}),
    ("nd", ["SequenceMask"], "nd.SequenceMask(a, b, use_sequence_length=True, value={number})",
     {"a": "any", "b": "index"}),
    ("nd", ["space_to_depth", "depth_to_space"], "nd.{f}(a, block_size={one})", {"a": "image"}),
    ("nd", ["Pad"], "nd.Pad(a, mode='{padmode}', pad_width=(0, 0, 0, 0, 1, 1, 1, {one}))", {"a": "image"}),
    ("nd", ["moments"], "nd.moments(a, axes={axes})", {"a": "any"}),
    ("nd", ["SoftmaxOutput"], "nd.SoftmaxOutput(a, b, multi_output={bool})", {"a": "matrix", "b": "index"}),
    ("nd", ["ravel_multi_index", "unravel_index"], "nd.{f}(a, shape=(4, 5))", {"a": "pairs"}),
    ("nd", ["batch_take"], "nd.batch_take(a, b)", {"a": "matrix", "b": "column"}),
    ("nd", ["khatri_rao"], "nd.khatri_rao(a, b)", {"a": "matrix", "b": "same"}),
    ("nd", ["potrf", "det", "slogdet", "inverse", "sumlogdiag", "extractdiag", "makediag", "syevd", "gelqf"],
     "nd.linalg.{f}(a)", {"a": "positive"}),
    ("nd", ["gemm2"], "nd.linalg.gemm2(a, b, transpose_b={bool}, alpha={number})", {"a": "cube", "b": "same"}),
    ("contrib", ["div_sqrt_dim", "isnan", "isinf", "isfinite", "arange_like", "allclose"], "nd.contrib.{f}(a)",
     {"a": "any"}),
    ("contrib", ["box_iou"], "nd.contrib.box_iou(a, b)", {"a": "boxes", "b": "boxes"}),
    ("contrib", ["box_nms"], "nd.contrib.box_nms(a, overlap_thresh=0.5, topk={small})", {"a": "scored"}),
    ("contrib", ["boolean_mask"], "nd.contrib.boolean_mask(a, b)", {"a": "any", "b": "rows"}),
    ("contrib", ["index_array"], "nd.contrib.index_array(a, axes={axes})", {"a": "any"}),
    ("contrib", ["quadratic"], "nd.contrib.quadratic(a, a={number}, b={number}, c={number})", {"a": "any"}),
    ("contrib", ["fft"], "nd.contrib.gradientmultiplier(a, scalar={number})", {"a": "any"}),
    ("contrib", ["AdaptiveAvgPooling2D"], "nd.contrib.AdaptiveAvgPooling2D(a, output_size=({one}, {int}))",
     {"a": "image"}),
    ("contrib", ["BilinearResize2D"], "nd.contrib.BilinearResize2D(a, height={int}, width={int})", {"a": "image"}),
    ("contrib", ["index_copy"], "nd.contrib.index_copy(a, b, c)", {"a": "matrix", "b": "rows", "c": "same"}),
    ("contrib", ["getnnz"], "nd.contrib.getnnz(a.tostype('csr'))", {"a": "matrix"}),
    ("sparse", ["csr", "row_sparse"], "a.tostype('{f}')", {"a": "matrix"}),
    ("sparse", ["abs", "sin", "tanh", "square", "sqrt", "floor", "relu", "sign", "negative", "exp", "log1p", "arcsin"],
     "nd.{f}(a.tostype('{stype}'))", {"a": "matrix"}),
    ("sparse", ["elemwise_add", "elemwise_sub", "elemwise_mul", "broadcast_add", "broadcast_mul", "add_n"],
     "nd.{f}(a.tostype('{stype}'), b.tostype('{anystype}'))", {"a": "matrix", "b": "same"}),
    ("sparse", ["+", "-", "*", "/"], "a.tostype('{stype}') {f} {number}", {"a": "matrix"}),
    ("sparse", ["dot"], "nd.dot(a.tostype('csr'), b, transpose_a={bool})", {"a": "matrix", "b": "same"}),
    ("sparse", ["sum", "mean", "norm"], "nd.{f}(a.tostype('{stype}'), axis={axis})", {"a": "matrix"}),
    ("sparse", ["retain"], "nd.sparse.retain(a.tostype('row_sparse'), b)", {"a": "matrix", "b": "rows"}),
    ("sparse", ["slice"], "nd.slice(a.tostype('csr'), begin=({small},), end=({int},))", {"a": "matrix"}),
    ("sparse", ["cast"], "a.tostype('{stype}').astype('{dtype}')", {"a": "matrix"}),
    ("np", NP_UNARY, "np.{f}(a)", {"a": "any"}),
    ("np", NP_BINARY, "np.{f}(a, b)", {"a": "any", "b": "broad"}),
    ("np", NP_REDUCTIONS, "np.{f}(a, axis={axis})", {"a": "any"}),
    ("np", NP_REDUCTIONS[:-1], "np.{f}(a, axis={npaxes}, keepdims={bool})", {"a": "any"}),
    ("np", ["sum", "mean", "prod", "std", "cumsum"], "np.{f}(a, axis={axis}, dtype='{dtype}')", {"a": "any"}),
    ("np", ["std", "var"], "np.{f}(a, axis={npaxes}, ddof={small})", {"a": "any"}),
    ("np", ["+", "-", "*", "/", "%", "**", "==", "<", ">="], "a {f} {number}", {"a": "any"}),
    ("np", ["+", "-", "*", "/", "%", "**", "==", "<"], "{number} {f} a", {"a": "any"}),
    ("np", ["transpose"], "np.transpose(a, {order})", {"a": "any"}),
    ("np", ["reshape"], "np.reshape(a, {newshape})", {"a": "any"}),
    ("np", ["moveaxis", "swapaxes"], "np.{f}(a, {axis}, {axis})", {"a": "any"}),
    ("np", ["rollaxis"], "np.rollaxis(a, {axis}, {int})", {"a": "any"}),
    ("np", ["roll"], "np.roll(a, {int}, axis={axis})", {"a": "any"}),
    ("np", ["rot90"], "np.rot90(a, {int})", {"a": "any"}),
    ("np", ["expand_dims", "squeeze", "flip", "sort", "argsort"], "np.{f}(a, axis={axis})", {"a": "any"}),
    ("np", ["concatenate", "stack"], "np.{f}([a, b], axis={axis})", {"a": "any", "b": "same"}),
    ("np", ["vstack", "hstack", "dstack", "column_stack"], "np.{f}([a, b])", {"a": "any", "b": "same"}),
    ("np", ["split", "array_split"], "np.{f}(a, {int}, axis={axis})", {"a": "any"}),
    ("np", ["hsplit", "vsplit", "dsplit"], "np.{f}(a, {one})", {"a": "any"}),
    ("np", ["where"], "np.where(a, b, c)", {"a": "any", "b": "broad", "c": "broad"}),
    ("np", ["take"], "np.take(a, b, axis={axis}, mode='{takemode}')", {"a": "any", "b": "index"}),
    ("np", ["clip"], "np.clip(a, {number}, {number})", {"a": "any"}),
    ("np", ["tile"], "np.tile(a, {reps})", {"a": "any"}),
    ("np", ["repeat"], "np.repeat(a, {int}, axis={axis})", {"a": "any"}),
    ("np", ["broadcast_to"], "np.broadcast_to(a, {newshape})", {"a": "any"}),
    ("np", ["around"], "np.around(a, {small})", {"a": "any"}),
    ("np", ["diff"], "np.diff(a, n={small}, axis={axis})", {"a": "any"}),
    ("np", ["trace", "diagonal"], "np.{f}(a, offset={small})", {"a": "any"}),
    ("np", ["tril", "triu"], "np.{f}(a, k={small})", {"a": "any"}),
    ("np", ["percentile", "quantile"], "np.{f}(a, {share}, axis={axis}, keepdims={bool})", {"a": "any"}),
    ("np", ["bincount"], "np.bincount(a, minlength={int})", {"a": "index"}),
    ("np", ["histogram"], "np.histogram(a, bins={int}, range=(0, 3))", {"a": "any"}),
    ("np", ["insert"], "np.insert(a, {small}, {number}, axis={axis})", {"a": "any"}),
    ("np", ["delete"], "np.delete(a, {small}, axis={axis})", {"a": "any"}),
    ("np", ["unique"], "np.unique(a, return_counts={bool}, axis={axis})", {"a": "any"}),
    ("np", ["tensordot"], "np.tensordot(a, b, axes={small})", {"a": "any", "b": "same"}),
    ("np", ["einsum"], "np.einsum('{einsum}', a, b)", {"a": "square", "b": "same"}),
    ("np", ["pad"], "np.pad(a, {one}, mode='{nppad}')", {"a": "any"}),
    ("np", ["average"], "np.average(a, axis={axis}, weights=b)", {"a": "any", "b": "same"}),
    ("np", ["norm"], "np.linalg.norm(a, ord={ord}, axis={npaxes}, keepdims={bool})", {"a": "any"}),
    ("np", ["inv", "det", "slogdet", "cholesky", "svd", "pinv", "eigvalsh"], "np.linalg.{f}(a)", {"a": "positive"}),
    ("np", ["solve", "lstsq"], "np.linalg.{f}(a, b)", {"a": "positive", "b": "same"}),
    ("np", ["int", "slice", "none", "ellipsis"], "a[{key}]", {"a": "any"}),
    ("np", ["array"], "a[b]", {"a": "any", "b": "rows"}),
    ("np", ["mask"], "a[b > 0]", {"a": "any", "b": "same"}),
    ("np", ["sum", "mean", "max", "min", "prod", "std", "argmax", "cumsum", "sort", "copy", "flatten", "squeeze"],
     "a.{f}()", {"a": "any"}),
    ("np", ["astype"], "a.astype('{dtype}')", {"a": "any"}),
    ("npx", ["relu", "sigmoid", "erf", "erfinv", "gamma", "gammaln", "batch_flatten", "shape_array", "softmax",
             "log_softmax", "nonzero"], "npx.{f}(a)", {"a": "any"}),
    ("npx", ["softmax", "log_softmax"], "npx.{f}(a, axis={axis}, temperature={temperature})", {"a": "any"}),
    ("npx", ["topk"], "npx.topk(a, k={int}, axis={axis}, ret_typ='{topk}')", {"a": "any"}),
    ("npx", ["one_hot"], "npx.one_hot(a, depth={int})", {"a": "index"}),
    ("npx", ["pick"], "npx.pick(a, b, axis={axis})", {"a": "any", "b": "index"}),
    ("npx", ["activation"], "npx.activation(a, act_type='{activation}')", {"a": "any"}),
    ("npx", ["leaky_relu"], "npx.leaky_relu(a, act_type='{leaky}', slope={number})", {"a": "any"}),
    ("npx", ["smooth_l1"], "npx.smooth_l1(a, scalar={number})", {"a": "any"}),
    ("npx", ["fully_connected"], "npx.fully_connected(a, b, num_hidden={rows}, no_bias=True, flatten={bool})",
     {"a": "any", "b": "matrix"}),
    ("npx", ["embedding"], "npx.embedding(a, b, input_dim={rows}, output_dim={columns})",
     {"a": "index", "b": "matrix"}),
    ("npx", ["batch_dot"], "npx.batch_dot(a, b, transpose_b={bool})", {"a": "cube", "b": "same"}),
    ("npx", ["layer_norm"], "npx.layer_norm(a, b, c, axis={axis})", {"a": "any", "b": "last", "c": "last"}),
    ("npx", ["pooling"], "npx.pooling(a, kernel=({int}, {int}), pool_type='{pool}')", {"a": "image"}),
    ("npx", ["reshape_like"], "npx.reshape_like(a, b)", {"a": "any", "b": "same"}),
    ("npx", ["reshape"], "npx.reshape(a, {newshape})", {"a": "any"}),
    ("npx", ["arange_like"], "npx.arange_like(a, axis={axis})", {"a": "any"}),
    ("npx", ["sequence_mask"], "npx.sequence_mask(a, b, use_sequence_length=True)", {"a": "any", "b": "index"}),
    ("npx", ["gather_nd"], "npx.gather_nd(a, b)", {"a": "any", "b": "places"}),
]  # fmt: skip
FORMS = {"matrix": 2, "square": 2, "positive": 2, "cube": 3, "image": 4, "boxes": 2, "scored": 2}


class Draw:
    """One call, drawn from the seed and its number."""

    def __init__(self, seed, number, groups=()):
        self.random = random.Random(seed * 1_000_003 + number)
        self.values = np.random.RandomState((seed * 7919 + number) % 2**32)
        self.group, names, text, forms = self.random.choice([c for c in CALLS if not groups or c[0] in groups])
        self.name = self.random.choice(names)
        self.dtype = self.random.choice(TYPES)
        self.shape = ()
        self.arrays = {letter: self.array(form) for letter, form in forms.items()}
        self.text = re.sub(r"\{(\w+)\}", lambda found: str(self.word(found[1])), text)
        self.graded = self.random.random() < 0.4

    def side(self):
        return self.random.choice(SIDES if self.group in ("np", "npx") else SIDES[1:])

    def array(self, form):
        pick = self.random
        if form in ("same", "broad"):
            dtype = self.dtype if pick.random() < 0.8 else pick.choice(TYPES)
            shape = self.shape
            if form == "broad":
                shape = tuple(1 if pick.random() < 0.3 else n for n in shape)[pick.choice((0, 0, 0, 1)) :]
            return self.filled(shape, dtype)
        if form == "last":
            return self.filled(self.shape[-1:], self.dtype)
        if form == "index":
            shape = self.shape[:1] if pick.random() < 0.5 else self.any_shape()
            return self.values.randint(-1, 4, shape).astype(pick.choice(("int32", "int64", "float32")))
        if form in (
            "rows",
            "column",
            "places",
            "pairs",
        ):  # beyond the array MXNet writes into memory that is not its own
            first = max(self.shape[0], 1) if form == "rows" and self.shape else 1
            shape = {"rows": self.shape[:1], "column": self.shape[:1], "places": (1, 2), "pairs": (2,)}[form]
            return self.values.permutation(np.arange(int(np.prod(shape))) % first).reshape(shape).astype("int64")
        if form == "filters":
            return self.filled((2, self.shape[1], 2, 2), self.dtype)
        shape = tuple(self.side() for _ in range(FORMS[form])) if form in FORMS else self.any_shape()
        if form in ("boxes", "scored"):
            shape = (shape[0], 4 if form == "boxes" else 6)
        if form in ("square", "positive"):
            shape = (shape[0],) * 2
        self.shape = shape
        if form == "positive":
            half = self.values.uniform(-1, 1, shape)
            return (half @ half.T + np.eye(*shape)).astype(self.dtype if self.dtype in FLOATS else "float32")
        return self.filled(shape, self.dtype)

    def any_shape(self):
        lowest = 0 if self.group in ("np", "npx") else 1
        return tuple(self.side() for _ in range(self.random.choice((lowest, 1, 2, 2, 3, 4))))

    def filled(self, shape, dtype):
        if dtype == "bool":
            return self.values.randint(0, 2, shape).astype(bool)
        if dtype not in FLOATS:
            return self.values.randint(0 if dtype == "uint8" else -3, 5, shape).astype(dtype)
        values = np.asarray(self.values.randint(-12, 13, shape) / 4 + self.values.choice([0, 0.1], shape))
        if self.random.random() < 0.08 and values.size:
            values.reshape(-1)[0] = self.random.choice((np.nan, np.inf, -np.inf))
        return values.astype(dtype)

    def axis(self):
        return self.random.randint(-len(self.shape), max(len(self.shape) - 1, 0))

    def word(self, word):
        pick, dims = self.random, len(self.shape)
        if word in CHOICES:
            return pick.choice(CHOICES[word])
        some = tuple(pick.sample(range(dims), pick.randint(0, dims)))
        order = list(range(dims))
        pick.shuffle(order)
        return {
            "f": lambda: self.name,
            "axis": self.axis,
            "axes": lambda: pick.choice((some or (0,), self.axis())),
            "npaxes": lambda: pick.choice((some, self.axis(), None)),
            "order": lambda: tuple(order),
            "newshape": lambda: self.new_shape(),
            "reps": lambda: tuple(pick.choice((1, 2, 3)) for _ in range(pick.randint(1, 3))),
            "begin": lambda: tuple(0 for _ in self.shape),
            "end": lambda: tuple(max(n - pick.choice((0, 1)), 1) for n in self.shape),
            "rows": lambda: self.arrays["b"].shape[0] if "b" in self.arrays else 2,
            "columns": lambda: self.arrays["b"].shape[-1] if "b" in self.arrays else 2,
        }[word]()

    def new_shape(self):
        size = int(np.prod(self.shape))
        return self.random.choice(((-1,), (size,), (1, -1), (size, 1), self.shape, (2, -1), (3, *self.shape)))


CHOICES = {
    "bool": (True, False), "int": (1, 2, 3), "one": (1, 2), "small": (-1, 0, 1, 2), "end1": (2, 3, None),
    "number": (2, 0.5, -1.5, 3, 1, 0), "temperature": (None, 1.0, 2.5), "takemode": ("clip", "wrap"),
    "dtype": ("float32", "float64", "float16", "int32", "int64", "int8", "uint8"), "share": (0, 30, 50, 0.3, 1, 100),
    "leaky": ("leaky", "elu", "selu", "gelu"), "activation": ("relu", "sigmoid", "tanh", "softrelu", "softsign"),
    "pool": ("max", "avg", "sum"), "padmode": ("constant", "edge", "reflect"),
    "normmode": ("instance", "channel", "spatial"),
    "nppad": ("constant", "edge", "reflect", "symmetric", "maximum"), "stype": ("csr", "row_sparse"),
    "anystype": ("csr", "row_sparse", "default"), "topk": ("value", "indices", "both", "mask"),
    "einsum": ("ij,jk->ik", "ij,ij->i", "ij,ij->", "ij,kj->ik", "ii,jj->ij"), "ord": (None, 1, 2, "'fro'", "'nuc'", 3),
    "key": ("0", "-1", "1:", "::2", "None", "...", "..., 0", ":, None", "0:0", "::-1", "0, 0"),
}  # fmt: skip


# -- one side ----------------------------------------------------------------------------------------------------------


def answer(draw):
    """What this Python's `mxnet` answers: outputs, gradients, or the class of error."""
    import mxnet as mx

    numpy_like = draw.group in ("np", "npx")
    (mx.npx.set_np if numpy_like else mx.npx.reset_np)()
    create = mx.np.array if numpy_like else mx.nd.array
    try:
        arrays = {k: create(v, dtype=v.dtype) for k, v in draw.arrays.items()}
        graded = [a for a in arrays.values() if draw.graded and a.dtype in (np.float16, np.float32, np.float64)]
        scope = {"nd": mx.nd, "np": mx.np, "npx": mx.npx, **arrays}
        for array in graded:
            array.attach_grad()
        if graded:
            with mx.autograd.record():
                result = eval(draw.text, scope)
                first = result[0] if isinstance(result, (list, tuple)) else result
            if isinstance(first, mx.nd.NDArray) and first.dtype in (np.float16, np.float32, np.float64):
                first.backward()
            else:
                graded = []
        else:
            result = eval(draw.text, scope)
        outputs = list(result) if isinstance(result, (list, tuple)) else [result]
        return "answer", [_plain(o) for o in outputs], [_plain(a.grad) for a in graded]
    except Exception as error:
        return "refusal", type(error).__name__, str(error).strip().splitlines()[-1:]


def _plain(value):
    if not hasattr(value, "asnumpy"):
        return ("number", np.asarray(value))
    return (getattr(value, "stype", "default"), value.asnumpy())


def make_calls(seed, first, stop, groups, path):
    with open(path, "ab") as file:
        for number in range(first, stop):
            pickle.dump((number, answer(Draw(seed, number, groups))), file)
            file.flush()
    os._exit(0)  # MXNet may report calls that failed before once more, and end with a signal


def read(path):
    found = {}
    with open(path, "rb") as file:
        while True:
            try:
                number, result = pickle.load(file)
            except (EOFError, pickle.UnpicklingError):
                return found
            found[number] = result


def side(python, seed, calls, groups, path, limit):
    """All answers of one side; a process that dies, or does not end, has left the number of the call that did it."""
    first, found = 0, {}
    pathlib.Path(path).write_bytes(b"")
    while first < calls:
        command = [python, __file__, "--make", str(seed), str(first), str(calls), ",".join(groups), str(path)]
        with contextlib.suppress(subprocess.TimeoutExpired):
            subprocess.run(command, capture_output=True, timeout=limit, check=False, env=_environment(python))
        found = read(path)
        if len(found) >= calls:
            break
        first = max(found, default=-1) + 1
        with open(path, "ab") as file:
            pickle.dump((first, ("crash", "", [])), file)
        first += 1
    return read(path)


def _environment(python):
    """Our own sources for our own Python, and no others."""
    rest = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    sources = pathlib.Path(__file__).resolve().parent.parent / "src"
    return {**rest, "PYTHONPATH": str(sources)} if python == sys.executable else rest


# -- both --------------------------------------------------------------------------------------------------------------


def difference(reference, own):
    """The class of a difference, and what was found; None: the answers agree."""
    if reference[0] != "answer":
        return None
    if own[0] != "answer":
        return own[0], f"{own[1]}: {' '.join(own[2])}"
    for what, ours, theirs in (("", own[1], reference[1]), ("gradient ", own[2], reference[2])):
        if len(ours) != len(theirs):
            return what + "number of results", f"{len(ours)} for {len(theirs)}"
        for (kind, mine), (wanted, golden) in zip(ours, theirs, strict=True):
            if kind != wanted:
                return what + "storage", f"{kind} for {wanted}"
            if mine.shape != golden.shape:
                return what + "shape", f"{mine.shape} for {golden.shape}"
            if mine.dtype != golden.dtype:
                return what + "dtype", f"{mine.dtype} for {golden.dtype}"
            if not _close(mine, golden):
                return what + "value", f"{mine.ravel()[:6].tolist()} for {golden.ravel()[:6].tolist()}"
    return None


def _close(mine, golden):
    relative, absolute = TOLERANCES.get(mine.dtype.name, (0, 0))
    if mine.dtype.kind not in "fiub":
        return bool((mine == golden).all())
    return np.allclose(mine.astype(np.float64), golden.astype(np.float64), relative, absolute, equal_nan=True)


def compare(options):
    groups = options.groups.split(",") if options.groups else []
    with tempfile.TemporaryDirectory() as folder:
        paths = [pathlib.Path(folder) / name for name in ("reference", "own")]
        sides = [
            side(python, options.seed, options.calls, groups, path, options.limit)
            for python, path in zip((options.reference, sys.executable), paths, strict=True)
        ]
    counts, listed = collections.Counter(), []
    for number in range(options.calls):
        reference, own = (s.get(number, ("crash", "", [])) for s in sides)
        found = difference(reference, own)
        counts[reference[0]] += 1
        if reference[0] == "answer":
            counts["agree" if found is None else "differ"] += 1
        elif own[0] == "crash":
            found = ("crash", "")
        if found is not None:
            draw = Draw(options.seed, number, groups)
            arrays = {k: f"{v.shape} {v.dtype}" for k, v in draw.arrays.items()}
            listed.append([number, draw.group, draw.name, draw.text, arrays, draw.graded, *found])
    return counts, listed


def main():
    if sys.argv[1:2] == ["--make"]:
        seed, first, stop = map(int, sys.argv[2:5])
        make_calls(seed, first, stop, [g for g in sys.argv[5].split(",") if g], sys.argv[6])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reference", required=True, help="a Python that has MXNet 1.9.1")
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--groups", default="", help="of nd, contrib, sparse, np, npx, with commas; all unless given")
    parser.add_argument("--limit", type=float, default=120, help="seconds that a process may take")
    parser.add_argument("--report", default="", help="a file for the list of differences")
    options = parser.parse_args()
    counts, listed = compare(options)
    for entry in listed:
        print(*entry, sep=" | ")
    print(dict(counts), dict(collections.Counter(entry[6] for entry in listed)))
    if options.report:
        pathlib.Path(options.report).write_text(json.dumps(listed, indent=0) + "\n")


if __name__ == "__main__":
    main()
