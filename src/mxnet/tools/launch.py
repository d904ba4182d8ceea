"""Start the workers of a distributed job: `python -m mxnet.tools.launch -n 4 python train.py`.

Workers run on this machine, or over ssh on the machines of a host file, under torch's elastic agent: when one dies,
the others end with it, or all start again (`--max-restarts`) from the checkpoint that the program keeps.
"""

import argparse
import contextlib
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid

from .._core.arguments import at_least
from .._core.ports import free_port

PASSED = ("PYTHONPATH", "LD_LIBRARY_PATH", "OMP_NUM_THREADS")  # variables that hosts are given without being asked
TAKEN = (
    signal.SIGTERM,
    signal.SIGINT,
    *([signal.SIGHUP, signal.SIGQUIT] if os.name == "posix" else []),
)  # signals, by torch's agent


def parser():
    """The command line."""
    options = argparse.ArgumentParser(prog="remx launch", description="Launch a distributed job")
    options.add_argument("-n", "--num-workers", type=at_least(1), required=True, help="how many workers to start")
    options.add_argument("-s", "--num-servers", type=int, help="accepted; workers hold the values themselves")
    options.add_argument("-H", "--hostfile", help="a file of host names, one a line: workers are spread over them")
    options.add_argument("--launcher", choices=["local", "ssh", "mpi", "sge", "yarn"], help="local, or ssh with -H")
    options.add_argument("--sync-dst-dir", help="copy the current directory to this one on every host first (rsync)")
    options.add_argument("--env", action="append", default=[], metavar="NAME", help="pass this variable to the hosts")
    options.add_argument("--env-worker", action="append", default=[], metavar="NAME:VALUE", help="set it for workers")
    options.add_argument("--env-server", action="append", default=[], metavar="NAME:VALUE", help="accepted")
    options.add_argument("--p3", action="store_true", help="accepted; sums need no priorities here")
    options.add_argument(
        "--max-restarts", type=at_least(0), default=0, help="start all again so often when a worker dies"
    )
    options.add_argument("--port", type=int, default=0, help="where workers meet; any free port if 0")
    options.add_argument("--nodes", type=int, default=1, help=argparse.SUPPRESS)
    options.add_argument("--node-rank", type=int, default=0, help=argparse.SUPPRESS)
    options.add_argument("--master", default="127.0.0.1", help=argparse.SUPPRESS)
    options.add_argument("command", nargs=argparse.REMAINDER, help="the program and its arguments")
    return options


def worker_environment(options):
    """What MXNet's launcher tells its workers; their ranks come from the agent."""
    variables = {"DMLC_ROLE": "worker", "DMLC_NUM_WORKER": str(options.num_workers * options.nodes)}
    variables.setdefault("OMP_NUM_THREADS", os.environ.get("OMP_NUM_THREADS", "1"))
    for pair in options.env_worker:
        name, separator, value = pair.partition(":")
        if not separator:
            raise SystemExit(f"--env-worker wants NAME:VALUE, got {pair!r}")
        variables[name] = value
    return variables


def first_cause(error):
    """(rank, failure) to name: a worker that was killed, since the others may have failed for want of it."""
    killed = {r: f for r, f in error.failures.items() if f.exitcode < 0 and f.exitcode != -signal.SIGTERM}
    return min(killed.items(), key=lambda item: item[1].timestamp) if killed else error.get_first_failure()


@contextlib.contextmanager
def handlers_restored():
    """Give signals back to who had them: torch's agent keeps them, and processes that are forked later inherit it."""
    known = threading.current_thread() is threading.main_thread()
    before = {number: signal.getsignal(number) for number in TAKEN} if known else {}
    try:
        yield
    finally:
        for number, handler in before.items():
            if handler is not None:  # None: not set by Python
                signal.signal(number, handler)


def run_here(options):
    """Run this machine's workers until they end; the exit code."""
    from torch.distributed.elastic.multiprocessing.api import DefaultLogsSpecs, SignalException
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
    from torch.distributed.launcher.api import LaunchConfig, elastic_launch

    os.environ.update(worker_environment(options))
    try:
        with handlers_restored(), tempfile.TemporaryDirectory(prefix="mxnet-launch-") as folder:
            config = LaunchConfig(
                min_nodes=options.nodes,
                max_nodes=options.nodes,
                nproc_per_node=options.num_workers,
                logs_specs=DefaultLogsSpecs(log_dir=folder),  # torch's own choice would stay behind
                run_id=uuid.uuid4().hex if options.nodes == 1 else "mxnet",
                rdzv_backend="static",
                rdzv_endpoint=f"{options.master}:{options.port or free_port()}",
                rdzv_configs={"rank": options.node_rank, "timeout": 900},
                max_restarts=options.max_restarts,
                monitor_interval=0.5,
            )
            elastic_launch(config, options.command[0])(*options.command[1:])
    except ChildFailedError as error:
        rank, failure = first_cause(error)
        print(f"worker {rank} failed with exit code {failure.exitcode}; the others were ended", file=sys.stderr)
        return failure.exitcode if 0 < failure.exitcode < 256 else 1
    except SignalException as error:
        print(f"ended by signal {int(error.sigval)}, with all workers", file=sys.stderr)
        return 128 + int(error.sigval)
    return 0


