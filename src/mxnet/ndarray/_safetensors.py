"""Arrays in `.safetensors` files, the format that other frameworks and model hubs share."""

import torch

from .._core.errors import MXNetError
from .._core.extras import load as load_extra
from .._core.hints import not_opened
from .._formats.atomic import atomic_write
from .._ops.registry.torch_dtypes import NAME
from ..context import cpu
from .ndarray import wrap

ENDING = ".safetensors"
LIST = {"format": "pt", "remx": "list"}  # arrays without names: the names are their places in the list


def is_safetensors(fname):
    """Does the name of the file ask for this format?"""
    return str(fname).endswith(ENDING)


def _library():
    need = f"{ENDING} files need the package safetensors"
    return load_extra(need, "safetensors", "safetensors", "safetensors.torch")


def save(fname, names, arrays):
    """Write arrays under their names, or under their numbers when they have none."""
    library = _library()
    tensors, places = {}, set()
    for name, array in zip(names or map(str, range(len(arrays))), arrays, strict=True):
        if array.stype != "default":
            raise MXNetError(
                f"array {name} is {array.stype}, {ENDING} files hold dense arrays only: save array.tostype('default'), "
                "or choose a .params file"
            )
        tensor = _alone(array._t.detach().cpu().contiguous())
        tensors[name] = tensor.clone() if tensor.data_ptr() in places else tensor  # one array under two names
        places.add(tensor.data_ptr())
    data = library.torch.save(tensors, LIST if not names else {"format": "pt"})
    try:
        with atomic_write(fname) as file:
            file.write(data)
    except OSError as error:
        raise not_opened(fname, error) from None


def _alone(tensor):
    """In memory of its own: the library refuses tensors that share it."""
    return tensor if tensor.untyped_storage().nbytes() == tensor.nbytes and tensor._base is None else tensor.clone()


def load(fname):
    """A dict of arrays, or the list that was saved as one."""
    library = _library()
    try:
        with library.safe_open(fname, framework="pt") as file:
            listed = (file.metadata() or {}).get("remx") == "list"
            arrays = {name: _array(file.get_tensor(name), f"{fname}, array {name}") for name in file.keys()}  # noqa: SIM118
    except (OSError, library.SafetensorError) as error:
        raise MXNetError(f"cannot read {fname}: {error}") from None
    return _listed(arrays, fname) if listed else arrays


def _listed(arrays, fname):
    """The arrays in the order of their numbers, which are their names."""
    if not all(name.isdecimal() for name in arrays):
        raise MXNetError(f"cannot read {fname}: it says that it holds a list, and its names are no numbers")
    return [arrays[key] for key in sorted(arrays, key=int)]


def _array(tensor, name):
    if tensor.dtype not in NAME:
        raise MXNetError(f"{name}: MXNet has no arrays of {tensor.dtype}, only of {', '.join(NAME.values())}")
    return wrap(torch.atleast_1d(tensor), cpu())
