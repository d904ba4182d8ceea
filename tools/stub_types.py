"""What `make_stubs.py` knows about types: of parameters by name and default, of results by name."""

import ast
import keyword

# names that mean the same wherever they occur
PARAMETERS = {
    "act_type": "str",
    "activation": "str | None",
    "allow_missing": "bool",
    "arg_params": "dict[str, NDArray] | None",
    "args": "Any",
    "aux_params": "dict[str, NDArray] | None",
    "axis": "int | Sequence[int] | None",
    "batch_size": "int",
    "begin_state": "Any",
    "channels": "int",
    "classes": "int",
    "context": "Context | Sequence[Context] | None",
    "ctx": "Context | Sequence[Context] | None",
    "ctx_list": "Sequence[Context]",
    "data_names": "Sequence[str] | None",
    "dtype": "DType",
    "epoch": "int",
    "fname": "str | os.PathLike[str]",
    "force_init": "bool",
    "hidden_size": "int",
    "init": "Initializer | str | None",
    "initializer": "Initializer | str | None",
    "input_dim": "int",
    "input_size": "int",
    "kernel_size": "int | Sequence[int]",
    "label_names": "Sequence[str] | None",
    "layout": "str | None",
    "lr_scheduler": "LRScheduler | None",
    "name": "str | None",
    "num_epoch": "int | None",
    "num_workers": "int",
    "output_dim": "int",
    "output_padding": "int | Sequence[int]",
    "padding": "int | Sequence[int]",
    "path": "str | os.PathLike[str]",
    "pool_size": "int | Sequence[int]",
    "prefix": "str | None",
    "rate": "float",
    "shape": "int | Sequence[int] | None",
    "strides": "int | Sequence[int] | None",
    "units": "int",
}
KINDS = {
    "boolean": "bool",
    "int": "int",
    "int (non-negative)": "int",
    "long": "int",
    "float": "float",
    "double": "float",
    "string": "str",
    "dtype": "DType",
    "Shape(tuple)": "int | Sequence[int]",
    "tuple of <float>": "float | Sequence[float]",
    "tuple of <double>": "float | Sequence[float]",
}
WHOLE = ("axis", "batch", "num", "size", "frequent", "layers", "step", "epoch", "period", "top_k", "priority", "seed",
         "units", "channels", "dim", "group", "index")  # fmt: skip
SPECIAL = {
    "__init__": "None",
    "__len__": "int",
    "__hash__": "int",
    "__repr__": "str",
    "__str__": "str",
    "__bool__": "bool",
    "__int__": "int",
    "__index__": "int",
    "__float__": "float",
    "__contains__": "bool",
    "__enter__": "Self",
    "__exit__": "Any",
    "__setitem__": "None",
    "__delitem__": "None",
    "__setattr__": "None",
    "__del__": "None",
    "__dir__": "list[str]",
    "__getstate__": "Any",
    "__iter__": "Iterator[Any]",
}
BUILTIN = {
    "len": "int",
    "int": "int",
    "str": "str",
    "bool": "bool",
    "float": "float",
    "isinstance": "bool",
    "dict": "dict[Any, Any]",
    "list": "list[Any]",
}
ARRAY = {
    "shape": "tuple[int, ...]",
    "size": "int",
    "ndim": "int",
    "dtype": "type[Any]",
    "context": "Context",
    "ctx": "Context",
    "stype": "str",
    "asnumpy": "numpy.ndarray[Any, Any]",
    "asscalar": "Any",
    "item": "Any",
    "tolist": "Any",
    "attach_grad": "None",
    "backward": "None",
    "wait_to_read": "None",
    "split": "Any",
}
ARRAYS = "__getitem__ T grad astype copy reshape copyto as_in_context as_in_ctx detach slice expand_dims flatten \
    broadcast_to broadcast_like transpose squeeze zeros_like ones_like flip diag".split()
