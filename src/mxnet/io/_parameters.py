"""The parameters of MXNet's native iterators: names, types, defaults, and how they are read from keywords."""

import inspect
from difflib import get_close_matches
from typing import Literal

from .._core.attrs import Floats, attribute
from .._core.errors import MXNetError
from .._core.on_error import OnError
from ._meanings import MEANINGS

Number = Literal["bfloat16", "float16", "float32", "float64", "int32", "int64", "int8", "uint8"]


class Parameters:
    """Base of the tables below: annotated class attributes are parameters; without a value they are required."""

    def __init__(self, iterator, keywords):
        for name, entry in self.table().items():
            if name in keywords:
                value = entry.parse(keywords[name], iterator)
            elif entry.required:
                near = get_close_matches(name, keywords, 1)
                hint = f". There is no parameter {near[0]}: did you mean {name}?" if near else ""
                raise MXNetError(
                    f"Required parameter {name} of {entry.kind} is not presented, in operator {iterator}{hint}"
                )
            else:
                value = entry.default
            setattr(self, name, value)

    @classmethod
    def table(cls):
        """Name to attribute, base classes first."""
        entries = {}
        for owner in reversed(cls.__mro__):
            for name, annotation in inspect.get_annotations(owner).items():
                required = not hasattr(cls, name)
                entries[name] = attribute(name, annotation, getattr(cls, name, None), required)
        return entries

    @classmethod
    def describe(cls):
        """The table as lines of documentation."""
        return "\n".join(f"{entry.describe()}\n    {MEANINGS[name]}" for name, entry in cls.table().items())


class Batching(Parameters):
    """What all batching iterators take. `on_error` is an addition to MXNet."""

    batch_size: int
    round_batch: bool = True
    prefetch_buffer: int = 4
    ctx: Literal["cpu", "gpu"] = "gpu"
    dtype: Number | None = None
    on_error: OnError = "raise"


class Csv(Batching):
    """Reading rows of numbers from text files."""

    data_csv: str
    data_shape: tuple
    label_csv: str = "NULL"
    label_shape: tuple = (1,)


class LibSvm(Batching):
    """Reading sparse rows from text files."""

    data_libsvm: str
    data_shape: tuple
    label_libsvm: str = "NULL"
    label_shape: tuple = (1,)
    num_parts: int = 1
    part_index: int = 0


class Mnist(Parameters):
    """Reading MNIST's own files."""

    image: str = "./train-images-idx3-ubyte"
    label: str = "./train-labels-idx1-ubyte"
    batch_size: int = 128
    shuffle: bool = True
    flat: bool = False
    seed: int = 0
    silent: bool = False
    num_parts: int = 1
    part_index: int = 0
    prefetch_buffer: int = 4
    ctx: Literal["cpu", "gpu"] = "gpu"
    dtype: Number | None = None


class Records(Batching):
    """Reading images from a record file."""

    path_imglist: str = ""
    path_imgrec: str = ""
    path_imgidx: str = ""
    label_width: int = 1
    data_shape: tuple
    preprocess_threads: int = 4
    verbose: bool = True
    num_parts: int = 1
    part_index: int = 0
    device_id: int = 0
    shuffle_chunk_size: int = 0
    shuffle_chunk_seed: int = 0
    seed_aug: int | None = None
    shuffle: bool = False
    seed: int = 0
    aug_seq: str = "aug_default"


class Normalization(Parameters):
    """Mean, deviation, scale, mirroring and random contrast of the float iterators."""

    mirror: bool = False
    rand_mirror: bool = False
    mean_img: str = ""
    mean_r: float = 0.0
    mean_g: float = 0.0
    mean_b: float = 0.0
    mean_a: float = 0.0
    std_r: float = 1.0
    std_g: float = 1.0
    std_b: float = 1.0
    std_a: float = 1.0
    scale: float = 1.0
    max_random_contrast: float = 0.0
    max_random_illumination: float = 0.0


class Augmentation(Parameters):
    """Geometry and colour, before normalization."""

    resize: int = -1
    rand_crop: bool = False
    random_resized_crop: bool = False
    max_rotate_angle: int = 0
    max_aspect_ratio: float = 0.0
    min_aspect_ratio: float | None = None
    max_shear_ratio: float = 0.0
    max_crop_size: int = -1
    min_crop_size: int = -1
    max_random_scale: float = 1.0
    min_random_scale: float = 1.0
    max_random_area: float = 1.0
    min_random_area: float = 1.0
    max_img_size: float = 1e10
    min_img_size: float = 0.0
    brightness: float = 0.0
    contrast: float = 0.0
    saturation: float = 0.0
    pca_noise: float = 0.0
    random_h: int = 0
    random_s: int = 0
    random_l: int = 0
    rotate: int = -1
    fill_value: int = 255
    inter_method: int = 1
    pad: int = 0


class ImageRecord(Records, Augmentation, Normalization):
    """ImageRecordIter and its integer relatives."""


class DetectionAugmentation(Parameters):
    """Geometry and colour with bounding boxes."""

    resize: int = -1
    rand_crop_prob: float = 0.0
    min_crop_scales: Floats = (0.0,)
    max_crop_scales: Floats = (1.0,)
    min_crop_aspect_ratios: Floats = (1.0,)
    max_crop_aspect_ratios: Floats = (1.0,)
    min_crop_overlaps: Floats = (0.0,)
    max_crop_overlaps: Floats = (1.0,)
    min_crop_sample_coverages: Floats = (0.0,)
    max_crop_sample_coverages: Floats = (1.0,)
    min_crop_object_coverages: Floats = (0.0,)
    max_crop_object_coverages: Floats = (1.0,)
    num_crop_sampler: int = 1
    crop_emit_mode: Literal["center", "overlap"] = "center"
    emit_overlap_thresh: float = 0.3
    max_crop_trials: tuple = (25,)
    rand_pad_prob: float = 0.0
    max_pad_scale: float = 1.0
    max_random_hue: int = 0
    random_hue_prob: float = 0.0
    max_random_saturation: int = 0
    random_saturation_prob: float = 0.0
    max_random_illumination: int = 0
    random_illumination_prob: float = 0.0
    max_random_contrast: float = 0.0
    random_contrast_prob: float = 0.0
    rand_mirror_prob: float = 0.0
    fill_value: int = 127
    inter_method: int = 1
    resize_mode: Literal["fit", "force", "shrink"] = "force"


class ImageDetRecord(Records, DetectionAugmentation):
    """ImageDetRecordIter."""

    path_imgrec: str = "./data/imgrec.rec"
    aug_seq: str = "det_aug_default"
    label_width: int = -1
    label_pad_width: int = 0
    label_pad_value: float = -1.0
    mean_img: str = ""
    mean_r: float = 0.0
    mean_g: float = 0.0
    mean_b: float = 0.0
    mean_a: float = 0.0
    std_r: float = 0.0
    std_g: float = 0.0
    std_b: float = 0.0
    std_a: float = 0.0
    scale: float = 1.0
