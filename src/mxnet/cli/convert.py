"""`remx convert SOURCE TARGET`: networks between MXNet's two files, ONNX, and files of arrays."""

import os
import re
import sys
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from .._core.arguments import at_least
from .._core.errors import MXNetError
from .._formats.atomic import gathered
from . import _torch_weights as torch_weights
from ._array_files import read, write
from ._networks import add_shapes, folder_of, known_shapes, load_symbol, params_path, symbol_path
from ._onnx_check import largest_difference
from ._output import add_json, print_json

_EXPLANATION = """A name that ends in .params, .safetensors, .npz, .pt, .pth or .onnx is that file; one with no ending
is the PREFIX of PREFIX-symbol.json and PREFIX-0000.params. All but the last two hold parameters only: their graph is
read from and written to NAME-symbol.json beside them. .pt2, a torch program, can be written. A target that is there is
replaced; a conversion that fails changes no file. torchvision:NAME and timm:NAME are their published weights
of a network that the model zoo has, too; torchvision:FILE and timm:FILE a state dict of theirs, whose network --model
names, or TARGET, if it is called as in the zoo."""


@dataclass
class Model:
    """A graph (None if there is none) and its parameters under the names of their file."""

    symbol: Any
    arrays: dict

    def named(self):
        """Parameters as `arg:name` and `aux:name`; plain names are told apart by the graph."""
        states = set(self.symbol.list_auxiliary_states()) if self.symbol is not None else set()
        return {
            name if name.startswith(("arg:", "aux:")) else f"{'aux' if name in states else 'arg'}:{name}": value
            for name, value in self.arrays.items()
        }


def add(parser):
    """The command's own options."""
    parser.description = f"{parser.description}. {_EXPLANATION}"
    parser.add_argument("source", metavar="SOURCE", help="what to read: a file or a prefix")
    parser.add_argument("target", metavar="TARGET", help="what to write: a file or a prefix")
    parser.add_argument("--epoch", type=at_least(0), help="which PREFIX-NNNN.params to read; the latest if left out")
    parser.add_argument("--model", help="the model zoo's name of the network whose state dict SOURCE is")
    add_shapes(parser)
    add_json(parser)


def _kind(name):
    """The suffix of a format, or "" for a prefix, which may have a dot in it, as in `net_v1.5`."""
    suffix = Path(name).suffix
    if suffix in _READERS:
        return suffix
    if re.fullmatch(r"\.[A-Za-z]\w*", suffix) and not name.endswith("-symbol.json"):
        raise MXNetError(_unknown(name, suffix))
    return ""


def _unknown(name, suffix):
    formats = [known for known in _READERS if known]
    near = get_close_matches(suffix.lower(), formats, 1, 0.75)
    hint = f" (did you mean {Path(name).with_suffix(near[0])}?)" if near else ""
    return (
        f"{name}: there is no format {suffix}{hint}; formats are {', '.join(formats)}, and a PREFIX for MXNet's two "
        f"files; if {name} is meant as a prefix, say {name}-symbol.json"
    )


def _source_kind(name):
    """As above, but a prefix whose graph is there needs no more explanation."""
    return "" if Path(name).suffix not in _READERS and symbol_path(name).is_file() else _kind(name)


def _target_kind(name):
    if name.endswith(("/", os.sep)) or Path(name).is_dir():
        raise MXNetError(f"{name} is a folder; name a file or a prefix in it, such as {Path(name) / 'net'}")
    return _kind(name)


def _stem(path):
    """A file's name without its suffix and the number of its epoch, where its graph would be."""
    path = Path(path).with_suffix("")
    stem, dash, number = path.name.rpartition("-")
    return path.with_name(stem) if dash and len(number) >= 4 and number.isdigit() else path


def _graph_beside(path):
    beside = symbol_path(_stem(path))
    return load_symbol(str(beside)) if beside.is_file() else None


def _read_arrays(path, options):
    return Model(_graph_beside(path), read(path))


def _read_prefix(prefix, options):
    prefix = prefix.removesuffix("-symbol.json")
    return Model(load_symbol(prefix), read(params_path(prefix, options.epoch)))


def _read_onnx(path, options):
    from ..contrib import onnx

    symbol, arguments, states = onnx.import_model(path)
    arrays = {f"arg:{name}": value for name, value in arguments.items()}
    return Model(symbol, arrays | {f"aux:{name}": value for name, value in states.items()})


def _read_program(path, options):
    raise MXNetError(
        f"{path} is a torch program: it can be written, not read; torch.export.load(path).state_dict, saved as .pt, can"
    )


