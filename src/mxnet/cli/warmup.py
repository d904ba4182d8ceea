"""`remx warmup`: compile every kernel for this processor and keep the code, so that no program waits for it."""

import time
from importlib import import_module

from .._core.progress import progress
from ._output import add_json, print_json

_OUTSIDE = (  # what loads compiled code beside the registered kernels
    "_graph.inference.parameter_watch",
)


def add(parser):
    """The command's own options."""
    add_json(parser)


def warm_up():
    """{module: why it is not there, or ""} of everything that is compiled."""
    from .._kernels import all_kernels
    from .._kernels.runtime import loader

    all_kernels()
    for module in _OUTSIDE:
        import_module(f"mxnet.{module}")
    count = len(loader.loaders())
    done = progress(loader.warm_up(), total=count, desc="kernels", unit="module", leave=False)
    return {each.name(): each.failure for each in done}


def run(options):
    """Compile, and tell how long it took and where the code is."""
    from .._kernels.runtime.loader import cache_folder

    started = time.monotonic()
    modules = warm_up()
    seconds, folder = time.monotonic() - started, cache_folder()
    failed = {name: why for name, why in modules.items() if why}
    if options.json:
        print_json({"seconds": seconds, "folder": folder, "ready": sorted(set(modules) - set(failed)), "not": failed})
        return
    for why in sorted(set(failed.values())):
        print(f"not compiled: {', '.join(name for name in failed if failed[name] == why)}: {why}")
    print(f"{len(modules) - len(failed)} of {len(modules)} modules of kernels are ready after {seconds:.1f} s")
    if folder:
        print(f"compiled code is kept in {folder}")
