"""Tensors of the KServe v2 inference protocol: in JSON, or as bytes behind the JSON part of a body."""

import json
import math
import reprlib

import numpy as np

from .errors import Refused

LENGTH = "inference-header-content-length"
DIMENSIONS = 32  # MXNet's own limit
SIZES = 1 << 62
DATATYPES = {
    "BOOL": "bool",
    "FP16": "float16",
    "FP32": "float32",
    "FP64": "float64",
    **{f"INT{bits}": f"int{bits}" for bits in (8, 16, 32, 64)},
    **{f"UINT{bits}": f"uint{bits}" for bits in (8, 16, 32, 64)},
}
DATATYPE_OF = {dtype: name for name, dtype in DATATYPES.items()}


def _no_number(word):
    raise ValueError(f"{word} is not a number of JSON; bytes can hold it")


def parse_json(data, what="the body"):
    """The value of JSON text."""
    try:
        return json.loads(data, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise Refused(400, f"{what} is not JSON: {error}") from None


def split_body(body, length):
    """(JSON object, bytes behind it); the length of the first comes in a header, if there is a second."""
    if length is None:
        head, rest = body, b""
    else:
        if not length.isdecimal() or len(length) > 20 or int(length) > len(body):
            raise Refused(400, f"{LENGTH}: {reprlib.repr(length)} does not fit a body of {len(body)} bytes")
        head, rest = body[: int(length)], body[int(length) :]
    request = parse_json(head)
    if not isinstance(request, dict):
        raise Refused(400, "the body must be a JSON object")
    return request, rest


def _parameters(item):
    found = item.get("parameters", {})
    if not isinstance(found, dict):
        raise Refused(400, "parameters must be a JSON object")
    return found


def _shape(item, name):
    shape = item.get("shape")
    if not isinstance(shape, list) or any(type(n) is not int or not 0 <= n < SIZES for n in shape):
        raise Refused(400, f"input {name}: shape must be a list of numbers, not {reprlib.repr(shape)}")
    if len(shape) > DIMENSIONS:
        raise Refused(400, f"input {name}: a shape may have {DIMENSIONS} numbers, this one has {len(shape)}")
    return tuple(shape)


def _dtype(item, name):
    datatype = item.get("datatype")
    if not isinstance(datatype, str) or datatype not in DATATYPES:
        raise Refused(400, f"input {name}: unknown datatype {datatype!r}; there are {', '.join(DATATYPES)}")
    return DATATYPES[datatype]


def _check_numbers(data, dtype):
    """Lists of numbers and of lists, nothing else: NumPy gives each of many texts the room of the longest."""
    lists = [[data]]
    while lists:
        items = lists.pop()
        kinds = set(map(type, items))
        if not kinds <= {list, int, float, bool}:
            raise ValueError(f"the data are not of type {dtype}")
        if list in kinds:
            lists.extend(item for item in items if type(item) is list)


def numbers(data, dtype, name):
    """An array of JSON's lists; what would be rounded or cut off is refused."""
    try:
        _check_numbers(data, dtype)
        array = np.array(data)
        if array.dtype.kind not in "biuf" or (array.dtype.kind == "f" and np.dtype(dtype).kind in "iub" and array.size):
            raise ValueError(f"the data are not of type {dtype}")
        with np.errstate(over="ignore"):
            made = array.astype(dtype) if array.dtype.kind == "f" else np.array(data, dtype)
        if made.dtype.kind == "f" and not np.isfinite(made).all():
            raise ValueError(f"a number is too large for {dtype}")
        return made
    except (ValueError, TypeError, OverflowError) as error:
        raise Refused(400, f"input {name}: {error}") from None


def _in_json(item, shape, dtype, name):
    if "data" not in item:
        raise Refused(400, f"input {name} has no data")
    array = numbers(item["data"], dtype, name)
    if array.size != math.prod(shape):
        raise Refused(400, f"input {name}: the shape {list(shape)} needs {math.prod(shape)} numbers, got {array.size}")
    return _reshaped(array, shape, name)


def _reshaped(array, shape, name):
    try:
        return array.reshape(shape)
    except ValueError as error:  # sizes that no array can have, beside a 0
        raise Refused(400, f"input {name}: {error}") from None


def _in_bytes(rest, size, shape, dtype, name):
    needed = math.prod(shape) * np.dtype(dtype).itemsize
    if type(size) is not int or size != needed or len(rest) < size:
        told = f"binary_data_size is {reprlib.repr(size)}, {len(rest)} came"
        raise Refused(400, f"input {name}: {needed} bytes are needed, {told}")
    return _reshaped(np.frombuffer(bytearray(rest[:size]), dtype), shape, name)


def read_inputs(request, rest):
    """{name: array} of a request's inputs."""
    items = request.get("inputs")
    if not isinstance(items, list) or not items:
        raise Refused(400, "inputs must be a list of tensors")
    arrays = {}
    for item in items:
        name = item.get("name") if isinstance(item, dict) else None
        if not isinstance(name, str) or name in arrays:
            raise Refused(400, "every input needs a name of its own")
        shape, dtype = _shape(item, name), _dtype(item, name)
        size = _parameters(item).get("binary_data_size")
        if size is None:
            arrays[name] = _in_json(item, shape, dtype, name)
        else:
            arrays[name] = _in_bytes(rest, size, shape, dtype, name)
            rest = rest[size:]
    if rest:
        raise Refused(400, f"{len(rest)} bytes stand behind the inputs")
    return arrays


def wanted_outputs(request, names):
    """[(name, in bytes?)] of the outputs that a request asks for; all of them if it names none."""
    binary = _parameters(request).get("binary_data_output") is True
    items = request.get("outputs")
    if items is None:
        return [(name, binary) for name in names]
    if not isinstance(items, list) or any(not isinstance(item, dict) for item in items):
        raise Refused(400, "outputs must be a list of objects with names")
    for item in items:
        if item.get("name") not in names:
            asked = reprlib.repr(item.get("name"))
            raise Refused(400, f"there is no output {asked}; there are {', '.join(names)}")
        if _parameters(item).get("classification"):  # an extension that would change the answer's type
            raise Refused(400, f"output {item['name']}: the extension classification is not available")
    if len(items) > len(names):
        raise Refused(400, f"there are {len(names)} outputs, {len(items)} were asked for")
    return [(item["name"], _parameters(item).get("binary_data", binary) is True) for item in items]


def listed(array):
    """Nested lists for JSON, which has no NaN and no infinity: null stands for them."""
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        array = np.where(np.isfinite(array), array.astype(object), None)
    return array.tolist()


def write_outputs(head, arrays, wanted):
    """(body, headers) of an answer."""
    outputs, parts = [], []
    for name, binary in wanted:
        array = np.ascontiguousarray(arrays[name])
        item = {"name": name, "datatype": DATATYPE_OF[array.dtype.name], "shape": list(array.shape)}
        if binary:
            parts.append(array.tobytes())
            item["parameters"] = {"binary_data_size": len(parts[-1])}
        else:
            item["data"] = listed(array.ravel())
        outputs.append(item)
    text = json.dumps({**head, "outputs": outputs}).encode()
    if not parts:
        return text, {"content-type": "application/json"}
    return text + b"".join(parts), {"content-type": "application/octet-stream", LENGTH: str(len(text))}
