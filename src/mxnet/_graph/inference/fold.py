"""Inference graph rewriting: batch norm, sum and activation are folded into the convolution before them.

The rewritten convolutions hold folded copies of parameters. Parameters can be changed in ways that are not visible
here (a trainer's step, a view, memory shared with torch), so each run compares them with the values that were folded. A
thread compares while the network runs; if the values differ, the result is discarded. Parameters are folded only after
two consecutive runs with the same values, so a network that is trained between predictions is not folded.
"""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import fx

from ..._core.writes import wrote
from ..._kernels import tuning
from ..._kernels.conv import direct
from ..._kernels.conv.clamp import Clamp
from ..._kernels.matmul.packed import PANEL
from ..._ops.registry.registry import find
from ..lower.backends import Compiler
from ..lower.fx_calls import argument, arguments_from, calls, pick, sole_user
from ..lower.inductor_segments import compile_segments
from ..lower.lower import Lowered
from ..training.memory_format import plain, restore_order
from .fuse import fused
from .packed_conv import (
    LIMIT,
    RESULTS,
    PackedConvolution,
    PackedNorm,
    Workspace,
    concat,
    convolve,
    convolve_pair,
    copy_out,
    flush,
    folded,
    has_onednn,
    pool,
    scale_norm,
)
from .packed_dense import PackedDense, dense, dense_pixels, gelu_in_place, gelu_in_place_of_layers
from .parameter_watch import CopySnapshot, DigestSnapshot, FirstPrediction, noted, usable
from .split_batch import BatchChunks, last_cut

CONVOLUTION, NORM, SUM = (find(n).fn for n in ("Convolution", "BatchNorm", "elemwise_add"))
FULLY = find("FullyConnected").fn
ACTIVATION, RELU, CLIP, POOLING, CONCAT = (find(n).fn for n in ("Activation", "relu", "clip", "Pooling", "Concat"))
FLATTEN = find("Flatten").fn
# Operators that work in, and keep, the channels-last memory format; every other one is given NCHW.
KEEP_ORDER = frozenset(
    find(n).fn for n in ("Convolution", "BatchNorm", "Activation", "clip", "relu", "Pooling", "elemwise_add", "Concat")
)
# The argument that gives the buffer of the result
BUFFER = {convolve: 4, convolve_pair: 4, pool: 2, scale_norm: 3, concat: 2, dense_pixels: 3}
PACKED = frozenset([*BUFFER, flush, copy_out, dense, gelu_in_place])
NONE: Clamp = (None, None)
UNIT = 8  # number of filters that kernels compute together
SOME, MOST_REST = 3, 64  # after so many consecutive changes, folding pauses for so many runs
Verdict = Callable[[], bool]
Packed = PackedConvolution | PackedNorm | PackedDense


@dataclass
class Site:
    """One convolution and the nodes fused into it; parameters are positions in the list of inputs."""

    conv: fx.Node
    weight: int
    bias: int | None = None
    norm: list[int] = field(default_factory=list)
    norm_attrs: dict[str, Any] = field(default_factory=dict)
    clamp: Clamp = NONE
    sum: fx.Node | None = None
    chain: list[fx.Node] = field(default_factory=list)

    @property
    def parameters(self) -> list[int]:
        return [self.weight, *([] if self.bias is None else [self.bias]), *self.norm]

    @property
    def fixed(self) -> bool:
        """Is gamma treated as one regardless of its value?"""
        return bool(self.norm_attrs.get("fix_gamma", True))

    def norm_tensors(self, tensors: list[torch.Tensor]) -> list[torch.Tensor]:
        """gamma, beta and the moving statistics."""
        gamma, *rest = (tensors[i] for i in self.norm)
        return [torch.ones_like(gamma) if self.fixed else gamma, *rest]

    def build(self, tensors: list[torch.Tensor]) -> Packed:
        weight = tensors[self.weight]
        bias = None if self.bias is None else tensors[self.bias]
        if self.norm:
            weight, bias = folded(weight, bias, self.norm_tensors(tensors), self.norm_attrs.get("eps", 1e-3))
        return PackedConvolution(weight, bias, dict(self.conv.kwargs), self.clamp)


