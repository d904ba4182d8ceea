"""Augmenters for detection: they change an image and the boxes in its label together.

A label is an array with one row per object: class, left, top, right, bottom (fractions of the image), and maybe more.
"""

import json
import logging
import random
import warnings
from math import sqrt

import numpy as np

from .. import ndarray as nd
from ..base import numeric_types
from .augment import Augmenter, CastAug, ForceResizeAug, ResizeAug, color_augmenters, plain
from .functional import copyMakeBorder, fixed_crop


class DetAugmenter:
    """The base of augmenters that change an image and its boxes: `augmenter(image, label)` returns both.

    Parameters
    ----------
    **kwargs
        The arguments, which `dumps` writes.

    Examples
    --------
    >>> class Nothing(mx.image.DetAugmenter):
    ...     def __call__(self, src, label):
    ...         return src, label
    >>> Nothing().dumps()
    '["nothing", {}]'
    """

    def __init__(self, **kwargs):
        self._kwargs = {name: plain(value) for name, value in kwargs.items()}

    def dumps(self):
        """The class and its arguments as JSON text, for logs.

        Examples
        --------
        >>> mx.image.DetHorizontalFlipAug(0.5).dumps()
        '["dethorizontalflipaug", {"p": 0.5}]'
        """
        return json.dumps([type(self).__name__.lower(), self._kwargs])

    def __call__(self, src, label):
        raise NotImplementedError(f"{type(self).__name__} must define __call__, which changes image and label")


class DetBorrowAug(DetAugmenter):
    """An augmenter for classification, which leaves boxes where they are.

    Parameters
    ----------
    augmenter : Augmenter
        The augmenter.

    Examples
    --------
    >>> augmenter = mx.image.DetBorrowAug(mx.image.CastAug())
    >>> augmenter(mx.nd.ones((4, 4, 3), dtype="uint8"), np.zeros((1, 5)))[0].dtype.__name__
    'float32'
    """

    def __init__(self, augmenter):
        if not isinstance(augmenter, Augmenter):
            raise TypeError(f"DetBorrowAug takes an Augmenter, got {type(augmenter)}")
        super().__init__(augmenter=augmenter.dumps())
        self.augmenter = augmenter

    def dumps(self):
        return [type(self).__name__.lower(), self.augmenter.dumps()]

    def __call__(self, src, label):
        return self.augmenter(src), label


class DetRandomSelectAug(DetAugmenter):
    """One of several augmenters at random, or none.

    Parameters
    ----------
    aug_list : list of DetAugmenters
        The augmenters.
    skip_prob : float, default 0
        The probability that none is applied.

    Examples
    --------
    >>> augmenter = mx.image.DetRandomSelectAug([mx.image.DetHorizontalFlipAug(1.0)])
    >>> augmenter(mx.nd.ones((4, 4, 3)), np.array([[0, 0.1, 0.1, 0.3, 0.5]]))[1].round(2)
    array([[0. , 0.7, 0.1, 0.9, 0.5]])
    """

    def __init__(self, aug_list, skip_prob=0):
        super().__init__(skip_prob=skip_prob)
        aug_list = list(aug_list) if isinstance(aug_list, (list, tuple)) else [aug_list]
        for augmenter in aug_list:
            if not isinstance(augmenter, DetAugmenter):
                raise ValueError("Allow DetAugmenter in list only")
        self.aug_list = aug_list
        self.skip_prob = skip_prob if aug_list else 1

    def dumps(self):
        return [type(self).__name__.lower(), [augmenter.dumps() for augmenter in self.aug_list]]

    def __call__(self, src, label):
        if random.random() < self.skip_prob:
            return src, label
        random.shuffle(self.aug_list)
        return self.aug_list[0](src, label)


