"""Image datasets: MNIST and CIFAR from MXNet's cache folder, record files, folders and lists of images."""

import os
import warnings

import numpy as np

from .... import base, image, recordio
from ...._core.errors import MXNetError
from ...._core.on_error import checked_on_error
from ...._formats import idx as idx_files
from ...._formats import image_lists
from ...._formats.archives import unpacked
from ...._formats.fetch import check_sha1, download  # noqa: F401 - MXNet's module shows it
from ....util import default_array, is_np_array
from .._tolerance import Tolerant
from ..dataset import Dataset, RecordFileDataset, _DownloadedDataset
from ._files import obtain, obtain_members

__all__ = [
    "MNIST",
    "FashionMNIST",
    "CIFAR10",
    "CIFAR100",
    "ImageRecordDataset",
    "ImageFolderDataset",
    "ImageListDataset",
]


def _default_root(name):
    return os.path.join(base.data_dir(), "datasets", name)


MNIST_ROOT = _default_root("mnist")
FASHION_MNIST_ROOT = _default_root("fashion-mnist")
CIFAR10_ROOT = _default_root("cifar10")
CIFAR100_ROOT = _default_root("cifar100")


def read_idx(path, magic):
    """The array in a gzipped IDX file of bytes, checked against its own header."""
    return idx_files.array(unpacked(path, largest=1 << 30), path, magic & 0xFF)


def _arrays(images, labels):
    """What a dataset keeps: images as an array; labels as one, too, where `mx.np` is active, else as NumPy's."""
    kept = default_array(images, dtype=images.dtype)
    return kept, default_array(labels, dtype=labels.dtype) if is_np_array() else labels


def _idx_files(*sha1):
    """Name and hash of the images and labels for training, then of those for testing."""
    names = [f"{part}-{kind}-ubyte.gz" for part in ("train", "t10k") for kind in ("images-idx3", "labels-idx1")]
    return list(zip(names, sha1, strict=True))


class MNIST(_DownloadedDataset):
    """Handwritten digits: uint8 images of 28 x 28 x 1 and int32 labels.

    Parameters
    ----------
    root : str, default MNIST_ROOT
        The folder of the files, to which they are downloaded if they are missing.
    train : bool, default True
        Whether to load the training images; otherwise the test images.
    transform : callable, optional
        A function of (image, label); prefer `dataset.transform`.

    Examples
    --------
    >>> images = mx.gluon.data.vision.MNIST(root="mnist", train=False)  # doctest: +SKIP
    >>> len(images), images[0][0].shape  # doctest: +SKIP
    (10000, (28, 28, 1))
    """

    _namespace = "mnist"
    _train_data, _train_label, _test_data, _test_label = _idx_files(
        "6c95f4b05d2bf285e1bfb0e7960c31bd3b3f8a7d",
        "2a80914081dc54586dbdf242f9805a6b8d2a15fc",
        "c3a25af1f52dad7f726cce8cacb138654b760d48",
        "763e7fa3757d93b0cdec073cef058b2004252c17",
    )

    def __init__(self, root=MNIST_ROOT, train=True, transform=None):
        self._train = train
        super().__init__(root, transform)

    def _get_data(self):
        files = [self._train_data, self._train_label] if self._train else [self._test_data, self._test_label]
        paths = [obtain(self._root, self._namespace, *file) for file in files]
        images, labels = (read_idx(path, magic) for path, magic in zip(paths, (0x803, 0x801), strict=True))
        if len(images) != len(labels):
            raise MXNetError(f"{self._root}: {len(images)} images but {len(labels)} labels")
        self._data, self._label = _arrays(images[..., np.newaxis], labels.astype(np.int32))


class FashionMNIST(MNIST):
    """Articles of clothing in ten classes: uint8 images of 28 x 28 x 1 and int32 labels.

    Parameters
    ----------
    root : str, default FASHION_MNIST_ROOT
        The folder of the files, to which they are downloaded if they are missing.
    train : bool, default True
        Whether to load the training images; otherwise the test images.
    transform : callable, optional
        A function of (image, label); prefer `dataset.transform`.

    Examples
    --------
    >>> images = mx.gluon.data.vision.FashionMNIST(root="fashion", train=False)  # doctest: +SKIP
    >>> len(images), images[0][0].shape  # doctest: +SKIP
    (10000, (28, 28, 1))
    """

    _namespace = "fashion-mnist"
    _train_data, _train_label, _test_data, _test_label = _idx_files(
        "0cf37b0d40ed5169c6b3aba31069a9770ac9043d",
        "236021d52f1e40852b06a4c3008d8de8aef1e40b",
        "626ed6a7c06dd17c0eec72fa3be1740f146a2863",
        "17f9ab60e7257a1620f4ad76bbbaf857c3920701",
    )

    def __init__(self, root=FASHION_MNIST_ROOT, train=True, transform=None):
        super().__init__(root, train, transform)


