"""The mistakes users make most, and the words they get: shapes, names and what to do. docs/messages.md shows them."""

import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, gluon, nd, sym
from mxnet.gluon import nn

DOCS = Path(__file__).parents[1] / "docs"


def dense(**names):
    net = nn.Dense(3, in_units=4, **names)
    net.initialize()
    return net


def variable():
    x = nd.ones((2,))
    x.attach_grad()
    return x


def data_elsewhere():
    dense(prefix="net_")(nd.ones((2, 4), ctx=mx.cpu(1)))


def not_initialized():
    nn.Dense(3, prefix="net_")(nd.ones((2, 4)))


def touched_early():
    net = nn.Dense(3, prefix="net_")
    net.initialize()
    net.weight.data()


def other_input_size():
    dense()(nd.ones((2, 5)))


def pictures_with_channels_last():
    net = nn.Conv2D(8, 3, in_channels=3)
    net.initialize()
    net(nd.ones((2, 32, 32, 3)))


def mixed_dtypes():
    dense()(nd.ones((2, 4), dtype="float64"))


def numpy_into_a_network():
    dense()(np.ones((2, 4)))


def written_while_recording():
    x = variable()
    with autograd.record():
        y = x * 2
        y[0] = 3


def nothing_recorded():
    dense()(nd.ones((2, 4))).backward()


def backward_twice():
    x = variable()
    with autograd.record():
        y = x * 2
    y.backward()
    y.backward()


def step_without_backward():
    gluon.Trainer(dense(prefix="net_").collect_params(), "sgd").step(1)


def parameter_missing_in_file():
    net = dense(prefix="net_")
    nd.save("net.params", {"weight": net.weight.data()})
    net.load_parameters("net.params")


def parameter_of_another_shape():
    other = nn.Dense(3, in_units=5, prefix="net_")
    other.initialize()
    other.save_parameters("net.params")
    dense(prefix="net_").load_parameters("net.params")


def another_prefix():
    dense(prefix="first_").collect_params().save("net.params")
    dense(prefix="second_").collect_params().load("net.params")


def no_such_file():
    dense().load_parameters("nowhere.params")


def label_of_another_length():
    gluon.loss.SoftmaxCrossEntropyLoss()(nd.ones((4, 3)), nd.ones((5,)))


def label_of_another_shape():
    gluon.loss.L2Loss()(nd.ones((4, 3)), nd.ones((4, 2)))


def gpu_that_is_not_there():
    nd.ones((2,), ctx=mx.gpu(0))


def branch_on_a_symbol():
    class Net(nn.HybridBlock):
        def hybrid_forward(self, F, x):
            return x if x.sum() > 0 else -x

    net = Net()
    net.hybridize()
    net(nd.ones((2,)))


def shape_of_a_symbol():
    class Net(nn.HybridBlock):
        def hybrid_forward(self, F, x):
            return x.reshape((x.shape[0], -1))

    net = Net()
    net.hybridize()
    net(nd.ones((2, 3)))


def samples_of_different_shapes():
    list(gluon.data.DataLoader([nd.ones((2,)), nd.ones((3,))], 2))


def argument_misspelt():
    nd.FullyConnected(nd.ones((2, 3)), nd.ones((2, 3)), num_hiden=3)


def products_that_do_not_fit():
    nd.dot(nd.ones((2, 3)), nd.ones((4, 2)))


def scalar_of_many():
    nd.ones((2, 3)).asscalar()


def mixed_dtypes_in_a_graph():
    net = dense(prefix="net_")
    net.hybridize()
    net(nd.ones((2, 4), dtype="float64"))


def other_input_size_in_a_graph():
    net = dense(prefix="net_")
    net.hybridize()
    net(nd.ones((2, 4)))
    net(nd.ones((2, 5)))


def module_of_other_sizes():
    net = sym.SoftmaxOutput(sym.FullyConnected(sym.var("data"), num_hidden=3, name="fc"), name="softmax")
    module = mx.mod.Module(net)
    module.bind([("data", (2, 4))], [("softmax_label", (2,))])
    module.init_params(arg_params={"fc_weight": nd.ones((3, 5)), "fc_bias": nd.ones((3,))})


def module_lacks_a_parameter():
    net = sym.SoftmaxOutput(sym.FullyConnected(sym.var("data"), num_hidden=3, name="fc"), name="softmax")
    module = mx.mod.Module(net)
    module.bind([("data", (2, 4))], [("softmax_label", (2,))])
    module.init_params(arg_params={"fc_weight": nd.ones((3, 4))})


