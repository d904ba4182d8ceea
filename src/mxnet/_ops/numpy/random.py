"""Random arrays of `mx.np.random`: noise from MXNet's single engine, moved and stretched by the parameters.

Each parameter is an attribute (a number) or an input (an array): there is an input for each attribute that is None.
Where MXNet lets gradients reach the parameters, they flow through the arithmetic.
"""

import functools
import math

import numpy as np
import torch

from ..._core.attrs import Dtype, Floats
from ..._core.errors import MXNetError, ValueRefused
from ..._device import late
from ..._device.copies import number
from ..._kernels.random.draw import register, serial_gamma
from ..registry.registry import op
from ..registry.torch_dtypes import NAME, TORCH, torch_dtype

FLOATS = ("float16", "float32", "float64")
register()


# -- what the distributions share --------------------------------------------------------------------------------------


def inputs_for(*parameters):
    """Which inputs a call has: one for each parameter that is not a number."""

    def names(attrs):
        return tuple(f"input{i + 1}" for i in range(sum(attrs[p] is None for p in parameters)))

    return names


def distribution(name, *parameters, differentiable=True):
    """Register an operator whose parameters are numbers or arrays."""
    return op(f"_npi_{name}", inputs=inputs_for(*parameters), dtype="any", differentiable=differentiable)


def assigned(numbers, arrays):
    """Every parameter: the number, in single precision, or the next array."""
    given = iter([a for a in arrays if a is not None])
    return [next(given) if n is None else float(np.float32(n)) for n in numbers]


def constant(parameter):
    """A parameter to which nothing flows back."""
    return parameter.detach() if isinstance(parameter, torch.Tensor) else parameter


def _together(shapes):
    try:
        return np.broadcast_shapes(*shapes)  # torch's own imports sympy, half a second
    except ValueError:
        told = " ".join(str(list(shape)) for shape in shapes)
        raise MXNetError(f"operands could not be broadcast together with shapes {told}") from None


def wanted_shape(size, parameters, batch=False):
    """The result's shape: what is asked for, or the parameters' common one; a batch stands in front of that."""
    shapes = [p.shape for p in parameters if isinstance(p, torch.Tensor)]
    size = None if size is None else tuple(size)
    if not shapes:
        return size or ()
    common = _together(shapes)
    if size is None:
        return common
    if batch:
        return size + common
    fits = len(common) <= len(size) and all(c in (1, s) for c, s in zip(common[::-1], size[::-1], strict=False))
    if not fits:
        raise MXNetError(f"operands could not be broadcast together with shapes {list(common)} {list(size)}")
    return size


def place(arrays, device):
    """Where the result belongs: with the parameters, or where the caller asks for it."""
    found = next((a.device for a in arrays if a is not None), None)
    return torch.device(device or "cpu") if found is None else found


def uniform_noise(shape, rng, device, dtype="float32"):
    """Numbers of [0, 1)."""
    if device.type != "cpu":
        return torch.rand(shape, device=device, dtype=TORCH[dtype])  # on `meta` nothing is drawn
    return torch.from_numpy(rng.serial_uniform(math.prod(shape), dtype=dtype)).view(shape)


def normal_noise(shape, rng, device, dtype="float32"):
    """Standard normal numbers."""
    if device.type != "cpu":
        return torch.randn(shape, device=device, dtype=TORCH[dtype])
    return torch.from_numpy(rng.serial_normal(math.prod(shape), dtype=dtype)).view(shape)


def floating(dtype, operator):
    """The torch type of a result, which must be a floating point type."""
    if dtype not in FLOATS:
        listed = ", ".join(repr(n) for n in FLOATS)
        raise MXNetError(f"Invalid Input: '{dtype}', valid values are: {{{listed}}}, in operator _npi_{operator}")
    return torch_dtype(dtype)


