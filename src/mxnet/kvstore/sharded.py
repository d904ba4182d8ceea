"""`Trainer(..., shard_optimizer=True)`: each worker keeps a part of the optimizer's states, and of row-sparse weights.

Gradients are summed as `dist_sync` sums them. Each worker then updates its own part of every parameter, and all gather
the parts (ZeRO, stage 1). Weights stored as row_sparse arrays are never whole in one place: their rows live with their
owners, as their states do; gradients travel to them, and `row_sparse_pull` fetches the rows that a batch names.
"""

import torch
import torch.distributed as dist

from .._core.errors import MXNetError
from .._formats.atomic import write_file
from ..ndarray.ndarray import wrap
from ..optimizer import state_files
from ..optimizer.state_checks import check_keys, check_state
from . import cuts, group
from .dist import KVStoreDist
from .kvstore import _overwrite, pairs

# Optimizers whose formula treats each element (or each row) by itself; any other one gets whole parameters.
ELEMENTS = "SGD ccSGD NAG Signum DCASGD Adam AdamW Adamax FTML Ftrl AdaGrad AdaDelta RMSProp Test".split()
ROWS = ("GroupAdaGrad",)
REFUSED = {
    "Nadam": "its momentum schedule runs over the updates of all parameters",
    "SGLD": "every worker would draw other noise",
}


def how_to_cut(optimizer):
    """ "elements", "rows" or "whole": what a worker's part of a parameter may be."""
    kind = type(optimizer)
    if kind.__name__ in REFUSED and kind.__module__.startswith("mxnet.optimizer"):
        raise MXNetError(f"{kind.__name__} cannot run with shard_optimizer=True: {REFUSED[kind.__name__]}")
    if not kind.__module__.startswith("mxnet.optimizer"):
        return "whole"  # of a program's own optimizer nothing is known
    return "elements" if kind.__name__ in ELEMENTS else "rows" if kind.__name__ in ROWS else "whole"


