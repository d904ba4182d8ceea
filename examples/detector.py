"""A small single-shot detector that finds digits in images; ImageDetRecordIter reads the boxes from a record file.

The program creates the record file: digits at random positions of dark 64x64 images, each with its box.
"""

import tempfile
from pathlib import Path

import common
import numpy as np

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.gluon import nn
from mxnet.tools.digits import digits

SIDE = 64
SIZES = ([0.3, 0.4], [0.5, 0.6])  # sizes of anchors as fractions of the image: fine map, coarse map
RATIOS = [1, 1.5]


def write_records(path, count, rng):
    """Write images with one digit each, and labels in the format of the detection iterators."""
    images, *_ = digits()
    writer = mx.recordio.MXRecordIO(str(path), "w")
    for number in range(count):
        size = int(rng.integers(20, 40))
        left, top = rng.integers(0, SIDE - size, 2)
        digit = mx.image.imresize(nd.array(images[number][:, :, None].repeat(3, 2), dtype="uint8"), size, size)
        picture = rng.integers(0, 40, (SIDE, SIDE, 3)).astype("uint8")
        area = picture[top : top + size, left : left + size]
        np.maximum(area, digit.asnumpy(), out=area)
        box = np.array([left, top, left + size, top + size]) / SIDE
        label = np.concatenate([[2, 5, 0], box])  # a header of two numbers, five numbers for each object: class and box
        header = mx.recordio.IRHeader(0, label, number, 0)
        writer.write(mx.recordio.pack_img(header, picture, quality=9, img_fmt=".png"))
    writer.close()


def boxes_of(label):
    """Convert the iterator's rows (four numbers, the header, then the objects) to shape (batch, objects, 5)."""
    start, width = 4 + int(label[0, 4].asscalar()), int(label[0, 5].asscalar())
    objects = (label.shape[1] - start) // width
    return label[:, start : start + objects * width].reshape((0, objects, width))


class Detector(nn.HybridBlock):
    """A network with two feature maps that predicts class scores and four offsets for every anchor."""

    def __init__(self, classes=1):
        super().__init__()
        self._classes, anchors = classes, len(SIZES[0]) + len(RATIOS) - 1
        with self.name_scope():
            self.body = self._downward(16, 32, 64)
            self.coarse = self._downward(64)
            for scale in range(2):
                setattr(self, f"class{scale}", nn.Conv2D(anchors * (classes + 1), 3, padding=1))
                setattr(self, f"offset{scale}", nn.Conv2D(anchors * 4, 3, padding=1))

    @staticmethod
    def _downward(*widths):
        part = nn.HybridSequential()
        for channels in widths:
            part.add(nn.Conv2D(channels, 3, padding=1), nn.BatchNorm(), nn.Activation("relu"), nn.MaxPool2D())
        return part

    def hybrid_forward(self, F, x):
        fine = self.body(x)
        anchors, classes, offsets = [], [], []
        for scale, features in enumerate((fine, self.coarse(fine))):
            anchors.append(F.contrib.MultiBoxPrior(features, sizes=SIZES[scale], ratios=RATIOS))
            classes.append(F.flatten(F.transpose(getattr(self, f"class{scale}")(features), (0, 2, 3, 1))))
            offsets.append(F.flatten(F.transpose(getattr(self, f"offset{scale}")(features), (0, 2, 3, 1))))
        scores = F.reshape(F.concat(*classes, dim=1), (0, -1, self._classes + 1))
        return F.concat(*anchors, dim=1), scores, F.concat(*offsets, dim=1)


def step(net, trainer, losses, image, boxes):
    """Run one training step and return the mean loss."""
    class_loss, box_loss = losses
    with autograd.record():
        anchors, scores, offsets = net(image)
        with autograd.pause():
            target, mask, wanted = nd.contrib.MultiBoxTarget(
                anchors, boxes, scores.transpose((0, 2, 1)), negative_mining_ratio=3, negative_mining_thresh=0.5
            )
        kept = (wanted >= 0).expand_dims(2)  # easy background anchors are marked with -1 and ignored
        loss = class_loss(scores, wanted, kept) + 5 * box_loss(offsets * mask, target * mask)
    loss.backward()
    trainer.step(len(image))
    return loss.mean().asscalar()


def _overlap(one, other):
    return nd.contrib.box_iou(one.reshape((1, 4)), other.reshape((1, 4))).asscalar()


def overlap(net, iterator):
    """Return the mean overlap (intersection over union) of the best predicted box and the true box."""
    iterator.reset()
    found = []
    for batch in iterator:
        anchors, scores, offsets = net(batch.data[0] / 255)
        rows = nd.contrib.MultiBoxDetection(scores.softmax().transpose((0, 2, 1)), offsets, anchors)
        best = rows[:, :, 1].argmax(axis=1)  # each row: class, score, box
        true = boxes_of(batch.label[0])
        found += [_overlap(rows[i, int(best[i].asscalar()), 2:], true[i, 0, 1:]) for i in range(len(rows))]
    return float(np.mean(found))


def main(arguments=None):
    chosen = common.options(__doc__, arguments, epochs=(12, 2), examples=(800, 48))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "digits.rec"
        write_records(path, chosen.examples, np.random.default_rng(0))
        iterator = mx.io.ImageDetRecordIter(
            path_imgrec=str(path), data_shape=(3, SIDE, SIDE), batch_size=16, shuffle=True, verbose=False
        )
        net = Detector()
        net.initialize(mx.init.Xavier())
        net.hybridize()
        trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.003})
        losses = gluon.loss.SoftmaxCrossEntropyLoss(), gluon.loss.HuberLoss()
        history = []
        for epoch in range(chosen.epochs):
            iterator.reset()
            seen = [step(net, trainer, losses, b.data[0] / 255, boxes_of(b.label[0])) for b in iterator]
            history.append(float(np.mean(seen)))
            print(
                f"epoch {epoch + 1}: loss {history[-1]:.4f}, overlap with the true boxes {overlap(net, iterator):.3f}"
            )
        del iterator  # the iterator reads the file that is deleted now
    return history


if __name__ == "__main__":
    main()