def module_with_another_name():
    mx.mod.Module(sym.FullyConnected(sym.var("x"), num_hidden=2, name="fc"))


def module_not_bound():
    net = sym.SoftmaxOutput(sym.FullyConnected(sym.var("data"), num_hidden=2), name="softmax")
    mx.mod.Module(net).forward(mx.io.DataBatch([nd.ones((2, 3))]))


def device_as_a_word():
    nd.ones((2, 3), ctx="gpu")


def super_forgotten():
    class Net(nn.Block):
        def __init__(self):
            self.dense = nn.Dense(3)

    Net()


def constant_in_a_hybrid_block():
    class Shifted(nn.HybridBlock):
        def hybrid_forward(self, F, x):
            return F.broadcast_add(x, nd.ones((1, 3)))

    net = Shifted()
    net.hybridize()
    net(nd.ones((2, 3)))


def sequence_without_a_batch():
    net = gluon.rnn.LSTM(8)
    net.initialize()
    net(nd.ones((5, 4)))


def metric_misspelt():
    mx.metric.create("acuracy")


def pictures_of_other_channels():
    net = nn.BatchNorm(in_channels=3)
    net.initialize()
    net(nd.ones((2, 4, 8, 8)))


def argument_of_another_library():
    mx.optimizer.create("sgd", lr=0.1)


def misspelt_optimizer():
    mx.optimizer.create("adm")


def misspelt_operator_argument():
    nd.Dropout(nd.ones((2, 2)), axis=(0,))


def one_hot_labels():
    labels = nd.one_hot(nd.array([0, 2]), 3)
    gluon.loss.SoftmaxCrossEntropyLoss()(nd.ones((2, 3)), labels)


def layer_argument_misspelt():
    nn.Dense(3, activaton="relu")


def layer_argument_of_the_operator():
    nn.Conv2D(8, kernel=3)


def optimizer_argument_for_the_trainer():
    gluon.Trainer(dense().collect_params(), "sgd", learning_rate=0.1)


def metric_argument_of_another_library():
    mx.metric.TopKAccuracy(k=5)


def initializer_argument_misspelt():
    mx.init.Xavier(magnitud=2)


def initializer_misspelt():
    nn.Dense(3, in_units=4, weight_initializer="xavir").initialize()


def kvstore_misspelt():
    mx.kv.create("locl")


def layers_for_the_constructor():
    nn.HybridSequential(nn.Dense(2))


def activation_misspelt():
    nn.Activation("rleu")(nd.ones((2,)))


def data_type_misspelt():
    nd.ones((2,)).astype("flaot32")


def sample_that_cannot_be_read():
    class Pictures(gluon.data.Dataset):
        def __len__(self):
            return 4

        def __getitem__(self, index):
            if index == 3:
                raise ValueError("the picture is damaged")
            return index

    list(gluon.data.DataLoader(Pictures(), batch_size=2))


def loader_without_a_batch_size():
    gluon.data.DataLoader([1, 2, 3])


def label_with_another_name():
    net = sym.SoftmaxOutput(sym.FullyConnected(sym.var("data"), num_hidden=2, name="fc"), name="out")
    mx.mod.Module(net)


def fit_without_labels():
    net = sym.SoftmaxOutput(sym.FullyConnected(sym.var("data"), num_hidden=2, name="fc"), name="softmax")
    batches = mx.io.NDArrayIter(np.ones((4, 3)), batch_size=2)
    mx.mod.Module(net).fit(batches, num_epoch=1)


def fit_without_epochs():
    net = sym.SoftmaxOutput(sym.FullyConnected(sym.var("data"), num_hidden=2, name="fc"), name="softmax")
    batches = mx.io.NDArrayIter(np.ones((4, 3)), np.ones(4), batch_size=2)
    mx.mod.Module(net).fit(batches)


def rows_of_different_lengths():
    nd.array([[1, 2], [3]])


def numpy_beside_an_array():
    nd.ones((2, 3)) + np.ones((2, 3))


def shapes_that_do_not_broadcast():
    nd.ones((2, 3)) + nd.ones((2, 4))


def shapes_that_cannot_be_joined():
    nd.concat(nd.ones((2, 3)), nd.ones((2, 4)), dim=0)


def another_number_of_elements():
    nd.ones((2, 3)).reshape((4, 2))


def index_out_of_range():
    nd.ones((2, 3))[5]


def picture_smaller_than_the_kernel():
    net = nn.Conv2D(4, 5, in_channels=3)
    net.initialize()
    net(nd.ones((1, 3, 4, 4)))


def exported_before_the_first_batch():
    net = dense()
    net.hybridize()
    net.export("net")


