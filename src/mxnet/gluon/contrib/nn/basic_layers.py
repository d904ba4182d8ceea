"""Branches side by side, identity, pixel shuffling, and batch normalization across devices."""

import math
import warnings

from .... import ndarray as nd
from ....context import num_gpus
from ...block import Block, HybridBlock
from ...nn import BatchNorm, HybridSequential, Sequential

__all__ = [
    "Concurrent", "HybridConcurrent", "Identity", "PixelShuffle1D", "PixelShuffle2D", "PixelShuffle3D",
    "SparseEmbedding", "SyncBatchNorm",
]  # fmt: skip


class Concurrent(Sequential):
    """Feed the input to every child and join their outputs along `axis`.

    The children are added with `add`, as to a `Sequential`. Their outputs must have the same shape except along `axis`.
    The blocks of GoogLeNet's Inception are built in this way, with `axis=1`: the channels of the branches follow each
    other.

    Parameters
    ----------
    axis : int, default -1
        The axis along which the outputs are joined; 1 is that of the channels in the layout NCHW.
    prefix : str, optional
        The prefix of the block's name and parameters.
    params : ParameterDict, optional
        Parameters to share.

    Examples
    --------
    >>> from mxnet.gluon import contrib, nn
    >>> net = contrib.nn.Concurrent(axis=1)
    >>> net.add(nn.Dense(2, in_units=3), nn.Dense(4, in_units=3))
    >>> net.initialize()
    >>> net(mx.nd.ones((1, 3))).shape
    (1, 6)
    """

    def __init__(self, axis=-1, prefix=None, params=None):
        super().__init__(prefix=prefix, params=params)
        self.axis = axis

    def forward(self, x):
        """The children's outputs, joined."""
        return nd.concat(*[block(x) for block in self._children.values()], dim=self.axis)


class HybridConcurrent(HybridSequential):
    """Feed the input to every child and join their outputs along `axis`; it can be hybridized.

    The children are added with `add`, as to a `Sequential`. Their outputs must have the same shape except along `axis`.
    The blocks of GoogLeNet's Inception are built in this way, with `axis=1`: the channels of the branches follow each
    other.

    Parameters
    ----------
    axis : int, default -1
        The axis along which the outputs are joined; 1 is that of the channels in the layout NCHW.
    prefix : str, optional
        The prefix of the block's name and parameters.
    params : ParameterDict, optional
        Parameters to share.

    Examples
    --------
    >>> from mxnet.gluon import contrib, nn
    >>> net = contrib.nn.HybridConcurrent(axis=1)
    >>> net.add(contrib.nn.Identity(), nn.Dense(4, in_units=3))
    >>> net.initialize()
    >>> net(mx.nd.ones((1, 3))).shape
    (1, 7)
    """

    def __init__(self, axis=-1, prefix=None, params=None):
        super().__init__(prefix=prefix, params=params)
        self.axis = axis

    def hybrid_forward(self, F, x):
        """The children's outputs, joined."""
        return F.concat(*[block(x) for block in self._children.values()], dim=self.axis)


class Identity(HybridBlock):
    """The input itself: a branch of a residual or concurrent block.

    The layer has no parameters and accepts arrays of any shape and type. In `Concurrent` it keeps the input beside the
    outputs of the other branches, as in a DenseNet.

    Parameters
    ----------
    prefix : str, optional
        The prefix of the block's name.
    params : ParameterDict, optional
        Accepted like that of all blocks: this one has no parameters.

    Examples
    --------
    >>> mx.gluon.contrib.nn.Identity()(mx.nd.array([1, 2])).asnumpy()
    array([1., 2.], dtype=float32)
    >>> from mxnet.gluon import contrib, nn
    >>> net = contrib.nn.HybridConcurrent(axis=1)
    >>> net.add(contrib.nn.Identity(), nn.Dense(3, in_units=2))
    >>> net.initialize()
    >>> net(mx.nd.ones((4, 2))).shape
    (4, 5)
    """

    def __init__(self, prefix=None, params=None):
        super().__init__(prefix=prefix, params=params)

    def hybrid_forward(self, F, x):
        """The input."""
        return x


