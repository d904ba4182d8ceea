"""`SymbolBlock`: a block made from a symbol, such as an exported network."""

import contextlib
import copy

from .. import symbol
from .._core.advice.constructors import suggestion
from .._core.dtypes import dtype_name
from .._formats.manifest import settle_file
from ..base import MXNetError, mx_real_t
from ..ndarray import NDArray
from ..symbol import Symbol
from ._hybrid import HybridBlock
from ._nesting import _flatten, _regroup
from ._parameter_dict import ParameterDict

ROW_SPARSE = "1"  # the number of that storage type in a symbol's attributes


class SymbolBlock(HybridBlock):
    """A block that computes a symbol; every variable that is not an input is a parameter of the block.

    Parameters
    ----------
    outputs : Symbol or list of Symbol
        What the block computes.
    inputs : Symbol or list of Symbol
        The variables that are inputs.
    params : ParameterDict, optional
        Parameters to share with another block.

    Examples
    --------
    >>> x = mx.sym.var("x")
    >>> net = mx.gluon.SymbolBlock(mx.sym.FullyConnected(x, num_hidden=2, name="fc"), x)
    >>> net.initialize()
    >>> net(mx.nd.ones((3, 4))).shape
    (3, 2)
    >>> sorted(net.collect_params())
    ['fc_bias', 'fc_weight']
    """

    __module__ = "mxnet.gluon.block"

    @staticmethod
    def imports(symbol_file, input_names, param_file=None, ctx=None, allow_missing=False, ignore_extra=False):
        """A block out of the files that `HybridBlock.export` or `Module.save_checkpoint` wrote.

        Parameters
        ----------
        symbol_file : str
            The file of the symbol.
        input_names : str or list of str
            The names of the inputs.
        param_file : str, optional
            The file of the parameters; without it they are not initialized.
        ctx : Context or list of Contexts, optional
            The devices; the current context without it.
        allow_missing : bool, default False
            Whether parameters that the file lacks keep their values.
        ignore_extra : bool, default False
            Whether the file may have parameters that the block lacks.

        Returns
        -------
        SymbolBlock

        Examples
        --------
        >>> net = mx.gluon.nn.Dense(2, in_units=3)
        >>> net.initialize()
        >>> net.hybridize()
        >>> y = net(mx.nd.ones((1, 3)))
        >>> net.export("net")
        >>> mx.gluon.SymbolBlock.imports("net-symbol.json", ["data"], "net-0000.params")(mx.nd.ones((1, 3))).shape
        (1, 2)
        """
        if param_file is not None:
            settle_file(param_file)
        graph = symbol.load(symbol_file)
        names = [input_names] if isinstance(input_names, str) else input_names
        # Without a file the inputs are float32, with one the parameters' types are those in the file.
        inputs = [symbol.var(name) if param_file else symbol.var(name, dtype=mx_real_t) for name in names]
        block = SymbolBlock(graph, inputs)
        if param_file is not None:
            try:
                block.collect_params().load(
                    param_file, ctx, allow_missing, ignore_extra, cast_dtype=True, dtype_source="saved"
                )
            except AssertionError as error:  # an input whose name is misspelt counts as a parameter
                raise AssertionError(f"{error}{_misspelt(names, graph)}") from None
        return block

    def __init__(self, outputs, inputs, params=None):
        super().__init__(prefix=None, params=None)
        self._prefix = ""
        self._params = ParameterDict("", params)
        if isinstance(inputs, Symbol) and len(inputs.list_outputs()) == 1:
            inputs = [inputs]
        if isinstance(outputs, (list, tuple)) and len(outputs) == 1:
            outputs = outputs[0]
        variables, self._in_format = _flatten(inputs, "input")
        flat, self._out_format = _flatten(outputs, "output")
        _check_variables(variables)
        _check_dense(flat)
        out = symbol.Group(flat) if len(flat) > 1 else flat[0]
        self._make_parameters(variables, out)
        self._cached_graph = variables, out
        cut = len(_common_prefix(list(self._params.keys())))
        self._reg_params = {name[cut:]: param for name, param in self._params.items()}

    def _make_parameters(self, variables, out):
        inputs = {variable.name for variable in variables}
        arguments, states = out.list_arguments(), out.list_auxiliary_states()
        argument_types, state_types = _infer_param_types(variables, out, arguments, states)
        for name, dtype in zip(arguments, argument_types, strict=True):
            if name not in inputs:
                self.params.get(name, allow_deferred_init=True, dtype=dtype)
        for name, dtype in zip(states, state_types, strict=True):
            if name not in inputs:
                self.params.get(name, grad_req="null", allow_deferred_init=True, dtype=dtype)

    def __repr__(self):
        inputs, out = self._cached_graph
        return f"{type(self).__name__}(\n{out} : {len(inputs)} -> {len(out.list_outputs())}\n)"

    def __getstate__(self):
        return {**super().__getstate__(), "_cached_graph": self._cached_graph}

    def forward(self, x, *args):
        """Run on arrays, eagerly or as a compiled graph, or make symbols out of symbols.

        Parameters
        ----------
        x : NDArray or Symbol
            The first input.
        *args : NDArray or Symbol
            The other inputs.

        Returns
        -------
        NDArray, Symbol or nested list of them

        Examples
        --------
        >>> x = mx.sym.var("data")
        >>> mx.gluon.SymbolBlock(mx.sym.relu(x), x).forward(mx.nd.array([-1, 2])).asnumpy()
        array([0., 2.], dtype=float32)
        """
        if isinstance(x, NDArray):
            with x.ctx:
                return self._call_cached_op(x, *args)
        assert isinstance(x, Symbol), (
            f"HybridBlock requires the first argument to forward be either Symbol or NDArray, but got {type(x)}"
        )
        flat, fmt = _flatten([x, *args], "input")
        assert fmt == self._in_format, "Invalid input format"
        inputs, out = self._cached_graph
        composed = copy.copy(out)
        composed._compose(**{variable.name: value for variable, value in zip(inputs, flat, strict=True)})
        return _regroup(list(composed), self._out_format)

    def hybrid_forward(self, F, x, *args, **kwargs):
        """Not used: the block computes its symbol.

        Parameters
        ----------
        F : module
            Not used.
        x : NDArray
            Not used.
        *args : NDArray
            Not used.
        **kwargs : NDArray
            Not used.

        Examples
        --------
        >>> x = mx.sym.var("data")
        >>> mx.gluon.SymbolBlock(mx.sym.relu(x), x)(mx.nd.array([-1, 2])).asnumpy()
        array([0., 2.], dtype=float32)
        """
        raise NotImplementedError

    def _clear_cached_op(self):
        graph = self._cached_graph
        super()._clear_cached_op()
        self._cached_graph = graph

    def cast(self, dtype):
        """Convert all parameters to another data type.

        Parameters
        ----------
        dtype : str or type
            The data type.

        Examples
        --------
        >>> x = mx.sym.var("data")
        >>> net = mx.gluon.SymbolBlock(mx.sym.FullyConnected(x, num_hidden=2), x)
        >>> net.cast("float16")
        """
        super().cast(dtype)
        if dtype_name(dtype) == "float16":
            self._keep_statistics_precise()

    def _keep_statistics_precise(self):
        """Batch normalization stays in float32; it is known by the names of its four parameters."""
        names = set(self._cached_graph[1].list_inputs())
        for name in names:
            for kind in ("running_", "moving_"):
                if name.endswith(kind + "var"):
                    stem = name.removesuffix(kind + "var")
                    group = [name, *(stem + other for other in (kind + "mean", "gamma", "beta"))]
                    if names.issuperset(group):
                        for member in group:
                            self.params.get(member).cast("float32")

    def reset_ctx(self, ctx):
        """Move all parameters to other contexts.

        Parameters
        ----------
        ctx : Context or list of Context
            Where they are from now on.

        Examples
        --------
        >>> net = mx.gluon.nn.Dense(2, in_units=3)
        >>> net.initialize()
        >>> block = mx.gluon.SymbolBlock(net(mx.sym.var("data")), mx.sym.var("data"), params=net.collect_params())
        >>> block.reset_ctx([mx.cpu(0), mx.cpu(1)])
        >>> net.weight.list_ctx()
        [cpu(0), cpu(1)]
        """
        for param in self.collect_params().values():
            param.reset_ctx(ctx)


