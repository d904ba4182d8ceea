"""The functions `mx.nd.X`, generated from the registered operators on first use.

A generated function has a fast path for the common case: NDArrays of one context and dtype, and no `out`. Everything
else, errors included, goes to `invoke`, which implements every rule and reports what is wrong.
"""

from functools import partial

import torch

from ..._core.attrs import NULL, text
from ..._core.errors import MXNetError
from ..._core.lru import Recent
from ..._core.modes import MODES
from ..._ops.registry import observe, registry
from ..._ops.registry import sparse_outputs as storage
from ..._ops.registry.device import torch_device
from ..._ops.registry.signature import SPARSE, docstring, namespace, parameters
from ...context import PINNED, Context, current_context
from .invoke import DECODERS, check_dtype, invoke, own

# What an operator or the parser of its attributes may raise; `invoke` then repeats the call and reports the error.
FAILURES = (RuntimeError, TypeError, ValueError, AttributeError, IndexError, ArithmeticError, MemoryError, MXNetError)
_GENERATED = {}


def generated_function(name):
    """The `mx.nd` function of the operator `name`."""
    function = _GENERATED.get(name)
    if function is None:
        from ..ndarray import NDArray

        function = _GENERATED[name] = _build(registry.find(name), name, NDArray, call, _finish)
    return function


def generated_function_for(name, array, slow, convert):
    """The same for another array class: `slow` is its `call`, `convert` turns NDArrays into its arrays."""
    function = _GENERATED.get((name, array))
    if function is None:

        def finish(*parts):
            return convert(_finish(*parts))

        function = _GENERATED[name, array] = _build(registry.find(name), name, array, slow, finish)
    return function


def _functions(operator):
    """The functions that generated code calls; without the `plain` and `quick` ones while a wrapper is set."""
    observed = observe.watching()
    plain, plans = None if observed else operator.plain, Recent(_MAX_PLANS)
    return {
        "fn": observe.observed(operator),
        "plain": plain or (lambda *tensors: None),
        "plans": plans,
        "plan": partial(_plan, operator, plans, None if observed else operator.quick),
    }


def creation_of(name, array):
    """A function from a creation operator's attributes and context to an array, or None if `invoke` must run."""
    key = name, array, "creation"
    if key not in _GENERATED:
        operator = registry.find(name)
        body = _fast_creation(operator) if _is_creation(operator) else ""
        source = f"def operator({parameters(operator, 'out=None, name=None')}):\n{body}\n    return None\n"
        _GENERATED[key] = _compiled(operator, name, array, source)
    return _GENERATED[key]


# Immutable types: attributes of these types are parsed once.
_IMMUTABLE = frozenset({int, bool, str, type(None), type(NULL), type})
_MAX_PLANS = 512


def _is_immutable(value):
    if value.__class__ is tuple:
        return _IMMUTABLE.issuperset(map(type, value))
    return value.__class__ in _IMMUTABLE or (value.__class__ is float and value != 0)  # 0.0 and -0.0 are equal keys


def _plan(operator, plans, quick, key, names, values, count=None):
    """The cached part of a call with these attributes: (quick function, parsed attributes, number of inputs)."""
    if not operator.attrs.keys() >= set(names):
        raise ValueError  # `invoke` reports the unknown attribute
    kw = {n: operator.attrs[n].read(v) for n, v in zip(names, values, strict=True) if v is not NULL}
    if count is not None and operator.count in operator.attrs:
        kw.setdefault(operator.count, count)
    if any(a.required and a.name not in kw for a in operator.attrs.values()):
        raise ValueError  # `invoke` reports the missing attribute
    inputs = None if operator.inputs_of is None else len(operator.input_names(kw))
    plan = None if quick is None else quick(**operator.full(kw)), kw, inputs
    if all(map(_is_immutable, values)) and not any(operator.attrs[n].kind.startswith("string") for n in kw):
        plans.keep(key, plan)
    return plan


def _refresh_functions():
    for function in _GENERATED.values():
        scope = function.__globals__
        scope.update(_functions(scope["OP"]))


observe.on_change(_refresh_functions)


def operator_of(space, short):
    """The operator behind one name of a sub-namespace, if there is one."""
    if space == "sparse" and short in SPARSE:
        return short
    name = short if space in ("op", "_internal") else f"_{space}_{short}"
    return name if namespace(name) == (space, short) and registry.known(name) else None