def gradient_of_a_frozen_parameter():
    net = dense(prefix="net_")
    net.collect_params().setattr("grad_req", "null")
    net.weight.grad()


def batch_that_cannot_be_divided():
    gluon.utils.split_and_load(nd.ones((5, 2)), [mx.cpu(0), mx.cpu(1)])


def bound_without_shapes():
    sym.FullyConnected(sym.var("data"), num_hidden=2, name="fc").simple_bind(mx.cpu())


# mistake -> (type, words that must be in the message)
def one_state_for_an_lstm():
    lstm = gluon.rnn.LSTM(8)
    lstm.initialize()
    lstm(nd.ones((5, 2, 3)), nd.zeros((1, 2, 8)))


def arrays_without_a_tuple():
    mx.np.concatenate(mx.np.ones((2,)), mx.np.ones((2,)))


def written_into_a_symbol():
    class Net(nn.HybridBlock):
        def hybrid_forward(self, F, x):
            x[0] = 1
            return x

    net = Net()
    net.hybridize()
    net(nd.ones((2, 3)))


def array_beside_a_symbol():
    sym.var("x") + nd.ones((2,))


def bound_with_a_misspelt_name():
    net = sym.FullyConnected(sym.var("data"), num_hidden=3, name="fc")
    net.simple_bind(mx.cpu(), dta=(2, 4))


def file_of_another_network():
    dense(prefix="small_").save_parameters("net.params")
    net = nn.HybridSequential(prefix="large_")
    net.add(nn.Dense(3, prefix="first_"))
    net.load_parameters("net.params")


def weights_initializer_for_a_bias():
    nn.Dense(3, in_units=4, bias_initializer=mx.init.Xavier(), prefix="net_").initialize()


