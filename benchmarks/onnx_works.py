"""The inference works on ONNX Runtime; the networks are those of `torch_works`, exported."""

import os
import tempfile

import torch
import torch_works


def session(net, data, threads):
    """The exported network, ready to run."""
    import onnxruntime

    path = os.path.join(tempfile.mkdtemp(), "net.onnx")
    torch.onnx.export(net.eval(), (data,), path, dynamo=False, input_names=["data"])
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def inference(make, shape, threads):
    data = torch.randn(shape)
    runner = session(make(), data, threads)
    given = {"data": data.numpy()}
    return lambda: runner.run(None, given)


def encoder(layers):
    return torch.nn.Sequential(*[torch_works.EncoderLayer() for _ in range(layers)])


def works(layers, threads):
    """name -> a function that prepares the work and returns one run of it."""
    table = {
        f"{title} inference, batch {batch}": lambda t=title, b=batch: inference(
            torch_works.IMAGES[t], (b, 3, 224, 224), threads
        )
        for title in torch_works.IMAGES
        for batch in (1, 8)
    }
    table["BERT encoder inference"] = lambda: inference(lambda: encoder(layers), (4, 128, 768), threads)
    return table
