"""The inference works on ONNX Runtime and OpenVINO; the networks are those of `torch_works`, exported to ONNX."""

import os
import tempfile

import torch
import torch_works


def exported(net, data):
    """The path of the network as ONNX."""
    path = os.path.join(tempfile.mkdtemp(), "net.onnx")
    torch.onnx.export(net.eval(), (data,), path, dynamo=False, input_names=["data"])
    return path


def onnx_runtime(path, data, threads):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    given = {"data": data.numpy()}
    return lambda: session.run(None, given)


def openvino(path, data, threads):
    """In float32: left alone, OpenVINO computes in bfloat16 where the processor has it."""
    import openvino

    settings = {"INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": "f32", "PERFORMANCE_HINT": "LATENCY"}
    request = openvino.compile_model(path, "CPU", settings).create_infer_request()
    given = {"data": data.numpy()}
    return lambda: request.infer(given)


def encoder(layers):
    return torch.nn.Sequential(*[torch_works.EncoderLayer() for _ in range(layers)])


def works(engine, layers, threads):
    """name -> a function that prepares the work and returns one run of it."""

    def prepared(net, data):
        return engine(exported(net, data), data, threads)

    table = {
        f"{title} inference, batch {batch}": lambda t=title, b=batch: prepared(
            torch_works.zoo(t), torch_works.images(t, b)
        )
        for title in torch_works.ZOO
        for batch in (1, 8)
    }
    table["BERT encoder inference"] = lambda: prepared(encoder(layers), torch.randn(4, 128, 768))
    return table
