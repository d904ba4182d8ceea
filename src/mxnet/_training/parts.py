"""What a run is made of, saved and set again: networks, trainers, modules, metrics, generators, anything with a state.

Each kind can `write` its large arrays to files of MXNet's, and gives the `rest` as a tree of plain values.
"""

import os

import numpy as np
import torch

from .._core.errors import MXNetError
from .._formats import manifest
from .._formats.atomic import write_file
from ..metric import EvalMetric
from ..ndarray import NDArray
from ..optimizer import state_files
from .progress import read_tree, write_tree

_MADE_OF = "\0made of"


# -- attributes of metrics and other small objects ---------------------------------------------------------------------


def attributes(holder):
    """What an object has counted: its numbers, texts and arrays, and those of the objects of ours inside it."""
    found = {name: _kept(value) for name, value in vars(holder).items()}
    return {name: value for name, value in found.items() if value is not NotImplemented}


def _kept(value):
    if isinstance(value, torch.Tensor):
        return value.item() if value.numel() == 1 else value.detach().cpu().numpy()
    if value is None or isinstance(value, (bool, int, float, str, np.ndarray, np.generic, NDArray)):
        return value
    if isinstance(value, (list, tuple)):
        parts = [_kept(each) for each in value]
        return NotImplemented if NotImplemented in [p for p in parts if not _is_array(p)] else type(value)(parts)
    if isinstance(value, dict) and all(isinstance(key, (str, int)) for key in value):
        return {key: part for key, each in value.items() if (part := _kept(each)) is not NotImplemented}
    ours = isinstance(value, EvalMetric) or type(value).__module__.startswith("mxnet._metrics")
    return (_MADE_OF, attributes(value)) if ours else NotImplemented


def _is_array(value):
    return isinstance(value, (np.ndarray, NDArray))


def set_attributes(holder, kept):
    """Give an object the attributes again; those it does not have any more are passed over."""
    for name, value in kept.items():
        if name in vars(holder):
            vars(holder)[name] = _put(vars(holder)[name], value)


def _put(current, kept):
    if isinstance(kept, tuple) and kept[:1] == (_MADE_OF,):
        set_attributes(current, kept[1])
        return current
    if isinstance(kept, (list, tuple)) and isinstance(current, (list, tuple)) and len(kept) == len(current):
        return type(kept)(map(_put, current, kept))
    return kept


# -- kinds -------------------------------------------------------------------------------------------------------------


class Kind:
    """A kind of part without files."""

    @staticmethod
    def write(part, name):
        """Write the files; `name(ending)` says what one is called."""

    @staticmethod
    def complete(part, kept):
        """Set what another part's loading would change: a trainer makes all contexts alike."""


class Metric(Kind):
    """Counts, of the whole and since the last local reset."""

    fits = staticmethod(lambda part: isinstance(part, EvalMetric))
    rest = staticmethod(attributes)
    load = staticmethod(lambda part, name, kept: set_attributes(part, kept))


class Network(Kind):
    """A Gluon block: parameters in a file; what differs between contexts, and unfinished gradient sums, beside it."""

    fits = staticmethod(lambda part: hasattr(part, "save_parameters") and hasattr(part, "collect_params"))

    write = staticmethod(lambda part, name: part.save_parameters(name("params")))

    @staticmethod
    def rest(part):
        kept = {}
        for key, parameter in part._collect_params_with_prefix().items():
            if parameter.grad_req == "null" and len(parameter.list_ctx()) > 1:
                kept[key, "data"] = parameter.list_data()
            elif parameter.grad_req == "add":
                kept[key, "grad"] = [(grad, array._fresh_grad) for grad, array in _gradients(parameter)]
        return kept

    @staticmethod
    def load(part, name, kept):
        parameters = part._collect_params_with_prefix()
        contexts = next((p.list_ctx() for p in parameters.values()), None)
        part.load_parameters(name("params"), ctx=contexts)

    @staticmethod
    def complete(part, kept):
        parameters = part._collect_params_with_prefix()
        for (key, what), values in kept.items():
            if what == "data":
                for array, value in zip(parameters[key].list_data(), values, strict=True):
                    value.copyto(array)
            else:
                for (grad, array), (value, fresh) in zip(_gradients(parameters[key]), values, strict=True):
                    value.copyto(grad)
                    array._fresh_grad = fresh


def _gradients(parameter):
    return zip(parameter.list_grad(), parameter.list_data(), strict=True)


class Training(Kind):
    """A trainer: the optimizer with its schedule, counters and states in a file; the loss scale of AMP beside it."""

    fits = staticmethod(lambda part: hasattr(part, "save_states") and hasattr(part, "allreduce_grads"))

    write = staticmethod(lambda part, name: part.save_states(name("states")))

    @staticmethod
    def rest(part):
        scaler = getattr(part, "_amp_loss_scaler", None)
        return {"scale": part._scale, "amp": None if scaler is None else attributes(scaler)}

    @staticmethod
    def load(part, name, kept):
        part.load_states(name("states"))
        part._scale = kept["scale"]
        scaler = getattr(part, "_amp_loss_scaler", None)
        if scaler is not None and kept["amp"] is not None:
            set_attributes(scaler, kept["amp"])


