"""Poolings in one, two and three dimensions, and padding by reflection."""

from ...base import numeric_types
from ..block import HybridBlock
from ._windows import LENGTH, describe, layouts, repeated, sized


class _Pooling(HybridBlock):
    """A pooling of any number of dimensions."""

    __module__ = "mxnet.gluon.nn.conv_layers"

    _dimensions = None

    def __init__(
        self,
        pool_size,
        strides,
        padding,
        ceil_mode,
        global_pool,
        pool_type,
        layout,
        count_include_pad=None,
        **kwargs,
    ):
        if self._dimensions:
            first, last = layouts(self._dimensions)
            assert layout in (first, last), f"Only {first} and {last} layouts are valid for {self._dimensions}D Pooling"
            pool_size = sized(pool_size, self._dimensions, "pool_size")
        super().__init__(**kwargs)
        self._kwargs = {
            "kernel": pool_size,
            "stride": repeated(pool_size if strides is None else strides, len(pool_size)),
            "pad": repeated(padding, len(pool_size)),
            "global_pool": global_pool,
            "pool_type": pool_type,
            "layout": layout,
            "pooling_convention": "full" if ceil_mode else "valid",
        }
        if count_include_pad is not None:
            self._kwargs["count_include_pad"] = count_include_pad

    def _alias(self):
        return "pool"

    def hybrid_forward(self, F, x):
        return F.Pooling(x, name="fwd", **self._kwargs)

    def __repr__(self):
        return (
            "{}(size={kernel}, stride={stride}, padding={pad}, ceil_mode={}, global_pool={global_pool}, "
            "pool_type={pool_type}, layout={layout})"
        ).format(type(self).__name__, self._kwargs["pooling_convention"] == "full", **self._kwargs)


class MaxPool1D(_Pooling):
    """The largest value in each window of a sequence of shape (N, C, W).

    Parameters
    ----------
    pool_size : int or tuple of int, default 2
        Size of the window.
    strides : int or tuple of int, optional
        Step of the window; None means `pool_size`.
    padding : int or tuple of int, default 0
        Number of elements added at both ends of each spatial axis.
    layout : str
        The order of the axes: N samples, C channels, D depth, H height, W width.
    ceil_mode : bool, default False
        Whether the output's size is rounded up, so that a window that is only partly inside counts.

    Examples
    --------
    >>> mx.gluon.nn.MaxPool1D()(mx.nd.array([[[1, 5, 2, 4]]])).asnumpy()
    array([[[5., 4.]]], dtype=float32)
    """

    __module__ = "mxnet.gluon.nn.conv_layers"

    _dimensions = 1

    def __init__(self, pool_size=2, strides=None, padding=0, layout="NCW", ceil_mode=False, **kwargs):
        super().__init__(pool_size, strides, padding, ceil_mode, False, "max", layout, **kwargs)


class MaxPool2D(_Pooling):
    """The largest value in each window of images of shape (N, C, H, W).

    Parameters
    ----------
    pool_size : int or tuple of int, default 2
        Size of the window.
    strides : int or tuple of int, optional
        Step of the window; None means `pool_size`.
    padding : int or tuple of int, default 0
        Number of elements added at both ends of each spatial axis.
    layout : str
        The order of the axes: N samples, C channels, D depth, H height, W width.
    ceil_mode : bool, default False
        Whether the output's size is rounded up, so that a window that is only partly inside counts.

    Examples
    --------
    >>> mx.gluon.nn.MaxPool2D()(mx.nd.arange(16).reshape((1, 1, 4, 4))).asnumpy()
    array([[[[ 5.,  7.],
             [13., 15.]]]], dtype=float32)
    """

    __module__ = "mxnet.gluon.nn.conv_layers"

    _dimensions = 2

    def __init__(self, pool_size=(2, 2), strides=None, padding=0, layout="NCHW", ceil_mode=False, **kwargs):
        super().__init__(pool_size, strides, padding, ceil_mode, False, "max", layout, **kwargs)


class MaxPool3D(_Pooling):
    """The largest value in each window of volumes of shape (N, C, D, H, W).

    Parameters
    ----------
    pool_size : int or tuple of int, default 2
        Size of the window.
    strides : int or tuple of int, optional
        Step of the window; None means `pool_size`.
    padding : int or tuple of int, default 0
        Number of elements added at both ends of each spatial axis.
    layout : str
        The order of the axes: N samples, C channels, D depth, H height, W width.
    ceil_mode : bool, default False
        Whether the output's size is rounded up, so that a window that is only partly inside counts.

    Examples
    --------
    >>> mx.gluon.nn.MaxPool3D()(mx.nd.arange(8).reshape((1, 1, 2, 2, 2))).asnumpy().ravel()
    array([7.], dtype=float32)
    """

    __module__ = "mxnet.gluon.nn.conv_layers"

    _dimensions = 3

    def __init__(self, pool_size=(2, 2, 2), strides=None, padding=0, ceil_mode=False, layout="NCDHW", **kwargs):
        super().__init__(pool_size, strides, padding, ceil_mode, False, "max", layout, **kwargs)


