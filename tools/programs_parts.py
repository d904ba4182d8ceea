"""Runs parts of somebody's program on small data made on the spot, and prints numbers: `programs_probe.py` uses it.

Parts are functions that return symbols, Gluon blocks and losses, and classes that a program derives from MXNet's:
optimizers, metrics, initializers, schedulers, custom operators. Each is made with guessed arguments, the same beside
MXNet and ReMX, runs forward and backward, and prints the sums of what comes out. Plain Python and NumPy of any version.
"""

import ast
import importlib.util
import inspect
import os
import re
import sys
import types
import zlib

import numpy as np

SIZES = [(1, 3, 64, 64), (1, 3, 224, 224), (1, 3, 32, 32), (1, 1, 28, 28), (2, 16), (2, 5, 16), (2, 5)]
GIVEN = {
    "num_classes": 10, "num_class": 10, "classes": 10, "class_num": 10, "nclass": 10, "n_classes": 10, "n_class": 10,
    "num_layers": 18, "num_layer": 18, "layers": [1, 1, 1, 1], "depth": 18, "image_shape": "3,64,64", "channels": 8,
    "num_filter": 8, "num_filters": 8, "channel": 8, "in_channels": 3, "out_channels": 8, "units": 8, "hidden_size": 8,
    "hidden_units": 8, "num_hidden": 8, "num_units": 8, "embed_size": 8, "embedding_size": 8, "vocab_size": 50,
    "vocab": 50, "num_embed": 8, "dropout": 0.0, "drop_rate": 0.0, "conv_workspace": 256, "stride": 1, "strides": 1,
    "num_group": 2,
    "kernel": (3, 3), "kernel_size": 3, "growth_rate": 8, "batch_size": 1, "seq_len": 5, "num_heads": 2,
    "multiplier": 0.5, "dtype": "float32", "filters": 8, "planes": 8, "num_channels": 8, "bottle_neck": False,
    "num_anchors": 4,
    "features": 8, "num_stage": 4, "units_list": [1, 1, 1, 1], "input_size": 8, "n_hidden": 8, "dim": 8,
    "latent_dim": 4, "n_latent": 4, "ngf": 8, "ndf": 8, "nc": 3, "num_residuals": 1, "num_convs": 1,
    "norm_layer": None, "pad": (1, 1), "padding": 1, "act_type": "relu", "activation": "relu", "workspace": 256,
    "bn_mom": 0.9, "dim_match": False, "momentum": 0.9, "learning_rate": 0.1, "lr": 0.1,
}  # fmt: skip
GUESSED = [  # what an argument of such a name gets, if it has no default
    (r"^(use|is|with|has|do|no)_|bottle|match|downsample|^last|^first|bias|same_shape", False),
    (r"drop", 0.0), (r"rate|ratio|alpha|beta|gamma|margin|scale|eps|lambda|weight$", 0.5),
    (r"kernel|ksize", 3), (r"stride|group|repeat|dilat|factor", 1), (r"pad", 1), (r"act", "relu"),
    (r"name|prefix|suffix|stage", "part"), (r"step", 10), (r"vocab|num_words", 50), (r"class", 10),
    (r"num|size|dim|hidden|channel|unit|filter|embed|feat|^n_|^k$|^c$|^ch$|width|nout|nin|output|^in_|^out_", 8),
]  # fmt: skip
NUDGE = 1 + 1e-6  # a relative change of inputs, some roundings of float32
DATA = re.compile(r"^(data|x|input|inputs|net|body|bottom|sym|symbol|input_data|input_layer|src|conv|layer|feature)$")
HANDLED = ("get_", "resnet", "build_", "make_", "create_")


def show(name, value, nudged=None):
    """Positive and negative parts are summed apart: the sum of a centred gradient is nothing but rounding.

    `nudged` is the value for inputs that differ in the sixth digit. How far it differs is printed too, because a
    batch norm of almost equal numbers makes noise of any rounding, on MXNet as on ReMX.
    """
    value = np.asarray(value, dtype="float64")
    line = f"{name} {value.shape} positive {value[value > 0].sum():.5g} negative {value[value < 0].sum():.5g}"
    if nudged is not None:
        line += f" moves by {np.abs(nudged - value).sum() / max(np.abs(value).sum(), 1e-30):.2g}"
    print(line)


