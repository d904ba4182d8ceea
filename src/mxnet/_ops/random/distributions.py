"""Random arrays: MXNet's streams on the CPU, torch's generators on other devices.

Each distribution has up to three operators: `_random_x` of a given shape, `_random_x_like` of another array's shape,
and `_sample_x`, whose parameters are arrays and which draws `shape` samples for each of their elements.
"""

import math
from typing import Literal

import torch

from ..._core.attrs import Dtype, Long
from ..._core.errors import MXNetError
from ..._device.copies import uploaded
from ..._kernels.random import draw as random_kernels
from ...util import is_np_shape
from ..registry.gradient import with_gradient
from ..registry.registry import op
from ..registry.torch_dtypes import NAME, TORCH
from . import torch_streams as random_device

FLOATS = ("float16", "float32", "float64")
random_kernels.register()


# -- what the three kinds of operators share ---------------------------------------------------------------------------


def check(passed: bool, condition: str, values: str, words: str) -> None:
    """MXNet's way to refuse a parameter."""
    if not passed:
        raise MXNetError(f"Check failed: {condition} ({values}) : {words}")


def numbers(kind, parameters, shape, dtype, rng, device):
    """`shape` numbers of a distribution whose parameters are numbers or tensors."""
    if device.type == "meta":
        return torch.empty(shape, dtype=TORCH[dtype], device=device)
    if device.type != "cpu":
        return random_device.draw(kind, parameters, shape, TORCH[dtype], device)
    given = [p.detach().reshape(-1).numpy() if isinstance(p, torch.Tensor) else p for p in parameters]
    drawn = getattr(rng, kind)(*given, math.prod(shape), dtype)
    return torch.from_numpy(drawn).view(shape)


def create(kind, parameters, shape, dtype, rng, device, allowed=FLOATS, default="float32"):
    """The result of `_random_x`."""
    device = torch.device(device or "cpu")
    if dtype is not None and dtype not in allowed:
        listed = ", ".join(repr(name) for name in ("None", *allowed))
        raise MXNetError(f"Invalid Input: '{dtype}', valid values are: {{{listed}}}, in operator _random_{kind}")
    shape = () if shape is None else shape
    if (not shape or 0 in shape) and not is_np_shape():
        if device.type == "meta":
            return torch.empty(shape, dtype=TORCH[dtype or default], device=device)
        raise MXNetError(
            f"Operator _random_{kind} inferring shapes failed: shape={shape} is not known; give a shape or out"
        )
    return numbers(kind, parameters, shape, dtype or default, rng, device)


def like(kind, parameters, data, rng):
    """The result of `_random_x_like`; nothing flows back to `data`."""

    def forward(data):
        name = NAME[data.dtype]
        if name not in FLOATS:
            raise MXNetError(f"This operation only support floating point types, not {name}")
        return numbers(kind, parameters, tuple(data.shape), name, rng, data.device)

    return with_gradient(forward, lambda inputs, outputs, heads: torch.zeros_like(inputs[0]), data)


def sample(kind, parameters, shape, dtype, rng):
    """The result of `_sample_x`; the parameters get gradients of zero."""
    words = "shape parameter must be non-zero within each dimension"
    check(all(s > 0 for s in shape), "sshape[i] > 0", "0 vs. 0", words)
    sizes = {tuple(p.shape) for p in parameters}
    if len(sizes) > 1:
        raise MXNetError(
            f"Operator _sample_{kind} inferring shapes failed: its parameters have the shapes "
            f"{', '.join(str(tuple(p.shape)) for p in parameters)}, which must be equal"
        )
    if dtype is not None and dtype not in FLOATS:
        raise MXNetError(
            f"Invalid Input: '{dtype}', valid values are: {{'None', 'float16', 'float32', 'float64'}}, "
            f"in operator _sample_{kind}"
        )

    def forward(*given):
        return numbers(kind, given, tuple(given[0].shape) + tuple(shape), dtype or "float32", rng, given[0].device)

    return with_gradient(forward, lambda inputs, outputs, heads: [torch.zeros_like(i) for i in inputs], *parameters)


def asked_shape(attrs, shapes):
    """Inference for `_random_x`: the shape is an attribute; 0 is an unknown size."""
    return [tuple(attrs["shape"]) if attrs["shape"] else None]


def equal_shapes(attrs, shapes):
    """Inference for `_sample_x`: the parameters have one shape."""
    known = next((s for s in shapes if s is not None), None)
    return [known if s is None else s for s in shapes]


def sampled_shape(attrs, shapes):
    """Inference for `_sample_x`: the parameters' shape, then the samples' shape."""
    return [None if shapes[0] is None else tuple(shapes[0]) + tuple(attrs["shape"])]


