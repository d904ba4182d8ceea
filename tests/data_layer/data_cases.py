"""What is asked both of real MXNet (by tools/record_data.py) and of this package: each case gives NumPy arrays.

A case takes the `mxnet` module and the folder of the recorded files. Nothing here may import mxnet by itself.
"""

import os
import random
import tempfile

import numpy as np

CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def epochs(iterator, count=2):
    """Labels, pads and data of some epochs, one after the other."""
    result = {}
    for epoch in range(count):
        # read at once: MXNet writes later batches over those that were given out
        batches = [(batch.label[0].asnumpy(), batch.pad, batch.data[0].asnumpy()) for batch in iterator]
        for name, values in zip(("label", "pad", "data"), zip(*batches, strict=True), strict=True):
            result[f"{name}{epoch}"] = np.array(values)
        iterator.reset()
    return result


def record_case(name, count=1, **parameters):
    """A case of ImageRecordIter over the small record file."""

    def run(mx, folder):
        iterator = mx.io.ImageRecordIter(
            path_imgrec=os.path.join(folder, "images.rec"),
            verbose=False,
            **{"data_shape": (3, 12, 12), "batch_size": 3, "preprocess_threads": 1, **parameters},
        )
        return epochs(iterator, count)

    CASES["records_" + name] = run


record_case("plain", count=2)
record_case("batches_of_five", batch_size=5, count=4)
record_case("shuffle", shuffle=True, batch_size=5, count=3)
record_case("shuffle_seed", shuffle=True, seed=7, batch_size=5)
record_case("part", num_parts=2, part_index=1, batch_size=2)
record_case("normalized", mean_r=10, mean_g=20, mean_b=30, std_r=2, std_g=3, std_b=4, scale=0.5)
record_case("mirror", mirror=True)
record_case("padded", pad=3, fill_value=9)
record_case("gray", data_shape=(1, 12, 12))
record_case("uint8", dtype="uint8")
record_case("int8", dtype="int8", mean_r=40)
for method in (0, 1, 2, 3, 4, 9):
    record_case(f"larger_{method}", data_shape=(3, 30, 30), inter_method=method)
    record_case(f"shorter_edge_{method}", resize=14, inter_method=method)
record_case("center_of_size", min_crop_size=14, max_crop_size=14)
record_case("random_crop", rand_crop=True, rand_mirror=True, count=2)
record_case("shuffled_crop", rand_crop=True, rand_mirror=True, shuffle=True, count=2)
record_case("shuffled_contrast", max_random_contrast=0.5, max_random_illumination=20, shuffle=True, seed=3, count=2)
record_case("seeded_crop", rand_crop=True, rand_mirror=True, seed_aug=5, count=2)
record_case("seeded_shuffle", rand_crop=True, shuffle=True, seed_aug=5, batch_size=7, count=2)
record_case("seeded_hsl", random_h=20, random_s=30, random_l=40, seed_aug=1)
record_case("seeded_pca", pca_noise=0.5, seed_aug=1)
record_case("seeded_contrast", max_random_contrast=0.5, max_random_illumination=20, seed_aug=1)
record_case("seeded_brightness", brightness=0.4, seed_aug=1)
record_case("seeded_saturation", saturation=0.4, seed_aug=1)
record_case("seeded_shear", max_shear_ratio=0.2, seed_aug=1)
record_case("seeded_rotation", max_rotate_angle=20, seed_aug=1)
record_case("seeded_aspect", max_aspect_ratio=0.3, seed_aug=1)
record_case(
    "seeded_resized_crop",
    random_resized_crop=True,
    min_random_area=0.3,
    max_aspect_ratio=1.3,
    min_aspect_ratio=0.8,
    seed_aug=1,
)
record_case("seeded_crop_size", min_crop_size=8, max_crop_size=16, rand_crop=True, seed_aug=1)


def detection_case(name, count=1, **parameters):
    """A case of ImageDetRecordIter over the small detection file."""

    def run(mx, folder):
        iterator = mx.io.ImageDetRecordIter(
            path_imgrec=os.path.join(folder, "boxes.rec"),
            verbose=False,
            preprocess_threads=1,
            batch_size=2,
            **{"data_shape": (3, 14, 16), **parameters},
        )
        return epochs(iterator, count)

    CASES["boxes_" + name] = run


