"""`mx.np` against NumPy itself: every function on a few inputs, from tables."""

import numpy as onp
import pytest

import mxnet as mx
from mxnet import autograd, gluon, np, npx
from mxnet.base import MXNetError

R = onp.random.RandomState(7)
MATRIX = R.uniform(0.2, 0.9, (3, 4)).astype("float32")
CUBE = R.uniform(-2, 2, (2, 3, 4)).astype("float32")
VECTOR = onp.array([0.5, -1.5, 2.0, 0.25], "float32")
SQUARE = (R.uniform(-1, 1, (3, 3)) + 3 * onp.eye(3)).astype("float32")
SYMMETRIC = (SQUARE @ SQUARE.T).astype("float32")
WHOLE = onp.array([[3, 1, 2], [4, 6, 5]], "int32")
ABOVE_ONE = MATRIX + 1.5
inf, nan = onp.inf, onp.nan
ODD = onp.array([1.0, inf, -inf, nan, 0.0], "float32")

UNARY = (
    "abs absolute arcsin arccos arctan arcsinh arctanh cbrt ceil cos cosh deg2rad degrees exp expm1 fabs fix floor log"
    " log10 log1p log2 negative rad2deg radians reciprocal rint sign sin sinh sqrt square tan tanh trunc"
).split()
BINARY = (
    "add subtract multiply divide true_divide mod remainder power maximum minimum hypot arctan2 copysign equal"
    " not_equal greater greater_equal less less_equal"
).split()

