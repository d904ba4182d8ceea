"""ONNX graphs as symbols: constants are folded, every other node goes through its converter in the table."""

from collections import ChainMap

import numpy as np

from .... import ndarray as nd
from .... import symbol
from ...._core.dtypes import FLAGS
from ...._core.errors import OperatorMissing
from ...._core.extras import load as load_extra
from ....base import MXNetError
from . import _converters  # noqa: F401 - fills the table
from ._functions import body_of, evaluated, inferred
from ._limits import Budget, check_nodes, check_texts, foldable
from ._node import TABLE, Node, Unknown, apply_partial

RANDOM = ("RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike", "Multinomial", "Bernoulli")
DOMAINS = ("", "ai.onnx")
# What the package onnx, NumPy and the converters raise for a file that is not as ONNX wants it.
FAULTS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    MemoryError,
    RuntimeError,
    TypeError,
    ValueError,
)
TABLES = ("constants", "learned", "partial", "symbols", "shapes", "types")  # what is known of values, by name


def read_model(model_file):
    """The checked model out of a file (or a model itself)."""
    onnx = load_extra("ONNX import needs the package onnx", "onnx", "onnx", kind=ImportError)
    if isinstance(model_file, onnx.ModelProto):
        return check_texts(model_file)
    try:
        model = onnx.load(model_file)
    except OSError as error:
        raise MXNetError(f"cannot read {model_file}: {error}") from None
    except Exception as error:  # protobuf's DecodeError is not one class over its versions
        raise MXNetError(f"{model_file} is not an ONNX model: {error}") from error
    return check_texts(model)


