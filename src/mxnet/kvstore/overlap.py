"""Sums over workers that start while backward still runs: gradients travel in buckets, in an order all agree on.

Every bucket is sent exactly once before a step, when its last gradient has arrived or else when the step asks for it,
always in the same order and over a group of its own; so workers stay in step whatever each of them differentiates.
A gradient that is no longer what was sent (clipped, or written by another backward) is noticed by its contents; all
workers hear of it and send that bucket again. Where this happens at every step, nothing is sent early any more.
"""

import threading

import numpy as np
import torch

from .._core.environment import is_on
from . import group

PATIENCE = 3  # steps in a row whose early sums were in vain, before backward is left alone
BITS = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def allowed():
    """MXNET_KVSTORE_OVERLAP=0 keeps all sums for the step."""
    return is_on("MXNET_KVSTORE_OVERLAP", default=True)


def describe(keys, weights):
    """What a plan depends on; the same in all workers."""
    return [
        (key, arrays[0].shape, arrays[0]._t.dtype, tuple(a._ctx for a in arrays), arrays[0]._ag.req)
        for key, arrays in zip(keys, weights, strict=True)
    ]


def _differ(one, other):
    """Do two tensors differ in a bit? The answer stays on their device."""
    one, other = (t.view(BITS[t.element_size()]) for t in (one, other))
    if one.device.type == "cpu":
        return torch.tensor(not np.array_equal(one.numpy(), other.numpy()))
    return (one != other).any()


class Bucket:
    """Gradients of some keys, one behind the other in memory that is kept."""

    def __init__(self, members):
        self.keys = [key for key, _ in members]
        self.weights = [arrays for _, arrays in members]
        first = [arrays[0]._t for arrays in self.weights]
        self.spans = np.cumsum([0, *(t.numel() for t in first)]).tolist()
        places = [array._t.device for array in self.weights[0]]
        self.sent = [self._memory(first, place) for place in places]
        self.total = self._memory(first, places[0])
        self.work = None
        self.reset()

    def _memory(self, tensors, device):
        flat = torch.empty(self.spans[-1], dtype=tensors[0].dtype, device=device)
        parts = [flat[a:b].view(t.shape) for a, b, t in zip(self.spans, self.spans[1:], tensors, strict=False)]
        return flat, parts

    def reset(self):
        """Wait for the next backward."""
        self.early = False
        self.missing = {(k, c) for k, arrays in enumerate(self.weights) for c in range(len(arrays))}

    def gradients(self, place):
        """The gradients as they are now, in the context at `place` of each key's list."""
        return [arrays[place]._ag.grad._t for arrays in self.weights]

    def send(self, channel):
        """Start the sum of what the gradients are now."""
        with torch.no_grad():
            for place, (_, parts) in enumerate(self.sent):
                torch._foreach_copy_(parts, self.gradients(place))
            total = self.total[0].copy_(self.sent[0][0])
            for flat, _ in self.sent[1:]:
                total.add_(flat.to(total.device))
        self.work = group.start_sum(total, channel)

    def stale(self):
        """Has a gradient changed since it was sent? The answer stays on the device of the sum."""
        found = [
            _differ(part, now).to(self.total[0].device)
            for place, (_, parts) in enumerate(self.sent)
            for part, now in zip(parts, self.gradients(place), strict=True)
        ]
        return torch.stack(found).any()

    def wait(self):
        with group.contact():
            self.work.wait()


class Plan:
    """The buckets of a trainer's gradients, and which of them are on their way."""

    def __init__(self, keys, weights, channel):
        self.description = describe(keys, weights)
        members = reversed(list(zip(keys, weights, strict=True)))  # backward begins with the last layers
        self.buckets = [Bucket(chosen) for chosen in group.buckets(members, lambda member: member[1][0]._t)]
        self.channel = channel
        self.eager = allowed() and all(arrays[0]._ag.req == "write" for arrays in weights)
        self.early_sends = self.vain = self.launched = 0
        self._hooks, self._lock = {}, threading.Lock()

    def fits(self, keys, grads):
        """Are these the very gradients that the plan is for?"""
        own = {key: arrays for b in self.buckets for key, arrays in zip(b.keys, b.weights, strict=True)}
        return len(keys) == len(own) and all(
            key in own and all(a._ag.grad is g for a, g in zip(own[key], arrays, strict=True))
            for key, arrays in zip(keys, grads, strict=True)
        )

    # ------------------------------------------------------------------ during backward
    def watch(self):
        """Hear of every gradient that backward completes; parameters may have got new tensors since the last step."""
        if not self.eager:
            return
        for bucket in self.buckets:
            for k, arrays in enumerate(bucket.weights):
                for c, array in enumerate(arrays):
                    self._listen(bucket, (k, c), array)

    def _listen(self, bucket, which, array):
        known = self._hooks.get(id(array))
        if known is not None and known[0] is array._t:
            return
        hook = array._t.register_post_accumulate_grad_hook(lambda _: self._arrived(bucket, which))
        self._hooks[id(array)] = (array._t, hook)

    def close(self):
        """Hear no more."""
        self.eager = False
        for _, hook in self._hooks.values():
            hook.remove()
        self._hooks = {}

    def _arrived(self, bucket, which):
        with self._lock:  # devices differentiate in threads of their own
            bucket.missing.discard(which)
            while self.launched < len(self.buckets) and not self.buckets[self.launched].missing:
                self._launch(early=True)

    def _launch(self, early=False):
        bucket = self.buckets[self.launched]
        bucket.send(self.channel)
        bucket.early = early
        self.early_sends += early
        self.launched += 1

    # ------------------------------------------------------------------ at the step
    def sums(self):
        """{key: sum over all workers}; the tensors are valid until the next backward."""
        with self._lock:
            while self.launched < len(self.buckets):
                self._launch()
            if self.eager:
                self._repeat_stale()
            found = {}
            for bucket in self.buckets:
                bucket.wait()
                found.update(zip(bucket.keys, bucket.total[1], strict=True))
                bucket.reset()
            self.launched = 0
        return found

    def _repeat_stale(self):
        early = [bucket.early for bucket in self.buckets]
        found = [bucket.stale() for bucket in self.buckets if bucket.early]
        changed = iter(torch.stack(found).tolist() if found else ())  # a GPU is waited for once, not for each gradient
        flags = torch.tensor([sent and next(changed) for sent in early], dtype=torch.uint8)
        group.agree(flags, self.channel)
        again = [bucket for bucket, flag in zip(self.buckets, flags.tolist(), strict=True) if flag]
        for bucket in again:
            bucket.wait()
            bucket.send(self.channel)
        self.vain = self.vain + 1 if again else 0
        if self.vain >= PATIENCE:
            self.close()