class ShardedStore(KVStoreDist):
    """A `dist_sync` store whose optimizer is spread over the workers."""

    def __init__(self, store, optimizer, on_store):
        super().__init__(store.type)
        self._how, self._on_store = how_to_cut(optimizer), on_store
        self._cuts, self._shapes, self._views = {}, {}, {}
        self._loads = [0] * self.num_workers

    # ------------------------------------------------------------------ who has what
    def _cut(self, key, array, by_rows=False):
        """The cut of a key, made at its first use, in the same order in all workers."""
        if key not in self._cuts:
            kind = "rows" if by_rows or array.stype != "default" else self._how
            self._cuts[key], self._shapes[key] = self._made(kind, array, key), array.shape
        return self._cuts[key]

    def _made(self, kind, array, key):
        if kind != self._how and self._how == "whole":
            raise MXNetError(
                f"shard_optimizer=True cannot cut the rows of parameter {key}: the optimizer needs whole parameters"
            )
        if kind != "whole":
            return cuts.even(kind, array.shape[0] if kind == "rows" and array.shape else array.size, self.num_workers)
        owner = self._loads.index(min(self._loads))
        self._loads[owner] += array.size
        return cuts.whole(array.size, owner, self.num_workers)

    def _has_part(self, key):
        begin, end = self._cuts[key].spans[self.rank]
        return end > begin

    def _part(self, key, array):
        """This worker's part of an array, in the same memory."""
        return wrap(self._cuts[key].of(array._t.detach(), self.rank), array.context)

    def _kept_part(self, key, weight):
        """The same of a weight, made again only when the weight has another tensor."""
        known = self._views.get(key)
        if known is None or known[0] is not weight._t:
            known = self._views[key] = weight._t, self._part(key, weight)
        return known[1]

    def _count_others(self, updater, keys):
        """Updates are counted in every worker, also those of parameters that it has no part of."""
        if keys:
            updater.optimizer._update_count(list(keys))

    # ------------------------------------------------------------------ updates outside of the store
    def update(self, updater, keys, grads, weights):
        """Update this worker's parts of weights with gradients that were summed already; `gather` comes afterwards."""
        for key, weight in zip(keys, weights, strict=True):
            self._cut(key, weight)
        mine = [item for item in zip(keys, grads, weights, strict=True) if self._has_part(item[0])]
        if mine:
            own, grads, parts = zip(*((k, self._part(k, g), self._kept_part(k, w)) for k, g, w in mine), strict=True)
            updater(list(own), list(grads), list(parts))
        self._count_others(updater, [key for key in keys if not self._has_part(key)])

    def gather(self, keys, weights):
        """Fill weights with the parts of all workers."""
        for key, weight in zip(keys, weights, strict=True):
            self._cut(key, weight)
        self._gather(list(keys), [weight._t.detach() for weight in weights])

    def _gather(self, keys, tensors):
        """Fill tensors with the parts of all workers; small ones share messages."""
        for bucket in group.buckets(list(zip(keys, tensors, strict=True)), lambda item: item[1]):
            sizes = [sum(column) for column in zip(*(self._cuts[k].sizes(t) for k, t in bucket), strict=True)]
            sent = bucket[0][1].new_zeros(max(sizes))
            parts = [self._cuts[k].of(t, self.rank).reshape(-1) for k, t in bucket]
            torch.cat(parts, out=sent[: sizes[self.rank]])
            for rank, flat in enumerate(group.gather_over_workers(sent)):
                if rank != self.rank:
                    self._spread(bucket, rank, flat)
        group.wrote_anywhere()

    def _spread(self, bucket, rank, flat):
        """Put what a worker has sent to its places."""
        at = 0
        for key, tensor in bucket:
            part = self._cuts[key].of(tensor, rank)
            part.copy_(flat[at : at + part.numel()].view(part.shape))
            at += part.numel()

    # ------------------------------------------------------------------ values in the store
    def init(self, key, value):
        """Store the first worker's values: this worker's parts of them, where the store updates."""
        if not self._on_store:
            return super().init(key, value)
        for k, arrays in self._check_keys(pairs(key, value)):
            cut = self._cut(k, arrays[0], by_rows=k in self.sparse_gradients)
            super().init(k, arrays[0])
            held = self._stored[k]
            dense = held.stype == "default"
            self._stored[k] = self._part(k, held).copy() if dense else cuts.rows_between(held, *cut.spans[self.rank])
        return None

    sparse_gradients = frozenset()  # keys of dense weights whose gradients are row_sparse: told by the trainer

    def _reduce_all(self, found):
        dense = [item for item in found if item[1][0].stype == "default"]
        sums = dict(zip([k for k, _ in dense], super()._reduce_all(dense), strict=True)) if dense else {}
        for k, arrays in found:
            if k not in sums:
                sums[k] = self._rows_for_here(k, self._sum(arrays))
        return [sums[k] for k, _ in found]

    def _take(self, keys, sums):
        """Update this worker's parts."""
        if not self._on_store:
            return super()._take(keys, sums)
        mine = [
            (key, merged if merged.stype != "default" else self._part(key, merged))
            for key, merged in zip(keys, sums, strict=True)
            if self._has_part(key)
        ]
        if mine:
            super()._take(*zip(*mine, strict=True))
        if self._updater is not None:
            self._count_others(self._updater, [key for key in keys if not self._has_part(key)])
        return None

    def pull(self, key, out=None, priority=0, ignore_sparse=True):
        """Copy values into `out`; parts of the other workers are fetched, so all must call this."""
        if not self._on_store:
            return super().pull(key, out, priority, ignore_sparse)
        assert out is not None
        dense = []
        for k, arrays in self._check_keys(pairs(key, out)):
            held = self._held(k)
            if held.stype == "default":
                dense.append((k, held, arrays))
            elif not ignore_sparse or arrays[0].stype == "default":
                self._pull_all_rows(k, arrays)
        if dense:
            self._pull_dense(dense)
        return None

    def _pull_dense(self, found):
        targets = []
        for key, held, arrays in found:
            tensor = arrays[0]._t.detach()
            self._cuts[key].of(tensor, self.rank).copy_(held._t)
            targets.append(tensor)
        self._gather([k for k, _, _ in found], targets)
        for _, _, arrays in found:
            for array in arrays[1:]:
                _overwrite(arrays[0], array)

    # ------------------------------------------------------------------ rows
    def _owners(self, key, numbers):
        """(how many of these sorted row numbers each worker has, the rest by worker)."""
        ends = torch.tensor([end for _, end in self._cuts[key].spans], device=numbers.device)
        places = torch.searchsorted(numbers, ends)
        return torch.diff(places, prepend=places.new_zeros(1)).cpu()

    def _rows_for_here(self, key, array):
        """The sum over workers of a row-sparse gradient's rows that live here; the others' are sent to them."""
        if array.stype != "row_sparse":
            raise MXNetError(f"a distributed kvstore sums dense and row_sparse arrays, not {array.stype}")
        numbers, values = array.indices._t, array.data._t.detach()
        counts = self._owners(key, numbers)
        numbers, values = (exchange(part, counts) for part in (numbers, values))
        rows, places = torch.unique(numbers, return_inverse=True)
        total = values.new_zeros((len(rows), *values.shape[1:])).index_add_(0, places, values)
        begin, end = self._cuts[key].spans[self.rank]
        return cuts.sparse(total, rows - begin, (end - begin, *array.shape[1:]), array)

    def _pull_rows(self, key, array, ids):
        """Rows from their owners; all workers call this, each with its own rows."""
        if not self._on_store:
            return super()._pull_rows(key, array, ids)
        held, shape = self._held(key), self._shapes.get(key)
        if array.stype != "row_sparse" or held.stype != "row_sparse":
            raise MXNetError(f"row_sparse_pull of key {key} needs row_sparse storage on both sides; use pull")
        rows = torch.unique(ids.as_in_context(held.context)._t.flatten().long())
        if len(rows) and not 0 <= rows[0] <= rows[-1] < shape[0]:
            raise MXNetError(
                f"row_sparse_pull of key {key} asks for rows {rows[0].item()} to {rows[-1].item()}, "
                f"but the stored value has {shape[0]} rows"
            )
        wanted = self._owners(key, rows)
        asked, came = exchange(rows, wanted, with_counts=True)
        begin, _ = self._cuts[key].spans[self.rank]
        found = held.retain(wrap(asked - begin, held.context)).tostype("default")._t[asked - begin]
        values = exchange(found, came, incoming=wanted)
        _overwrite(cuts.sparse(values, rows, shape, array), array)
        return None

    def _pull_all_rows(self, key, arrays):
        held, (begin, _) = self._held(key), self._cuts[key].spans[self.rank]
        numbers = group.gather_rows(held.indices._t + begin)
        values = group.gather_rows(held.data._t.detach())
        whole = cuts.sparse(values, numbers, self._shapes[key], held)
        for array in arrays:
            _overwrite(whole if array.stype == "row_sparse" else whole.tostype("default"), array)

    # ------------------------------------------------------------------ states
    def whole_states(self, updater):
        """{key: state} of all parts, in the first worker; None in the others. All must call this."""
        parts = _to_first({key: updater.states[key] for key in updater.states})
        if parts is None:
            return None
        found = {}
        for key, cut in self._cuts.items():
            owners = [r for r, (begin, end) in enumerate(cut.spans) if end > begin and key in parts[r]]
            if cut.kind == "whole" and owners:
                found[key] = parts[owners[0]][key]
            elif owners:
                chosen = cuts.Cut(cut.kind, tuple(cut.spans[r] for r in owners))
                found[key] = cuts.join_states(chosen, [parts[r][key] for r in owners], self._shapes[key])
        return dict(sorted(found.items()))

    def _own_states(self, updater, weights):
        """This worker's parts of states that were saved whole, compared with its parts of the weights."""
        found = {}
        for key, state in updater.states.items():
            name, weight = weights.get(key, (key, None))
            if weight is None:
                raise MXNetError(f"the states of parameter {name!r} cannot be cut: its shape is not known yet")
            cut = self._cut(key, weight, by_rows=key in self.sparse_gradients)
            if self._has_part(key):
                found[key] = cuts.split_state(cut, state, self.rank)
                own = self._held(key) if self._on_store else self._part(key, weight)
                check_state(updater.optimizer, key, name, own, found[key])
        return found

    def save_states(self, updater, fname, dump_optimizer=True, pickled=False):
        """Gather all states and let the first worker write the file that one process would write."""
        states = self.whole_states(updater)
        if states is not None:
            _sort_counts(updater.optimizer)
            tree = (states, updater.optimizer) if dump_optimizer else states
            write_file(fname, state_files.pickled(tree) if pickled else state_files.dumps(tree))
        self._barrier()

    def load_states(self, updater, fname, weights, trust=False):
        """Read states that were saved whole; this worker keeps its parts. `weights` is {key: (name, weight)}."""
        with state_files.opened(fname) as file:
            updater.set_states(file.read(), trust)
            check_keys(updater.states, weights)
            if how_to_cut(updater.optimizer) != self._how:
                name = type(updater.optimizer).__name__
                raise MXNetError(f"the states are of {name}, whose shards are other than those of this trainer's")
            updater.states = self._own_states(updater, weights)
        updater.states_synced = dict.fromkeys(updater.states, True)


