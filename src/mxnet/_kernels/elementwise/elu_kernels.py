"""ELU, softplus (`softrelu`) and tanh, values and slopes, in SIMD vectors (importing this module imports numba)."""

from collections.abc import Callable
from typing import Any

from ..runtime.simd import FLOAT, WIDE, Lanes, Writer, compiled, exp, expm1, log1p, sigmoid, writes
from ..runtime.simd import tanh as _tanh

_LOWEST = -87.0  # powers below it are zero: floats would lose their digits there


def _kernel(formula: Callable[..., Lanes], inputs: int, floats: int = 0) -> Any:
    """The formula of some inputs for a run of vectors; the last one may overlap the one before."""

    @writes(inputs + 2, floats, WIDE)
    def kernel(write: Writer, *given: Any) -> None:
        places, size, factors = given[: inputs + 1], given[inputs + 1], map(write.broadcast, given[inputs + 2 :])
        first, factors = places[0], list(factors)
        away = [write.builder.sub(place, first) for place in places]
        last = write.at(first, size, -write.bytes)

        def compute(address: Any, other: Any, _: Any) -> Any:
            at = write.builder.select(write.builder.icmp_signed("<", address, last), address, last)
            *sources, target = (write.at(at, distance) for distance in away)
            write.store(formula(*map(write.load, sources), *factors), target)
            return other, []

        write.loop(first, write.at(first, size), write.bytes, first, [], compute)

    return kernel


def _elu(x: Lanes, slope: Lanes) -> Lanes:
    return x.where_positive(x, expm1(x) * slope)


def _elu_slope(x: Lanes, head: Lanes, slope: Lanes) -> Lanes:
    return x.where_positive(head, head * slope * exp(x).where_below(x, _LOWEST, 0.0))


def _softrelu(x: Lanes) -> Lanes:
    """log(1 + exp(x)), from the smaller of exp(x) and exp(-x)."""
    size = x.where_positive(x, x * -1.0)
    rest = log1p(exp(size * -1.0).where_below(size * -1.0, _LOWEST, 0.0))
    return x.where_positive(x + rest, rest)


def _softrelu_slope(x: Lanes, head: Lanes) -> Lanes:
    return head * sigmoid(x).where_below(x, _LOWEST, 0.0)


_elu_run, _elu_slope_run = _kernel(_elu, 1, 1), _kernel(_elu_slope, 2, 1)
_softrelu_run, _softrelu_slope_run = _kernel(_softrelu, 1), _kernel(_softrelu_slope, 2)
_tanh_run = _kernel(_tanh, 1)


@compiled("void(int64, int64, float32, int64, int64)")
def elu(data, result, slope, first, last):
    """Floats `first` to `last`, at least as many as a vector has, of all kernels here."""
    at = first * FLOAT
    _elu_run(data + at, result + at, (last - first) * FLOAT, slope)


@compiled("void(int64, int64, int64, float32, int64, int64)")
def elu_slope(data, head, result, slope, first, last):
    at = first * FLOAT
    _elu_slope_run(data + at, head + at, result + at, (last - first) * FLOAT, slope)


@compiled("void(int64, int64, int64, int64)")
def softrelu(data, result, first, last):
    at = first * FLOAT
    _softrelu_run(data + at, result + at, (last - first) * FLOAT)


@compiled("void(int64, int64, int64, int64, int64)")
def softrelu_slope(data, head, result, first, last):
    at = first * FLOAT
    _softrelu_slope_run(data + at, head + at, result + at, (last - first) * FLOAT)


@compiled("void(int64, int64, int64, int64)")
def tanh(data, result, first, last):
    at = first * FLOAT
    _tanh_run(data + at, result + at, (last - first) * FLOAT)
