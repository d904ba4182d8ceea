"""The exceptions of the public API; `mxnet.base` and `mxnet.error` show them under MXNet's names."""


class MXNetError(RuntimeError):
    """Any failure that a user can cause and that has no closer Python type."""

    __module__ = "mxnet.base"


class NotImplementedForSymbol(MXNetError):
    """A method of NDArray that has no meaning on a Symbol."""

    __module__ = "mxnet.base"

    def __init__(self, function, alias=None, *args):
        super().__init__()
        self.function = function.__name__
        self.alias = alias
        self.args = [str(type(a)) for a in args]

    def __str__(self):
        alias = f" (namely operator {self.alias!r})" if self.alias else ""
        arguments = f" with arguments ({', '.join(self.args)})" if self.args else ""
        return f"Function {self.function}{alias}{arguments} is not implemented for Symbol and only available in NDArray."


class NotSupportedForSparseNDArray(MXNetError):
    """An operation that sparse storage does not offer."""

    __module__ = "mxnet.base"

    def __init__(self, function, alias=None, *args):
        super().__init__()
        self.function = function.__name__
        self.alias = alias
        self.args = [str(type(a)) for a in args]

    def __str__(self):
        alias = f" (namely operator {self.alias!r})" if self.alias else ""
        arguments = f" with arguments ({', '.join(self.args)})" if self.args else ""
        return f"Function {self.function}{alias}{arguments} is not supported for SparseNDArray."
