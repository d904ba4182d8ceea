"""Record files: sequential (`MXRecordIO`), by key (`MXIndexedRecordIO`), and records that hold an image with labels."""

import atexit
import contextlib
import io
import os
import struct
import weakref

from ._core.errors import NameUnknown as _NameUnknown
from ._core.extras import opencv as _opencv
from ._core.hints import not_opened as _not_opened
from ._core.shims.handles import handle_of as _handle_of
from ._formats import images as _images
from ._formats import recordio as _format
from ._formats.atomic import write_file as _write_file
from ._formats.recordio import IRHeader

__all__ = ["MXRecordIO", "MXIndexedRecordIO", "IRHeader", "pack", "unpack", "unpack_img", "pack_img"]

_IR_FORMAT = "IfQQ"
_IR_SIZE = struct.calcsize(_IR_FORMAT)
_UNFINISHED = weakref.WeakSet()  # indexed files being written
_OPENED = '{} was opened with flag "{}": reading needs "r", writing "w"'


@atexit.register
def _finish_files():
    """Put the indexes of files that nobody closed in their places, before the interpreter is taken apart."""
    with contextlib.ExitStack() as stack:
        for writer in _UNFINISHED:
            stack.callback(writer.close)


class MXRecordIO:
    """A file of records that are read or written one after the other.

    Parameters
    ----------
    uri : str
        Path of the `.rec` file.
    flag : {'r', 'w'}
        Whether to read or to write.

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "numbers.rec")
    >>> file = mx.recordio.MXRecordIO(path, "w")
    >>> for i in range(3):
    ...     _ = file.write(f"record {i}".encode())
    >>> file.close()
    >>> mx.recordio.MXRecordIO(path, "r").read()
    b'record 0'
    """

    _ahead = 1 << 17  # bytes read ahead of a sequential reader

    def __init__(self, uri, flag):
        self.uri = os.fspath(uri)
        self.flag = flag
        self.pid = None
        self.is_open = False
        self.open()

    def open(self):
        """Open the file again after `close`; a file opened for writing becomes empty. The constructor opens it first.

        Examples
        --------
        >>> file = mx.recordio.MXRecordIO("numbers.rec", "w")
        >>> file.close()
        >>> file.open()
        >>> file.is_open
        True
        """
        if self.flag not in ("r", "w"):
            raise ValueError(f"Invalid flag {self.flag}")
        self.writable = self.flag == "w"
        try:
            # Nothing waits in a buffer of a writer, so a forked child cannot write it a second time.
            self._file = open(self.uri, "wb", 0) if self.writable else open(self.uri, "rb", self._ahead)  # noqa: SIM115
        except OSError as error:
            raise _not_opened(self.uri, error) from None
        self._reader = None if self.writable else _format.Reader(self._file, self.uri)
        self.pid = os.getpid()
        self.is_open = True

    @property
    def handle(self):
        """The handle of this file that the functions of `mxnet.base._LIB` take.

        Examples
        --------
        >>> mx.recordio.MXRecordIO("numbers.rec", "w").handle is not None
        True
        """
        return _handle_of(self)

    def __del__(self):
        if getattr(self, "is_open", False):
            self.close()

    def __getstate__(self):
        state = dict(self.__dict__)
        for name in ("_file", "_reader"):
            state.pop(name, None)
        return state

    def __setstate__(self, state):
        self.__dict__.update(state)
        reopen, self.is_open = state["is_open"], False
        if reopen:
            self.open()

    def _check_pid(self, allow_reset=False):
        """A child process must not move its parent's place in the file."""
        if self.pid != os.getpid():
            if not allow_reset:
                raise RuntimeError(
                    f"Forbidden operation in multiple processes: {self.uri} was opened by process {self.pid}; "
                    "call reset() in this one, or open the file here"
                )
            self.reset()

    def close(self):
        """Close the file; a second call does nothing.

        Examples
        --------
        >>> file = mx.recordio.MXRecordIO("numbers.rec", "w")
        >>> file.close()
        >>> file.is_open
        False
        """
        if self.is_open:
            self._file.close()
            self.is_open = False
            self.pid = None

    def reset(self):
        """Go back to the first record; a file opened for writing becomes empty.

        Examples
        --------
        >>> writer = mx.recordio.MXRecordIO("numbers.rec", "w")
        >>> for i in range(2):
        ...     _ = writer.write(f"record {i}".encode())
        >>> writer.close()
        >>> reader = mx.recordio.MXRecordIO("numbers.rec", "r")
        >>> first = reader.read()
        >>> reader.reset()
        >>> reader.read()
        b'record 0'
        """
        self.close()
        self.open()

    def write(self, buf):
        """Append a record.

        Parameters
        ----------
        buf : bytes
            The content.

        Examples
        --------
        >>> file = mx.recordio.MXRecordIO("numbers.rec", "w")
        >>> file.write(b"content")
        >>> file.close()
        """
        assert self.writable, _OPENED.format(self.uri, self.flag)
        self._check_pid(allow_reset=False)
        if isinstance(buf, str):
            raise TypeError("bytes or integer address expected instead of str instance: encode the text first")
        data = b"".join(_format.frames(bytes(buf)))
        view = memoryview(data)
        while view:
            view = view[self._file.write(view) :]

    def read(self):
        """Read the next record.

        Returns
        -------
        bytes, or None after the last record

        Examples
        --------
        >>> writer = mx.recordio.MXRecordIO("numbers.rec", "w")
        >>> writer.write(b"content")
        >>> writer.close()
        >>> reader = mx.recordio.MXRecordIO("numbers.rec", "r")
        >>> reader.read(), reader.read()
        (b'content', None)
        """
        assert not self.writable, _OPENED.format(self.uri, self.flag)
        self._check_pid(allow_reset=False)
        return self._reader.read()


