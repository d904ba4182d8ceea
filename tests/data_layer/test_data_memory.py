"""Memory does not grow from epoch to epoch."""

import gc
import os

import numpy as np
import pytest

import mxnet as mx

FOLDER = os.path.join(os.path.dirname(os.path.dirname(__file__)), "data", "data_layer")
RECORDS = os.path.join(FOLDER, "images.rec")


def records():
    return mx.io.ImageRecordIter(path_imgrec=RECORDS, data_shape=(3, 160, 160), batch_size=7, rand_crop=True)


def boxes():
    return mx.io.ImageDetRecordIter(
        path_imgrec=os.path.join(FOLDER, "boxes.rec"), data_shape=(3, 160, 160), batch_size=4
    )


def arrays():
    return mx.io.NDArrayIter(np.zeros((64, 4096)), np.zeros(64), 16, shuffle=True)


def images():
    return mx.image.ImageIter(7, (3, 128, 128), path_imgrec=RECORDS)


def prefetched():
    return mx.io.PrefetchingIter(arrays())


def loader(**workers):
    transforms = mx.gluon.data.vision.transforms
    change = transforms.Compose([transforms.Resize((128, 128)), transforms.ToTensor()])
    data = mx.gluon.data.vision.ImageRecordDataset(RECORDS).transform_first(change)
    return mx.gluon.data.DataLoader(data, 7, **workers)


def threads():
    return loader(num_workers=2, thread_pool=True)


def processes():
    return loader(num_workers=2)


def resident():
    gc.collect()
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs Linux's account of memory")
@pytest.mark.parametrize("source", [records, boxes, arrays, images, prefetched, loader, threads, processes])
def test_twenty_epochs(source):
    """A batch held by mistake in each epoch would be 20 times 1 to 2 megabytes."""
    iterator = source()

    def epochs(count):
        for _ in range(count):
            for batch in iterator:
                del batch
            if hasattr(iterator, "reset"):
                iterator.reset()

    epochs(8)
    before = resident()
    epochs(20)
    assert resident() - before < 10e6