class NormSite(Site):
    """A batch norm that is not folded into a convolution, and the activation fused into it."""

    @property
    def parameters(self) -> list[int]:
        return self.norm

    def build(self, tensors: list[torch.Tensor]) -> Packed:
        return PackedNorm(self.norm_tensors(tensors), self.norm_attrs.get("eps", 1e-3), self.clamp)


class DenseSite(Site):
    """One dense layer and the nodes fused into it."""

    def build(self, tensors: list[torch.Tensor]) -> Packed:
        return PackedDense(tensors[self.weight], None if self.bias is None else tensors[self.bias], self.clamp)


def _clamp(node: fx.Node | None) -> Clamp:
    """Return the clamp that is equivalent to the activation; NONE if there is none."""
    if calls(node, RELU) or (calls(node, ACTIVATION) and node.kwargs["act_type"] == "relu"):
        return 0.0, None
    if calls(node, CLIP):
        return float(node.kwargs["a_min"]), float(node.kwargs["a_max"])
    return NONE


def _site(conv: fx.Node, positions: dict[fx.Node, int], sums: set[fx.Node]) -> Site | None:
    """Return the convolution, if it can be packed, with the nodes that can be fused into it."""
    weights = arguments_from(conv, "weight")
    if len(conv.kwargs["kernel"]) != 2 or conv.kwargs.get("layout") not in (None, "NCHW"):
        return None
    if any(w not in positions for w in weights if w is not None):
        return None
    where = [positions[w] for w in weights if w is not None]
    site = Site(conv, where[0], where[1] if len(where) > 1 else None, chain=[conv])
    _take_norm(site, positions)
    return _with_what_follows(site, sums)


def _dense_site(layer: fx.Node, positions: dict[fx.Node, int], sums: set[fx.Node]) -> Site | None:
    weights = [w for w in arguments_from(layer, "weight") if w is not None]
    if layer.kwargs["num_hidden"] % UNIT or any(w not in positions for w in weights):
        return None
    where = [positions[w] for w in weights]
    site = DenseSite(layer, where[0], where[1] if len(where) > 1 else None, chain=[layer])
    return _with_what_follows(site, sums)


def _with_what_follows(site: Site, sums: set[fx.Node]) -> Site:
    _take_sum(site, sums)
    return _with_clamp(site)


def _with_clamp(site: Site) -> Site:
    after = sole_user(site.chain[-1])
    site.clamp = _clamp(after)
    if site.clamp is not NONE:
        site.chain.append(after)
    return site


def _take_sum(site: Site, sums: set[fx.Node]) -> None:
    """Fuse a sum of the convolution and another value; the first convolution that requests the sum gets it."""
    node = sole_user(site.chain[-1])
    if calls(node, SUM) and node not in sums and len(node.all_input_nodes) == 2:
        sums.add(node)
        site.sum = node
        site.chain.append(node)


def _take_norm(site: Site, positions: dict[fx.Node, int]) -> None:
    norm = sole_user(site.conv)
    if calls(norm, NORM) and argument(norm, "data") is site.conv:
        _take(site, norm, positions)


def _take(site: Site, norm: fx.Node, positions: dict[fx.Node, int]) -> bool:
    """Fuse a batch norm into the site if it is supported."""
    value = sole_user(norm)
    plainly = calls(value, pick) and argument(value, "index") == 0 and norm.kwargs.get("axis", 1) == 1
    if not plainly or any(p not in positions for p in arguments_from(norm, "gamma")):
        return False
    site.norm, site.norm_attrs = [positions[p] for p in arguments_from(norm, "gamma")], dict(norm.kwargs)
    site.chain += [norm, value]
    return True


def _norm_sites(graph: fx.Graph, positions: dict[fx.Node, int], others: Sequence[Site]) -> list[Site]:
    """The batch norms that no other site computes."""
    taken = {node for site in others for node in site.chain}
    norms = [node for node in graph.nodes if calls(node, NORM) and node not in taken]
    sites = [(NormSite(node, -1), node) for node in norms]
    return [_with_clamp(site) for site, node in sites if _take(site, node, positions)]


