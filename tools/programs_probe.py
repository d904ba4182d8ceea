"""Runs a part of somebody's program on small data made on the spot, and prints numbers: `programs.py` starts it twice.

    python programs_probe.py symbol FILE     what `get_symbol` and its like return, forward and backward
    python programs_probe.py blocks FILE     every Gluon block of the file that can be made, forward and backward
    python programs_probe.py script FILE …   the program itself
    python programs_probe.py serve           reads what to run from standard input, and forks for each program, which
                                             gets data sets of a few images and no network
Plain Python and NumPy of any version: the same file runs beside real MXNet.
"""

import ast
import gzip
import importlib.util
import inspect
import json
import os
import random
import resource
import shutil
import signal
import struct
import sys
import tarfile
import time
import traceback
import types
import zlib

import numpy as np

SIZES = [(1, 3, 64, 64), (1, 3, 224, 224), (1, 3, 32, 32), (1, 1, 28, 28), (2, 16), (2, 5, 16)]
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
    "norm_layer": None,
}  # fmt: skip


def _show(name, value):
    """Positive and negative parts are summed apart: the sum of a centred gradient is nothing but rounding."""
    value = np.asarray(value, dtype="float64")
    print(f"{name} {value.shape} positive {value[value > 0].sum():.5g} negative {value[value < 0].sum():.5g}")


def _numbers(name, shape):
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


