"""What the onnx package knows of operators: shapes, values for constants, definitions of one by others."""

import numpy as np

from ....base import MXNetError
from ._isolated import isolated
from ._node import Unknown

_SMALL = 1 << 16  # bytes of a tensor from whose values shapes may follow


def inferred(model):
    """The model with the shapes of all its values, as far as they follow; its own functions are written out.

    ONNX does not carry values of shapes along here (`data_prop`): it takes every list of numbers for a shape, and 140
    bytes for each number that the list is said to have. The importer computes with shapes itself.
    """
    light, weights = _without_weights(model)
    try:
        found = type(model).FromString(isolated(_inferred, light.SerializeToString()))
    except MXNetError as error:
        raise MXNetError(f"the shapes of the model's values cannot be inferred: {error}") from None
    added = {tensor.name for tensor in weights} - {info.name for info in model.graph.input}
    kept = [info for info in found.graph.input if info.name not in added]
    del found.graph.input[:]
    found.graph.input.extend(kept)
    found.graph.initializer.extend(weights)
    return found


def _inferred(data):
    """In a process of its own: both steps believe what the file says."""
    import onnx
    import onnx.inliner

    model = onnx.ModelProto.FromString(data)
    if model.functions:
        model = onnx.inliner.inline_local_functions(model, convert_version=True)
    return onnx.shape_inference.infer_shapes(model).SerializeToString()


def _without_weights(model):
    """A copy whose large tensors, from whose values no shape follows, are inputs instead; and these tensors."""
    import onnx

    weights = [tensor for tensor in model.graph.initializer if tensor.ByteSize() > _SMALL]
    names, inputs = {tensor.name for tensor in weights}, {info.name for info in model.graph.input}
    light = onnx.ModelProto()
    for field, value in model.ListFields():
        if field.name != "graph":
            _copy(light, field, value)
    for field, value in model.graph.ListFields():
        if field.name != "initializer":
            _copy(light.graph, field, value)
    light.graph.initializer.extend(t for t in model.graph.initializer if t.name not in names)
    make = onnx.helper.make_tensor_value_info
    light.graph.input.extend(make(t.name, t.data_type, t.dims) for t in weights if t.name not in inputs)
    return light, weights


def _copy(message, field, value):
    """Give a message one field of another."""
    place = getattr(message, field.name)
    if hasattr(place, "extend"):
        place.extend(value)
    elif hasattr(place, "CopyFrom"):
        place.CopyFrom(value)
    else:
        setattr(message, field.name, value)


def evaluated(proto, opsets, constants):
    """The outputs of a node for constants; as a model of its own, since a node alone is taken for the newest kind."""
    import onnx
    from onnx.reference import ReferenceEvaluator

    infos = [[onnx.ValueInfoProto(name=name) for name in names] for names in (constants, filter(None, proto.output))]
    graph = onnx.helper.make_graph([proto], "node", *infos)
    versions = [onnx.helper.make_opsetid(domain, version) for domain, version in opsets.items()]
    return ReferenceEvaluator(onnx.helper.make_model(graph, opset_imports=versions)).run(None, constants)


def body_of(proto, importer):
    """The definition of a node's operator as a model whose inputs are those the node has; None if there is none."""
    import onnx

    function = _definition(proto, importer)
    if function is None:
        return None
    nodes = [_filled(node, _attributes(proto)) for node in function.node]
    pairs = [(formal, actual) for formal, actual in zip(function.input, proto.input, strict=False) if actual]
    infos = [onnx.helper.make_value_info(formal, _type(actual, importer)) for formal, actual in pairs]
    known = [
        onnx.numpy_helper.from_array(importer.constants[actual], formal)
        for formal, actual in pairs
        if actual in importer.constants
    ]
    absent = set(function.input) - {formal for formal, _ in pairs}
    for node in nodes:
        node.input[:] = ["" if name in absent else name for name in node.input]
    outputs = [
        onnx.ValueInfoProto(name=formal) for formal, used in zip(function.output, proto.output, strict=False) if used
    ]
    graph = onnx.helper.make_graph(nodes, function.name, infos, outputs, known)
    # In this process: the operator's own inference has gone through these attributes, and a fork for each is slow.
    model = onnx.shape_inference.infer_shapes(onnx.helper.make_model(graph, opset_imports=list(function.opset_import)))
    del model.graph.initializer[:]  # they are inputs, known to the importer
    return model


def _definition(proto, importer):
    import onnx

    try:
        schema = onnx.defs.get_schema(proto.op_type, importer.opset, proto.domain)
    except onnx.defs.SchemaError:
        return None
    if schema.has_function:
        return schema.function_body
    if not schema.has_context_dependent_function:
        return None
    types = [_type(name, importer).SerializeToString() for name in proto.input]
    versions = [v for v in schema.context_dependent_function_opset_versions if v <= importer.opset]
    version = max(versions, default=min(schema.context_dependent_function_opset_versions))
    data = schema.get_context_dependent_function_with_opset_version(version, proto.SerializeToString(), types)
    function = onnx.FunctionProto()
    function.ParseFromString(data)
    return function if function.node else None


def _attributes(proto):
    """All attributes of the node by name, the schema's defaults included."""
    import onnx

    schema = onnx.defs.get_schema(proto.op_type, proto.domain)
    defaults = {name: a.default_value for name, a in schema.attributes.items() if a.default_value.name}
    return {**defaults, **{a.name: a for a in proto.attribute}}


def _filled(node, attributes):
    """A node of the definition with the attributes that it takes from the call."""
    import onnx

    filled = onnx.NodeProto()
    filled.CopyFrom(node)
    del filled.attribute[:]
    for attribute in node.attribute:
        if not attribute.ref_attr_name:
            filled.attribute.append(attribute)
        elif attribute.ref_attr_name in attributes:
            given = onnx.AttributeProto()
            given.CopyFrom(attributes[attribute.ref_attr_name])
            given.name = attribute.name
            filled.attribute.append(given)
    return filled


def _type(name, importer):
    """The type of a value as ONNX writes it; that of nothing is empty."""
    import onnx

    if not name:
        return onnx.TypeProto()
    kind = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(importer.types.get(name, "float32")))
    shape = importer.shapes.get(name)
    sizes = None if shape is None else [n.name if isinstance(n, Unknown) else n for n in shape]
    return onnx.helper.make_tensor_type_proto(kind, sizes)