class Folding:
    """The rewritten graph, with the parameters it was last folded from."""

    def __init__(self, module: fx.GraphModule, sites: list[Site]) -> None:
        self._graph, self.sites = module.graph, sites
        self.watched = sorted({i for site in sites for i in site.parameters})
        self.ones = [s.norm[0] for s in sites if s.norm and s.fixed and s.norm_attrs.get("_set_gamma", True)]
        # Parameters of the last run and their packed layers: one tuple, so that threads read both of the same run.
        self._state: tuple[CopySnapshot | DigestSnapshot, list[Packed] | None] | None = None
        places = [node for node in self._graph.nodes if node.op == "placeholder"]
        nodes = self._graph.nodes
        data = {value for node in nodes if calls(node, convolve) for value in arguments_from(node, "tensors")}
        data |= {argument(node, "data") for node in nodes if calls(node, convolve_pair, scale_norm)}
        rows = {argument(node, "data") for node in nodes if calls(node, dense)}
        self._workspaces: list[Workspace] = []
        self._changes = self._rest = 0  # in a row, and predictions that do not look for more
        self._data = {i: node for i, node in enumerate(places) if node in data}
        self._inputs = [i for i, node in enumerate(places) if node in data | rows]
        known = {*self.watched, *self._inputs}
        self._others = any(node.users and i not in known for i, node in enumerate(places[:-3]))
        self._batch_chunks = _batch_chunks(module, self._data, places[-3:])

    def familiar(self, tensors: Sequence[torch.Tensor]) -> bool:
        """Is every input either data of a supported kind or one of the tensors that were folded?"""
        state = self._state
        if state is None or state[1] is None or self._others:
            return False
        known = state[0].untouched([tensors[i] for i in self.watched])
        return known and all(usable(tensors[i]) for i in self._inputs)

    def layers(
        self, tensors: Sequence[torch.Tensor], first: FirstPrediction | None = None
    ) -> tuple[list[Packed], Verdict] | None:
        """Return packed layers and a check that they match these parameters; None: run the plain graph.

        `first` is an earlier prediction, from before this graph was created, which may have had the same parameters.
        """
        state = self._state
        if self._rest:  # a network that is trained between predictions is not checked at each run
            self._rest -= 1
            return None
        if not all(usable(tensors[i]) for i in self._inputs):
            return None
        watched = [tensors[i] for i in self.watched]
        if state is not None and state[1] is not None and state[0].untouched(watched):
            return state[1], lambda: True
        for i in self.ones:  # BatchNorm sets a fixed gamma to one
            tensors[i].data.fill_(1)
            wrote(tensors[i])
        if state is None:
            again = first is not None and not self._changes and first.untouched(tensors)
            self.note(tensors)
            if not again or self._state is None:
                return None
            state = self._state
        seen, made = state
        if made is not None and isinstance(seen, CopySnapshot):
            seen = seen.digests()
            self._state = seen, made
        same = seen.compare(watched)
        if made is not None:
            return made, same
        if not same():
            return self.note(tensors)
        made = self._build(tensors, seen)
        self._state, self._changes = (seen, made), 0
        return made, same if isinstance(seen, CopySnapshot) else seen.compare(
            watched
        )  # did the parameters stay the same during the run?

    def run(self, tensors: Sequence[torch.Tensor], streams: list[Any], layers: list[Packed]) -> Any:
        """The heads' values."""
        within = functools.cache(lambda: all(_within(tensors[i]) for i in self._data))
        try:
            workspace = self._workspaces.pop()  # another thread may be using the other workspaces
        except IndexError:
            workspace = Workspace()
        arguments = (*tensors, *streams, layers, within, workspace)
        results = self._batch_chunks.run(arguments, workspace)
        workspace.flush()
        needed = workspace.bytes()
        if needed <= tuning.FOLD_WORKSPACE:
            self._workspaces.append(workspace)
        else:
            self._batch_chunks.divide(arguments, needed)
        return results

    @property
    def graph(self) -> fx.Graph:
        """The rewritten graph."""
        return self._graph

    def arguments(self, tensors: Sequence[torch.Tensor], streams: list[Any]) -> tuple[Any, Workspace] | None:
        """Return the arguments of the rewritten graph for these inputs, with a workspace; None if it is not ready."""
        ready = self.layers(tensors)
        if ready is None:
            return None
        workspace = Workspace()
        within = functools.cache(lambda: all(_within(tensors[i]) for i in self._data))
        return (*tensors, *streams, ready[0], within, workspace), workspace

    @property
    def expected(self) -> bool:
        """Will the next run use packed layers if its parameters are the same as in this run?"""
        return self._state is not None and self._state[1] is None and not self._rest

    def note(self, tensors: Sequence[torch.Tensor]) -> None:
        """Remember these parameters; if the next run has the same values, they are folded."""
        self._workspaces.clear()  # they know the convolutions of before
        self._changes += 1
        self._rest = min(1 << self._changes, MOST_REST) if self._changes > SOME else 0
        watched = [tensors[i] for i in self.watched]
        self._state = (noted(watched), None) if all(map(usable, watched)) else None

    def _build(self, tensors: Sequence[torch.Tensor], seen: CopySnapshot | DigestSnapshot) -> list[Packed]:
        values = [t.data for t in tensors]
        if isinstance(seen, CopySnapshot):
            for i, t in zip(self.watched, seen.tensors, strict=True):
                values[i] = t
        made = [site.build(values) for site in self.sites]
        self._find_limits(made)
        return made

    def _find_limits(self, convolutions: list[Any]) -> None:
        """Compute a bound on the values of every convolution for data within `LIMIT`."""
        limits: dict[fx.Node, float | None] = dict.fromkeys(self._data.values(), LIMIT)
        for node in self._graph.nodes:
            if calls(node, convolve):
                layer = convolutions[argument(node, "index")]
                limits[node] = layer.limit(*map(limits.get, arguments_from(node, "tensors")))
            elif calls(node, convolve_pair):
                first, second = (convolutions[index] for index in argument(node, "indices"))
                limits[node] = second.limit(first.limit(limits.get(argument(node, "data"))))
            elif calls(node, scale_norm):
                limits[node] = convolutions[argument(node, "index")].limit(limits.get(argument(node, "data")))
            elif node.op == "call_function":
                values = node.all_input_nodes
                if calls(node, pool, concat):  # which also take the workspace
                    values = arguments_from(node, "data" if calls(node, pool) else "pieces")
                limits[node] = _largest(node, [limits.get(value) for value in values])