detection_case("plain")
detection_case("normalized", mean_r=10, std_r=2, scale=0.5)
detection_case("wide_label", label_pad_width=25, label_pad_value=-3)
detection_case("mirror", rand_mirror_prob=0.5)
detection_case("shrink", resize_mode="shrink")
detection_case("fit", resize_mode="fit")
detection_case("pad", rand_pad_prob=0.7, max_pad_scale=2.0)
detection_case("crop", rand_crop_prob=0.8, min_crop_scales=(0.5,), max_crop_scales=(0.9,))
detection_case(
    "crop_by_overlap",
    rand_crop_prob=1.0,
    min_crop_scales=(0.3,),
    max_crop_scales=(0.7,),
    crop_emit_mode="overlap",
    emit_overlap_thresh=0.5,
)
detection_case(
    "shuffled",
    count=3,
    shuffle=True,
    rand_mirror_prob=0.5,
    rand_crop_prob=0.8,
    min_crop_scales=(0.5,),
    max_crop_scales=(0.9,),
)
detection_case(
    "two_samplers",
    rand_crop_prob=1.0,
    num_crop_sampler=2,
    min_crop_scales=(0.3, 0.5),
    max_crop_scales=(0.9, 0.9),
    min_crop_aspect_ratios=(0.5, 0.6),
    max_crop_aspect_ratios=(2.0, 1.5),
    min_crop_overlaps=(0.1, 0.2),
    max_crop_overlaps=(1.0, 1.0),
    max_crop_trials=(20, 20),
)
detection_case("contrast", random_contrast_prob=1.0, max_random_contrast=0.5)


@case
def labels_from_list(mx, folder):
    return epochs(
        mx.io.ImageRecordIter(
            path_imgrec=os.path.join(folder, "images.rec"),
            path_imglist=os.path.join(folder, "images.lst"),
            label_width=2,
            data_shape=(3, 12, 12),
            batch_size=3,
            verbose=False,
            preprocess_threads=2,
        ),
        1,
    )


@case
def indexed_parts(mx, folder):
    stem = os.path.join(folder, "images")
    return epochs(
        mx.io.ImageRecordIter(
            path_imgrec=stem + ".rec",
            path_imgidx=stem + ".idx",
            num_parts=3,
            part_index=1,
            data_shape=(3, 12, 12),
            batch_size=2,
            verbose=False,
        ),
        1,
    )


@case
def indexed_and_shuffled(mx, folder):
    stem = os.path.join(folder, "images")
    found = {}
    for name, parameters in (("one_engine", {}), ("seeded", {"seed_aug": 3})):
        iterator = mx.io.ImageRecordIter(
            path_imgrec=stem + ".rec", path_imgidx=stem + ".idx", shuffle=True, rand_crop=True, rand_mirror=True,
            data_shape=(3, 12, 12), batch_size=3, verbose=False, preprocess_threads=1, **parameters,
        )  # fmt: skip
        found.update({f"{key}_{name}": value for key, value in epochs(iterator, 2).items()})
    return found


@case
def shuffled_chunks(mx, folder):
    """A file of three chunks (MXNet reads 8 MB at a time), which are shuffled one by one."""
    sizes = np.random.RandomState(0).randint(100000, 102000, 200)
    with open(os.path.join(folder, "picture.png"), "rb") as file:
        picture = file.read()
    with tempfile.TemporaryDirectory() as own:
        path = os.path.join(own, "large.rec")
        writer = mx.recordio.MXRecordIO(path, "w")
        for i, size in enumerate(sizes):
            header = mx.recordio.IRHeader(0, float(i), i, 0)
            writer.write(mx.recordio.pack(header, picture + bytes(int(size))))
        writer.close()
        found = {}
        for name, parameters in (("whole", {}), ("half", {"num_parts": 2, "part_index": 0})):
            iterator = mx.io.ImageRecordIter(
                path_imgrec=path, data_shape=(1, 1, 1), batch_size=9, shuffle=True, rand_crop=True, verbose=False,
                preprocess_threads=1, **parameters,
            )  # fmt: skip
            result = epochs(iterator, 2).items()  # MXNet says a pad again when it fills that batch's memory anew
            found.update({f"{key}_{name}": value for key, value in result if not key.startswith("pad")})
    return found