# members whose types their bodies do not tell
MEMBERS = {
    "NDArray": {
        **ARRAY,
        **dict.fromkeys(ARRAYS, "NDArray"),
        "__iter__": "Iterator[NDArray]",
        "as_np_ndarray": "ndarray",
    },
    "Exchange": {**ARRAY, "as_np_ndarray": "ndarray"},
    "Views": dict.fromkeys((*ARRAYS, "_viewed"), "Self"),
    "ndarray": {
        **ARRAY,
        **dict.fromkeys(ARRAYS, "ndarray"),
        "__iter__": "Iterator[ndarray]",
        "as_nd_ndarray": "NDArray",
        "dtype": "numpy.dtype[Any]",
        "nonzero": "tuple[ndarray, ...]",
    },
    "Symbol": {
        **dict.fromkeys(
            "__getitem__ get_internals get_children astype expand_dims slice __copy__ __deepcopy__".split(), "Symbol"
        ),
        "name": "str",
        "list_arguments": "list[str]",
        "list_outputs": "list[str]",
        "list_auxiliary_states": "list[str]",
        "list_inputs": "list[str]",
        "list_attr": "dict[str, str]",
        "attr": "str | None",
        "tojson": "str",
        "attr_dict": "dict[str, dict[str, str]]",
        "bind": "Executor",
        "simple_bind": "Executor",
        "__iter__": "Iterator[Symbol]",
        "infer_shape": "tuple[list[tuple[int, ...]], list[tuple[int, ...]], list[tuple[int, ...]]]",
        "eval": "list[NDArray]",
    },
    "Parameter": {
        "data": "NDArray",
        "grad": "NDArray",
        "list_data": "list[NDArray]",
        "list_grad": "list[NDArray]",
        "var": "Symbol",
        "list_ctx": "list[Context]",
        "shape": "tuple[int, ...] | None",
        "dtype": "Any",
        "name": "str",
        "grad_req": "str",
        "row_sparse_data": "NDArray",
        "reduce": "NDArray",
    },
    "ParameterDict": {
        "get": "Parameter",
        "get_constant": "Constant",
        "prefix": "str",
        "__getitem__": "Parameter",
        "__iter__": "Iterator[str]",
        "items": "ItemsView[str, Parameter]",
        "keys": "KeysView[str]",
        "values": "ValuesView[Parameter]",
    },
    "Block": {
        "collect_params": "ParameterDict",
        "params": "ParameterDict",
        "prefix": "str",
        "name": "str",
        "name_scope": "AbstractContextManager[Any]",
    },
    "HybridBlock": {"export": "Any"},
    "Dense": {"weight": "Parameter", "bias": "Any"},
    "_Conv": {"weight": "Parameter", "bias": "Any"},
    "Embedding": {"weight": "Parameter"},
    "Trainer": {"learning_rate": "float", "optimizer": "Optimizer"},
    "EvalMetric": {"get": "tuple[Any, Any]", "get_name_value": "list[tuple[str, float]]"},
    "Executor": {
        "outputs": "list[NDArray]",
        "forward": "list[NDArray]",
        "arg_dict": "dict[str, NDArray]",
        "grad_dict": "dict[str, NDArray]",
        "aux_dict": "dict[str, NDArray]",
        "output_dict": "dict[str, NDArray]",
        "arg_arrays": "list[NDArray]",
        "aux_arrays": "list[NDArray]",
    },
    "Context": {"device_type": "str", "device_id": "int", "device_typeid": "int"},
}
# what the results above need beyond the head of every stub
NEEDED = {
    "Executor": "from mxnet.executor import Executor",
    "Parameter": "from mxnet.gluon.parameter import Parameter",
    "Constant": "from mxnet.gluon.parameter import Constant",
    "Optimizer": "from mxnet.optimizer import Optimizer",
    "ItemsView": "from collections.abc import ItemsView",
    "KeysView": "from collections.abc import KeysView",
    "ValuesView": "from collections.abc import ValuesView",
}
FUNCTIONS = {
    ("mxnet.symbol.symbol", "var"): "Symbol",
    ("mxnet.symbol.symbol", "Variable"): "Symbol",
    ("mxnet.symbol.symbol", "Group"): "Symbol",
    ("mxnet.symbol.symbol", "load"): "Symbol",
    ("mxnet.symbol.symbol", "load_json"): "Symbol",
    ("mxnet.context", "num_gpus"): "int",
    ("mxnet.context", "cpu"): "Context",
    ("mxnet.context", "gpu"): "Context",
    ("mxnet.context", "current_context"): "Context",
}
CONTAINERS = {"Sequential", "HybridSequential", "Lambda", "HybridLambda", "HybridConcurrent", "Concurrent"}
CALL = [
    "    @overload",
    "    def __call__(self, x: ndarray, *args: Any, **kwargs: Any) -> ndarray: ...",
    "    @overload",
    "    def __call__(self, x: NDArray, *args: Any, **kwargs: Any) -> NDArray: ...",
    "    @overload",
    "    def __call__(self, x: Symbol, *args: Any, **kwargs: Any) -> Symbol: ...",
]
OBJECT = {"__eq__", "__ne__"}


