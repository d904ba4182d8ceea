"""ImageRecordIter's work on one record: unpack, decode, augment, normalize, label."""

import os

import numpy as np

from .._core.errors import MXNetError
from .._core.extras import opencv
from .._core.hints import beside
from .._formats import image_lists, images
from .._formats import recordio as format_
from ..ndarray import array, load, save
from ._augment import RANDOM_INTERPOLATION, DefaultAugmenter
from ._chunk import Chunk
from ._order import Batches, Order
from ._pipeline import Pipeline
from ._random import MAGIC, Engine, thread_engine
from ._records import RecordFile

cv2 = opencv()
_FORMATS = {None: np.float32, "float32": np.float32, "uint8": np.uint8, "int8": np.int8}
_READ_FLAGS = {1: cv2.IMREAD_GRAYSCALE, 3: cv2.IMREAD_COLOR, 4: cv2.IMREAD_UNCHANGED}

_RANDOM = (
    "rand_crop", "rand_mirror", "random_resized_crop", "max_rotate_angle", "max_aspect_ratio", "max_shear_ratio",
    "brightness", "contrast", "saturation", "pca_noise", "random_h", "random_s", "random_l",
    "max_random_contrast", "max_random_illumination",
)  # fmt: skip


def processors():
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def read_image_list(path):
    """Image id to (labels, file name), from a `.lst` file."""
    try:
        return {key: (np.array(labels, np.float32), name) for key, labels, name in image_lists.entries(path)}
    except OSError as error:
        raise MXNetError(f"{path}: {error.strerror}{beside(path)}") from None


class Normalizer:
    """Writes an image in OpenCV's layout into a (channels, height, width) array: mean, deviation, scale, mirror."""

    def __init__(self, parameters, dtype, mean_image=None, varies=True):
        self.p = p = parameters
        self._mirror, self._rand_mirror = (p.mirror, p.rand_mirror) if varies else (False, False)
        self._draws = varies
        self._contrast = p.max_random_contrast if varies else 0.0
        self._illumination = p.max_random_illumination if varies else 0.0
        self.dtype = dtype
        self.mean_image = mean_image
        channels = p.data_shape[0]
        self.mean = np.array([p.mean_r, p.mean_g, p.mean_b, p.mean_a][:channels], np.float32)
        self.deviation = np.array([p.std_r, p.std_g, p.std_b, p.std_a][:channels], np.float32)
        self._fixed = None
        if dtype is np.float32 and not (self._contrast or self._illumination):
            self._fixed = self._table(np.float32(p.scale), np.float32(0))

    def __call__(self, image, engine, out):
        if (self._rand_mirror and engine.coin()) or self._mirror:
            image, flipped = cv2.flip(image, 1), True
        else:
            flipped = False
        planes = [out] if out.ndim == 2 else [out[k] for k in range(len(out))]
        sources = cv2.split(np.ascontiguousarray(image))
        if len(sources) >= 3:  # OpenCV has blue first
            sources = [sources[2], sources[1], sources[0], *sources[3:]]
        if self.dtype is np.uint8:
            for plane, source in zip(planes, sources, strict=True):
                plane[...] = source
        elif self.dtype is np.int8:
            for plane, source, mean in zip(planes, sources, self._means(flipped), strict=True):
                plane[...] = np.clip(source - mean, -128, 127)
        else:
            self._float(sources, engine, planes, flipped)

    def _means(self, flipped):
        if self.mean_image is None:
            return self.mean
        return self.mean_image[:, :, ::-1] if flipped else self.mean_image

    def _float(self, sources, engine, planes, flipped):
        contrast, illumination = self._change(engine) if self._draws else (np.float32(self.p.scale), np.float32(0))
        if self.mean_image is not None:
            for k, (plane, source, mean) in enumerate(zip(planes, sources, self._means(flipped), strict=True)):
                plane[...] = (source - mean) * (contrast / self.deviation[k]) + illumination / self.deviation[k]
            return
        table = self._fixed if self._fixed is not None else self._table(contrast, illumination)
        for k, (plane, source) in enumerate(zip(planes, sources, strict=True)):
            cv2.LUT(source, table[k], dst=plane)

    def _change(self, engine):
        scale = self.p.scale  # both numbers are drawn even where they change nothing: the stream goes on behind them
        contrast = (engine.unit() * self._contrast * 2 - self._contrast + 1) * scale
        illumination = (engine.unit() * self._illumination * 2 - self._illumination) * scale
        return np.float32(contrast), np.float32(illumination)

    def _table(self, contrast, illumination):
        """What each of the 256 values of each channel becomes."""
        values = np.arange(256, dtype=np.float32)
        return [
            (values - mean) * (contrast / deviation) + illumination / deviation
            for mean, deviation in zip(self.mean, self.deviation, strict=True)
        ]