class SparseEmbedding(Block):
    """An embedding whose gradient has only the rows that were looked up.

    Parameters
    ----------
    input_dim : int
        The number of rows of the table.
    output_dim : int
        The length of a row.
    dtype : str, default 'float32'
        The data type of the table.
    weight_initializer : Initializer, optional
        How the table is initialized.
    **kwargs
        `prefix` and `params` of the block.

    Examples
    --------
    >>> layer = mx.gluon.contrib.nn.SparseEmbedding(10, 4)
    >>> layer.initialize()
    >>> trainer = mx.gluon.Trainer(layer.collect_params(), "sgd")
    >>> layer(mx.nd.array([1, 5])).shape, layer.weight._grad_stype
    ((2, 4), 'row_sparse')
    """

    def __init__(self, input_dim, output_dim, dtype="float32", weight_initializer=None, **kwargs):
        super().__init__(**kwargs)
        self._kwargs = {"input_dim": input_dim, "output_dim": output_dim, "dtype": dtype, "sparse_grad": True}
        self.weight = self.params.get(
            "weight",
            shape=(input_dim, output_dim),
            init=weight_initializer,
            dtype=dtype,
            grad_stype="row_sparse",
            stype="row_sparse",
        )

    def forward(self, x):
        """The rows of the table that `x` names."""
        return nd.Embedding(x, self.weight.row_sparse_data(x), name="fwd", **self._kwargs)

    def __repr__(self):
        sizes = f"{self._kwargs['input_dim']} -> {self._kwargs['output_dim']}"
        return f"{type(self).__name__}({sizes}, {self._kwargs['dtype']})"


class SyncBatchNorm(BatchNorm):
    """Batch normalization whose statistics are shared by several devices where one process drives them together.

    Parameters
    ----------
    in_channels : int, default 0
        The number of channels; 0: it is taken from the first batch.
    num_devices : int, optional
        The number of devices; None: all GPUs.
    momentum : float, default 0.9
        The part of the moving statistics that stays at every update.
    epsilon : float, default 1e-05
        A small number that is added to the variance.
    center : bool, default True
        Whether beta is learned.
    scale : bool, default True
        Whether gamma is learned.
    use_global_stats : bool, default False
        Whether training, too, uses the moving statistics.
    beta_initializer : str or Initializer, default 'zeros'
        How beta is initialized.
    gamma_initializer : str or Initializer, default 'ones'
        How gamma is initialized.
    running_mean_initializer : str or Initializer, default 'zeros'
        How the moving mean is initialized.
    running_variance_initializer : str or Initializer, default 'ones'
        How the moving variance is initialized.
    **kwargs
        `prefix` and `params` of the block.

    Examples
    --------
    >>> layer = mx.gluon.contrib.nn.SyncBatchNorm(num_devices=1)
    >>> layer.initialize()
    >>> layer(mx.nd.ones((2, 3, 4, 4))).shape
    (2, 3, 4, 4)
    """

    def __init__(
        self, in_channels=0, num_devices=None, momentum=0.9, epsilon=1e-5, center=True, scale=True,
        use_global_stats=False, beta_initializer="zeros", gamma_initializer="ones", running_mean_initializer="zeros",
        running_variance_initializer="ones", **kwargs,
    ):  # fmt: skip
        super().__init__(
            axis=1, momentum=momentum, epsilon=epsilon, center=center, scale=scale, use_global_stats=use_global_stats,
            beta_initializer=beta_initializer, gamma_initializer=gamma_initializer,
            running_mean_initializer=running_mean_initializer,
            running_variance_initializer=running_variance_initializer, in_channels=in_channels, **kwargs,
        )  # fmt: skip
        self._kwargs = {
            "eps": epsilon,
            "momentum": momentum,
            "fix_gamma": not scale,
            "use_global_stats": use_global_stats,
            "ndev": self._get_num_devices() if num_devices is None else num_devices,
            "key": self.prefix,
        }

    def _get_num_devices(self):
        warnings.warn(
            "Caution using SyncBatchNorm: if not using all the GPUs, please mannually set num_devices",
            UserWarning,
            stacklevel=3,
        )
        return max(1, num_gpus())

    def hybrid_forward(self, F, x, gamma, beta, running_mean, running_var):
        """The normalized input."""
        return F.contrib.SyncBatchNorm(x, gamma, beta, running_mean, running_var, name="fwd", **self._kwargs)