def creator(*names):
    """Register a `_random_x` operator."""
    return op(*names, shape=asked_shape, differentiable=False)


def sampler(*names):
    """Register a `_sample_x` operator."""
    return op(*names, fill=equal_shapes, shape=sampled_shape)


# -- uniform -----------------------------------------------------------------------------------------------------------


def check_interval(low, high):
    words = "low must be less or equal to high in uniform distribution"
    check(high >= low, "param.high >= param.low", f"{high:g} vs. {low:g}", words)


@creator("_random_uniform", "uniform", "random_uniform")
def random_uniform(
    *,
    low: float = 0.0,
    high: float = 1.0,
    shape: tuple | None = None,
    ctx: str = "",
    dtype: Dtype | None = None,
    _rng,
    _device,
):
    """Numbers drawn from the uniform distribution on [low, high)."""
    check_interval(low, high)
    return create("uniform", (low, high), shape, dtype, _rng, _device)


@op("_random_uniform_like", shape="same")
def random_uniform_like(data, *, low: float = 0.0, high: float = 1.0, _rng):
    """Numbers drawn from the uniform distribution on [low, high), in the shape of `data`."""
    check_interval(low, high)
    return like("uniform", (low, high), data, _rng)


@sampler("_sample_uniform", "sample_uniform")
def sample_uniform(low, high, *, shape: tuple = (), dtype: Dtype | None = None, _rng):
    """For each pair of `low` and `high`, draw `shape` numbers from the uniform distribution between them."""
    return sample("uniform", (low, high), shape, dtype, _rng)


# -- normal ------------------------------------------------------------------------------------------------------------


def check_scale(scale):
    check(scale > 0, "param.scale > 0", f"{scale:g} vs. 0", "scale parameter in gaussian has to be positive")


@creator("_random_normal", "normal", "random_normal")
def random_normal(
    *,
    loc: float = 0.0,
    scale: float = 1.0,
    shape: tuple | None = None,
    ctx: str = "",
    dtype: Dtype | None = None,
    _rng,
    _device,
):
    """Numbers drawn from the normal distribution with mean `loc` and standard deviation `scale`."""
    check_scale(scale)
    return create("normal", (loc, scale), shape, dtype, _rng, _device)


@op("_random_normal_like", shape="same")
def random_normal_like(data, *, loc: float = 0.0, scale: float = 1.0, _rng):
    """Numbers drawn from the normal distribution, in the shape of `data`."""
    check_scale(scale)
    return like("normal", (loc, scale), data, _rng)


@sampler("_sample_normal", "sample_normal")
def sample_normal(mu, sigma, *, shape: tuple = (), dtype: Dtype | None = None, _rng):
    """For each pair of mean `mu` and standard deviation `sigma`, draw `shape` normally distributed numbers."""
    return sample("normal", (mu, sigma), shape, dtype, _rng)


# -- gamma -------------------------------------------------------------------------------------------------------------


def check_gamma(alpha, beta):
    for name, value in (("alpha", alpha), ("beta", beta)):
        words = f"{name} parameter in gamma distribution has to be positive"
        check(value > 0, f"param.{name} > 0", f"{value:g} vs. 0", words)


@creator("_random_gamma", "random_gamma")
def random_gamma(
    *,
    alpha: float = 1.0,
    beta: float = 1.0,
    shape: tuple | None = None,
    ctx: str = "",
    dtype: Dtype | None = None,
    _rng,
    _device,
):
    """Numbers drawn from the gamma distribution with shape `alpha` and scale `beta`."""
    check_gamma(alpha, beta)
    return create("gamma", (alpha, beta), shape, dtype, _rng, _device)


@op("_random_gamma_like", shape="same")
def random_gamma_like(data, *, alpha: float = 1.0, beta: float = 1.0, _rng):
    """Numbers drawn from the gamma distribution, in the shape of `data`."""
    check_gamma(alpha, beta)
    return like("gamma", (alpha, beta), data, _rng)


@sampler("_sample_gamma", "sample_gamma")
def sample_gamma(alpha, beta, *, shape: tuple = (), dtype: Dtype | None = None, _rng):
    """For each pair of shape `alpha` and scale `beta`, draw `shape` numbers from the gamma distribution."""
    return sample("gamma", (alpha, beta), shape, dtype, _rng)


# -- exponential -------------------------------------------------------------------------------------------------------


def check_rate(lam):
    words = "lambda parameter in exponential distribution has to be positive"
    check(lam > 0, "param.lam > 0", f"{lam:g} vs. 0", words)


@creator("_random_exponential", "random_exponential")
def random_exponential(
    *, lam: float = 1.0, shape: tuple | None = None, ctx: str = "", dtype: Dtype | None = None, _rng, _device
):
    """Numbers drawn from the exponential distribution with rate `lam`."""
    check_rate(lam)
    return create("exponential", (lam,), shape, dtype, _rng, _device)


