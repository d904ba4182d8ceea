"""What every symbol is: a list of graph entries, with composition, listing and attributes."""

from typing import Any

from .._core.errors import MXNetError
from .._core.hints import not_opened
from .._core.shims.handles import Handle, handle_of
from .._core.tracing import Traced
from .._formats.atomic import write_file
from .._graph.ir import json as graph_json
from .._graph.ir.attributes import check_strings, lookup_attribute, set_attributes, user_attributes
from .._graph.ir.node import (
    Entry,
    Node,
    assign_versions,
    connect_inputs,
    copy_graph,
    entry_name,
    entry_of,
    invalidate_graph_caches,
    topological_order,
    unknown_argument_message,
    walk,
)
from ..util import is_np_shape

_CLASS: list[type] = []


def set_symbol_class(cls: type) -> None:
    """Name the class that operator functions return."""
    _CLASS[:] = [cls]


def symbol_class() -> type:
    """The class of symbols, which is defined in a module above this one."""
    return _CLASS[0]


class SymbolBase(Traced):
    """One or more outputs of a graph of operators."""

    __slots__ = ("__weakref__", "_entries")
    _entries: list[Entry]

    def __init__(self, handle: list[Entry] | Handle | None = None) -> None:
        if isinstance(handle, Handle):
            handle = handle.owner._entries
        self._entries = handle if handle is not None else []

    @property
    def handle(self):
        """Where MXNet has a pointer: `value` is its own number, and `Symbol(handle)` is the same graph.

        Examples
        --------
        >>> x = mx.sym.var("x")
        >>> mx.sym.Symbol(x.handle).name
        'x'
        """
        return handle_of(self)

    # listing

    def __len__(self):
        return len(self._entries)

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __repr__(self):
        name = self.name
        if name is None:
            return f"<{type(self).__name__} group [{', '.join(s.name for s in self)}]>"
        return f"<{type(self).__name__} {name}>"

    def _repr_html_(self):
        from ._drawing import html

        return html(self)

    def __getitem__(self, index):
        count = len(self._entries)
        if isinstance(index, slice):
            start = 0 if index.start is None else index.start
            stop = count if index.stop is None else index.stop
            return self._group([self[i] for i in range(start, stop, 1 if index.step is None else index.step)])
        if isinstance(index, str):
            index = self._position(index)
        if not isinstance(index, int):
            raise TypeError(
                f"Symbol only support integer index to fetch i-th output, got {type(index)}. To slice the values of an "
                "axis write F.slice_axis(x, axis=1, begin=1, end=None), or F.slice for several axes."
            )
        if index >= count:
            raise IndexError(f"this symbol has {count} outputs, there is none of number {index}")
        if index < 0:
            raise MXNetError(
                f"Check failed: index < nreturn ({index} vs. {count}): Symbol only accept nonnegative index"
            )
        return type(self)([self._entries[index]])

    @classmethod
    def _group(cls, symbols):
        if not symbols:
            raise TypeError("Expected a list of symbols as input")
        return cls([entry for symbol in symbols for entry in symbol._entries])

    def __setitem__(self, index, value):
        raise TypeError(
            "'Symbol' object does not support item assignment. A graph computes new values: use F.where, F.concat or "
            "F.stack in place of x[index] = value"
        )

    def _position(self, name):
        found = [i for i, output in enumerate(self.list_outputs()) if output == name]
        if len(found) > 1:
            raise ValueError(f'There are multiple outputs with name "{name}"')
        if not found:
            outputs = ", ".join(self.list_outputs())
            raise ValueError(
                f'Cannot find output that matches name "{name}". The outputs are {outputs}; inner results are in '
                "get_internals()"
            )
        return found[0]

    def _node(self):
        """The node that all outputs belong to; None for a group of several."""
        node = self._entries[0].node
        return node if all(entry.node is node for entry in self._entries) else None

    @property
    def name(self):
        """The name of the node; None for a group.

        Examples
        --------
        >>> mx.sym.var("x").name
        'x'
        """
        node = self._node()
        return node.name if node is not None else None

    @property
    def num_outputs(self):
        """The number of outputs.

        Examples
        --------
        >>> mx.sym.split(mx.sym.var("x"), num_outputs=3).num_outputs
        3
        """
        return len(self._entries)

    def list_outputs(self):
        """The names of the outputs: the node's name, then the output's.

        Examples
        --------
        >>> mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc").list_outputs()
        ['fc_output']
        """
        return [entry_name(entry) for entry in self._entries]

    def list_arguments(self):
        """The names of the variables that the graph reads, in the order of use.

        Examples
        --------
        >>> mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc").list_arguments()
        ['data', 'fc_weight', 'fc_bias']
        """
        graph = topological_order(self._entries)
        return [n.name for n in graph.variables if id(n) not in graph.mutated]

    def list_auxiliary_states(self):
        """The names of the variables that operators change, such as moving averages.

        Examples
        --------
        >>> mx.sym.BatchNorm(mx.sym.var("data"), name="norm").list_auxiliary_states()
        ['norm_moving_mean', 'norm_moving_var']
        """
        graph = topological_order(self._entries)
        return [n.name for n in graph.variables if id(n) in graph.mutated] if graph.mutated else []

    def list_inputs(self):
        """The names of all variables, arguments and auxiliary states, in the order of use.

        Examples
        --------
        >>> mx.sym.BatchNorm(mx.sym.var("data"), name="norm").list_inputs()
        ['data', 'norm_gamma', 'norm_beta', 'norm_moving_mean', 'norm_moving_var']
        """
        return [n.name for n in topological_order(self._entries).variables]

    def get_internals(self):
        """The outputs of all nodes of the graph as a group, from which one can be taken by name.

        Examples
        --------
        >>> net = mx.sym.relu(mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc"), name="act")
        >>> net.get_internals()["fc_output"].list_outputs()
        ['fc_output']
        """
        inner = []
        for node in walk(self._entries):
            if node.call.visible == 1 and not node.subgraphs:
                inner.append(entry_of((node, 0, node.version)))
            else:
                inner += [Entry(node, i) for i in range(node.visible())]
        return type(self)(inner)

    def get_children(self):
        """The inputs of the node as a group of symbols; None if it has none.

        Examples
        --------
        >>> (mx.sym.var("x") + mx.sym.var("y")).get_children().list_outputs()
        ['x', 'y']
        """
        nodes = {id(entry.node): entry.node for entry in self._entries}
        children = [entry for node in nodes.values() for entry in node.inputs]
        return type(self)(children) if children else None

    # attributes

    def attr(self, key):
        """The text of one attribute of the node, or None.

        Parameters
        ----------
        key : str
            The name of the attribute.

        Returns
        -------
        str or None

        Examples
        --------
        >>> mx.sym.var("x", lr_mult=0.5).attr("__lr_mult__")
        '0.5'
        """
        node = self._node()
        if node is None:
            return None
        if key == "name":
            return node.name
        if key == "op_name":
            return node.op.name if node.op is not None else "null"
        return lookup_attribute(node.attrs, key)

    def list_attr(self, recursive=False):
        """The attributes of this node.

        Parameters
        ----------
        recursive : bool, default False
            Not supported; `attr_dict` has the attributes of all nodes.

        Returns
        -------
        dict of str to str

        Examples
        --------
        >>> mx.sym.var("x", lr_mult=0.5).list_attr()
        {'__lr_mult__': '0.5', 'lr_mult': '0.5'}
        """
        if recursive:
            raise DeprecationWarning(
                "Symbol.list_attr with recursive=True has been deprecated. Please use attr_dict instead."
            )
        return user_attributes(self._entries[0].node.attrs)

    def attr_dict(self):
        """The attributes of all nodes, by node name.

        Examples
        --------
        >>> mx.sym.var("x", lr_mult=0.5).attr_dict()
        {'x': {'__lr_mult__': '0.5', 'lr_mult': '0.5'}}
        """
        found: dict[str, dict[str, str]] = {}
        for node in walk(self._entries):
            if node.attrs:
                found.setdefault(node.name, {}).update(user_attributes(node.attrs))
        return found

    def _set_attr(self, **kwargs):
        """Set attributes, all of them text; `name` renames the node."""
        node = self._node()
        if node is None:
            raise MXNetError("Symbol.SetAttrs only works for non-grouped symbol")
        check_strings(kwargs)
        if "name" in kwargs:
            node.name = kwargs.pop("name")
        set_attributes(node.attrs, kwargs.items())
        node.parse()
        invalidate_graph_caches()

    # composition

    def __copy__(self):
        return type(self)(copy_graph(self._entries))

    def __deepcopy__(self, memo):
        return self.__copy__()

    def __call__(self, *args, **kwargs):
        composed = self.__copy__()
        composed._compose(*args, **kwargs)
        return composed

    def _compose(self, *args, name=None, **kwargs):
        """Put other symbols in the place of this graph's variables, by name."""
        if args and kwargs:
            raise TypeError("compose only accept input Symbols either as positional or keyword arguments, not both")
        if not all(isinstance(symbol, SymbolBase) for symbol in (*args, *kwargs.values())):
            raise TypeError("Compose expect `Symbol` as arguments")
        given, named = _entries_of(args, kwargs)
        invalidate_graph_caches()
        if name:
            self._entries[0].node.name = name
        node = self._node()
        if node is not None and not node.inputs and node.op is not None:
            connect_inputs(node, given, named)
        else:
            self._replace(given, named)

    def _replace(self, given: list[Entry], named: dict[str, Entry]) -> None:
        nodes = walk(self._entries)
        variables = [n.name for n in nodes if n.op is None]
        if given:
            if len(nodes) > 1:
                raise MXNetError("General composition only support kwargs for now")
            return
        if not set(named) <= set(variables):
            raise MXNetError(unknown_argument_message(named, variables))
        for node in nodes:
            if any(e.node.op is None and e.node.name in named for e in node.inputs):
                node.inputs = [_replaced(e, named) for e in node.inputs]
                assign_versions(node)
        self._entries = [_replaced(e, named) for e in self._entries]

    def _gen_atomic_symbol(self):
        """The operator of this symbol alone, its inputs not yet given."""
        old = self._entries[0].node
        node = Node(old.op, old.name, dict(old.attrs), (), old.call)
        node.subgraphs = old.subgraphs
        return type(self)([Entry(node, i) for i in range(node.visible())])

    # text

    def tojson(self, remove_amp_cast=True):
        """The graph as MXNet's JSON.

        Parameters
        ----------
        remove_amp_cast : bool, default True
            Whether casts that mixed precision added are left out.

        Returns
        -------
        str

        Examples
        --------
        >>> mx.sym.load_json(mx.sym.var("x").tojson()).name
        'x'
        """
        heads = graph_json.without_casts(self._entries) if remove_amp_cast else self._entries
        return graph_json.dumps(heads, is_np_shape())

    def save(self, fname, remove_amp_cast=True):
        """Write the graph's JSON to a file.

        Parameters
        ----------
        fname : str
            The name of the file.
        remove_amp_cast : bool, default True
            Whether casts that mixed precision added are left out.

        Examples
        --------
        >>> mx.sym.var("x").save("x-symbol.json")
        >>> mx.sym.load("x-symbol.json").name
        'x'
        """
        if not isinstance(fname, str):
            raise TypeError(f"fname need to be string, got {type(fname)}")
        try:
            write_file(fname, self.tojson(remove_amp_cast))
        except OSError as error:
            raise not_opened(fname, error) from None

    def __getstate__(self):
        return {"handle": self.tojson() if self._entries else None}

    def __setstate__(self, state):
        text = state["handle"]
        self._entries = graph_json.loads(text) if text is not None else []

    def __reduce__(self):
        return type(self), (), self.__getstate__()

    def debug_str(self):
        """The graph as text, one paragraph for each node.

        Examples
        --------
        >>> print(mx.sym.var("x").debug_str())
        Variable:x
        """
        head = self._entries[0].node
        if len(self._entries) == 1 and not head.inputs:
            return f"Variable:{head.name}\n" if head.op is None else f"AtomicFunctor  Op:{head.op.name}\n"
        lines = ["Symbol Outputs:"]
        lines += [f"\toutput[{i}]={e.node.name}({e.index})" for i, e in enumerate(self._entries)]
        for node in walk(self._entries):
            lines += _paragraph(node)
        return "\n".join(lines) + "\n"


def _entries_of(args: Any, kwargs: dict[str, Any]) -> tuple[list[Entry], dict[str, Entry]]:
    for i, symbol in enumerate(args):
        if len(symbol) != 1:
            raise MXNetError(f"Argument {i} is a tuple, single value is required")
    for key, symbol in kwargs.items():
        if len(symbol) != 1:
            raise MXNetError(f"Keyword Argument {key} is a tuple, single value is required")
    return [s._entries[0] for s in args], {key: s._entries[0] for key, s in kwargs.items()}


def _replaced(entry: Entry, named: dict[str, Entry]) -> Entry:
    return named.get(entry.node.name, entry) if entry.node.op is None else entry


def _paragraph(node: Any) -> list[str]:
    if node.op is None:
        return [f"Variable:{node.name}"]
    lines = ["--------------------", f"Op:{node.op.name}, Name={node.name}", "Inputs:"]
    for i, entry in enumerate(node.inputs):
        version = f" version={entry.version}" if entry.node.op is None else ""
        lines.append(f"\targ[{i}]={entry.node.name}({entry.index}){version}")
    if node.attrs:
        lines.append("Attrs:")
        lines += [f"\t{key}={value}" for key, value in sorted(node.attrs.items())]
    return lines