class DetHorizontalFlipAug(DetAugmenter):
    """Mirror the image and its boxes with a probability.

    Parameters
    ----------
    p : float
        The probability.

    Examples
    --------
    >>> augmenter = mx.image.DetHorizontalFlipAug(1.0)
    >>> augmenter(mx.nd.ones((4, 4, 3)), np.array([[0, 0.1, 0.1, 0.3, 0.5]]))[1].round(2)
    array([[0. , 0.7, 0.1, 0.9, 0.5]])
    """

    def __init__(self, p):
        super().__init__(p=p)
        self.p = p

    def __call__(self, src, label):
        if random.random() < self.p:
            src = nd.flip(src, axis=1)
            label[:, (1, 3)] = 1.0 - label[:, (3, 1)]
        return src, label


def _as_range(value, name, owner):
    if isinstance(value, (tuple, list)):
        return value
    assert isinstance(value, numeric_types)
    logging.info("Using fixed %s: %s in %s", name, value, owner)
    return (value, value)


def _areas(boxes):
    return np.maximum(0, boxes[:, 3] - boxes[:, 1]) * np.maximum(0, boxes[:, 2] - boxes[:, 0])


class _Proposing(DetAugmenter):
    """Base of crop and pad: a rectangle is drawn until it satisfies the constraints or attempts run out."""

    _least_area = 0.0

    def __init__(self, aspect_ratio_range, area_range, max_attempts, **others):
        name = type(self).__name__
        self.aspect_ratio_range = _as_range(aspect_ratio_range, "aspect ratio", name)
        self.area_range = _as_range(area_range, "area range", name)
        self.max_attempts = max_attempts
        super().__init__(
            aspect_ratio_range=self.aspect_ratio_range, area_range=self.area_range, max_attempts=max_attempts, **others
        )
        self.enabled = True
        if self.area_range[1] <= self._least_area or self.area_range[0] > self.area_range[1]:
            self._disable("area_range", self.area_range)
        elif self.aspect_ratio_range[0] <= 0 or self.aspect_ratio_range[0] > self.aspect_ratio_range[1]:
            self._disable("aspect_ratio_range", self.aspect_ratio_range)

    def __call__(self, src, label):
        found = self._propose(label, *src.shape[:2])
        if not found:
            return src, label
        *rectangle, label = found
        return self._place(src, *rectangle), label

    def _propose(self, label, height, width):
        """A rectangle x, y, w, h and the label within it; empty if there is none."""
        raise NotImplementedError

    def _place(self, src, x, y, w, h):
        """The image in that rectangle."""
        raise NotImplementedError

    def _disable(self, name, value):
        self.enabled = False
        warnings.warn(f"Skip {type(self).__name__} due to invalid {name}: {value}", stacklevel=4)

    def _rectangles(self, height, width):
        """Aspect ratio with smallest and largest height for it, once for each attempt."""
        if not self.enabled or height <= 0 or width <= 0:
            return
        least, most = (fraction * height * width for fraction in self.area_range)
        for _ in range(self.max_attempts):
            ratio = random.uniform(*self.aspect_ratio_range)
            if ratio > 0:
                yield ratio, int(round(sqrt(least / ratio))), int(round(sqrt(most / ratio))), least, most