def hosts_of(path):
    """Host names of a host file, `user@host:port` if need be; what follows (slots and the like) is left aside."""
    with open(path) as file:
        names = [line.split("#")[0].split() for line in file]
    found = [fields[0] for fields in names if fields]
    if not found:
        raise SystemExit(f"the host file {path} names no host")
    return found


def spread(workers, hosts):
    """How many workers each host runs; hosts with none are left out."""
    counts = [workers // len(hosts) + (i < workers % len(hosts)) for i in range(len(hosts))]
    if len(set(filter(None, counts))) > 1:
        raise SystemExit(f"{workers} workers do not spread evenly over {len(hosts)} hosts; choose a multiple")
    return [(host, count) for host, count in zip(hosts, counts, strict=True) if count]


def interpreter(command):
    """The Python of the hosts: the one that the program is started with, so that both find the same packages."""
    return command[0] if os.path.basename(command[0]).startswith("python") else "python3"


def remote_command(options, node, nodes, count, master, port, folder):
    """The command line that starts a host's share of the workers."""
    passed = [f"{name}={os.environ[name]}" for name in (*PASSED, *options.env) if name in os.environ]
    mine = ["-n", str(count), "--nodes", str(nodes), "--node-rank", str(node), "--master", master, "--port", str(port)]
    mine += ["--max-restarts", str(options.max_restarts)]
    for pair in options.env_worker:
        mine += ["--env-worker", pair]
    parts = ["env", *passed, interpreter(options.command), "-m", "mxnet.tools.launch", *mine, *options.command]
    return f"cd {shlex.quote(folder)} && {shlex.join(parts)}"


def ssh(host, command):
    """The command line of ssh; a terminal is asked for, so that what runs there ends when the connection does."""
    name, _, port = host.partition(":")
    place = ["-p", port, name] if port else [name]
    return ["ssh", "-tt", "-o", "StrictHostKeyChecking=accept-new", *place, command]


def run_over_ssh(options):
    """One agent on each host; when one fails, the others are ended."""
    places = spread(options.num_workers, hosts_of(options.hostfile))
    folder = options.sync_dst_dir or os.getcwd()
    master, port = places[0][0].partition(":")[0].rpartition("@")[2], options.port or 29500
    if options.sync_dst_dir:
        for host, _ in places:
            name, _, ssh_port = host.partition(":")
            shell = ["-e", f"ssh -p {ssh_port}"] if ssh_port else []
            subprocess.run(["rsync", "-az", *shell, "./", f"{name}:{options.sync_dst_dir}/"], check=True)
    agents = []
    for node, (host, count) in enumerate(places):
        command = remote_command(options, node, len(places), count, master, port, folder)
        agents.append(subprocess.Popen(ssh(host, command), stdin=subprocess.DEVNULL))
    return first_failure(agents, [host for host, _ in places])


def first_failure(agents, hosts, patience=60):
    """Wait for all; when one fails, those that have not ended by themselves after `patience` seconds are ended."""
    code, deadline = 0, None
    while any(agent.poll() is None for agent in agents):
        for agent, host in zip(agents, hosts, strict=True):
            if agent.poll() and not code:
                code, deadline = abs(agent.returncode), time.monotonic() + patience
                print(f"the workers on {host} failed with exit code {code}", file=sys.stderr)
        if deadline is not None and time.monotonic() > deadline:
            for agent in agents:
                agent.terminate()
        time.sleep(0.1)
    return code or max(abs(agent.returncode) for agent in agents)


def main(arguments=None):
    """Start the workers, and wait for them."""
    options = parser().parse_args(arguments)
    if options.command[:1] == ["--"]:
        options.command = options.command[1:]
    if not options.command:
        parser().error("no program to start; for example: -n 4 python train.py")
    if options.launcher in ("mpi", "sge", "yarn"):
        parser().error(
            f"--launcher {options.launcher} is not needed: start the program with {options.launcher} itself; "
            "its RANK and WORLD_SIZE variables are understood"
        )
    if options.launcher == "ssh" and not options.hostfile:
        parser().error("--launcher ssh wants a file of host names: -H HOSTFILE")
    return run_over_ssh(options) if options.hostfile else run_here(options)


if __name__ == "__main__":
    sys.exit(main())