def call(operator, inputs, attrs, kwargs, out):
    """The slow path of a generated function: sorts its arguments into inputs and attributes, then invokes."""
    from ..ndarray import NDArray

    attrs.update(kwargs)
    for key in ("out", "name"):
        attrs.pop(key, None)
    if operator.variadic is not None:
        named = {k: attrs.pop(k) for k in [k for k, v in attrs.items() if isinstance(v, NDArray)]}
        if named:
            inputs = inputs + [named[n] for n in operator.input_names(_parse_known(operator, attrs)) if n in named]
    else:
        wanted = operator.input_names(_parse_known(operator, attrs)) if operator.inputs_of else operator.inputs
        inputs = [x for n, x in zip(operator.inputs, inputs, strict=True) if x is not None or n in wanted]
        while inputs and inputs[-1] is None:
            inputs.pop()
    for i, x in enumerate(inputs):
        if not isinstance(x, NDArray) and (x is not None or operator.variadic is not None):
            label = operator.inputs[i] if i < len(operator.inputs) else f"{operator.variadic}[{i}]"
            raise AssertionError(f"Argument {label} must have NDArray type, but got {x}; {_instead(operator, x)}")
    missing = [n for n in operator.inputs[len(inputs) :] if n not in operator.optional]
    if missing and operator.inputs_of is None:
        raise MXNetError(
            f"Operator {operator.name} expects {len(inputs) + len(missing)} inputs, but got {len(inputs)} instead: "
            f"it needs the input {missing[0]}"
        )
    if operator.inputs_of is not None and operator.variadic is None:
        _check_count(operator, inputs, wanted, attrs)
    return invoke(operator, inputs, attrs, out)


def _instead(operator, value):
    """What to do with a value that is no NDArray."""
    if type(value).__name__ == "Symbol":
        return f"call mx.sym.{operator.name} on symbols, or F.{operator.name} in hybrid_forward"
    return "make one with mx.nd.array"


def _check_count(operator, inputs, wanted, attrs):
    """Which inputs a call has depends on its attributes; MXNet takes neither fewer nor more."""
    given = sum(x is not None for x in inputs)
    if given != len(wanted):
        operator.parse(attrs)  # a misspelt attribute is reported first
        raise MXNetError(
            f"Check failed: num_inputs == infered_num_inputs ({given} vs. {len(wanted)}) : Operator {operator.name} "
            f"expects {len(wanted)} inputs, but got {given} instead. With these attributes its inputs are "
            f"{', '.join(wanted)}"
        )


def _parse_known(operator, attrs):
    """The known attributes, parsed, to find out which inputs a call has; unknown ones are left out."""
    check_dtype(operator, attrs)
    known = {k: operator.attrs[k].parse(v, operator.name) for k, v in attrs.items() if k in operator.attrs}
    return {**{k: text(v) for k, v in attrs.items()}, **known} if operator.free else known


def _build(operator, name, array, slow, finish):
    source = _variadic(operator) if operator.variadic is not None else _fixed(operator)
    return _compiled(operator, name, array, source, call=slow, finish=finish)


def _compiled(operator, name, array, source, **more):
    scope = {
        "OP": operator,
        **_functions(operator),
        "read": {a.name: a.read for a in operator.attrs.values()},
        "_Null": NULL,
        "FAILURES": FAILURES,
        "MODES": MODES,
        "NDArray": array,
        "new": array.__new__,
        "Tensor": torch.Tensor,
        "own": own,
        **more,
        "Context": Context,
        "current_context": current_context,
        "torch_device": torch_device,
    }
    if "_rng" in operator.injected:
        from ..._core.streams import stream

        scope["stream"] = stream
    exec(compile(source, f"<operator {name}>", "exec"), scope)
    function = scope["operator"]
    function.__name__ = function.__qualname__ = namespace(name)[1]
    function.__module__ = "mxnet.ndarray"
    function.__doc__ = docstring(operator)
    return function


def _finish(operator, result, tensors, ctx, parsed, mark):
    from ..ndarray import wrap

    if isinstance(result, torch.Tensor):  # of a subclass: IntegerWithGradient
        result = (result,)
    if operator.visible is not None:
        result = result[: operator.visible_outputs(parsed)]
    arrays = [wrap(own(r, tensors), ctx, mark) for r in result]
    return arrays[0] if len(arrays) == 1 else arrays


def _variadic(operator):
    arrays = operator.variadic
    fast = _fast_variadic(operator) if _has_fast_path(operator) else ""
    return f"""
def operator(*{arrays}, **kwargs):
{fast}
    out = kwargs.pop("out", None)
    return call(OP, list({arrays}), {{}}, kwargs, out)
"""