class Importer:
    """Turns the nodes of a graph into symbols, in order. One inside another sees what the outer one knows."""

    def __init__(self, opsets, outer=None, prefix="", budget=None):
        self.opsets = opsets
        self.opset = max((version for domain, version in opsets.items() if domain in DOMAINS), default=1)
        self.outer, self.prefix, self.inputs = outer, prefix, outer.inputs if outer else []
        self.root = outer.root if outer else self
        self.used = outer.used if outer else {}
        self.budget = outer.budget if outer else budget or Budget()
        self.variables = {}  # shapes of the variables that bodies of loops have
        for table in TABLES:
            setattr(self, table, ChainMap({}, *(getattr(outer, table).maps if outer else ())))

    def model(self, model):
        """The outputs of a whole model; its inputs are variables."""
        check_nodes(model, self.budget)
        graph = inferred(model).graph
        weights = {t.name for t in graph.initializer}
        self.inputs = [info.name for info in graph.input if info.name not in weights]
        self.symbols.update((name, symbol.Variable(name)) for name in self.inputs)
        return self.outputs(graph)

    def outputs(self, graph):
        """The symbols that a graph gives; its inputs are known already."""
        self.convert(graph)
        return [self.symbol_of(info.name, None) for info in graph.output]

    def convert(self, graph):
        """Go through the nodes of a graph whose inputs are known already."""
        for info in (*graph.input, *graph.value_info, *graph.output):
            self._note(info)
        for tensor in graph.initializer:
            value = stored_array(tensor)
            self.know(tensor.name, value, learned=value.ndim > 0 and value.dtype.kind == "f")
        for proto in graph.node:
            self._convert(proto)

    def inside(self, name, opsets=None):
        """An importer for a graph inside the node of that name."""
        return Importer(opsets or self.opsets, self, f"{name}_")

    def _note(self, info):
        import onnx

        tensor = info.type.tensor_type
        if tensor.HasField("shape"):
            sizes = (d.dim_value if d.HasField("dim_value") else Unknown(d.dim_param or None) for d in tensor.shape.dim)
            self.shapes[info.name] = list(sizes)
        if tensor.elem_type:
            try:
                self.types[info.name] = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type).name
            except (KeyError, ValueError):
                raise MXNetError(f"the value {info.name}: ONNX has no element type {tensor.elem_type}") from None

    def know(self, name, value, learned=False):
        """Enter a constant, and whether it was learned; what merely is part of a formula must not learn either."""
        self.constants[name], self.learned[name] = value, learned
        self.shapes[name], self.types[name] = list(np.shape(value)), np.asarray(value).dtype.name

    def take(self, name, other, its_name):
        """A value of another importer, of whatever kind, under a name of this one."""
        for table in TABLES:
            if its_name in getattr(other, table):
                getattr(self, table)[name] = getattr(other, table)[its_name]
        if name not in self.symbols and its_name in other.constants:
            self.symbols[name] = other.symbol_of(its_name, None)

    def shape_of(self, name):
        """The shape of a value, numbers and `Unknown`: as ONNX infers it, where that fails as MXNet does; or None."""
        shape = self.shapes.get(name)
        unclear = shape is None or any(isinstance(n, Unknown) and n.unclear for n in shape)
        if not unclear or name not in self.symbols:
            return shape
        found = self._inferred(self.symbols[name])
        if found:
            known = shape or [Unknown()] * len(found)
            self.shapes[name] = [n or Unknown(getattr(old, "name", None)) for n, old in zip(found, known, strict=True)]
        for size in self.shapes.get(name, ()):
            if isinstance(size, Unknown):
                size.unclear = False  # it is not asked again
        return self.shapes.get(name)

    def refine(self, name, sizes):
        """Enter the sizes of a shape that are numbers (0 and -1 are none)."""
        old = self.shapes.get(name) or [Unknown() for _ in sizes]
        self.shapes[name] = [n if isinstance(n, int) and n > 0 else o for n, o in zip(sizes, old, strict=True)]

    def _inferred(self, value):
        shapes = {n: self.root.shapes[n] for n in self.inputs if n in self.root.shapes} | self.root.variables
        given = {n: tuple(0 if isinstance(s, Unknown) else s for s in shape) for n, shape in shapes.items()}
        given.update((n, array.shape) for n, array in self.used.items())
        names = set(value.list_inputs())
        return value.infer_shape_partial(**{n: shape for n, shape in given.items() if shape and n in names})[1][0]

    def parameter(self, name, value, learned=False):
        """A parameter of its own with that value."""
        self.constants[name], self.learned[name] = value, learned
        return self.symbol_of(name, None)

    def symbol_of(self, name, node):
        """The symbol of a value; a constant becomes a variable with that value."""
        if name in self.symbols:
            return self.symbols[name]
        if name not in self.constants.maps[0] and self.outer is not None:
            return self.outer.symbol_of(name, node)
        if name in self.partial:
            raise MXNetError(
                f"{node or 'the graph'}: its input {name!r} is a size that only the data tell; MXNet's graphs do not "
                "compute with it: fix the model's input shapes first"
            )
        if name not in self.constants:
            raise MXNetError(f"{node or 'the graph'}: nothing computes its input {name!r}")
        value = np.atleast_1d(self.constants[name])
        if value.dtype.name not in FLAGS:
            raise MXNetError(f"{name}: MXNet has no arrays of {value.dtype.name}")
        self.used[self.prefix + name] = value
        fixed = {} if self.learned.get(name) else {"lr_mult": 0.0, "wd_mult": 0.0}
        self.symbols[name] = symbol.Variable(self.prefix + name, shape=value.shape, dtype=value.dtype.name, **fixed)
        return self.symbols[name]

    def _convert(self, proto):
        shown = f"node {self.prefix}{proto.name or next(filter(None, proto.output), '')} ({proto.op_type})"
        self.budget.node(shown)
        try:
            self._converted(Node(proto, self), proto)
        except MXNetError as error:
            if shown in str(error) or str(error).startswith("node "):
                raise
            raise MXNetError(f"{shown}: {error}") from error
        except FAULTS as error:
            reason = f"it is not as ONNX wants it ({type(error).__name__}: {error}); check the file"
            raise MXNetError(f"{shown}: {reason}") from error

    def _converted(self, node, proto):
        if self._fold(node, proto):
            return
        converter = TABLE.get(node.op) if proto.domain in DOMAINS else None
        results = converter(node) if converter else self._from_body(node, proto)
        if results is not None:  # otherwise they are entered already
            self._enter(node, results)

    def _enter(self, node, results):
        results = list(results) if isinstance(results, (list, tuple)) else [results]
        wanted = [name for name in node.outputs if name]
        if len(wanted) > len(results):
            raise node.refuse(f"only its first {len(results)} outputs can be imported, {len(wanted)} are used")
        self.symbols.update((name, result) for name, result in zip(node.outputs, results, strict=False) if name)

    def _from_body(self, node, proto):
        """What a function is made of, where ONNX itself says that."""
        body = body_of(proto, self) if proto.domain in DOMAINS else None
        if body is None:
            raise OperatorMissing(
                f"{node}: operator {proto.domain + '.' if proto.domain else ''}{node.op} cannot be imported; "
                "export the model with simpler operators"
            )
        inner = self.inside(node.name, {o.domain: o.version for o in body.opset_import})
        for info, given in zip(body.graph.input, filter(None, proto.input), strict=True):
            inner.take(info.name, self, given)
        self.adopt(node, inner, body.graph)

    def adopt(self, node, inner, graph):
        """The outputs of a graph inside a node as those of the node; what is constant there stays so."""
        inner.convert(graph)
        for info, name in zip(graph.output, filter(None, node.outputs), strict=True):
            self.take(name, inner, info.name)

    def _fold(self, node, proto):
        """Compute the node now if its inputs are known; True if that was possible."""
        names = [name for name in node.inputs if name]
        if node.op == "CastLike" and names[0] in self.constants and names[1] in self.types:
            self.know(node.outputs[0], self.constants[names[0]].astype(self.types[names[1]]))
            return True
        if node.op in ("Shape", "Size") and names[0] not in self.constants and self.shape_of(names[0]) is not None:
            return self._fold_shape(node)
        if any(name in self.partial for name in names):
            return self._fold_partial(node, names)
        if proto.domain not in DOMAINS or node.op in RANDOM or node.graphs:
            return False
        if any(name not in self.constants for name in names):
            return False
        if foldable(node, proto, self.constants, self.opsets.get(proto.domain, self.opset), self.budget) is None:
            return False
        learned = any(self.learned.get(name) for name in names) or _stored(node)
        results = self._evaluated(node, proto, names)
        for name, value in zip(filter(None, node.outputs), map(np.asarray, results), strict=True):
            self.know(name, value, learned and value.dtype.kind == "f")
        return True

    def _evaluated(self, node, proto, names):
        """The outputs of a node of constants."""
        try:
            return evaluated(proto, self.opsets, {name: self.constants[name] for name in names})
        except Exception as error:  # whatever the package's own code finds wrong with the constants
            raise node.refuse(f"its value for constant inputs cannot be computed: {error}") from error

    def _fold_shape(self, node):
        source, shape = self.symbols.get(node.inputs[0]), enumerate(self.shapes[node.inputs[0]])
        shape = [
            Unknown(n.name, None if source is None else (source, axis)) if isinstance(n, Unknown) else n
            for axis, n in shape
        ]
        shape = shape[node.attr("start", 0) : node.attr("end", None)]
        if node.op == "Size":
            shape = np.prod(np.array(shape, dtype=object)) if shape else 1
        self._store(node.outputs[0], np.array(shape, dtype=object))
        return True

    def _fold_partial(self, node, names):
        if any(name not in self.partial and name not in self.constants for name in names):
            return False
        values = [self.partial[n] if n in self.partial else self.constants[n] for n in names]
        result = apply_partial(node, values)
        if result is not None:
            self._store(node.outputs[0], result)
        return result is not None

    def _store(self, name, value):
        value = np.asarray(value, dtype=object)
        if any(isinstance(n, Unknown) for n in value.ravel()):
            self.partial[name] = value
        else:
            self.know(name, value.astype(np.int64))