MISTAKES = {
    layer_argument_misspelt: (TypeError, ["Dense.__init__()", "'activaton'; did you mean activation?"]),
    layer_argument_of_the_operator: (TypeError, ["missing", "no argument is called kernel; did you mean kernel_size?"]),
    optimizer_argument_for_the_trainer: (
        TypeError,
        ["'learning_rate'", "Trainer(params, 'sgd', {'learning_rate': 0.1})"],
    ),
    metric_argument_of_another_library: (TypeError, ["TopKAccuracy.__init__()", "'k'; did you mean top_k?"]),
    initializer_argument_misspelt: (TypeError, ["Xavier.__init__()", "'magnitud'; did you mean magnitude?"]),
    initializer_misspelt: (AssertionError, ["xavir is not registered", "did you mean xavier?"]),
    kvstore_misspelt: (UserWarning, ["'locl' is no kind of key-value store", "did you mean local?"]),
    layers_for_the_constructor: (TypeError, ["prefix must be a str, got Dense", "by its method add"]),
    activation_misspelt: (mx.MXNetError, ["Invalid Input: 'rleu'", "did you mean 'relu'?"]),
    data_type_misspelt: (TypeError, ["'flaot32' is not a data type", "did you mean float32?"]),
    sample_that_cannot_be_read: (ValueError, ["the picture is damaged", "while reading sample 3 of Pictures"]),
    loader_without_a_batch_size: (ValueError, ["batch_size must be specified"]),
    label_with_another_name: (UserWarning, ["label_names=['softmax_label']", "Did you mean one of", "out_label"]),
    fit_without_labels: (UserWarning, ["label_names", "['softmax_label']", "name them alike: label_name="]),
    fit_without_epochs: (AssertionError, ["please specify number of epochs", "num_epoch=10"]),
    rows_of_different_lengths: (TypeError, ["must be array like", "rows of different lengths, 1 and 2", "pad them"]),
    numpy_beside_an_array: (TypeError, ["numpy.ndarray'> not supported", "mx.nd.array"]),
    shapes_that_do_not_broadcast: (
        mx.MXNetError,
        ["broadcast together with shapes [2,3] [2,4]", "two sizes must be equal or one of them 1", "lhs: (2, 3)"],
    ),
    shapes_that_cannot_be_joined: (
        mx.MXNetError,
        ["Concat", "axis 0 must agree on every other axis", "data[1]: (2, 4)"],
    ),
    another_number_of_elements: (mx.MXNetError, ["(2, 3) cannot become (4, 2)"]),
    index_out_of_range: (IndexError, ["index 5 is out of bounds for axis 0 with size 2"]),
    picture_smaller_than_the_kernel: (
        mx.MXNetError,
        ["the picture of (4, 4) is smaller than the kernel of (5, 5)", "add padding"],
    ),
    exported_before_the_first_batch: (
        RuntimeError,
        ["run forward with this block at least once before calling export"],
    ),
    gradient_of_a_frozen_parameter: (RuntimeError, ["Parameter 'net_weight'", "grad_req='null'"]),
    batch_that_cannot_be_divided: (ValueError, ["(5, 2) cannot be evenly split into 2", "even_split=False"]),
    bound_without_shapes: (RuntimeError, ["simple_bind error", "data: None"]),
    argument_of_another_library: (TypeError, ["'lr'; did you mean learning_rate?"]),
    misspelt_optimizer: (ValueError, ["Cannot find optimizer adm; did you mean adam"]),
    misspelt_operator_argument: (
        mx.MXNetError,
        ["Cannot find argument 'axis'", "Axes along which", "Did you mean axes?"],
    ),
    one_hot_labels: (mx.MXNetError, ["shape (2, 3)", "One-hot labels need", "sparse_label=False"]),
    data_elsewhere: (
        RuntimeError,
        ["net_weight", "not initialized on context cpu(1)", "only initialized on [cpu(0)]", "x.as_in_context"],
    ),
    not_initialized: (RuntimeError, ["net_weight", "has not been initialized", "Call initialize() on the network"]),
    touched_early: (
        gluon.parameter.DeferredInitializationError,
        ["net_weight", "initialization was deferred", "pass one batch of data", "in_units", "Dense"],
    ),
    other_input_size: (
        mx.MXNetError,
        ["FullyConnected", "(2, 5) float32 @cpu(0)", "Provided = [3,4], inferred shape=(3,5)", "make a new layer"],
    ),
    pictures_with_channels_last: (
        mx.MXNetError,
        ["Convolution", "made for 3 channels, and the data has 32", "layout is NCHW", "need a transpose"],
    ),
    mixed_dtypes: (
        mx.MXNetError,
        ["expected float64, got float32", "(3, 4) float32", "convert one of them with astype"],
    ),
    numpy_into_a_network: (ValueError, ["one NDArray or one Symbol", "Got: ndarray", "mx.nd.array"]),
    written_while_recording: (
        mx.MXNetError,
        ["already in a computational graph", "y[idx]=x", "inside a record section"],
    ),
    nothing_recorded: (
        mx.MXNetError,
        ["not in a computational graph", "compute the loss inside `with autograd.record():`"],
    ),
    backward_twice: (mx.MXNetError, ["retain_graph=True", "backward has already run on this graph"]),
    step_without_backward: (
        UserWarning,
        ["net_", "has not been updated by backward", "ignore_stale_grad=True", "loss.backward() was not called"],
    ),
    parameter_missing_in_file: (AssertionError, ["'bias' is missing in file: net.params", "'net_weight'"]),
    parameter_of_another_shape: (
        AssertionError,
        ["net_weight", "expected (3, 4) vs saved (3, 5)", "build it with the same ones"],
    ),
    another_prefix: (AssertionError, ["'second_weight' is missing", "'first_weight'", "same prefix"]),
    no_such_file: (mx.MXNetError, ["nowhere.params", "No such file or directory", "has no .params file"]),
    label_of_another_length: (mx.MXNetError, ["label of shape (5,)", "prediction of shape (4, 3)"]),
    label_of_another_shape: (mx.MXNetError, ["label of shape (4, 2)", "prediction of shape (4, 3)"]),
    gpu_that_is_not_there: (mx.MXNetError, ["gpu(0) is not available", "mx.cpu()", "MXNET_VIRTUAL_GPUS"]),
    branch_on_a_symbol: (mx.MXNetError, ["__bool__", "not implemented for Symbol", "F.where", "do not hybridize"]),
    shape_of_a_symbol: (AttributeError, ["'Symbol' object has no attribute 'shape'", "F.reshape", "F.shape_array"]),
    samples_of_different_shapes: (mx.MXNetError, ["sample 0 has (2,), sample 1 has (3,)", "batchify.Pad()"]),
    argument_misspelt: (mx.MXNetError, ["Cannot find argument 'num_hiden'", "num_hidden : int, required"]),
    products_that_do_not_fit: (mx.MXNetError, ["dot shape error: [2,3] X [4,2]", "transpose_a"]),
    scalar_of_many: (ValueError, ["not a scalar", "(2, 3)", "asnumpy()"]),
    mixed_dtypes_in_a_graph: (mx.MXNetError, ["net_fwd", "expected float64, got float32", "x.astype, or net.cast"]),
    other_input_size_in_a_graph: (
        mx.MXNetError,
        ["net_fwd", "(2, 5) float32", "Provided = [3,4], inferred shape=(3,5)", "make a new layer"],
    ),
    module_of_other_sizes: (mx.MXNetError, ["fc_weight", "(3, 5)", "(3, 4)", "of another network"]),
    module_lacks_a_parameter: (RuntimeError, ["fc_bias is not presented", "allow_missing=True initializes it"]),
    module_with_another_name: (ValueError, ["data_names=['data']", "not found in symbol.list_arguments()", "x"]),
    module_not_bound: (AssertionError, ["call bind, then init_params"]),
    device_as_a_word: (mx.MXNetError, ["Invalid context string gpu", "mx.cpu(), mx.gpu(0)"]),
    super_forgotten: (AttributeError, ["'Net' object has no attribute '_children'", "call super().__init__() first"]),
    constant_in_a_hybrid_block: (
        AssertionError,
        ["Argument rhs must be Symbol instances", "NDArray 1x3", "self.params.get_constant"],
    ),
    sequence_without_a_batch: (
        ValueError,
        ["rank-3 tensor of dim [sequence length, batch size, input size]", "got shape (5, 4)"],
    ),
    metric_misspelt: (AssertionError, ["acuracy is not registered", "did you mean accuracy"]),
    pictures_of_other_channels: (
        mx.MXNetError,
        ["BatchNorm", "made for 3 channels on axis 1, and the data has 4"],
    ),
    one_state_for_an_lstm: (mx.MXNetError, ["LSTM has 2 states, got 1", "begin_state(batch_size)"]),
    arrays_without_a_tuple: (TypeError, ["axis must be an int or None, got an array", "np.concatenate((a, b))"]),
    written_into_a_symbol: (TypeError, ["'Symbol' object does not support item assignment", "F.where"]),
    array_beside_a_symbol: (TypeError, ["NDArray'> not supported", "mx.sym.Variable", "self.params.get_constant"]),
    bound_with_a_misspelt_name: (RuntimeError, ["data: None", "no argument 'dta'; did you mean data?"]),
    file_of_another_network: (AssertionError, ["does not start with 'large_'", "'weight'", "build the same network"]),
    weights_initializer_for_a_bias: (ValueError, ["vector net_bias", "bias_initializer='zeros'"]),
}


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MXNET_VIRTUAL_GPUS", raising=False)