def _fast_variadic(operator):
    """The fast path of a variadic operator: arrays of one context (and dtype), recorded or not."""
    arrays = operator.variadic
    same = " or _t.dtype is not _type" if operator.dtype == "same" else ""
    return f"""
    try:
        _x = {arrays}[0]
        _ctx = _x._ctx
        _type = _x._t.dtype
        _mark = None
        _tensors = []
        for _x in {arrays}:
            _t = _x._t
            if _x._ctx is not _ctx{same} or _x.__class__ is not NDArray: break
            if _t.requires_grad:
                if MODES.recording:
                    _mark = MODES.epoch
                    if _x._ag.__class__ is int and _x._ag != _mark: break
                else:
                    _t = _t.data
            _tensors.append(_t)
        else:
{_boolean_checks(operator, "kwargs.get('{}', _Null)", 12)}            _key = len({arrays}), tuple(kwargs.items())
            try: _q, _kw, _count = plans[_key]
            except (KeyError, TypeError):
                _q, _kw, _count = plan(_key, tuple(kwargs), tuple(kwargs.values()), len({arrays}))
{_quick_variadic(operator)}            _r = fn(*_tensors, **_kw{_injected_arguments(operator, "_ctx.home")})
            if _r.__class__ is Tensor:
                _a = new(NDArray)
                _a._t = own(_r, _tensors)
                _a._ctx = _ctx.home
                _a._ag = _mark
                return _a
            return finish(OP, _r, _tensors, _ctx.home, _kw, _mark)
    except FAILURES:
        pass
"""


def _quick_variadic(operator):
    """Code for calls that are not recorded: the operator's quick function."""
    if operator.quick is None:
        return ""
    return """
            if _q is not None and _mark is None:
                _r = _q(_tensors)
                if _r is not None:
                    _a = new(NDArray)
                    _a._t = _r
                    _a._ctx = _ctx.home
                    _a._ag = None
                    return _a
"""


def _fixed(operator):
    attrs = list(operator.attrs)
    gather = "\n".join(f'    if {a} is not _Null: attrs["{a}"] = {a}' for a in attrs)
    inputs = ", ".join(operator.inputs)
    fast = _fast(operator) if _has_fast_path(operator) else _fast_creation(operator) if _is_creation(operator) else ""
    return f"""
def operator({parameters(operator, "out=None, name=None")}):
{fast}
    attrs = {{}}
{gather}
    return call(OP, [{inputs}], attrs, kwargs, out)
"""


def _has_fast_path(operator):
    """Does the generated function have a fast path? Not if a second run, after a failure, would write twice.

    Random numbers may be drawn twice by a call that fails; that does no harm.
    """
    changes = operator.mutates or operator.aux or operator.free
    sparse = storage.STYPE_ATTRIBUTE.get(operator.name) == "stype"  # the result is another array class
    takes = operator.inputs or operator.variadic
    device = "_device" in operator.injected or operator.name in DECODERS
    return bool(takes) and not changes and not sparse and not device


def _injected_arguments(operator, ctx):
    """Source of the injected keyword arguments, except `_device`."""
    train = ", _train=MODES.training" if "_train" in operator.injected else ""
    return train + (f", _rng=stream({ctx}.device_typeid, {ctx}.device_id)" if "_rng" in operator.injected else "")


def _is_creation(operator):
    """Is it a creation operator: no required inputs, one output, made in the context of its attribute `ctx`?"""
    changes = operator.mutates or operator.aux or operator.free or operator.variadic is not None
    on_device = "_device" in operator.injected and {"_device", "_rng"}.issuperset(operator.injected)
    no_required_input = operator.outputs == 1 and set(operator.inputs) <= set(operator.optional)
    return on_device and "ctx" in operator.attrs and no_required_input and not changes


def _fast_creation(operator):
    """The fast path of creation: no `out`. Failures happen before random numbers are drawn."""
    attrs = [a for a in operator.attrs if a != "ctx"]
    absent = "".join(f" and {name} is None" for name in operator.inputs)
    return f"""
    _ctx = current_context() if ctx is _Null else ctx
    if out is None and not kwargs and _ctx.__class__ is Context and _ctx.device_typeid != {PINNED}{absent}:
        try:
{_boolean_checks(operator, "{}", 12)}            _key = ({", ".join(attrs)},)
            try: _q, _kw, _count = plans[_key]
            except (KeyError, TypeError): _q, _kw, _count = plan(_key, {tuple(attrs)!r}, _key)
            if _count: raise ValueError  # `invoke` reports it
            _r = fn(**_kw, _device=torch_device(_ctx){_injected_arguments(operator, "_ctx")})
            if _r.__class__ is Tensor:
                _a = new(NDArray)
                _a._t = _r
                _a._ctx = _ctx
                _a._ag = None
                return _a
        except FAILURES:
            pass
"""


