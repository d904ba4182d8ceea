"""`import_to_gluon`: an ONNX file as a block."""

from .import_onnx import GraphProto, read_model


def import_to_gluon(model_file, ctx):
    """A SymbolBlock with the network and its parameters, on `ctx`."""
    model = read_model(model_file)
    return GraphProto().graph_to_gluon(model, ctx)