class MXIndexedRecordIO(MXRecordIO):
    """A file of records that are read by key. A text file beside it, the index, says where each record begins.

    Parameters
    ----------
    idx_path : str
        Path of the `.idx` file.
    uri : str
        Path of the `.rec` file.
    flag : {'r', 'w'}
        Whether to read or to write.
    key_type : type, default int
        The type of the keys.

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "numbers")
    >>> file = mx.recordio.MXIndexedRecordIO(path + ".idx", path + ".rec", "w")
    >>> for i in range(3):
    ...     _ = file.write_idx(i, f"record {i}".encode())
    >>> file.close()
    >>> mx.recordio.MXIndexedRecordIO(path + ".idx", path + ".rec", "r").read_idx(2)
    b'record 2'
    """

    _ahead = 1 << 12  # the next record is probably elsewhere

    def __init__(self, idx_path, uri, flag, key_type=int):
        self.idx_path = os.fspath(idx_path)
        self.idx = {}
        self.keys = []
        self.key_type = key_type
        self.fidx = None
        self._failed = False
        super().__init__(uri, flag)

    def open(self):
        super().open()
        self.idx, self.keys, self._failed = {}, [], False
        if self.writable:
            self.fidx = io.StringIO()
            _UNFINISHED.add(self)
        else:
            self.keys, self.idx = _format.read_index(self.idx_path, self.key_type)

    def close(self):
        """Close the file and write the index; the index is not written after a record that could not be written.

        Examples
        --------
        >>> file = mx.recordio.MXIndexedRecordIO("numbers.idx", "numbers.rec", "w")
        >>> file.write_idx(7, b"content")
        >>> file.close()
        >>> open("numbers.idx").read().split()
        ['7', '0']
        """
        if not self.is_open:
            return
        _UNFINISHED.discard(self)
        mine = self.pid == os.getpid()  # a forked child leaves the index to its parent
        super().close()
        if self.writable:
            index, self.fidx = self.fidx.getvalue(), None
            if mine and not self._failed:
                _write_file(self.idx_path, index)

    def __getstate__(self):
        state = super().__getstate__()
        state["fidx"] = None
        return state

    def seek(self, idx):
        """Go to the record of a key, which `read` then returns. In a forked process the file is opened again.

        Parameters
        ----------
        idx : int
            The key, of the type `key_type`.

        Examples
        --------
        >>> writer = mx.recordio.MXIndexedRecordIO("numbers.idx", "numbers.rec", "w")
        >>> for i in range(3):
        ...     writer.write_idx(i, f"record {i}".encode())
        >>> writer.close()
        >>> reader = mx.recordio.MXIndexedRecordIO("numbers.idx", "numbers.rec", "r")
        >>> reader.seek(1)
        >>> reader.read()
        b'record 1'
        """
        assert not self.writable, _OPENED.format(self.uri, self.flag)
        self._check_pid(allow_reset=True)
        if idx not in self.idx:
            raise _NameUnknown(f"{idx!r} is not among the {len(self.idx)} keys of {self.idx_path}")
        self._reader.seek(self.idx[idx])

    def tell(self):
        """The position in bytes at which the next record will be written.

        Examples
        --------
        >>> writer = mx.recordio.MXIndexedRecordIO("numbers.idx", "numbers.rec", "w")
        >>> writer.write_idx(0, b"content")
        >>> writer.tell()
        16
        """
        assert self.writable, _OPENED.format(self.uri, self.flag)
        return self._file.tell()

    def read_idx(self, idx):
        """Read the record of a key.

        Parameters
        ----------
        idx : int
            The key, of the type `key_type`.

        Returns
        -------
        bytes

        Examples
        --------
        >>> writer = mx.recordio.MXIndexedRecordIO("numbers.idx", "numbers.rec", "w")
        >>> for i in range(3):
        ...     writer.write_idx(i, f"record {i}".encode())
        >>> writer.close()
        >>> mx.recordio.MXIndexedRecordIO("numbers.idx", "numbers.rec", "r").read_idx(2)
        b'record 2'
        """
        self.seek(idx)
        return self.read()

    def write_idx(self, idx, buf):
        """Append a record under a key.

        Parameters
        ----------
        idx : int
            The key; it is converted to `key_type`.
        buf : bytes
            The content.

        Examples
        --------
        >>> writer = mx.recordio.MXIndexedRecordIO("numbers.idx", "numbers.rec", "w")
        >>> writer.write_idx(5, b"content")
        >>> writer.keys
        [5]
        """
        key, place = self.key_type(idx), self.tell()
        self._failed = True  # until it is written: a full disk must not cost the index that is there
        try:
            self.write(buf)
        except OSError:
            self._file.seek(place)
            self._file.truncate()  # the beginning of a record that has no end
            raise
        self._failed = False
        self.fidx.write(f"{key}\t{place}\n")
        self.idx[key] = place
        self.keys.append(key)


