"""`NumpyOp` and `NDArrayOp`, the older ways to write an operator in Python."""

import itertools

from .._ops import custom
from .custom_op import CustomOp, CustomOpProp, OneInputOneOutput

_SERIAL = itertools.count()


class PythonOp(OneInputOneOutput):
    """The base of the two older ways to write an operator in Python; `get_symbol` makes a symbol of it.

    Parameters
    ----------
    need_top_grad : bool, default True
        Whether `backward` needs the gradient of the output; a loss does not.

    Examples
    --------
    >>> mx.operator.PythonOp().list_arguments()
    ['data']
    """

    __module__ = "mxnet.operator"

    def __init__(self, need_top_grad=True):
        self.need_top_grad_ = need_top_grad

    def __call__(self, *args, **kwargs):
        return self.get_symbol(*args, **kwargs)

    def get_symbol(self, *args, **kwargs):
        """Make a symbol that calls this operator.

        Parameters
        ----------
        *args : Symbol
            The inputs.
        **kwargs
            The inputs by name, and `name`.

        Returns
        -------
        Symbol

        Examples
        --------
        >>> mx.operator.NumpyOp().get_symbol(mx.sym.var("x"), name="copy").list_outputs()
        ['copy_output']
        """
        from .. import symbol

        name = f"_python_op{next(_SERIAL)}"
        custom.PROPERTIES[name] = lambda: _OldProp(self)
        return symbol.Custom(*args, op_type=name, **kwargs)

    def forward(self, in_data, out_data):
        """Compute the outputs; by default a copy of the input.

        Parameters
        ----------
        in_data : list of arrays
            The inputs.
        out_data : list of arrays
            Where the outputs are written.

        Examples
        --------
        >>> out = [np.zeros(2)]
        >>> mx.operator.NumpyOp().forward([np.array([1, 2])], out)
        >>> out[0]
        array([1., 2.])
        """
        out_data[0][:] = in_data[0]

    def backward(self, out_grad, in_data, out_data, in_grad):
        """Compute the gradients of the inputs; by default ones.

        Parameters
        ----------
        out_grad, in_data, out_data : list of arrays
            The gradients of the outputs, the inputs and the outputs.
        in_grad : list of arrays
            Where the gradients are written.

        Examples
        --------
        >>> grad = [np.zeros(2)]
        >>> mx.operator.NumpyOp().backward([], [], [], grad)
        >>> grad[0]
        array([1., 1.])
        """
        in_grad[0][:] = 1.0

    def infer_shape(self, in_shape):
        """Infer the shapes; by default the output has the shape of the first input.

        Parameters
        ----------
        in_shape : list of list of int
            The shapes of the inputs.

        Returns
        -------
        (list, list)
            The shapes of the inputs and of the outputs.

        Examples
        --------
        >>> mx.operator.NumpyOp().infer_shape([[2, 3]])
        ([[2, 3]], [[2, 3]])
        """
        return in_shape, [in_shape[0]]

    def need_top_grad(self):
        """Whether `backward` needs the gradient of the output; a loss does not.

        Examples
        --------
        >>> mx.operator.NumpyOp(need_top_grad=False).need_top_grad()
        False
        """
        return self.need_top_grad_

    def _wrap(self, arrays):
        return arrays


class _OldProp(CustomOpProp):
    def __init__(self, op):
        super().__init__(op.need_top_grad())
        self.op = op

    def infer_shape(self, in_shape):
        inputs, outputs = self.op.infer_shape(in_shape)
        return inputs, outputs, []

    def list_outputs(self):
        return self.op.list_outputs()

    def list_arguments(self):
        return self.op.list_arguments()

    def create_operator(self, ctx, in_shapes, in_dtypes):
        return _OldOp(self.op)


class _OldOp(CustomOp):
    def __init__(self, op):
        super().__init__()
        self.op = op

    def forward(self, is_train, req, in_data, out_data, aux):
        self._deliver(out_data, lambda outs: self.op.forward(in_data=self.op._wrap(in_data), out_data=outs))

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        wrap_all = self.op._wrap
        self._deliver(
            in_grad,
            lambda grads: self.op.backward(
                out_grad=wrap_all(out_grad), in_data=wrap_all(in_data), out_data=wrap_all(out_data), in_grad=grads
            ),
        )

    def _deliver(self, targets, compute):
        buffers = self.op._wrap(targets)
        compute(buffers)
        for target, buffer in zip(targets, buffers, strict=True):
            if buffer is not target:
                target[:] = buffer


class NumpyOp(PythonOp):
    """The oldest way to write an operator: forward and backward on NumPy arrays. New code uses `CustomOp`.

    Parameters
    ----------
    need_top_grad : bool, default True
        Whether `backward` needs the gradient of the output; a loss does not.

    Examples
    --------
    >>> class Double(mx.operator.NumpyOp):
    ...     def forward(self, in_data, out_data):
    ...         out_data[0][:] = in_data[0] * 2
    >>> Double().get_symbol(mx.sym.var("x")).eval(x=mx.nd.array([1, 2]))[0].asnumpy()
    array([2., 4.], dtype=float32)
    """

    __module__ = "mxnet.operator"

    def _wrap(self, arrays):
        return [a.asnumpy() for a in arrays]


class NDArrayOp(PythonOp):
    """The second oldest way to write an operator: forward and backward on NDArrays. New code uses `CustomOp`.

    Parameters
    ----------
    need_top_grad : bool, default True
        Whether `backward` needs the gradient of the output; a loss does not.

    Examples
    --------
    >>> class Double(mx.operator.NDArrayOp):
    ...     def forward(self, in_data, out_data):
    ...         out_data[0][:] = in_data[0] * 2
    >>> Double().get_symbol(mx.sym.var("x")).eval(x=mx.nd.array([1, 2]))[0].asnumpy()
    array([2., 4.], dtype=float32)
    """

    __module__ = "mxnet.operator"

    def declare_backward_dependency(self, out_grad, in_data, out_data):
        """Choose what the backward pass reads.

        Parameters
        ----------
        out_grad, in_data, out_data : list of int
            Numbers that stand for the gradients of the outputs, the inputs and the outputs.

        Returns
        -------
        list of int
            The numbers of what is read.

        Examples
        --------
        >>> mx.operator.NDArrayOp(need_top_grad=False).declare_backward_dependency([0], [1], [2])
        [1, 2]
        """
        head = list(out_grad) if self.need_top_grad() else []
        return [*head, *in_data, *out_data]