def _batch_chunks(module: fx.GraphModule, data: dict[int, fx.Node], own: list[fx.Node]) -> BatchChunks:
    """Return the graph with batch splitting, if its layers depend on the batch of images only."""
    if len(data) != 1:
        return BatchChunks(module, 0, None)
    ((place, node),) = data.items()
    return BatchChunks(module, place, last_cut(module.graph, {node, *own}, _image_by_image))


def _image_by_image(node: fx.Node) -> bool:
    return calls(node, copy_out, SUM, ACTIVATION, RELU, CLIP, *BUFFER)


def _within(data: torch.Tensor) -> bool:
    """Are all values finite and within the limit for which bounds were computed?"""
    if not data.numel():
        return True
    low, high = torch.aminmax(data)
    return bool(low >= -LIMIT) and bool(high <= LIMIT)  # NaN is neither


def _largest(node: fx.Node, sizes: list[float | None]) -> float | None:
    """Return a bound on the values of an operator between convolutions; None if unknown."""
    kind = node.kwargs.get("pool_type", "max") if calls(node, pool) else None
    if None in sizes or not (calls(node, plain, CONCAT, concat, SUM) or kind in ("max", "avg")):
        return None
    return (sum if calls(node, SUM) else max)(size for size in sizes if size is not None)


