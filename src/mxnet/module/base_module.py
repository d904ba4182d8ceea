"""The base of modules: loops for training, scoring and predicting over methods that subclasses define."""

import logging
import warnings
from typing import Any

from .._training.checkpoint import BatchEndParam, save_param_dicts, split_param_dict  # noqa: F401 - MXNet shows the first here
from .._training.given import as_descriptions
from ..base import _as_list  # noqa: F401 - MXNet shows it here, and modules of detectors take it
from ..context import cpu  # noqa: F401 - MXNet shows it here
from ..initializer import Uniform
from ..io import DataBatch, DataDesc, DataIter  # noqa: F401 - MXNet shows them here
from ..ndarray.utils import load_named
from ._loops import Loops

NOT_READY = "the module is not ready: call bind, then init_params, and init_optimizer before update; fit does all of it"
NO_INPUT_GRADS = "there are gradients of inputs after bind(…, inputs_need_grad=True), init_params and backward"
PARAMETER_ENDINGS = ("_weight", "_bias", "_gamma", "_beta")


def _complain(message, throw):
    if throw:
        raise ValueError(message)
    warnings.warn(message, stacklevel=3)


def _check_input_names(symbol, names, typename, throw):
    """Names given to a module must be arguments of its symbol."""
    arguments = symbol.list_arguments()
    for name in names:
        if name not in arguments:
            candidates = "\n\t".join(a for a in arguments if not a.endswith(PARAMETER_ENDINGS))
            _complain(
                f"\033[91mYou created Module with Module(..., {typename}_names={names}) but input with name "
                f"'{name}' is not found in symbol.list_arguments(). Did you mean one of:\n\t{candidates}\033[0m",
                throw,
            )


def _check_names_match(data_names, data_shapes, name, throw):
    if sorted(data_names) != sorted(x[0] for x in data_shapes):
        _complain(
            f"Data provided by {name}_shapes don't match names specified by {name}_names "
            f"({data_shapes} vs. {data_names}); name them alike: {name}_name= of the iterator, "
            f"{name}_names= of the Module",
            throw,
        )


def _parse_data_desc(data_names, label_names, data_shapes, label_shapes):
    """Shapes as `DataDesc`, their names checked."""
    data_shapes = as_descriptions(data_shapes)
    _check_names_match(data_names, data_shapes, "data", True)
    if label_shapes is not None:
        label_shapes = as_descriptions(label_shapes)
    _check_names_match(label_names, label_shapes or [], "label", False)
    return data_shapes, label_shapes


def shown(attribute, doc, bound=False):
    """A property that reads an attribute; if `bound`, only after `bind`."""

    def read(self):
        assert self.binded or not bound, NOT_READY
        return getattr(self, attribute)

    return property(read, doc=doc)