def numbers(name, shape):
    """The same numbers for a name and shape everywhere; small, so that deep networks stay finite."""
    state = np.random.RandomState(zlib.crc32(name.encode()) % (1 << 31))
    scale = 1.0 / max(1.0, np.sqrt(np.prod(shape[1:]))) if len(shape) > 1 else 0.1
    return state.uniform(-1, 1, size=shape).astype("float32") * np.float32(scale)


def _loaded(path):
    """The file as a module, with its folder and those above it to import from."""
    folder = os.path.dirname(os.path.abspath(path))
    for _ in range(3):
        sys.path.append(folder)
        folder = os.path.dirname(folder)
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    name = os.path.splitext(os.path.basename(path))[0].replace("-", "_")
    if os.path.exists(os.path.join(os.path.dirname(path), "__init__.py")):
        return _in_package(path, name)
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _in_package(path, name):
    """A module of a package, imported by its whole name, so that it finds what lies beside it."""
    folder = os.path.dirname(os.path.abspath(path))
    while os.path.exists(os.path.join(folder, "__init__.py")):
        folder, name = os.path.dirname(folder), os.path.basename(folder) + "." + name
    sys.path.insert(0, folder)
    return importlib.import_module(name)


def _arguments(function, data=None):
    """Arguments by their names; None if one without default is unknown. `data` is what a name like "data" gets."""
    given = {}
    for parameter in inspect.signature(function).parameters.values():
        name = parameter.name
        if name == "self" or parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if name in GIVEN and (parameter.default is parameter.empty or "class" in name):
            given[name] = GIVEN[name]
        elif parameter.default is parameter.empty:
            if data is not None and DATA.search(name):
                given[name] = data
                continue
            guess = [value for pattern, value in GUESSED if re.search(pattern, name)]
            if not guess:
                return None
            given[name] = guess[0]
    return given


def _classes(module, base):
    """The classes of a module that are derived from a class of MXNet, by name."""
    found = sorted(vars(module).items())
    return [k for _, k in found if isinstance(k, type) and issubclass(k, base) and k.__module__ == module.__name__]


# ---------------------------------------------------------------------- symbols
def _bound(mx, symbol, size):
    inputs = [n for n in symbol.list_arguments() if n == "data" or n.endswith("label")]
    shapes = {"data": size} if "data" in inputs else {}
    return symbol.simple_bind(mx.cpu(), grad_req="write", **shapes)


def _run_symbol(mx, name, symbol):
    print(name, "arguments", len(symbol.list_arguments()), "states", len(symbol.list_auxiliary_states()))
    executor = None
    for size in SIZES:
        try:
            executor = _bound(mx, symbol, size)
        except Exception as error:  # another size may fit
            problem = error
            continue
        print(name, "fits", size)
        break
    if executor is None:
        print(name, "fits none:", type(problem).__name__)
        return
    for key, array in executor.arg_dict.items():
        label = key.endswith("label")
        array[:] = np.zeros(array.shape) if label else numbers(key, array.shape)
    for key, array in executor.aux_dict.items():
        array[:] = np.zeros(array.shape) if key.endswith("mean") else np.ones(array.shape)
    for n, out in enumerate(executor.forward(is_train=False)):
        show(f"{name} output {n}", out.asnumpy())
    if '"op": "Dropout"' in symbol.tojson():
        return  # masks are random
    executor.forward(is_train=True)
    try:
        executor.backward([mx.nd.ones(o.shape) for o in executor.outputs])
    except Exception as error:  # a head that is no loss
        print(name, "backward", type(error).__name__)
        return
    total = sum(np.abs(g.asnumpy()).sum() for k, g in executor.grad_dict.items() if g is not None)
    show(f"{name} gradients", total)


def probe_symbol(path):
    """What the functions of a file return, if it is symbols."""
    import mxnet as mx

    module = _loaded(os.path.abspath(path))
    for name, function in sorted(vars(module).items()):
        if not (isinstance(function, types.FunctionType) and function.__module__ == module.__name__):
            continue
        data = mx.sym.Variable("data")
        given = _arguments(function, data)
        if given is None or not (name.startswith(HANDLED) or any(v is data for v in given.values())):
            continue
        try:
            with mx.name.NameManager():
                symbol = function(**given)
        except Exception as error:
            print(name, "stops with", type(error).__name__)
            continue
        parts = [s for s in (symbol if isinstance(symbol, (list, tuple)) else [symbol]) if isinstance(s, mx.sym.Symbol)]
        for n, part in enumerate(parts):
            try:
                _run_symbol(mx, name if len(parts) == 1 else f"{name}[{n}]", part)
            except Exception as error:
                print(name, "stops with", type(error).__name__)


