"""`import_model` and `get_model_metadata`: ONNX files as symbols and parameters."""

from .import_onnx import GraphProto, read_model


def import_model(model_file):
    """(symbol, arg_params, aux_params) of the network in an ONNX file."""
    model = read_model(model_file)
    return GraphProto().from_onnx(model)


def get_model_metadata(model_file):
    """Names and shapes: {"input_tensor_data": [(name, shape)], "output_tensor_data": [(name, shape)]}."""
    metadata = GraphProto().get_graph_metadata(read_model(model_file).graph)
    metadata["input_tensor_data"] = [entry[:2] for entry in metadata["input_tensor_data"]]
    return metadata
