"""Detection: the augmenters that move boxes, and ImageDetIter."""

import logging

import numpy as np

from .. import ndarray as nd
from .._core.errors import MXNetError, ValueRefused
from .._core.extras import opencv_to_draw
from ..util import default_array, is_np_array  # noqa: F401
from .augment import (  # noqa: F401  (MXNet's module shows the augmenters too)
    IMAGENET_MEAN,
    IMAGENET_STD,
    Augmenter,
    CastAug,
    ColorJitterAug,
    ColorNormalizeAug,
    ForceResizeAug,
    HueJitterAug,
    LightingAug,
    RandomGrayAug,
    RandomOrderAug,
    ResizeAug,
)
from .det_augment import (
    CreateDetAugmenter,
    CreateMultiRandCropAugmenter,
    DetAugmenter,
    DetBorrowAug,
    DetHorizontalFlipAug,
    DetRandomCropAug,
    DetRandomPadAug,
    DetRandomSelectAug,
)
from .functional import copyMakeBorder, fixed_crop  # noqa: F401
from .iterator import ImageIter

__all__ = [
    "CreateDetAugmenter",
    "CreateMultiRandCropAugmenter",
    "DetAugmenter",
    "DetBorrowAug",
    "DetHorizontalFlipAug",
    "DetRandomCropAug",
    "DetRandomPadAug",
    "DetRandomSelectAug",
    "ImageDetIter",
]


