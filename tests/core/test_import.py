"""Importing: fast, lazy, and without side effects."""

import subprocess
import sys

import pytest


def run(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_recordio_loads_no_torch_and_starts_no_thread():
    out = run(
        "import mxnet, sys, threading; mxnet.recordio.MXRecordIO;"
        "print('torch' in sys.modules, threading.active_count(), mxnet.__version__)"
    )
    assert out == "False 1 1.9.1"


def test_our_own_version_is_there():
    assert run("import mxnet; print(mxnet.__remx_version__.count('.') >= 1)") == "True"


def test_import_changes_nothing_global():
    out = run(
        "import torch, numpy, random, logging;"
        "before = (torch.is_grad_enabled(), torch.get_default_dtype(), torch.get_num_threads(),"
        " numpy.get_printoptions(), random.getstate(), logging.getLogger().level, torch.get_rng_state().sum().item());"
        "import mxnet as mx; mx.nd.ones((2,)) + 1; mx.gluon; mx.sym;"
        "after = (torch.is_grad_enabled(), torch.get_default_dtype(), torch.get_num_threads(),"
        " numpy.get_printoptions(), random.getstate(), logging.getLogger().level, torch.get_rng_state().sum().item());"
        "print(before == after)"
    )
    assert out == "True"


def test_pools_of_processes_are_there_with_arrays_as_in_mxnet():
    """Sockeye says `multiprocessing.pool.Pool` and imports only `multiprocessing`."""
    assert run("import multiprocessing, mxnet as mx; mx.nd; print(multiprocessing.pool.Pool.__name__)") == "Pool"


def test_an_old_mxnet_beside_us_is_named_with_the_command_that_removes_it(tmp_path):
    from mxnet._core import conflict

    (tmp_path / "mxnet").mkdir()
    conflict.check(str(tmp_path / "mxnet" / "__init__.py"))
    (tmp_path / "mxnet_cu112-1.9.1.dist-info").mkdir()
    with pytest.raises(ImportError, match="pip uninstall -y mxnet-cu112"):
        conflict.check(str(tmp_path / "mxnet" / "__init__.py"))


@pytest.mark.parametrize(
    "path",
    "mxnet.ndarray.ndarray mxnet.gluon.block mxnet.gluon.parameter mxnet.module.module mxnet.symbol.symbol"
    " mxnet.optimizer.optimizer mxnet.io.io mxnet.image.image mxnet.kvstore.kvstore mxnet.gluon.nn.basic_layers"
    " mxnet.gluon.rnn.rnn_cell mxnet.gluon.data.dataloader mxnet.gluon.model_zoo.vision.resnet".split(),
)
def test_mxnets_module_paths_stay_importable(path):
    __import__(path)


def test_every_name_that_the_package_lists_is_there():
    import mxnet as mx

    assert [name for name in dir(mx) if not hasattr(mx, name)] == []
    assert not hasattr(mx, "library")  # a question, which may not end in ModuleNotFoundError


def test_namespaces_of_operators_are_whole_to_whoever_looks_into_them():
    import mxnet as mx

    for space in (mx.nd.contrib, mx.sym.contrib, mx.nd.linalg, mx.sym.linalg, mx.nd.image):
        assert not [name for name in dir(space) if name not in space.__dict__]
    assert "box_decode" in mx.nd.contrib.__dict__ and "box_decode" in mx.sym.contrib.__dict__  # as GluonCV asks
    assert "no_such_operator" not in mx.nd.contrib.__dict__


@pytest.mark.parametrize("space", ["op", "_internal", "contrib", "linalg", "image", "sparse", "random"])
def test_one_name_is_found_without_going_through_all(space, monkeypatch):
    """A first `mx.nd.exp` takes a third of the time it took when all names of operators were put in order for it."""
    from mxnet._ops.registry import registry
    from mxnet._ops.registry.signature import names_in_namespace
    from mxnet.ndarray._dispatch.generated import operator_of

    all_of_them = names_in_namespace(space)
    monkeypatch.setattr(registry, "names", None)
    assert {name: operator_of(space, name) for name in all_of_them} == all_of_them
    assert not any(operator_of(space, name) for name in ("", "nothing", "_nothing", "_contrib_nothing"))


def test_a_first_function_asks_for_its_own_name_only():
    out = run(
        "from mxnet._ops.registry import registry; names = registry.names; registry.names = None;"
        "from mxnet import nd; print(nd.arccosh.__name__, nd.linalg.gemm2.__name__, hasattr(nd, 'nothing'));"
        "registry.names = names; print('arctan' in dir(nd))"
    )
    assert out.split() == ["arccosh", "gemm2", "False", "True"]


@pytest.mark.parametrize(
    "module, count, some",
    [
        ("ndarray", 322, "NDArray CachedOp FullyConnected array concat load random sparse zeros"),
        ("symbol", 295, "FullyConnected Symbol contrib load_json relu var"),
        ("ndarray.contrib", 78, "ROIAlign foreach box_nms isnan"),
        ("symbol.contrib", 69, "ROIAlign foreach box_nms while_loop"),
        ("ndarray.random", 18, "normal normal_like shuffle"),
        ("symbol.random", 18, "normal normal_like shuffle"),
        ("ndarray.sparse", 81, "CSRNDArray abs add dot retain row_sparse_array"),
        ("symbol.sparse", 72, "abs dot retain"),
        ("ndarray.linalg", 17, "gemm2 potrf"),
        ("symbol.image", 15, "resize to_tensor"),
    ],
)
def test_all_names_of_a_module_are_what_mxnets_gives(module, count, some):
    """MXNet's counts, but for helpers, what is ours (storage classes, `from_torch`) and `dgl_…` of symbols."""
    out = run(f"from mxnet.{module} import *; print(*[n for n in globals() if not n.startswith('_')])").split()
    assert len(out) == count and set(some.split()) <= set(out)


def test_modules_of_operators_show_no_helpers():
    shown = run("from mxnet import nd, sym; print(*dir(nd.random), *dir(sym.random), *dir(nd.linalg), *dir(sym.op))")
    assert not {"draw", "lookup", "module_attributes"} & set(shown.split())
