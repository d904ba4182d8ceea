"""`remx fetch NAME…`: data sets, published weights and embeddings into the folder where programs look for them."""

import os
import re
import warnings
from difflib import get_close_matches
from pathlib import Path

from .._core.errors import MXNetError
from ._output import add_json, print_json

_DATASETS = {
    "mnist": ("vision", "MNIST"),
    "fashion-mnist": ("vision", "FashionMNIST"),
    "cifar10": ("vision", "CIFAR10"),
    "cifar100": ("vision", "CIFAR100"),
    "wikitext-2": ("text", "WikiText2"),
    "wikitext-103": ("text", "WikiText103"),
}


def add(parser):
    """The command's own options."""
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help="a data set (mnist, cifar10, …), a network of the model zoo (resnet50_v1, …) or a file of embeddings "
        "(glove.6B.50d.txt, wiki.simple.vec, …)",
    )
    parser.add_argument("--list", action="store_true", help="print all names instead")
    parser.add_argument("--root", help="the folder, if not the one where programs look: below MXNET_HOME or ~/.mxnet")
    add_json(parser)


def _networks():
    from ..gluon.model_zoo.model_store import _SHA1

    return list(_SHA1)


def _embeddings():
    from ..contrib.text.embedding import get_pretrained_file_names

    return {file: family for family, files in get_pretrained_file_names().items() for file in files}


def _dataset(name, root):
    from ..gluon.contrib.data import text
    from ..gluon.data import vision

    module, kind = _DATASETS[name]
    options = {} if root is None else {"root": root}
    made = getattr({"vision": vision, "text": text}[module], kind)(**options)
    if module == "vision":
        getattr(vision, kind)(**options, train=False)
    return made._root, "the published arrays"


def _network(name, root):
    from ..gluon.model_zoo import model_store, vision

    options = {} if root is None else {"root": root}
    with warnings.catch_warnings(record=True):  # it is told below
        warnings.simplefilter("always")
        owner = model_store.load(vision.get_model(name), name, **options)
    return root or os.path.join(_home(), "models"), "MXNet's own weights" if owner == "MXNet" else f"{owner}'s weights"


def _home():
    from ..base import data_dir

    return data_dir()


def _embedding(name, root):
    from ..contrib.text import embedding

    family = embedding.registry.get_registry(embedding._TokenEmbedding)[_embeddings()[name]]
    return family._get_pretrained_file(root or embedding.EMBEDDING_ROOT, name), "the published file"


def _kinds():
    """[(names, how one of them is fetched)]"""
    return [(list(_DATASETS), _dataset), (_networks(), _network), (list(_embeddings()), _embedding)]


def _plain(name):
    """A data set's name as people write it: fashion_mnist, FashionMNIST and fashion-mnist are one."""
    return re.sub(r"[-_]", "", name.lower())


def _fetch(name, root):
    name = {_plain(each): each for each in _DATASETS}.get(_plain(name), name)
    for names, fetch in _kinds():
        if name in names:
            return fetch(name, root)
    near = get_close_matches(name, [each for names, _ in _kinds() for each in names], 3)
    hint = f"; did you mean {' or '.join(near)}?" if near else ""
    raise MXNetError(f"nothing is published under the name {name}{hint} (remx fetch --list prints all names)")


def _folder(path):
    """A folder that is there, or can be made."""
    wrong = next((each for each in (Path(path), *Path(path).parents) if each.is_file()), None)
    if wrong is not None:
        raise MXNetError(f"cannot write to {path}: {wrong} is a file, not a folder")
    return path


def run(options):
    """Fetch one after the other; names that fail do not keep others from being fetched."""
    if options.list or not options.names:
        names = [each for names, _ in _kinds() for each in names]
        print_json(names) if options.json else print("\n".join(names))
        return 0
    if options.root is not None:
        os.makedirs(_folder(options.root), exist_ok=True)
    found, failed = {}, {}
    for name in options.names:
        try:
            path, what = _fetch(name, options.root)
            found[name] = {"path": str(path), "content": what}
        except MXNetError as error:
            failed[name] = str(error)
    _report(found, failed, options.json)
    return 1 if failed else 0


def _report(found, failed, as_json):
    if as_json:
        print_json({"fetched": found, "failed": failed})
        return
    for name, entry in found.items():
        print(f"{name}: {entry['content']}, in {entry['path']}")
    if failed:
        raise MXNetError("; ".join(f"{name}: {why}" for name, why in failed.items()))
