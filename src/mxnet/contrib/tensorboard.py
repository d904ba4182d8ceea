"""Event files for TensorBoard: metrics of a training run, and mxboard's SummaryWriter for everything else."""

import json
import math

import numpy as np

from .._core.extras import load as load_extra
from ..base import MXNetError
from ..ndarray import NDArray
from ..symbol import Symbol, var


def _torch_writer(*arguments, **options):
    need = "mx.contrib.tensorboard needs the package tensorboard"
    return load_extra(need, "tensorboard", "torch.utils.tensorboard").SummaryWriter(*arguments, **options)


class SummaryWriter:
    """What `mxboard.SummaryWriter` was: writes scalars, pictures, histograms, graphs and more of arrays to `logdir`.

    `verbose` is accepted for programs that give it; nothing is printed.
    """

    def __init__(self, logdir, max_queue=10, flush_secs=120, filename_suffix=None, verbose=True):
        self._options = dict(max_queue=max_queue, flush_secs=flush_secs, filename_suffix=filename_suffix or "")
        self._logdir = str(logdir)
        self._writer = _torch_writer(self._logdir, **self._options)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def get_logdir(self):
        """The folder of the event file."""
        return self._logdir

    def add_scalar(self, tag, value, global_step=None):
        """A number; a (name, number) pair or a dictionary of them makes several curves in one chart."""
        if isinstance(value, tuple):
            value = dict([value])
        if isinstance(value, dict):
            self._writer.add_scalars(tag, {name: _number(each) for name, each in value.items()}, global_step)
        else:
            self._writer.add_scalar(tag, _number(value), global_step)

    def add_histogram(self, tag, values, global_step=None, bins="default"):
        """How values are distributed; `bins` is a number of bins, their edges, or one of NumPy's rules."""
        bins = "tensorflow" if isinstance(bins, str) and bins == "default" else bins
        self._writer.add_histogram(tag, _numpy(values), global_step, bins)

    def add_image(self, tag, image, global_step=None):
        """A picture (H, W) or (C, H, W), or a batch (N, C, H, W) of them, shown as one square sheet."""
        self._writer.add_image(tag, _sheet(_numpy(image)), global_step)

    def add_audio(self, tag, audio, sample_rate=44100, global_step=None):
        """A sound between -1 and 1."""
        self._writer.add_audio(tag, _numpy(audio).reshape(1, -1), global_step, sample_rate)

    def add_text(self, tag, text, global_step=None):
        """A text; TensorBoard reads it as Markdown."""
        self._writer.add_text(tag, text, global_step)

    def add_pr_curve(self, tag, labels, predictions, num_thresholds, global_step=None, weights=None):
        """Precision and recall of predictions between 0 and 1 at `num_thresholds` thresholds."""
        weights = None if weights is None else _numpy(weights)
        self._writer.add_pr_curve(tag, _numpy(labels), _numpy(predictions), global_step, num_thresholds, weights)

    def add_embedding(self, tag, embedding, labels=None, images=None, global_step=None):
        """Rows to be shown as points, with a label and a picture each if given."""
        labels = None if labels is None else [str(label) for label in _numpy(labels)]
        pictures = None if images is None else _as_torch(images)
        self._writer.add_embedding(_numpy(embedding), labels, pictures, global_step, tag)

    def add_graph(self, net):
        """The graph of a symbol, or of a HybridBlock with one input."""
        from tensorboard.compat.proto.event_pb2 import Event

        graph = _graph(net if isinstance(net, Symbol) else _traced(net))
        self._writer._get_file_writer().add_event(Event(graph_def=graph.SerializeToString()))

    def flush(self):
        """Write what is waiting; TensorBoard may be reading while the program runs."""
        self._writer.flush()

    def close(self):
        """Write what is waiting and close the file."""
        self._writer.close()

    def reopen(self):
        """Go on after `close`, in a new file of the same folder."""
        self._writer = _torch_writer(self._logdir, **self._options)


def _numpy(values):
    return values.asnumpy() if isinstance(values, NDArray) else np.asarray(values)


def _number(value):
    return value.asscalar() if isinstance(value, NDArray) else value


def _as_torch(images):
    import torch

    return torch.from_numpy(np.ascontiguousarray(_numpy(images))).float()


def _bytes(picture):
    """A picture's numbers between 0 and 255: the largest becomes 255, and 0 becomes 127 if some are negative."""
    if picture.dtype == np.uint8:
        return picture
    picture = picture.astype("float64")
    if picture.min() < 0:
        return (127 + picture * 127 / max(np.abs(picture).max(), 1e-12)).astype("uint8")
    return (picture * 255 / max(picture.max(), 1e-12)).astype("uint8")


def _sheet(images):
    """(C, H, W) bytes: one picture, or a batch of them side by side in a square."""
    if images.ndim not in (2, 3, 4):
        raise ValueError(f"a picture has 2, 3 or 4 axes, (H, W), (C, H, W) or (N, C, H, W); got shape {images.shape}")
    batch = images.reshape((1,) * (4 - images.ndim) + images.shape)
    columns = math.ceil(math.sqrt(len(batch)))
    rows = math.ceil(len(batch) / columns)
    channels, height, width = batch.shape[1:]
    sheet = np.zeros((channels, rows * height, columns * width), "uint8")
    for number, picture in enumerate(batch):
        top, left = number // columns * height, number % columns * width
        sheet[:, top : top + height, left : left + width] = _bytes(picture)
    return sheet


def _traced(net):
    try:
        return net(var("data"))
    except (TypeError, AttributeError, ValueError) as error:
        raise MXNetError(
            f"add_graph takes a Symbol or a HybridBlock with one input; {type(net).__name__} cannot be traced ({error})"
        ) from error


def _graph(symbol):
    """The nodes of a symbol as TensorBoard's graph; `dense0_weight` and `dense0_fwd` go into the group dense0."""
    from tensorboard.compat.proto.attr_value_pb2 import AttrValue
    from tensorboard.compat.proto.graph_pb2 import GraphDef
    from tensorboard.compat.proto.node_def_pb2 import NodeDef
    from tensorboard.compat.proto.versions_pb2 import VersionDef

    nodes = json.loads(symbol.tojson())["nodes"]
    names = ["/".join(node["name"].rsplit("_", 1)) for node in nodes]
    made = []
    for name, node in zip(names, nodes, strict=True):
        kind = "Parameter" if node["op"] == "null" else node["op"]
        attrs = {key: AttrValue(s=str(value).encode()) for key, value in node.get("attrs", {}).items()}
        made.append(NodeDef(name=name, op=kind, input=[names[source] for source, *_ in node["inputs"]], attr=attrs))
    return GraphDef(node=made, versions=VersionDef(producer=22))


class LogMetricsCallback:
    """A callback that writes each metric for TensorBoard.

    Parameters
    ----------
    logging_dir : str
        The folder of the event files.
    prefix : str, optional
        What comes before the names of the metrics.

    Examples
    --------
    >>> callback = mx.contrib.tensorboard.LogMetricsCallback("logs")  # doctest: +SKIP
    >>> module.fit(batches, batch_end_callback=callback)  # doctest: +SKIP
    """

    def __init__(self, logging_dir, prefix=None):
        self.prefix = prefix
        self.summary_writer = SummaryWriter(logging_dir)

    def __call__(self, param):
        if param.eval_metric is None:
            return
        for name, value in param.eval_metric.get_name_value():
            name = name if self.prefix is None else f"{self.prefix}-{name}"
            self.summary_writer.add_scalar(name, value, global_step=param.epoch)
        # TensorBoard reads the file while the program runs.
        self.summary_writer.flush()
