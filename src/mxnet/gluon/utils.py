"""Helpers of Gluon: splitting batches over contexts, clipping gradients, fetching files, hooks."""

import collections
import contextlib
import hashlib
import os
import uuid
import warnings
import weakref
from itertools import accumulate, pairwise

import numpy as np

from .. import ndarray
from .._core.errors import MXNetError
from ..util import is_np_array, is_np_shape

__all__ = ["split_data", "split_and_load", "clip_global_norm", "check_sha1", "download", "replace_file"]

DEFAULT_REPOSITORY = "https://apache-mxnet.s3-accelerate.dualstack.amazonaws.com/"


def split_data(data, num_slice, batch_axis=0, even_split=True):
    """Cut `data` into `num_slice` arrays along `batch_axis`; the first ones are longer when it does not divide."""
    size = data.shape[batch_axis]
    if even_split and size % num_slice:
        raise ValueError(
            f"data with shape {data.shape} cannot be evenly split into {num_slice} slices along axis {batch_axis}. "
            f"Use a batch size that's multiple of {num_slice} or set even_split=False to allow "
            "uneven partitioning of data."
        )
    each, longer = divmod(size, num_slice)
    bounds = accumulate([each + 1] * longer + [each] * (num_slice - longer), initial=0)
    if batch_axis == 0:
        return [data[begin:end] for begin, end in pairwise(bounds)]
    if is_np_array():
        index = (slice(None),) * batch_axis
        return [data[(*index, slice(begin, end))] for begin, end in pairwise(bounds)]
    return [ndarray.slice_axis(data, axis=batch_axis, begin=begin, end=end) for begin, end in pairwise(bounds)]


def split_and_load(data, ctx_list, batch_axis=0, even_split=True):
    """Split a batch into as many slices as there are contexts and copy each to its own."""
    if not isinstance(data, ndarray.NDArray):
        data = _array(data, ctx_list[0])
    if len(ctx_list) == 1:
        return [data.as_in_context(ctx_list[0])]
    slices = split_data(data, len(ctx_list), batch_axis, even_split)
    return [part.as_in_context(ctx) for part, ctx in zip(slices, ctx_list, strict=True)]


def _array(data, ctx=None):
    """`data` as an array of the kind that is active, classic or NumPy-like."""
    if is_np_array():
        from .. import numpy as mx_np

        return mx_np.array(data, ctx=ctx)
    return ndarray.array(data, ctx=ctx)


def clip_global_norm(arrays, max_norm, check_isfinite=True):
    """Scale `arrays` in place so that the 2-norm of all of them together is at most `max_norm`; return the norm."""
    assert len(arrays) > 0
    ctx = arrays[0].context
    total_norm = ndarray.sqrt(ndarray.add_n(*[_squared_norm(array).as_in_context(ctx) for array in arrays]))
    norm = total_norm.asscalar() if check_isfinite else total_norm
    if check_isfinite and not np.isfinite(norm):
        warnings.warn(UserWarning("nan or inf is detected. Clipping results will be undefined."), stacklevel=2)
    scale = ndarray.min(ndarray.concat(max_norm / (total_norm + 1e-8), ndarray.ones(1, ctx=ctx), dim=0))
    for array in arrays:
        array *= scale.as_in_context(array.context)
    return norm


def _squared_norm(array):
    if array.stype != "default":
        return array.norm().square()
    flat = array.reshape((-1,))
    return ndarray.dot(flat, flat)


