"""Shape and type inference as users call it on a symbol."""

import warnings

from .._core.dtypes import SCALARS, dtype_name
from .._core.errors import MXNetError
from .._graph.infer.fixpoint import type_facts
from .._graph.infer.zero_size import fully_known, user_shape_facts
from ..util import is_np_shape


def _given(symbol, args, kwargs, what):
    """Facts by argument name, given by position or by name."""
    if args and kwargs:
        raise ValueError(f"Can only specify known argument {what} either by positional or kwargs way.")
    return dict(zip(symbol.list_arguments(), args, strict=False)) if args else kwargs


def _report(what, names, values, missing):
    lines = [f"{name}: {value}" for name, value in zip(names, values, strict=True) if missing(value)]
    if len(lines) > 10:
        lines = [*lines[:10], "..."]
    warnings.warn(f"{what} Consider providing them as input:\n\t" + "\n\t".join(lines), stacklevel=3)


def _print_arguments(what, args, kwargs):
    print(f"{what} error. Arguments:")
    for i, arg in enumerate(args):
        print(f"  #{i}: {arg}")
    for key, value in kwargs.items():
        print(f"  {key}: {value}")


def _checked_shapes(args, kwargs):
    for i, shape in enumerate(args):
        if shape is not None and not isinstance(shape, tuple):
            raise TypeError(f"Arguments need to be shapes (tuple), but argument {i} is {type(shape)}.")
    for key, shape in kwargs.items():
        if not isinstance(shape, tuple):
            raise TypeError(f"Arguments need to be shapes (tuple), but '{key}' is {type(shape)}.")


class Inference:
    """Methods of a symbol that find shapes and dtypes without computing."""

    __slots__ = ()

    def infer_shape(self, *args, **kwargs):
        """The shapes of arguments, outputs and auxiliary states, from those of some inputs.

        Parameters
        ----------
        *args : tuple of int
            Shapes, in the order of `list_arguments()`.
        **kwargs : tuple of int
            Shapes by argument name.

        Returns
        -------
        (list, list, list) of tuples
            Three times None, with a warning that says what is missing, if they cannot be deduced.

        Examples
        --------
        >>> net = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc")
        >>> net.infer_shape(data=(4, 3))
        ([(4, 3), (2, 3), (2,)], [(4, 2)], [])
        """
        try:
            result = self._infer_shape_impl(False, *args, **kwargs)
            if result[1] is None:
                shapes = self._infer_shape_impl(True, *args, **kwargs)[0]
                _report(
                    "Cannot decide shape for the following arguments (0s in shape means unknown dimensions).",
                    self.list_arguments(),
                    shapes,
                    lambda shape: not fully_known(shape) or not (shape or is_np_shape()),
                )
            return result
        except MXNetError:
            _print_arguments("infer_shape", args, kwargs)
            raise

    def infer_shape_partial(self, *args, **kwargs):
        """The shapes as far as they can be deduced; an unknown shape is empty, an unknown size 0.

        Parameters
        ----------
        *args : tuple of int
            Shapes, in the order of `list_arguments()`.
        **kwargs : tuple of int
            Shapes by argument name.

        Returns
        -------
        (list, list, list) of tuples

        Examples
        --------
        >>> net = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc")
        >>> net.infer_shape_partial()[0]
        [(), (), ()]
        """
        return self._infer_shape_impl(True, *args, **kwargs)

    def _infer_shape_impl(self, partial, *args, **kwargs):
        _checked_shapes(args, kwargs)
        given = _given(self, args, kwargs, "shapes")
        facts = user_shape_facts(self._entries, {name: shape for name, shape in given.items() if shape is not None})
        if not partial and not facts.complete(fully_known):
            return None, None, None
        # what is not known is None under NumPy's semantics, otherwise `()`
        return facts.results() if is_np_shape() else tuple([s or () for s in shapes] for shapes in facts.results())

    def infer_type(self, *args, **kwargs):
        """The data types of arguments, outputs and auxiliary states, from those of some inputs.

        Parameters
        ----------
        *args : dtype
            Data types, in the order of `list_arguments()`.
        **kwargs : dtype
            Data types by argument name.

        Returns
        -------
        (list, list, list) of types
            Three times None, with a warning, if they cannot be deduced.

        Examples
        --------
        >>> [t.__name__ for t in (mx.sym.var("x") + mx.sym.var("y")).infer_type(x="float16")[0]]
        ['float16', 'float16']
        """
        try:
            result = self._infer_type_impl(False, *args, **kwargs)
            if result[1] is None:
                types = self._infer_type_impl(True, *args, **kwargs)[0]
                _report(
                    "Cannot decide type for the following arguments.",
                    self.list_arguments(),
                    types,
                    lambda dtype: not dtype,
                )
            return result
        except MXNetError:
            _print_arguments("infer_type", args, kwargs)
            raise

    def infer_type_partial(self, *args, **kwargs):
        """The data types as far as they can be deduced; an unknown one is None.

        Parameters
        ----------
        *args : dtype
            Data types, in the order of `list_arguments()`.
        **kwargs : dtype
            Data types by argument name.

        Returns
        -------
        (list, list, list) of types

        Examples
        --------
        >>> mx.sym.var("x").infer_type_partial()[0]
        [None]
        """
        return self._infer_type_impl(True, *args, **kwargs)

    def _infer_type_impl(self, partial, *args, **kwargs):
        given = _given(self, args, kwargs, "types")
        facts = type_facts(self._entries, {name: dtype_name(t) for name, t in given.items() if t is not None})
        if not partial and not facts.complete(bool):
            return None, None, None
        return tuple([SCALARS[t] if t else None for t in types] for types in facts.results())
