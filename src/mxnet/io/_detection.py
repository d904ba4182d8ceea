"""ImageDetRecordIter: images with bounding boxes, which crops, padding and mirroring change together."""

import numpy as np

from .._core.errors import MXNetError
from .._core.extras import opencv
from ._augment import RANDOM_INTERPOLATION, Resizing, shift_hls
from ._images import ImageRecords

cv2 = opencv()


class Objects:
    """The boxes of one image: rows of class, left, top, right, bottom, …, in fractions of the image."""

    def __init__(self, raw):
        raw = np.asarray(raw, np.float32)
        if raw.size < 7:
            raise MXNetError(f"a detection label has a header and at least one object, but holds {raw.size} values")
        header, width = int(raw[0]), int(raw[1])
        if header < 2 or width < 5 or (raw.size - header) % width:
            raise MXNetError(
                f"a detection label of {raw.size} values does not fit its header: header width {header}, "
                f"object width {width}"
            )
        self.header = raw[:header]
        self.rows = raw[header:].reshape(-1, width).copy()

    def flat(self):
        return np.concatenate([self.header, self.rows.ravel()])

    def mirror(self):
        self.rows[:, [1, 3]] = 1 - self.rows[:, [3, 1]]

    def project(self, box):
        """Coordinates within `box` (x, y, width, height), cut at its edges."""
        x, y, width, height = np.float32(box)
        self.rows[:, [1, 3]] = (self.rows[:, [1, 3]] - x) / width
        self.rows[:, [2, 4]] = (self.rows[:, [2, 4]] - y) / height
        self.rows[:, 1:5] = np.clip(self.rows[:, 1:5], 0, 1)

    def areas(self):
        return (self.rows[:, 3] - self.rows[:, 1]) * (self.rows[:, 4] - self.rows[:, 2])

    def common(self, box):
        """Area that each object shares with the box."""
        x, y, width, height = box
        wide = np.minimum(self.rows[:, 3], x + width) - np.maximum(self.rows[:, 1], x)
        high = np.minimum(self.rows[:, 4], y + height) - np.maximum(self.rows[:, 2], y)
        return np.clip(wide, 0, None) * np.clip(high, 0, None)

    def centers_in(self, box):
        x, y, width, height = box
        across = (self.rows[:, 1] + self.rows[:, 3]) * 0.5
        down = (self.rows[:, 2] + self.rows[:, 4]) * 0.5
        return (across >= x) & (across < x + width) & (down >= y) & (down < y + height)


class DetectionAugmenter(Resizing):
    """Colour, mirror, pad, crop and resize of an image with its objects."""

    def __init__(self, parameters):
        self.p = p = parameters
        _, self.height, self.width = p.data_shape
        for name in (
            "min_crop_scales",
            "max_crop_scales",
            "min_crop_aspect_ratios",
            "max_crop_aspect_ratios",
            "min_crop_overlaps",
            "max_crop_overlaps",
            "min_crop_sample_coverages",
            "max_crop_sample_coverages",
            "min_crop_object_coverages",
            "max_crop_object_coverages",
            "max_crop_trials",
        ):
            values = getattr(p, name)
            if len(values) not in (1, p.num_crop_sampler):
                raise MXNetError(f"{name} has {len(values)} values, but num_crop_sampler is {p.num_crop_sampler}")
            if len(values) == 1:
                setattr(p, name, tuple(values) * p.num_crop_sampler)

    def __call__(self, image, objects, engine):
        p = self.p
        if p.resize != -1:
            image = self._shorter_edge(image, engine)
        if max(p.random_hue_prob, p.random_saturation_prob, p.random_illumination_prob, p.random_contrast_prob) > 0:
            image = self._color(image, engine)
        if p.rand_mirror_prob > 0 and engine.unit() < p.rand_mirror_prob:
            objects.mirror()
            image = cv2.flip(image, 1)
        if p.rand_pad_prob > 0 and p.max_pad_scale > 1 and engine.unit() < p.rand_pad_prob:
            image = self._pad(image, objects, engine)
        if p.rand_crop_prob > 0 and p.num_crop_sampler > 0 and engine.unit() < p.rand_crop_prob:
            image = self._crop(image, objects, engine)
        return self._fit(image, engine)

    def _color(self, image, engine):
        p = self.p
        limits = (p.max_random_hue, p.max_random_saturation, p.max_random_illumination, p.max_random_contrast)
        chances = (p.random_hue_prob, p.random_saturation_prob, p.random_illumination_prob, p.random_contrast_prob)
        changes = [engine.unit() * limit * 2 - limit for limit in limits]
        hue, saturation, lightness, contrast = (
            change if engine.unit() < chance else 0 for change, chance in zip(changes, chances, strict=True)
        )
        image = shift_hls(image, int(hue), int(lightness), int(saturation))
        return cv2.convertScaleAbs(image, alpha=contrast + 1) if abs(contrast) > 1e-3 else image

    def _pad(self, image, objects, engine):
        scale = engine.uniform(1, self.p.max_pad_scale)
        if scale < 1.05:  # not worth it
            return image
        x, y = engine.uniform(0, scale - 1), engine.uniform(0, scale - 1)
        objects.project((-x, -y, scale, scale))
        rows, columns = image.shape[:2]
        return cv2.copyMakeBorder(
            image,
            int(y * rows),
            int((scale - y - 1) * rows),
            int(x * columns),
            int((scale - x - 1) * columns),
            cv2.BORDER_CONSTANT,
            value=(self.p.fill_value,) * 3,
        )

    def _crop(self, image, objects, engine):
        """The first crop that a sampler finds, samplers being tried in random order; else the image as it is."""
        samplers = list(range(self.p.num_crop_sampler))
        engine.shuffle(samplers)
        rows, columns = image.shape[:2]
        for sampler in samplers:
            for _ in range(self.p.max_crop_trials[sampler]):
                box = self._crop_box(sampler, columns / rows, engine)
                if self._try(objects, box, sampler):
                    left, top = int(box[0] * columns), int(box[1] * rows)
                    return image[top : top + int(box[3] * rows), left : left + int(box[2] * columns)]
        return image

    def _crop_box(self, sampler, aspect, engine):
        p = self.p
        scale = engine.uniform(p.min_crop_scales[sampler], p.max_crop_scales[sampler]) + 1e-12
        least = max(p.min_crop_aspect_ratios[sampler] / aspect, scale * scale)
        most = min(p.max_crop_aspect_ratios[sampler] / aspect, 1.0 / (scale * scale))
        ratio = float(np.sqrt(np.float32(engine.uniform(least, most))))
        width, height = min(1.0, scale * ratio), min(1.0, scale / ratio)
        return engine.uniform(0, 1 - width), engine.uniform(0, 1 - height), width, height

    def _try(self, objects, box, sampler):
        """Whether the box satisfies the sampler's constraints; then objects are what remains in it."""
        if not len(objects.rows):
            return True
        if not self._satisfied(objects, box, sampler):
            return False
        if self.p.crop_emit_mode == "center":
            kept = objects.centers_in(box)
        else:
            kept = objects.common(box) / objects.areas() > self.p.emit_overlap_thresh
        if not kept.any():
            return False
        objects.rows = objects.rows[kept]
        objects.project(box)
        return True

    def _satisfied(self, objects, box, sampler):
        """Whether some object meets every bound that the sampler sets."""
        p = self.p
        common, areas, box_area = objects.common(box), objects.areas(), box[2] * box[3]
        measures = (
            (common / (areas + box_area - common), p.min_crop_overlaps, p.max_crop_overlaps),
            (common / box_area, p.min_crop_sample_coverages, p.max_crop_sample_coverages),
            (common / areas, p.min_crop_object_coverages, p.max_crop_object_coverages),
        )
        meets = np.ones(len(common), bool)
        for measure, least, most in measures:
            if least[sampler] > 0 or most[sampler] < 1:
                meets &= (measure >= least[sampler]) & (measure <= most[sampler])
        return meets.any()

    def _fit(self, image, engine):
        rows, columns = image.shape[:2]
        width, height = self.width, self.height
        if self.p.resize_mode == "shrink":
            scale = min(1.0, height / rows)
            scale = min(scale, width / columns)
            width, height = int(columns * scale), int(rows * scale)
        elif self.p.resize_mode == "fit":
            scale = min(height / rows, width / columns)
            width, height = int(columns * scale), int(rows * scale)
        return self._resized(image, width, height, engine)