class AvgPool1D(_Pooling):
    """The mean of each window of a sequence of shape (N, C, W).

    Parameters
    ----------
    pool_size : int or tuple of int, default 2
        Size of the window.
    strides : int or tuple of int, optional
        Step of the window; None means `pool_size`.
    padding : int or tuple of int, default 0
        Number of elements added at both ends of each spatial axis.
    layout : str
        The order of the axes: N samples, C channels, D depth, H height, W width.
    ceil_mode : bool, default False
        Whether the output's size is rounded up, so that a window that is only partly inside counts.
    count_include_pad : bool, default True
        Whether padded elements count in the mean.

    Examples
    --------
    >>> mx.gluon.nn.AvgPool1D()(mx.nd.array([[[1, 5, 2, 4]]])).asnumpy()
    array([[[3., 3.]]], dtype=float32)
    """

    __module__ = "mxnet.gluon.nn.conv_layers"

    _dimensions = 1

    def __init__(
        self, pool_size=2, strides=None, padding=0, layout="NCW", ceil_mode=False, count_include_pad=True, **kwargs
    ):
        super().__init__(pool_size, strides, padding, ceil_mode, False, "avg", layout, count_include_pad, **kwargs)


class AvgPool2D(_Pooling):
    """The mean of each window of images of shape (N, C, H, W).

    Parameters
    ----------
    pool_size : int or tuple of int, default 2
        Size of the window.
    strides : int or tuple of int, optional
        Step of the window; None means `pool_size`.
    padding : int or tuple of int, default 0
        Number of elements added at both ends of each spatial axis.
    layout : str
        The order of the axes: N samples, C channels, D depth, H height, W width.
    ceil_mode : bool, default False
        Whether the output's size is rounded up, so that a window that is only partly inside counts.
    count_include_pad : bool, default True
        Whether padded elements count in the mean.

    Examples
    --------
    >>> mx.gluon.nn.AvgPool2D()(mx.nd.arange(16).reshape((1, 1, 4, 4))).asnumpy()
    array([[[[ 2.5,  4.5],
             [10.5, 12.5]]]], dtype=float32)
    """

    __module__ = "mxnet.gluon.nn.conv_layers"

    _dimensions = 2

    def __init__(
        self,
        pool_size=(2, 2),
        strides=None,
        padding=0,
        ceil_mode=False,
        layout="NCHW",
        count_include_pad=True,
        **kwargs,
    ):
        super().__init__(pool_size, strides, padding, ceil_mode, False, "avg", layout, count_include_pad, **kwargs)


class AvgPool3D(_Pooling):
    """The mean of each window of volumes of shape (N, C, D, H, W).

    Parameters
    ----------
    pool_size : int or tuple of int, default 2
        Size of the window.
    strides : int or tuple of int, optional
        Step of the window; None means `pool_size`.
    padding : int or tuple of int, default 0
        Number of elements added at both ends of each spatial axis.
    layout : str
        The order of the axes: N samples, C channels, D depth, H height, W width.
    ceil_mode : bool, default False
        Whether the output's size is rounded up, so that a window that is only partly inside counts.
    count_include_pad : bool, default True
        Whether padded elements count in the mean.

    Examples
    --------
    >>> mx.gluon.nn.AvgPool3D()(mx.nd.arange(8).reshape((1, 1, 2, 2, 2))).asnumpy().ravel()
    array([3.5], dtype=float32)
    """

    __module__ = "mxnet.gluon.nn.conv_layers"

    _dimensions = 3

    def __init__(
        self,
        pool_size=(2, 2, 2),
        strides=None,
        padding=0,
        ceil_mode=False,
        layout="NCDHW",
        count_include_pad=True,
        **kwargs,
    ):
        super().__init__(pool_size, strides, padding, ceil_mode, False, "avg", layout, count_include_pad, **kwargs)


class GlobalMaxPool1D(_Pooling):
    """The largest value of each channel of a sequence: (N, C, W) becomes (N, C, 1).

    Parameters
    ----------
    layout : str
        The order of the axes; the default has the channels second.

    Examples
    --------
    >>> mx.gluon.nn.GlobalMaxPool1D()(mx.nd.array([[[1, 5, 2]]])).asnumpy()
    array([[[5.]]], dtype=float32)
    """

    __module__ = "mxnet.gluon.nn.conv_layers"

    _dimensions = 1

    def __init__(self, layout="NCW", **kwargs):
        super().__init__((1,), None, 0, True, True, "max", layout, **kwargs)