def pack(header, s):
    """Join a header and bytes into one record.

    Parameters
    ----------
    header : IRHeader
        Its `label` is a number or an array of several; `flag` is set accordingly.
    s : bytes
        The content.

    Returns
    -------
    bytes

    Examples
    --------
    >>> record = mx.recordio.pack(mx.recordio.IRHeader(0, 4.0, 7, 0), b"content")
    >>> len(record)
    31
    """
    return _format.pack(header, s)


def unpack(s):
    """Split a record into header and content.

    Parameters
    ----------
    s : bytes
        What `pack` made.

    Returns
    -------
    header : IRHeader
    s : bytes

    Examples
    --------
    >>> record = mx.recordio.pack(mx.recordio.IRHeader(0, 4.0, 7, 0), b"content")
    >>> header, content = mx.recordio.unpack(record)
    >>> header.label, header.id, content
    (4.0, 7, b'content')
    """
    return _format.unpack_header(s)


def unpack_img(s, iscolor=-1):
    """Split a record into header and decoded image.

    Parameters
    ----------
    s : bytes
        What `pack_img` made.
    iscolor : int, default -1
        1 for color (blue first), 0 for gray, -1 for what the image is.

    Returns
    -------
    header : IRHeader
    img : numpy.ndarray or None
        None if the image cannot be decoded.

    Examples
    --------
    >>> image = np.full((4, 6, 3), 9, dtype=np.uint8)
    >>> record = mx.recordio.pack_img(mx.recordio.IRHeader(0, 1.0, 0, 0), image, quality=3, img_fmt=".png")
    >>> header, image = mx.recordio.unpack_img(record)
    >>> header.label, int(image.max())
    (1.0, 9)
    """
    header, content = unpack(s)
    if _images.size(content) is None or _images.damage(content):
        return header, None
    _images.check(content, "unpack_img")
    return header, _images.pixels(content, iscolor, "unpack_img")


def pack_img(header, img, quality=95, img_fmt=".jpg"):
    """Encode an image and join it with a header into one record.

    Parameters
    ----------
    header : IRHeader
        The header.
    img : numpy.ndarray
        Image of shape (height, width, 3), blue first, or (height, width).
    quality : int, default 95
        JPEG's quality (1 to 100) or PNG's compression (1 to 9).
    img_fmt : str, default '.jpg'
        '.jpg' or '.png'.

    Returns
    -------
    bytes

    Examples
    --------
    >>> image = np.zeros((4, 6, 3), dtype=np.uint8)
    >>> record = mx.recordio.pack_img(mx.recordio.IRHeader(0, 1.0, 0, 0), image, quality=3, img_fmt=".png")
    >>> mx.recordio.unpack_img(record)[1].shape
    (4, 6, 3)
    """
    cv2 = _opencv()
    settings = {
        ".JPG": cv2.IMWRITE_JPEG_QUALITY,
        ".JPEG": cv2.IMWRITE_JPEG_QUALITY,
        ".PNG": cv2.IMWRITE_PNG_COMPRESSION,
    }
    setting = settings.get(img_fmt.upper())
    if setting == cv2.IMWRITE_PNG_COMPRESSION:
        quality = min(quality, 9)  # the default is meant for JPEG; OpenCV takes 9 for it, newer ones with a warning
    done, encoded = cv2.imencode(img_fmt, img, None if setting is None else [setting, quality])
    assert done, "failed to encode image"
    return pack(header, encoded.tobytes())