@case
def csv_rounds(mx, folder):
    data, label = (os.path.join(folder, name) for name in ("data.csv", "label.csv"))
    return epochs(mx.io.CSVIter(data_csv=data, data_shape=(2, 2), label_csv=label, batch_size=2), 3)


@case
def csv_integers(mx, folder):
    data, label = (os.path.join(folder, name) for name in ("data.csv", "label.csv"))
    return epochs(
        mx.io.CSVIter(data_csv=data, data_shape=(4,), label_csv=label, batch_size=2, dtype="int32", round_batch=False)
    )


@case
def libsvm(mx, folder):
    return epochs(mx.io.LibSVMIter(data_libsvm=os.path.join(folder, "rows.libsvm"), data_shape=(3,), batch_size=3), 3)


@case
def mnist(mx, folder):
    image, label = (os.path.join(folder, name) for name in ("digits-images", "digits-labels"))
    return epochs(mx.io.MNISTIter(image=image, label=label, batch_size=3, shuffle=True, seed=4, silent=True))


@case
def mnist_flat_part(mx, folder):
    image, label = (os.path.join(folder, name) for name in ("digits-images", "digits-labels"))
    return epochs(
        mx.io.MNISTIter(
            image=image, label=label, batch_size=2, shuffle=False, flat=True, silent=True, num_parts=2, part_index=1
        )
    )


def array_case(mode, shuffle=False, batch_size=4):
    """A case of NDArrayIter."""

    def run(mx, folder):
        np.random.seed(3)
        iterator = mx.io.NDArrayIter(
            {"b": np.arange(18).reshape(9, 2), "a": np.arange(9)}, np.arange(9) * 10, batch_size, shuffle, mode
        )
        result = {}
        for epoch in range(3):
            for number, batch in enumerate(iterator):
                result[f"{epoch}_{number}"] = np.concatenate(
                    [array.asnumpy().ravel() for array in batch.data + batch.label] + [[batch.pad]]
                )
            iterator.reset()
        return result

    CASES[f"arrays_{mode}{'_shuffled' if shuffle else ''}_{batch_size}"] = run


for mode in ("pad", "discard", "roll_over"):
    array_case(mode)
    array_case(mode, shuffle=True)
array_case("pad", batch_size=20)


def picture(mx, folder, name="picture.png"):
    return mx.image.imread(os.path.join(folder, name))


@case
def image_functions(mx, folder):
    image = picture(mx, folder)
    random.seed(1)
    np.random.seed(1)
    floats = image.astype("float32").transpose((2, 0, 1)) / 255
    results = {
        "gray": mx.image.imread(os.path.join(folder, "picture.png"), flag=0),
        "bgr": mx.image.imread(os.path.join(folder, "picture.png"), to_rgb=False),
        "resized": mx.image.imresize(image, 9, 11),
        "shorter_edge": mx.image.resize_short(image, 12, interp=1),
        "fixed": mx.image.fixed_crop(image, 2, 3, 10, 9),
        "fixed_resized": mx.image.fixed_crop(image, 2, 3, 10, 9, (5, 6), 3),
        "center": mx.image.center_crop(image, (10, 8))[0],
        "random": mx.image.random_crop(image, (10, 8))[0],
        "random_size": mx.image.random_size_crop(image, (10, 8), (0.3, 0.9), (0.8, 1.2), 1)[0],
        "border": mx.image.copyMakeBorder(image, 1, 2, 3, 4),
        "normalized": mx.image.color_normalize(image.astype("float32"), mx.nd.array([1, 2, 3]), mx.nd.array([2, 3, 4])),
        "rotated": mx.image.imrotate(floats, 30),
        "rotated_in": mx.image.imrotate(floats, 30, zoom_in=True),
        "rotated_out": mx.image.imrotate(floats, -50, zoom_out=True),
        "random_rotated": mx.image.random_rotate(mx.nd.stack(floats, floats), (-30, 30)),
    }
    return {name: value.asnumpy() for name, value in results.items()}


def augmenter_case(name, **parameters):
    """A case of the chain that CreateAugmenter builds."""

    def run(mx, folder):
        random.seed(2)
        np.random.seed(2)
        chain = mx.image.CreateAugmenter((3, 12, 12), **parameters)
        result = {}
        for number in range(3):
            image = picture(mx, folder)
            for augmenter in chain:
                image = augmenter(image)
            result[str(number)] = image.asnumpy()
        return result

    CASES["augmenter_" + name] = run