class Symbolic(Kind):
    """A module: parameters and optimizer in files; auxiliary states of several devices and carried states beside."""

    fits = staticmethod(lambda part: hasattr(part, "init_optimizer") and hasattr(part, "get_params"))

    @staticmethod
    def write(part, name):
        part.save_params(name("params"))
        write_file(name("states"), _updater(_main(part)).get_states(dump_optimizer=True))

    @staticmethod
    def rest(part):
        module = _main(part)
        group = module._exec_group
        several = len(module._context) > 1
        return {"auxiliary": group.aux_arrays if several else [], "carried": getattr(group, "state_arrays", None) or []}

    @staticmethod
    def load(part, name, kept):
        part.load_params(name("params"))
        module = _main(part)
        updater = _updater(module)
        with state_files.opened(name("states")) as file:
            if module._update_on_kvstore:
                updater.set_states(file.read(), weights=module._kvstore._weights(), complete=False)
            else:
                updater.set_states(file.read(), weights=module._indexed_weights())
        for each in getattr(part, "_buckets", {0: module}).values():
            each._optimizer = updater.optimizer
        if module._update_on_kvstore:  # the store has the weights that count
            for key, value in part.get_params()[0].items():
                if key in module._kvstore._stored:
                    value.copyto(module._kvstore._stored[key])
        group = module._exec_group
        for arrays, values in (
            *zip(group.aux_arrays if kept["auxiliary"] else [], kept["auxiliary"], strict=True),
            *zip(group.state_arrays if kept["carried"] else [], kept["carried"], strict=True),
        ):
            for array, value in zip(arrays, values, strict=True):
                value.copyto(array)


def _main(part):
    """The module itself, or of buckets, which share their parameters and their optimizer, the one in use."""
    return getattr(part, "_curr_module", part)


def _updater(module):
    return module._kvstore._updater if module._update_on_kvstore else module._updater


class Generator(Kind):
    """A random generator of NumPy's."""

    fits = staticmethod(lambda part: hasattr(part, "bit_generator"))
    rest = staticmethod(lambda part: part.bit_generator.state)

    @staticmethod
    def load(part, name, kept):
        part.bit_generator.state = kept


class Stateful(Kind):
    """Anything with `state_dict()` and `load_state_dict(state)`, of numbers, texts, lists, dicts and arrays."""

    fits = staticmethod(lambda part: hasattr(part, "state_dict") and hasattr(part, "load_state_dict"))
    rest = staticmethod(lambda part: part.state_dict())
    load = staticmethod(lambda part, name, kept: part.load_state_dict(kept))


# Trainers come after networks and modules: loading weights may begin a new store, which their states belong to.
KINDS = (Metric, Network, Symbolic, Generator, Training, Stateful)


def kind_of(part):
    """How a part is saved."""
    for kind in KINDS:
        if kind.fits(part):
            return kind
    raise TypeError(
        f"a {type(part).__name__} cannot be part of a checkpoint: parts are blocks, trainers, modules, metrics, "
        "iterators of mx.io, generators of NumPy, and objects with state_dict() and load_state_dict()"
    )


def _named(stem, parts):
    """(part, kind, file name by ending) of each; a second file of an ending is called `stem.1.params` and so on."""
    counts = {}
    for part in parts:
        kind = kind_of(part)
        number = counts[kind] = counts.get(kind, -1) + 1
        middle = f".{number}" if number else ""
        yield part, kind, lambda ending, middle=middle: f"{stem}{middle}.{ending}"


def progress_file(stem):
    """Where the small values of a set are."""
    return f"{stem}.progress"


def save(stem, parts, **values):
    """Write all parts and the values; they become visible at once."""
    with manifest.together(stem):
        for part, kind, name in _named(stem, parts):
            kind.write(part, name)
        write_rest(stem, parts, **values)


def take_part(parts):
    """What the other workers do while the first one saves: hand over their shards of optimizers' states."""
    for part in parts:
        if getattr(part, "_shard_optimizer", False):
            part.save_states(os.devnull)


def write_rest(stem, parts, **values):
    """Write all but the files of the parts."""
    write_tree(progress_file(stem), {**values, "parts": [kind_of(part).rest(part) for part in parts]})


def load(stem, parts):
    """Set all parts as they were; return the values."""
    tree = read_tree(progress_file(stem))
    if not isinstance(tree, dict) or not isinstance(tree.get("parts"), list) or len(tree["parts"]) != len(parts):
        raise MXNetError(f"{progress_file(stem)}: it was not saved with these {len(parts)} parts")
    work = [(*named, kept) for named, kept in zip(_named(stem, parts), tree.pop("parts"), strict=True)]
    for part, kind, name, kept in sorted(work, key=lambda each: KINDS.index(each[1])):
        kind.load(part, name, kept)
    for part, kind, _, kept in work:
        kind.complete(part, kept)
    return tree
