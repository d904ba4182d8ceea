"""Which node of the network an error of torch's exporter is about."""

import contextlib
import linecache
import re

import torch
from torch.utils._python_dispatch import TorchDispatchMode

MISSING = re.compile(r"No ONNX function found for <OpOverload\(op='([\w.]+)'")
ASSIGNED = re.compile(r"\s*(\w+) = ")
ADVICE = "leave it out of what is exported, or write it with other operators"


def described(error, plan):
    """The reason in the user's terms: the node, why, and what to do."""
    reasons = _chain(error)
    cause = str(reasons[-1]).strip().split("\n\n")[0]
    node = _by_frame(reasons, plan) or _by_operator(cause, plan)
    if node is None:
        return f"the network cannot be written as ONNX: {cause}"
    return f"node {node.name} ({node.op.name}) cannot be written as ONNX: {cause}; {ADVICE}"


def _chain(error):
    errors = [error]
    while errors[-1].__cause__ is not None:
        errors.append(errors[-1].__cause__)
    return errors


def _by_frame(errors, plan):
    """The line of the network's code, a call for each node, that the error came through."""
    for error in reversed(errors):
        trace = error.__traceback__
        while trace is not None:
            line = linecache.getline(trace.tb_frame.f_code.co_filename, trace.tb_lineno)
            word = ASSIGNED.match(line)
            if word and trace.tb_frame.f_code.co_filename.startswith("<eval_with_key>"):
                return plan.lowered.calls.get(word[1])
            trace = trace.tb_next
    return None


def _by_operator(cause, plan):
    """The first node that calls the operator of torch for which there is no translation."""
    found = MISSING.search(cause)
    if not found:
        return None
    finder = _Finder(plan, found[1])
    with torch.no_grad(), contextlib.suppress(RuntimeError):  # an operator may not like ones; then it is the last
        finder.run(*plan.examples(), *plan.root.streams)
    return plan.lowered.calls.get(finder.found)


class _Finder(torch.fx.Interpreter):
    """Runs the network node by node and looks which calls what."""

    def __init__(self, plan, operator):
        super().__init__(plan.root, graph=plan.lowered.module.graph)
        self.operator, self.found = operator.replace(".", "::", 1), None

    def run_node(self, n):
        calls = _Calls()
        try:
            with calls:
                return super().run_node(n)
        finally:
            if self.found is None and self.operator in calls.names:
                self.found = n.name


class _Calls(TorchDispatchMode):
    """The names of torch's operators that are called."""

    def __init__(self):
        super().__init__()
        self.names = set()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.names.add(func._schema.name)
        return func(*args, **(kwargs or {}))
