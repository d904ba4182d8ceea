"""Start the workers of a distributed job: `python -m mxnet.tools.launch -n 4 python train.py`.

Workers run on this machine, or over ssh on the machines of a host file. When one dies or falls silent, the others end
with it, or all start again (`--max-restarts`) from the checkpoint that the program keeps. The job has a secret that its
workers prove to know to each other; it is handed over in files of mode 600 and, to other machines, on ssh's input.
"""

import argparse
import sys

from .._core.arguments import at_least
from .._core.errors import MXNetError
from .._core.ports import free_port
from .._wire import addresses, secret
from . import agent, elastic, hosts
from .agent import say


def _count(text):
    """A number of workers, or the least and the most: 1:4."""
    try:
        least, most = elastic.bounds(text)
    except ValueError:
        words = f"{text!r} is no number of workers: write 4, or 1:4 with --discovery"
        raise argparse.ArgumentTypeError(words) from None
    return most if least == most else (least, most)


def parser():
    """The command line."""
    options = argparse.ArgumentParser(prog="remx launch", description="Launch a distributed job")
    options.add_argument(
        "-n", "--num-workers", type=_count, default=None, help="how many workers to start; 1:4 with --discovery"
    )
    options.add_argument(
        "--discovery", metavar="COMMAND", help="prints host:slots lines, asked every second: workers come and go"
    )
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
    options.add_argument(
        "--interface",
        help="with -H: the network interface (or address) that every host binds; else the one it is named by",
    )
    options.add_argument("--nodes", type=int, default=1, help=argparse.SUPPRESS)
    options.add_argument("--node-rank", type=int, help=argparse.SUPPRESS)
    options.add_argument("--master", default=addresses.LOOPBACK, help=argparse.SUPPRESS)
    options.add_argument("--attempt", type=int, default=0, help=argparse.SUPPRESS)
    options.add_argument("--address", default="", help=argparse.SUPPRESS)
    options.add_argument("--towards", default="", help=argparse.SUPPRESS)
    options.add_argument("--show-address", metavar="INTERFACE", help=argparse.SUPPRESS)
    options.add_argument("command", nargs=argparse.REMAINDER, help="the program and its arguments")
    return options


def run_here(options):
    """Run the job's workers on this machine until they end; the exit code."""
    variables, job_secret, port = agent.worker_environment(options), secret.make(), options.port
    patience = agent.patience_of(variables)
    options.node_rank, options.address = 0, addresses.LOOPBACK

    def attempt(number):
        options.port = port or free_port()
        return agent.run_once(options, variables, job_secret, patience, number)

    return agent.again_and_again(options, attempt)


def run_elastic(options):
    """Run the job with as many workers as there are, again whenever their number changes; the exit code."""
    told = options.num_workers
    least, most = told if isinstance(told, tuple) else (1, told)
    job_secret, port = secret.make(), options.port

    def attempt(number, shares, check):
        if all(addresses.is_loopback(host) for host, _ in shares):
            options.num_workers, options.port = shares[0][1], port or free_port()
            options.node_rank, options.address = 0, addresses.LOOPBACK
            variables = agent.worker_environment(options)
            return agent.run_once(options, variables, job_secret, agent.patience_of(variables), number, check)
        return hosts.over_ssh(options, [(hosts.Host(host), count) for host, count in shares])(number, check)

    return elastic.run(options, least, most, attempt)


def chosen(options):
    """What the options ask for."""
    if options.show_address:
        print(addresses.of_interface(options.show_address))
        return 0
    if options.node_rank is not None:
        return hosts.run_as_told(options)
    if options.discovery:
        return run_elastic(options)
    return hosts.run_over_ssh(options) if options.hostfile else run_here(options)


def main(arguments=None):
    """Start the workers, and wait for them."""
    options = parser().parse_args(arguments)
    if options.command[:1] == ["--"]:
        options.command = options.command[1:]
    if options.num_workers is None and not options.show_address:
        parser().error("the following arguments are required: -n/--num-workers")
    if not options.command and not options.show_address:
        parser().error("no program to start; for example: -n 4 python train.py")
    if options.launcher in ("mpi", "sge", "yarn"):
        parser().error(
            f"--launcher {options.launcher} is not needed: start the program with {options.launcher} itself; "
            "its RANK and WORLD_SIZE variables are understood"
        )
    if isinstance(options.num_workers, tuple) and not options.discovery:
        parser().error("-n 1:4 needs --discovery COMMAND, which says how many workers there are now")
    if options.discovery and options.hostfile:
        parser().error("--discovery names the hosts: leave -H out")
    if options.launcher == "ssh" and not options.hostfile:
        parser().error("--launcher ssh wants a file of host names: -H HOSTFILE")
    if options.interface and not options.hostfile and options.node_rank is None:
        parser().error("--interface is for jobs over several machines (-H): a job on one machine binds loopback only")
    try:
        with agent.signals_end_the_job():
            return chosen(options)
    except agent.Ended as ended:
        say(str(ended))
        return ended.code
    except MXNetError as error:
        say(f"remx launch: {error}")
        return 1


if __name__ == "__main__":
    sys.exit(main())