class DetRandomCropAug(_Proposing):
    """A random crop that keeps at least a part of each object it touches.

    Parameters
    ----------
    min_object_covered : float or list of float, default 0.1
        The least part of an object that the crop covers.
    aspect_ratio_range : tuple of two floats or list, default (0.75, 1.33)
        The range of the aspect ratio.
    area_range : tuple of two floats or list, default (0.05, 1.0)
        The range of the area, as a part of the image.
    min_eject_coverage : float or list of float, default 0.3
        Objects of which less remains are removed from the label.
    max_attempts : int or list of int, default 50
        The number of crops to try.

    Examples
    --------
    >>> augmenter = mx.image.DetRandomCropAug(min_object_covered=0.5)
    >>> image, label = augmenter(mx.nd.ones((8, 8, 3)), np.array([[0, 0.2, 0.2, 0.8, 0.8]]))
    """

    def __init__(
        self,
        min_object_covered=0.1,
        aspect_ratio_range=(0.75, 1.33),
        area_range=(0.05, 1.0),
        min_eject_coverage=0.3,
        max_attempts=50,
    ):
        super().__init__(
            aspect_ratio_range,
            area_range,
            max_attempts,
            min_object_covered=min_object_covered,
            min_eject_coverage=min_eject_coverage,
        )
        self.min_object_covered = min_object_covered
        self.min_eject_coverage = min_eject_coverage
        order = ("min_object_covered", "aspect_ratio_range", "area_range", "min_eject_coverage", "max_attempts")
        self._kwargs = {name: self._kwargs[name] for name in order}  # as `dumps` writes them

    def _propose(self, label, height, width):
        return self._random_crop_proposal(label, height, width)

    def _place(self, src, x, y, w, h):
        return fixed_crop(src, x, y, w, h, None)

    def _calculate_areas(self, label):
        return _areas(label)

    def _intersect(self, label, xmin, ymin, xmax, ymax):
        out = label.copy()
        out[:, :2] = np.maximum(label[:, :2], (xmin, ymin))
        out[:, 2:4] = np.minimum(label[:, 2:4], (xmax, ymax))
        out[(out[:, 0] >= out[:, 2]) | (out[:, 1] >= out[:, 3])] = 0
        return out

    def _check_satisfy_constraints(self, label, xmin, ymin, xmax, ymax, width, height):
        if (xmax - xmin) * (ymax - ymin) < 2:  # a single pixel
            return False
        areas = _areas(label[:, 1:])
        visible = areas * width * height > 2
        if not visible.any():
            return False
        inside = self._intersect(label[visible, 1:], xmin / width, ymin / height, xmax / width, ymax / height)
        coverages = _areas(inside) / areas[visible]
        coverages = coverages[coverages > 0]
        return coverages.size > 0 and coverages.min() > self.min_object_covered

    def _update_labels(self, label, crop_box, height, width):
        """The label within the crop; None if no object is left."""
        x, y, w, h = crop_box[0] / width, crop_box[1] / height, crop_box[2] / width, crop_box[3] / height
        out = label.copy()
        out[:, (1, 3)] = (out[:, (1, 3)] - x) / w
        out[:, (2, 4)] = (out[:, (2, 4)] - y) / h
        out[:, 1:5] = np.clip(out[:, 1:5], 0, 1)
        coverage = _areas(out[:, 1:]) * w * h / _areas(label[:, 1:])
        valid = (out[:, 3] > out[:, 1]) & (out[:, 4] > out[:, 2]) & (coverage > self.min_eject_coverage)
        return out[valid] if valid.any() else None

    def _random_crop_proposal(self, label, height, width):
        for attempt in self._rectangles(height, width):
            found = self._crop_of(self._crop_size(*attempt, height, width), label, height, width)
            if found:
                return found
        return ()

    def _crop_of(self, size, label, height, width):
        """x, y, w, h and the label of a random crop of that size; empty if it does not satisfy the constraints."""
        if size is None:
            return ()
        w, h = size
        y, x = (random.randint(0, max(0, spare)) for spare in (height - h, width - w))
        fits = self._check_satisfy_constraints(label, x, y, x + w, y + h, width, height)
        kept = self._update_labels(label, (x, y, w, h), height, width) if fits else None
        return () if kept is None else (x, y, w, h, kept)

    @staticmethod
    def _crop_size(ratio, h, max_h, least, most, height, width):
        """A random (width, height) of that aspect ratio within the image and the area's bounds, or None."""
        if round(max_h * ratio) > width:  # the largest height whose width still fits
            max_h = int((width + 0.4999999) / ratio)
        max_h = min(max_h, height)
        h = min(h, max_h)
        if h < max_h:
            h = random.randint(h, max_h)
        w = int(round(h * ratio))
        assert w <= width
        if w * h < least:  # rounding went the wrong way
            h += 1
            w = int(round(h * ratio))
        if w * h > most:
            h -= 1
            w = int(round(h * ratio))
        return (w, h) if least <= w * h <= most and 0 <= w <= width and 0 <= h <= height else None