CALLS = [  # function, arguments, keywords
    *[(name, (MATRIX,), {}) for name in UNARY],
    ("arccosh", (ABOVE_ONE,), {}),
    *[(name, (MATRIX, CUBE), {}) for name in BINARY if name != "power"],
    ("power", (MATRIX, CUBE), {}),
    *[(name, (ODD,), {}) for name in "isnan isinf isfinite isposinf isneginf logical_not nan_to_num".split()],
    *[(name, (WHOLE, WHOLE[::-1].copy()), {}) for name in "bitwise_and bitwise_or bitwise_xor lcm add".split()],
    ("bitwise_not", (WHOLE,), {}),
    ("invert", (WHOLE > 2,), {}),
    ("ldexp", (MATRIX, onp.array([1, 2, 0, 3], "int32")), {}),
    *[
        (name, (CUBE,), {"axis": axis, "keepdims": keep})
        for name in "sum prod mean std var max min amax amin".split()
        for axis in (None, 1, (0, 2))
        for keep in (False, True)
    ],
    *[(name, (WHOLE > 3,), {"axis": axis}) for name in ("all", "any") for axis in (None, 0)],
    *[(name, (CUBE,), {"axis": axis}) for name in "argmax argmin cumsum sort argsort".split() for axis in (None, 1)],
    ("std", (CUBE,), {"axis": 0, "ddof": 1}),
    ("average", (CUBE,), {"axis": 1}),
    ("average", (MATRIX,), {"weights": MATRIX + 1, "axis": 0}),
    ("average", (MATRIX,), {"weights": VECTOR + 3, "axis": 1}),
    ("diff", (CUBE,), {"n": 2, "axis": 1}),
    ("ediff1d", (MATRIX,), {}),
    ("bincount", (WHOLE.reshape(-1),), {"minlength": 9}),
    ("clip", (CUBE, -0.5, 0.5), {}),
    ("around", (CUBE, 1), {}),
    ("percentile", (CUBE, 30), {"axis": 1}),
    ("quantile", (CUBE, 0.3), {}),
    ("reshape", (CUBE, (4, -1)), {}),
    ("ravel", (CUBE,), {}),
    ("transpose", (CUBE,), {}),
    ("transpose", (CUBE, (1, 0, 2)), {}),
    ("squeeze", (CUBE[:1],), {}),
    ("squeeze", (CUBE[:1], 0), {}),
    ("expand_dims", (CUBE, -1), {}),
    ("moveaxis", (CUBE, 0, -1), {}),
    ("swapaxes", (CUBE, 0, 2), {}),
    ("broadcast_to", (VECTOR, (3, 4)), {}),
    ("repeat", (MATRIX, 2), {}),
    ("repeat", (MATRIX, 2), {"axis": 1}),
    ("tile", (MATRIX, (2, 1, 3)), {}),
    ("resize", (MATRIX, (5, 3)), {}),
    ("roll", (MATRIX, 2), {}),
    ("roll", (MATRIX, (1, 2)), {"axis": (0, 1)}),
    ("flip", (CUBE,), {}),
    ("flip", (CUBE,), {"axis": 1}),
    ("fliplr", (MATRIX,), {}),
    ("flipud", (MATRIX,), {}),
    ("rot90", (MATRIX,), {"k": 3}),
    ("diag", (VECTOR,), {"k": 1}),
    ("diag", (MATRIX,), {}),
    ("diagflat", (MATRIX,), {}),
    ("diagonal", (CUBE,), {"offset": 1, "axis1": 1, "axis2": 2}),
    ("trace", (CUBE,), {}),
    ("tril", (SQUARE,), {"k": -1}),
    ("take", (MATRIX, onp.array([[0, 2], [1, 1]])), {"axis": 0}),
    ("where", (MATRIX > 0.5, MATRIX, -MATRIX), {}),
    ("nonzero", (WHOLE > 2,), {}),
    ("unravel_index", (onp.array([3, 5]), (2, 3)), {}),
    ("unique", (onp.array([3.0, 1.0, 3.0], "float32"),), {"return_counts": True, "return_inverse": True}),
    ("pad", (MATRIX, ((1, 2), (0, 3))), {}),
    *[("pad", (MATRIX, ((1, 2), (2, 1))), {"mode": m}) for m in "edge reflect symmetric maximum minimum".split()],
    ("split", (CUBE, 2), {"axis": 2}),
    ("split", (CUBE, (1, 3)), {"axis": 2}),
    ("array_split", (VECTOR, 3), {}),
    ("hsplit", (MATRIX, 2), {}),
    ("vsplit", (MATRIX, 3), {}),
    ("dsplit", (CUBE, 2), {}),
    ("concatenate", ([MATRIX, MATRIX],), {"axis": 1}),
    ("concatenate", ([MATRIX, VECTOR],), {"axis": None}),
    ("append", (MATRIX, MATRIX), {}),
    *[(name, ([VECTOR, VECTOR],), {}) for name in "stack vstack hstack dstack column_stack".split()],
    ("stack", ([MATRIX, MATRIX],), {"axis": -1}),
    ("meshgrid", (VECTOR, VECTOR[:3]), {}),
    ("meshgrid", (VECTOR, VECTOR[:3]), {"indexing": "ij"}),
    ("broadcast_arrays", (VECTOR, MATRIX), {}),
    *[(name, (VECTOR,), {}) for name in "atleast_1d atleast_2d atleast_3d".split()],
    ("dot", (MATRIX, VECTOR), {}),
    ("dot", (MATRIX, CUBE.transpose(0, 2, 1).copy()), {}),
    ("matmul", (CUBE, CUBE.transpose(0, 2, 1).copy()), {}),
    ("inner", (CUBE, MATRIX), {}),
    ("outer", (VECTOR, MATRIX), {}),
    ("vdot", (MATRIX, MATRIX), {}),
    ("tensordot", (CUBE, MATRIX), {"axes": ((1, 2), (0, 1))}),
    ("tensordot", (MATRIX, VECTOR), {"axes": 1}),
    ("einsum", ("ijk,jk->i", CUBE, MATRIX), {}),
    ("polyval", (VECTOR, MATRIX), {}),
    ("count_nonzero", (WHOLE,), {}),
    ("isclose", (MATRIX, MATRIX + 1e-9), {}),
    ("delete", (MATRIX, 1), {"axis": 0}),
    ("insert", (MATRIX, 1, 5), {"axis": 1}),
    ("histogram", (CUBE,), {"bins": 4, "range": (-2, 2)}),
    ("zeros", ((2, 0),), {}),
    ("ones", (3,), {"dtype": "int32"}),
    ("full", ((2, 2), 1.5), {}),
    ("arange", (2, 9, 3), {}),
    ("linspace", (0, 1, 7), {}),
    ("logspace", (0, 2, 5), {}),
    ("eye", (3, 4), {"k": 1}),
    ("identity", (3,), {}),
    ("indices", ((2, 3),), {}),
    *[(name, (7,), {}) for name in "blackman hamming hanning".split()],
]
LINALG = [
    *[(name, (SQUARE,), {}) for name in "inv det slogdet pinv".split()],
    ("cholesky", (SYMMETRIC,), {}),
    ("eigvalsh", (SYMMETRIC,), {}),
    ("eigvals", (SYMMETRIC,), {}),
    ("solve", (SQUARE, MATRIX), {}),
    *[("norm", (MATRIX,), {"ord": o}) for o in (None, "fro", 1, -1, inf, -inf, 2, -2, "nuc")],
    *[("norm", (CUBE,), {"ord": o, "axis": 1, "keepdims": True}) for o in (None, 1, 2, 3, inf, -inf, 0)],
    ("tensorinv", (R.normal(size=(4, 2, 2)).astype("float32"),), {"ind": 1}),
    ("tensorsolve", (R.normal(size=(2, 2, 4)).astype("float32"), MATRIX[:2, :2].copy()), {}),
]


