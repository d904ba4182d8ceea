"""A Gluon network on its way to 8-bit integers: traced to a graph, calibrated behind rectifiers, made a block again."""

from .. import ndarray
from ..gluon import SymbolBlock
from ..io import DataBatch, DataDesc, DataIter
from ..symbol import var
from ._fold_norm import activated


def traced(network, descriptions, ctx):
    """(symbol, arguments, states, descriptions of its inputs); what it does not take is dropped."""
    descriptions = _run(network, descriptions, ctx)
    inputs, graph = network._cached_graph
    values = {p.name: p._reduce() for p in network.collect_params().values()}
    arguments = {n: values[n] for n in graph.list_arguments() if n in values}
    states = {n: values[n] for n in graph.list_auxiliary_states() if n in values}
    given = [DataDesc(name=i.name, shape=d.shape, dtype=d.dtype, layout=d.layout) for i, d in
             zip(inputs, descriptions, strict=True)]  # fmt: skip
    return graph, arguments, states, given


def _run(network, descriptions, ctx):
    """Call the network, hybridized, with zeros; returns the descriptions of as many inputs as it takes."""
    network.hybridize()
    arrays = [ndarray.zeros(d.shape, ctx=ctx, dtype=getattr(d, "dtype", "float32")) for d in descriptions]
    while True:
        try:
            network(*arrays)
            return descriptions[: len(arrays)]
        except TypeError:  # a label that the network does not take
            if len(arrays) == 1:
                raise
            del arrays[-1]


def as_block(graph, arguments, states, descriptions, ctx):
    """A SymbolBlock of a graph with its parameters."""
    block = SymbolBlock(graph, [var(d.name, dtype=d.dtype) for d in descriptions])
    groups = (("arg", arguments), ("aux", states))
    saved = {f"{kind}:{name}": value for kind, values in groups for name, value in values.items()}
    block.collect_params().load_dict(saved, ctx=ctx, cast_dtype=True, dtype_source="saved")
    return block


class FirstInputs(DataIter):
    """The first arrays of each batch, as many as the network takes."""

    def __init__(self, data, number):
        super().__init__(data.batch_size)
        self.data, self.number = data, number
        self.data.reset()

    def next(self):
        batch = self.data.next()
        return DataBatch(data=batch.data[: self.number], pad=batch.pad)


class RectifiedLayers:
    """Layers that feed a rectifier alone are calibrated by what the rectifier lets through."""

    def __init__(self, heads, collector):
        self._pairs = _rectifiers(heads, collector)

    def forget_layers(self, collector):
        """Take the layers' own histograms away, where those of their rectifiers stand for them."""
        histograms = getattr(collector, "hist_dict", {})
        for before, after in self._pairs:
            if after in histograms:
                histograms.pop(before, None)

    def ranges(self, ranges, dtype):
        """The layers' ranges, out of those of their rectifiers."""
        return {before: _range_before(*ranges[after], dtype) for before, after in self._pairs if after in ranges}


def _rectifiers(heads, collector):
    """(output of a layer, output of the rectifier behind it) pairs; the collector is asked to watch the latter."""
    watched = getattr(collector, "include_layer", None)
    if watched is None:
        return []
    pairs = [(f"{layer.name}_output", f"{relu.name}_output") for layer, relu in activated(heads)]
    pairs = [(before, after) for before, after in pairs if before in watched]
    watched += [after for _, after in pairs]
    return pairs


def _range_before(low, high, dtype):
    """What a layer before a rectifier may be cut to; signed unless uint8 was asked for, as every processor's kernels
    are exact for values up to 127."""
    return (low, high) if dtype == "uint8" else (-high, high)