class _FixedInputs:
    """Source fragments about the inputs of an operator with a fixed number of them; tensor i is called `_t{i}`."""

    def __init__(self, operator):
        self.operator, self.first = operator, operator.inputs[0]
        self.tensors = [f"_t{i}" for i in range(len(operator.inputs))]
        self.pairs = list(zip(self.tensors, operator.inputs, strict=True))

    def _or_none(self, name, value):
        return f"None if {name} is None else {value}" if name in self.operator.optional else value

    def _if_given(self, name, condition, otherwise):
        """A condition on an input; `otherwise` is its value for an absent optional one."""
        if name not in self.operator.optional:
            return condition
        return f"({name} is None or {condition})" if otherwise else f"({name} is not None and {condition})"

    def unwrap(self):
        """Statements that take the tensors out of the arrays."""
        return "".join(f"            {t} = {self._or_none(n, f'{n}._t')}\n" for t, n in self.pairs)

    def compatible(self):
        """Do all inputs have one context (and dtype)?"""
        same = [self._if_given(n, f"({_compatible(self.operator, t, n, self.first)})", True) for t, n in self.pairs[1:]]
        return " and ".join(same) or "True"

    def any_requires_grad(self):
        return " or ".join(self._if_given(n, f"{t}.requires_grad", False) for t, n in self.pairs)

    def all_recordable(self):
        """Does no input come from a graph of an earlier recording, which `invoke` must look at?"""
        return " and ".join(
            self._if_given(n, f"({n}._ag.__class__ is not int or {n}._ag == _mark)", True) for _, n in self.pairs
        )

    def detach(self):
        return "; ".join(f"{t} = {self._or_none(n, f'{t}.data')}" for t, n in self.pairs)


def _fast(operator):
    """The fast path: arrays of one context (and dtype), recorded or not, and no `out`."""
    inputs = _FixedInputs(operator)
    tensors, first = inputs.tensors, inputs.first
    kw = ", **_kw" if operator.attrs else ""
    group = f"({', '.join(tensors)},)"
    parsed = "_kw" if operator.attrs else "{}"
    dense = " and forward_stype is _Null" if "forward_stype" in operator.attrs else ""
    return f"""
    if out is None and not kwargs{dense}:
        try:
{inputs.unwrap()}
            _mark = None
            _able = {inputs.compatible()}
            if _able and ({inputs.any_requires_grad()}):
                if MODES.recording:
                    _mark = MODES.epoch
                    _able = {inputs.all_recordable()}
                else:
                    {inputs.detach()}
            if _able:
{_quick(operator, tensors, first)}
                _r = fn({", ".join(tensors)}{kw}{_injected_arguments(operator, f"{first}._ctx.home")})
                if _r.__class__ is Tensor:
                    if _r._is_view() or _r is _t0: _r = own(_r, {group})
                    _a = new(NDArray)
                    _a._t = _r
                    _a._ctx = {first}._ctx.home
                    _a._ag = _mark
                    return _a
                return finish(OP, _r, {group}, {first}._ctx.home, {parsed}, _mark)
        except FAILURES:
            pass
"""


def _quick(operator, tensors, first):
    """Code that parses the attributes and, for calls that are not recorded, tries the `plain` and `quick` functions."""
    attrs, given = list(operator.attrs), ", ".join(tensors)
    done = f"""
                    if _r is not None:
                        _a = new(NDArray)
                        _a._t = _r
                        _a._ctx = {first}._ctx.home
                        _a._ag = None
                        return _a"""
    code = ""
    if operator.plain is not None:
        default = " and ".join(["_mark is None", *(f"{a} is _Null" for a in attrs)])
        code += f"""
                if {default}:
                    _r = plain({given}){done}"""
    if attrs:
        code += f"""
{_boolean_checks(operator, "{}", 16)}                _key = ({", ".join(attrs)},)
                try: _q, _kw, _count = plans[_key]
                except (KeyError, TypeError): _q, _kw, _count = plan(_key, {tuple(attrs)!r}, _key)"""
    if attrs and operator.inputs_of is not None:
        sure = len(operator.inputs) - len(operator.optional)
        present = " + ".join([str(sure), *(f"({n} is not None)" for n in operator.inputs if n in operator.optional)])
        code += f"""
                if _count != {present}: raise ValueError  # `invoke` reports it"""
    if attrs and operator.quick is not None:
        code += f"""
                if _q is not None and _mark is None:
                    _r = _q({given}){done}"""
    return code


def _boolean_checks(operator, given, indent):
    """Code that checks booleans before the lookup of a plan: as a key, 1.0 would equal True."""
    pad = " " * indent
    names = [a.name for a in operator.attrs.values() if a.kind.startswith("boolean")]
    return "".join(
        f"{pad}if (_v := {given.format(n)}) is not _Null and _v.__class__ is not bool: read['{n}'](_v)\n" for n in names
    )


def _compatible(operator, tensor, name, first):
    same = f"{name}._ctx is {first}._ctx"
    return f"{same} and {tensor}.dtype is _t0.dtype" if operator.dtype == "same" else same
