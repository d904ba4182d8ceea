"""A distributed job over several machines: the launcher's side of ssh, and the side of each host."""

import contextlib
import json
import os
import select
import shlex
import subprocess
import sys
import time
from typing import NamedTuple

from .._core.errors import MXNetError
from .._wire import addresses, secret
from . import agent
from .agent import say

# Variables that hosts are given without being asked.
PASSED = ("PYTHONPATH", "LD_LIBRARY_PATH", "OMP_NUM_THREADS", "MXNET_KVSTORE_TIMEOUT")
TOLD = 64 << 10  # bytes, the longest line that a host is told the job's secret and variables in


# ---------------------------------------------------------------------- on a host of the host file
class Leash:
    """The launcher's side of ssh: the secret comes first, then a byte a second; when it falls silent, the job ends."""

    def __init__(self, stream):
        self._stream, self._heard = stream, time.monotonic()

    def told(self):
        """The first line: what must not stand in a command line."""
        line = b""
        while not line.endswith(b"\n") and len(line) < TOLD:
            byte = os.read(self._stream, 1)
            if not byte:
                raise SystemExit("the launcher has sent no secret")
            line += byte
        return json.loads(line)

    def check(self, patience):
        while select.select([self._stream], [], [], 0)[0]:
            if not os.read(self._stream, 4096):
                raise agent.Ended("the launcher has ended the workers of this host", 1)
            self._heard = time.monotonic()
        if time.monotonic() - self._heard > patience:
            raise agent.Ended(f"the launcher has been silent for {patience} s; the workers of this host were ended", 1)


def own_address(options):
    """The address that this host binds: as told, as the host file names it, or the one that reaches the others."""
    if options.interface:
        return addresses.of_interface(options.interface)
    if options.address and addresses.is_own(options.address):
        return options.address
    return addresses.towards(options.towards) or options.address


def run_as_told(options):
    """Run one host's share of the workers, once."""
    leash = Leash(sys.stdin.fileno())
    told = leash.told()
    os.environ.update(told["environment"])
    variables = agent.worker_environment(options)
    patience = agent.patience_of(variables)
    options.address = own_address(options)
    if options.node_rank == 0:  # the name that others know this host by may stand for loopback here
        options.master = options.address
    check = lambda: leash.check(max(patience, 10))  # noqa: E731
    code, words = agent.run_once(options, variables, told["secret"].encode(), patience, options.attempt, check)
    say(words)
    return code


# ---------------------------------------------------------------------- from the machine that has the host file
class Host(NamedTuple):
    """A line of the host file."""

    name: str  # user@host:port
    interface: str = ""

    @property
    def address(self):
        """The name without user and port."""
        return self.name.partition(":")[0].rpartition("@")[2]


def hosts_of(path):
    """Hosts of a host file: `user@host:port interface=eth1`; what else follows (slots and the like) is left aside."""
    try:
        with open(path) as file:
            lines = [line.split("#")[0].split() for line in file]
    except (OSError, UnicodeDecodeError) as error:
        raise MXNetError(f"the host file {path} cannot be read: {error}") from None
    found = []
    for name, *settings in filter(None, lines):
        told = dict(setting.partition("=")[::2] for setting in settings)
        found.append(Host(name, told.get("interface", "")))
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


def remote(options, arguments):
    """The command line of this module on a host."""
    passed = [f"{name}={os.environ[name]}" for name in PASSED if name in os.environ]
    return ["env", *passed, interpreter(options.command), "-m", "mxnet.tools.launch", *arguments]


def remote_command(options, node, nodes, count, master, port, folder, attempt=0, place=()):
    """The command line that starts a host's share of the workers."""
    mine = ["-n", str(count), "--nodes", str(nodes), "--node-rank", str(node), "--master", master, "--port", str(port)]
    mine += ["--max-restarts", str(options.max_restarts), "--attempt", str(attempt), *place]
    for pair in options.env_worker:
        mine += ["--env-worker", pair]
    return f"cd {shlex.quote(folder)} && {shlex.join(remote(options, [*mine, *options.command]))}"


SETTINGS = {
    "StrictHostKeyChecking": "accept-new",
    "ServerAliveInterval": "15",
    "ConnectTimeout": "20",  # seconds; TCP alone would wait for minutes for a host that does not answer
}