def check_sha1(filename, sha1_hash):
    """Whether the file's SHA-1 is `sha1_hash` (hexadecimal digits)."""
    digest = hashlib.sha1()
    with open(filename, "rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest() == sha1_hash


def replace_file(src, dst):
    """Move `src` over `dst` in one step; on failure `src` is removed and OSError raised."""
    try:
        os.replace(src, dst)
    except OSError as error:
        _remove_quietly(src)
        raise OSError(
            f"Moving downloaded temp file - {src}, to {dst} failed. Please retry the download. ({error})"
        ) from error


def _remove_quietly(path):
    with contextlib.suppress(FileNotFoundError):
        os.remove(path)


def download(url, path=None, overwrite=False, sha1_hash=None, retries=5, verify_ssl=True):
    """Fetch `url` into `path` (a file or a directory; by default the working directory) and return the file's name.

    An existing file is kept unless `overwrite`, or unless its SHA-1 is not `sha1_hash`. The file appears under its
    name only when it is whole; failures are tried again up to `retries` times.
    """
    fname = _target(url, path)
    assert retries >= 0, f"Number of retries should be at least 0, currently it's {retries}"
    if not verify_ssl:
        warnings.warn(
            "Unverified HTTPS request is being made (verify_ssl=False). "
            "Adding certificate verification is strongly advised.",
            stacklevel=2,
        )
    if overwrite or not _is_present(fname, sha1_hash):
        os.makedirs(os.path.dirname(os.path.abspath(fname)), exist_ok=True)
        _fetch_with_retries(url, fname, overwrite, sha1_hash, retries, verify_ssl)
    return fname


def _target(url, path):
    last = url.split("/")[-1]
    if path is None:
        assert last, "Can't construct file-name from this URL. Please set the `path` option manually."
        return last
    path = os.path.expanduser(path)
    return os.path.join(path, last) if os.path.isdir(path) else path


def _is_present(fname, sha1_hash):
    return os.path.exists(fname) and (not sha1_hash or check_sha1(fname, sha1_hash))


def _fetch_with_retries(url, fname, overwrite, sha1_hash, retries, verify_ssl):
    for left in range(max(retries, 1) - 1, -1, -1):
        try:
            print(f"Downloading {fname} from {url}...")
            _fetch(url, fname, overwrite, sha1_hash, verify_ssl)
            break
        except Exception as error:  # whatever failed, network or file system, is worth another attempt
            if left == 0:
                warnings.warn(_by_hand(fname, sha1_hash, [url]), stacklevel=4)
                raise
            print(f"download failed due to {error!r}, retrying, {left} attempt{'s' if left > 1 else ''} left")


def _fetch(url, fname, overwrite, sha1_hash, verify_ssl):
    import requests

    response = requests.get(url, stream=True, verify=verify_ssl)
    if response.status_code != 200:
        raise RuntimeError(f"Failed downloading url {url}")
    partial = f"{fname}.{uuid.uuid4()}"
    try:
        with open(partial, "wb") as file:
            for chunk in response.iter_content(chunk_size=1 << 16):
                file.write(chunk)
        if sha1_hash and not check_sha1(partial, sha1_hash):
            raise UserWarning(
                f"File {fname} is downloaded but the content hash does not match."
                " The repo may be outdated or download may be incomplete. "
                'If the "repo_url" is overridden, consider switching to the default repo.'
            )
        if overwrite or not _is_present(fname, sha1_hash):
            replace_file(partial, fname)
        else:  # another process was faster
            warnings.warn(f"File {fname} exists in file system so the downloaded file is deleted", stacklevel=4)
    finally:
        _remove_quietly(partial)


def _by_hand(fname, sha1_hash, urls):
    """What to do without the network: which file, with which hash, belongs in which folder."""
    folder, name = os.path.split(os.path.abspath(fname))
    digest = f" (SHA-1 {sha1_hash})" if sha1_hash else ""
    return (
        f"{name} could not be fetched from {', '.join(urls)}. Put the file {name}{digest} into {folder}, "
        "or set MXNET_GLUON_REPO to one or more https mirrors, separated by commas."
    )


def _get_repo_urls():
    """Addresses of the repositories of data sets and models, in the order they are tried, each ending in a slash."""
    names = os.environ.get("MXNET_GLUON_REPO", "").split(",")
    return [name.strip().rstrip("/") + "/" for name in names if name.strip()] or [DEFAULT_REPOSITORY]


def _get_repo_url():
    """Address of the first repository."""
    return _get_repo_urls()[0]


def _download_from_repo(namespace, filename, path, sha1_hash=None, overwrite=False, wanted=None):
    """Fetch a file from the first repository that has it; `wanted` is (file, hash) a person would put in its place."""
    urls = [f"{repository}{namespace}/{filename}" for repository in _get_repo_urls()]
    failures = []
    for url in urls:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # all addresses are named once, below
                return download(url, path=path, overwrite=overwrite, sha1_hash=sha1_hash, retries=5 // len(urls) or 1)
        except (OSError, RuntimeError, ValueError, UserWarning) as error:  # requests' errors are OSErrors
            failures.append(f"{type(error).__name__}: {error}")
    raise MXNetError(f"{_by_hand(*(wanted or (path, sha1_hash)), urls)} ({'; '.join(failures)})")


def _get_repo_file_url(namespace, filename):
    return f"{_get_repo_url()}{namespace}/{filename}"


def _indent(text, spaces):
    """`text` with every line but the first moved to the right."""
    return text.replace("\n", "\n" + " " * spaces)


def _brief_print_list(items, limit=7):
    """The items quoted and joined; of a long list only its two ends."""
    items = list(items)
    if len(items) > limit:
        head, tail = items[: limit // 2], items[-limit // 2 :]
        return f"{_brief_print_list(head, limit)}, ..., {_brief_print_list(tail, limit)}"
    return ", ".join(f"'{item}'" for item in items)


class HookHandle:
    """What registering a hook returns: `detach` takes the hook away again, and so does leaving a `with`."""

    def __init__(self):
        self._hooks_dict_ref = None
        self._id = None

    def attach(self, hooks_dict, hook):
        assert not self._hooks_dict_ref, "The same handle cannot be attached twice."
        self._id = id(hook)
        hooks_dict[self._id] = hook
        self._hooks_dict_ref = weakref.ref(hooks_dict)

    def detach(self):
        hooks = self._hooks_dict_ref()
        if hooks is not None:
            hooks.pop(self._id, None)

    def __getstate__(self):
        return (self._hooks_dict_ref(), self._id)

    def __setstate__(self, state):
        hooks, self._id = state
        self._hooks_dict_ref = weakref.ref(collections.OrderedDict() if hooks is None else hooks)

    def __enter__(self):
        return self

    def __exit__(self, ptype, value, trace):
        self.detach()


def shape_is_known(shape):
    """Whether no size in `shape` is left open (0 means open, or -1 under NumPy shape semantics)."""
    if shape is None:
        return False
    unknown = -1 if is_np_shape() else 0
    if len(shape) == 0:
        return unknown == -1
    for size in shape:
        if size == unknown:
            return False
        assert size > unknown, f"shape dimension size cannot be less than {unknown}, while received {size}"
    return True
