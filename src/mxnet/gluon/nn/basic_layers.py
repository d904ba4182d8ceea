"""Containers, dense layers, dropout, normalizations, embeddings, and functions as layers."""

import warnings
from typing import Any

from ... import ndarray as nd
from ... import symbol as sym
from ..._core.dtypes import dtype_name
from ...util import is_np_array  # noqa: F401 - MXNet shows it here
from .._block import _describe
from ..block import Block, HybridBlock
from .activations import Activation

__all__ = [
    "Sequential",
    "HybridSequential",
    "Dense",
    "Dropout",
    "Embedding",
    "BatchNorm",
    "BatchNormReLU",
    "InstanceNorm",
    "LayerNorm",
    "GroupNorm",
    "Flatten",
    "Lambda",
    "HybridLambda",
]


class _Stack:
    """What both kinds of sequential containers share."""

    def __init__(self, prefix=None, params=None):
        super().__init__(prefix=prefix, params=params)

    def add(self, *blocks):
        """Append blocks; they are called in the order in which they were added.

        Parameters
        ----------
        *blocks : Block
            The blocks.

        Examples
        --------
        >>> net = mx.gluon.nn.HybridSequential()
        >>> net.add(mx.gluon.nn.Dense(4), mx.gluon.nn.Dense(2))
        >>> len(net)
        2
        """
        for block in blocks:
            self.register_child(block)

    def __repr__(self):
        return _describe(self, self._children.items())

    def __getitem__(self, key) -> Any:
        layers = list(self._children.values())[key]
        if not isinstance(layers, list):
            return layers
        part = type(self)(prefix=self._prefix)
        with part.name_scope():
            part.add(*layers)
        return part

    def __len__(self):
        return len(self._children)


class Sequential(_Stack, Block):
    """A stack of blocks: the output of each is the input of the next.

    Parameters
    ----------
    prefix : str, optional
        Prefix of the names of the parameters.
    params : ParameterDict, optional
        Parameters to share with another block.

    Examples
    --------
    >>> net = mx.gluon.nn.Sequential()
    >>> net.add(mx.gluon.nn.Dense(4, activation="relu"), mx.gluon.nn.Dense(2))
    >>> net.initialize()
    >>> net(mx.nd.ones((3, 5))).shape
    (3, 2)
    >>> len(net), net[1].weight.shape
    (2, (2, 4))
    """

    def forward(self, x):
        for block in self._children.values():
            x = block(x)
        return x

    def hybridize(self, active=True, **kwargs):
        if self._children and all(isinstance(child, HybridBlock) for child in self._children.values()):
            warnings.warn(
                f"All children of this Sequential layer '{self.prefix}' are HybridBlocks. Consider "
                "using HybridSequential for the best performance.",
                stacklevel=2,
            )
        super().hybridize(active, **kwargs)


class HybridSequential(_Stack, HybridBlock):
    """A stack of hybrid blocks, which `hybridize()` turns into one graph.

    Parameters
    ----------
    prefix : str, optional
        Prefix of the names of the parameters.
    params : ParameterDict, optional
        Parameters to share with another block.

    Examples
    --------
    >>> net = mx.gluon.nn.HybridSequential()
    >>> net.add(mx.gluon.nn.Dense(4, activation="relu"), mx.gluon.nn.Dense(2))
    >>> net.initialize()
    >>> net.hybridize()
    >>> net(mx.nd.ones((3, 5))).shape
    (3, 2)
    """

    def hybrid_forward(self, F, x):
        for block in self._children.values():
            x = block(x)
        return x