def ssh(host, command):
    """The command line of ssh; a name that begins with a dash is no option of it."""
    name, _, port = host.partition(":")
    place = ["-p", port, "--", name] if port else ["--", name]
    settings = [word for name, value in SETTINGS.items() for word in ("-o", f"{name}={value}")]
    return ["ssh", *settings, *place, command]


def places_of(hosts, interface):
    """How each host finds the address to bind, as arguments for it."""
    known = [addresses.resolve(host.address) for host in hosts]
    local = all(address is None or addresses.is_loopback(address) for address in known)
    found = []
    for node, (host, address) in enumerate(zip(hosts, known, strict=True)):
        other = hosts[1 if node == 0 and len(hosts) > 1 else 0].address
        usable = address if address and (local or not addresses.is_loopback(address)) else ""
        place = ["--address", usable, "--towards", other]
        found.append([*place, "--interface", host.interface or interface] if host.interface or interface else place)
    return found


def master_of(options, hosts, folder):
    """The name or address by which all reach the first host; an interface's address is asked for there."""
    interface = hosts[0].interface or options.interface
    if not interface:
        return hosts[0].address
    command = f"cd {shlex.quote(folder)} && {shlex.join(remote(options, ['--show-address', interface]))}"
    asked = subprocess.run(ssh(hosts[0].name, command), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    if asked.returncode:
        raise SystemExit(f"{hosts[0].name} has no interface {interface!r}, or ssh failed")
    return asked.stdout.strip()


def synchronize(options, hosts):
    """Copy the current folder to all hosts."""
    for host in hosts:
        name, _, port = host.name.partition(":")
        shell = ["-e", f"ssh -p {port}"] if port else []
        subprocess.run(["rsync", "-az", *shell, "./", f"{name}:{options.sync_dst_dir}/"], check=True)


def run_over_ssh(options):
    """One agent on each host; when one fails, the others are ended, or all start again."""
    return agent.again_and_again(options, over_ssh(options, spread(options.num_workers, hosts_of(options.hostfile))))


def over_ssh(options, shares):
    """A function that runs the job once on [(host, workers)], and returns (exit code, what to say)."""
    hosts, folder = [host for host, _ in shares], options.sync_dst_dir or os.getcwd()
    if options.sync_dst_dir:
        synchronize(options, hosts)
    master, places = master_of(options, hosts, folder), places_of(hosts, options.interface)
    environment = {name: os.environ[name] for name in options.env if name in os.environ}
    told = json.dumps({"secret": secret.make().decode(), "environment": environment}).encode() + b"\n"

    def attempt(number, check=lambda: None):
        agents = []
        with agent.Signals.polled():
            try:
                for node, (host, count) in enumerate(shares):
                    facts = len(hosts), count, master, options.port or 29500, folder, number, places[node]
                    agents.append(Remote(host.name, remote_command(options, node, *facts), told))
                return first_failure(agents, check=check), ""
            finally:
                end_all(agents)

    return attempt


class Remote:
    """An agent on another host, at the other end of ssh."""

    def __init__(self, host, command, told):
        self.host = host
        self.process = subprocess.Popen(ssh(host, command), stdin=subprocess.PIPE)
        self.write(told)

    def write(self, data):
        """Send bytes; one that has ended is found by its exit code."""
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(data)
            self.process.stdin.flush()

    def end(self):
        """Tell it to end: its input is closed."""
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()


def first_failure(agents, patience=5, check=lambda: None):
    """Wait for all; when one fails, the others have `patience` seconds to say why they fail, too. The exit code."""
    code, deadline, due = 0, None, 0.0
    while any(one.process.poll() is None for one in agents):
        agent.Signals.check()
        check()
        for one in agents:
            if one.process.poll() and not code:
                code, deadline = abs(one.process.returncode), time.monotonic() + patience
                say(f"the workers on {one.host} failed with exit code {code}")
        if deadline is not None and time.monotonic() > deadline:
            return code
        if time.monotonic() > due:
            due = time.monotonic() + 1
            for one in agents:
                one.write(b"\n")
        time.sleep(0.1)
    return code or max(abs(one.process.returncode) for one in agents)


def end_all(agents, patience=agent.GRACE + 5):
    """End what still runs: agents end their workers when their input is closed."""
    limit = time.monotonic() + patience
    for one in agents:
        one.end()
    while any(one.process.poll() is None for one in agents) and time.monotonic() < limit:
        time.sleep(0.05)
    for one in agents:
        if one.process.poll() is None:
            one.process.kill()
        one.process.wait()