def said_by(mistake, kind=Exception):
    """What the mistake raises, with the notes that were added to it; warnings count as errors."""
    with warnings.catch_warnings(), pytest.raises(kind) as failure:
        warnings.simplefilter("error", UserWarning)
        mistake()
    return "\n".join([str(failure.value), *getattr(failure.value, "__notes__", ())])


def test_there_are_sixty_mistakes():
    assert len(MISTAKES) >= 60


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.__name__)
def test_no_other_traceback_comes_before(mistake):
    """Nobody wants to read what torch said first: our message repeats it."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        try:
            mistake()
        except Exception as error:  # its class is tested above
            assert error.__cause__ is None and (error.__context__ is None or error.__suppress_context__)


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.__name__)
def test_the_message_says_what_happened_and_what_to_do(mistake):
    if mistake is gpu_that_is_not_there and mx.context.num_gpus():
        pytest.skip("there is a GPU")
    kind, words = MISTAKES[mistake]
    said = said_by(mistake, kind)
    assert [word for word in words if word not in said] == []


@pytest.mark.parametrize("name", ["messages.md", "zh/messages.md"])
def test_the_page_shows_every_mistake_with_its_words(name):
    page = (DOCS / name).read_text(encoding="utf-8")
    sections = re.findall(r"^## [^\n]*\n(.*?)(?=^## |\Z)", page, re.M | re.S)
    flat = [" ".join(section.split()) for section in sections]
    for mistake, (_, words) in MISTAKES.items():
        assert any(all(word in section for word in words) for section in flat), mistake.__name__


def wrong_key_of_an_index():
    writer = mx.recordio.MXIndexedRecordIO("a.idx", "a.rec", "w")
    writer.write_idx(0, b"a")
    writer.close()
    mx.recordio.MXIndexedRecordIO("a.idx", "a.rec", "r").read_idx(5)


def states_that_are_none():
    Path("net.states").write_bytes(b"zzzz")
    gluon.Trainer(dense().collect_params(), "sgd").load_states("net.states")


# mistakes that are too rare for the page
RARER = {
    "parameter of a trainer": (
        RuntimeError,
        "has not been initialized. Call initialize",
        lambda: gluon.Trainer(nn.Dense(2).collect_params(), "sgd").step(1),
    ),
    "three classes": (
        ValueError,
        "got more labels. .*mx.metric.PCC",
        lambda: mx.metric.F1().update([nd.array([0, 1, 2])], [nd.ones((3, 3))]),
    ),
    "arrays that are missing": (
        ValueError,
        "key `y` is missing in `args`, which lacks y, z. simple_bind",
        lambda: (sym.var("x") + sym.var("y") + sym.var("z")).bind(mx.cpu(), {"x": nd.ones(1)}),
    ),
    "output": (ValueError, 'name "b". The outputs are x; .*get_internals', lambda: sym.var("x")["b"]),
    "array in a graph": (AttributeError, "'array': mx.nd.array makes values at once", lambda: sym.array([1])),
    "rows of a loader": (
        ValueError,
        r"sample 0 has \(2,\), sample 1 has \(3,\)",
        lambda: list(gluon.data.DataLoader([np.ones(2), np.ones(3)], 2)),
    ),
    "parameter of an iterator": (
        mx.MXNetError,
        "data_shape of Shape.tuple. is not presented.* no parameter data_shpae: did you mean data_shape",
        lambda: mx.io.ImageRecordIter(path_imgrec="a.rec", data_shpae=(3, 4, 4), batch_size=2),
    ),
    "index": (KeyError, "^5 is not among the 1 keys of a.idx", wrong_key_of_an_index),
    "writer": (AssertionError, 'flag "w": reading needs "r"', lambda: mx.recordio.MXRecordIO("a.rec", "w").read()),
    "states": (mx.MXNetError, "^net.states: these are no optimizer states", states_that_are_none),
    "records": (
        mx.MXNetError,
        r'Open "b.rec": No such file .*has no .rec file',
        lambda: mx.recordio.MXRecordIO("b.rec", "r"),
    ),
    "rows": (
        mx.MXNetError,
        "b.csv: No such file .*no .csv file",
        lambda: mx.io.CSVIter(data_csv="b.csv", data_shape=(1,), batch_size=1),
    ),
    "parameter": (
        KeyError,
        "^'weight' is no parameter here; there are: 'net_",
        lambda: dense(prefix="net_").collect_params()["weight"],
    ),
    "set_data": (
        AssertionError,
        "Parameter net_weight .* cannot take it",
        lambda: dense(prefix="net_").weight.set_data(nd.ones(2)),
    ),
    "forward": (NotImplementedError, "Block has no method forward", lambda: nn.Block()(nd.ones(2))),
    "hybrid_forward": (
        NotImplementedError,
        "HybridBlock has no method hybrid_forward",
        lambda: nn.HybridBlock()(nd.ones(2)),
    ),
    "constructor": (TypeError, r"^Conv2D.__init__\(\) missing .* 'kernel_size'", lambda: nn.Conv2D(3)),
    "depth": (mx.MXNetError, "depth, must be a non-negative integer, got -1", lambda: nd.one_hot(nd.ones(2), depth=-1)),
    "initializer": (
        AssertionError,
        "xavierr is not registered.*did you mean xavier",
        lambda: mx.init.create("xavierr"),
    ),
    "truth": (ValueError, r"ambiguous. Its shape is \(2,\): reduce it", lambda: bool(nd.ones(2))),
    "index array": (TypeError, r"got shape \(2,\) and float32", lambda: [1, 2][nd.ones(2)]),
    "saved number": (TypeError, "dict str->NDArray or list of NDArray, got 3 of", lambda: nd.save("a", {"a": 3})),
    "saved tuple": (ValueError, "list of NDarrays, got <class 'tuple'>", lambda: nd.save("a", (nd.ones(1),))),
    "path": (TypeError, "fname required to be a string, got .*Path", lambda: nd.load(Path("a"))),
    "split": (ValueError, "axis 0 has size 5, in 2 sections", lambda: nd.split_v2(nd.ones(5), 2)),
    "csr": (
        ValueError,
        r"invalid shape: a csr array has two axes.* got \(3,\)",
        lambda: nd.sparse.csr_matrix(([1.0], [0], [0, 1]), shape=(3,)),
    ),
    "rows without a shape": (ValueError, "give shape=", lambda: nd.sparse.row_sparse_array((np.zeros((0, 2)), []))),
    "seed": (ValueError, "seed_state must be int, got <class 'str'>", lambda: mx.random.seed("3")),
    "scope": (ValueError, "need to be string, got lr=3", lambda: mx.AttrScope(lr=3)),
    "attribute": (ValueError, "string values, got depth=3", lambda: sym.var("x")._set_attr(depth=3)),
    "executor": (
        TypeError,
        "Unknown argument y; there are: x",
        lambda: sym.var("x").bind(mx.cpu(), [nd.ones(1)]).forward(y=nd.ones(1)),
    ),
    "one array": (TypeError, "args: Only accept list .*got .*NDArray", lambda: sym.var("x").bind(mx.cpu(), nd.ones(1))),
    "too few arrays": (
        ValueError,
        "1 arrays for x, y",
        lambda: (sym.var("x") + sym.var("y")).bind(mx.cpu(), [nd.ones(1)]),
    ),
    "no context": (TypeError, "Context type error: .* got 'cpu'", lambda: sym.var("x").bind("cpu", [nd.ones(1)])),
    "data set": (
        AssertionError,
        r"All arrays must have the same length, got \[2, 3\]",
        lambda: gluon.data.ArrayDataset([1, 2], [1, 2, 3]),
    ),
    "schedule": (
        ValueError,
        r"increasing integer list, got \[5, 2\]",
        lambda: mx.lr_scheduler.MultiFactorScheduler([5, 2]),
    ),
    "random type": (
        ValueError,
        "Unknown random type 'normal'; use uniform or gaussian",
        lambda: mx.init.Xavier("normal")._init_weight("w", nd.ones((2, 2))),
    ),
    "crop": (mx.MXNetError, r"3 \+ 4 vs. 5", lambda: nd.image.crop(nd.ones((5, 5, 3)), x=3, y=0, width=4, height=2)),
    "slice of a symbol": (TypeError, "integer index.*F.slice_axis", lambda: sym.var("x")[:, 1:]),
    "label of another shape": (
        ValueError,
        r"^Cannot reshape array of size 20 into shape \(4, 3\); the label of shape \(4, 5\) does not fit",
        lambda: gluon.loss.L2Loss()(nd.ones((4, 3)), nd.ones((4, 5))),
    ),
    "label of another name": (
        KeyError,
        "'softmax_label' is no input of the network, whose inputs are data, out_label. .*label_names=",
        lambda: labelled("out").bind([("data", (2, 3))], [("softmax_label", (2,))]),
    ),
    "matmul": (
        mx.MXNetError,
        r"matrices of shapes \(2, 3\) and \(4, 5\) cannot be multiplied: the inner sizes 3 and 4 differ",
        lambda: mx.np.matmul(mx.np.ones((2, 3)), mx.np.ones((4, 5))),
    ),
    "sum": (
        mx.MXNetError,
        "the sizes 3 and 4 of axis 1 differ, and neither is 1",
        lambda: nd.ones((2, 3)) + nd.ones((2, 4)),
    ),
    "joined": (
        mx.MXNetError,
        "input 1, counted from 0, has size 4 where input 0 has 3; only axis 0 may differ",
        lambda: nd.concat(nd.ones((2, 3)), nd.ones((3, 4)), dim=0),
    ),
    "contracted": (
        mx.MXNetError,
        "the sizes to sum over differ: 3 on axis -1 of the first input, 2 on axis -2 of the second",
        lambda: mx.np.dot(mx.np.ones((2, 3)), mx.np.ones((2, 3))),
    ),
    "einsum": (
        mx.MXNetError,
        "the letter j has size 3 first and size 2 in input 1, counted from 0",
        lambda: mx.np.einsum("ij,jk->ik", mx.np.ones((2, 3)), mx.np.ones((2, 3))),
    ),
    "channels": (
        mx.MXNetError,
        r"data of shape \[1, 5, 8, 8\] has 5 channels, the weight of shape \[2, 3, 3, 3\] with num_group=1 needs 3",
        lambda: nd.Convolution(nd.ones((1, 5, 8, 8)), nd.ones((2, 3, 3, 3)), kernel=(3, 3), num_filter=2, no_bias=True),
    ),
    "largest of nothing": (mx.MXNetError, "axis 0 has no elements", lambda: mx.np.max(mx.np.ones((0,)))),
    "bits of floats": (
        mx.MXNetError,
        "bitwise_and has no implementation for float32; convert the input with astype",
        lambda: mx.np.bitwise_and(mx.np.ones(2), mx.np.ones(2)),
    ),
    "determinant of integers": (
        mx.MXNetError,
        "the input must be of a floating-point type",
        lambda: mx.np.linalg.det(mx.np.eye(2, dtype="int32")),
    ),
    "product in a graph": (
        mx.MXNetError,
        r"(?s)dot0.*the inner sizes 3 and 4 differ.*dot shape error: \[2,3\] X \[4,5\]",
        lambda: sym.dot(sym.var("a"), sym.var("b"), name="dot0").infer_shape(a=(2, 3), b=(4, 5)),
    ),
    "axis that is not there": (
        mx.MXNetError,
        "axis 1 does not exist: the axes of the input are numbered from -1 to 0",
        lambda: mx.np.fliplr(mx.np.ones(2)),
    ),
    "channels of batch norm": (
        mx.MXNetError,
        "data with 4 channels does not fit gamma, beta and moving statistics of 3 elements",
        lambda: pictures_of_other_channels(),
    ),
    "values of a symbol": (
        mx.MXNetError,
        "asnumpy is not implemented for Symbol .* A symbol has no values yet: compute with its operators",
        lambda: sym.var("x").asnumpy(),
    ),
    "network for the trainer": (ValueError, r"Pass net.collect_params\(\)", lambda: gluon.Trainer(dense(), "sgd")),
    "symbol for nd": (AssertionError, "call mx.sym.relu on symbols", lambda: nd.relu(sym.var("x"))),
    "lengths of a metric": (
        ValueError,
        "labels 4 does not match shape of predictions 3: .* the same number of samples",
        lambda: mx.metric.Accuracy().update([nd.ones(4)], [nd.ones((3, 2))]),
    ),
    "input of an imported graph": (AssertionError, "no input 'dta'; did you mean data", lambda: imported("dta")),
    "F forgotten": (
        TypeError,
        "takes 2 positional arguments but 3 were given. It is called with self, F, 1 input: F is mx.nd",
        lambda: without_f()(nd.ones(2)),
    ),
    "sequential module": (
        AssertionError,
        "the module is not ready: call bind, then init_params",
        lambda: mx.mod.SequentialModule().forward(mx.io.DataBatch([nd.ones(1)])),
    ),
}


@pytest.mark.parametrize(("kind", "words", "mistake"), RARER.values(), ids=list(RARER))
def test_words_of_rarer_mistakes(kind, words, mistake):
    with pytest.raises(kind, match=words):
        mistake()


def labelled(name):
    """A module whose label has another name than the usual one, of which MXNet only warns."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return mx.mod.Module(sym.SoftmaxOutput(sym.var("data"), name=name))