class CIFAR10(_DownloadedDataset):
    """Small photographs in ten classes: uint8 images of 32 x 32 x 3 and int32 labels.

    Parameters
    ----------
    root : str, default CIFAR10_ROOT
        The folder of the files, to which they are downloaded if they are missing.
    train : bool, default True
        Whether to load the training images; otherwise the test images.
    transform : callable, optional
        A function of (image, label); prefer `dataset.transform`.

    Examples
    --------
    >>> images = mx.gluon.data.vision.CIFAR10(root="cifar10", train=False)  # doctest: +SKIP
    >>> len(images), images[0][0].shape  # doctest: +SKIP
    (10000, (32, 32, 3))
    """

    _label_bytes = 1
    _label_column = 0

    def __init__(self, root=CIFAR10_ROOT, train=True, transform=None):
        self._train = train
        self._archive_file = ("cifar-10-binary.tar.gz", "fab780a1e191a7eda0f345501ccd62d20f7ed891")
        self._train_data = [
            ("data_batch_1.bin", "aadd24acce27caa71bf4b10992e9e7b2d74c2540"),
            ("data_batch_2.bin", "c0ba65cce70568cd57b4e03e9ac8d2a5367c1795"),
            ("data_batch_3.bin", "1dd00a74ab1d17a6e7d73e185b69dbf31242f295"),
            ("data_batch_4.bin", "aab85764eb3584312d3c7f65fd2fd016e36a258e"),
            ("data_batch_5.bin", "26e2849e66a845b7f1e4614ae70f4889ae604628"),
        ]
        self._test_data = [("test_batch.bin", "67eb016db431130d61cd03c7ad570b013799c88c")]
        self._namespace = "cifar10"
        super().__init__(root, transform)

    def _read_batch(self, filename):
        values = np.fromfile(filename, dtype=np.uint8)
        width = self._label_bytes + 3072
        if values.size % width:
            raise MXNetError(f"{filename}: {values.size} bytes are not a whole number of records of {width} bytes")
        rows = values.reshape(-1, width)
        images = rows[:, self._label_bytes :].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
        return images, rows[:, self._label_column].astype(np.int32)

    def _missing(self):
        for name, sha1 in self._train_data + self._test_data:
            path = os.path.join(self._root, name)
            if not os.path.exists(path) or not check_sha1(path, sha1):
                yield name, sha1

    def _get_data(self):
        missing = dict(self._missing())
        if missing:
            obtain_members(self._root, self._namespace, *self._archive_file, missing)
        files = self._train_data if self._train else self._test_data
        data, label = zip(*(self._read_batch(os.path.join(self._root, name)) for name, _ in files), strict=True)
        self._data, self._label = _arrays(np.concatenate(data), np.concatenate(label))


class CIFAR100(CIFAR10):
    """Small photographs in 20 coarse or 100 fine classes: uint8 images of 32 x 32 x 3 and int32 labels.

    Parameters
    ----------
    root : str, default CIFAR100_ROOT
        The folder of the files, to which they are downloaded if they are missing.
    fine_label : bool, default False
        Whether labels are the 100 fine classes.
    train : bool, default True
        Whether to load the training images; otherwise the test images.
    transform : callable, optional
        A function of (image, label); prefer `dataset.transform`.

    Examples
    --------
    >>> images = mx.gluon.data.vision.CIFAR100(root="cifar100", train=False)  # doctest: +SKIP
    >>> len(images), images[0][0].shape  # doctest: +SKIP
    (10000, (32, 32, 3))
    """

    _label_bytes = 2

    def __init__(self, root=CIFAR100_ROOT, fine_label=False, train=True, transform=None):
        self._train = train
        self._archive_file = ("cifar-100-binary.tar.gz", "a0bb982c76b83111308126cc779a992fa506b90b")
        self._train_data = [("train.bin", "e207cd2e05b73b1393c74c7f5e7bea451d63e08e")]
        self._test_data = [("test.bin", "8fb6623e830365ff53cf14adec797474f5478006")]
        self._fine_label = fine_label
        self._label_column = int(fine_label)
        self._namespace = "cifar100"
        _DownloadedDataset.__init__(self, root, transform)


class ImageRecordDataset(RecordFileDataset):
    """Images and labels of a record file that im2rec made.

    Parameters
    ----------
    filename : str
        The record file; its index file has the same name with `.idx`.
    flag : int, default 1
        1 reads images in colour, 0 in grey.
    transform : callable, optional
        A function of (image, label); prefer `dataset.transform`.
    on_error : str, default 'raise'
        What to do with an image that cannot be read: 'raise', or 'warn' and 'skip', which leave it out.

    Examples
    --------
    >>> writer = mx.recordio.MXIndexedRecordIO("pictures.idx", "pictures.rec", "w")
    >>> header = mx.recordio.IRHeader(0, 3.0, 0, 0)
    >>> writer.write_idx(0, mx.recordio.pack_img(header, np.zeros((8, 8, 3), "uint8"), img_fmt=".png"))
    >>> writer.close()
    >>> image, label = mx.gluon.data.vision.ImageRecordDataset("pictures.rec")[0]
    >>> image.shape, float(label)
    ((8, 8, 3), 3.0)
    """

    def __init__(self, filename, flag=1, transform=None, on_error="raise"):
        super().__init__(filename, on_error)
        self._flag = flag
        self._transform = transform

    def _read(self, idx):
        record = super()._read(idx)
        try:
            header, content = recordio.unpack(record)
            picture = image.imdecode(content, self._flag)
        except MXNetError as error:
            raise MXNetError(f"{self._place(idx)} at byte {self._offset(idx)}: {error}") from error
        return (picture, header.label) if self._transform is None else self._transform(picture, header.label)


