"""Which operator a random function means: parameters that are numbers or parameters that are arrays."""

import numbers

from .attrs import NULL

KIND = "Distribution parameters must all have the same type, but got both {} and {}."


def draw(random, sampler, parameters, array, options):
    """Call `random` on numbers, `sampler` on values of the class `array`; `options` not given are left out."""
    given = {k: v for k, v in options.items() if v is not NULL}
    if all(p.__class__ in (int, float) for p in parameters):
        return random(*parameters, **given)
    first = parameters[0]
    kind = array if isinstance(first, array) else numbers.Number
    if not isinstance(first, kind):
        raise ValueError(f"Distribution parameters must be either {array.__name__} or numbers, but got {type(first)}.")
    for other in parameters[1:]:
        assert isinstance(other, kind), KIND.format(type(first), type(other))
    if kind is array:
        given.pop("ctx", None)
        return sampler(*parameters, **given)
    return random(*parameters, **given)