def imported(name):
    net = dense()
    net.hybridize()
    net(nd.ones((1, 4)))
    net.export("net")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return gluon.SymbolBlock.imports("net-symbol.json", [name], "net-0000.params")


def without_f():
    class Net(nn.HybridBlock):
        def hybrid_forward(self, x):
            return x

    return Net()


def test_a_type_error_inside_hybrid_forward_stays_as_it_was():
    class Net(nn.HybridBlock):
        def hybrid_forward(self, F, x):
            return len(3)

    with pytest.raises(TypeError) as failure:
        Net()(nd.ones(2))
    assert str(failure.value) == "object of type 'int' has no len()"
    assert [entry.name for entry in failure.traceback][-1] == "hybrid_forward"


class Damaged(gluon.data.Dataset):
    """A data set whose last sample raises an error of its own."""

    def __len__(self):
        return 4

    def __getitem__(self, index):
        if index == 3:
            raise LookupError("the picture is damaged")
        return np.float32(index)


@pytest.mark.parametrize("workers", [{}, {"num_workers": 1, "thread_pool": True}, {"num_workers": 1}])
def test_an_error_of_a_data_set_comes_out_as_it_was_with_the_index_of_the_sample(workers):
    with pytest.raises(LookupError, match="the picture is damaged") as failure:
        list(gluon.data.DataLoader(Damaged(), batch_size=2, **workers))
    said = "\n".join([str(failure.value), *getattr(failure.value, "__notes__", ())])
    assert "while reading sample 3 of Damaged" in said


def test_a_module_without_a_name_lets_python_suggest_one():
    """Python shows "Did you mean: 'softmax'?" by these two when the error reaches the user."""
    for space, wrong, meant in (
        (nd, "sofmax", "softmax"),
        (sym, "FullyConected", "FullyConnected"),
        (mx, "gloun", "gluon"),
    ):
        with pytest.raises(AttributeError, match=wrong) as failure:
            getattr(space, wrong)
        assert failure.value.name == wrong and meant in dir(failure.value.obj)


def test_classes_of_a_program_are_left_alone():
    """A program's own class may take any keyword out of `**kwargs`; its errors are Python's, or those of its base."""

    class Net(nn.HybridBlock):
        def __init__(self, **kwargs):
            self.depth = kwargs.pop("depth")
            super().__init__(**kwargs)

    assert Net(depth=3).depth == 3
    with pytest.raises(
        TypeError, match="Net.__init__.. got an unexpected keyword argument 'prefx'; did you mean prefix"
    ):
        Net(depth=3, prefx="net_")