def fold(lowered: Lowered, tensors: Sequence[torch.Tensor], compiler: Compiler | None) -> Folding | bool | None:
    """Return the lowered inference graph with packed layers; False if nothing is gained, None if it is not ready yet.

    A compiler backend compiles the segments between packed convolutions, or the whole network if there are none.
    """
    graph = fx.Graph()
    graph.output(graph.graph_copy(fused(lowered.module).graph, {}))
    inputs = [node for node in graph.nodes if node.op == "placeholder"]
    positions = {node: i for i, node in enumerate(inputs[: len(lowered.variables)])}
    sums: set[fx.Node] = set()
    convolutions = _convolution_sites(graph, positions, sums, tensors)
    layers = _dense_sites(graph, positions, sums, tensors)
    if not convolutions:
        if compiler or sum(tensors[site.weight].numel() for site in layers) < tuning.FOLD_DENSE_WEIGHTS:
            return False
        kernels = direct.loaded()
        if not kernels:
            return kernels
    norms = _norm_sites(graph, positions, convolutions) if convolutions else []
    sites = convolutions + norms + layers
    packed, within, workspace = _own_inputs(graph, inputs[-1])
    for index, site in enumerate(sites):
        _replace(graph, site, (packed, within, workspace, index, None))
    gelu_in_place_of_layers(graph)
    if convolutions:
        _fuse_pairs(graph, sites)
        for node in graph.nodes:
            if calls(node, POOLING) or (_concatenates(node) and node.kwargs.get("dim", 1) == 1):
                own = pool if calls(node, POOLING) else concat
                node.target, node.args = own, (workspace, node.name, None, *node.args)
        _use_pixel_layers(graph, workspace)
        restore_order(graph, KEEP_ORDER | set(BUFFER))
        _assign_buffers(graph, sites, workspace)
        for node in graph.nodes:
            if _reads_and_copies(node) and any(calls(value, *BUFFER) for value in node.all_input_nodes):
                with graph.inserting_before(node):
                    graph.call_function(flush, (workspace,))
    if compiler is not None:
        compile_segments(graph, PACKED, set(positions), compiler)
    return Folding(fx.GraphModule(torch.nn.Module(), graph, "Inference"), sites)


def _convolution_sites(
    graph: fx.Graph, positions: dict[fx.Node, int], sums: set[fx.Node], tensors: Sequence[torch.Tensor]
) -> list[Site]:
    """Return the convolutions to pack, none if packing is not worthwhile; their sums are added to `sums`."""
    taken: set[fx.Node] = set()
    sites = [site for node in graph.nodes if calls(node, CONVOLUTION) and (site := _site(node, positions, taken))]
    numbers = sum(tensors[site.weight].numel() for site in sites)
    if not has_onednn() or not (any(site.norm for site in sites) or numbers >= tuning.FOLD_CONV_WEIGHTS):
        return []
    sums |= taken
    return sites


def _dense_sites(
    graph: fx.Graph, positions: dict[fx.Node, int], sums: set[fx.Node], tensors: Sequence[torch.Tensor]
) -> list[Site]:
    """Return the dense layers that can be packed within the memory limit."""
    sites, buffer = [], tuning.DENSE_PACKED_BYTES
    for node in graph.nodes:
        site = _dense_site(node, positions, sums) if calls(node, FULLY) else None
        if site is not None and tensors[site.weight].nbytes <= buffer:
            buffer -= tensors[site.weight].nbytes
            sites.append(site)
    return sites


def _own_inputs(graph: fx.Graph, last: fx.Node) -> list[fx.Node]:
    """Add inputs for the packed layers, for the check of data against the limit, and for the workspace."""
    made = []
    for name in ("layers", "within", "workspace"):
        with graph.inserting_after(last):
            last = graph.placeholder(name)
        made.append(last)
    return made


def _replace(graph: fx.Graph, site: Site, constants: tuple[Any, ...]) -> None:
    addends = [] if site.sum is None else [value for value in site.sum.args if value not in site.chain]
    with graph.inserting_before(site.chain[-1]):
        if isinstance(site, DenseSite):
            inputs = (*site.conv.args, None)[:3]
            own = constants[0], constants[3], site.clamp  # the layers, and which one
            made = graph.call_function(dense, (*own, *inputs, *addends), site.conv.kwargs)
        elif isinstance(site, NormSite):
            layers, _, workspace, *place = constants
            made = graph.call_function(scale_norm, (layers, workspace, *place, argument(site.conv, "data")))
        else:
            made = graph.call_function(convolve, (*constants, argument(site.conv, "data"), *addends))
    site.chain[-1].replace_all_uses_with(made)
    for node in reversed(site.chain):
        graph.erase_node(node)