@op("_random_exponential_like", shape="same")
def random_exponential_like(data, *, lam: float = 1.0, _rng):
    """Numbers drawn from the exponential distribution, in the shape of `data`."""
    check_rate(lam)
    return like("exponential", (lam,), data, _rng)


@sampler("_sample_exponential", "sample_exponential")
def sample_exponential(lam, *, shape: tuple = (), dtype: Dtype | None = None, _rng):
    """For each rate `lam`, draw `shape` numbers from the exponential distribution."""
    return sample("exponential", (lam,), shape, dtype, _rng)


# -- poisson -----------------------------------------------------------------------------------------------------------


def check_poisson(lam):
    words = "lambda parameter in poisson distribution has to be non-negative"
    check(lam >= 0, "param.lam >= 0", f"{lam:g} vs. 0", words)


@creator("_random_poisson", "random_poisson")
def random_poisson(
    *, lam: float = 1.0, shape: tuple | None = None, ctx: str = "", dtype: Dtype | None = None, _rng, _device
):
    """Counts drawn from the Poisson distribution with rate `lam`, as floating point numbers."""
    check_poisson(lam)
    return create("poisson", (lam,), shape, dtype, _rng, _device)


@op("_random_poisson_like", shape="same")
def random_poisson_like(data, *, lam: float = 1.0, _rng):
    """Counts drawn from the Poisson distribution, in the shape of `data`."""
    check_poisson(lam)
    return like("poisson", (lam,), data, _rng)


@sampler("_sample_poisson", "sample_poisson")
def sample_poisson(lam, *, shape: tuple = (), dtype: Dtype | None = None, _rng):
    """For each rate `lam`, draw `shape` counts from the Poisson distribution."""
    return sample("poisson", (lam,), shape, dtype, _rng)


# -- the negative binomials --------------------------------------------------------------------------------------------


def check_negative_binomial(kind, **values):
    for name, value in values.items():
        words = f"{name} parameter in {kind} distribution has to be non-negative"
        check(value >= 0, f"param.{name} >= 0", f"{value:g} vs. 0", words)


@creator("_random_negative_binomial", "random_negative_binomial")
def random_negative_binomial(
    *,
    k: int = 1,
    p: float = 1.0,
    shape: tuple | None = None,
    ctx: str = "",
    dtype: Dtype | None = None,
    _rng,
    _device,
):
    """Counts of failures before the `k`-th success, each with chance `p`, as floating point numbers."""
    check_negative_binomial("negative binomial", k=k, p=p)
    return create("negative_binomial", (float(k), p), shape, dtype, _rng, _device)


@op("_random_negative_binomial_like", shape="same")
def random_negative_binomial_like(data, *, k: int = 1, p: float = 1.0, _rng):
    """Counts of failures before the `k`-th success, in the shape of `data`."""
    check_negative_binomial("negative binomial", k=k, p=p)
    return like("negative_binomial", (float(k), p), data, _rng)


@sampler("_sample_negative_binomial", "sample_negative_binomial")
def sample_negative_binomial(k, p, *, shape: tuple = (), dtype: Dtype | None = None, _rng):
    """For each pair of `k` and `p`, `shape` counts."""
    return sample("negative_binomial", (k, p), shape, dtype, _rng)


@creator("_random_generalized_negative_binomial", "random_generalized_negative_binomial")
def random_generalized_negative_binomial(
    *,
    mu: float = 1.0,
    alpha: float = 1.0,
    shape: tuple | None = None,
    ctx: str = "",
    dtype: Dtype | None = None,
    _rng,
    _device,
):
    """Counts of mean `mu` and dispersion `alpha`, as floating point numbers."""
    check_negative_binomial("generalized negative binomial", mu=mu, alpha=alpha)
    return create("generalized_negative_binomial", (mu, alpha), shape, dtype, _rng, _device)


@op("_random_generalized_negative_binomial_like", shape="same")
def random_generalized_negative_binomial_like(data, *, mu: float = 1.0, alpha: float = 1.0, _rng):
    """Counts of mean `mu` and dispersion `alpha`, in the shape of `data`."""
    check_negative_binomial("generalized negative binomial", mu=mu, alpha=alpha)
    return like("generalized_negative_binomial", (mu, alpha), data, _rng)


@sampler("_sample_generalized_negative_binomial", "sample_generalized_negative_binomial")
def sample_generalized_negative_binomial(mu, alpha, *, shape: tuple = (), dtype: Dtype | None = None, _rng):
    """For each pair of `mu` and `alpha`, `shape` counts."""
    return sample("generalized_negative_binomial", (mu, alpha), shape, dtype, _rng)


