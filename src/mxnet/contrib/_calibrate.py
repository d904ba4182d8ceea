"""What calibration collects from a network's layers, and the ranges it makes of that."""

import ctypes

import numpy as np

from .. import ndarray
from ..base import NDArrayHandle, py_str
from ..context import cpu
from ..io import DataBatch, DataDesc, DataIter
from ..ndarray import NDArray

RUINOUS = 100
MALFORMED = "The discrete probability distribution is malformed. All entries are 0."


def combine_histogram(old_hist, arr, new_min, new_max, new_th):
    """The histogram with the values of `arr` added; it grows by whole bins where they reach farther.

    Parameters
    ----------
    old_hist : tuple
        (counts, edges, least value, greatest value, threshold) so far.
    arr : numpy.ndarray
        The new values.
    new_min : float
        Their least value.
    new_max : float
        Their greatest value.
    new_th : float
        Their threshold, the greatest absolute value.

    Returns
    -------
    tuple
        The same five, with the new values.

    Examples
    --------
    >>> counts, edges = np.histogram([0.5, -0.5], bins=4, range=(-1, 1))
    >>> before = counts, edges, -0.5, 0.5, 1.0
    >>> merged = mx.contrib.quantization.combine_histogram(before, np.array([0.75]), 0.75, 0.75, 0.75)
    >>> merged[0]
    array([0, 1, 0, 2])
    """
    counts, edges, low, high, reach = old_hist
    low, high = min(low, new_min), max(high, new_max)
    if new_th <= reach:
        return counts + np.histogram(arr, bins=len(counts), range=(-reach, reach))[0], edges, low, high, reach
    step = 2 * reach / len(counts)
    more = int((new_th - reach) // step + 1)
    reach = more * step + reach
    added, edges = np.histogram(arr, bins=len(counts) + 2 * more, range=(-reach, reach))
    added[more : more + len(counts)] += counts
    return added, edges, low, high, reach


def _arrived(arr):
    """What a monitor hands over: an array, or the handle of one."""
    return arr if isinstance(arr, NDArray) else NDArray(ctypes.cast(arr, NDArrayHandle), writable=False)


def _text(name):
    return name if isinstance(name, str) else py_str(name)


class _LayerHistogramCollector:
    """A histogram of each layer's output, for entropy calibration."""

    def __init__(self, num_bins=8001, include_layer=None, logger=None):
        self.hist_dict, self.num_bins, self.include_layer, self.logger = {}, num_bins, include_layer, logger

    def collect(self, name, arr):
        """Take note of one output; a monitor calls it."""
        name = _text(name)
        if name not in self.include_layer:
            return
        values = _arrived(arr).asnumpy()
        if self.logger:
            self.logger.debug("Collecting layer %s histogram of shape %s", name, values.shape)
        low, high = values.min(), values.max()
        reach = max(abs(low), abs(high))
        if name in self.hist_dict:
            self.hist_dict[name] = combine_histogram(self.hist_dict[name], values, low, high, reach)
        else:
            counts, edges = np.histogram(values, bins=self.num_bins, range=(-reach, reach))
            self.hist_dict[name] = counts, edges, low, high, reach


class _LayerOutputMinMaxCollector:
    """The least and the greatest value of each layer's output, for naive calibration."""

    def __init__(self, quantized_dtype, include_layer=None, logger=None):
        self.min_max_dict, self.quantized_dtype = {}, quantized_dtype
        self.include_layer, self.logger = include_layer, logger

    def collect(self, name, arr):
        """Take note of one output; a monitor calls it."""
        name = _text(name)
        if name not in self.include_layer:
            return
        array = _arrived(arr)
        low, high = ndarray.min(array).asscalar(), ndarray.max(array).asscalar()
        old = self.min_max_dict.get(name, (low, high))
        self.min_max_dict[name] = min(old[0], low), max(old[1], high)
        if self.logger:
            self.logger.debug("Collecting layer %s min_range=%f, max_range=%f", name, low, high)


def _collect_layer_statistics(mod, data, collector, max_num_examples=None, logger=None):
    """Run the module over `data`, the collector watching; returns the number of examples it saw."""
    if not isinstance(data, DataIter):
        raise ValueError(f"Only supports data as a type of DataIter, while received type {type(data)}")
    mod._exec_group.execs[0].set_monitor_callback(collector.collect, monitor_all=True)
    batches, size = 0, data.batch_size
    for batches, batch in enumerate(data, 1):
        mod.forward(batch, is_train=False)
        if max_num_examples is not None and batches * size >= max_num_examples:
            break
    if logger is not None:
        logger.info("Collected statistics from %d batches with batch_size=%d", batches, size)
    return batches * size


def _collect_layer_output_min_max(mod, data, quantized_dtype, include_layer=None, max_num_examples=None, logger=None):
    """({layer: (min, max)}, number of examples)"""
    watching = _LayerOutputMinMaxCollector(quantized_dtype, include_layer, logger)
    count = _collect_layer_statistics(mod, data, watching, max_num_examples, logger)
    return watching.min_max_dict, count


def _collect_layer_histogram(mod, data, include_layer=None, max_num_examples=None, logger=None):
    """({layer: histogram}, number of examples)"""
    watching = _LayerHistogramCollector(include_layer=include_layer, logger=logger)
    return watching.hist_dict, _collect_layer_statistics(mod, data, watching, max_num_examples, logger)


def _smooth_distribution(p, eps=0.0001):
    """Zeros replaced by `eps`, which the other entries give up in equal parts."""
    empty = p == 0
    zeros = int(empty.sum())
    others = p.size - zeros
    if not others:
        raise ValueError(MALFORMED)
    taken = eps * zeros / others
    assert taken < 1.0, f"n_zeros={zeros}, n_nonzeros={others}, eps1={taken:f}"
    smooth = p.astype(np.float32) + np.where(empty, eps, -taken).astype(np.float32)
    assert (smooth > 0).all()
    return smooth


def _unsigned(low, quantized_dtype):
    return low >= 0 and quantized_dtype in ("auto", "uint8")


def _get_optimal_threshold(hist_data, quantized_dtype, num_quantized_bins=255):
    """(min, max, threshold, divergence) of one histogram."""
    counts, edges, low, high, _ = hist_data
    assert len(counts) % 2 == 1
    if _unsigned(low, quantized_dtype):  # an unsigned type has twice the steps above zero
        num_quantized_bins = num_quantized_bins * 2 + 1
    threshold, divergence = ndarray.contrib.calibrate_entropy(
        hist=ndarray.array(counts, ctx=cpu()),
        hist_edges=ndarray.array(edges, ctx=cpu()),
        num_quantized_bins=num_quantized_bins,
    )
    return low, high, threshold.asnumpy(), divergence.asnumpy()


def _loss(hist_data, reach, steps):
    """The squared error, to be expected of a value, of cutting off at `reach` and rounding to `steps` a side."""
    counts, edges, *_ = hist_data
    size = np.abs((edges[:-1] + edges[1:]) / 2)
    cut, unit = np.maximum(size - reach, 0), reach / steps
    rounded = np.where(size == 0, 0, unit**2 / 12)
    return float((counts * np.where(size > reach, cut**2, rounded)).sum() / counts.sum())


def _worthwhile(hist_data, reach, quantized_dtype):
    """The threshold, or the whole range where cutting off would lose far more than the coarser steps do.

    Divergence alone cuts off nearly everything of a layer most of whose outputs are one constant: a thousandfold loss,
    where usual layers lose up to ten times.
    """
    whole = hist_data[4]
    steps = 255 if _unsigned(hist_data[2], quantized_dtype) else 127
    return reach if _loss(hist_data, reach, steps) <= RUINOUS * _loss(hist_data, whole, steps) else np.float32(whole)


def _get_optimal_thresholds(hist_dict, quantized_dtype, num_quantized_bins=255, logger=None):
    """{layer: (min, max)} that lose least; each histogram is dropped when done with."""
    assert isinstance(hist_dict, dict)
    if logger is not None:
        logger.info(
            "Calculating optimal thresholds for quantization using KL divergence with num_quantized_bins=%d",
            num_quantized_bins,
        )
    ranges = {}
    for name in list(hist_dict):
        low, high, threshold, divergence = _get_optimal_threshold(hist_dict[name], quantized_dtype, num_quantized_bins)
        reach = _worthwhile(hist_dict[name], threshold[0], quantized_dtype)
        ranges[name] = (0, reach) if _unsigned(low, quantized_dtype) else (-reach, reach)
        del hist_dict[name]
        if logger:
            logger.debug(
                "layer=%s, min_val=%f, max_val=%f, th=%f, divergence=%f", name, low, high, reach, divergence[0]
            )
    return ranges


class _DataIterWrapper(DataIter):
    """A DataIter over anything that yields batches, such as a Gluon DataLoader."""

    def __init__(self, calib_data):
        self._data = calib_data
        try:
            first = next(iter(calib_data))
        except TypeError as error:
            raise TypeError(f"calib_data is not a valid iterator. {error}") from error
        arrays = [_frames(x) if i == 0 else x for i, x in enumerate(_listed(first))]
        names = ["data", *(f"data{i}" for i in range(len(arrays) - 1))]
        if len(arrays) >= 3:  # two inputs at least, and a label
            names = [f"data{i}" for i in range(len(arrays))]
        self.provide_data = [DataDesc(name=n, shape=x.shape) for n, x in zip(names, arrays, strict=True)]
        self.batch_size = arrays[0].shape[0]
        self.reset()

    def reset(self):
        self._iter = iter(self._data)

    def next(self):
        batch = _listed(next(self._iter))
        return DataBatch(data=[_frames(batch[0]), *batch[1:]])


def _listed(batch):
    return list(batch) if isinstance(batch, (list, tuple)) else [batch]


def _frames(array):
    """Data of five axes and more (clips of videos) as one batch of their frames."""
    return array.reshape((-1, *array.shape[2:])) if array.ndim > 4 else array


def _as_data_iter(calib_data):
    """(iterator, what it provides)"""
    data = calib_data if isinstance(calib_data, DataIter) else _DataIterWrapper(calib_data)
    return data, data.provide_data