def _arguments(function):
    """Arguments by their names; None if one without default is unknown."""
    given = {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name == "self" or parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if parameter.name in GIVEN and (parameter.default is parameter.empty or "class" in parameter.name):
            given[parameter.name] = GIVEN[parameter.name]
        elif parameter.default is parameter.empty:
            return None
    return given


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
        array[:] = np.zeros(array.shape) if label else _numbers(key, array.shape)
    for key, array in executor.aux_dict.items():
        array[:] = np.zeros(array.shape) if key.endswith("mean") else np.ones(array.shape)
    for n, out in enumerate(executor.forward(is_train=False)):
        _show(f"{name} output {n}", out.asnumpy())
    if '"op": "Dropout"' in symbol.tojson():
        return  # masks are random
    executor.forward(is_train=True)
    try:
        executor.backward()
    except Exception as error:  # a head that is no loss
        print(name, "backward", type(error).__name__)
        return
    total = sum(np.abs(g.asnumpy()).sum() for k, g in executor.grad_dict.items() if g is not None)
    _show(f"{name} gradients", total)


def probe_symbol(path):
    import mxnet as mx

    module = _loaded(os.path.abspath(path))
    for name, function in sorted(vars(module).items()):
        if not (isinstance(function, types.FunctionType) and function.__module__ == module.__name__):
            continue
        if not name.startswith(("get_", "resnet", "build_", "make_", "create_")) or _arguments(function) is None:
            continue
        try:
            symbol = function(**_arguments(function))
        except Exception as error:
            print(name, "stops with", type(error).__name__)
            continue
        if isinstance(symbol, mx.sym.Symbol):
            _run_symbol(mx, name, symbol)


# ---------------------------------------------------------------------- blocks
def _filled(net):
    for key, parameter in sorted(net._collect_params_with_prefix().items()):
        if parameter.shape and all(n > 0 for n in parameter.shape):
            value = _numbers(key, parameter.shape)
            if key.endswith(("var", "gamma")):
                value = np.abs(value) + np.float32(1)
            parameter.set_data(_nd(value))


def _nd(value):
    import mxnet as mx

    return mx.nd.array(value)


def _flat(outputs):
    return [o for each in outputs for o in _flat(each)] if isinstance(outputs, (list, tuple)) else [outputs]


def _run_block(mx, name, made):
    for size in SIZES:
        net = made()
        net.initialize()
        x = mx.nd.array(_numbers("x", size))
        try:
            net(x)
            _filled(net)
            outputs = _flat(net(x))
        except Exception as error:
            problem = error
            continue
        print(name, "fits", size)
        break
    else:
        print(name, "fits none:", type(problem).__name__)
        return
    for n, out in enumerate(outputs):
        _show(f"{name} output {n}", out.asnumpy())
    x.attach_grad()
    with mx.autograd.record():  # without training MXNet's max pooling differentiates with indices it never wrote
        loss = sum((o * o).sum() for o in _flat(net(x)))
    loss.backward()
    _show(f"{name} gradient", x.grad.asnumpy())
    if isinstance(net, mx.gluon.HybridBlock):
        net.hybridize()
        for n, out in enumerate(_flat(net(x))):
            _show(f"{name} hybrid {n}", out.asnumpy())


def probe_blocks(path):
    import mxnet as mx

    module = _loaded(path)
    for name, kind in sorted(vars(module).items()):
        if not (isinstance(kind, type) and issubclass(kind, mx.gluon.Block) and kind.__module__ == module.__name__):
            continue
        given = _arguments(kind.__init__)
        if given is None:
            continue
        try:
            _run_block(mx, name, lambda kind=kind, given=given: kind(**given))
        except Exception as error:
            print(name, "stops with", type(error).__name__)


# ---------------------------------------------------------------------- whole programs
def _write_mnist(folder):
    os.makedirs(folder)
    state = np.random.RandomState(0)
    for part, count in (("train", 256), ("t10k", 128)):
        images = (state.rand(count, 28, 28) * 255).astype(np.uint8)
        labels = state.randint(0, 10, count).astype(np.uint8)
        images[np.arange(count), labels * 2] = 255  # something to learn
        with gzip.open(os.path.join(folder, part + "-images-idx3-ubyte.gz"), "wb") as file:
            file.write(struct.pack(">IIII", 2051, count, 28, 28) + images.tobytes())
        with gzip.open(os.path.join(folder, part + "-labels-idx1-ubyte.gz"), "wb") as file:
            file.write(struct.pack(">II", 2049, count) + labels.tobytes())


def _write_cifar(folder):
    os.makedirs(folder)
    state = np.random.RandomState(0)
    for name in [f"data_batch_{n}.bin" for n in range(1, 6)] + ["test_batch.bin"]:
        rows = np.concatenate([state.randint(0, 10, (64, 1)), state.randint(0, 256, (64, 3072))], 1)
        rows.astype(np.uint8).tofile(os.path.join(folder, name))


def write_data_sets(home):
    """Data sets of a few images where MXNet looks for them; `programs.py` calls it once for each interpreter."""
    for name in ("mnist", "fashion-mnist"):
        _write_mnist(os.path.join(home, "datasets", name))
    cifar = os.path.join(home, "datasets", "cifar10")
    _write_cifar(cifar)
    with tarfile.open(os.path.join(cifar, "cifar-10-binary.tar.gz"), "w:gz") as archive:
        for name in sorted(os.listdir(cifar)):
            if name.endswith(".bin"):
                archive.add(os.path.join(cifar, name), "cifar-10-batches-bin/" + name)


def _brought(url, path):
    """The file of that name from the data sets, put where a download would have put it."""
    name = os.path.basename(url)
    found = os.path.join(path, name) if path and os.path.isdir(path) else path or name
    folder = next((f for f in ("fashion-mnist", "mnist", "cifar10") if f in url), "mnist")
    source = os.path.join(os.environ["MXNET_HOME"], "datasets", folder, name)
    if not os.path.exists(found) and os.path.exists(source):
        os.makedirs(os.path.dirname(os.path.abspath(found)), exist_ok=True)
        shutil.copy(source, found)
    if os.path.exists(found):
        return found
    raise OSError("no network here: " + url)


def _prepared():
    """Files that count as right, and nothing that reaches the network."""
    mnist = os.path.join(os.environ["MXNET_HOME"], "datasets", "mnist")
    for name in os.listdir(mnist):
        os.symlink(os.path.join(mnist, name), name)
    import mxnet as mx
    from mxnet.gluon.data.vision import datasets

    datasets.check_sha1 = lambda *_: True
    if hasattr(datasets, "obtain"):  # ReMX asks hosts in turn
        datasets.obtain = lambda root, namespace, name, sha1: _brought(namespace + "/" + name, os.path.join(root, name))

    def brought(url, path=None, *_, **__):
        return _brought(url, path)

    for owner in (mx.gluon.utils, datasets):
        if hasattr(owner, "download"):
            owner.download = brought
    _without_gpu(mx)
    mx.random.seed(0)
    np.random.seed(0)
    random.seed(0)


def _without_gpu(mx):
    """`gpu(n)` is a CPU, so that programs that name one run."""
    for owner in (mx, mx.context):
        owner.gpu = mx.cpu


def probe_script(path, *arguments):
    try:
        import matplotlib

        matplotlib.use("Agg")
    except ImportError:
        pass
    sys.argv = [path, *arguments]
    folder = os.path.dirname(os.path.abspath(path))
    sys.path[0] = folder
    with open(path, "rb") as file:
        code = compile(file.read(), path, "exec", dont_inherit=True)
    module = types.ModuleType("__main__")
    module.__file__ = path
    sys.modules["__main__"] = module
    exec(code, vars(module))


def kinds_of(text):
    """What there is to run in a program's text."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return []
    names = {n.name for n in tree.body if isinstance(n, ast.FunctionDef)}
    bases = {ast.dump(b) for n in tree.body if isinstance(n, ast.ClassDef) for b in n.bases}
    found = []
    if any(n.startswith("get_") and "symbol" in n for n in names):
        found.append("symbol")
    if any("Block'" in b or "Sequential'" in b for b in bases):
        found.append("blocks")
    return found


PROBES = {"symbol": probe_symbol, "blocks": probe_blocks, "script": probe_script}


# ---------------------------------------------------------------------- one process for each program
def _importable(folder, root):
    """A program imports from its folder and those above it, up to its repository's."""
    while len(folder) > len(root):
        sys.path.append(folder)
        folder = os.path.dirname(folder)
    sys.path.append(root)


def _child(order):
    """Run one program in its folder; never returns."""
    code = 1
    try:
        os.chdir(order["folder"])
        out = os.open(order["out"], os.O_WRONLY | os.O_CREAT)
        os.dup2(out, 1)
        os.dup2(out, 2)
        resource.setrlimit(resource.RLIMIT_CPU, (order["seconds"], order["seconds"] + 1))
        try:
            _importable(order["beside"], order["root"])
            _prepared()
            PROBES[order["kind"]](order["path"], *order["arguments"])
            sys.modules["mxnet"].nd.waitall()  # what was asked for is computed on both
            code = 0
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
        except BaseException:
            traceback.print_exc()
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


IDLE_SECONDS = 60  # a program that computes nothing for so long waits for something that never comes


def _waited(pid, seconds):
    """(exit code, resources); "timeout" for a process that took the processor too long, or no longer uses it."""
    end, used, idle_since = time.time() + 10 * seconds, 0.0, time.time()
    while True:
        done, status, usage = os.wait4(pid, os.WNOHANG)
        if done and os.WIFEXITED(status):
            return os.WEXITSTATUS(status), usage
        if done:
            ended = os.WTERMSIG(status)
            return "timeout" if ended == signal.SIGXCPU else -ended, usage
        now, spent = time.time(), _processor_seconds(pid)
        if spent > used:
            used, idle_since = spent, now
        if now > end or now - idle_since > IDLE_SECONDS:
            os.kill(pid, signal.SIGKILL)
            return "timeout", os.wait4(pid, 0)[2]
        time.sleep(0.02)


def _processor_seconds(pid):
    """Processor time that a running process has used, as /proc counts it."""
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def serve():
    """A line of JSON in, one out, until the input ends."""
    import mxnet as mx

    mx.nd.ones(1).asnumpy()
    mx.gluon.nn.Dense(1)
    answers = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        order = json.loads(line)
        pid = os.fork()
        if pid == 0:
            _child(order)
        code, usage = _waited(pid, order["seconds"])
        seconds = round(usage.ru_utime + usage.ru_stime, 2)
        answers.write(json.dumps({"code": code, "seconds": seconds, "megabytes": usage.ru_maxrss // 1024}) + "\n")
        answers.flush()


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve()
    else:
        PROBES[sys.argv[1]](*sys.argv[2:])
