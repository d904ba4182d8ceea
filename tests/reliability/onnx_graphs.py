"""ONNX graphs of any operators that the package knows, with attributes, constants and counts that nobody writes."""

import functools

import numpy as np

from .inputs import NUMBERS

_TEXTS = (b"", b"SAME_UPPER", b"VALID", b"NOTSET", b"linear", b"cubic", b"constant", b"reflect", b"none", b"add",
          b"x", b"reverse", b"bidirectional", b"DCR", b"half_pixel", b"ij,jk->ik", b"a" * 60 + b"->")  # fmt: skip
_REALS = (0.0, 1.0, -1.0, 0.5, 3.0, 1e10, 3.4e38, float("nan"), float("inf"))
_INTEGERS = (*(n for n in NUMBERS if n < 1 << 63), -1, -2, -(1 << 31), -(1 << 63))
_SHAPES = ((1, 3, 4, 4), (2, 3), (1, 4, 6), (1,), (2, 3, 4), ())


@functools.cache
def _schemas():
    """The newest definition of each operator."""
    import onnx

    return sorted({s.name: s for s in onnx.defs.get_all_schemas() if s.domain == ""}.items())


def _integers(rng):
    return [rng.choice((0, 1, 2, 3, -1) if rng.random() < 0.8 else _INTEGERS) for _ in range(rng.randrange(5))]


def _constant(rng, name):
    import onnx

    if rng.random() < 0.5:
        return onnx.numpy_helper.from_array(np.array(_integers(rng), np.int64), name)
    shape = tuple(rng.choice((0, 1, 1, 2, 3)) for _ in range(rng.randrange(5)))
    values = np.array([rng.choice(_REALS) for _ in range(int(np.prod(shape)))]).reshape(shape)
    return onnx.numpy_helper.from_array(values.astype(rng.choice((np.float32, np.float64))), name)


def _attribute(rng, name, kind):
    import onnx

    made = onnx.AttributeProto(name=name, type=kind)
    made.f, made.i, made.s = rng.choice(_REALS), rng.choice((0, 1, 2, *_INTEGERS)), rng.choice(_TEXTS)
    made.ints.extend(_integers(rng))
    made.floats.extend(rng.choice(_REALS) for _ in range(rng.randrange(4)))
    made.strings.extend(rng.choice((b"Tanh", b"Relu", b"x")) for _ in range(rng.randrange(3)))
    if kind == onnx.AttributeProto.TENSOR:
        made.t.CopyFrom(_constant(rng, "t"))
    return made


def _node(rng, number, names):
    import onnx

    name, schema = rng.choice(_schemas())
    count = rng.randrange(9) if rng.random() < 0.1 else rng.randint(min(schema.min_input, 6), min(schema.max_input, 6))
    outputs = [f"y{number}_{i}" for i in range(rng.choice((schema.min_output, 1, 2, 0 if rng.random() < 0.1 else 1)))]
    node = onnx.NodeProto(op_type=name, name=f"n{number}", input=rng.choices(names, k=count), output=outputs)
    for each in schema.attributes.values():
        if rng.random() < (0.9 if each.required else 0.4):
            node.attribute.append(_attribute(rng, each.name, each.type.value))
    return node


def generated(rng):
    """The bytes of a model."""
    import onnx

    model = onnx.ModelProto(ir_version=8)
    model.opset_import.add(domain="", version=rng.choice((17, 17, 13, 9, 21)))
    kind, shape = rng.choice((1, 1, 7, 10)), rng.choice(_SHAPES)
    model.graph.input.append(onnx.helper.make_tensor_value_info("x", kind, shape))
    model.graph.initializer.extend(_constant(rng, f"c{i}") for i in range(2))
    names = ["x", "c0", "c1"]
    for number in range(rng.choice((1, 1, 2, 4))):
        model.graph.node.append(_node(rng, number, names))
        names += model.graph.node[-1].output
    model.graph.output.add(name=names[-1])
    return model.SerializeToString()