def _write_arrays(model, path, options):
    dense = write(path, model.arrays)
    if dense:
        print(f"{', '.join(dense)}: sparse, written dense", file=sys.stderr if options.json else sys.stdout)
    return [path, *_write_graph(model, symbol_path(_stem(path)), options)]


def _write_graph(model, path, options):
    source = symbol_path(_stem(options.source))
    if model.symbol is None or path.resolve() == source.resolve():
        return []
    model.symbol.save(str(path))
    return [str(path)]


def _need_graph(model, options):
    if model.symbol is None:
        raise MXNetError(f"{options.source} has no graph: {symbol_path(_stem(options.source))} is not there")


def _write_prefix(model, prefix, options):
    from .. import ndarray

    _need_graph(model, options)
    prefix = prefix.removesuffix("-symbol.json")
    paths = [str(symbol_path(prefix)), f"{prefix}-{options.epoch or 0:04d}.params"]
    model.symbol.save(paths[0])
    ndarray.save(paths[1], model.named())
    return paths


def _inputs(model, options, what):
    """[(name, shape)] of the inputs, labels left out."""
    _need_graph(model, options)
    known = {name.split(":", 1)[-1] for name in model.arrays}
    shapes = known_shapes(model.symbol, options.shape)
    inputs = [name for name in model.symbol.list_inputs() if name not in known]
    wanted = [name for name in inputs if name in shapes or not name.endswith("label")]
    missing = [name for name in wanted if name not in shapes]
    if missing:
        raise MXNetError(f"{what} wants shapes; give --shape {' --shape '.join(f'{name}=…' for name in missing)}")
    return [(name, shapes[name]) for name in wanted]


def _write_onnx(model, path, options):
    from ..onnx import export_model

    shapes = [shape for _, shape in _inputs(model, options, "ONNX")]
    export_model(model.symbol, model.named(), shapes, onnx_file_path=path)
    return [path]


def _write_program(model, path, options):
    from .. import ndarray, symbol
    from ..gluon import SymbolBlock

    inputs = _inputs(model, options, "a torch program")
    model.symbol.infer_shape_partial(**dict(inputs))  # tells shapes that do not fit by the operator's name
    net = SymbolBlock(model.symbol, [symbol.var(name, dtype="float32") for name, _ in inputs])
    parameters, arrays = net.collect_params(), {n.split(":", 1)[-1]: value for n, value in model.arrays.items()}
    labels = [name for name in parameters if name not in arrays]
    if labels:
        raise MXNetError(f"the graph asks for {', '.join(labels)}; convert a network that ends before its loss")
    parameters.load_dict(arrays, ignore_extra=True, cast_dtype=True, dtype_source="saved")
    net.export_torch(path, *(ndarray.zeros(shape) for _, shape in inputs))
    return [path]


ARRAYS = (".params", ".safetensors", ".npz", ".pt", ".pth")
_READERS = {"": _read_prefix, ".onnx": _read_onnx, ".pt2": _read_program, **dict.fromkeys(ARRAYS, _read_arrays)}
_WRITERS = {"": _write_prefix, ".onnx": _write_onnx, ".pt2": _write_program, **dict.fromkeys(ARRAYS, _write_arrays)}


def _reader(source, options):
    if options.model or source.startswith(torch_weights.OWNERS):
        path = _stem(options.target) if _kind(options.target) else Path(options.target)
        return lambda source, options: Model(*torch_weights.read(source, path.name, options))
    return _READERS[_source_kind(source)]


def _read(source, options):
    """The model in a file; whatever a reader did not foresee in a bad one is a sentence too."""
    reader = _reader(source, options)
    try:
        return reader(source, options)
    except (MXNetError, OSError, ImportError):
        raise
    except Exception as error:
        raise MXNetError(f"cannot read {source}: {type(error).__name__}: {error}") from error


def run(options):
    """Read, write, and tell what was written; all files of a target appear together or not at all."""
    kind = _target_kind(options.target)  # before anything is read: it may take a while
    model = _read(options.source, options)
    with folder_of(options.target):
        with gathered() as files:
            paths = _WRITERS[kind](model, options.target, options)
        for file in files:
            file.place()
    result = {"arrays": len(model.arrays), "files": [str(path) for path in paths], "difference": None}
    if kind == ".onnx":
        result["difference"] = largest_difference(model, options.target, _inputs(model, options, "ONNX"))
    if options.json:
        print_json(result)
        return
    print(f"{len(model.arrays)} arrays; wrote {', '.join(paths)}")
    if kind == ".onnx":
        print(_verdict(result["difference"]))


def _verdict(difference):
    if difference is None:
        return "outputs were not compared: ONNX Runtime is missing; pip install 'remx[onnx]'"
    return f"outputs of ONNX Runtime and of the network on random data: largest difference {difference:.3g}"
