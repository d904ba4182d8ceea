"""The registry of operators: what a function's signature declares, and what calls of it may say."""

import pytest

from mxnet._ops.registry import discovery, registry, signature
from mxnet._ops.registry.shape_rules import bracket, fill_same, merge, open_bracket, real_axis
from mxnet.base import MXNetError


@pytest.fixture
def op(monkeypatch):
    """Register operators in a registry of the test's own."""
    monkeypatch.setattr(registry, "REGISTRY", {})
    return registry.op


@pytest.fixture
def scale(op):
    @op("Scale", "scale")
    def scaled(data, weight, bias=None, *, factor: float, count: int = 3, _train: bool = False):
        """Multiply data.

        Parameters
        ----------
        data
            What is multiplied,
            line by line.
        factor
            By how much.
        """

    return registry.REGISTRY["Scale"]


def test_a_signature_declares_inputs_and_attributes(scale):
    assert scale.inputs == ("data", "weight", "bias") and scale.optional == {"bias"}
    assert list(scale.attrs) == ["factor", "count"] and scale.injected == ("_train",)
    assert scale.attrs["factor"].required and not scale.attrs["count"].required
    assert scale.defaults == {"count": 3} and scale.variadic is None and not scale.free
    assert repr(scale) == "<operator Scale>" and scale.name == "Scale" and scale.names == ("Scale", "scale")


def test_the_module_of_an_operator_is_known():
    assert registry.find("FullyConnected").module == "nn.fully_connected"


def test_any_number_of_inputs_and_attributes(op):
    @op("Join")
    def join(*data, num_args: int = 0, axis: int = 1):
        """Join."""

    @op("Free")
    def free(data, **attrs):
        """Free."""

    first, second = registry.REGISTRY["Join"], registry.REGISTRY["Free"]
    assert first.variadic == "data" and first.inputs == () and list(first.attrs) == ["num_args", "axis"]
    assert first.input_names({}, 2) == ("arg0", "arg1") == first.input_names({"num_args": 2})
    assert first.input_names({"num_args": 0}, 1) == ("arg0",) and not first.free
    assert (
        second.free
        and second.variadic is None
        and second.parse({"any": 3, "__name__": "x"})
        == {
            "any": "3",
            "__name__": "x",
        }
    )


def test_attributes_are_parsed(scale):
    assert scale.parse({"factor": "2.5", "count": 4}) == {"factor": 2.5, "count": 4}
    assert scale.full({"factor": 2.0}) == {"factor": 2.0, "count": 3}
    assert scale.parse({"factor": 1, "__layout__": "NCHW"}) == {"factor": 1.0}
    with pytest.raises(MXNetError, match="Required parameter factor of float is not presented, in operator Scale"):
        scale.parse({"count": 1})
    for key in ("facto", "__facto", "facto__"):
        with pytest.raises(MXNetError, match=rf"Cannot find argument '{key}', Possible Arguments:"):
            scale.parse({"factor": 1, key: 1})
    words = scale.unknown("factr")
    assert words.endswith(", in operator Scale. Did you mean factor?") and "    By how much." in words
    assert scale.unknown("weigth").endswith("Did you mean weight?")
    assert scale.unknown("zzz").endswith(", in operator Scale")


def test_an_operator_without_attributes_ignores_what_it_is_given(op):
    @op("Plain")
    def plain(data):
        """Plain."""

    assert registry.REGISTRY["Plain"].parse({"anything": 1}) == {}


def test_a_required_count_comes_from_the_inputs(op):
    @op("Stack", count="num_args")
    def stack(*data, num_args: int, axis: int):
        """Stack."""

    assert registry.REGISTRY["Stack"].parse({"axis": 1}) == {"axis": 1}
    with pytest.raises(MXNetError, match="Required parameter axis"):
        registry.REGISTRY["Stack"].parse({"num_args": 1})


def test_outputs(op):
    names = {}
    for number, (outputs, visible) in enumerate(
        [(1, None), (2, None), (("out", "mean"), 1), (lambda a: a["parts"], None), (3, lambda a: a["parts"])]
    ):

        @op(f"Op{number}", outputs=outputs, visible=visible, aux=lambda a: ("data",) * a["parts"])
        def split(data, *, parts: int = 2):
            """Split."""

        made = registry.REGISTRY[f"Op{number}"]
        names[number] = made.output_names({}), made.visible_outputs({}), made.visible_outputs({"parts": 1})
        assert made.aux_names({}) == ("data", "data") and made.aux_names({"parts": 1}) == ("data",)
    assert names == {
        0: (("output",), 1, 1),
        1: (("output0", "output1"), 2, 2),
        2: (("out", "mean"), 1, 1),
        3: (("output0", "output1"), 2, 1),
        4: (("output0", "output1", "output2"), 2, 1),
    }


