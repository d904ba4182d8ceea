"""`CustomOp`, the computation of an operator written in Python, and `CustomOpProp`, what is known before it runs."""

from .._ops import custom


class CustomOp:
    """The computation of an operator written in Python: subclass it and write `forward` and `backward`.

    Examples
    --------
    >>> class Square(mx.operator.CustomOp):
    ...     def forward(self, is_train, req, in_data, out_data, aux):
    ...         self.assign(out_data[0], req[0], in_data[0] ** 2)
    ...
    ...     def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
    ...         self.assign(in_grad[0], req[0], 2 * in_data[0] * out_grad[0])
    >>> @mx.operator.register("square_example")
    ... class SquareProp(mx.operator.CustomOpProp):
    ...     def create_operator(self, ctx, shapes, dtypes):
    ...         return Square()
    >>> mx.nd.Custom(mx.nd.array([2, 3]), op_type="square_example").asnumpy()
    array([4., 9.], dtype=float32)
    """

    __module__ = "mxnet.operator"

    def __init__(self):
        pass

    def forward(self, is_train, req, in_data, out_data, aux):
        """Compute the outputs; a subclass defines it.

        Parameters
        ----------
        is_train : bool
            Whether the network is in training mode.
        req : list of str
            For each output "write", "inplace", "add" or "null": what `assign` does with it.
        in_data : list of NDArray
            The inputs.
        out_data : list of NDArray
            Where the outputs go: `self.assign(out_data[0], req[0], result)`.
        aux : list of NDArray
            The auxiliary states.

        Examples
        --------
        >>> class Square(mx.operator.CustomOp):
        ...     def forward(self, is_train, req, in_data, out_data, aux):
        ...         self.assign(out_data[0], req[0], in_data[0] ** 2)
        >>> out = [mx.nd.zeros((2,))]
        >>> Square().forward(True, ["write"], [mx.nd.array([2, 3])], out, [])
        >>> out[0].asnumpy()
        array([4., 9.], dtype=float32)
        """

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        """Compute the gradients of the inputs; a subclass defines it.

        Parameters
        ----------
        req : list of str
            For each input "write", "inplace", "add" or "null": what `assign` does with its gradient.
        out_grad : list of NDArray
            The gradients of the outputs.
        in_data : list of NDArray
            The inputs of `forward`.
        out_data : list of NDArray
            The outputs of `forward`.
        in_grad : list of NDArray
            Where the gradients go: `self.assign(in_grad[0], req[0], gradient)`.
        aux : list of NDArray
            The auxiliary states.

        Examples
        --------
        >>> class Square(mx.operator.CustomOp):
        ...     def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        ...         self.assign(in_grad[0], req[0], 2 * in_data[0] * out_grad[0])
        >>> grad = [mx.nd.zeros((2,))]
        >>> Square().backward(["write"], [mx.nd.ones((2,))], [mx.nd.array([2, 3])], [], grad, [])
        >>> grad[0].asnumpy()
        array([4., 6.], dtype=float32)
        """

    def assign(self, dst, req, src):
        """Put a result where it belongs, as the request says.

        Parameters
        ----------
        dst : NDArray
            The array of an output or of a gradient.
        req : str
            "write" or "inplace" overwrites, "add" adds, "null" does nothing.
        src : NDArray or number
            The result.

        Examples
        --------
        >>> total = mx.nd.ones((2,))
        >>> mx.operator.CustomOp().assign(total, "add", mx.nd.array([2, 3]))
        >>> total.asnumpy()
        array([3., 4.], dtype=float32)
        """
        if req in ("write", "inplace"):
            dst[:] = src
        elif req == "add":
            dst[:] += src


class OneInputOneOutput:
    """The names of an operator's inputs and outputs where a subclass does not tell them."""

    def list_outputs(self):
        """The names of the outputs, a list of str; by default there is one.

        Examples
        --------
        >>> mx.operator.CustomOpProp().list_outputs()
        ['output']
        """
        return ["output"]

    def list_arguments(self):
        """The names of the inputs, a list of str; by default there is one.

        Examples
        --------
        >>> mx.operator.CustomOpProp().list_arguments()
        ['data']
        """
        return ["data"]