def of_parameter(name, default, module):
    """The type of a parameter: by its name, else by the default (an AST node, or None if it is required)."""
    if name.endswith("_initializer"):
        return "Initializer | str | None"
    if name == "params" and module.startswith("mxnet.gluon"):
        return "Any" if module.endswith("trainer") else "ParameterDict | None"
    if name == "shape" and module == "mxnet.visualization":
        return "Any"
    if name in PARAMETERS:
        return PARAMETERS[name]
    return "Any" if default is None else of_default(name, default)


def of_default(name, default):
    """The type that a default suggests; `float` stands for numbers of any kind, so that nothing right is refused."""
    try:
        value = ast.literal_eval(default)
    except ValueError:
        return "Any"
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "int" if any(word in name for word in WHOLE) else "float"
    if isinstance(value, float):
        return "float"
    return of_collection(value)


def of_collection(value):
    if isinstance(value, tuple) and value and all(isinstance(v, (int, float)) for v in value):
        return "float | Sequence[float]" if any(isinstance(v, float) for v in value) else "int | Sequence[int]"
    return "Any"  # texts too: `optimizer="sgd"` takes an Optimizer as well, `loss="l2"` a function


def of_kind(kind):
    """The type of an operator's attribute, from the registry's words for it."""
    if kind.endswith(" or None"):
        return of_kind(kind.removesuffix(" or None")) + " | None"
    if kind.startswith("{"):
        return "str"  # not Literal: a program's own variable holds any text
    return KINDS.get(kind, "Any")


def returned(function):
    """The values of a function's own `return` statements, and whether it yields."""
    values, yields, todo = [], False, list(function.body)
    while todo:
        node = todo.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            continue
        if isinstance(node, ast.Return):
            values.append(node.value)
        yields = yields or isinstance(node, (ast.Yield, ast.YieldFrom))
        todo += ast.iter_child_nodes(node)
    return [v for v in values if v is not None and not (isinstance(v, ast.Constant) and v.value is None)], yields


def of_value(value):
    """The type of an expression, where its form tells, else None."""
    if isinstance(value, ast.JoinedStr):
        return "str"
    if isinstance(value, ast.Compare) or (isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.Not)):
        return "bool"
    if isinstance(value, ast.Constant) and isinstance(value.value, (bool, int, float, str, bytes)):
        return type(value.value).__name__
    if isinstance(value, ast.Name) and value.id == "self":
        return "Self"
    called = value.func.id if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) else ""
    return BUILTIN.get(called)


def falls_through(function):
    """Does a function also return None: a bare `return`, or `return None`?"""
    empty = [n for n in ast.walk(function) if isinstance(n, ast.Return)]
    return any(n.value is None or (isinstance(n.value, ast.Constant) and n.value.value is None) for n in empty)


def of_operator(operator, kind, tail):
    """The text between a stub's parentheses: only operators that take attributes of any name end in `**kwargs`."""
    attrs = [f"{a.name}: {of_kind(a.kind)} = ..." for a in operator.attrs.values() if not keyword.iskeyword(a.name)]
    rest = ["**kwargs: Any"] if operator.free or operator.variadic is not None and operator.inputs_of else []
    if operator.variadic is not None:
        return ", ".join([f"*{operator.variadic}: {kind} | list[{kind}]", *attrs, tail, *rest])
    return ", ".join([*(f"{name}: {kind} | None = ..." for name in operator.inputs), *attrs, tail, *rest])


def operator_result(operator, kind):
    """A symbol is one whatever its outputs; an array is one if the operator always shows one output."""
    shown = operator.outputs if operator.visible is None else operator.visible
    one = shown == 1 or (isinstance(shown, tuple) and len(shown) == 1)
    return kind if kind == "Symbol" or one else "Any"