def ours(value):
    if isinstance(value, onp.ndarray):
        return np.array(value, dtype=value.dtype)
    return [ours(v) for v in value] if isinstance(value, list) else value


def compare(result, expected):
    if isinstance(expected, (tuple, list)):
        assert len(result) == len(expected)
        for r, e in zip(result, expected, strict=True):
            compare(r, e)
        return
    array = result.asnumpy() if isinstance(result, np.ndarray) else onp.asarray(result)
    assert array.shape == onp.shape(expected)
    onp.testing.assert_allclose(array.astype("float64"), onp.asarray(expected).astype("float64"), 2e-4, 2e-5)


def label(case):
    return case[0] if isinstance(case, tuple) else None


@pytest.mark.parametrize("case", CALLS, ids=label)
def test_agrees_with_numpy(case):
    name, args, kwargs = case
    expected = getattr(onp, name)(*args, **kwargs)
    compare(getattr(np, name)(*(ours(a) for a in args), **{k: ours(v) for k, v in kwargs.items()}), expected)


@pytest.mark.parametrize("case", LINALG, ids=label)
def test_linalg_agrees_with_numpy(case):
    name, args, kwargs = case
    expected = getattr(onp.linalg, name)(*args, **kwargs)
    expected = tuple(expected) if name == "slogdet" else expected
    compare(getattr(np.linalg, name)(*(ours(a) for a in args), **kwargs), expected)


def test_decompositions_multiply_back():
    left, values, right = np.linalg.svd(np.array(MATRIX))
    compare(np.matmul(left * values, right), MATRIX)
    values, vectors = np.linalg.eigh(np.array(SYMMETRIC))
    compare(np.matmul(vectors * values, vectors.T), SYMMETRIC)


@pytest.mark.parametrize(
    ("expression", "dtype"),
    [  # as MXNet 1.9.1 answers
        ("i + 1.5", "int32"), ("i / 2", "float32"), ("i + f", "float32"), ("f + d", "float64"), ("b + 1", "int64"),
        ("b + b", "bool"), ("f > 0", "bool"), ("i.mean()", "float32"), ("b.sum()", "int64"), ("np.exp(i)", "int32"),
        ("np.argmax(f)", "int64"), ("1 / i", "float32"), ("2 ** i", "int32"), ("np.arange(3)", "float32"),
        ("np.array([1, 2])", "float32"), ("~b", "bool"), ("np.std(i)", "int32"), ("np.average(i)", "int32"),
    ],
)  # fmt: skip
def test_types_are_those_of_mxnet(expression, dtype):
    i, f = np.array([1, 2], dtype="int32"), np.ones(2)
    d, b = f.astype("float64"), f > 0
    assert eval(expression, {"np": np, "i": i, "f": f, "d": d, "b": b}).dtype == dtype


KEYS = [0, -1, (1, 2), slice(0, 2), (slice(None), 1), (Ellipsis, None, 0), (slice(None, None, -1), slice(1, None)),
        ([0, 2], [1, 3]), (slice(None), [0, 2]), MATRIX > 0.5, ()]  # fmt: skip


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_indexing_reads_and_writes(key):
    array, plain = np.array(MATRIX), MATRIX.copy()
    compare(array[key], plain[key])
    array[key] = 7
    plain[key] = 7
    compare(array, plain)


def test_an_array_without_axes():
    one = np.array(1.5)
    assert (one.shape, one.ndim, float(one), one.item(), f"{one:.1f}") == ((), 0, 1.5, 1.5, "1.5")
    with pytest.raises(TypeError):
        len(one)


def test_printing():
    assert repr(np.ones(2)) == "array([1., 1.])"
    assert repr(np.array([1, 2], dtype="int64")) == "array([1, 2], dtype=int64)"
    assert repr(np.ones(2, dtype="float64")) == "array([1., 1.], dtype=float64)"
    assert str(np.ones(2)) == "[1. 1.]"
    assert repr(np.arange(12)) == "array([ 0.,  1.,  2.,  3.,  4.,  5.,  6.,  7.,  8.,  9., 10., 11.])"


def test_both_kinds_of_array_share_memory_and_gradient():
    x = np.array([1.0, 2.0])
    x.attach_grad()
    with autograd.record():
        loss = np.sum(np.square(x).as_nd_ndarray().as_np_ndarray() * 3)
    loss.backward()
    compare(x.grad, [6.0, 12.0])
    assert type(x.grad) is np.ndarray
    x.as_nd_ndarray()[:] = 5
    compare(x, [5.0, 5.0])


def test_gradients_reach_the_parameters_of_random_numbers():
    mx.random.seed(1)
    loc, scale = np.zeros(500), np.ones(500)
    loc.attach_grad()
    scale.attach_grad()
    with autograd.record():
        drawn = np.random.normal(loc, scale)
    drawn.backward()
    compare(loc.grad, onp.ones(500))
    compare(scale.grad, drawn.asnumpy())


