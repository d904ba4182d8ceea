"""The public names whose docstrings are counted and whose examples run."""

import importlib
import inspect

# Namespaces whose names are made from the registry of operators, or come from several modules: all names count.
FACES = """
ndarray ndarray.op ndarray.contrib ndarray.linalg ndarray.image ndarray.sparse ndarray.random symbol symbol.contrib
symbol.linalg symbol.image symbol.sparse symbol.random symbol.numpy symbol.numpy.linalg symbol.numpy.random
symbol.numpy_extension numpy numpy.linalg numpy.random numpy_extension
numpy_extension.random numpy_extension.image
""".split()

# Modules of which only names that they, or private modules, define count.
MODULES = """
attribute autograd callback checkpoint compat context contrib.amp contrib.amp.loss_scaler contrib.autograd contrib.io
contrib.onnx contrib.quantization contrib.svrg_optimization.svrg_module contrib.tensorboard contrib.text.embedding
contrib.text.utils contrib.text.vocab contrib.torch deploy engine error executor gluon gluon.contrib.cnn
gluon.contrib.data gluon.contrib.data.text
gluon.contrib.estimator gluon.contrib.nn gluon.contrib.rnn gluon.data gluon.data.batchify
gluon.data.vision gluon.data.vision.transforms gluon.loss gluon.model_zoo.vision gluon.nn gluon.rnn gluon.utils image
initializer io kvstore libinfo log lr_scheduler metric model module monitor name onnx operator
optimizer optimizer.contrib profiler random
recordio registry rnn runtime util visualization
""".split()

# Names without parameters or without an example, and why.
WITHOUT = {
    "contrib.tensorboard": "SummaryWriter",  # of another package
    "gluon": "DeferredInitializationError",  # raised, never made by a user
    "model": "BatchEndParam",  # a named tuple that callbacks are given
    "operator": "OperatorArguments",  # a named tuple that get_operator_arguments returns
    "util": "active",  # what the rest of the package asks
}
# Methods without parameters or without an example, and why.
METHODS_WITHOUT = {
    "CheckpointHandler": "save_now seal sealed unsealed",  # what Estimator.fit calls to write a checkpoint
    "KVStoreServer": "run",  # ends when the workers of a job do
    "NotebookHandler": "html",  # what a notebook shows; tests/test_notebook.py draws it
    "PCC": "global_sum_metric sum_metric",  # sums that `get` divides
    "PearsonCorrelation": "reset_micro update_cov update_variance",  # steps of `update`
    "Run": "after_batch after_epoch feed watch",  # what `epochs`, `batches`, Module.fit and Estimator.fit call
    "Symbol": "as_in_context asnumpy asscalar backward copy detach explain gradient shape wait_to_read",
    "Updater": "takes_all",  # what a Trainer asks
}
# Of a symbol these only raise an error that says what to do instead; `explain` takes seconds, its page has an example.

# Modules whose public functions live in private ones.
GATHERED = {"checkpoint", "model", "compat", "gluon.utils", "contrib.torch"}


def module_of(name):
    return importlib.import_module(f"mxnet.{name}")


def _names(module):
    listed = getattr(module, "__all__", None) or dir(module)
    return sorted({name for name in listed if not name.startswith("_") and not name.endswith("_")})


def _is_own(value, name):
    home = str(getattr(value, "__module__", ""))
    return home.startswith(f"mxnet.{name}") or (name in GATHERED and "._" in home)


def public(name):
    """(name, thing) for what a namespace shows as its own."""
    module = module_of(name)
    for each in _names(module):
        value = getattr(module, each, None)
        if callable(value) and str(getattr(value, "__module__", "")).startswith("mxnet"):
            if name in FACES or _is_own(value, name):
                yield each, value


def classes():
    """The public classes, each once."""
    found = {}
    for name in [*FACES, *MODULES]:
        for each, value in public(name):
            if inspect.isclass(value) and each not in WITHOUT.get(name, "").split():
                found[value] = each
    return list(found)


def undescribed_methods(kind):
    """Public methods and properties that neither the class nor one of its bases describes."""
    return [name for name in dir(kind) if not name.startswith("_") and not _described_somewhere(kind, name)]


def _described_somewhere(kind, name):
    members = [vars(base)[name] for base in kind.__mro__ if name in vars(base) and _is_ours(base)]
    members = [getattr(member, "__func__", member) for member in members]
    return not members or not _is_method(members[0]) or any(map(_is_method_described, members))


def _is_ours(base):
    return base.__module__.startswith("mxnet")


def _is_method(member):
    return inspect.isfunction(member) or isinstance(member, property)


def _is_method_described(member):
    words = inspect.getdoc(member) or ""
    names = [] if isinstance(member, property) or not callable(member) else inspect.signature(member).parameters
    takes = [name for name in names if name not in ("self", "cls")]
    return ">>> " in words and ("Parameters\n---" in words or not takes)


def has_parameters(value):
    try:
        names = inspect.signature(value).parameters
    except (TypeError, ValueError):
        return True
    return bool(names)


def is_described(value):
    """Has it a section of parameters, if it has any, and an example?"""
    words = inspect.getdoc(value) or ""
    return ("Parameters\n---" in words or not has_parameters(value)) and ">>> " in words
