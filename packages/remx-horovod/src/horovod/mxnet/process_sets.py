"""Parts of a job that reduce and gather among themselves."""

from collections.abc import Iterable

import torch.distributed as dist

from mxnet.base import MXNetError
from mxnet.kvstore import group

from . import basics


class ProcessSet:
    """Some processes of the job, by their ranks; `hvd.init(process_sets=[...])` or `add_process_set` makes it."""

    def __init__(self, ranks_or_comm):
        if not isinstance(ranks_or_comm, Iterable) or any(not isinstance(rank, int) for rank in ranks_or_comm):
            raise ValueError("ProcessSet should be initialized with a list of process ranks")
        self.ranks = sorted(ranks_or_comm)
        self.process_set_id = None
        self.channel = None  # torch's group; None is the group of all

    def size(self):
        """The number of processes in it; None before it is made."""
        return None if self.process_set_id is None else len(self.ranks)

    def rank(self):
        """The number of this process in it; None before it is made, or if it is not a member."""
        known = self.process_set_id is not None and self.included()
        return self.ranks.index(basics.rank()) if known else None

    def included(self):
        """Is this process a member?"""
        return basics.rank() in self.ranks

    def __str__(self):
        return f"ProcessSet(process_set_id={self.process_set_id}, ranks={self.ranks})"


class _Whole(ProcessSet):
    """All processes, however many there are after `init`."""

    def __init__(self):
        super().__init__([])
        self.process_set_id = 0

    def size(self):
        return basics.size()


global_process_set = _Whole()
_made = [global_process_set]


def _renew():
    """After `init`: the set of all has the ranks of this job, and there are no others."""
    for process_set in _made[1:]:
        process_set.process_set_id = process_set.channel = None
    del _made[1:]
    global_process_set.ranks = list(range(basics.size()))


def init(comm=None, process_sets=None):
    """Join the job. A process that no launcher has started is a job of its own.

    Parameters
    ----------
    comm : list of int, optional
        Refused: jobs consist of all processes that were started; `process_sets` gives parts of them.
    process_sets : list of ProcessSet, optional
        Sets that all processes make now.
    """
    if not basics.is_initialized():
        basics.join(comm)
        _renew()
    for process_set in process_sets or ():
        add_process_set(process_set)


def add_process_set(process_set):
    """Make a set of processes; all processes of the job call this in the same order.

    Parameters
    ----------
    process_set : ProcessSet or list of int

    Returns
    -------
    ProcessSet
    """
    made = process_set if isinstance(process_set, ProcessSet) else ProcessSet(process_set)
    strange = [rank for rank in made.ranks if not 0 <= rank < basics.size()]
    if strange or not made.ranks:
        raise ValueError(f"a process set of the ranks {made.ranks} cannot be made of {basics.size()} processes")
    if any(made.ranks == known.ranks for known in _made):
        raise ValueError(f"Attempted to add a duplicate process set: {made}")
    made.channel = group.channel(made.ranks) if dist.is_initialized() else None
    made.process_set_id = _made[-1].process_set_id + 1
    _made.append(made)
    return made


def remove_process_set(process_set):
    """Forget a set; False for the set of all and for one that was never made."""
    if process_set not in _made[1:]:
        return False
    _made.remove(process_set)
    if process_set.channel not in (None, dist.GroupMember.NON_GROUP_MEMBER):
        dist.destroy_process_group(process_set.channel)
    process_set.process_set_id = process_set.channel = None
    return True


def check_member(process_set):
    """Only members of a set that was made may use it."""
    if process_set.size() is None:
        raise MXNetError(f"{process_set} has not been made: call hvd.add_process_set in all processes first")
    if not process_set.included():
        raise MXNetError(f"process {basics.rank()} is not in {process_set}")