def _misspelt(names, graph):
    """What to say of input names that the graph does not have; nothing if it has them all."""
    unknown = [name for name in names if name not in graph.list_inputs()]
    if not unknown:
        return ""
    return f". The graph has no input '{unknown[0]}'; {suggestion(unknown[0], graph.list_inputs())}"


def _check_variables(variables):
    for variable in variables:
        assert len(variable.get_internals().list_outputs()) == 1, (
            f"Input symbols must be variable, but {variable} is an output of operators"
        )


def _check_dense(outputs):
    for out in outputs:
        for node in out.get_internals():
            assert node.attr("__storage_type__") != ROW_SPARSE, (
                f"SymbolBlock doesn't support Parameter '{node.name}' because its storage type is 'row_sparse'."
            )


def _common_prefix(names):
    """The longest beginning that all `names` share."""
    if not names:
        return ""
    low, high = min(names), max(names)
    same = 0
    while same < len(low) and same < len(high) and low[same] == high[same]:
        same += 1
    return low[:same]


def _infer_param_types(in_params, out_params, arg_params, aux_params, default_dtype=mx_real_t):
    """The types of arguments and auxiliary states that follow from those of the inputs, or the default."""
    types = {}
    for variable in in_params:
        found = variable.infer_type_partial()[0]  # without a warning about what it cannot tell
        if not found or found[0] is None:
            break
        types[variable.name] = found[0]
    of_arguments = of_states = None
    if len(types) == len(in_params):
        with contextlib.suppress(MXNetError):  # where these inputs do not determine the types, the default it is
            of_arguments, _, of_states = out_params.infer_type(**types)
    if of_arguments is None or len(of_arguments) != len(arg_params):
        of_arguments = [default_dtype] * len(arg_params)
    if of_states is None or len(of_states) != len(aux_params):
        of_states = [default_dtype] * len(aux_params)
    return of_arguments, of_states
