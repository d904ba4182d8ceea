"""`remx convert SOURCE TARGET`: networks between MXNet's two files, safetensors and ONNX."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .._core.errors import MXNetError
from ._networks import add_shapes, load_symbol, params_path, symbol_path

_EXPLANATION = """A name that ends in .params, .safetensors or .onnx is that file; any other is the PREFIX of
PREFIX-symbol.json and PREFIX-0000.params. A .params or .safetensors file holds parameters only: its graph is read
from and written to NAME-symbol.json beside it."""


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
    parser.description = f"{parser.description}. {_EXPLANATION}"
    parser.add_argument("source", metavar="SOURCE", help="what to read: a file or a prefix")
    parser.add_argument("target", metavar="TARGET", help="what to write: a file or a prefix")
    parser.add_argument("--epoch", type=int, help="which PREFIX-NNNN.params to read; the latest if left out")
    add_shapes(parser)


def _kind(name):
    suffix = Path(name).suffix
    return suffix if suffix in _READERS else ""


def _stem(path):
    """A file's name without its suffix and the number of its epoch, where its graph would be."""
    path = Path(path).with_suffix("")
    stem, dash, number = path.name.rpartition("-")
    return path.with_name(stem) if dash and len(number) >= 4 and number.isdigit() else path


def _graph_beside(path):
    beside = symbol_path(_stem(path))
    return load_symbol(str(beside)) if beside.is_file() else None


def _arrays(path):
    from .. import ndarray

    if not Path(path).is_file():
        raise MXNetError(f"there is no file {path}")
    arrays = ndarray.load(str(path))
    if not isinstance(arrays, dict):
        raise MXNetError(f"{path} holds {len(arrays)} arrays without names; parameters have names")
    return arrays


def _read_arrays(path, options):
    return Model(_graph_beside(path), _arrays(path))


def _read_prefix(prefix, options):
    prefix = prefix.removesuffix("-symbol.json")
    return Model(load_symbol(prefix), _arrays(params_path(prefix, options.epoch)))


def _read_onnx(path, options):
    from ..contrib import onnx

    symbol, arguments, states = onnx.import_model(path)
    arrays = {f"arg:{name}": value for name, value in arguments.items()}
    return Model(symbol, arrays | {f"aux:{name}": value for name, value in states.items()})


def _write_arrays(model, path, options):
    from .. import ndarray

    ndarray.save(path, model.arrays)
    return [path, *_write_graph(model, symbol_path(_stem(path)), options)]


def _write_graph(model, path, options):
    source = symbol_path(_stem(options.source))
    if model.symbol is None or path.resolve() == source.resolve():
        return []
    model.symbol.save(str(path))
    return [str(path)]


def _write_prefix(model, prefix, options):
    from .. import ndarray

    if model.symbol is None:
        raise MXNetError(f"{options.source} has no graph: {symbol_path(_stem(options.source))} is not there")
    paths = [str(symbol_path(prefix)), str(params_path(prefix, options.epoch or 0))]
    model.symbol.save(paths[0])
    ndarray.save(paths[1], model.named())
    return paths


def _write_onnx(model, path, options):
    from ..onnx import export_model

    if model.symbol is None:
        raise MXNetError(f"{options.source} has no graph: {symbol_path(_stem(options.source))} is not there")
    known = {name.split(":", 1)[-1] for name in model.arrays}
    shapes = dict(options.shape)
    inputs = [name for name in model.symbol.list_inputs() if name not in known]
    wanted = [name for name in inputs if name in shapes or not name.endswith("label")]
    missing = [name for name in wanted if name not in shapes]
    if missing:
        raise MXNetError(f"ONNX wants shapes; give --shape {' --shape '.join(f'{name}=…' for name in missing)}")
    export_model(model.symbol, model.named(), [shapes[name] for name in wanted], onnx_file_path=path)
    return [path]


_READERS = {"": _read_prefix, ".params": _read_arrays, ".safetensors": _read_arrays, ".onnx": _read_onnx}
_WRITERS = {"": _write_prefix, ".params": _write_arrays, ".safetensors": _write_arrays, ".onnx": _write_onnx}


def run(options):
    """Read, write, and tell what was written."""
    model = _READERS[_kind(options.source)](options.source, options)
    Path(options.target).parent.mkdir(parents=True, exist_ok=True)
    paths = _WRITERS[_kind(options.target)](model, options.target, options)
    print(f"{len(model.arrays)} arrays; wrote {', '.join(paths)}")
