"""ImageIter: batches of images from a record file or from image files, augmented by Python callables."""

import logging
import os
import random
import warnings

import numpy as np

from .. import io, recordio
from .. import ndarray as nd
from .._core.errors import MXNetError, NameUnknown, ValueRefused
from .._core.on_error import checked_on_error
from .._formats import image_lists
from ..base import numeric_types
from ..util import default_array, is_np_array
from .augment import CreateAugmenter
from .functional import imdecode


class ImageIter(io.DataIter):
    """Images and labels from `path_imgrec` (records), or from `path_imglist` or `imglist` below `path_root`.

    Shuffling and parts of a record file need its index, `path_imgidx`. Keywords go to `CreateAugmenter` unless
    `aug_list` is given. `on_error` says what happens to an image that cannot be read.

    Parameters
    ----------
    batch_size : int
        The number of images in a batch.
    data_shape : tuple of three ints
        Channels, height and width of the images.
    label_width : int, default 1
        The number of labels of an image.
    path_imgrec : str, optional
        The record file.
    path_imglist : str, optional
        A list file, instead of records.
    path_root : str, optional
        The folder that the paths of the list start from.
    path_imgidx : str, optional
        The index of the record file, which shuffling and parts need.
    shuffle : bool, default False
        Whether images come in random order.
    part_index : int, default 0
        The part that this iterator reads.
    num_parts : int, default 1
        The number of parts, one for each worker.
    aug_list : list of augmenters, optional
        The augmenters; without it, those that the further arguments describe.
    imglist : list, optional
        A list of [label, …, path], instead of files.
    data_name : str, default 'data'
        The name of the data.
    label_name : str, default 'softmax_label'
        The name of the label.
    dtype : str, default 'float32'
        The data type of the data.
    last_batch_handle : str, default 'pad'
        What becomes of an incomplete last batch: pad, discard or roll_over.
    on_error : str, default 'raise'
        What to do with an image that cannot be read: 'raise', 'warn' or 'skip'.
    **kwargs
        Arguments of `CreateAugmenter`.

    Examples
    --------
    >>> import cv2
    >>> _ = cv2.imwrite("picture.png", np.zeros((8, 8, 3), "uint8"))
    >>> batch = next(mx.image.ImageIter(1, (3, 8, 8), imglist=[[3.0, "picture.png"]], path_root="."))
    >>> batch.data[0].shape, batch.label[0].asnumpy()
    ((1, 3, 8, 8), array([3.], dtype=float32))
    """

    def __init__(
        self,
        batch_size,
        data_shape,
        label_width=1,
        path_imgrec=None,
        path_imglist=None,
        path_root=None,
        path_imgidx=None,
        shuffle=False,
        part_index=0,
        num_parts=1,
        aug_list=None,
        imglist=None,
        data_name="data",
        label_name="softmax_label",
        dtype="float32",
        last_batch_handle="pad",
        on_error="raise",
        **kwargs,
    ):
        super().__init__()
        assert path_imgrec or path_imglist or isinstance(imglist, list), (
            "give path_imgrec, path_imglist or a list, imglist"
        )
        assert dtype in ("int32", "float32", "int64", "float64"), f"{dtype} label not supported"
        self._on_error = checked_on_error(on_error)
        self._path = path_imgrec or path_imglist or "imglist"
        self._open_records(path_imgrec, path_imgidx)
        keys = self._open_list(path_imglist, imglist, dtype)
        self.path_root = path_root
        self.check_data_shape(data_shape)
        self.provide_data = [(data_name, (batch_size, *data_shape))]
        self.provide_label = [(label_name, (batch_size, label_width) if label_width > 1 else (batch_size,))]
        self.batch_size = batch_size
        self.data_shape = data_shape
        self.label_width = label_width
        self.shuffle = shuffle
        self._choose_sequence(keys, shuffle, part_index, num_parts, path_imgidx)
        self.auglist = CreateAugmenter(data_shape, **kwargs) if aug_list is None else aug_list
        self.cur = 0
        self._allow_read = True
        self.last_batch_handle = last_batch_handle
        self.num_image = len(self.seq) if self.seq is not None else None
        self._clear_cache()
        self.reset()

    def _open_records(self, path_imgrec, path_imgidx):
        self.imgrec = self.imgidx = None
        if path_imgrec:
            logging.info("%s: loading recordio %s...", type(self).__name__, path_imgrec)
            if path_imgidx:
                self.imgrec = recordio.MXIndexedRecordIO(path_imgidx, path_imgrec, "r")
                self.imgidx = list(self.imgrec.keys)
            else:
                self.imgrec = recordio.MXRecordIO(path_imgrec, "r")

    def _open_list(self, path_imglist, imglist, dtype):
        """Fills `imglist` with key → (label, file name) and returns the keys in order."""
        self.imglist = None
        if path_imglist:
            logging.info("%s: loading image list %s...", type(self).__name__, path_imglist)
            self.imglist = dict(self._listed_in_file(path_imglist, dtype))
        elif isinstance(imglist, list):
            logging.info("%s: loading image list...", type(self).__name__)
            self.imglist = {
                str(i): (default_array(self._labels(item), dtype=dtype), item[-1]) for i, item in enumerate(imglist, 1)
            }
        return list(self.imglist or ())

    @staticmethod
    def _listed_in_file(path, dtype):
        for key, labels, name in image_lists.entries(path, least=2):
            yield key, (default_array(labels, dtype=dtype), name)

    @staticmethod
    def _labels(item):
        if len(item) > 2:
            return item[:-1]
        return [item[0]] if isinstance(item[0], numeric_types) else item[0]

    def _choose_sequence(self, keys, shuffle, part_index, num_parts, path_imgidx):
        if self.imgrec is None:
            self.seq = keys
        elif shuffle or num_parts > 1 or path_imgidx:
            assert self.imgidx is not None, "shuffle and num_parts need path_imgidx, the index of the record file"
            self.seq = self.imgidx
        else:
            self.seq = None
        if num_parts > 1:
            assert part_index < num_parts, f"part_index must be below num_parts, got {part_index} and {num_parts}"
            count = len(self.seq) // num_parts
            self.seq = self.seq[part_index * count : (part_index + 1) * count]

    def _clear_cache(self):
        self._cache_data = None
        self._cache_label = None
        self._cache_idx = None

    def reset(self):
        """Go back to the beginning; images that roll over stay for the next batch."""
        if self.seq is not None and self.shuffle:
            random.shuffle(self.seq)
        if self.last_batch_handle != "roll_over" or self._cache_data is None:
            self._rewind()

    def state_dict(self):
        """The position: give it to `load_state_dict` of an iterator with the same arguments to continue there. Not in
        MXNet.

        Examples
        --------
        >>> import cv2
        >>> _ = cv2.imwrite("picture.png", np.zeros((8, 8, 3), "uint8"))
        >>> batches = mx.image.ImageIter(1, (3, 8, 8), imglist=[[3.0, "picture.png"]], path_root=".")
        >>> batches.state_dict()["cur"]
        0
        """
        cache = (self._cache_data, self._cache_label, self._cache_idx)
        order = None if self.seq is None else np.asarray(self.seq)
        return {"cur": self.cur, "order": order, "reads": self._allow_read, "cache": cache}

    def load_state_dict(self, state):
        """Continue at a position that `state_dict` returned. Not in MXNet.

        Parameters
        ----------
        state : dict
            The position.

        Examples
        --------
        >>> import cv2
        >>> _ = cv2.imwrite("picture.png", np.zeros((8, 8, 3), "uint8"))
        >>> batches = mx.image.ImageIter(1, (3, 8, 8), imglist=[[3.0, "picture.png"]], path_root=".")
        >>> batches.load_state_dict(batches.state_dict())
        """
        self._rewind()
        self._cache_data, self._cache_label, self._cache_idx = state["cache"]
        self.cur, self._allow_read = state["cur"], state["reads"]
        if self.seq is not None:
            self.seq = state["order"].tolist()
        else:
            for _ in range(self.cur):
                self.imgrec.read()

    def hard_reset(self):
        """Go back to the first image and drop images that would roll over into the next epoch.

        Examples
        --------
        >>> import cv2
        >>> _ = cv2.imwrite("picture.png", np.zeros((8, 8, 3), "uint8"))
        >>> batches = mx.image.ImageIter(1, (3, 8, 8), imglist=[[3.0, "picture.png"]], path_root=".")
        >>> epoch = list(batches)
        >>> batches.hard_reset()
        >>> len(list(batches))
        1
        """
        if self.seq is not None and self.shuffle:
            random.shuffle(self.seq)
        self._rewind()
        self._clear_cache()

    def _rewind(self):
        if self.imgrec is not None:
            self.imgrec.reset()
        self.cur = 0
        self._allow_read = True

    def next_sample(self):
        """Label and encoded image, as bytes, of the next sample; raises StopIteration after the last.

        Examples
        --------
        >>> import cv2
        >>> _ = cv2.imwrite("picture.png", np.zeros((8, 8, 3), "uint8"))
        >>> batches = mx.image.ImageIter(1, (3, 8, 8), imglist=[[3.0, "picture.png"]], path_root=".")
        >>> label, content = batches.next_sample()
        >>> label.asnumpy(), content[1:4]
        (array([3.], dtype=float32), b'PNG')
        """
        if not self._allow_read:
            raise StopIteration
        return self._next_record() if self.seq is None else self._next_listed()

    def _next_record(self):
        record = self.imgrec.read()
        if record is None:
            if self.last_batch_handle != "discard":
                self.imgrec.reset()
            raise StopIteration
        self.cur += 1
        header, image = self._unpacked(record)
        return header.label, image

    def _unpacked(self, record):
        try:
            return recordio.unpack(record)
        except MXNetError as error:
            raise MXNetError(f"{self._place_of_last()}: {error}") from error

    def _next_listed(self):
        if self.cur >= self.num_image:
            if self.last_batch_handle != "discard":
                self.cur = 0
            raise StopIteration
        key = self.seq[self.cur]
        self.cur += 1
        if self.imgrec is None:
            label, name = self.imglist[key]
            return label, self.read_image(name)
        header, image = self._unpacked(self.imgrec.read_idx(key))
        return (header.label if self.imglist is None else self._listed_label(key)), image

    def _listed_label(self, key):
        if key not in self.imglist:
            raise NameUnknown(f"the record of index {key} in {self._path} is not in the image list")
        return self.imglist[key][0]

    def _read_one(self, label, content):
        """Label and image, ready for the batch; None if it is to be left out."""
        data = self.imdecode(content)
        try:
            self.check_valid_image(data)
        except RuntimeError as error:
            logging.debug("Invalid image, skipping:  %s", error)
            return None
        return label, self.postprocess_data(self.augmentation_transform(data))

    def _place(self, batch_data, batch_label, row, label, image):
        width = int(np.prod(batch_label.shape[1:]))
        if np.size(label) not in (1, width):
            raise ValueRefused(f"{self._place_of_last()} has {np.size(label)} labels, label_width is {width}")
        batch_data[row] = image
        batch_label[row] = label

    def _batchify(self, batch_data, batch_label, start=0):
        """Fill the batch from row `start`; how many rows are full at the end of the data."""
        row = start
        try:
            while row < self.batch_size:
                label, content = self._next_readable()
                try:
                    sample = self._read_one(label, content)
                except (MXNetError, RuntimeError, OSError) as error:
                    self._report(error)
                    continue
                if sample is not None:
                    self._place(batch_data, batch_label, row, *sample)
                    row += 1
        except StopIteration:
            if not row:
                raise
        return row

    def _next_readable(self):
        """`next_sample`, over those that `on_error` passes over."""
        while True:
            try:
                return self.next_sample()
            except (MXNetError, RuntimeError, OSError) as error:
                self._report(error)
                if self.imgrec is not None and self.seq is None and not isinstance(error, OSError):
                    self.imgrec._reader.resync()

    def _report(self, error):
        if self._on_error == "raise":
            raise error
        if self._on_error == "warn":
            warnings.warn(f"left out: {error}", stacklevel=2)

    def _new_batch(self):
        data = default_array(np.zeros((self.batch_size, *self.data_shape), np.float32))
        return data, default_array(np.zeros(self.provide_label[0][1], np.float32))

    def next(self):
        """The next batch, its last samples padded, dropped or kept for the next epoch as `last_batch_handle` says."""
        if self._cache_data is not None:
            assert self._cache_label is not None, "_cache_label didn't have values"
            assert self._cache_idx is not None, "_cache_idx didn't have values"
            data, label, count = self._cache_data, self._cache_label, self._cache_idx
        else:
            data, label = self._new_batch()
            count = self._batchify(data, label)
        pad = self.batch_size - count
        if pad:
            self._complete(data, label, count)
        return io.DataBatch([data], [label], pad=pad)

    def _complete(self, data, label, count):
        if self.last_batch_handle == "discard":
            raise StopIteration
        if self.last_batch_handle == "roll_over" and self._cache_data is None:
            self._cache_data, self._cache_label, self._cache_idx = data, label, count
            raise StopIteration
        self._batchify(data, label, count)
        if self.last_batch_handle == "pad":
            self._allow_read = False
        else:
            self._clear_cache()

    def check_data_shape(self, data_shape):
        """Raise ValueError unless the shape of an image is (3, height, width).

        Parameters
        ----------
        data_shape : tuple of int
            The shape.

        Examples
        --------
        >>> import cv2
        >>> _ = cv2.imwrite("picture.png", np.zeros((8, 8, 3), "uint8"))
        >>> batches = mx.image.ImageIter(1, (3, 8, 8), imglist=[[3.0, "picture.png"]], path_root=".")
        >>> batches.check_data_shape((3, 32, 32))
        """
        if len(data_shape) != 3:
            raise ValueError(f"data_shape should have length 3, with dimensions CxHxW, got {data_shape}")
        if data_shape[0] != 3:
            raise ValueError(f"This iterator expects inputs to have 3 channels, got data_shape {data_shape}")

    def check_valid_image(self, data):
        """Raise RuntimeError if a decoded image has no pixels.

        Parameters
        ----------
        data : NDArray
            The image.

        Examples
        --------
        >>> import cv2
        >>> _ = cv2.imwrite("picture.png", np.zeros((8, 8, 3), "uint8"))
        >>> batches = mx.image.ImageIter(1, (3, 8, 8), imglist=[[3.0, "picture.png"]], path_root=".")
        >>> batches.check_valid_image(mx.nd.ones((8, 8, 3)))
        """
        if len(data[0].shape) == 0:
            raise MXNetError("Data shape is wrong")

    def imdecode(self, s):
        """Decode an image; a broken one raises MXNetError with its place in the file or list.

        Parameters
        ----------
        s : bytes
            The encoded image, such as the content of a JPEG file.

        Examples
        --------
        >>> import cv2
        >>> _ = cv2.imwrite("picture.png", np.zeros((8, 8, 3), "uint8"))
        >>> batches = mx.image.ImageIter(1, (3, 8, 8), imglist=[[3.0, "picture.png"]], path_root=".")
        >>> batches.imdecode(batches.read_image("picture.png")).shape
        (8, 8, 3)
        """
        try:
            return imdecode(s)
        except Exception as error:  # whatever is wrong with the image, say which one it is
            raise MXNetError(f"Broken image {self._place_of_last()}, {error}") from error

    def _place_of_last(self):
        key = self.cur - 1 if self.seq is None else self.seq[(self.cur % self.num_image) - 1]
        if self.imgrec is not None:
            return f"index: {key} of {self._path} at byte {self.imgrec._reader.begun}"
        return f"filename: {self.imglist[key][1]}"

    def read_image(self, fname):
        """Read the bytes of an image file.

        Parameters
        ----------
        fname : str
            Path of the file below `path_root`.

        Examples
        --------
        >>> import cv2
        >>> _ = cv2.imwrite("picture.png", np.zeros((8, 8, 3), "uint8"))
        >>> batches = mx.image.ImageIter(1, (3, 8, 8), imglist=[[3.0, "picture.png"]], path_root=".")
        >>> batches.read_image("picture.png")[1:4]
        b'PNG'
        """
        return image_lists.content(os.path.join(self.path_root or "", fname))

    def augmentation_transform(self, data):
        """Apply all augmenters to an image.

        Parameters
        ----------
        data : NDArray
            The image, of shape (height, width, channels).

        Examples
        --------
        >>> import cv2
        >>> _ = cv2.imwrite("picture.png", np.zeros((8, 8, 3), "uint8"))
        >>> batches = mx.image.ImageIter(1, (3, 8, 8), imglist=[[3.0, "picture.png"]], path_root=".")
        >>> batches.augmentation_transform(mx.nd.ones((8, 8, 3))).shape
        (8, 8, 3)
        """
        for augmenter in self.auglist:
            data = augmenter(data)
        return data

    def postprocess_data(self, datum):
        """Put the channels first, as batches have them.

        Parameters
        ----------
        datum : NDArray
            The image, of shape (height, width, channels).

        Examples
        --------
        >>> import cv2
        >>> _ = cv2.imwrite("picture.png", np.zeros((8, 8, 3), "uint8"))
        >>> batches = mx.image.ImageIter(1, (3, 8, 8), imglist=[[3.0, "picture.png"]], path_root=".")
        >>> batches.postprocess_data(mx.nd.ones((8, 6, 3))).shape
        (3, 8, 6)
        """
        return datum.transpose(2, 0, 1) if is_np_array() else nd.transpose(datum, axes=(2, 0, 1))