def _fuse_pairs(graph: fx.Graph, sites: list[Site]) -> None:
    """Fuse a depthwise convolution with the convolution before it, if the result of the latter has no other reader."""
    for node in list(graph.nodes):
        first = _lone_input(node)
        data = _lone_input(first)
        if data is None or not calls(first, convolve) or sole_user(first) is not node:
            continue
        indices = argument(first, "index"), argument(node, "index")
        attrs = sites[indices[1]].conv.kwargs
        if attrs.get("num_group", 1) == attrs["num_filter"] > 1:
            shared = [argument(node, name) for name in ("convolutions", "within", "workspace")]
            with graph.inserting_before(node):
                both = graph.call_function(convolve_pair, (*shared, indices, None, data))
            node.replace_all_uses_with(both)
            graph.erase_node(node)
            graph.erase_node(first)


def _lone_input(node: Any) -> Any:
    """Return the data of a packed convolution without an addend; None for other nodes."""
    tensors = arguments_from(node, "tensors") if calls(node, convolve) else ()
    return tensors[0] if len(tensors) == 1 else None


def _use_pixel_layers(graph: fx.Graph, workspace: fx.Node) -> None:
    """Let dense layers after pooling use the workspace too: images of one pixel are rows."""
    for node in list(graph.nodes):
        if not calls(node, dense) or len(node.args) != 6 or not node.kwargs.get("flatten", True):
            continue
        layers, index, clamp, data, *parameters = node.args
        source = argument(data, "data") if calls(data, FLATTEN) else data
        if calls(source, pool):
            with graph.inserting_before(node):
                given = layers, workspace, index, None, clamp, source, *parameters
                rows = graph.call_function(dense_pixels, given, node.kwargs)
                node.replace_all_uses_with(graph.call_function(FLATTEN, (rows,)))
            graph.erase_node(node)
            if data is not source and not data.users:
                graph.erase_node(data)


def _reads_and_copies(node: fx.Node) -> bool:
    """Is it a sum or a concatenation, whose result is new memory?"""
    return calls(node, SUM) or _concatenates(node)


def _concatenates(node: fx.Node) -> bool:
    return calls(node, CONCAT) and len(node.args) > 1


def _assign_buffers(graph: fx.Graph, sites: list[Site], workspace: fx.Node) -> None:
    """Assign buffers to results: a buffer that only packed layers and sums read is free after its last reader.

    Results with other readers are copied out of the workspace and have their own buffers.
    """
    order = {node: i for i, node in enumerate(graph.nodes)}
    free: list[int] = []
    until: dict[int, list[int]] = {}  # numbers of the buffers that are free after a node
    count, results = 0, RESULTS
    for place, node in enumerate(list(graph.nodes)):
        if calls(node, *BUFFER):
            others = [user for user in node.users if not (calls(user, *BUFFER) or _reads_and_copies(user))]
            if others:
                node.update_arg(BUFFER[node.target], results)
                _copy_out(graph, workspace, node, sorted(others, key=order.__getitem__))
                results += 1
            else:
                free += _buffer_of_addend(node, sites, until.get(place, []))
                if not free:
                    free.append(count)
                    count += 1
                buffer = free.pop()
                node.update_arg(BUFFER[node.target], buffer)
                until.setdefault(max((order[user] for user in node.users), default=place), []).append(buffer)
        free += until.pop(place, [])


def _copy_out(graph: fx.Graph, workspace: fx.Node, node: fx.Node, users: list[fx.Node]) -> None:
    """Insert a copy for other readers, just before the first of them."""
    with graph.inserting_before(users[0]):
        copy = graph.call_function(copy_out, (workspace, node))
    for user in users:
        user.replace_input_with(node, copy)


def _buffer_of_addend(node: fx.Node, sites: list[Site], ending: list[int]) -> list[int]:
    """Return the buffer of a convolution's addend if it has no later reader: the sum can overwrite it.

    The buffer is removed from `ending`, the buffers that are free after the node.
    """
    data, *addends = arguments_from(node, "tensors") if calls(node, convolve) else (None,)
    if not addends or addends[0] is data or not calls(addends[0], *BUFFER):
        return []
    attrs = sites[argument(node, "index")].conv.kwargs
    if attrs["num_filter"] % (PANEL if attrs["kernel"] == (3, 3) else UNIT):  # kernels write some filters twice
        return []
    buffer = argument(addends[0], "buffer")
    if buffer not in ending:
        return []
    ending.remove(buffer)
    return [buffer]