def require(parameter, words, *, above=False):
    """A parameter must not be negative, or must be positive."""
    if isinstance(parameter, torch.Tensor):
        if parameter.device.type == "meta" or not parameter.numel():
            return
        least = parameter.detach().min()
        fulfilled = least > 0 if above else least >= 0
        late.require(fulfilled, lambda: ValueRefused(f"Check failed: {words}, got {least.item():g}"))
        return
    if not (parameter > 0 if above else parameter >= 0):
        raise ValueRefused(f"Check failed: {words}, got {parameter:g}")


# -- a place and a width -----------------------------------------------------------------------------------------------


def spread(name, numbers, arrays, size, dtype, noise, rng, device, batch=False):
    """First parameter + noise x second parameter."""
    target = floating(dtype, name)
    where = place(arrays, device)
    loc, scale = assigned(numbers, arrays)
    require(scale, "scale < 0")
    return (loc + noise(wanted_shape(size, (loc, scale), batch), rng, where) * scale).to(target)


def between(name, numbers, arrays, size, dtype, rng, device, batch=False):
    """Numbers from the first parameter to the second; nothing flows back to them."""
    target = floating(dtype, name)
    where = place(arrays, device)
    low, high = (constant(p) for p in assigned(numbers, arrays))
    unit = uniform_noise(wanted_shape(size, (low, high), batch), rng, where)
    width = high - low if arrays[0] is not None else float(np.float32(high) - np.float32(low))
    return (low + unit * width).to(target)


@distribution("uniform", "low", "high", differentiable=False)
def uniform(
    input1=None, input2=None, *, low: float | None, high: float | None, size: tuple | None = None,
    ctx: str = "cpu", dtype: Dtype = "float32", _rng, _device,
):  # fmt: skip
    """Numbers drawn from the uniform distribution on [low, high)."""
    return between("uniform", (low, high), (input1, input2), size, dtype, _rng, _device)


@distribution("uniform_n", "low", "high", differentiable=False)
def uniform_n(
    input1=None, input2=None, *, low: float | None, high: float | None, size: tuple | None = None,
    ctx: str = "cpu", dtype: Dtype = "float32", _rng, _device,
):  # fmt: skip
    """`size` numbers of [low, high) for each of the parameters' elements."""
    return between("uniform_n", (low, high), (input1, input2), size, dtype, _rng, _device, batch=True)


@distribution("normal", "loc", "scale")
def normal(
    input1=None, input2=None, *, loc: float | None, scale: float | None, size: tuple | None = None,
    ctx: str = "cpu", dtype: Dtype = "float32", _rng, _device,
):  # fmt: skip
    """Numbers drawn from the normal distribution with mean `loc` and standard deviation `scale`."""
    return spread("normal", (loc, scale), (input1, input2), size, dtype, normal_noise, _rng, _device)


@distribution("normal_n", "loc", "scale")
def normal_n(
    input1=None, input2=None, *, loc: float | None, scale: float | None, size: tuple | None = None,
    ctx: str = "cpu", dtype: Dtype = "float32", _rng, _device,
):  # fmt: skip
    """`size` normal numbers for each of the parameters' elements."""
    return spread("normal_n", (loc, scale), (input1, input2), size, dtype, normal_noise, _rng, _device, batch=True)


@distribution("logistic", "loc", "scale")
def logistic(
    input1=None, input2=None, *, loc: float | None, scale: float | None, size: tuple | None = None,
    ctx: str = "cpu", _rng, _device,
):  # fmt: skip
    """Logistic numbers."""
    return spread("logistic", (loc, scale), (input1, input2), size, "float32", logistic_noise, _rng, _device)


@distribution("gumbel", "loc", "scale")
def gumbel(
    input1=None, input2=None, *, loc: float | None, scale: float | None, size: tuple | None = None,
    ctx: str = "cpu", _rng, _device,
):  # fmt: skip
    """Gumbel numbers."""
    return spread("gumbel", (loc, scale), (input1, input2), size, "float32", gumbel_noise, _rng, _device)


# MXNet's logarithms are in double precision, its noise in single.


