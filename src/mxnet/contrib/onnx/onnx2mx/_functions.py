"""What the onnx package knows of operators: shapes, values for constants, definitions of one by others."""

import numpy as np

from ....base import MXNetError
from ._node import Unknown


def inferred(model):
    """The model with the shapes of all its values, as far as they follow; its own functions are written out.

    ONNX does not carry values of shapes along here (`data_prop`): it takes every list of numbers for a shape, and 140
    bytes for each number that the list is said to have. The importer computes with shapes itself.
    """
    import onnx
    import onnx.inliner

    try:
        if model.functions:
            model = onnx.inliner.inline_local_functions(model, convert_version=True)
        return onnx.shape_inference.infer_shapes(model)
    except (onnx.shape_inference.InferenceError, MemoryError, RuntimeError, ValueError, TypeError) as error:
        raise MXNetError(f"the shapes of the model's values cannot be inferred: {str(error).strip()}") from None


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
    model = inferred(onnx.helper.make_model(graph, opset_imports=list(function.opset_import)))
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