MOMENTS = [  # distribution, arguments, mean, standard deviation
    ("uniform", (2, 4), 3, 0.577), ("normal", (1, 2), 1, 2), ("exponential", (2,), 2, 2), ("gamma", (4, 0.5), 2, 1),
    ("gumbel", (0, 1), 0.577, 1.283), ("logistic", (1, 1), 1, 1.814), ("rayleigh", (1,), 1.253, 0.655),
    ("weibull", (2,), 0.886, 0.463), ("beta", (2, 2), 0.5, 0.2236), ("chisquare", (3,), 0.75, 0.612),
    ("lognormal", (0, 0.25), 1.0317, 0.262), ("power", (3,), 0.75, 0.1936), ("pareto", (6,), 0.2, 0.245),
]  # fmt: skip


@pytest.mark.parametrize(("name", "args", "mean", "deviation"), MOMENTS)
def test_moments_of_distributions(name, args, mean, deviation):
    mx.random.seed(3)
    drawn = getattr(np.random, name)(*args, size=20000).asnumpy()
    assert abs(drawn.mean() - mean) < 5 * deviation / 20000**0.5
    assert abs(drawn.std() - deviation) < 0.06 * deviation


def test_choosing():
    mx.random.seed(5)
    assert sorted(np.random.choice(6, 6, replace=False).tolist()) == list(range(6))
    assert set(np.random.choice(3, 50, p=np.array([0.5, 0.0, 0.5])).tolist()) == {0, 2}
    assert np.random.multinomial(20, [0.2, 0.8], size=(3,)).sum(1).tolist() == [20, 20, 20]
    assert np.random.randint(3, 5, (40,)).asnumpy().min() == 3


def test_extension_operators():
    compare(npx.relu(np.array(VECTOR)), onp.maximum(VECTOR, 0))
    compare(npx.softmax(np.array(MATRIX)).sum(-1), onp.ones(3))
    assert type(npx.fully_connected(np.ones((2, 3)), np.ones((4, 3)), no_bias=True, num_hidden=4)) is np.ndarray
    with pytest.raises(ValueError, match="must hold"):
        npx.constraint_check(np.array([True, False]), "must hold")


@pytest.mark.parametrize(
    ("shape", "codes", "reverse", "expected"),
    [
        ((2, 3, 8), (-2, -2, 2, -1), False, (2, 3, 2, 4)),
        ((8, 3, 3, 3, 4, 4), (-6, 2, -1, -4), False, (2, 4, 3, 3, 3, 4, 4)),
        ((8, 1, 3), (-2, -3, -1), False, (8, 3)),
        ((8, 3, 3, 3, 4, 8), (-4, 2, -1, -6), True, (8, 3, 3, 3, 4, 2, 4)),
        ((2, 3, 4), (-5, -2), False, (6, 4)),
    ],
)
def test_coded_reshape(shape, codes, reverse, expected):
    assert npx.reshape(np.zeros(shape), codes, reverse=reverse).shape == expected


def test_functions_of_numpy_itself_give_our_arrays():
    x = np.array(MATRIX)
    pairs = [
        (onp.exp(x), onp.exp(MATRIX)),
        (onp.sum(x, axis=0), MATRIX.sum(0)),
        (onp.linalg.norm(x), onp.linalg.norm(MATRIX)),
        (onp.median(x, axis=1), onp.median(MATRIX, 1)),
    ]
    for result, expected in pairs:
        assert type(result) is np.ndarray
        compare(result, expected)
    with pytest.raises(TypeError, match="not supported"):
        MATRIX + x


def test_files(tmp_path):
    npx.save(str(tmp_path / "a"), {"x": np.array(MATRIX)})
    compare(npx.load(str(tmp_path / "a"))["x"], MATRIX)


@mx.util.use_np
def test_blocks_take_and_give_np_arrays():
    class Net(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.dense = gluon.nn.Dense(2)

        def hybrid_forward(self, F, x):
            return F.np.exp(F.npx.relu(self.dense(x)))

    net = Net()
    net.dense.initialize(mx.init.One())
    for _ in range(2):
        out = net(np.ones((1, 3)))
        assert type(out) is np.ndarray
        compare(out, onp.exp([[3.0, 3.0]]))
        net.hybridize()


def test_what_goes_wrong_is_said():
    with pytest.raises(MXNetError, match="cannot reshape array of size 4"):
        np.reshape(np.ones(4), (3,))
    with pytest.raises(TypeError, match="not supported"):
        np.add(np.ones(2), onp.ones(2))
    with pytest.raises(NotImplementedError, match="where"):
        np.exp(np.ones(2), where=False)
    with pytest.raises(AttributeError):
        np.median