# ---------------------------------------------------------------------- blocks
def _filled(mx, net):
    for key, parameter in sorted(net._collect_params_with_prefix().items()):
        if parameter.shape and all(n > 0 for n in parameter.shape):
            value = numbers(key, parameter.shape)
            if key.endswith(("var", "gamma")):
                value = np.abs(value) + np.float32(1)
            parameter.set_data(mx.nd.array(value))


def _flat(outputs):
    return [o for each in outputs for o in _flat(each)] if isinstance(outputs, (list, tuple)) else [outputs]


def _input_names(mx, net):
    """Names of the arrays that a block is called with."""
    hybrid = isinstance(net, mx.gluon.HybridBlock) and type(net).forward is mx.gluon.HybridBlock.forward
    called = inspect.signature(type(net).hybrid_forward if hybrid else type(net).forward).parameters.values()
    left = [p for p in called if p.kind is p.POSITIONAL_OR_KEYWORD and p.default is p.empty][2 if hybrid else 1 :]
    own = net._reg_params if hybrid else ()
    return [p.name for p in left if p.name not in own] or ["x"]


def _input_sets(mx, names):
    """Arrays to try, one for each name: images or vectors, with labels, then rows of tokens."""
    for size in SIZES:
        yield size, [mx.nd.array(numbers(name, size)) for name in names]
    for size in SIZES if len(names) > 1 else ():
        labels = [mx.nd.array(np.arange(size[0]) % 2) for _ in names[1:]]
        yield (size, "labels"), [mx.nd.array(numbers(names[0], size)), *labels]
    for size in ((2, 5), (5, 2), (4,)):
        yield (size, "tokens"), [mx.nd.array(np.arange(np.prod(size)).reshape(size) % 7) for _ in names]


def _gradients(mx, net, inputs):
    """Gradients of the squared outputs' sum: of the inputs, then of the parameters."""
    for x in inputs:
        x.attach_grad()
    with mx.autograd.record():  # without training MXNet's max pooling differentiates with indices it never wrote
        loss = sum((o * o).sum() for o in _flat(net(*inputs)))
    loss.backward()
    found = [(f"gradient {n}", x.grad.asnumpy()) for n, x in enumerate(inputs)]
    parameters = sorted(net._collect_params_with_prefix().items())
    return found + [(k, p.grad().asnumpy()) for k, p in parameters if p.grad_req == "write"]


def _run_block(mx, name, made):
    problem = None
    net = made()
    for size, inputs in _input_sets(mx, _input_names(mx, net)):
        net = made()
        net.initialize()
        try:
            net(*inputs)
            _filled(mx, net)
            outputs = _flat(net(*inputs))
            values = [o.asnumpy() for o in outputs]
        except Exception as error:
            problem = problem or error
            continue
        print(name, "fits", size)
        break
    else:
        print(name, "fits none:", type(problem).__name__)
        return
    for n, value in enumerate(values):
        show(f"{name} output {n}", value)
    again = _gradients(mx, net, [x * NUDGE for x in inputs])
    for (key, value), (_, other) in zip(_gradients(mx, net, inputs), again, strict=True):
        show(f"{name} {key}", value, other)
    if isinstance(net, mx.gluon.HybridBlock):
        net.hybridize()
        for n, out in enumerate(_flat(net(*inputs))):
            show(f"{name} hybrid {n}", out.asnumpy())


def probe_blocks(path):
    """Every Gluon block of a file that can be made."""
    import mxnet as mx

    module = _loaded(path)
    for kind in _classes(module, mx.gluon.Block):
        given = _arguments(kind.__init__)
        if given is None:
            continue
        mx.random.seed(1)
        try:
            _run_block(mx, kind.__name__, lambda kind=kind, given=given: kind(**given))
        except Exception as error:
            print(kind.__name__, "stops with", type(error).__name__)