def logistic_noise(shape, rng, device):
    unit = uniform_noise(shape, rng, device)
    return (unit.double().log() - (1 - unit).double().log()).float()


def gumbel_noise(shape, rng, device):
    return (-(-uniform_noise(shape, rng, device).double().log()).log()).float()


# -- one parameter -----------------------------------------------------------------------------------------------------


def single(number, array, size, device, words, above=False):
    """The parameter, the shape and the place of a distribution with one parameter."""
    where = place((array,), device)
    (parameter,) = assigned((number,), (array,))
    require(parameter, words, above=above)
    return parameter, wanted_shape(size, (parameter,)), where


def waiting(shape, rng, device):
    """Waiting times of mean one, in double precision."""
    return -uniform_noise(shape, rng, device).double().log()


@distribution("exponential", "scale")
def exponential(input1=None, *, scale: float | None = 1.0, size: tuple | None = None, ctx: str = "cpu", _rng, _device):
    """Waiting times of mean `scale`."""
    parameter, shape, where = single(scale, input1, size, _device, "expect scale >= 0")
    return (waiting(shape, _rng, where) * parameter).float()


@distribution("rayleigh", "scale")
def rayleigh(input1=None, *, scale: float | None = 1.0, size: tuple | None = None, ctx: str = "cpu", _rng, _device):
    """Rayleigh numbers."""
    parameter, shape, where = single(scale, input1, size, _device, "expect scale >= 0")
    return ((2 * waiting(shape, _rng, where)).sqrt() * parameter).float()


@distribution("weibull", "a")
def weibull(input1=None, *, a: float | None = None, size: tuple | None = None, ctx: str = "cpu", _rng, _device):
    """Weibull numbers of scale one."""
    parameter, shape, where = single(a, input1, size, _device, "expect a > 0", above=True)
    return (waiting(shape, _rng, where) ** (1.0 / parameter)).float()


@distribution("pareto", "a")
def pareto(input1=None, *, a: float | None = None, size: tuple | None = None, ctx: str = "cpu", _rng, _device):
    """Pareto numbers of the second kind."""
    parameter, shape, where = single(a, input1, size, _device, "expect a > 0", above=True)
    return ((waiting(shape, _rng, where) / parameter).exp() - 1).float()


@distribution("powerd", "a", differentiable=False)
def powerd(input1=None, *, a: float | None = None, size: tuple | None = None, _rng, _device):
    """Numbers of [0, 1] with density a x^(a-1)."""
    parameter, shape, where = single(a, input1, size, _device, "expect a > 0", above=True)
    noise = uniform_noise((math.prod(shape) + 1,), _rng, where)[:-1].view(shape)  # MXNet draws one more than it uses
    return ((1 - noise) ** (1.0 / parameter)).float()


# -- gamma: rejection, each sample with attempts of its own ------------------------------------------------------------


@distribution("gamma", "shape", "scale", differentiable=False)
def gamma(
    input1=None, input2=None, *, shape: float | None, scale: float | None, size: tuple | None = None,
    ctx: str = "cpu", dtype: Dtype = "float32", _rng, _device,
):  # fmt: skip
    """Gamma numbers of a shape and a scale."""
    target = floating(dtype, "gamma")
    where = place((input1, input2), _device)
    parameters = [constant(p) for p in assigned((shape, scale), (input1, input2))]
    for parameter, name in zip(parameters, ("shape", "scale"), strict=True):
        require(parameter, f"expect {name} > 0", above=True)
    wanted = wanted_shape(size, parameters)
    if where.type == "meta":
        return torch.empty(wanted, dtype=target, device=where)
    if where.type != "cpu":
        return gamma_of_device(parameters, wanted, target, where)
    single = all(isinstance(p, float) for p in parameters)
    terms = one_gamma(*parameters, where) if single else gamma_terms(parameters, wanted, where)
    count = math.prod(wanted)
    quick = serial_gamma(_rng, terms.numpy(), count)
    if quick is not None:
        return torch.from_numpy(quick).view(wanted).to(target)
    result, missing = torch.empty(count, dtype=torch.float64, device=where), torch.arange(count, device=where)
    while len(missing):  # numbers are drawn for all each time
        unit = uniform_noise((count, 2), _rng, where, "float64").index_select(0, missing)
        noise = normal_noise((count, 2), _rng, where, "float64")[:, 0].index_select(0, missing)
        found = attempt(unit, noise, *(terms if single else terms[:, missing]))
        result.index_copy_(0, missing, found)
        missing = missing[found < 0]
    return result.view(wanted).to(target)