def stored_array(tensor):
    """The values of a tensor that a file holds."""
    import onnx

    try:
        return onnx.numpy_helper.to_array(tensor)
    except FAULTS as error:
        raise MXNetError(f"the tensor {tensor.name!r} of shape {list(tensor.dims)} is damaged: {error}") from error


def _stored(node):
    """Is it a node that holds a weight? Some programs write them so."""
    return node.op == "Constant" and len(getattr(node.attr("value"), "dims", ())) > 1


class GraphProto:
    """The importer under MXNet's name for it."""

    def from_onnx(self, graph, opset_version=None):
        """(symbol, arg_params, aux_params) of a model, or of a graph of operators of that version."""
        model = self._model(graph, opset_version)
        importer = Importer({o.domain: o.version for o in model.opset_import}, budget=Budget(model))
        outputs = importer.model(model)
        if not outputs:
            raise MXNetError("the graph has no outputs")
        sym = outputs[0] if len(outputs) == 1 else symbol.Group(outputs)
        states, arguments = set(sym.list_auxiliary_states()), set(sym.list_arguments())
        arrays = {name: nd.array(value, dtype=value.dtype) for name, value in importer.used.items()}
        arg_params = {name: array for name, array in arrays.items() if name in arguments}
        return sym, arg_params, {name: array for name, array in arrays.items() if name in states}

    @staticmethod
    def _model(graph, opset_version):
        import onnx

        if isinstance(graph, onnx.ModelProto):
            return graph
        return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", opset_version or 13)])

    def get_graph_metadata(self, graph):
        """Names, shapes (and types of the inputs) of what goes in and what comes out."""
        weights = {t.name for t in graph.initializer}

        def shape(info):
            return tuple(d.dim_value for d in info.type.tensor_type.shape.dim)

        inputs = [(i.name, shape(i), i.type.tensor_type.elem_type) for i in graph.input if i.name not in weights]
        return {"input_tensor_data": inputs, "output_tensor_data": [(o.name, shape(o)) for o in graph.output]}

    def graph_to_gluon(self, graph, ctx, opset_version=None):
        """A SymbolBlock with the graph's parameters on `ctx`."""
        from onnx.helper import tensor_dtype_to_np_dtype

        from ....gluon import SymbolBlock

        sym, args, auxs = self.from_onnx(graph, opset_version)
        given = self.get_graph_metadata(self._model(graph, opset_version).graph)["input_tensor_data"]
        inputs = [
            symbol.var(name, dtype=tensor_dtype_to_np_dtype(kind).name if kind else "float32")
            for name, _, kind in given
        ]
        net = SymbolBlock(outputs=sym, inputs=inputs)
        parameters = net.collect_params()
        for name, value in {**args, **auxs}.items():
            if name in parameters:
                parameters[name]._load_init(value, ctx, cast_dtype=True, dtype_source="saved")
        for name, attributes in sym.attr_dict().items():
            if name in parameters and float(attributes.get("__lr_mult__", 1)) == 0:
                parameters[name].grad_req = "null"
        return net
