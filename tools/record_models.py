"""Record symbols of every age and Gluon, Module and list files: run it with MXNet 1.9.1's Python and a folder to fill.

Symbols of older versions are today's ones rewritten as those versions wrote them; MXNet 1.9.1 loads each of them here
and what it understands is what is expected.
"""

import json
import os
import pathlib
import subprocess
import sys
import warnings

import numpy as np

import mxnet as mx

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "formats"))

import model_cases  # noqa: E402

warnings.simplefilter("ignore")
AGES = [("0.7.0", None), ("0.8.0", None), ("0.9.5", 905), ("0.11.0", 1100), ("1.0.0", 10000), ("1.5.0", 10500)]
EXPECTED = {}


def described(value):
    array = np.array(value, order="C")
    return {"dtype": array.dtype.name, "shape": list(array.shape), "bytes": array.tobytes().hex()}


def _before_nnvm(graph):
    """As 0.7 and 0.8 wrote: parameters apart from attributes, no auxiliary states among the nodes, no versions."""
    aux = {i for node in graph["nodes"] if node["op"] == "BatchNorm" for i, _, _ in node["inputs"][3:]}
    places = {old: new for new, old in enumerate(i for i in range(len(graph["nodes"])) if i not in aux)}
    nodes = []
    for old in places:
        node = graph["nodes"][old]
        attrs = node.get("attrs", {})
        hidden = {key.strip("_"): value for key, value in attrs.items() if key.startswith("__")}
        made = {"op": node["op"], "param": {k: v for k, v in attrs.items() if not k.startswith("__")},
                "name": node["name"], "inputs": [[places[i], o] for i, o, _ in node["inputs"] if i not in aux],
                "backward_source_id": -1}  # fmt: skip
        nodes.append({**made, "attr": hidden} if hidden else made)
    return {"nodes": nodes, "arg_nodes": [places[i] for i in graph["arg_nodes"] if i in places],
            "heads": [[places[i], o] for i, o, _ in graph["heads"]]}  # fmt: skip


def _after_nnvm(graph, version):
    """From 0.9 on: one set of attributes, called `attr` until 1.0, and the version of the writer."""
    key = "attr" if version < 10000 else "attrs"
    nodes = [{**{k: v for k, v in node.items() if k != "attrs"}, **({key: node["attrs"]} if "attrs" in node else {})}
             for node in graph["nodes"]]  # fmt: skip
    return {**graph, "nodes": nodes, "attrs": {"mxnet_version": ["int", version]}}


def symbols(folder):
    for name, (make, shape) in model_cases.SYMBOLS.items():
        text = make(mx).tojson()
        texts = {"1.9.1": text}
        for age, version in AGES:
            old = _before_nnvm(json.loads(text)) if version is None else _after_nnvm(json.loads(text), version)
            if age == "0.7.0":  # it had no word for where a node's gradient comes from
                for node in old["nodes"]:
                    node.pop("backward_source_id")
            texts[age] = json.dumps(old, indent=2)
        for age, written in texts.items():
            file_name = f"{name}-{age}-symbol.json"
            with open(os.path.join(folder, file_name), "w", encoding="utf-8") as file:
                file.write(written)
            loaded = mx.sym.load(os.path.join(folder, file_name))
            EXPECTED[file_name] = {
                "kind": "symbol", "case": name, "arguments": loaded.list_arguments(), "outputs": loaded.list_outputs(),
                "states": loaded.list_auxiliary_states(), "attributes": loaded.attr_dict(), "json": loaded.tojson(),
                "answers": [described(a) for a in model_cases.answers(mx, loaded, shape)]}  # fmt: skip


def nets(folder):
    for name in model_cases.NETS:
        net, data = model_cases.filled(mx, name)
        answer = described(net(data).asnumpy())
        ways = model_cases.ways(net)
        for way, (save, _) in ways.items():
            if way != "once" or name == "shared":
                file_name = f"{name}-{way}.params"
                save(os.path.join(folder, file_name))
                keys = list(mx.nd.load(os.path.join(folder, file_name)))
                EXPECTED[file_name] = {"kind": "net", "case": name, "way": way, "keys": keys, "answer": answer}
        net.hybridize()
        net(data)
        net.export(os.path.join(folder, name), epoch=7)
        keys = list(mx.nd.load(os.path.join(folder, f"{name}-0007.params")))
        EXPECTED[f"{name}-0007.params"] = {"kind": "exported", "case": name, "keys": keys, "answer": answer}
        EXPECTED[f"{name}-symbol.json"] = {"kind": "exported symbol", "case": name}


def module(folder):
    make, shape = model_cases.SYMBOLS["perceptron"]
    trained = mx.mod.Module(make(mx))
    trained.bind([("data", shape)], [("softmax_label", shape[:1])])
    trained.init_params(mx.init.One())
    trained.set_params({k: mx.nd.array(model_cases.numbers(v.shape, i))
                        for i, (k, v) in enumerate(sorted(trained.get_params()[0].items()))}, {})  # fmt: skip
    trained.init_optimizer(optimizer="adam", kvstore=None, optimizer_params={"learning_rate": 0.1})
    for _ in range(2):
        trained.forward_backward(model_cases.batch(mx))
        trained.update()
    trained.save_checkpoint(os.path.join(folder, "module"), 2, save_optimizer_states=True)
    resumed = model_cases.resumed(mx, os.path.join(folder, "module"))
    after = {name: described(value.asnumpy()) for name, value in resumed.get_params()[0].items()}
    EXPECTED["module-0002.params"] = {"kind": "module", "after": after}
    EXPECTED["module-0002.states"] = EXPECTED["module-symbol.json"] = {"kind": "module file"}


def lists(folder, im2rec):
    """A list as MXNet's own im2rec writes it, and one with several labels."""
    images = os.path.join(folder, "pictures")
    for place, kind in enumerate(("cats", "dogs")):
        os.makedirs(os.path.join(images, kind))
        for number in range(2):
            picture = np.full((4, 4, 3), 60 * place + 20 * number + 10, np.uint8)
            with open(os.path.join(images, kind, f"{number}.png"), "wb") as file:
                import cv2

                file.write(cv2.imencode(".png", picture)[1].tobytes())
    command = [
        sys.executable,
        im2rec,
        os.path.join(folder, "pictures"),
        images,
        "--list",
        "--recursive",
        "--no-shuffle",
    ]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    with open(os.path.join(folder, "several.lst"), "w", encoding="utf-8") as file:
        file.write("5\t1.0\t2.5\tcats/0.png\n9\t-3.0\t0.0\tdogs/1.png\n")
    for name, width in (("pictures.lst", 1), ("several.lst", 2)):
        path = os.path.join(folder, name)
        reader = mx.image.ImageIter(2, (3, 4, 4), path_imglist=path, path_root=images, label_width=width)
        batches = [(b.label[0].asnumpy(), b.data[0].asnumpy()) for b in reader]
        EXPECTED[name] = {"kind": "list", "width": width,
                          "labels": [described(label) for label, _ in batches],
                          "data": [described(data) for _, data in batches]}  # fmt: skip


def main(folder, im2rec):
    os.makedirs(folder, exist_ok=True)
    symbols(folder)
    nets(folder)
    module(folder)
    lists(folder, im2rec)
    with open(os.path.join(folder, "expected.json"), "w", encoding="utf-8") as file:
        json.dump(EXPECTED, file, indent=0, sort_keys=True)
    print(len(EXPECTED), "files")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
