"""Programs that torchrun, srun, mpirun or Kubernetes start find each other by the variables that those set."""

import json
import os
import pathlib
import re
import subprocess
import sys
import time

import pytest

import mxnet as mx
from mxnet._core.ports import free_port
from mxnet.kvstore import cluster

PROGRAM = [sys.executable, str(pathlib.Path(__file__).parent / "cluster_worker.py")]
CLEAN = {
    k: v for k, v in os.environ.items() if not k.startswith(("SLURM_", "OMPI_", "PMI", "MASTER_", "DMLC_", "RANK"))
}
SURROUNDINGS = {**CLEAN, "OMP_NUM_THREADS": "1", "MXNET_KVSTORE_TIMEOUT": "60"}


def slurm(rank):
    """What srun sets on one node; the name of the node need not be known for that."""
    names = {"SLURM_STEP_NODELIST": "node[07-09]", "SLURM_JOB_ID": f"{os.getpid()}", "SLURM_STEP_ID": "0"}
    return {**names, "SLURM_PROCID": str(rank), "SLURM_NTASKS": "2", "SLURM_LOCALID": str(rank), "SLURM_NNODES": "1"}


def open_mpi(rank):
    size = {
        "OMPI_COMM_WORLD_SIZE": "2",
        "OMPI_COMM_WORLD_LOCAL_SIZE": "2",
        "PMIX_NAMESPACE": f"prterun-{os.getpid()}@1",
    }
    return {**size, "OMPI_COMM_WORLD_RANK": str(rank), "OMPI_COMM_WORLD_LOCAL_RANK": str(rank)}


def mpich(rank):
    """Hydra names no job: the recipe gives a port."""
    return {"PMI_RANK": str(rank), "PMI_SIZE": "2", "MPI_LOCALNRANKS": "2", "MASTER_PORT": PORT}


def indexed_job(rank):
    """An indexed Job of Kubernetes: the manifest gives the three other facts."""
    place = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": PORT, "WORLD_SIZE": "2"}
    return {**place, "JOB_COMPLETION_INDEX": str(rank), "KUBERNETES_SERVICE_HOST": "10.0.0.1"}


def mxjob(rank):
    workers = [{"url": "127.0.0.1", "port": int(PORT)}, {"url": "127.0.0.1", "port": int(PORT)}]
    told = {"cluster": {"worker": workers, "scheduler": []}, "task": {"type": "worker", "index": rank}}
    others = {"DMLC_PS_ROOT_URI": "scheduler.invalid", "DMLC_PS_ROOT_PORT": "1", "DMLC_NUM_WORKER": "2"}
    return {**others, "MX_CONFIG": json.dumps(told)}


PORT = str(free_port())


PLAYED = {one.__name__: one for one in (slurm, open_mpi, mpich, indexed_job, mxjob)}


@pytest.fixture(scope="module")
def said():
    """What each of two workers has said under every launcher."""
    environments = [json.dumps({name: play(rank) for name, play in PLAYED.items()}) for rank in range(2)]
    workers = [
        subprocess.Popen([*PROGRAM, told], env=SURROUNDINGS, stdout=subprocess.PIPE, text=True) for told in environments
    ]
    try:
        return [worker.communicate(timeout=200)[0].splitlines() for worker in workers]
    finally:
        for worker in workers:
            worker.kill()
            worker.communicate()


@pytest.mark.parametrize("name", PLAYED)
def test_workers_find_each_other(name, said):
    for rank, lines in enumerate(said):
        found = [line.removeprefix(f"{name}: ") for line in lines if line.startswith(f"{name}: ")]
        assert found == [f"worker {rank} of 2", "exit code 0"]


def test_torchrun():
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--standalone", PROGRAM[1]]
    done = subprocess.run(command, env=SURROUNDINGS, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and sorted(re.findall(r"worker \d of 2", done.stdout)) == [
        "worker 0 of 2",
        "worker 1 of 2",
    ], done.stderr


@pytest.fixture
def variables(monkeypatch):
    told = {name for names in cluster.NAMES.values() for name in names}
    for name in told | {"MX_CONFIG", "SLURM_NNODES", "SLURM_STEP_NUM_NODES", "SLURM_STEP_ID"}:
        monkeypatch.delenv(name, raising=False)
    return lambda **told: [monkeypatch.setenv(name, value) for name, value in told.items()]


@pytest.mark.parametrize(
    ("nodes", "first"),
    [
        ("node7", "node7"),
        ("node[07-09,12]", "node07"),
        ("node[12,14-15],login1", "node12"),
        ("rack[1-2]-gpu", "rack1-gpu"),
        ("a.example.org,b.example.org", "a.example.org"),
        ("gpu-a-[001-128]", "gpu-a-001"),
    ],
)
def test_the_first_host_of_slurms_list(nodes, first, variables):
    assert cluster.first_host(nodes) == first
    variables(SLURM_PROCID="3", SLURM_NTASKS="8", SLURM_NNODES="2", SLURM_STEP_NODELIST=nodes, SLURM_JOB_ID="4711")
    variables(SLURM_STEP_ID="0")
    assert cluster.fact("address") == first and cluster.number("rank") == 3 and cluster.number("world") == 8
    port = cluster.number("port")
    variables(SLURM_JOB_ID="4712")
    assert 15000 <= port < 30000 and cluster.number("port") != port


def test_the_script_of_a_batch_job_is_no_worker(variables):
    """sbatch gives its script the variables of a first worker; only srun starts workers."""
    variables(SLURM_PROCID="0", SLURM_NTASKS="4", SLURM_NNODES="2", SLURM_JOB_NODELIST="node[01-02]", SLURM_JOB_ID="1")
    assert not cluster.started_by_a_launcher()
    with pytest.raises(mx.MXNetError, match="needs RANK or DMLC_WORKER_ID in the environment"):
        cluster.fact("rank")
    variables(SLURM_STEP_ID="0", SLURM_STEP_NODELIST="node02", SLURM_STEP_NUM_NODES="1", SLURM_NTASKS="2")
    assert cluster.started_by_a_launcher() and cluster.own_address(2) == "127.0.0.1"  # one host of two


def test_what_the_environment_lacks_is_said(variables):
    variables(OMPI_COMM_WORLD_RANK="0", OMPI_COMM_WORLD_SIZE="4", OMPI_COMM_WORLD_LOCAL_SIZE="2")
    with pytest.raises(mx.MXNetError, match="needs MASTER_ADDR or DMLC_PS_ROOT_URI in the environment"):
        cluster.fact("address")
    variables(MX_CONFIG="{}")
    with pytest.raises(mx.MXNetError, match="MX_CONFIG is not what Kubeflow's MXJob writes"):
        cluster.fact("rank")
    variables(MX_CONFIG='{"cluster": {"worker": [{"url": "w", "port": 1}]}, "task": {"type": "server", "index": 0}}')
    with pytest.raises(mx.MXNetError, match="this process is a server of an MXJob"):
        cluster.fact("rank")


def test_a_pods_name_is_waited_for_no_longer_than_workers_wait(monkeypatch):
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    monkeypatch.setenv("MASTER_ADDR", "pod-0.nowhere.invalid")
    monkeypatch.setenv("MXNET_KVSTORE_TIMEOUT", "1")
    monkeypatch.setattr(cluster.addresses, "resolve", lambda name: None)
    start = time.monotonic()
    with pytest.raises(mx.MXNetError, match="pod-0.nowhere.invalid"):
        cluster.own_address(2)
    assert 0.5 < time.monotonic() - start < 20