class _PixelShuffle(HybridBlock):
    """Moves groups of channels into blocks of pixels: a block of `factor` pixels for each channel that stays."""

    _ndim = 0

    def __init__(self, factor):
        super().__init__()
        factors = (factor,) * self._ndim if isinstance(factor, (int, float)) else tuple(factor)
        self._factors = tuple(int(f) for f in factors)
        assert len(self._factors) == self._ndim, f"wrong length {len(self._factors)}"

    def hybrid_forward(self, F, x):
        """The upsampled input."""
        n, total = self._ndim, math.prod(self._factors)
        x = F.reshape(x, (0, -4, -1, total) + (0,) * n)  # (N, C, f1*…*fn, d1 … dn)
        for i in range(n - 1):  # split the factors one by one
            rest = math.prod(self._factors[i + 1 :])
            x = F.reshape(x, (0,) * (2 + i) + (-4, self._factors[i], rest) + (0,) * n)
        pairs = [axis for i in range(n) for axis in (2 + n + i, 2 + i)]
        x = F.transpose(x, (0, 1, *pairs))  # (N, C, d1, f1, …, dn, fn)
        return F.reshape(x, (0, 0) + (-3,) * n)

    def __repr__(self):
        shown = self._factors[0] if self._ndim == 1 else self._factors
        return f"{type(self).__name__}({shown})"


class PixelShuffle1D(_PixelShuffle):
    """Turn channels into pixels: from (N, f·C, W) to (N, C, W·f).

    y[n, c, w·f + i] = x[n, c·f + i, w].

    Super-resolution networks use it as a cheap way to enlarge: a convolution at the small size computes the channels,
    and this layer, which has no parameters, spreads them over the larger image. The number of channels must be a
    multiple of the product of the factors.

    Parameters
    ----------
    factor : int or tuple of int
        How much longer the axis becomes.

    Examples
    --------
    >>> mx.gluon.contrib.nn.PixelShuffle1D(2)(mx.nd.zeros((1, 8, 3))).shape
    (1, 4, 6)
    >>> x = mx.nd.arange(8).reshape((1, 4, 2))
    >>> mx.gluon.contrib.nn.PixelShuffle1D(2)(x)[0].asnumpy()
    array([[0., 2., 1., 3.],
           [4., 6., 5., 7.]], dtype=float32)
    """

    _ndim = 1


class PixelShuffle2D(_PixelShuffle):
    """Turn channels into pixels: from (N, f1·f2·C, H, W) to (N, C, H·f1, W·f2).

    y[n, c, h·f1 + i, w·f2 + j] = x[n, (c·f1 + i)·f2 + j, h, w].

    Super-resolution networks use it as a cheap way to enlarge: a convolution at the small size computes the channels,
    and this layer, which has no parameters, spreads them over the larger image. The number of channels must be a
    multiple of the product of the factors.

    Parameters
    ----------
    factor : int or tuple of int
        How much longer each axis becomes; one number is used for all of them.

    Examples
    --------
    >>> mx.gluon.contrib.nn.PixelShuffle2D((2, 3))(mx.nd.zeros((1, 12, 3, 5))).shape
    (1, 2, 6, 15)
    >>> x = mx.nd.arange(4).reshape((1, 4, 1, 1))
    >>> mx.gluon.contrib.nn.PixelShuffle2D(2)(x)[0, 0].asnumpy()
    array([[0., 1.],
           [2., 3.]], dtype=float32)
    """

    _ndim = 2


class PixelShuffle3D(_PixelShuffle):
    """Turn channels into pixels: from (N, f1·f2·f3·C, D, H, W) to (N, C, D·f1, H·f2, W·f3).

    y[n, c, d·f1 + i, h·f2 + j, w·f3 + k] = x[n, ((c·f1 + i)·f2 + j)·f3 + k, d, h, w].

    Super-resolution networks use it as a cheap way to enlarge: a convolution at the small size computes the channels,
    and this layer, which has no parameters, spreads them over the larger image. The number of channels must be a
    multiple of the product of the factors.

    Parameters
    ----------
    factor : int or tuple of int
        How much longer each axis becomes; one number is used for all of them.

    Examples
    --------
    >>> mx.gluon.contrib.nn.PixelShuffle3D(2)(mx.nd.zeros((1, 8, 3, 5, 7))).shape
    (1, 1, 6, 10, 14)
    """

    _ndim = 3