class DetRandomPadAug(_Proposing):
    """Put the image somewhere in a larger one.

    Parameters
    ----------
    aspect_ratio_range : tuple of two floats or list, default (0.75, 1.33)
        The range of the aspect ratio.
    area_range : tuple of two floats or list, default (1.0, 3.0)
        The range of the area, as a part of the image.
    max_attempts : int or list of int, default 50
        The number of crops to try.
    pad_val : tuple of int, default (128, 128, 128)
        The colour of the border.

    Examples
    --------
    >>> augmenter = mx.image.DetRandomPadAug(area_range=(2.0, 3.0))
    >>> image, label = augmenter(mx.nd.ones((8, 8, 3)), np.array([[0, 0.2, 0.2, 0.8, 0.8]]))
    """

    _least_area = 1.0

    def __init__(
        self, aspect_ratio_range=(0.75, 1.33), area_range=(1.0, 3.0), max_attempts=50, pad_val=(128, 128, 128)
    ):
        if not isinstance(pad_val, (list, tuple)):
            assert isinstance(pad_val, numeric_types)
            pad_val = (pad_val,)
        super().__init__(aspect_ratio_range, area_range, max_attempts, pad_val=pad_val)
        self.pad_val = pad_val

    def _propose(self, label, height, width):
        return self._random_pad_proposal(label, height, width)

    def _place(self, src, x, y, w, h):
        below, beside = h - y - src.shape[0], w - x - src.shape[1]
        return copyMakeBorder(src, y, below, x, beside, 16, values=self.pad_val)

    def _update_labels(self, label, pad_box, height, width):
        """The label with its boxes relative to the padded image."""
        out = label.copy()
        image, corner, padded = (
            np.array(pair * 2, out.dtype) for pair in ((width, height), tuple(pad_box[:2]), tuple(pad_box[2:]))
        )
        out[:, 1:5] = (out[:, 1:5] * image + corner) / padded
        return out

    def _random_pad_proposal(self, label, height, width):
        for ratio, least_h, most_h, _, _ in self._rectangles(height, width):
            w, h = self._pad_size(ratio, least_h, most_h, height, width)
            if min(w - width, h - height) >= 2:  # a thinner border is not worth it
                y, x = (random.randint(0, spare) for spare in (h - height, w - width))
                return x, y, w, h, self._update_labels(label, (x, y, w, h), height, width)
        return ()

    @staticmethod
    def _pad_size(ratio, least_h, most_h, height, width):
        """A random (width, height) of that aspect ratio that contains the image."""
        if round(least_h * ratio) < width:  # the least height whose width contains it
            least_h = int((width + 0.499999) / ratio)
        h = min(max(least_h, height), most_h)
        h = random.randint(h, most_h) if h < most_h else h
        return int(round(h * ratio)), h


def CreateMultiRandCropAugmenter(
    min_object_covered=0.1,
    aspect_ratio_range=(0.75, 1.33),
    area_range=(0.05, 1.0),
    min_eject_coverage=0.3,
    max_attempts=50,
    skip_prob=0,
):
    """A random choice among several crops: each argument may be a list, with an element for each crop.

    Parameters
    ----------
    min_object_covered : float or list of float, default 0.1
        The least part of an object that the crop covers.
    aspect_ratio_range : tuple of two floats or list, default (0.75, 1.33)
        The range of the aspect ratio.
    area_range : tuple of two floats or list, default (0.05, 1.0)
        The range of the area, as a part of the image.
    min_eject_coverage : float or list of float, default 0.3
        Objects of which less remains are removed from the label.
    max_attempts : int or list of int, default 50
        The number of crops to try.
    skip_prob : float, default 0
        The probability that none is applied.

    Returns
    -------
    DetRandomSelectAug

    Examples
    --------
    >>> augmenter = mx.image.CreateMultiRandCropAugmenter(min_object_covered=[0.1, 0.5, 0.9])
    >>> len(augmenter.aug_list)
    3
    """
    arguments = [
        value if isinstance(value, list) else [value]
        for value in (min_object_covered, aspect_ratio_range, area_range, min_eject_coverage, max_attempts)
    ]
    count = max(len(values) for values in arguments)
    for values in arguments:
        assert len(values) in (1, count)
    aligned = [values * count if len(values) == 1 else values for values in arguments]
    return DetRandomSelectAug([DetRandomCropAug(*values) for values in zip(*aligned, strict=True)], skip_prob=skip_prob)