class ImageDetIter(ImageIter):
    """Images with boxes. All labels of a batch have the row count of the longest one, filled up with -1.

    A raw label is: width of this header, width of an object, … then for each object class, left, top, right,
    bottom, ….

    Parameters
    ----------
    batch_size : int
        The number of images in a batch.
    data_shape : tuple of three ints
        Channels, height and width of the images.
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
    label_name : str, default 'label'
        The name of the label.
    last_batch_handle : str, default 'pad'
        What becomes of an incomplete last batch: pad, discard or roll_over.
    on_error : str, default 'raise'
        What to do with an image that cannot be read: 'raise', 'warn' or 'skip'.
    **kwargs
        Arguments of `CreateDetAugmenter`.

    Examples
    --------
    >>> import cv2
    >>> _ = cv2.imwrite("picture.png", np.zeros((8, 8, 3), "uint8"))
    >>> label = [2, 5, 0, 0.1, 0.1, 0.5, 0.5]  # widths of header and object, then class and box
    >>> batches = mx.image.ImageDetIter(1, (3, 8, 8), imglist=[[label, "picture.png"]], path_root=".")
    >>> batch = next(batches)
    >>> batch.data[0].shape, batch.label[0].shape
    ((1, 3, 8, 8), (1, 1, 5))
    """

    def __init__(
        self,
        batch_size,
        data_shape,
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
        label_name="label",
        last_batch_handle="pad",
        on_error="raise",
        **kwargs,
    ):
        super().__init__(
            batch_size=batch_size,
            data_shape=data_shape,
            path_imgrec=path_imgrec,
            path_imglist=path_imglist,
            path_root=path_root,
            path_imgidx=path_imgidx,
            shuffle=shuffle,
            part_index=part_index,
            num_parts=num_parts,
            aug_list=[],
            imglist=imglist,
            data_name=data_name,
            label_name=label_name,
            last_batch_handle=last_batch_handle,
            on_error=on_error,
        )
        self.auglist = CreateDetAugmenter(data_shape, **kwargs) if aug_list is None else aug_list
        self.label_shape = self._estimate_label_shape()
        self.provide_label = [(label_name, (self.batch_size, *self.label_shape))]

    def _check_valid_label(self, label):
        if len(label.shape) != 2 or label.shape[1] < 5:
            raise MXNetError(f"Label with shape (1+, 5+) required, {label} received.")
        if not ((label[:, 0] >= 0) & (label[:, 3] > label[:, 1]) & (label[:, 4] > label[:, 2])).any():
            raise MXNetError(f"Invalid label occurs: no box of {label.tolist()} has a class and a positive area")

    def _estimate_label_shape(self):
        """Most objects in a label, and the width of an object, over all samples."""
        most, width = 0, 5
        self.reset()
        try:
            while True:
                raw = self._next_readable()[0]
                try:
                    label = self._parse_label(raw)
                except RuntimeError as error:
                    self._report(error)
                    continue
                most, width = max(most, label.shape[0]), label.shape[1]
        except StopIteration:
            pass
        self.reset()
        return most, width

    def _parse_label(self, label):
        """The objects of a raw label, one per row; boxes without area are left out."""
        raw = (label.asnumpy() if isinstance(label, nd.NDArray) else np.asarray(label)).ravel()
        if raw.size < 7:
            raise MXNetError("Label shape is invalid: " + str(raw.shape))
        if not (2 <= raw[0] <= raw.size and 5 <= raw[1] <= raw.size):  # also not a number
            raise MXNetError(f"Label of {raw.size} numbers: a header of {raw[0]} and objects of {raw[1]} do not fit")
        header_width, width = int(raw[0]), int(raw[1])
        if (raw.size - header_width) % width != 0:
            raise MXNetError(f"Label shape {raw.shape} inconsistent with annotation width {width}.")
        objects = raw[header_width:].reshape(-1, width)
        valid = (objects[:, 3] > objects[:, 1]) & (objects[:, 4] > objects[:, 2])
        if not valid.any():
            raise MXNetError(f"Encounter sample with no valid label: no box of {objects.tolist()} has an area")
        return objects[valid]

    def reshape(self, data_shape=None, label_shape=None):
        """Change the shape of the images, or the padded shape of the labels.

        Parameters
        ----------
        data_shape : tuple of int, optional
            The shape of an image, (3, height, width).
        label_shape : tuple of int, optional
            The number of boxes and the width of one; it cannot become smaller than the labels need.

        Examples
        --------
        >>> import cv2
        >>> _ = cv2.imwrite("picture.png", np.zeros((8, 8, 3), "uint8"))
        >>> label = [2, 5, 0, 0.1, 0.1, 0.5, 0.5]  # widths of header and object, then class and box
        >>> batches = mx.image.ImageDetIter(1, (3, 8, 8), imglist=[[label, "picture.png"]], path_root=".")
        >>> batches.reshape(label_shape=(4, 5))
        >>> batches.provide_label[0][1]
        (1, 4, 5)
        """
        if data_shape is not None:
            self.check_data_shape(data_shape)
            self.provide_data = [(self.provide_data[0][0], (self.batch_size, *data_shape))]
            self.data_shape = data_shape
        if label_shape is not None:
            self.check_label_shape(label_shape)
            self.provide_label = [(self.provide_label[0][0], (self.batch_size, *label_shape))]
            self.label_shape = label_shape

    def _new_batch(self):
        data = default_array(np.zeros((self.batch_size, *self.data_shape), np.float32))
        return data, default_array(np.full(self.provide_label[0][1], -1, np.float32))

    def _read_one(self, label, content):
        data = self.imdecode(content)
        try:
            self.check_valid_image([data])
            data, label = self.augmentation_transform(data, self._parse_label(label))
            self._check_valid_label(label)
        except RuntimeError as error:
            logging.debug("Invalid image, skipping:  %s", error)
            return None
        return label, self.postprocess_data(data)

    def _place(self, batch_data, batch_label, row, label, image):
        if label.shape[1] != batch_label.shape[2] or len(label) > batch_label.shape[1]:
            raise ValueRefused(f"{self._place_of_last()}: objects of shape {label.shape} do not fit in labels of shape "
                               f"{batch_label.shape[1:]}; all samples must have objects of the same width")  # fmt: skip
        batch_data[row] = image
        padded = np.full(batch_label.shape[1:], -1, np.float32)
        padded[: len(label)] = label
        batch_label[row] = default_array(padded)

    def augmentation_transform(self, data, label):
        """Apply all augmenters to an image and its boxes.

        Parameters
        ----------
        data : NDArray
            The image, of shape (height, width, 3).
        label : numpy.ndarray
            A row for each object: class, left, top, right, bottom.

        Examples
        --------
        >>> import cv2
        >>> _ = cv2.imwrite("picture.png", np.zeros((8, 8, 3), "uint8"))
        >>> label = [2, 5, 0, 0.1, 0.1, 0.5, 0.5]  # widths of header and object, then class and box
        >>> batches = mx.image.ImageDetIter(1, (3, 8, 8), imglist=[[label, "picture.png"]], path_root=".")
        >>> image, boxes = batches.augmentation_transform(mx.nd.ones((8, 8, 3)), np.array([[0, 0.1, 0.1, 0.5, 0.5]]))
        >>> boxes.shape
        (1, 5)
        """
        for augmenter in self.auglist:
            data, label = augmenter(data, label)
        return data, label

    def check_label_shape(self, label_shape):
        """Raise ValueError unless the present labels fit into a shape.

        Parameters
        ----------
        label_shape : tuple of int
            The number of boxes and the width of one.

        Examples
        --------
        >>> import cv2
        >>> _ = cv2.imwrite("picture.png", np.zeros((8, 8, 3), "uint8"))
        >>> label = [2, 5, 0, 0.1, 0.1, 0.5, 0.5]  # widths of header and object, then class and box
        >>> batches = mx.image.ImageDetIter(1, (3, 8, 8), imglist=[[label, "picture.png"]], path_root=".")
        >>> batches.check_label_shape((4, 5))
        """
        if len(label_shape) != 2:
            raise ValueError(f"label_shape should have length 2, got {label_shape}")
        if label_shape[0] < self.label_shape[0]:
            raise ValueError(
                f"Attempts to reduce label count from {self.label_shape[0]} to {label_shape[0]}, not allowed."
            )
        if label_shape[1] != self.provide_label[0][1][2]:
            raise ValueError(
                f"label_shape object width inconsistent: {self.provide_label[0][1][2]} vs {label_shape[1]}."
            )

    def draw_next(
        self,
        color=None,
        thickness=2,
        mean=None,
        std=None,
        clip=True,
        waitKey=None,
        window_name="draw_next",
        id2labels=None,
    ):
        """Yield the following images with their boxes drawn, as uint8 arrays in OpenCV's order of channels.

        Parameters
        ----------
        color : tuple of int, optional
            The color of the boxes; random by default.
        thickness : int, default 2
            The width of the lines.
        mean, std : array, optional
            What was subtracted from the images and what they were divided by; undone before drawing.
        clip : bool, default True
            Whether values are clipped to 0 … 255.
        waitKey : int, optional
            Milliseconds to show each image in a window; None: no window.
        window_name : str, default 'draw_next'
            The title of the window.
        id2labels : dict of int to str, optional
            Names of the classes, drawn beside the boxes.

        Examples
        --------
        >>> import cv2
        >>> _ = cv2.imwrite("picture.png", np.zeros((8, 8, 3), "uint8"))
        >>> label = [2, 5, 0, 0.1, 0.1, 0.5, 0.5]  # widths of header and object, then class and box
        >>> batches = mx.image.ImageDetIter(1, (3, 8, 8), imglist=[[label, "picture.png"]], path_root=".")
        >>> next(batches.draw_next()).shape
        (8, 8, 3)
        """
        cv2 = opencv_to_draw()
        mean, std = _statistic(mean, IMAGENET_MEAN), _statistic(std, IMAGENET_STD)
        while True:
            try:
                label, content = self._next_readable()
            except StopIteration:
                return
            data = self.imdecode(content)
            try:
                self.check_valid_image([data])
                label = self._parse_label(label)
            except RuntimeError as error:
                logging.debug("Invalid image, skipping:  %s", error)
                continue
            data, label = self.augmentation_transform(data, label)
            image = _displayable(data.asnumpy(), mean, std, clip)
            for row in label:
                _draw_box(image, row, color, thickness, id2labels)
            if waitKey is not None:
                cv2.imshow(window_name, image)
                cv2.waitKey(waitKey)
            yield image

    def sync_label_shape(self, it, verbose=False):
        """Give this iterator and another one the larger of their label shapes, so that one network takes both.

        Parameters
        ----------
        it : ImageDetIter
            The other iterator.
        verbose : bool, default False
            Whether a change is logged.

        Examples
        --------
        >>> import cv2
        >>> _ = cv2.imwrite("picture.png", np.zeros((8, 8, 3), "uint8"))
        >>> label = [2, 5, 0, 0.1, 0.1, 0.5, 0.5]  # widths of header and object, then class and box
        >>> batches = mx.image.ImageDetIter(1, (3, 8, 8), imglist=[[label, "picture.png"]], path_root=".")
        >>> other = mx.image.ImageDetIter(1, (3, 8, 8), imglist=[[label, "picture.png"]], path_root=".")
        >>> other.reshape(label_shape=(4, 5))
        >>> _ = batches.sync_label_shape(other)
        >>> batches.label_shape
        (4, 5)
        """
        assert isinstance(it, ImageDetIter), f"labels are synchronized with another ImageDetIter, got {type(it)}"
        counts, widths = zip(self.label_shape, it.label_shape, strict=True)
        assert widths[0] == widths[1], f"the objects of the two iterators have different widths: {widths}"
        most = max(counts)
        smaller = [one for one, count in zip((self, it), counts, strict=True) if count < most]
        for one in smaller:
            one.reshape(None, (most, widths[0]))
        if verbose and smaller:
            logging.info("Resized label_shape to (%d, %d).", most, widths[0])
        return it