# -- integers, choices, orders -----------------------------------------------------------------------------------------


@creator("_random_randint", "random_randint")
def random_randint(
    *,
    low: Long,
    high: Long,
    shape: tuple | None = None,
    ctx: str = "",
    dtype: Dtype | None = None,
    _rng,
    _device,
):
    """Integers in [low, high)."""
    check(
        high > low, "param.high > param.low", f"{high} vs. {low}",
        "low must be less or equal to high in uniform distribution",
    )  # fmt: skip
    return create("randint", (low, high), shape, dtype, _rng, _device, ("int32", "int64"), "int32")


def multinomial_shapes(attrs, shapes):
    """Inference: the leading dimensions of the distributions, then those of the samples."""
    data, samples = shapes[0], tuple(attrs["shape"])
    result = None if data is None else (samples or (1,)) if len(data) == 1 else tuple(data[:-1]) + samples
    return [result] * (2 if attrs["get_prob"] else 1)


@op("_sample_multinomial", "sample_multinomial", outputs=lambda a: 2 if a["get_prob"] else 1, shape=multinomial_shapes)
def sample_multinomial(
    data,
    *,
    shape: tuple = (),
    get_prob: bool = False,
    dtype: Literal["float16", "float32", "float64", "int32", "uint8"] = "int32",
    _rng,
):
    """For each row of probabilities `shape` class numbers; `get_prob` adds their (differentiable) log likelihoods."""
    if not data.dtype.is_floating_point:
        raise MXNetError(f"This operation only support floating point types, not {NAME[data.dtype]}")
    target = multinomial_shapes({"shape": shape, "get_prob": False}, [tuple(data.shape)])[0]
    rows = data.reshape(-1, data.shape[-1])
    each = math.prod(target) // max(rows.shape[0], 1)  # pyright: ignore[reportArgumentType]
    classes = choose(rows.detach(), each, _rng)
    samples = classes.to(TORCH[dtype]).reshape(target)  # pyright: ignore[reportArgumentType]
    if get_prob:
        likely = rows.gather(1, classes.clamp(max=rows.shape[1] - 1))
        return samples, likely.log().reshape(target)
    return with_gradient(lambda d: samples, lambda inputs, outputs, heads: torch.zeros_like(inputs[0]), data)


def choose(rows, each, rng):
    """Class numbers by searching the cumulated probabilities, which MXNet keeps in single precision."""
    if rows.device.type == "meta":
        return torch.empty((len(rows), each), dtype=torch.int64, device="meta")
    if rows.is_cpu and rows.dtype is torch.float32:
        quick = random_kernels.choices(rng, rows.contiguous().numpy(), each)
        if quick is not None:
            return torch.from_numpy(quick)
    edges = rows.double().cumsum(1).float().to(rows.dtype)
    if rows.device.type == "cpu":
        unit = torch.from_numpy(rng.serial_uniform(len(rows) * each)).view(len(rows), each)
    else:
        unit = torch.rand((len(rows), each), device=rows.device)
    return torch.searchsorted(edges, unit.to(rows.dtype).contiguous())


@op("_shuffle", "shuffle", shape="same", differentiable=False)
def shuffle(data, *, _rng):
    """The elements of the first axis in random order."""
    if data.device.type == "meta":
        return torch.empty_like(data)
    if data.device.type == "cpu":
        order = torch.from_numpy(_rng.permutation(data.shape[0], sweep_up=data.dim() == 1))
    else:
        order = torch.randperm(data.shape[0], device=data.device)
    return data.detach().index_select(0, order)


def zipfian_shapes(attrs, shapes):
    """Inference: candidates, and tries for each row."""
    return [attrs["shape"], attrs["shape"][:1] if attrs["shape"] else None]


@op("_sample_unique_zipfian", outputs=2, shape=zipfian_shapes, differentiable=False)
def sample_unique_zipfian(*, range_max: int, shape: tuple | None = None, _rng, _device):
    """Rows of different classes, small numbers likelier, and how many draws each row took."""
    size = tuple(shape or ())
    check(len(size) == 2, "param.shape.ndim() == 2U", f"{len(size)} vs. 2", "shape is (rows, candidates)")
    words = "Number of samples cannot exceed the number of possible classes"
    check(size[1] <= range_max, "num_sampled <= param.range_max", f"{size[1]} vs. {range_max}", words)  # pyright: ignore[reportGeneralTypeIssues]
    device = torch.device(_device or "cpu")
    if device.type == "meta":
        return tuple(torch.empty(s, dtype=torch.int64, device=device) for s in (size, size[:1]))
    samples, tries = _rng.unique_zipfian(range_max, *size)
    return uploaded(samples, device), uploaded(tries, device)
