"""`horovod.mxnet` and `horovodrun`: training in 2 and 4 processes gives the weights of one."""

import importlib
import inspect
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig

import numpy as np
import pytest

HERE = pathlib.Path(__file__).parent
PACKAGE = HERE.parents[1] / "packages" / "remx-horovod" / "src"
HOROVODRUN = [sys.executable, "-m", "horovod.runner.launch"]
TRAININGS = ("resnet", "bert", "halves", "module", "words", "byteps")
TOLERANCE = {"halves": 2e-3}  # gradients that travelled as float16


def surroundings(*more, **variables):
    path = [*map(str, more), str(PACKAGE), *filter(None, [os.environ.get("PYTHONPATH")])]
    settings = {
        "OMP_NUM_THREADS": "1",
        "MXNET_VIRTUAL_GPUS": "1",
        "MXNET_KVSTORE_TIMEOUT": "60",
        "PYTHONPATH": os.pathsep.join(path),
    }
    return {**os.environ, **settings, **variables}


def run(command, **variables):
    return subprocess.run(command, env=surroundings(**variables), capture_output=True, text=True, timeout=240)


def job(processes, modes, folder, *options, **variables):
    program = [sys.executable, str(HERE / "worker.py"), modes, str(folder / "weights")]
    return run([*HOROVODRUN, "-np", str(processes), *options, *program], **variables)


def weights(folder, mode, processes, rank=0):
    with np.load(folder / f"weights-{mode}-{processes}-{rank}.npz") as found:
        return dict(found)


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """The weights of one process that no launcher has started."""
    folder = tmp_path_factory.mktemp("alone")
    done = run([sys.executable, str(HERE / "worker.py"), ",".join(TRAININGS), str(folder / "weights")])
    assert done.returncode == 0, done.stderr
    return {mode: weights(folder, mode, 1) for mode in TRAININGS}


def compare(alone, folder, processes):
    for mode in TRAININGS:
        for rank in range(processes):
            found = weights(folder, mode, processes, rank)
            assert sorted(found) == sorted(alone[mode]) and len(found) >= 3
            for name, expected in alone[mode].items():
                np.testing.assert_allclose(found[name], expected, rtol=0, atol=TOLERANCE.get(mode, 1e-5), err_msg=mode)


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """The folder with the weights of a job of two processes that runs everything, one after the other."""
    folder = tmp_path_factory.mktemp("pair")
    done = job(2, ",".join(["collectives", *TRAININGS, "elastic"]), folder)
    assert done.returncode == 0, done.stderr
    return folder


def test_two_processes_give_the_weights_of_one(alone, pair):
    compare(alone, pair, 2)


@pytest.mark.slow
def test_four_processes_give_the_weights_of_one(alone, tmp_path):
    done = job(4, ",".join(["collectives", *TRAININGS]), tmp_path)
    assert done.returncode == 0, done.stderr
    compare(alone, tmp_path, 4)


def test_committed_state_survives_a_killed_process(pair, tmp_path):
    done = job(2, "elastic", tmp_path, "--reset-limit", "1", DIES="1")
    assert done.returncode == 0 and done.stdout.count("began with step 2") == 2, done.stdout + done.stderr
    for name, expected in weights(pair, "elastic", 2).items():
        np.testing.assert_array_equal(weights(tmp_path, "elastic", 2, 1)[name], expected)


REDUCTION = "average name priority prescale_factor postscale_factor process_set op"
SCATTER = "op name priority process_set prescale_factor postscale_factor"
MOVE = "name priority process_set"
SIGNATURES = {  # of Horovod 0.28.1
    "allreduce": f"tensor {REDUCTION}",
    "allreduce_": f"tensor {REDUCTION}",
    "grouped_allreduce": f"tensors {REDUCTION}",
    "grouped_allreduce_": f"tensors {REDUCTION}",
    "reducescatter": f"tensor {SCATTER}",
    "grouped_reducescatter": f"tensors {SCATTER}",
    "allgather": f"tensor {MOVE}",
    "grouped_allgather": f"tensors {MOVE}",
    "broadcast": f"tensor root_rank {MOVE}",
    "broadcast_": f"tensor root_rank {MOVE}",
    "alltoall": f"tensor splits {MOVE}",
    "broadcast_object": "obj root_rank name",
    "allgather_object": "obj name",
    "broadcast_parameters": "params root_rank prefix",
    "DistributedOptimizer": "optimizer gradient_predivide_factor num_groups process_set",
    "DistributedTrainer": "params optimizer optimizer_params compression gradient_predivide_factor prefix num_groups "
    "process_set",
    "ProcessSet": "ranks_or_comm",
    "add_process_set": "process_set",
    "remove_process_set": "process_set",
    "init": "comm process_sets",
    "start_timeline": "file_path mark_cycles",
}
WITHOUT_ARGUMENTS = """shutdown is_initialized stop_timeline size local_size cross_size rank local_rank cross_rank
mpi_threads_supported mpi_enabled mpi_built gloo_enabled gloo_built nccl_built ddl_built ccl_built
cuda_built rocm_built"""


