"""The calls of the KServe v2 inference protocol."""

from .._core.version import REMX_VERSION
from . import tensors
from .errors import Refused


def error(status, words):
    """The protocol's body of a fault."""
    return {"error": words}


def _json(value, status=200):
    from starlette.responses import JSONResponse

    return JSONResponse(value, status)


async def server_metadata(server, request):
    """GET /v2."""
    return _json({"name": "remx", "version": REMX_VERSION, "extensions": ["binary_tensor_data"]})


async def live(server, request):
    """GET /v2/health/live."""
    return _json({"live": True})


async def ready(server, request):
    """GET /v2/health/ready."""
    return _json({"ready": server.ready}, 200 if server.ready else 503)


async def model_ready(server, request):
    """GET /v2/models/NAME/ready."""
    server.check_model(**request.path_params)
    body = {"name": server.model.name, "ready": server.ready}
    return _json(body, 200 if server.ready else 503)


def _described(model, shapes, types):
    free = int(model.has_rows)
    return [
        {"name": n, "datatype": tensors.DATATYPE_OF[types[n]], "shape": [-1] * free + list(shape[free:])}
        for n, shape in shapes.items()
    ]


async def model_metadata(server, request):
    """GET /v2/models/NAME."""
    server.check_model(**request.path_params)
    model = server.model
    inputs = _described(model, model.shapes, model.types)
    outputs = _described(model, model.output_shapes, model.output_types)
    facts = {"name": model.name, "versions": [model.version], "platform": "mxnet_remx"}
    return _json({**facts, "inputs": inputs, "outputs": outputs})


async def repository_index(server, request):
    """POST /v2/repository/index: the models and their states."""
    await server.body(request)  # it may ask for ready models only; there are no others
    state = {"state": "READY", "reason": ""} if server.ready else {"state": "UNAVAILABLE", "reason": "loading"}
    return _json([{"name": server.model.name, "version": server.model.version, **state}])


async def infer(server, request):
    """POST /v2/models/NAME/infer."""
    from starlette.responses import Response

    server.check_model(**request.path_params)
    body = await server.body(request)
    told, rest = tensors.split_body(body, request.headers.get(tensors.LENGTH))
    if not isinstance(told.get("id", ""), str):
        raise Refused(400, "id must be a text")
    wanted = tensors.wanted_outputs(told, server.model.outputs)
    arrays = tensors.read_inputs(told, rest)
    outputs = await server.infer(arrays)
    head = {"model_name": server.model.name, "model_version": server.model.version}
    if "id" in told:
        head["id"] = told["id"]
    data, headers = tensors.write_outputs(head, outputs, wanted)
    return Response(data, headers=headers)


_CALLS = [("GET", "", model_metadata), ("GET", "/ready", model_ready), ("POST", "/infer", infer)]
ROUTES = [
    ("GET", "/v2", server_metadata),
    ("GET", "/v2/health/live", live),
    ("GET", "/v2/health/ready", ready),
    ("POST", "/v2/repository/index", repository_index),
    *[(method, "/v2/models/{name}" + end, call) for method, end, call in _CALLS],
    *[(method, "/v2/models/{name}/versions/{version}" + end, call) for method, end, call in _CALLS],
]