def test_inputs_that_attributes_leave_out(op):
    @op("Dense", inputs=lambda attrs: ("data",) if attrs["no_bias"] else ("data", "bias"), aux=("bias",))
    def dense(data, bias=None, *, no_bias: bool = False):
        """Dense."""

    made = registry.REGISTRY["Dense"]
    assert made.input_names({}) == ("data", "bias") and made.input_names({"no_bias": True}) == ("data",)
    assert made.aux_names({}) == ("bias",)


def test_one_name_is_registered_once(scale, op):
    with pytest.raises(ValueError, match="operator scale is registered twice"):
        op("Other", "scale")(lambda data: data)


def test_operators_are_found_and_loaded_by_name(monkeypatch):
    assert registry.find("Convolution").name == "Convolution"
    assert registry.lookup("no_such_operator") is None and not registry.known("no_such_operator")
    with pytest.raises(MXNetError, match="Operator no_such_operator is not registered"):
        registry.find("no_such_operator")
    assert registry.known("topk") and "topk" in registry.names() and registry.names() == sorted(registry.names())
    loaded = []
    monkeypatch.setattr(discovery, "import_module", loaded.append)
    discovery.load("topk")
    assert loaded == ["mxnet._ops.array.sorting"]
    discovery.load("no_such_operator")
    assert len(loaded) > 40 and "mxnet._ops.nn.pooling" in loaded and not [n for n in loaded if ".registry" in n]


def test_every_known_operator_is_in_the_index_under_its_module():
    for name, operator in registry.load().items():
        assert discovery.KNOWN.get(name, operator.module) == operator.module


def test_generated_functions_are_described(scale):
    assert signature.parameters(scale, "name=None") == (
        "data=None, weight=None, bias=None, factor=_Null, count=_Null, name=None, **kwargs"
    )
    text = signature.docstring(scale)
    assert text.startswith(
        "Multiply data.\n\nParameters\n----------\ndata : array\n    What is multiplied, line by line."
    )
    assert "\nweight : array\nbias : array, optional\nfactor : " in text and text.endswith("Also known as scale.")


def test_generated_functions_of_any_number_of_arrays(op):
    @op("Join")
    def join(*data, axis: int = 1):
        pass

    made = registry.REGISTRY["Join"]
    assert signature.parameters(made, "out=None") == "*data, **kwargs"
    text = signature.docstring(made)
    assert text.startswith(
        "Operator Join.\n\nParameters\n----------\n*data : any number of arrays\n    The input.\naxis : "
    )
    assert "Also known as" not in text


def test_namespaces():
    assert signature.namespace("_contrib_fft") == ("contrib", "fft")
    assert signature.namespace("_random_normal") == ("random", "normal")
    assert signature.namespace("_plus") == ("_internal", "_plus") and signature.namespace("dot") == ("op", "dot")
    assert signature.names_in_namespace("linalg")["gemm"] == "_linalg_gemm"
    assert signature.names_in_namespace("sparse")["retain"] == "_sparse_retain"
    assert signature.names_in_namespace("sparse")["dot"] == "dot" and "dot" in signature.names_in_namespace("op")
    assert "fft" not in signature.names_in_namespace("linalg")


def test_axes():
    assert [real_axis(axis, 3) for axis in (-3, -1, 0, 2)] == [0, 2, 0, 2]
    for axis in (-4, 3):
        words = rf"axis {axis} exceeds the input dimension of 3: an input of 3 axes has -3 to 2"
        with pytest.raises(MXNetError, match=words):
            real_axis(axis, 3)


def test_partial_shapes():
    assert bracket((2, 3)) == "[2,3]" and open_bracket((0, 3)) == "[-1,3]"
    assert merge([]) is None and merge([None, ()]) is None or merge([None, ()]) == ()
    assert merge([None, (2, 0), None, (0, 3)]) == (2, 3) == merge([(2, 3), None])
    assert fill_same({}, [(2, 0), (0, 3)]) == [(2, 3), (2, 3)]
    for wrong in ((2, 4), (2, 3, 1), (1, 3)):
        with pytest.raises(MXNetError, match=r"expected \[2,3\], got \["):
            merge([(2, 3), wrong])