def CreateDetAugmenter(
    data_shape,
    resize=0,
    rand_crop=0,
    rand_pad=0,
    rand_gray=0,
    rand_mirror=False,
    mean=None,
    std=None,
    brightness=0,
    contrast=0,
    saturation=0,
    pca_noise=0,
    hue=0,
    inter_method=2,
    min_object_covered=0.1,
    aspect_ratio_range=(0.75, 1.33),
    area_range=(0.05, 3.0),
    min_eject_coverage=0.3,
    max_attempts=50,
    pad_val=(127, 127, 127),
):
    """The usual augmenters for detection: resize, crop, mirror, pad, resize to `data_shape`, cast, colour, normalize.

    Parameters
    ----------
    data_shape : tuple of three ints
        Channels, height and width of the result.
    resize : int, default 0
        The new length of the shorter side, before all else; 0: none.
    rand_crop : float, default 0
        The probability of a random crop.
    rand_pad : float, default 0
        The probability of a random border.
    rand_gray : float, default 0
        The probability of a grey image.
    rand_mirror : bool, default False
        Whether images are mirrored at random.
    mean : bool or NDArray, optional
        The mean of each channel; True means that of ImageNet.
    std : bool or NDArray, optional
        The standard deviation of each channel; True means that of ImageNet.
    brightness : float, default 0
        The greatest change of the brightness.
    contrast : float, default 0
        The greatest change of the contrast.
    saturation : float, default 0
        The greatest change of the saturation.
    pca_noise : float, default 0
        The standard deviation of AlexNet's colour noise.
    hue : float, default 0
        The greatest change of the hue.
    inter_method : int, default 2
        The interpolation: 0 nearest, 1 bilinear, 2 cubic, 3 area, 4 Lanczos, 9 by size, 10 random.
    min_object_covered : float or list of float, default 0.1
        The least part of an object that the crop covers.
    aspect_ratio_range : tuple of two floats or list, default (0.75, 1.33)
        The range of the aspect ratio.
    area_range : tuple of two floats or list, default (0.05, 3.0)
        The range of the area, as a part of the image.
    min_eject_coverage : float or list of float, default 0.3
        Objects of which less remains are removed from the label.
    max_attempts : int or list of int, default 50
        The number of crops to try.
    pad_val : tuple of int, default (127, 127, 127)
        The colour of the border.

    Returns
    -------
    list of DetAugmenters

    Examples
    --------
    >>> [type(a).__name__ for a in mx.image.CreateDetAugmenter((3, 8, 8), rand_mirror=True)]
    ['DetHorizontalFlipAug', 'DetBorrowAug', 'DetBorrowAug']
    """
    chain = [DetBorrowAug(ResizeAug(resize, inter_method))] if resize > 0 else []
    ranges = (min_object_covered, aspect_ratio_range, area_range, min_eject_coverage, max_attempts)
    if rand_crop > 0:
        chain.append(CreateMultiRandCropAugmenter(*ranges, skip_prob=1 - rand_crop))
    if rand_mirror > 0:
        chain.append(DetHorizontalFlipAug(0.5))
    if rand_pad > 0:
        padding = DetRandomPadAug(aspect_ratio_range, (1.0, area_range[1]), max_attempts, pad_val)
        chain.append(DetRandomSelectAug([padding], 1 - rand_pad))
    final = [ForceResizeAug((data_shape[2], data_shape[1]), inter_method), CastAug()]
    final += color_augmenters(brightness, contrast, saturation, hue, pca_noise, rand_gray, mean, std)
    return chain + [DetBorrowAug(augmenter) for augmenter in final]
