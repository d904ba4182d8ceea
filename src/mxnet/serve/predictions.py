"""The prediction calls of MXNet Model Server and TorchServe: /predictions/NAME, /ping, /models."""

import math

import numpy as np

from . import tensors
from .errors import Refused

_TYPES = {400: "BadRequestException", 404: "ModelNotFoundException", 413: "RequestEntityTooLargeException"}


def error(status, words):
    """Their body of a fault."""
    return {"code": status, "type": _TYPES.get(status, "InternalServerException"), "message": words}


def _from_json(model, told):
    """{input: array} of {input: numbers}, or of numbers alone if there is one input."""
    if not isinstance(told, dict):
        told = {next(iter(model.shapes)): told} if len(model.shapes) == 1 else {}
    elif set(told) == {"data"} and len(model.shapes) == 1:  # the name that clients give to any body
        told = {next(iter(model.shapes)): told["data"]}
    if sorted(told) != sorted(model.shapes):
        raise Refused(400, f"the body must be an object with {', '.join(model.shapes)}")
    return {name: tensors.numbers(value, model.types[name], name) for name, value in told.items()}


def _from_bytes(model, body):
    """The only input, as bytes of its numbers."""
    [(name, shape), *others] = model.shapes.items()
    dtype, row = np.dtype(model.types[name]), math.prod(shape[1:])
    if others or not body or len(body) % (row * dtype.itemsize):
        raise Refused(400, f"bytes must be rows of {row} numbers of type {dtype} for {name}; {len(body)} bytes came")
    return {name: np.frombuffer(bytearray(body), dtype).reshape(-1, *shape[1:])}


def _read(model, body, kind):
    if kind in ("", "application/json", "text/plain", "application/x-www-form-urlencoded"):  # curl -d says the last
        return _from_json(model, tensors.parse_json(body))
    if kind == "application/octet-stream":
        return _from_bytes(model, body)
    raise Refused(415, f"the body must be application/json or application/octet-stream, not {kind}")


def _with_rows(model, arrays):
    """Arrays of one row may come without its axis: (arrays, did they?)."""
    one = all(array.ndim == len(model.shapes[name]) - 1 for name, array in arrays.items())
    return ({name: array[None] for name, array in arrays.items()} if one else arrays), one


async def predict(server, request):
    """POST or PUT /predictions/NAME: the outputs as JSON; of a network with one output its numbers alone."""
    from starlette.responses import JSONResponse

    server.check_model(**request.path_params)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    arrays, one = _with_rows(server.model, _read(server.model, await server.body(request), kind))
    outputs = await server.infer(arrays)
    found = {name: tensors.listed(array[0] if one else array) for name, array in outputs.items()}
    return JSONResponse(found if len(found) > 1 else next(iter(found.values())))


async def ping(server, request):
    """GET /ping."""
    from starlette.responses import JSONResponse

    return JSONResponse({"status": "Healthy" if server.ready else "Unhealthy"}, 200 if server.ready else 503)


async def models(server, request):
    """GET /models."""
    from starlette.responses import JSONResponse

    return JSONResponse({"models": [{"modelName": server.model.name, "modelUrl": server.settings.prefix}]})


async def describe(server, request):
    """GET /models/NAME."""
    from starlette.responses import JSONResponse

    server.check_model(**request.path_params)
    facts = {"modelName": server.model.name, "modelVersion": server.model.version, "modelUrl": server.settings.prefix}
    return JSONResponse([{**facts, "batchSize": server.model.max_batch, "loadedAtStartup": True}])


ROUTES = [
    ("GET", "/ping", ping),
    ("GET", "/models", models),
    *[("GET", f"/models/{{name}}{version}", describe) for version in ("", "/{version}")],
    *[
        (method, f"/predictions/{{name}}{version}", predict)
        for method in ("POST", "PUT")
        for version in ("", "/{version}")
    ],
]
