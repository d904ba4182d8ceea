"""Hosts of their own on one Linux machine: network namespaces, with links of a given speed and delay between them.

Namespaces, veth pairs, a bridge and a token bucket (tc tbf) give the speed. The delay is netem's where the kernel has
it; where it has not, frames go through a relay in this process, which holds each one while it would be under way.
Everything is made by root, has no route to anything else, and is removed at the end.
"""

import fcntl
import heapq
import os
import re
import selectors
import shutil
import struct
import subprocess
import sys
import threading
import time

PREFIX = f"rx{os.getpid()}"  # of namespaces and devices: several programs may have hosts at a time
SUBNET = "10.77.0"
_TUNSETIFF, _TAP, _NO_INFORMATION = 0x400454CA, 0x0002, 0x1000
MTU = 1500


def run(*command, check=True):
    """Run a command of the system."""
    done = subprocess.run(command, capture_output=True, text=True)
    if check and done.returncode:
        raise OSError(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.returncode == 0


def why_not():
    """Why namespaces cannot be made here, or an empty text."""
    if not sys.platform.startswith("linux") or os.geteuid() != 0:
        return "network namespaces need root on Linux"
    if not shutil.which("ip") or not shutil.which("tc"):
        return "ip and tc (iproute2) are not installed"
    try:
        with Hosts(1) as hosts:
            hosts.shape(100, 0)
    except OSError as error:
        return f"network namespaces cannot be made: {error}"
    return ""


def address(number):
    """The address of a host."""
    return f"{SUBNET}.{number + 1}"


def remove_left_behind():
    """Remove the namespaces of programs that were killed; their devices go with them."""
    listed = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True).stdout
    for name in re.findall(r"^rx\d+-\d+", listed, re.MULTILINE):
        pid = name[2:].partition("-")[0]
        if not os.path.exists(f"/proc/{pid}"):
            run("ip", "netns", "del", name, check=False)
            run("ip", "link", "del", f"rx{pid}br", check=False)


class Hosts:
    """Namespaces, each with one interface `net0`."""

    def __init__(self, count, relayed=False):
        self.count, self._relay = count, Relay(count) if relayed else None

    def name(self, number):
        """The namespace of a host."""
        return f"{PREFIX}-{number}"

    def command(self, number, *command):
        """A command line that runs on a host."""
        return ["ip", "netns", "exec", self.name(number), *command]

    def __enter__(self):
        remove_left_behind()
        try:
            if self._relay is None:
                run("ip", "link", "add", f"{PREFIX}br", "type", "bridge")
                run("ip", "link", "set", f"{PREFIX}br", "up")
            for number in range(self.count):
                run("ip", "netns", "add", self.name(number))
                self._connect(number)
            if self._relay is not None:
                self._relay.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _connect(self, number):
        inside, own = self.name(number), f"{PREFIX}p{number}"
        if self._relay is None:
            run("ip", "link", "add", own, "type", "veth", "peer", "name", "net0", "netns", inside)
            run("ip", "link", "set", own, "master", f"{PREFIX}br")
            run("ip", "link", "set", own, "up")
        else:
            run("ip", "link", "set", self._relay.open(number), "netns", inside, "name", "net0")
        within = ["ip", "-n", inside]
        run(*within, "link", "set", "net0", "address", f"02:00:00:00:00:{number + 1:02x}", "mtu", str(MTU))
        run(*within, "addr", "add", f"{address(number)}/24", "dev", "net0")
        run(*within, "link", "set", "lo", "up")
        run(*within, "link", "set", "net0", "up")

    def shape(self, megabits, milliseconds):
        """Give every link a speed, in both directions, and a delay one way between any two hosts."""
        if self._relay is not None:
            self._relay.shape(megabits, milliseconds)
            return
        bucket = ["tbf", "rate", f"{megabits}mbit", "burst", f"{max(32, megabits // 8)}kb", "latency", "400ms"]
        for number in range(self.count):
            devices = [["-n", self.name(number), "qdisc"], ["qdisc"]]
            for where, device in zip(devices, ("net0", f"{PREFIX}p{number}"), strict=True):
                if milliseconds:
                    delay = ["netem", "delay", f"{milliseconds / 2}ms", "rate", f"{megabits}mbit", "limit", "20000"]
                    run("tc", *where, "replace", "dev", device, "root", *delay)
                else:
                    run("tc", *where, "replace", "dev", device, "root", *bucket)

    def __exit__(self, *_):
        if self._relay is not None:
            self._relay.close()
        self._remove()

    def _remove(self):
        for number in range(self.count):
            run("ip", "netns", "del", self.name(number), check=False)
            run("ip", "link", "del", f"{PREFIX}p{number}", check=False)
        run("ip", "link", "del", f"{PREFIX}br", check=False)


def has_netem():
    """Can this kernel delay packets?"""
    with Hosts(1) as hosts:
        try:
            hosts.shape(100, 1)
        except OSError:
            return False
    return True


class Relay:
    """A switch in user space: frames of one TAP device come out of another, at a given speed and after a given time."""

    def __init__(self, count):
        self._files, self._devices = {}, {}
        self._bytes_a_second, self._delay = 1e12, 0.0
        self._ready = {("up", n): 0.0 for n in range(count)} | {("down", n): 0.0 for n in range(count)}
        self._due, self._order, self._stop = [], 0, threading.Event()
        self._thread = None

    def open(self, number):
        """The name of a new TAP device, whose other end is here."""
        file = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        name = f"{PREFIX}t{number}"
        fcntl.ioctl(file, _TUNSETIFF, struct.pack("16sH14x", name.encode(), _TAP | _NO_INFORMATION))
        self._files[number] = file
        return name

    def shape(self, megabits, milliseconds):
        self._bytes_a_second, self._delay = megabits * 125000, milliseconds / 1e3

    def start(self):
        self._thread = threading.Thread(target=self._run, daemon=True, name="relay")
        self._thread.start()

    def close(self):
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
        for file in self._files.values():
            os.close(file)

    def _run(self):
        with selectors.DefaultSelector() as selector:
            for number, file in self._files.items():
                selector.register(file, selectors.EVENT_READ, number)
            while not self._stop.is_set():
                wait = self._due[0][0] - time.monotonic() if self._due else 0.1
                for key, _ in selector.select(min(0.1, max(0.0, wait))):
                    self._read(key.fd, key.data)
                self._deliver()

    def _read(self, file, number):
        for _ in range(64):
            try:
                frame = os.read(file, 65536)
            except BlockingIOError:
                return
            self._route(frame, number)

    def _route(self, frame, sender):
        last = frame[5] - 1
        targets = [last] if frame[0] == 2 and last in self._files else [n for n in self._files if n != sender]
        for target in targets:
            left = self._pass(("up", sender), time.monotonic(), len(frame))
            arrived = self._pass(("down", target), left + self._delay, len(frame))
            self._order += 1
            heapq.heappush(self._due, (arrived, self._order, target, frame))

    def _pass(self, link, now, size):
        """When a frame that comes to a link at `now` has left it."""
        self._ready[link] = max(now, self._ready[link]) + size / self._bytes_a_second
        return self._ready[link]

    def _deliver(self):
        now = time.monotonic()
        while self._due and self._due[0][0] <= now:
            _, _, target, frame = heapq.heappop(self._due)
            try:
                os.write(self._files[target], frame)
            except OSError:  # the queue of the device is full: a lost frame, as on a real link
                continue


if __name__ == "__main__":
    print(why_not() or f"4 hosts can be made; netem: {has_netem()}")
