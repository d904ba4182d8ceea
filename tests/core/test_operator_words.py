"""The meaning of an operator's parameters is written once, at the operator, and shown by every face and message."""

import pytest

import mxnet as mx
from mxnet._ops.registry import registry

# the operators that programs use most: every input and attribute of theirs has a meaning
COMMON = """
Activation BatchNorm Convolution Deconvolution Dropout Embedding FullyConnected InstanceNorm L2Normalization LayerNorm
LeakyReLU Pad Pooling RNN SequenceMask SliceChannel SoftmaxOutput SwapAxis argmax argmin argsort batch_dot
broadcast_add broadcast_div broadcast_maximum broadcast_mul broadcast_sub broadcast_to clip concat dot expand_dims
gather_nd log_softmax max mean min one_hot pick prod repeat reshape slice slice_axis softmax sort squeeze stack sum
take tile topk transpose where
""".split()


@pytest.mark.parametrize("name", COMMON)
def test_every_parameter_has_a_meaning(name):
    operator = registry.load()[name]
    names = [*operator.inputs, *([operator.variadic] if operator.variadic else []), *operator.attrs]
    assert [n for n in names if not operator.words()[1].get(n)] == []


def test_all_faces_show_the_meaning():
    for function in (mx.nd.Convolution, mx.sym.Convolution):
        assert "num_filter : int, required\n    Number of output channels." in function.__doc__
    assert "keepdims : boolean, optional, default=False\n    Whether reduced axes stay" in mx.nd.NDArray.sum.__doc__
    assert "lhs : array\n    The first input." in mx.nd.broadcast_add.__doc__


def test_messages_show_the_meaning_and_the_name_that_was_meant():
    with pytest.raises(mx.MXNetError) as error:
        mx.nd.Convolution(mx.nd.ones((1, 1, 3, 3)), num_filtr=3, kernel=(1, 1))
    said = str(error.value)
    assert "num_filter : int, required\n    Number of output channels." in said
    assert said.endswith("in operator Convolution. Did you mean num_filter?")


def test_an_operator_without_a_section_keeps_its_words():
    operator = registry.load()["erf"]
    assert operator.words() == (operator.doc, {})