def test_names_and_signatures_are_horovods(monkeypatch):
    monkeypatch.syspath_prepend(str(PACKAGE))
    hvd = importlib.import_module("horovod.mxnet")
    expected = {**SIGNATURES, **dict.fromkeys(WITHOUT_ARGUMENTS.split(), "")}
    found = {name: " ".join(inspect.signature(getattr(hvd, name)).parameters) for name in expected}
    assert found == expected
    assert [hvd.Average, hvd.Sum, hvd.Adasum, hvd.Min, hvd.Max, hvd.Product] == list(range(6))
    older, errors, compression = (
        importlib.import_module(f"horovod.{name}")
        for name in ("mxnet.mpi_ops", "common.exceptions", "mxnet.compression")
    )
    assert older.allreduce is hvd.allreduce and errors.HorovodInternalError is hvd.HorovodInternalError
    assert issubclass(hvd.Compression.fp16, compression.Compressor)
    with pytest.raises(ValueError, match="has not been initialized; use hvd.init"):
        hvd.rank()


def test_another_horovod_is_not_replaced(tmp_path):
    (tmp_path / "horovod").mkdir()
    (tmp_path / "horovod" / "__init__.py").write_text("")
    command = [sys.executable, "-c", f"import sys; sys.path.append({str(tmp_path)!r}); import horovod.mxnet"]
    done = subprocess.run(command, env=surroundings(), capture_output=True, text=True, cwd=tmp_path.parent)
    assert done.returncode == 1 and "does not replace another horovod" in done.stderr, done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-np", "3", "-H", "a:1,b:1", "true"], "3 processes need more slots than the 2 of the hosts"),
        (["-np", "3", "-H", "a:2,b:2", "true"], "all hosts must run the same number of processes, not a:2, b:1"),
        (["-np", "2", "-H", "a:x", "true"], "hosts are written host:slots, not a:x"),
        (["-np", "2", "-hostfile", "/no/such/file", "true"], "the host file /no/such/file cannot be read"),
        (["-np", "2", "-hostfile", sys.executable, "true"], "cannot be read: 'utf-8' codec"),
        (["--min-np", "1", "-np", "2", "true"], "--min-np and --max-np need --host-discovery-script"),
        (["--min-np", "3", "--max-np", "2", "--host-discovery-script", "true", "true"], "cannot be"),
        (["true"], "say how many processes and which program"),
    ],
)
def test_what_horovodrun_refuses(arguments, said, monkeypatch, capsys):
    monkeypatch.syspath_prepend(PACKAGE)
    main = importlib.import_module("horovod.runner.launch").main
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code != 0 and said in f"{ended.value} {capsys.readouterr().err}"


def test_objects_of_strangers_are_not_opened(tmp_path, monkeypatch):
    """Also where the program has made the process group itself, and so has met nobody at our meeting point."""
    monkeypatch.syspath_prepend(str(PACKAGE))
    monkeypatch.delenv("MXNET_KVSTORE_SECRET_FILE", raising=False)
    monkeypatch.setenv("MXNET_HOME", str(tmp_path))
    functions = importlib.import_module("horovod.mxnet.functions")
    monkeypatch.setattr(functions.Meeting, "secret", None)
    assert functions._unpacked(functions._packed({"a": 1})) == {"a": 1}
    pickled = b"cposix\nsystem\n(S'touch " + str(tmp_path / "witness").encode() + b"'\ntR."
    for key in (b"", b"s" * 64):
        with pytest.raises(functions.MXNetError, match="no member of this job has sent"):
            functions._unpacked(functions.digest(key, b"horovod object", pickled) + pickled)
    assert not (tmp_path / "witness").exists()


@pytest.mark.slow
def test_processes_come_and_go(pair, tmp_path):
    """`horovodrun --min-np 1 --max-np 4 --host-discovery-script`: committed state survives, whatever the number."""
    slots = tmp_path / "slots"
    slots.write_text("localhost:2\n")
    options = ["--min-np", "1", "--max-np", "4", "--host-discovery-script", f"cat {slots}"]
    program = [sys.executable, str(HERE / "worker.py"), "elastic", str(tmp_path / "weights")]
    done = run([*HOROVODRUN, *options, *program], DIES="1", SLOTS=str(slots))
    assert done.returncode == 0 and done.stdout.count("began with step 2") == 4, done.stdout + done.stderr
    for name, expected in weights(pair, "elastic", 2).items():
        found = weights(tmp_path, "elastic", 4, 3)[name]
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5, err_msg=name)


@pytest.mark.slow
def test_the_package_is_installed_into_an_empty_environment(tmp_path):
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    source = shutil.copytree(PACKAGE.parent, tmp_path / "source", ignore=shutil.ignore_patterns("*.egg-info", "build"))
    offline = ["--no-deps", "--no-index", "--quiet"]
    subprocess.run([*pip, "wheel", *offline, "--no-build-isolation", "-w", tmp_path, source], check=True)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "empty"], check=True)
    python = tmp_path / "empty" / "bin" / "python"
    [wheel] = tmp_path.glob("remx_horovod-*.whl")
    subprocess.run([*pip, "--python", python, "install", *offline, wheel], check=True)
    mxnet = importlib.import_module("mxnet")
    path = os.pathsep.join([str(pathlib.Path(mxnet.__file__).parents[1]), sysconfig.get_paths()["purelib"]])
    environment = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
    done = subprocess.run([python.with_name("horovodrun"), "-cb"], env=environment, capture_output=True, text=True)
    assert done.returncode == 0 and "MXNet (ReMX)" in done.stdout, done.stderr
    command = [python.with_name("horovodrun"), "-np", "2", python, "-c"]
    command.append("import horovod.mxnet as h; h.init(); print(h.__file__, h.size())")
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and done.stdout.count(str(tmp_path / "empty")) == 2, done.stdout + done.stderr
