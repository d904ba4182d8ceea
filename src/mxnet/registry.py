"""mx.registry: factories by name for a family of classes (initializers, metrics, …)."""

import json
import warnings
from functools import partial
from typing import Any

from ._core.advice.constructors import suggestion

_REGISTRY = {}


def _add_class(registry, klass, kind):
    """Put a class into a registry under its name in lower case; warn if it replaces another one."""
    assert isinstance(klass, type)
    name = klass.__name__.lower()
    known = registry.get(name)
    if known is not None:
        warnings.warn(
            f"WARNING: New {kind} {klass.__module__}.{klass.__name__} is overriding existing {kind} "
            f"{known.__module__}.{known.__name__}",
            stacklevel=3,
        )
    registry[name] = klass
    return klass


def get_registry(base_class):
    """A copy of the classes registered for a base class, by name.

    Parameters
    ----------
    base_class : type
        The base class.

    Returns
    -------
    dict of str to type

    Examples
    --------
    >>> "xavier" in mx.registry.get_registry(mx.init.Initializer)
    True
    """
    return _REGISTRY.setdefault(base_class, {}).copy()


def get_register_func(base_class, nickname) -> Any:
    """A decorator that registers subclasses of a base class.

    Parameters
    ----------
    base_class : type
        The base class.
    nickname : str
        What its instances are called.

    Returns
    -------
    callable

    Examples
    --------
    >>> class Shape:
    ...     pass
    >>> register = mx.registry.get_register_func(Shape, "shape")
    >>> create = mx.registry.get_create_func(Shape, "shape")
    >>> @register
    ... class Circle(Shape):
    ...     pass
    >>> type(create("circle")).__name__
    'Circle'
    """
    registry = _REGISTRY.setdefault(base_class, {})

    def register(klass, name=None):
        assert issubclass(klass, base_class), f"Can only register subclass of {base_class.__name__}"
        key = (klass.__name__ if name is None else name).lower()
        known = registry.get(key)
        if known is not None:
            warnings.warn(
                f"\033[91mNew {nickname} {klass.__module__}.{klass.__name__} registered with name {key} is "
                f"overriding existing {nickname} {known.__module__}.{known.__name__}\033[0m",
                UserWarning,
                stacklevel=2,
            )
        registry[key] = klass
        return klass

    register.__doc__ = f"Register {nickname} to the {nickname} factory"
    return register


def get_alias_func(base_class, nickname) -> Any:
    """A decorator factory that registers a class under further names.

    Parameters
    ----------
    base_class : type
        The base class.
    nickname : str
        What its instances are called.

    Returns
    -------
    callable

    Examples
    --------
    >>> class Shape:
    ...     pass
    >>> alias = mx.registry.get_alias_func(Shape, "shape")
    >>> @alias("disc", "round")
    ... class Circle(Shape):
    ...     pass
    >>> type(mx.registry.get_create_func(Shape, "shape")("round")).__name__
    'Circle'
    """
    register = get_register_func(base_class, nickname)

    def alias(*aliases):
        """A decorator that registers a class under these names too."""
        return partial(_register_all, register, aliases)

    return alias


def _register_all(register, names, klass):
    for name in names:
        register(klass, name)
    return klass


def get_create_func(base_class, nickname):
    """A function that makes an instance from a name, an instance, a dict, or JSON of a name and arguments.

    Parameters
    ----------
    base_class : type
        The base class.
    nickname : str
        What its instances are called.

    Returns
    -------
    callable

    Examples
    --------
    >>> create = mx.registry.get_create_func(mx.init.Initializer, "initializer")
    >>> create("normal", sigma=0.5).dumps()
    '["normal", {"sigma": 0.5}]'
    """
    registry = _REGISTRY.setdefault(base_class, {})

    def create(*args, **kwargs):
        name, *args = args or (kwargs.pop(nickname),)
        if isinstance(name, base_class):
            assert not args and not kwargs, f"{nickname} is already an instance. Additional arguments are invalid"
            return name
        if isinstance(name, dict):
            return create(**name)
        assert isinstance(name, str), f"{nickname} must be of string type"
        if name.startswith(("[", "{")):
            assert not args and not kwargs
            return _from_json(json.loads(name))
        key = name.lower()
        assert key in registry, (
            f"{key} is not registered. Please register with {nickname}.register first; {suggestion(key, registry)}"
        )
        return registry[key](*args, **kwargs)

    def _from_json(config):
        return create(**config) if isinstance(config, dict) else create(config[0], **config[1])

    create.__doc__ = f"Make a {nickname} from its name and arguments; an instance is returned as it is."
    return create