class ImageRecords:
    """The native iterator behind ImageRecordIter: `next` gives (data, label, pad) arrays or None."""

    augmenter_class = DefaultAugmenter
    normalizer_varies = True
    draws = False  # random numbers for each image, all of a chunk before its first batch is given?
    magic = MAGIC

    def __init__(self, parameters):
        self.p = p = parameters
        if self._varies():
            # A single thread draws from a single stream, so that on few processors MXNet's numbers are those of one
            # thread, whatever `preprocess_threads` says.
            p.preprocess_threads = min(p.preprocess_threads, max(self._most_threads(processors()), 1))
        self._single = Engine(self.magic) if p.preprocess_threads <= 1 else None
        self._check()
        self._dtype = _FORMATS[p.dtype]
        self._file = RecordFile(p.path_imgrec, p.path_imgidx, p.part_index, p.num_parts, p.on_error)
        self.name = p.path_imgrec if p.num_parts == 1 else f"Part {p.part_index} of {p.num_parts} of {p.path_imgrec}"
        self._list = read_image_list(p.path_imglist) if p.path_imglist else None
        self._augmenter = self.augmenter_class(p)
        self._normalizer = self._make_normalizer()
        order = Order(len(self._file.offsets), p.shuffle, self.magic + p.seed, self._file.starts)
        shapes = self._shapes()
        by_chunks = self._single is not None and p.seed_aug is None and (p.shuffle or self.draws)
        in_file_order = by_chunks and self._file.starts is not None
        self._chunk = Chunk(order, shapes, self._fill, self._single) if in_file_order else None
        self._pipeline = Pipeline(
            Batches(order, p.batch_size, p.round_batch),
            shapes,
            self._chunk or self._fill_alone,
            self.describe,
            p.preprocess_threads,
            p.prefetch_buffer,
            p.on_error,
            self._chunk or self._single,
        )

    def _varies(self):
        """Do the augmenter or the normalizer draw random numbers that change an image?"""
        p = self.p
        return (
            p.inter_method == RANDOM_INTERPOLATION
            or any(getattr(p, name) > 0 for name in _RANDOM)
            or p.max_random_scale != p.min_random_scale
            or p.max_crop_size != p.min_crop_size
        )

    def _most_threads(self, processors):
        """Outside `ctx="cpu"` MXNet decodes with at most half of the processors."""
        return processors if self.p.ctx == "cpu" else processors // 2

    def _check(self):
        p = self.p
        if not p.path_imgrec:
            raise MXNetError("ImageRecordIter: must specify path_imgrec, the record file to read")
        if len(p.data_shape) != 3:
            raise MXNetError(
                f"value {list(p.data_shape)} for Parameter data_shape has wrong dimensions, expected dimension=3"
            )
        if p.data_shape[0] not in (1, 3, 4):
            raise MXNetError(f"Invalid output shape {list(p.data_shape)}: images have 1, 3 or 4 channels")
        if p.dtype not in _FORMATS:
            raise MXNetError(f"unknown dtype for ImageRecordIter: {p.dtype}; use float32, uint8 or int8")
        if p.batch_size < 1:
            raise MXNetError(f"batch_size must be positive, but is {p.batch_size}")

    def _shapes(self):
        p = self.p
        label = (p.batch_size,) if p.label_width == 1 else (p.batch_size, p.label_width)
        return [((p.batch_size, *p.data_shape), self._dtype), (label, np.float32)]

    def _make_normalizer(self):
        path = self.p.mean_img
        mean = None
        if path:
            mean = _mean_image(path) if os.path.exists(path) else self._make_mean(path)
        return Normalizer(self.p, self._dtype, mean, self.normalizer_varies)

    def _make_mean(self, path):
        """The mean of all images as the augmenter leaves them, saved for the next time."""
        total, count = np.zeros(self.p.data_shape, np.float32), 0
        for content in self._readable(lambda position: self._decoded(self._unpacked(position)[1])):
            image = self._augmented(content, Engine(MAGIC))
            total += np.atleast_3d(image)[:, :, ::-1].transpose(2, 0, 1)
            count += 1
        mean = total * np.float32(1.0 / max(1, count))
        save(path, {"mean_img": array(mean)})
        return mean

    def _readable(self, read):
        """What `read(position)` makes of all records; those that `on_error` passes over are spoken of in the epochs."""
        for position in range(len(self._file.offsets)):
            try:
                yield read(position)
            except MXNetError:
                if self.p.on_error == "raise":
                    raise

    def describe(self, position):
        """Where a record is, for messages."""
        return f"{self._file.path}, record {position} at byte {self._file.offsets[position]}"

    def _unpacked(self, position):
        return format_.unpack_header(self._file.read(self._file.offsets[position]))

    def _decoded(self, content):
        channels = self.p.data_shape[0]
        image = images.decode(content, _READ_FLAGS[channels])
        found = 1 if image.ndim == 2 else image.shape[2]
        if found != channels:
            raise MXNetError(f"Invalid image. Expected {channels} channels, got {found}")
        return image

    def _augmented(self, image, engine):
        return self._augmenter(image, engine)

    def _engine(self, number, serial):
        """One stream for a single thread, as in MXNet; with more threads, one for each image."""
        if self.p.seed_aug is not None:
            return thread_engine(MAGIC + number + self.p.seed_aug)
        return thread_engine(self.magic * (serial + 1)) if self._single is None else self._single

    def _fill_alone(self, place, serial, arrays, row):
        self._fill(place.position, self._engine(place.number, serial), arrays, row)

    def _fill(self, position, engine, arrays, row):
        header, content = self._unpacked(position)
        image = self._augmented(self._decoded(content), engine)
        data, labels = arrays
        out = data[row]
        self._normalizer(image, engine, out[0] if len(out) == 1 else out)
        labels[row] = self._label(header)

    def _label(self, header):
        width = self.p.label_width
        if self._list is not None:
            if header.id not in self._list:
                raise MXNetError(f"the image of id {header.id} is not in {self.p.path_imglist}")
            label = self._list[header.id][0]
            if len(label) != width:
                raise MXNetError(f"{self.p.path_imglist} gives {len(label)} labels but label_width is {width}")
        elif np.ndim(header.label):
            label = header.label
            if len(label) != width:
                raise MXNetError(f"rec file provide {len(label)}-dimensional label but label_width is set to {width}")
        elif width != 1:
            raise MXNetError(
                "label_width must be 1 unless an imglist is provided or the rec file is packed with "
                f"multi dimensional label, but it is {width}"
            )
        else:
            return header.label
        return label[0] if width == 1 else label

    def restart(self):
        if self._pipeline.fresh and self._chunk is not None:  # MXNet's threads have read ahead by then
            self._pipeline.run(self._chunk.skip)
        self._pipeline.restart()

    def state_dict(self):
        return self._pipeline.state_dict()

    def load_state_dict(self, state):
        self._pipeline.load_state_dict(state)

    def next(self):
        batch = self._pipeline.next()
        return None if batch is None else (*batch.arrays, batch.pad, self._index(batch.positions))

    def _index(self, positions):
        return np.zeros(self.p.batch_size, np.uint64)  # MXNet has it, but never says anything in it


def _mean_image(path):
    arrays = load(path)
    array = arrays.get("mean_img") if isinstance(arrays, dict) else arrays[0]
    if array is None:
        raise MXNetError(f"{path} holds no array named mean_img")
    return array.asnumpy().astype(np.float32)
