"""Another package of the same import name: notice an old `mxnet` beside this one, and say how to remove it."""

from pathlib import Path


def check(here: str) -> None:
    """Raise ImportError if a distribution called mxnet (or mxnet-cu112 …) has put its files where ours are."""
    site = Path(here).resolve().parent.parent
    for folder in (*site.glob("mxnet-*.dist-info"), *site.glob("mxnet_*.dist-info")):
        name = folder.name.partition("-")[0].replace("_", "-")
        raise ImportError(
            f"An old MXNet (the distribution {name}) is installed under the same import name as ReMX. "
            f"Remove it and put ReMX back: pip uninstall -y {name} && pip install --force-reinstall --no-deps remx"
        )