def _statistic(value, default):
    if value is True:
        return np.array(default)
    assert value is None or (isinstance(value, np.ndarray) and value.shape[0] in [1, 3])
    return value


def _displayable(image, mean, std, clip):
    """The image before normalization, as bytes with blue first."""
    image = image.astype(np.float32)
    if std is not None:
        image = image * std
    if mean is not None:
        image = image + mean
    if clip:
        image = np.clip(image, 0, 255)
    return np.ascontiguousarray(image[:, :, ::-1].astype(np.uint8))


def _draw_box(image, row, color, thickness, id2labels):
    cv2 = opencv_to_draw()
    height, width, _ = image.shape
    left, top, right, bottom = (int(v) for v in row[1:5] * (width, height, width, height))
    if left < 0:
        return
    shade = tuple(color[::-1]) if color else tuple(np.random.rand(3) * 255)
    cv2.rectangle(image, (left, top), (right, bottom), shade, thickness)
    name = (id2labels or {}).get(int(row[0]))
    if name is not None:
        font = cv2.FONT_HERSHEY_SIMPLEX
        text_height = cv2.getTextSize(str(name), font, 0.5, 2)[0][1]
        cv2.putText(image, str(name), (left + 5, top + text_height + 5), font, 0.5, (255, 255, 255), 2)
