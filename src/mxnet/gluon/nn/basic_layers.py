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
        """Put `blocks` at the end."""
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
    """Blocks one after another."""

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
    """Hybrid blocks one after another."""

    def hybrid_forward(self, F, x):
        for block in self._children.values():
            x = block(x)
        return x


class Dense(HybridBlock):
    """activation(x · weightᵀ + bias), each sample flattened first unless `flatten` is False.

    Batches (batch, …) become (batch, units); without `flatten` (…, in_units) become (…, units). `in_units` may be left
    open (0): the first batch tells it.
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
    """Sets elements to zero with probability `rate` in training; along `axes` the same ones."""

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
    """Normalizes each channel over the batch, and in prediction by the running statistics of training.

    (x - mean) / sqrt(variance + epsilon) * gamma + beta, for each place on `axis`. In training the running mean and
    variance keep `momentum` of what they were, unless `use_global_stats` lets them serve there, too. Without `scale`
    gamma stays 1, without `center` beta stays 0. `in_channels` may be left open (0): the first batch tells it.
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
    """Batch normalization and relu in one; arguments as for `BatchNorm`."""

    __init__ = BatchNorm.__init__
    _fuse_relu = True


class InstanceNorm(_Norm):
    """(x - mean) / sqrt(variance + epsilon) * gamma + beta, for each channel (on `axis`) of each sample.

    Without `scale` gamma stays 1, without `center` beta stays 0.
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
    """(x - mean) / sqrt(variance + epsilon) * gamma + beta, along `axis` of each sample.

    Without `scale` gamma stays 1, without `center` beta stays 0.
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
    """(x - mean) / sqrt(variance + epsilon) * gamma + beta, for each of `num_groups` groups of channels of each sample.

    Without `scale` gamma stays 1, without `center` beta stays 0.
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
    """A learned vector of `output_dim` elements for each of the numbers from 0 to `input_dim` - 1.

    Numbers of any shape become that shape with one axis more. With `sparse_grad` the gradient has only the rows that
    were looked up.
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
    """Each sample as one row."""

    def hybrid_forward(self, F, x):
        return F.flatten(x)

    def __repr__(self):
        return type(self).__name__


class Lambda(Block):
    """A function, or the operator of that name, as a block."""

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
    """A function of F and arrays or symbols, or the operator of that name, as a hybrid block."""

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