class BaseModule(Loops):
    """Base of all modules: the loops `fit`, `score` and `predict`, over methods that subclasses define.

    Subclasses define binding (`bind`, `init_params`, `init_optimizer`), computing (`forward`, `backward`,
    `get_outputs`, `get_input_grads`), updating (`update`, `update_metric`) and the properties that describe inputs and
    outputs. :class:`Module` is the usual one.

    Parameters
    ----------
    logger : logging.Logger or module
        Where progress is logged.

    Examples
    --------
    >>> data = mx.io.NDArrayIter(np.ones((4, 3)), np.array([0, 1, 0, 1]), batch_size=2)
    >>> net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2), name="softmax")
    >>> mod = mx.mod.Module(net)
    >>> mod.fit(data, num_epoch=1)
    >>> mod.predict(data).shape
    (4, 2)
    """

    binded = for_training = inputs_need_grad = params_initialized = optimizer_initialized = False
    _symbol, _total_exec_bytes = None, 0

    def __init__(self, logger=logging):
        self.logger = logger

    # ------------------------------------------------------------------ guards
    def _assert_bound(self):
        assert self.binded, NOT_READY

    def _assert_ready(self, optimizer=False):
        """Bound, with parameters and, to update them, an optimizer."""
        assert self.binded and self.params_initialized and (self.optimizer_initialized or not optimizer), NOT_READY

    def _assert_input_grads(self):
        assert self.binded and self.params_initialized and self.inputs_need_grad, NO_INPUT_GRADS

    def _reset_bind(self):
        self.binded = False

    def _begin_bind(self, force_rebind, for_training, inputs_need_grad):
        """Whether `bind` has something to do: a module that is bound stays so, unless it is forced."""
        if self.binded and not force_rebind:
            self.logger.warning("Already bound, ignoring bind()")
            return False
        if force_rebind:
            self._reset_bind()
        self.for_training, self.inputs_need_grad = for_training, inputs_need_grad
        return True

    def _keeps_optimizer(self, force_init):
        """Whether `init_optimizer` has nothing to do."""
        self._assert_ready()
        keeps = self.optimizer_initialized and not force_init
        if keeps:
            self.logger.warning("optimizer already initialized, ignoring.")
        return keeps

    # ------------------------------------------------------------------ what it is
    @property
    def data_names(self):
        """Names of the inputs, a list of str.

        Examples
        --------
        >>> mx.mod.Module(mx.sym.var("data") * 2, label_names=None).data_names
        ['data']
        """
        raise NotImplementedError

    @property
    def output_names(self):
        """Names of the outputs, a list of str.

        Examples
        --------
        >>> net = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc")
        >>> mx.mod.Module(net, label_names=None).output_names
        ['fc_output']
        """
        raise NotImplementedError

    @property
    def data_shapes(self):
        """Descriptions of the inputs, a list of DataDesc; known after `bind`.

        Examples
        --------
        >>> mod = mx.mod.Module(mx.sym.var("data") * 2, label_names=None)
        >>> mod.bind([("data", (4, 3))])
        >>> mod.data_shapes
        [DataDesc[data,(4, 3),<class 'numpy.float32'>,NCHW]]
        """
        raise NotImplementedError

    @property
    def label_shapes(self):
        """Descriptions of the labels, a list of DataDesc, or None without labels; known after `bind`.

        Examples
        --------
        >>> mod = mx.mod.Module(mx.sym.SoftmaxOutput(mx.sym.var("data"), name="softmax"))
        >>> mod.bind([("data", (4, 3))], [("softmax_label", (4,))])
        >>> mod.label_shapes
        [DataDesc[softmax_label,(4,),<class 'numpy.float32'>,NCHW]]
        """
        raise NotImplementedError

    @property
    def output_shapes(self):
        """Name and shape of each output, a list of pairs; known after `bind`.

        Examples
        --------
        >>> net = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc")
        >>> mod = mx.mod.Module(net, label_names=None)
        >>> mod.bind([("data", (4, 3))])
        >>> mod.output_shapes
        [('fc_output', (4, 2))]
        """
        raise NotImplementedError

    @property
    def symbol(self):
        """The symbol that the module computes.

        Examples
        --------
        >>> mx.mod.Module(mx.sym.var("data"), label_names=None).symbol
        <Symbol data>
        """
        return self._symbol

    # ------------------------------------------------------------------ parameters
    def get_params(self):
        """The parameters and auxiliary states.

        Returns
        -------
        (dict of str to NDArray, dict of str to NDArray)
            Arrays on the CPU.

        Examples
        --------
        >>> mod = mx.mod.Module(mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc"), label_names=None)
        >>> mod.bind([("data", (4, 3))])
        >>> mod.init_params(mx.init.One())
        >>> arg_params, aux_params = mod.get_params()
        >>> arg_params["fc_weight"].shape
        (2, 3)
        """
        raise NotImplementedError

    def init_params(
        self,
        initializer: Any = Uniform(0.01),
        arg_params=None,
        aux_params=None,
        allow_missing=False,
        force_init=False,
        allow_extra=False,
    ):
        """Give the parameters their first values.

        Parameters
        ----------
        initializer : Initializer
            Fills what is not given.
        arg_params, aux_params : dict of str to NDArray, optional
            Given values by name.
        allow_missing : bool
            Whether values may be missing among those given.
        force_init : bool
            Whether parameters that have values get new ones.
        allow_extra : bool
            Whether values of names that the module does not have are ignored.

        Examples
        --------
        >>> mod = mx.mod.Module(mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc"), label_names=None)
        >>> mod.bind([("data", (4, 3))])
        >>> mod.init_params(mx.init.Zero(), arg_params={"fc_weight": mx.nd.ones((2, 3))}, allow_missing=True)
        >>> mod.get_params()[0]["fc_weight"].asnumpy().tolist()
        [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]
        """
        raise NotImplementedError

    def set_params(self, arg_params, aux_params, allow_missing=False, force_init=True, allow_extra=False):
        """Set the parameters.

        Parameters
        ----------
        arg_params, aux_params : dict of str to NDArray
            Values by name.
        allow_missing : bool
            Whether parameters that are not given keep their values.
        force_init : bool
            Whether to overwrite parameters that have values.
        allow_extra : bool
            Whether values of names that the module does not have are ignored.

        Examples
        --------
        >>> mod = mx.mod.Module(mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc"), label_names=None)
        >>> mod.bind([("data", (4, 3))])
        >>> mod.set_params({"fc_weight": mx.nd.ones((2, 3)), "fc_bias": mx.nd.zeros((2,))}, {})
        >>> mod.get_params()[0]["fc_weight"].asnumpy().tolist()
        [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]
        """
        self.init_params(
            initializer=None,
            arg_params=arg_params,
            aux_params=aux_params,
            allow_missing=allow_missing,
            force_init=force_init,
            allow_extra=allow_extra,
        )

    def save_params(self, fname):
        """Write parameters and auxiliary states to a file that `load_params` reads.

        Parameters
        ----------
        fname : str
            Path of the file.

        Examples
        --------
        >>> mod = mx.mod.Module(mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc"), label_names=None)
        >>> mod.bind([("data", (4, 3))])
        >>> mod.init_params()
        >>> mod.save_params("fc.params")
        >>> sorted(mx.nd.load("fc.params"))
        ['arg:fc_bias', 'arg:fc_weight']
        """
        save_param_dicts(fname, *self.get_params())

    def load_params(self, fname):
        """Set the parameters to those of a file.

        Parameters
        ----------
        fname : str
            Path of a file that `save_params` wrote.

        Examples
        --------
        >>> mod = mx.mod.Module(mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc"), label_names=None)
        >>> mod.bind([("data", (4, 3))])
        >>> mx.nd.save("fc.params", {"arg:fc_weight": mx.nd.ones((2, 3)), "arg:fc_bias": mx.nd.zeros((2,))})
        >>> mod.load_params("fc.params")
        >>> mod.get_params()[0]["fc_weight"].asnumpy().tolist()
        [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]
        """

        def refuse(name):
            raise ValueError(f"Invalid param file {fname}: {name!r} begins with neither arg: nor aux:")

        self.set_params(*split_param_dict(load_named(fname), refuse))

    def get_states(self, merge_multi_context=True):
        """The states, arrays that are kept from batch to batch, of modules that have any.

        Parameters
        ----------
        merge_multi_context : bool
            Must be False.

        Returns
        -------
        list of lists of NDArray
            For each state an array on every device.

        Examples
        --------
        >>> mod = mx.mod.Module(mx.sym.var("data") + mx.sym.var("h"), label_names=None, state_names=["h"])
        >>> mod.bind([("data", (4, 3))], for_training=False)
        >>> mod.init_params()
        >>> mod.get_states(merge_multi_context=False)[0][0].shape
        (4, 3)
        """
        self._assert_ready()
        assert not merge_multi_context
        return []

    def set_states(self, states=None, value=None):
        """Set the states of modules that have any; exactly one argument is given.

        Parameters
        ----------
        states : list of lists of NDArray, optional
            For each state an array for every device.
        value : float, optional
            A value for all of them.

        Examples
        --------
        >>> mod = mx.mod.Module(mx.sym.var("data") + mx.sym.var("h"), label_names=None, state_names=["h"])
        >>> mod.bind([("data", (1, 3))], for_training=False)
        >>> mod.init_params()
        >>> mod.set_states(value=5)
        >>> mod.forward(mx.io.DataBatch([mx.nd.ones((1, 3))]))
        >>> mod.get_outputs()[0].asnumpy()
        array([[6., 6., 6.]], dtype=float32)
        """
        self._assert_ready()
        assert not states and not value

    def install_monitor(self, mon):
        """Let a monitor collect statistics of the outputs of all operators; after `bind`.

        Parameters
        ----------
        mon : Monitor
            The monitor, see :class:`mxnet.monitor.Monitor`.

        Examples
        --------
        >>> net = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc")
        >>> mod = mx.mod.Module(net, label_names=None)
        >>> mod.bind([("data", (1, 3))])
        >>> mod.init_params(mx.init.One())
        >>> monitor = mx.mon.Monitor(1, pattern="fc_output")
        >>> mod.install_monitor(monitor)
        >>> monitor.tic()
        >>> mod.forward(mx.io.DataBatch([mx.nd.ones((1, 3))]))
        >>> [(name, value.strip()) for _, name, value in monitor.toc()]
        [('fc_output', '3.0')]
        """
        raise NotImplementedError

    # ------------------------------------------------------------------ computing
    def prepare(self, data_batch, sparse_row_id_fn=None):
        """Prepare for a batch before `forward` gets it.

        Parameters
        ----------
        data_batch : DataBatch
            The batch.
        sparse_row_id_fn : callable, optional
            Takes the batch and returns which rows of row-sparse parameters it needs, by name.

        Examples
        --------
        >>> mod = mx.mod.Module(mx.sym.var("data") * 2, label_names=None)
        >>> mod.bind([("data", (1, 3))])
        >>> mod.init_params()
        >>> mod.prepare(mx.io.DataBatch([mx.nd.ones((1, 3))]))
        """
        if sparse_row_id_fn is not None:
            warnings.warn(UserWarning("sparse_row_id_fn is not invoked for BaseModule."), stacklevel=2)

    def forward(self, data_batch, is_train=None):
        """Compute the outputs for a batch.

        Parameters
        ----------
        data_batch : DataBatch
            Inputs and, for training, labels.
        is_train : bool, optional
            Whether layers such as Dropout behave as in training; by default as given to `bind`.

        Examples
        --------
        >>> mod = mx.mod.Module(mx.sym.var("data") * 2, label_names=None)
        >>> mod.bind([("data", (1, 3))])
        >>> mod.init_params()
        >>> mod.forward(mx.io.DataBatch([mx.nd.ones((1, 3))]), is_train=False)
        >>> mod.get_outputs()[0].asnumpy()
        array([[2., 2., 2.]], dtype=float32)
        """
        raise NotImplementedError

    def backward(self, out_grads=None):
        """Compute the gradients of what `forward` computed.

        Parameters
        ----------
        out_grads : NDArray or list of NDArray, optional
            Gradients of the outputs, for networks whose outputs are not losses.

        Examples
        --------
        >>> mod = mx.mod.Module(mx.sym.var("data") * 2, label_names=None)
        >>> mod.bind([("data", (1, 3))], inputs_need_grad=True)
        >>> mod.init_params()
        >>> mod.forward(mx.io.DataBatch([mx.nd.ones((1, 3))]), is_train=True)
        >>> mod.backward([mx.nd.array([[1, 10, 100]])])
        >>> mod.get_input_grads()[0].asnumpy()
        array([[  2.,  20., 200.]], dtype=float32)
        """
        raise NotImplementedError

    def get_outputs(self, merge_multi_context=True):
        """The outputs of the last `forward`.

        Parameters
        ----------
        merge_multi_context : bool
            Whether parts on several devices are joined.

        Returns
        -------
        list of NDArray, or list of lists of NDArray without `merge_multi_context`

        Examples
        --------
        >>> mod = mx.mod.Module(mx.sym.var("data") * 2, label_names=None, context=[mx.cpu(0), mx.cpu(1)])
        >>> mod.bind([("data", (4, 3))], for_training=False)
        >>> mod.init_params()
        >>> mod.forward(mx.io.DataBatch([mx.nd.ones((4, 3))]))
        >>> mod.get_outputs()[0].shape, [part.shape for part in mod.get_outputs(merge_multi_context=False)[0]]
        ((4, 3), [(2, 3), (2, 3)])
        """
        raise NotImplementedError

    def get_input_grads(self, merge_multi_context=True):
        """The gradients of the inputs that the last `backward` computed.

        Parameters
        ----------
        merge_multi_context : bool
            Whether parts on several devices are joined.

        Returns
        -------
        list of NDArray, or list of lists of NDArray without `merge_multi_context`

        Examples
        --------
        >>> mod = mx.mod.Module(mx.sym.var("data") ** 2, label_names=None)
        >>> mod.bind([("data", (1, 2))], inputs_need_grad=True)
        >>> mod.init_params()
        >>> mod.forward(mx.io.DataBatch([mx.nd.array([[3, 4]])]), is_train=True)
        >>> mod.backward([mx.nd.ones((1, 2))])
        >>> mod.get_input_grads()[0].asnumpy()
        array([[6., 8.]], dtype=float32)
        """
        raise NotImplementedError

    def update(self):
        """Update the parameters with the gradients of the last `backward`; after `init_optimizer`.

        Examples
        --------
        >>> net = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=1, no_bias=True, name="fc")
        >>> mod = mx.mod.Module(net, label_names=None)
        >>> mod.bind([("data", (1, 2))])
        >>> mod.init_params(mx.init.One())
        >>> mod.init_optimizer(optimizer="sgd", optimizer_params={"learning_rate": 0.5})
        >>> mod.forward(mx.io.DataBatch([mx.nd.array([[1, 2]])]), is_train=True)
        >>> mod.backward([mx.nd.ones((1, 1))])
        >>> mod.update()
        >>> mod.get_params()[0]["fc_weight"].asnumpy()
        array([[0.5, 0. ]], dtype=float32)
        """
        raise NotImplementedError

    def update_metric(self, eval_metric, labels, pre_sliced=False):
        """Count the outputs of the last `forward` in a metric.

        Parameters
        ----------
        eval_metric : EvalMetric
            Metric.
        labels : list of NDArray
            Labels of the batch.
        pre_sliced : bool
            Whether `labels` is a list of such lists, one for each device.

        Examples
        --------
        >>> mod = mx.mod.Module(mx.sym.SoftmaxOutput(mx.sym.var("data"), name="softmax"))
        >>> mod.bind([("data", (2, 2))], [("softmax_label", (2,))])
        >>> mod.init_params()
        >>> batch = mx.io.DataBatch([mx.nd.array([[5, 0], [5, 0]])], [mx.nd.array([0, 1])])
        >>> mod.forward(batch, is_train=False)
        >>> metric = mx.metric.Accuracy()
        >>> mod.update_metric(metric, batch.label)
        >>> metric.get()
        ('accuracy', 0.5)
        """
        raise NotImplementedError

    # ------------------------------------------------------------------ setup
    def bind(
        self,
        data_shapes,
        label_shapes=None,
        for_training=True,
        inputs_need_grad=False,
        force_rebind=False,
        shared_module=None,
        grad_req="write",
    ):
        """Make the executors for inputs of given shapes; before anything can be computed.

        Parameters
        ----------
        data_shapes, label_shapes : list of DataDesc or of (str, tuple)
            Names and shapes of inputs and labels, as an iterator's `provide_data` and `provide_label` have them.
        for_training : bool
            Whether gradients will be computed.
        inputs_need_grad : bool
            Whether those of the inputs too.
        force_rebind : bool
            Whether to bind again if it is bound.
        shared_module : BaseModule, optional
            Module whose parameters and memory are used.
        grad_req : str, list of str or dict of str to str
            "write", "add" or "null" for each argument's gradient, or one for all.

        Examples
        --------
        >>> net = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc")
        >>> mod = mx.mod.Module(net, label_names=None)
        >>> mod.bind(data_shapes=[("data", (4, 3))])
        >>> mod.binded, mod.output_shapes
        (True, [('fc_output', (4, 2))])
        """
        raise NotImplementedError

    def init_optimizer(
        self, kvstore="local", optimizer="sgd", optimizer_params=(("learning_rate", 0.01),), force_init=False
    ):
        """Make the optimizer and, if several devices need one, the key-value store.

        Parameters
        ----------
        kvstore : str or KVStore
            Puts together the gradients of several devices or machines.
        optimizer : str or Optimizer
            Optimizer, or its name.
        optimizer_params : dict, or pairs of names and values
            Arguments of the optimizer.
        force_init : bool
            Whether to replace an optimizer.

        Examples
        --------
        >>> net = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc")
        >>> mod = mx.mod.Module(net, label_names=None)
        >>> mod.bind([("data", (4, 3))])
        >>> mod.init_params()
        >>> mod.init_optimizer(optimizer="adam", optimizer_params={"learning_rate": 0.01})
        >>> mod.optimizer_initialized
        True
        """
        raise NotImplementedError
