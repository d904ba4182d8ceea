"""`horovodrun -np 4 python train.py`: Horovod's command line on the launcher of ReMX."""

import argparse
import os
import shutil
import sys
import tempfile

from mxnet._core.arguments import at_least
from mxnet._wire.addresses import is_loopback
from mxnet.tools import launch

from .. import __version__
from . import FOLDER

# Options for transports and tuning that have no counterpart here.
SWITCHES = "--gloo --mpi --verbose --disable-cache --autotune --prefix-output-with-timestamp".split()
SETTINGS = "--start-timeout --fusion-threshold-mb --cycle-time-ms --cache-capacity --mpi-args".split()


def parser():
    """The command line."""
    options = argparse.ArgumentParser(prog="horovodrun", description="Start the processes of a job")
    options.add_argument("-v", "--version", action="version", version=__version__)
    options.add_argument("-np", "--num-proc", type=at_least(1), help="how many processes")
    options.add_argument("-cb", "--check-build", action="store_true", help="what this package has, then end")
    options.add_argument("-H", "--hosts", help="host1:slots,host2:slots")
    options.add_argument("-hostfile", "--hostfile", help="a file with lines such as `host1 slots=4`")
    options.add_argument("-p", "--ssh-port", type=int, help="the port of sshd on all hosts")
    options.add_argument("--network-interfaces", "--network-interface", help="the interface that every host binds")
    options.add_argument("--reset-limit", type=at_least(0), default=0, help="start all again so often when one dies")
    options.add_argument("--min-np", "--min-num-proc", type=at_least(1), help="the job waits for so many processes")
    options.add_argument("--max-np", "--max-num-proc", type=at_least(1), help="the most processes of an elastic job")
    options.add_argument("--host-discovery-script", help="prints host:slots lines: processes come and go with them")
    for name in SWITCHES:
        options.add_argument(name, action="store_true", help="accepted without effect")
    for name in SETTINGS:
        options.add_argument(name, help="accepted without effect")
    options.add_argument("command", nargs=argparse.REMAINDER, help="the program and its arguments")
    return options


def _read(path):
    """[(host, slots)] of the lines of a host file."""
    try:
        with open(path) as file:
            lines = list(filter(None, (line.split("#")[0].split() for line in file)))
    except (OSError, UnicodeDecodeError) as error:
        raise SystemExit(f"horovodrun: the host file {path} cannot be read: {error}") from None
    return [(name, dict(word.partition("=")[::2] for word in rest).get("slots", "")) for name, *rest in lines]


def hosts_of(options):
    """[(host, slots)] of -H or of a host file; none if the job runs on this machine."""
    if options.hosts:
        parts = [part.strip() for part in options.hosts.split(",")]
        pairs = [part.partition(":")[::2] for part in parts]
    elif options.hostfile:
        pairs = _read(options.hostfile)
    else:
        return []
    wrong = [f"{host}:{slots}" for host, slots in pairs if not host or not (slots or "1").isdecimal()]
    if wrong or not pairs:
        raise SystemExit(f"horovodrun: hosts are written host:slots, not {', '.join(wrong) or 'nothing'}")
    return [(host, int(slots or 1)) for host, slots in pairs]


def used(processes, hosts):
    """The hosts that are needed, filled one after the other; each must then have the same number of processes."""
    left, found = processes, []
    for host, slots in hosts:
        if left > 0:
            found.append((host, min(slots, left)))
            left -= slots
    if left > 0:
        raise SystemExit(f"horovodrun: {processes} processes need more slots than the {processes - left} of the hosts")
    if len({count for _, count in found}) > 1:
        shares = ", ".join(f"{host}:{count}" for host, count in found)
        raise SystemExit(f"horovodrun: all hosts must run the same number of processes, not {shares}")
    return [host for host, _ in found]


def elastic_arguments(options):
    """What `remx launch` is told of a job whose processes come and go."""
    least = options.min_np or options.num_proc or 1
    most = options.max_np or options.num_proc or least
    if most < least:
        raise SystemExit(f"horovodrun: at least {least} and at most {most} processes cannot be")
    discovery = ["--discovery", options.host_discovery_script, "--max-restarts", str(options.reset_limit)]
    return ["-n", f"{least}:{most}", *discovery, "--env", FOLDER, *command_of(options)]


def command_of(options):
    """The program and its arguments."""
    return options.command[1:] if options.command[:1] == ["--"] else options.command


def arguments_for(options, folder):
    """What `remx launch` is told; the host file goes into the folder."""
    if options.host_discovery_script:
        return elastic_arguments(options)
    arguments = ["-n", str(options.num_proc), "--max-restarts", str(options.reset_limit)]
    hosts = used(options.num_proc, hosts_of(options)) if options.hosts or options.hostfile else []
    if any(not is_loopback(host) for host in hosts):
        path, port = os.path.join(folder, "hosts"), f":{options.ssh_port}" if options.ssh_port else ""
        with open(path, "w") as file:
            file.writelines(f"{host}{port}\n" for host in hosts)
        arguments += ["-H", path, "--env", FOLDER]
        if options.network_interfaces:
            arguments += ["--interface", options.network_interfaces.split(",")[0]]
    return [*arguments, *command_of(options)]


def main(arguments=None):
    """Start the processes and wait for them; the exit code."""
    options = parser().parse_args(arguments)
    if options.check_build:
        print(f"remx-horovod {__version__}: frameworks: MXNet (ReMX); controllers and operations: Gloo, NCCL of torch")
        return 0
    elastic = options.host_discovery_script and (options.num_proc or options.min_np)
    if (options.min_np or options.max_np) and not options.host_discovery_script:
        parser().error(
            "--min-np and --max-np need --host-discovery-script, which says how many processes there are now"
        )
    if not (options.num_proc or elastic) or not options.command:
        parser().error("say how many processes and which program, for example: -np 4 python train.py")
    told = os.environ.get(FOLDER)  # a folder that all hosts share, if the user has one
    folder = tempfile.mkdtemp(prefix="horovodrun-")
    os.environ[FOLDER] = told or folder
    try:
        return launch.main(arguments_for(options, folder))
    finally:
        if told is None:
            del os.environ[FOLDER]
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