# ---------------------------------------------------------------------- what is derived from MXNet's classes
def _run_optimizer(mx, kind, given):
    optimizer = kind(**given)
    weight = mx.nd.array(numbers("weight", (3, 4)))
    state = optimizer.create_state(0, weight)
    for n in range(3):
        optimizer.update(0, weight, mx.nd.array(numbers(f"gradient{n}", (3, 4))), state)
        show(f"{kind.__name__} {n}", weight.asnumpy())


def _run_metric(mx, kind, given):
    metric = kind(**given)
    scores = np.abs(numbers("scores", (6, 4)))
    scores = mx.nd.array(scores / scores.sum(1, keepdims=True))
    for n in range(2):
        metric.update([mx.nd.array((np.arange(6) + n) % 4)], [scores])
    print(kind.__name__, *np.ravel(metric.get()[1]))


def _run_initializer(mx, kind, given):
    initializer = kind(**given)
    for name, shape in (("a_weight", (6, 4)), ("a_bias", (6,))):
        array = mx.nd.zeros(shape)
        mx.random.seed(0)
        initializer(mx.init.InitDesc(name), array)
        show(f"{kind.__name__} {name}", array.asnumpy())


def _run_scheduler(mx, kind, given):
    scheduler = kind(**given)
    print(kind.__name__, *(float(scheduler(n)) for n in (0, 1, 5, 20, 100)))


def _run_operator(mx, kind, given, registered):
    prop = kind(**given)
    names = prop.list_arguments()
    for size in SIZES:
        try:
            shapes = prop.infer_shape([list(size) for _ in names])[0]
            pairs = zip(names, shapes, strict=True)
            inputs = [mx.nd.array(np.zeros(s) if "label" in n else numbers(n, tuple(s))) for n, s in pairs]
            for x in inputs:
                x.attach_grad()
            with mx.autograd.record():
                outputs = _flat(mx.nd.Custom(*inputs, op_type=registered, **given))
            outputs[0].backward()
            values = [o.asnumpy() for o in outputs]
        except Exception as error:
            problem = error
            continue
        for n, value in enumerate(values):
            show(f"{registered} output {n}", value)
        for n, x in enumerate(inputs):
            show(f"{registered} gradient {n}", x.grad.asnumpy())
        return
    print(registered, "fits none:", type(problem).__name__)


def _registered_names(path):
    """Names of custom operators by the classes of their properties."""
    with open(path, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    found = {}
    for node in (n for n in tree.body if isinstance(n, ast.ClassDef)):
        for call in (d for d in node.decorator_list if isinstance(d, ast.Call) and d.args):
            if getattr(call.func, "attr", "") == "register" and isinstance(call.args[0], ast.Constant):
                found[node.name] = call.args[0].value
    return found


def probe_derived(path):
    """Optimizers, metrics, initializers, schedulers and custom operators of a file."""
    import mxnet as mx

    module = _loaded(path)
    registered = _registered_names(path)
    kinds = [(mx.optimizer.Optimizer, _run_optimizer), (mx.metric.EvalMetric, _run_metric),
             (mx.init.Initializer, _run_initializer), (mx.lr_scheduler.LRScheduler, _run_scheduler),
             (mx.operator.CustomOpProp, _run_operator)]  # fmt: skip
    for base, run in kinds:
        for kind in _classes(module, base):
            given = _arguments(kind.__init__)
            more = (registered.get(kind.__name__),) if base is mx.operator.CustomOpProp else ()
            if given is None or None in more:
                continue
            try:
                run(mx, kind, given, *more)
            except Exception as error:
                print(kind.__name__, "stops with", type(error).__name__)


DERIVED = ("Optimizer", "SGD", "Adam", "EvalMetric", "Initializer", "LRScheduler", "CustomOpProp")


def kinds_of(text):
    """What there is to run in a program's text."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return []
    functions = [n for n in tree.body if isinstance(n, ast.FunctionDef)]
    bases = {ast.dump(b) for n in tree.body if isinstance(n, ast.ClassDef) for b in n.bases}
    found = []
    if re.search(r"\bsym(bol)?\.", text) and functions:
        found.append("symbol")
    if any("Block'" in b or "Sequential'" in b or "Loss'" in b for b in bases):
        found.append("blocks")
    if any(f"'{name}'" in b for b in bases for name in DERIVED):
        found.append("derived")
    return found


PROBES = {"symbol": probe_symbol, "blocks": probe_blocks, "derived": probe_derived}
