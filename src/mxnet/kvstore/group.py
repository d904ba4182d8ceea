"""The workers of a distributed store: who they are, and how they meet."""

import atexit
import os
import time
from contextlib import contextmanager
from datetime import timedelta

import torch
import torch.distributed as dist

from .._core.errors import MXNetError
from .._core.writes import wrote_anywhere
from .._wire import addresses, pulse, secret
from . import cluster, gloo, rendezvous
from .cluster import fact, number

BUCKET = 4 << 20  # bytes; larger ones hide less behind backward, smaller ones cost a message each


def _patience():
    """How long workers wait for each other."""
    return timedelta(seconds=cluster.patience())


class Meeting:
    """What holds this process in the job: the store that torch's groups meet at, and the secret."""

    store = secret = address = None


def join():
    """Join the process group, once; one that the program has made already is used as it is."""
    if dist.is_initialized():
        return
    rank, world = number("rank"), number("world")
    patience = _patience()
    Meeting.secret = secret.of_job()
    pulse.start(rank)
    with contact(rank):
        Meeting.address = cluster.own_address(world)
        Meeting.store = _meet(rank, world, patience.total_seconds())
        with _closed_to_strangers():
            dist.init_process_group(backend(), store=Meeting.store, rank=rank, world_size=world, timeout=patience)
    atexit.register(leave)


def backend():
    """What carries the tensors of each kind of device."""
    return "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo"


def _meet(rank, world, patience):
    """The store of this attempt: with the first worker, at the port that all were told."""
    master, port, attempt = fact("address"), number("port"), os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
    # torchrun counts restarts on each host by itself, so hosts that join later count others; its port is new each time.
    number_of_start = "" if "TORCHELASTIC_RUN_ID" in os.environ else attempt
    service, agent = f"store {master} {port} {world} {number_of_start}", _agent_store(master, port)
    if rank == 0:
        store, (_, at) = _open_here(0 if agent else port, service, world, patience)
        if agent is not None:
            agent.set(f"mxnet port {attempt}", str(at))
        return store
    at = int(agent.get(f"mxnet port {attempt}")) if agent else port
    return rendezvous.open_there((addresses.of_master(master, world), at), Meeting.secret, service, rank, patience)


def _open_here(port, service, world, patience):
    try:
        return rendezvous.open_here((Meeting.address, port), Meeting.secret, service, world, patience)
    except OSError as error:
        raise MXNetError(f"workers cannot meet at {Meeting.address}:{port}: {error}; choose another port") from None


def _agent_store(master, port):
    """The store of torchrun's agent, which has taken the port: it is only asked where ours is."""
    if os.environ.get("TORCHELASTIC_USE_AGENT_STORE") != "True":
        return None
    return dist.TCPStore(master, port, is_master=False, timeout=_patience(), wait_for_workers=False)


@contextmanager
def _closed_to_strangers():
    """Make a group in here: gloo's port is bound to our address, its members are checked, then it is shut."""
    Meeting.store.published.clear()
    made = []
    with gloo.bound(Meeting.address):
        yield made
    own = made[0] if made else None
    if own is not dist.GroupMember.NON_GROUP_MEMBER:
        gloo.check_members(Meeting.secret, own)
    gloo.shut(Meeting.store.published)


def leave():
    """End the meeting of the workers."""
    if dist.is_initialized():
        dist.destroy_process_group()


class Lost:
    """Whether contact was lost: then nobody is waited for at the end."""

    seen = False


@contextmanager
def contact(rank=None):
    """Say in clear words when another worker has died or never came, which torch and gloo tell by RuntimeErrors."""
    pulse.Activity.inside += 1
    try:
        yield
    except RuntimeError as error:
        if isinstance(error, MXNetError):
            raise
        Lost.seen = True
        rank = dist.get_rank() if rank is None else rank
        pulse.tell_lost(rank)
        raise MXNetError(
            f"worker {rank} lost contact with the other workers: one of them has died, left, or never started "
            f"({str(error).splitlines()[0]})"
        ) from None  # the message has all that gloo says; the launcher shows the fault of the worker that died
    finally:
        pulse.Activity.inside -= 1
        pulse.Activity.last = time.monotonic()


class Traffic:
    """Bytes that this process has handed to the transport."""

    handed = 0


def _handed(tensor):
    Traffic.handed += tensor.numel() * tensor.element_size()
    return tensor


def channel(ranks=None):
    """A group of all workers, or of some, for messages of one kind, which then cannot be mistaken for others."""
    with contact():
        if Meeting.store is None:  # the program has made the group itself
            return dist.new_group(ranks, timeout=_patience())
        with _closed_to_strangers() as made:
            made.append(dist.new_group(ranks, timeout=_patience()))
        return made[0]


def start_sum(tensor, channel=None, op=dist.ReduceOp.SUM):
    """Begin to sum a contiguous tensor over all workers, in place; `wait` for what comes back."""
    with contact():
        return dist.all_reduce(_handed(tensor), op=op, group=channel, async_op=True)


def agree(flags, channel=None):
    """Set each flag that is set in any worker."""
    with contact():
        dist.all_reduce(_handed(flags), op=dist.ReduceOp.MAX, group=channel)


def add_over_workers(tensors, channel=None, op=dist.ReduceOp.SUM):
    """Sum each tensor over all workers (or apply `op`), in place: one message for each large one or bucket.

    Last tensors first, as `overlap.Plan` sends them: an element's place in its message decides in which order the
    workers' values are added. So the first step after a restart, which has no plan yet, gives the same bits.
    """
    waiting = []
    for bucket in buckets(reversed(tensors)):
        flat = bucket[0] if len(bucket) == 1 else torch._utils._flatten_dense_tensors(bucket)
        flat = flat if flat.is_contiguous() else flat.contiguous()
        waiting.append((bucket, flat, start_sum(flat, channel, op)))
    for bucket, flat, work in waiting:
        with contact():
            work.wait()
        if flat is not bucket[0]:
            parts = torch._utils._unflatten_dense_tensors(flat, bucket) if len(bucket) > 1 else [flat]
            torch._foreach_copy_(bucket, list(parts))
    wrote_anywhere()


def buckets(items, tensor_of=lambda item: item):
    """Lists of items whose tensors are of one kind, closed when they have BUCKET bytes."""
    filling, sizes = {}, {}
    for item in items:
        tensor = tensor_of(item)
        kind = (tensor.dtype, tensor.device)
        filling.setdefault(kind, []).append(item)
        sizes[kind] = sizes.get(kind, 0) + tensor.numel() * tensor.element_size()
        if sizes[kind] >= BUCKET:
            yield filling.pop(kind)
            sizes[kind] = 0
    yield from filling.values()


def gather_over_workers(tensor, channel=None):
    """Every worker's tensor, in the order of ranks."""
    found = [torch.empty_like(tensor) for _ in range(dist.get_world_size(channel))]
    with contact():
        dist.all_gather(found, _handed(tensor), group=channel)
    return found


def gather_rows(tensor, channel=None):
    """Every worker's rows, one behind the other; each may have another number of them."""
    counts = torch.cat(gather_over_workers(torch.tensor([len(tensor)], device=tensor.device), channel)).tolist()
    padded = tensor.new_zeros((max(counts), *tensor.shape[1:]))
    padded[: len(tensor)] = tensor
    parts = zip(gather_over_workers(padded, channel), counts, strict=True)
    return torch.cat([found[:count] for found, count in parts])
