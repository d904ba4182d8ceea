"""From ONNX to MXNet."""