class ImageListDataset(Tolerant, Dataset):
    """Images named by a `.lst` file or by a list of `[label, …, path]`.

    Parameters
    ----------
    root : str, default '.'
        The folder that the paths start from.
    imglist : str or list, optional
        The name of the `.lst` file, or the list.
    flag : int, default 1
        1 reads images in colour, 0 in grey.
    on_error : str, default 'raise'
        What to do with an image that cannot be read: 'raise', or 'warn' and 'skip', which leave it out.

    Examples
    --------
    >>> import cv2
    >>> _ = cv2.imwrite("picture.png", np.zeros((8, 8, 3), "uint8"))
    >>> images = mx.gluon.data.vision.ImageListDataset(imglist=[[3, "picture.png"]])
    >>> image, label = images[0]
    >>> image.shape, int(label)
    ((8, 8, 3), 3)
    """

    def __init__(self, root=".", imglist=None, flag=1, on_error="raise"):
        self._on_error = checked_on_error(on_error)
        self._root = os.path.expanduser(root)
        self._flag = flag
        self._imglist = {}
        self._imgkeys = []
        if isinstance(imglist, str):
            entries = self._parsed(os.path.join(self._root, imglist))
        elif isinstance(imglist, list):
            entries = ((str(i), self._labels(item[:-1]), item[-1]) for i, item in enumerate(imglist, 1))
        else:
            raise TypeError(f"imglist must be a file name or a list, but got {type(imglist).__name__}")
        for key, label, name in entries:
            self._imglist[key] = label, name
            self._imgkeys.append(key)

    @staticmethod
    def _labels(values):
        flat = values[0] if len(values) == 1 and not isinstance(values[0], (int, float, np.number)) else values
        label = np.asarray(flat, dtype=np.float32)
        return label.item() if label.size == 1 else label

    def _parsed(self, path):
        return ((key, self._labels(labels), name) for key, labels, name in image_lists.entries(path))

    def _read(self, idx):
        label, name = self._imglist[self._imgkeys[idx]]
        path = os.path.join(self._root, name)
        if os.path.exists(path):  # imread tells what is not there
            image_lists.check_file(path)
        return image.imread(path, self._flag), label

    def __len__(self):
        return len(self._imgkeys)


class ImageFolderDataset(Tolerant, Dataset):
    """Images in folders, one for each class; `synsets` lists the classes, `items` the (path, label) pairs.

    Parameters
    ----------
    root : str
        The folder that contains the classes' folders.
    flag : int, default 1
        1 reads images in colour, 0 in grey.
    transform : callable, optional
        A function of (image, label); prefer `dataset.transform`.
    on_error : str, default 'raise'
        What to do with an image that cannot be read: 'raise', or 'warn' and 'skip', which leave it out.

    Examples
    --------
    >>> import cv2, os
    >>> for name in ("cat", "dog"):
    ...     os.makedirs(f"pets/{name}")
    ...     _ = cv2.imwrite(f"pets/{name}/0.png", np.zeros((8, 8, 3), "uint8"))
    >>> images = mx.gluon.data.vision.ImageFolderDataset("pets")
    >>> images.synsets, len(images), images[1][1]
    (['cat', 'dog'], 2, 1)
    """

    def __init__(self, root, flag=1, transform=None, on_error="raise"):
        self._on_error = checked_on_error(on_error)
        self._root, self._flag, self._transform = os.path.expanduser(root), flag, transform
        self._exts = [".jpg", ".jpeg", ".png"]
        self._list_images(self._root)

    def _list_images(self, root):
        paths = {name: os.path.join(root, name) for name in sorted(os.listdir(root))}
        self.synsets = [name for name, path in paths.items() if os.path.isdir(path)]
        for name in sorted(paths.keys() - set(self.synsets)):
            warnings.warn(f"Ignoring {paths[name]}, which is not a directory.", stacklevel=3)
        self.items = [
            (image, label) for label, name in enumerate(self.synsets) for image in self._images_in(paths[name])
        ]

    def _images_in(self, path):
        for name in sorted(os.listdir(path)):
            name = os.path.join(path, name)
            extension = os.path.splitext(name)[1]
            if extension.lower() in self._exts:
                yield name
            else:
                warnings.warn(
                    f"Ignoring {name} of type {extension}. Only support {', '.join(self._exts)}", stacklevel=4
                )

    def _read(self, idx):
        path, label = self.items[idx]
        picture = image.imread(path, self._flag)
        return (picture, label) if self._transform is None else self._transform(picture, label)

    def __len__(self):
        return len(self.items)
