"""What the parameters of MXNet's native iterators mean, and an example for each kind of iterator."""

MEANINGS = {
    "batch_size": "The number of samples in a batch.",
    "round_batch": "Whether an incomplete last batch is completed with samples from the beginning.",
    "prefetch_buffer": "The number of batches that are prepared ahead.",
    "ctx": "gpu: batches are in pinned memory, which is copied quickly, if there is a GPU; cpu: in ordinary memory.",
    "dtype": "The data type of the data; None: float32, or that of the iterator's name.",
    "on_error": "What to do with a damaged sample: raise an error, warn and skip it, or skip it.",
    "data_csv": "The file with the data, a sample on each line.",
    "data_shape": "The shape of one sample.",
    "label_csv": "The file with the labels; NULL: labels are zeros.",
    "label_shape": "The shape of one label.",
    "data_libsvm": "The file with the data, in LibSVM's format.",
    "label_libsvm": "The file with the labels; NULL: the labels are in the data file.",
    "num_parts": "The number of parts that the data is divided into, one for each worker.",
    "part_index": "The part that this iterator reads.",
    "image": "The file with the images.",
    "label": "The file with the labels.",
    "shuffle": "Whether samples come in random order.",
    "flat": "Whether an image is a vector of 784 numbers instead of (1, 28, 28).",
    "seed": "The seed of the random order.",
    "silent": "Accepted for old programs: nothing is printed.",
    "mirror": "Whether every image is mirrored.",
    "rand_mirror": "Whether images are mirrored at random.",
    "mean_img": "A file with the mean image; it is computed and written if it does not exist.",
    "mean_r": "The number to subtract from the red channel.",
    "mean_g": "The number to subtract from the green channel.",
    "mean_b": "The number to subtract from the blue channel.",
    "mean_a": "The number to subtract from the alpha channel.",
    "std_r": "The number to divide the red channel by.",
    "std_g": "The number to divide the green channel by.",
    "std_b": "The number to divide the blue channel by.",
    "std_a": "The number to divide the alpha channel by.",
    "scale": "A factor of the normalized values.",
    "max_random_contrast": "The contrast is multiplied by a random factor of [1 - c, 1 + c].",
    "max_random_illumination": "A random number up to this, positive or negative, is added to all values.",
    "resize": "The new length of the shorter side, before cropping; -1: unchanged.",
    "rand_crop": "Whether the crop is at a random place; otherwise it is in the middle.",
    "random_resized_crop": "Whether a crop of random area and aspect ratio is resized to `data_shape`.",
    "max_rotate_angle": "Images are rotated by a random angle up to this, in degrees.",
    "max_aspect_ratio": "The greatest change of the aspect ratio, or its upper end with `random_resized_crop`.",
    "min_aspect_ratio": "The lower end of the aspect ratio, with `random_resized_crop`.",
    "max_shear_ratio": "Images are sheared by a random ratio up to this.",
    "max_crop_size": "The greatest side of a random square crop; -1: no such crop.",
    "min_crop_size": "The least side of a random square crop; -1: no such crop.",
    "max_random_scale": "The greatest random factor of the size.",
    "min_random_scale": "The least random factor of the size.",
    "max_random_area": "The greatest part of the area, with `random_resized_crop`.",
    "min_random_area": "The least part of the area, with `random_resized_crop`.",
    "max_img_size": "The greatest side of an image after scaling.",
    "min_img_size": "The least side of an image after scaling.",
    "brightness": "The brightness is multiplied by a random factor of [1 - b, 1 + b].",
    "contrast": "The contrast is multiplied by a random factor of [1 - c, 1 + c].",
    "saturation": "The saturation is multiplied by a random factor of [1 - s, 1 + s].",
    "pca_noise": "The standard deviation of AlexNet's colour noise.",
    "random_h": "The greatest random change of the hue, in OpenCV's units.",
    "random_s": "The greatest random change of the saturation, in OpenCV's units.",
    "random_l": "The greatest random change of the lightness, in OpenCV's units.",
    "rotate": "The angle by which all images are rotated, in degrees; -1: none.",
    "fill_value": "The value of pixels that come from outside of the image.",
    "inter_method": "The interpolation: 0 nearest, 1 bilinear, 2 cubic, 3 area, 4 Lanczos, 9 by size, 10 random.",
    "pad": "The number of pixels to put around an image.",
    "path_imglist": "A list file with other labels than those in the records.",
    "path_imgrec": "The record file.",
    "path_imgidx": "Its index file, with which a shuffled order needs no memory.",
    "label_width": "The number of labels of a sample; -1: as many as it has.",
    "preprocess_threads": "The number of threads that decode and augment.",
    "verbose": "Accepted for old programs: nothing is printed.",
    "device_id": "The GPU that will take the batches; negative: none.",
    "shuffle_chunk_size": "The size in MB of the pieces that are shuffled as a whole; 0: samples are shuffled.",
    "shuffle_chunk_seed": "The seed of the order of those pieces.",
    "seed_aug": "The seed of the random augmentations.",
    "aug_seq": "The name of the augmentation, which is the one of this iterator.",
    "rand_crop_prob": "The probability of a random crop.",
    "min_crop_scales": "The least scale of a crop, for each sampler.",
    "max_crop_scales": "The greatest scale of a crop, for each sampler.",
    "min_crop_aspect_ratios": "The least aspect ratio of a crop, for each sampler.",
    "max_crop_aspect_ratios": "The greatest aspect ratio of a crop, for each sampler.",
    "min_crop_overlaps": "The least intersection over union of a crop with an object, for each sampler.",
    "max_crop_overlaps": "The greatest intersection over union of a crop with an object, for each sampler.",
    "min_crop_sample_coverages": "The least part of the crop that an object covers, for each sampler.",
    "max_crop_sample_coverages": "The greatest part of the crop that an object covers, for each sampler.",
    "min_crop_object_coverages": "The least part of an object that the crop covers, for each sampler.",
    "max_crop_object_coverages": "The greatest part of an object that the crop covers, for each sampler.",
    "num_crop_sampler": "The number of samplers.",
    "crop_emit_mode": "When an object leaves the crop: if its center is outside, or by its overlap.",
    "emit_overlap_thresh": "The least overlap of an object that stays, with crop_emit_mode=overlap.",
    "max_crop_trials": "The number of crops to try, for each sampler.",
    "rand_pad_prob": "The probability of a random border.",
    "max_pad_scale": "The greatest size with the border, in sizes of the image.",
    "max_random_hue": "The greatest random change of the hue.",
    "random_hue_prob": "The probability of a change of the hue.",
    "max_random_saturation": "The greatest random change of the saturation.",
    "random_saturation_prob": "The probability of a change of the saturation.",
    "random_illumination_prob": "The probability of a change of the lightness.",
    "random_contrast_prob": "The probability of a change of the contrast.",
    "rand_mirror_prob": "The probability of a mirrored image.",
    "resize_mode": "How an image is brought to `data_shape`: fit keeps the ratio, shrink never enlarges.",
    "label_pad_width": "The length that label vectors are padded to; 0: the longest one.",
    "label_pad_value": "The number that labels are padded with.",
}