class CustomOpProp(OneInputOneOutput):
    """What is known of a custom operator before it runs: its arguments, shapes and data types, and how to make it.

    Parameters
    ----------
    need_top_grad : bool, default True
        Whether `backward` needs the gradient of the output; a loss does not.

    Examples
    --------
    >>> class Prop(mx.operator.CustomOpProp):
    ...     def list_arguments(self):
    ...         return ["data", "scale"]
    ...
    ...     def infer_shape(self, in_shape):
    ...         return [in_shape[0], (1,)], [in_shape[0]], []
    >>> Prop().infer_shape([(2, 3), None])
    ([(2, 3), (1,)], [(2, 3)], [])
    """

    __module__ = "mxnet.operator"

    def __init__(self, need_top_grad=True):
        self.need_top_grad_ = need_top_grad

    def infer_shape(self, in_shape):
        """Infer the shapes. By default all outputs have the shape of the first input, and there are no auxiliary
        states.

        Parameters
        ----------
        in_shape : list of tuple or list of int
            The shapes of the inputs, in the order of `list_arguments`; an unknown one is empty.

        Returns
        -------
        (list, list, list)
            The shapes of the inputs, of the outputs and of the auxiliary states.

        Examples
        --------
        >>> mx.operator.CustomOpProp().infer_shape([(2, 3)])
        ([(2, 3)], ((2, 3),), ())
        """
        return in_shape, (in_shape[0],) * len(self.list_outputs()), ()

    def infer_type(self, in_type):
        """Infer the data types. By default all are that of the first input.

        Parameters
        ----------
        in_type : list of numpy.dtype
            The types of the inputs.

        Returns
        -------
        (list, list, list)
            The types of the inputs, of the outputs and of the auxiliary states.

        Examples
        --------
        >>> mx.operator.CustomOpProp().infer_type(["float16"])
        (['float16'], ['float16'], [])
        """
        return (
            in_type,
            [in_type[0]] * len(self.list_outputs()),
            [in_type[0]] * len(self.list_auxiliary_states()),
        )

    def infer_storage_type(self, in_stype):
        """Infer the storage types of the forward pass. By default all are dense, and sparse inputs are an error.

        Parameters
        ----------
        in_stype : list of str
            The storage types of the inputs: "default", "csr" or "row_sparse".

        Returns
        -------
        (list, list, list)
            The storage types of the inputs, of the outputs and of the auxiliary states.

        Examples
        --------
        >>> mx.operator.CustomOpProp().infer_storage_type(["default"])
        (['default'], ['default'], [])
        """
        _check_dense("infer_storage_type", in_stype, "in_stype")
        return in_stype, ["default"] * len(self.list_outputs()), ["default"] * len(self.list_auxiliary_states())

    def infer_storage_type_backward(self, ograd_stype, in_stype, out_stype, igrad_stype, aux_stype):
        """Infer the storage types of the backward pass. By default all are dense.

        Parameters
        ----------
        ograd_stype, in_stype, out_stype, igrad_stype, aux_stype : list of str
            The storage types of the gradients of the outputs, the inputs, the outputs, the gradients of the inputs, and
            the auxiliary states.

        Returns
        -------
        tuple of five lists of str
            The storage types in the same order.

        Examples
        --------
        >>> dense = ["default"]
        >>> mx.operator.CustomOpProp().infer_storage_type_backward(dense, dense, dense, dense, [])
        (['default'], ['default'], ['default'], ['default'], [])
        """
        _check_dense("infer_storage_type_backward", ograd_stype, "ograd_stype")
        _check_dense("infer_storage_type_backward", igrad_stype, "igrad_stype")
        return tuple(["default"] * len(s) for s in (ograd_stype, in_stype, out_stype, igrad_stype, aux_stype))

    def list_auxiliary_states(self):
        """The names of the auxiliary states, a list of str; by default there are none.

        Examples
        --------
        >>> mx.operator.CustomOpProp().list_auxiliary_states()
        []
        """
        return []

    def declare_backward_dependency(self, out_grad, in_data, out_data):
        """Choose what the backward pass reads; the rest can be freed after the forward pass.

        Parameters
        ----------
        out_grad, in_data, out_data : list of int
            Numbers that stand for the gradients of the outputs, the inputs and the outputs.

        Returns
        -------
        list of int
            The numbers of what is read; by default all of them, without `out_grad` if `need_top_grad` is False.

        Examples
        --------
        >>> mx.operator.CustomOpProp(need_top_grad=False).declare_backward_dependency([0], [1], [2])
        [1, 2]
        """
        head = list(out_grad) if self.need_top_grad_ else []
        return [*head, *in_data, *out_data]

    def create_operator(self, ctx, in_shapes, in_dtypes):
        """Make the operator; a subclass defines it.

        Parameters
        ----------
        ctx : Context
            The device.
        in_shapes : list of list of int
            The shapes of the inputs.
        in_dtypes : list of int
            The types of the inputs, as MXNet's numbers.

        Returns
        -------
        CustomOp

        Examples
        --------
        >>> type(mx.operator.CustomOpProp().create_operator(mx.cpu(), [[2, 3]], [0])).__name__
        'CustomOp'
        """
        return CustomOp()


def _check_dense(method, stypes, name):
    for i, stype in enumerate(stypes):
        assert stype in ("default", "undefined"), (
            f"Default {method} implementation doesnt allow non default stypes: found non default stype '{stype}' for "
            f"{name}[{i}]. An operator on sparse arrays implements infer_storage_type and infer_storage_type_backward"
        )


def register(reg_name):
    """A decorator that registers a `CustomOpProp` class under a name, for `op_type` of `nd.Custom` and `sym.Custom`.

    Parameters
    ----------
    reg_name : str
        The name.

    Returns
    -------
    callable

    Examples
    --------
    >>> @mx.operator.register("nothing_example")
    ... class NothingProp(mx.operator.CustomOpProp):
    ...     pass
    >>> "Custom" in mx.operator.get_all_registered_operators()
    True
    """

    def decorate(prop_cls):
        custom.PROPERTIES[reg_name] = prop_cls
        return prop_cls

    return decorate