class Dense(HybridBlock):
    """Fully connected layer: y = activation(x · weightᵀ + bias).

    Parameters
    ----------
    units : int
        Number of outputs.
    activation : str, optional
        The function applied to the result: 'relu', 'sigmoid', 'tanh', 'softrelu' or 'softsign'; None applies none.
    use_bias : bool, default True
        Whether the layer has a bias.
    flatten : bool, default True
        Whether all axes but the first are flattened into one. If False, only the last axis is transformed.
    dtype : str or np.dtype, default 'float32'
        The type of the parameters.
    weight_initializer : Initializer or str, optional
        How the weight is initialized; None takes the one given to `initialize()`.
    bias_initializer : Initializer or str, default 'zeros'
        How the bias is initialized.
    in_units : int, default 0
        Number of inputs; 0 means that the first batch decides.

    Inputs: an array of shape (N, ...); the output has shape (N, units), or (..., units) if `flatten` is False.

    Examples
    --------
    >>> layer = mx.gluon.nn.Dense(2, weight_initializer="ones")
    >>> layer.initialize()
    >>> layer(mx.nd.array([[1, 2, 3]])).asnumpy()
    array([[6., 6.]], dtype=float32)
    >>> mx.gluon.nn.Dense(2, in_units=3).weight.shape
    (2, 3)
    """

    def __init__(
        self,
        units,
        activation=None,
        use_bias=True,
        flatten=True,
        dtype="float32",
        weight_initializer=None,
        bias_initializer="zeros",
        in_units=0,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self._flatten = flatten
        self._units = units
        self._in_units = in_units
        with self.name_scope():
            self.weight = self.params.get(
                "weight", shape=(units, in_units), init=weight_initializer, dtype=dtype, allow_deferred_init=True
            )
            self.bias: Any = None
            if use_bias:
                self.bias = self.params.get(
                    "bias", shape=(units,), init=bias_initializer, dtype=dtype, allow_deferred_init=True
                )
            self.act = None if activation is None else Activation(activation, prefix=activation + "_")

    def hybrid_forward(self, F, x, weight, bias=None):
        out = F.FullyConnected(
            x, weight, bias, no_bias=bias is None, num_hidden=self._units, flatten=self._flatten, name="fwd"
        )
        return out if self.act is None else self.act(out)

    def __repr__(self):
        units, in_units = self.weight.shape
        return f"{type(self).__name__}({in_units or None} -> {units}, {self.act or 'linear'})"


class Dropout(HybridBlock):
    """Sets elements to zero with probability `rate` during training and divides the others by 1 - rate.

    Outside `autograd.record()` (or with `train_mode=False`) the layer returns its input.

    Parameters
    ----------
    rate : float
        The probability of an element to be dropped.
    axes : tuple of int, default ()
        Axes along which the same elements are dropped.

    Examples
    --------
    >>> layer = mx.gluon.nn.Dropout(0.5)
    >>> layer(mx.nd.ones((2, 2))).asnumpy()  # prediction: nothing is dropped
    array([[1., 1.],
           [1., 1.]], dtype=float32)
    >>> with mx.autograd.record():
    ...     y = layer(mx.nd.ones((100,)))
    >>> sorted(set(y.asnumpy().tolist()))
    [0.0, 2.0]
    """

    def __init__(self, rate, axes=(), **kwargs):
        super().__init__(**kwargs)
        self._rate = rate
        self._axes = axes

    def hybrid_forward(self, F, x):
        if self._rate > 0:
            return F.Dropout(x, p=self._rate, axes=self._axes, name="fwd", cudnn_off=False)
        return F.identity(x)

    def __repr__(self):
        return f"{type(self).__name__}(p = {self._rate}, axes={self._axes})"


class _Norm(HybridBlock):
    """A normalization with a scale gamma and a shift beta, which may be fixed."""

    def _make_affine(self, channels, center, scale, beta_initializer, gamma_initializer, fixed_for_good=False):
        for name, learned, init in (("gamma", scale, gamma_initializer), ("beta", center, beta_initializer)):
            param = self.params.get(
                name,
                grad_req="write" if learned else "null",
                shape=(channels,),
                init=init,
                allow_deferred_init=True,
                differentiable=learned or not fixed_for_good,
            )
            setattr(self, name, param)

    def _content(self):
        return ", ".join(f"{key}={value!r}" for key, value in self._kwargs.items())

    def __repr__(self):
        return f"{type(self).__name__}({self._content()}, in_channels={self.gamma.shape[0]})"


class _BatchNorm(_Norm):
    def __init__(
        self,
        axis=1,
        momentum=0.9,
        epsilon=1e-5,
        center=True,
        scale=True,
        use_global_stats=False,
        fuse_relu=False,
        beta_initializer="zeros",
        gamma_initializer="ones",
        running_mean_initializer="zeros",
        running_variance_initializer="ones",
        in_channels=0,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self._kwargs = {
            "axis": axis,
            "eps": epsilon,
            "momentum": momentum,
            "fix_gamma": not scale,
            "use_global_stats": use_global_stats,
        }
        self.fuse_relu = fuse_relu
        if in_channels != 0:
            self.in_channels = in_channels
        self._make_affine(in_channels, center, scale, beta_initializer, gamma_initializer, fixed_for_good=True)
        states = (("running_mean", running_mean_initializer), ("running_var", running_variance_initializer))
        for name, init in states:
            state = self.params.get(
                name,
                grad_req="null",
                shape=(in_channels,),
                init=init,
                allow_deferred_init=True,
                differentiable=False,
            )
            setattr(self, name, state)

    def cast(self, dtype):
        # Half precision would ruin the statistics.
        super().cast("float32" if dtype_name(dtype) == "float16" else dtype)

    def hybrid_forward(self, F, x, gamma, beta, running_mean, running_var):
        batch_norm = F.contrib.BatchNormWithReLU if self.fuse_relu else F.BatchNorm
        return batch_norm(x, gamma, beta, running_mean, running_var, name="fwd", **self._kwargs)

    def __repr__(self):
        return f"{type(self).__name__}({self._content()}, in_channels={self.gamma.shape[0] or None})"


class BatchNorm(_BatchNorm):
    """Batch normalization: y = (x - mean) / sqrt(variance + epsilon) · gamma + beta for each channel.

    During training mean and variance are those of the batch, and the running statistics are updated:
    running = momentum · running + (1 - momentum) · batch. In prediction the running statistics are used.

    Parameters
    ----------
    axis : int, default 1
        The axis of the channels; -1 for channels-last data.
    momentum : float, default 0.9
        How much of the running statistics is kept in each step.
    epsilon : float, default 1e-5
        Added to the variance, so that the division is safe.
    center : bool, default True
        Whether `beta` is added.
    scale : bool
        Whether the result is multiplied by `gamma`. A following linear layer can do that as well.
    beta_initializer : Initializer or str, default 'zeros'
        How `beta` is initialized.
    gamma_initializer : Initializer or str, default 'ones'
        How `gamma` is initialized.
    use_global_stats : bool, default False
        Whether the running statistics are used during training, too, and stay as they are.
    running_mean_initializer, running_variance_initializer : Initializer or str
        How the running statistics begin: 'zeros' and 'ones'.
    in_channels : int, default 0
        Number of channels; 0 means that the first batch decides.

    Examples
    --------
    >>> layer = mx.gluon.nn.BatchNorm()
    >>> layer.initialize()
    >>> x = mx.nd.array([[1, 10], [3, 30]])
    >>> with mx.autograd.record():
    ...     y = layer(x)
    >>> y.asnumpy().round(3)
    array([[-1., -1.],
           [ 1.,  1.]], dtype=float32)
    >>> layer.running_mean.data().asnumpy().round(3)
    array([0., 0.], dtype=float32)
    """

    _fuse_relu = False

    def __init__(
        self,
        axis=1,
        momentum=0.9,
        epsilon=1e-5,
        center=True,
        scale=True,
        use_global_stats=False,
        beta_initializer="zeros",
        gamma_initializer="ones",
        running_mean_initializer="zeros",
        running_variance_initializer="ones",
        in_channels=0,
        **kwargs,
    ):
        _BatchNorm.__init__(  # named, because BatchNormReLU, which is no BatchNorm, shares these lines
            self,
            axis,
            momentum,
            epsilon,
            center,
            scale,
            use_global_stats,
            self._fuse_relu,
            beta_initializer,
            gamma_initializer,
            running_mean_initializer,
            running_variance_initializer,
            in_channels,
            **kwargs,
        )


class BatchNormReLU(_BatchNorm):
    """Batch normalization followed by relu, as one layer: y = max(0, batch_norm(x)).

    Parameters
    ----------
    axis : int, default 1
        The axis of the channels.
    momentum : float, default 0.9
        How much of the running statistics is kept in each step.
    epsilon : float, default 1e-5
        Added to the variance.
    center : bool, default True
        Whether `beta` is added.
    scale : bool
        Whether the result is multiplied by `gamma`. A following linear layer can do that as well.
    beta_initializer : Initializer or str, default 'zeros'
        How `beta` is initialized.
    gamma_initializer : Initializer or str, default 'ones'
        How `gamma` is initialized.
    use_global_stats : bool, default False
        Whether the running statistics are used during training, too.
    running_mean_initializer, running_variance_initializer : Initializer or str
        How the running statistics begin: 'zeros' and 'ones'.
    in_channels : int, default 0
        Number of channels; 0 means that the first batch decides.

    Examples
    --------
    >>> layer = mx.gluon.nn.BatchNormReLU()
    >>> layer.initialize()
    >>> layer(mx.nd.array([[-1, 2]])).asnumpy().round(3)
    array([[0., 2.]], dtype=float32)
    """

    __init__ = BatchNorm.__init__
    _fuse_relu = True


class InstanceNorm(_Norm):
    """Instance normalization: (x - mean) / sqrt(variance + epsilon) · gamma + beta, over each channel of each sample.

    Parameters
    ----------
    axis : int, default 1
        The axis of the channels.
    epsilon : float, default 1e-5
        Added to the variance.
    center : bool, default True
        Whether `beta` is added.
    scale : bool
        Whether the result is multiplied by `gamma`. A following linear layer can do that as well.
    beta_initializer : Initializer or str, default 'zeros'
        How `beta` is initialized.
    gamma_initializer : Initializer or str, default 'ones'
        How `gamma` is initialized.
    in_channels : int, default 0
        Number of channels; 0 means that the first batch decides.

    Examples
    --------
    >>> layer = mx.gluon.nn.InstanceNorm()
    >>> layer.initialize()
    >>> layer(mx.nd.array([[[1, 3], [10, 30]]])).asnumpy().round(3)
    array([[[-1.,  1.],
            [-1.,  1.]]], dtype=float32)
    """

    def __init__(
        self,
        axis=1,
        epsilon=1e-5,
        center=True,
        scale=False,
        beta_initializer="zeros",
        gamma_initializer="ones",
        in_channels=0,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self._kwargs = {"eps": epsilon, "axis": axis, "center": center, "scale": scale}
        self._axis = axis
        self._epsilon = epsilon
        self._make_affine(in_channels, center, scale, beta_initializer, gamma_initializer)

    def hybrid_forward(self, F, x, gamma, beta):
        if self._axis == 1:
            return F.InstanceNorm(x, gamma, beta, name="fwd", eps=self._epsilon)
        x = x.swapaxes(1, self._axis)
        return F.InstanceNorm(x, gamma, beta, name="fwd", eps=self._epsilon).swapaxes(1, self._axis)


class LayerNorm(_Norm):
    """Layer normalization: (x - mean) / sqrt(variance + epsilon) · gamma + beta, along one axis of each sample.

    Parameters
    ----------
    axis : int, default -1
        The axis that is normalized.
    epsilon : float, default 1e-5
        Added to the variance.
    center : bool, default True
        Whether `beta` is added.
    scale : bool
        Whether the result is multiplied by `gamma`. A following linear layer can do that as well.
    beta_initializer : Initializer or str, default 'zeros'
        How `beta` is initialized.
    gamma_initializer : Initializer or str, default 'ones'
        How `gamma` is initialized.
    in_channels : int, default 0
        Number of channels; 0 means that the first batch decides.
    prefix : str, optional
        Prefix of the names of the parameters.
    params : ParameterDict, optional
        Parameters to share with another block.

    Examples
    --------
    >>> layer = mx.gluon.nn.LayerNorm()
    >>> layer.initialize()
    >>> layer(mx.nd.array([[1, 2, 3], [10, 20, 30]])).asnumpy().round(3)
    array([[-1.225,  0.   ,  1.225],
           [-1.225,  0.   ,  1.225]], dtype=float32)
    """

    def __init__(
        self,
        axis=-1,
        epsilon=1e-5,
        center=True,
        scale=True,
        beta_initializer="zeros",
        gamma_initializer="ones",
        in_channels=0,
        prefix=None,
        params=None,
    ):
        super().__init__(prefix=prefix, params=params)
        self._kwargs = {"eps": epsilon, "axis": axis, "center": center, "scale": scale}
        self._axis = axis
        self._epsilon = epsilon
        self._center = center
        self._scale = scale
        self._make_affine(in_channels, center, scale, beta_initializer, gamma_initializer)

    def hybrid_forward(self, F, data, gamma, beta):
        return F.LayerNorm(data, gamma=gamma, beta=beta, axis=self._axis, eps=self._epsilon)


class GroupNorm(_Norm):
    """Group normalization: (x - mean) / sqrt(variance + epsilon) · gamma + beta, over each group of channels.

    Parameters
    ----------
    num_groups : int, default 1
        Number of groups that the channels (axis 1) are divided into. As in MXNet 1.9.1, `gamma` and `beta` have one
        element for each group.
    epsilon : float, default 1e-5
        Added to the variance.
    center : bool, default True
        Whether `beta` is added.
    scale : bool
        Whether the result is multiplied by `gamma`. A following linear layer can do that as well.
    beta_initializer : Initializer or str, default 'zeros'
        How `beta` is initialized.
    gamma_initializer : Initializer or str, default 'ones'
        How `gamma` is initialized.
    prefix : str, optional
        Prefix of the names of the parameters.
    params : ParameterDict, optional
        Parameters to share with another block.

    Examples
    --------
    >>> layer = mx.gluon.nn.GroupNorm(num_groups=2)
    >>> layer.initialize()
    >>> layer(mx.nd.array([[[1, 3], [2, 4]]])).asnumpy().round(3)
    array([[[-1.,  1.],
            [-1.,  1.]]], dtype=float32)
    """

    def __init__(
        self,
        num_groups=1,
        epsilon=1e-5,
        center=True,
        scale=True,
        beta_initializer="zeros",
        gamma_initializer="ones",
        prefix=None,
        params=None,
    ):
        super().__init__(prefix=prefix, params=params)
        self._kwargs = {"eps": epsilon, "num_groups": num_groups, "center": center, "scale": scale}
        self._num_groups = num_groups
        self._epsilon = epsilon
        self._center = center
        self._scale = scale
        self._make_affine(num_groups, center, scale, beta_initializer, gamma_initializer)

    def hybrid_forward(self, F, data, gamma, beta):
        return F.GroupNorm(data, gamma=gamma, beta=beta, num_groups=self._num_groups, eps=self._epsilon)

    def __repr__(self):
        return f"{type(self).__name__}({self._content()})"


class Embedding(HybridBlock):
    """A table of learned vectors: index i becomes row i of `weight`, which has shape (input_dim, output_dim).

    Parameters
    ----------
    input_dim : int
        Number of rows, which is the size of the vocabulary.
    output_dim : int
        Length of each vector.
    dtype : str or np.dtype, default 'float32'
        The type of the vectors.
    weight_initializer : Initializer or str, optional
        How the table is initialized.
    sparse_grad : bool, default False
        Whether the gradient of the table is row-sparse, so that an update touches only the rows that were used.

    Inputs: indices of any shape; the output has one axis of length `output_dim` more. Indices outside of the table are
    clipped to its first or last row, as in MXNet.

    Examples
    --------
    >>> layer = mx.gluon.nn.Embedding(10, 4)
    >>> layer.initialize()
    >>> layer(mx.nd.array([[1, 2, 3]])).shape
    (1, 3, 4)
    """

    def __init__(self, input_dim, output_dim, dtype="float32", weight_initializer=None, sparse_grad=False, **kwargs):
        super().__init__(**kwargs)
        self._kwargs = {
            "input_dim": input_dim,
            "output_dim": output_dim,
            "dtype": dtype,
            "sparse_grad": sparse_grad,
        }
        self.weight = self.params.get(
            "weight",
            shape=(input_dim, output_dim),
            init=weight_initializer,
            dtype=dtype,
            allow_deferred_init=True,
            grad_stype="row_sparse" if sparse_grad else "default",
        )

    def hybrid_forward(self, F, x, weight):
        return F.Embedding(x, weight, name="fwd", **self._kwargs)

    def __repr__(self):
        return "{}({input_dim} -> {output_dim}, {dtype})".format(type(self).__name__, **self._kwargs)


class Flatten(HybridBlock):
    """Flattens every axis but the first: (N, a, b, ...) becomes (N, a · b · ...).

    Parameters
    ----------
    prefix : str, optional
        Prefix of the block's name.
    params : ParameterDict, optional
        Not used; the layer has no parameters.

    Examples
    --------
    >>> mx.gluon.nn.Flatten()(mx.nd.ones((2, 3, 4))).shape
    (2, 12)
    """

    def hybrid_forward(self, F, x):
        return F.flatten(x)

    def __repr__(self):
        return type(self).__name__


class Lambda(Block):
    """A function as a block.

    Parameters
    ----------
    function : str or callable
        The name of an operator in `mx.nd`, or a function of arrays.
    prefix : str, optional
        Prefix of the block's name.

    Examples
    --------
    >>> mx.gluon.nn.Lambda("tanh")(mx.nd.array([0, 1])).asnumpy().round(4)
    array([0.    , 0.7616], dtype=float32)
    >>> mx.gluon.nn.Lambda(lambda x: x * 2)(mx.nd.array([0, 1])).asnumpy()
    array([0., 2.], dtype=float32)
    """

    def __init__(self, function, prefix=None):
        super().__init__(prefix=prefix)
        if isinstance(function, str):
            assert hasattr(nd, function), f"Function name {function} is not found in ndarray."
            self._func_impl = getattr(nd, function)
        elif callable(function):
            self._func_impl = function
        else:
            raise ValueError(f"Unrecognized function in lambda: {function} of type {type(function)}")

    def forward(self, *args):
        return self._func_impl(*args)

    def __repr__(self):
        return f"{type(self).__name__}({self._func_impl.__name__})"


class HybridLambda(HybridBlock):
    """A function as a hybrid block.

    Parameters
    ----------
    function : str or callable
        The name of an operator that both `mx.nd` and `mx.sym` have, or a function of `F` and the inputs.
    prefix : str, optional
        Prefix of the block's name.

    Examples
    --------
    >>> mx.gluon.nn.HybridLambda(lambda F, x: F.LeakyReLU(x, slope=0.1))(mx.nd.array([-1, 1])).asnumpy().round(4)
    array([-0.1,  1. ], dtype=float32)
    """

    def __init__(self, function, prefix=None):
        super().__init__(prefix=prefix)
        if isinstance(function, str):
            assert hasattr(nd, function) and hasattr(sym, function), (
                f"Function name {function} is not found in symbol/ndarray."
            )
            self._func = _Named(function)
            self._func_name = function
        elif callable(function):
            self._func = function
            self._func_name = function.__name__
        else:
            raise ValueError(f"Unrecognized function in lambda: {function} of type {type(function)}")

    def hybrid_forward(self, F, x, *args):
        return self._func(F, x, *args)

    def __repr__(self):
        return f"{type(self).__name__}({self._func_name})"


class _Named:
    """Calls the operator of a name; unlike a lambda it can be pickled."""

    def __init__(self, name):
        self.name = name

    def __call__(self, F, *args):
        return getattr(F, self.name)(*args)