def _sort_counts(optimizer):
    """Counts of updates in the order of keys, as one process would have made them."""
    for counts in optimizer._all_index_update_counts.values():
        items = sorted(counts.items())
        counts.clear()
        counts.update(items)


def exchange(rows, counts, incoming=None, with_counts=False):
    """Send `counts[i]` of these rows to worker i, one behind the other; what comes from all, by rank."""
    if incoming is None:
        incoming = torch.empty_like(counts)
        with group.contact():
            dist.all_to_all_single(incoming, counts)
    found = rows.new_empty((int(incoming.sum()), *rows.shape[1:]))
    with group.contact():
        dist.all_to_all_single(found, group._handed(rows.contiguous()), incoming.tolist(), counts.tolist())
    return (found, incoming) if with_counts else found


def _to_first(tree):
    """Every worker's tree, by rank, in the first worker; None in the others. One comes after the other."""
    data = torch.frombuffer(bytearray(state_files.dumps(tree)), dtype=torch.uint8)
    sizes = torch.cat(group.gather_over_workers(torch.tensor([len(data)]))).tolist()
    if dist.get_rank():
        with group.contact():
            dist.send(data, 0)
        return None
    found = [tree]
    for rank, size in list(enumerate(sizes))[1:]:
        part = torch.empty(size, dtype=torch.uint8)
        with group.contact():
            dist.recv(part, rank)
        found.append(state_files.loads(part.numpy().tobytes()))
    return found