def gamma_of_device(parameters, wanted, dtype, device):
    """Gamma numbers from a device's own stream, whose kernel repeats attempts without the host."""
    kind = dtype if dtype is torch.float64 else torch.float32
    tensors = (p.to(kind) if isinstance(p, torch.Tensor) else number(p, kind, device) for p in parameters)
    form, width = (t.expand(wanted) for t in tensors)
    return (torch._standard_gamma(form.contiguous()) * width).to(dtype)


def gamma_terms(parameters, wanted, device):
    """What Marsaglia and Tsang call d and 1/c, the width, and one over shapes below one, else 0: a column of each."""
    wide = (torch.as_tensor(p, dtype=torch.float64, device=device) for p in parameters)
    form, width = (t.broadcast_to(wanted).reshape(-1) for t in wide)
    d = torch.where(form < 1, form + 2.0 / 3.0, form - 1.0 / 3.0)
    return torch.stack([d, (9.0 * d).sqrt(), width, torch.where(form < 1, (1.0 / form).float().double(), 0.0)])


@functools.lru_cache
def one_gamma(form, width, device):
    """The terms of numbers, a column for all."""
    return gamma_terms((form, width), (1,), device)


def attempt(unit, noise, d, root, width, exponent):
    """Marsaglia and Tsang's method, once for each element; -1 where it fails."""
    v, square = (1 + noise / root) ** 3, noise * noise
    u = unit[:, 0]
    passed = (u <= 1 - 0.0331 * square * square) | (u.float().log() < 0.5 * square + d * (1 - v + v.float().log()))
    found = d * v * width
    if exponent.any():
        boost = (unit[:, 1].float().double() ** exponent).float()  # rounded once, as a good C library's
        found = found * torch.where(exponent > 0, boost.double(), 1.0)
    return torch.where((v > 0) & passed, found, -1.0)


# -- throws and choices ------------------------------------------------------------------------------------------------


def bernoulli_inputs(attrs):
    return () if attrs["prob"] is not None or attrs["logit"] is not None else ("input1",)


@op("_npi_bernoulli", inputs=bernoulli_inputs, dtype="any", differentiable=False)
def bernoulli(
    input1=None, *, prob: float | None, logit: float | None, size: tuple | None = None,
    ctx: str = "cpu", dtype: Dtype = "float32", is_logit: bool, _rng, _device,
):  # fmt: skip
    """Ones with the chance `prob`, or with the odds whose logarithm is `logit`; zeros else."""
    by_odds = is_logit or logit is not None
    where = place((input1,), _device)
    (chance,) = assigned((prob if logit is None else logit,), (input1,))
    chance = constant(chance)
    if not by_odds:
        words = "expect probs >= 0 && probs <= 1"
        require(chance, words)
        require(1 - chance, words)
    noise = logistic_noise if by_odds else uniform_noise
    threshold = noise(wanted_shape(size, (chance,)), _rng, where)
    return (threshold < chance).to(torch_dtype(dtype))


def choice_inputs(attrs):
    return tuple(f"input{i + 1}" for i in range((attrs["a"] is None) + bool(attrs["weighted"])))


