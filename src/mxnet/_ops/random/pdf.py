"""Probability densities of samples (`random_pdf_*`), differentiable in their parameters."""

import math
from collections.abc import Callable

import torch

from ..._core.errors import MXNetError
from ..registry.registry import op
from ..registry.shape_rules import bracket


def uniform(sample, low, high):
    """MXNet does not ask where the sample lies."""
    return (-torch.log(high - low)).expand(sample.shape).contiguous()


def uniform_density(sample, low, high):
    """The exponential of `uniform`, taken before the parameters are spread over the samples."""
    return torch.exp(-torch.log(high - low)).expand(sample.shape).contiguous()


def normal(sample, mu, sigma):
    distance = (sample - mu) / sigma
    return -0.5 * distance * distance - torch.log(sigma) - 0.5 * math.log(2 * math.pi)


def gamma(sample, alpha, beta):
    return alpha * torch.log(beta) + (alpha - 1) * torch.log(sample) - beta * sample - torch.lgamma(alpha)


def exponential(sample, lam):
    return torch.log(lam) - lam * sample


def poisson(sample, lam):
    count = sample.detach()
    return count * torch.log(lam) - torch.lgamma(count + 1) - lam


def negative_binomial(sample, k, p):
    count = sample.detach()
    ways = torch.lgamma(count + k) - torch.lgamma(count + 1) - torch.lgamma(k)
    return ways + k * torch.log(p) + count * torch.log(1 - p)


def generalized_negative_binomial(sample, mu, alpha):
    return negative_binomial(sample, 1 / alpha, 1 / (mu * alpha + 1))


def dirichlet(sample, alpha):
    constant = torch.lgamma(alpha.sum(-1)) - torch.lgamma(alpha).sum(-1)
    return ((alpha - 1) * torch.log(sample)).sum(-1) + constant


def spread(sample: torch.Tensor, parameter: torch.Tensor, inner: int = 0) -> torch.Tensor:
    """A parameter for each sample: it lacks the axes along which there are several samples of one distribution."""
    lead = parameter.dim() - inner
    if parameter.shape[:lead] != sample.shape[:lead] or parameter.dim() > sample.dim():
        raise MXNetError(
            f"parameters of shape {bracket(parameter.shape)} do not fit samples of shape {bracket(sample.shape)}"
        )
    ones = [1] * (sample.dim() - parameter.dim())
    return parameter.reshape(*parameter.shape[:lead], *ones, *parameter.shape[lead:])


def density(rule: Callable[..., torch.Tensor], is_log: bool, sample, *parameters, inner: int = 0) -> torch.Tensor:
    logarithm = rule(sample, *(spread(sample, p, inner) for p in parameters))
    return logarithm if is_log else torch.exp(logarithm)


@op("_random_pdf_uniform", "random_pdf_uniform")
def pdf_uniform(sample, low, high, *, is_log: bool = False):
    """Density of the uniform distribution between `low` and `high`."""
    return density(uniform if is_log else uniform_density, True, sample, low, high)


@op("_random_pdf_normal", "random_pdf_normal")
def pdf_normal(sample, mu, sigma, *, is_log: bool = False):
    """Density of the normal distribution with mean `mu` and standard deviation `sigma`."""
    return density(normal, is_log, sample, mu, sigma)


@op("_random_pdf_gamma", "random_pdf_gamma")
def pdf_gamma(sample, alpha, beta, *, is_log: bool = False):
    """Density of the gamma distribution with shape `alpha` and rate `beta`."""
    return density(gamma, is_log, sample, alpha, beta)


@op("_random_pdf_exponential", "random_pdf_exponential")
def pdf_exponential(sample, lam, *, is_log: bool = False):
    """Density of the exponential distribution with rate `lam`."""
    return density(exponential, is_log, sample, lam)


@op("_random_pdf_poisson", "random_pdf_poisson")
def pdf_poisson(sample, lam, *, is_log: bool = False):
    """Probability of counts under the Poisson distribution with rate `lam`."""
    return density(poisson, is_log, sample, lam)


@op("_random_pdf_negative_binomial", "random_pdf_negative_binomial")
def pdf_negative_binomial(sample, k, p, *, is_log: bool = False):
    """Probability of counts under the negative binomial distribution with limit `k` and failure probability `p`."""
    return density(negative_binomial, is_log, sample, k, p)


@op("_random_pdf_generalized_negative_binomial", "random_pdf_generalized_negative_binomial")
def pdf_generalized_negative_binomial(sample, mu, alpha, *, is_log: bool = False):
    """Probability of counts under the negative binomial distribution with mean `mu` and dispersion `alpha`."""
    return density(generalized_negative_binomial, is_log, sample, mu, alpha)


@op("_random_pdf_dirichlet", "random_pdf_dirichlet")
def pdf_dirichlet(sample, alpha, *, is_log: bool = False):
    """Density of the Dirichlet distribution with concentrations `alpha` along the last axis."""
    found = density(dirichlet, is_log, sample, alpha, inner=1)
    return found if found.dim() else found.reshape(1)  # one number has the shape (1,)