augmenter_case("plain")
augmenter_case("resize", resize=14, inter_method=1)
augmenter_case("crop_mirror", rand_crop=True, rand_mirror=True)
augmenter_case("sized_crop", rand_crop=True, rand_resize=True, inter_method=1)
augmenter_case("color", brightness=0.3, contrast=0.3, saturation=0.3, hue=0.2, pca_noise=0.1, rand_gray=0.5)
augmenter_case("normalized", mean=True, std=True)


def iterator_case(name, **parameters):
    """A case of ImageIter over the small record file."""

    def run(mx, folder):
        random.seed(2)
        stem = os.path.join(folder, "images")
        iterator = mx.image.ImageIter(
            3, (3, 12, 12), path_imgrec=stem + ".rec", path_imgidx=stem + ".idx", inter_method=1, **parameters
        )
        return epochs(iterator)

    CASES["image_iter_" + name] = run


iterator_case("pad")
iterator_case("discard", last_batch_handle="discard")
iterator_case("roll_over", last_batch_handle="roll_over")
iterator_case("shuffle", shuffle=True)
iterator_case("part", part_index=1, num_parts=2)


def detection_iterator_case(name, **parameters):
    """A case of ImageDetIter over the small detection file."""

    def run(mx, folder):
        random.seed(4)
        np.random.seed(4)
        iterator = mx.image.ImageDetIter(
            2,
            (3, 14, 16),
            path_imgrec=os.path.join(folder, "boxes.rec"),
            path_imgidx=os.path.join(folder, "boxes.idx"),
            inter_method=1,
            **parameters,
        )
        return epochs(iterator)

    CASES["image_det_iter_" + name] = run


detection_iterator_case("plain")
detection_iterator_case("changes", rand_crop=0.7, rand_pad=0.7, rand_mirror=True, mean=True)


def transform_case(name, build):
    """A case of one transform on one image."""

    def run(mx, folder):
        random.seed(3)
        np.random.seed(3)
        return {"image": build(mx.gluon.data.vision.transforms)(picture(mx, folder)).asnumpy()}

    CASES["transform_" + name] = run


transform_case("to_tensor", lambda t: t.ToTensor())
transform_case(
    "compose",
    lambda t: t.Compose(
        [t.Resize(14), t.CenterCrop((10, 8)), t.ToTensor(), t.Normalize((0.1, 0.2, 0.3), (0.5, 0.6, 0.7))]
    ),
)
transform_case("resize_keep", lambda t: t.Resize(13, keep_ratio=True))
transform_case("crop_resize", lambda t: t.CropResize(1, 2, 12, 10, (6, 5), 1))
transform_case("random_resized_crop", lambda t: t.RandomResizedCrop(9))
transform_case("rotate", lambda t: t.Compose([t.ToTensor(), t.Rotate(20, zoom_in=True)]))


@case
def buckets(mx, folder):
    random.seed(5)
    np.random.seed(5)
    words = [["a", "b", "c"], ["b"], ["c", "a"], ["a", "a", "a", "b"], ["b", "c"], ["c"]] * 2
    codes, _ = mx.rnn.encode_sentences(words, invalid_label=0, start_label=1)
    iterator = mx.rnn.BucketSentenceIter(codes, 2, buckets=[2, 4], invalid_label=0)
    return {
        f"{number}_{name}": value
        for number, batch in enumerate(iterator)
        for name, value in (
            ("data", batch.data[0].asnumpy()),
            ("label", batch.label[0].asnumpy()),
            ("key", np.array(batch.bucket_key)),
        )
    }


@case
def shuffled_loader(mx, folder):
    np.random.seed(6)
    data = mx.gluon.data.ArrayDataset(np.arange(20).reshape(10, 2), mx.nd.arange(10))
    loader = mx.gluon.data.DataLoader(data, 3, shuffle=True, last_batch="rollover")
    return {
        f"{epoch}_{number}_{field}": value.asnumpy()
        for epoch in range(2)
        for number, batch in enumerate(loader)
        for field, value in enumerate(batch)
    }
