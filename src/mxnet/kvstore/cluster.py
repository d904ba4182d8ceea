"""What the program that started this process tells of the job: rank, number of workers, and where the first one is.

Understood are torchrun, `remx launch` and MXNet's own launcher, Open MPI, MPICH and Intel MPI, Slurm's `srun`, and
Kubernetes: PyTorchJob, MXJob, and indexed jobs.
"""

import json
import os
import re
import time
import zlib

from .._core.environment import whole_number
from .._core.errors import MXNetError
from .._wire import addresses

HOW = "start the workers with: python -m mxnet.tools.launch -n 4 python train.py"
# What launchers call the same four facts, torchrun's names first, then those of MXNet's own launcher.
NAMES = {
    "rank": (
        *("RANK", "DMLC_WORKER_ID", "DMLC_TASK_ID"),
        *("OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID", "JOB_COMPLETION_INDEX"),
    ),
    "world": ("WORLD_SIZE", "DMLC_NUM_WORKER", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"),
    "address": ("MASTER_ADDR", "DMLC_PS_ROOT_URI"),
    "port": ("MASTER_PORT", "DMLC_PS_ROOT_PORT"),
}
_JOBS = ("SLURM_JOB_ID", "PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid")  # what tells jobs of one machine apart
DEFAULT_PORT = 29500  # torch's own


_DNS = 60  # seconds in which Kubernetes makes a pod's name known, if workers wait for each other so long


def patience():
    """Seconds that workers wait for each other."""
    what = "a whole number of seconds, at least 1"
    return whole_number("MXNET_KVSTORE_TIMEOUT", 1800, what, below=10**9, least=1)


def started_by_a_launcher():
    """Is there anything in the environment that tells the number of workers?"""
    return "MX_CONFIG" in os.environ or any(_told(name) is not None for name in NAMES["world"])


def _told(variable):
    """The text of a variable. The script of Slurm's batch job has those of a worker too, only `srun` sets a step."""
    if variable.startswith("SLURM_") and "SLURM_STEP_ID" not in os.environ:
        return None
    return os.environ.get(variable)


def fact(name):
    """The text of a fact: as a variable says it, else as it follows from what a cluster says."""
    if (found := _of_mxjob().get(name)) is not None:
        return found
    for variable in NAMES[name]:
        if (found := _told(variable)) is not None:
            return found
    if name in _DERIVED and (found := _DERIVED[name]()) is not None:
        return found
    raise MXNetError(f"a distributed kvstore needs {' or '.join(NAMES[name][:2])} in the environment; {HOW}")


def number(name):
    """A fact that is a number."""
    text = fact(name)
    try:
        return int(text)
    except ValueError:
        raise MXNetError(f"the {name} of this worker must be a number, not {text!r}; {HOW}") from None


def own_address(world):
    """The address that this process binds; the names of Kubernetes' pods are waited for."""
    limit = time.monotonic() + (min(_DNS, patience()) if "KUBERNETES_SERVICE_HOST" in os.environ else 0)
    while addresses.resolve(fact("address")) is None and time.monotonic() < limit:
        time.sleep(0.5)
    return addresses.own(fact("address"), world)


# ---------------------------------------------------------------------- what follows from what clusters say
def first_host(nodes):
    """The first name of Slurm's list: `node[07-09,12],login1` begins with node07."""
    first = re.match(r"([^,\[]+)(?:\[([^\],-]+)[^\]]*\]([^,]*))?", nodes.strip())
    return "".join(part or "" for part in first.groups()) if first else None


def _derived_address():
    if nodes := _told("SLURM_STEP_NODELIST"):
        return first_host(nodes)
    return addresses.LOOPBACK if addresses.on_one_machine(number("world")) else None


def _derived_port():
    """One of the ports 15000 to 29999, chosen by the job's name; torch's default where it has none."""
    told = next((os.environ[name] for name in _JOBS if name in os.environ), None)
    if told is None:
        return str(DEFAULT_PORT) if addresses.on_one_machine(number("world")) else None
    return str(15000 + zlib.crc32(f"{told} {os.environ.get('SLURM_STEP_ID', '')}".encode()) % 15000)


_DERIVED = {"address": _derived_address, "port": _derived_port}


def _of_mxjob():
    """The facts of Kubeflow's MXJob, whose DMLC variables name the scheduler, which has no part in jobs of ours."""
    text = os.environ.get("MX_CONFIG")
    if not text or "RANK" in os.environ:
        return {}
    try:
        told = json.loads(text)
        workers, task = told["cluster"]["worker"], told["task"]
        first = {"address": workers[0]["url"], "port": str(workers[0]["port"])}
        kind, rank = task["type"], str(task["index"])
    except (ValueError, LookupError, TypeError) as error:
        raise MXNetError(f"MX_CONFIG is not what Kubeflow's MXJob writes: {error!r}") from None
    if kind != "worker":
        raise MXNetError(f"this process is a {kind} of an MXJob: workers hold the values themselves, start none other")
    return {**first, "rank": rank, "world": str(len(workers))}
