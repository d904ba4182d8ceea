"""A contestant of the benchmarks in a process of its own.

python benchmarks/worker.py PEER THREADS LAYERS

The first line that it prints lists its works. Then it reads `[name, rounds]` lines and answers with the seconds of the
runs, a JSON line each.
"""

import importlib
import json
import os
import sys


def _of_mxnet(layers, threads):
    import mx_works

    return {**mx_works.works(layers), **mx_works.small_parts()}


def _without_numba(layers, threads):
    sys.modules["numba"] = None  # importing it raises ImportError from now on
    import mx_works

    return mx_works.works(layers)


def _by_inductor(layers, threads):
    import mx_works

    return mx_works.inductor_works(layers)


def _of_torch(layers, threads):
    import torch_works

    return {**torch_works.works(layers), **torch_works.small_parts()}


def _of_torch_compile(layers, threads):
    import torch_works

    return torch_works.inference_works(layers, compiled=True)


def _exported(engine):
    def table(layers, threads):
        import exported_works

        return exported_works.works(getattr(exported_works, engine), layers, threads)

    return table


def _programs(layers, threads):
    import program_works

    return program_works.works()


PEERS = {
    "ReMX": _of_mxnet,
    "ReMX before": _of_mxnet,
    "ReMX without numba": _without_numba,
    "ReMX by inductor": _by_inductor,
    "torch": _of_torch,
    "torch.compile": _of_torch_compile,
    "ONNX Runtime": _exported("onnx_runtime"),
    "OpenVINO": _exported("openvino"),
    "MXNet": _of_mxnet,
    "programs": _programs,
}


def serve(table, out):
    """Answer requests until the input ends."""
    timing = importlib.import_module("timing")
    print(json.dumps(list(table)), file=out, flush=True)
    made = {}
    for line in sys.stdin:
        name, rounds = json.loads(line)
        if name not in made:
            made.clear()
            made[name] = table[name]()
        print(json.dumps(timing.burst(made[name], rounds)), file=out, flush=True)


def main(peer, threads, layers):
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is not an answer
    serve(PEERS[peer](int(layers), int(threads)), answers)


if __name__ == "__main__":
    main(*sys.argv[1:])