@op("_npi_choice", inputs=choice_inputs, dtype="any", differentiable=False)
def choice(
    input1=None, input2=None, *, a: int | None, size: tuple | None, ctx: str = "cpu",
    replace: bool = True, weighted: bool = False, _rng, _device,
):  # fmt: skip
    """Places in a list of `a` (or of the first input's length), each as likely, or by weight."""
    where = place((input1, input2), _device)
    count = len(input1) if a is None else a  # pyright: ignore[reportArgumentType]
    wanted = () if size is None else tuple(size)
    number = math.prod(wanted)
    if not replace and number > count:
        raise ValueRefused("Cannot take a larger sample than population when 'replace=False'")
    if where.type == "meta":
        return torch.empty(wanted, dtype=torch.int64, device=where)
    if weighted:
        picked = by_weight(input2 if a is None else input1, count, number, replace, _rng, where)
    else:
        picked = as_likely(count, number, replace, _rng, where)
    return picked.reshape(wanted)


def by_weight(weights, count, number, replace, rng, device):
    """With replacement: where the running sum passes a number; without: the largest of Gumbel's keys."""
    if weights.shape != (count,):
        raise ValueRefused(f"a and p must have same size, got {count} and {tuple(weights.shape)}")
    if not replace:
        keys = gumbel_noise((count,), rng, device) + weights.detach().float().log()
        return keys.argsort(descending=True)[:number]
    unit = uniform_noise((number,), rng, device)
    return (running_sums(weights.float()) < unit.unsqueeze(1)).sum(1)


def as_likely(count, number, replace, rng, device):
    on_device = device.type != "cpu"
    if replace and on_device:
        return torch.randint(count, (number,), device=device)
    if on_device:
        return torch.randperm(count, device=device)[:number]
    return torch.from_numpy(rng.serial_words(number) % count if replace else reservoir(count, number, rng))


def reservoir(count, number, rng):
    """Places without repetition: exchanges of the fewer of those taken and those left."""
    fewer = min(number, count - number)
    split = count - fewer
    draws = rng.serial_words(fewer) % (np.arange(fewer) + split + 1)
    places = np.arange(count)
    for i, z in enumerate(draws.tolist()):
        if z < split:
            places[z], places[i + split] = places[i + split], places[z]
    return places[count - number :] if 2 * number < count else places[:number]


def running_sums(values):
    """Sums up to each element in the values' own precision, on the CPU one after the other."""
    if not values.is_cpu:
        return values.detach().cumsum(0)
    return torch.from_numpy(values.detach().cpu().numpy().cumsum(dtype=NAME[values.dtype]))


def multinomial_inputs(attrs):
    return () if attrs["pvals"] is not None else ("a",)


@op("_npi_multinomial", inputs=multinomial_inputs, dtype="any", differentiable=False)
def multinomial(a=None, *, n: int, pvals: Floats | None = None, size: tuple | None = None, _rng, _device):
    """How often each outcome came in `n` throws."""
    where = place((a,), _device)
    chances = a if pvals is None else torch.tensor(pvals, dtype=torch.float64)
    wanted = (*(() if size is None else tuple(size)), len(chances))  # pyright: ignore[reportArgumentType]
    rounds = math.prod(wanted[:-1])
    if where.type == "meta" or not math.prod(wanted):
        return torch.zeros(wanted, dtype=torch.int64, device=where)
    ends = running_sums(chances)
    exceeded = (ends.double() > 1.0 + 1e-12).any()
    late.require(~exceeded, lambda: ValueRefused("Check failed: sum(pvals[:-1]) > 1.0"))
    ends = ends.to(where, non_blocking=True)
    spare = 0 if pvals is None else len(pvals)  # MXNet draws for the place where it then puts the chances
    unit = uniform_noise((rounds * n + spare,), _rng, where, "float64")[: rounds * n].to(ends.dtype)
    outcome = torch.searchsorted(ends, unit, right=True).clamp(max=len(ends) - 1).reshape(rounds, n)
    counts = torch.zeros((rounds, len(ends)), dtype=torch.int64, device=where)
    return counts.scatter_add_(1, outcome, torch.ones_like(outcome)).reshape(wanted)