_PACKED = """>>> import numpy as np
>>> writer = mx.recordio.MXRecordIO("images.rec", "w")
>>> for label in range(4):
...     header = mx.recordio.IRHeader(0, {label}, label, 0)
...     writer.write(mx.recordio.pack_img(header, np.zeros((8, 8, 3), "uint8"), img_fmt=".png"))
>>> writer.close()
>>> batches = mx.io.{name}(path_imgrec="images.rec", data_shape=(3, 8, 8), batch_size=2)
>>> batch = next(batches)
>>> batch.data[0].shape, batch.data[0].dtype.__name__, batch.label[0].shape
((2, 3, 8, 8), '{dtype}', {shape})"""

EXAMPLES = {
    "CSVIter": """>>> with open("data.csv", "w") as file:
...     _ = file.write("1,2\\n3,4\\n5,6\\n7,8\\n")
>>> batches = mx.io.CSVIter(data_csv="data.csv", data_shape=(2,), batch_size=2)
>>> [batch.data[0].asnumpy().tolist() for batch in batches]
[[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]]""",
    "LibSVMIter": """>>> with open("data.libsvm", "w") as file:
...     _ = file.write("1 0:5\\n0 2:7\\n")
>>> batch = next(mx.io.LibSVMIter(data_libsvm="data.libsvm", data_shape=(3,), batch_size=2))
>>> batch.data[0].asnumpy(), batch.label[0].asnumpy()
(array([[5., 0., 0.],
       [0., 0., 7.]], dtype=float32), array([1., 0.], dtype=float32))""",
    "MNISTIter": """>>> import struct
>>> with open("images", "wb") as file:
...     _ = file.write(struct.pack(">4i", 2051, 2, 28, 28) + bytes(2 * 784))
>>> with open("labels", "wb") as file:
...     _ = file.write(struct.pack(">2i", 2049, 2) + bytes([3, 7]))
>>> batch = next(mx.io.MNISTIter(image="images", label="labels", batch_size=2, shuffle=False))
>>> batch.data[0].shape, batch.label[0].asnumpy()
((2, 1, 28, 28), array([3., 7.], dtype=float32))""",
}


def example(name, dtype="float32"):
    """The example in an iterator's docstring."""
    if name in EXAMPLES:
        return EXAMPLES[name]
    boxes = "Det" in name
    label = "[2, 5, label, 0.1, 0.1, 0.5, 0.5]" if boxes else "float(label)"
    return _PACKED.format(name=name, label=label, dtype=dtype, shape="(2, 11)" if boxes else "(2,)")