class GlobalMaxPool2D(_Pooling):
    """The largest value of each channel of images: (N, C, H, W) becomes (N, C, 1, 1).

    Parameters
    ----------
    layout : str
        The order of the axes; the default has the channels second.

    Examples
    --------
    >>> mx.gluon.nn.GlobalMaxPool2D()(mx.nd.arange(8).reshape((1, 2, 2, 2))).asnumpy().ravel()
    array([3., 7.], dtype=float32)
    """

    __module__ = "mxnet.gluon.nn.conv_layers"

    _dimensions = 2

    def __init__(self, layout="NCHW", **kwargs):
        super().__init__((1, 1), None, 0, True, True, "max", layout, **kwargs)


class GlobalMaxPool3D(_Pooling):
    """The largest value of each channel of volumes: (N, C, D, H, W) becomes (N, C, 1, 1, 1).

    Parameters
    ----------
    layout : str
        The order of the axes; the default has the channels second.

    Examples
    --------
    >>> mx.gluon.nn.GlobalMaxPool3D()(mx.nd.ones((1, 2, 3, 4, 5))).shape
    (1, 2, 1, 1, 1)
    """

    __module__ = "mxnet.gluon.nn.conv_layers"

    _dimensions = 3

    def __init__(self, layout="NCDHW", **kwargs):
        super().__init__((1, 1, 1), None, 0, True, True, "max", layout, **kwargs)


class GlobalAvgPool1D(_Pooling):
    """The mean of each channel of a sequence: (N, C, W) becomes (N, C, 1).

    Parameters
    ----------
    layout : str
        The order of the axes; the default has the channels second.

    Examples
    --------
    >>> mx.gluon.nn.GlobalAvgPool1D()(mx.nd.array([[[1, 5, 3]]])).asnumpy()
    array([[[3.]]], dtype=float32)
    """

    __module__ = "mxnet.gluon.nn.conv_layers"

    _dimensions = 1

    def __init__(self, layout="NCW", **kwargs):
        super().__init__((1,), None, 0, True, True, "avg", layout, **kwargs)


class GlobalAvgPool2D(_Pooling):
    """The mean of each channel of images: (N, C, H, W) becomes (N, C, 1, 1).

    Parameters
    ----------
    layout : str
        The order of the axes; the default has the channels second.

    Examples
    --------
    >>> mx.gluon.nn.GlobalAvgPool2D()(mx.nd.arange(8).reshape((1, 2, 2, 2))).asnumpy().ravel()
    array([1.5, 5.5], dtype=float32)
    """

    __module__ = "mxnet.gluon.nn.conv_layers"

    _dimensions = 2

    def __init__(self, layout="NCHW", **kwargs):
        super().__init__((1, 1), None, 0, True, True, "avg", layout, **kwargs)


class GlobalAvgPool3D(_Pooling):
    """The mean of each channel of volumes: (N, C, D, H, W) becomes (N, C, 1, 1, 1).

    Parameters
    ----------
    layout : str
        The order of the axes; the default has the channels second.

    Examples
    --------
    >>> mx.gluon.nn.GlobalAvgPool3D()(mx.nd.ones((1, 2, 3, 4, 5))).shape
    (1, 2, 1, 1, 1)
    """

    __module__ = "mxnet.gluon.nn.conv_layers"

    _dimensions = 3

    def __init__(self, layout="NCDHW", **kwargs):
        super().__init__((1, 1, 1), None, 0, True, True, "avg", layout, **kwargs)


class ReflectionPad2D(HybridBlock):
    """Pads images of shape (N, C, H, W) with their reflection at the borders.

    Parameters
    ----------
    padding : int or tuple of 8 int, default 0
        Number of pixels added on every side of height and width; a tuple is the `pad_width` of `mx.nd.pad`.

    Examples
    --------
    >>> mx.gluon.nn.ReflectionPad2D(1)(mx.nd.arange(4).reshape((1, 1, 2, 2))).asnumpy()[0, 0]
    array([[3., 2., 3., 2.],
           [1., 0., 1., 0.],
           [3., 2., 3., 2.],
           [1., 0., 1., 0.]], dtype=float32)
    """

    __module__ = "mxnet.gluon.nn.conv_layers"

    def __init__(self, padding=0, **kwargs):
        super().__init__(**kwargs)
        if isinstance(padding, numeric_types):
            padding = (0, 0, 0, 0, padding, padding, padding, padding)
        assert len(padding) == 8
        self._padding = padding

    def hybrid_forward(self, F, x):
        return F.pad(x, mode="reflect", pad_width=self._padding)


_POOLINGS = f"""
    Notes
    -----
    Input: an array of shape (N, C, size…), one size for each spatial axis, in the order that `layout` says.
    Output: (N, C, new size…) with new size = {LENGTH.format("pool_size")};
    with `ceil_mode` the quotient is rounded up.

    `pool_size`, `strides` and `padding` are one number for all spatial axes, or one for each.

"""


describe((MaxPool1D, MaxPool2D, MaxPool3D, AvgPool1D, AvgPool2D, AvgPool3D), _POOLINGS)