_CHANCES = (
    "rand_mirror_prob",
    "rand_pad_prob",
    "rand_crop_prob",
    "random_hue_prob",
    "random_saturation_prob",
    "random_illumination_prob",
    "random_contrast_prob",
)


class DetectionRecords(ImageRecords):
    """The native iterator: a label row is channels, height, width and count, then the raw label, then padding."""

    augmenter_class = DetectionAugmenter
    magic = 233  # the constant of MXNet's detection iterator
    normalizer_varies = False  # its parameters of those names belong to the augmenter

    def __init__(self, parameters):
        for name in ("std_r", "std_g", "std_b", "std_a"):  # 0 means "do not divide"
            setattr(parameters, name, getattr(parameters, name) or 1.0)
        super().__init__(parameters)

    @property
    def draws(self):
        return self._varies()

    def _varies(self):
        return self.p.inter_method == RANDOM_INTERPOLATION or any(getattr(self.p, name) > 0 for name in _CHANCES)

    def _most_threads(self, processors):
        """MXNet's iterator leaves one processor to others."""
        return processors - 1

    def _shapes(self):
        p = self.p
        longest = max(map(len, self._readable(self._raw_label)), default=0)
        if p.label_pad_width and p.label_pad_width < longest:
            raise MXNetError(
                f"ImageDetRecordIter: label_pad_width: {p.label_pad_width} smaller than estimated width: {longest}"
            )
        width = 4 + max(longest, p.label_pad_width)
        return [((p.batch_size, *p.data_shape), self._dtype), ((p.batch_size, width), np.float32)]

    def _augmented(self, image, engine):
        return cv2.resize(image, (self.p.data_shape[2], self.p.data_shape[1]))

    def _raw_label(self, position):
        header, _ = self._unpacked(position)
        if self._list is not None and header.id not in self._list:
            raise MXNetError(f"{self.describe(position)}: the image of id {header.id} is not in {self.p.path_imglist}")
        label = self._list[header.id][0] if self._list is not None else np.atleast_1d(header.label)
        width = self.p.label_width
        if width > 0 and width != len(label):
            raise MXNetError(
                f"{self.describe(position)}: rec file provide {len(label)}-dimensional label but "
                f"label_width is set to {width}"
            )
        return label

    def _index(self, positions):
        index = np.zeros(self.p.batch_size, np.uint64)
        index[: len(positions)] = positions
        return index

    def _fill(self, position, engine, arrays, row):
        _, content = self._unpacked(position)
        objects = Objects(self._raw_label(position))
        image = self._augmenter(self._decoded(content), objects, engine)
        data, labels = arrays
        height, width = image.shape[:2]
        target = data[row][:, :height, :width]
        if target.shape != data[row].shape:
            data[row] = 0
            target = np.empty(target.shape, data.dtype)
        self._normalizer(image, engine, target[0] if len(target) == 1 else target)
        data[row][:, :height, :width] = target
        label = objects.flat()
        labels[row] = self.p.label_pad_value
        labels[row, : 4 + len(label)] = [len(target), height, width, len(label), *label]
