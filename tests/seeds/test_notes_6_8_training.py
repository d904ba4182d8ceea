# ruff: noqa
"""Chapters 6 to 8 of the long Gluon notes (seed 002): optimizers, hybridize, several devices, augmentation, fine-tuning."""

import random
import mxnet as mx
import numpy as np
import pytest


@pytest.mark.parametrize(
    "name, parameters",
    [
        ("sgd", {"learning_rate": 0.2}),
        ("sgd", {"learning_rate": 0.2, "momentum": 0.9}),
        ("adagrad", {"learning_rate": 0.2}),
        ("rmsprop", {"learning_rate": 0.03, "gamma1": 0.999}),
        ("adadelta", {"rho": 0.9999}),
        ("adam", {"learning_rate": 0.1}),
    ],
)
def test_6_optimizers(name, parameters):
    from mxnet import autograd, gluon, nd

    net = gluon.nn.Dense(1)
    net.initialize()
    trainer = gluon.Trainer(net.collect_params(), name, parameters)
    losses = []
    for epoch in range(4):
        # 学习率在2个epoch后自我衰减
        if epoch > 2:
            trainer.set_learning_rate(trainer.learning_rate * 0.1)
        with autograd.record():
            loss = gluon.loss.L2Loss()(net(nd.ones((4, 2))), nd.ones((4,)))
        loss.backward()
        trainer.step(4)
        losses.append(loss.mean().asscalar())
    assert losses[-1] < losses[0]


def test_7_1_hybridize(capsys):
    from mxnet.gluon import nn
    from mxnet import nd

    net = nn.HybridSequential()
    with net.name_scope():
        net.add(nn.Dense(256, activation="relu"), nn.Dense(128, activation="relu"), nn.Dense(2))
    net.initialize()
    net.hybridize()  # 2倍速度
    assert net(nd.ones((1, 512))).shape == (1, 2)

    class HybridNet(nn.HybridBlock):
        def __init__(self, **kwargs):
            super(HybridNet, self).__init__(**kwargs)
            with self.name_scope():
                self.fc1 = nn.Dense(10)
                self.fc2 = nn.Dense(2)

        def hybrid_forward(self, F, x):
            print(F)
            x = F.relu(self.fc1(x))
            return self.fc2(x)

    net = HybridNet()
    net.initialize()
    x = nd.random.normal(shape=(1, 4))
    y = net(x)  # module 'mxnet.ndarray'
    assert capsys.readouterr().out.startswith("<module 'mxnet.ndarray'")

    net.hybridize()
    y = net(x)
    # module 'mxnet.symbol',另外，输入和中间输出都变成了symbol
    assert capsys.readouterr().out.startswith("<module 'mxnet.symbol'")
    y = net(x)
    # 无输出，因为将输入替换成Symbol来构建符号式的程序。
    assert capsys.readouterr().out == ""
    y.wait_to_read()
    nd.waitall()


def test_7_4_several_devices():
    from mxnet import gluon, nd
    from test_notes_4_networks import lenet

    ctx = [mx.cpu(0), mx.cpu(1)]
    net = lenet()
    net.initialize(ctx=ctx)
    x = nd.random.uniform(shape=(4, 1, 28, 28))
    x_list = gluon.utils.split_and_load(x, ctx)
    assert [net(part).context for part in x_list] == ctx


def encoded(color, size=40, format="PNG"):
    """The bytes of a small picture, brighter to the right."""
    import io
    from PIL import Image

    pixels = np.full((size, size + 8, 3), color, "uint8") // 2 + np.arange(size + 8, dtype="uint8")[None, :, None]
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, format)
    return buffer.getvalue()


def test_8_1_augmentation(tmp_path):
    from mxnet import gluon, image, nd

    random.seed(1)  # else, once in 256 runs, none or all of nine pictures are flipped
    (tmp_path / "cat1.png").write_bytes(encoded((200, 100, 50)))

    img = image.imdecode(open(str(tmp_path / "cat1.png"), "rb").read())
    shown = []

    def apply(img, aug, n=3):
        # 转成float，一是因为aug需要float类型数据来方便做变化。
        # 二是这里会有一次copy操作，因为有些aug直接通过改写输入（而不是新建输出）获取性能的提升
        X = [aug(img.astype("float32")) for _ in range(n * n)]
        # 有些aug不保证输入是合法值，所以做一次clip
        # 显示浮点图片时imshow要求输入在[0,1]之间
        Y = nd.stack(*X).clip(0, 255) / 255
        shown.append(Y)

    ## 以.5的概率做翻转
    aug = image.HorizontalFlipAug(0.5)
    apply(img, aug)
    ## 随机裁剪一个块 200 x 200 的区域
    aug = image.RandomCropAug([20, 20])
    apply(img, aug)
    ## 随机裁剪一块随机大小的区域
    aug = image.RandomSizedCropAug((20, 20), 0.1, (0.5, 2))
    apply(img, aug)
    ## 随机将亮度增加或者减小在0-50%间的一个量
    aug = image.BrightnessJitterAug(0.5)
    apply(img, aug)
    ## 随机色调变化
    aug = image.HueJitterAug(0.5)
    apply(img, aug)
    assert [Y.shape for Y in shown] == [(9, 40, 48, 3), (9, 20, 20, 3), (9, 20, 20, 3), (9, 40, 48, 3), (9, 40, 48, 3)]
    assert all(0 <= Y.min().asscalar() and Y.max().asscalar() <= 1 for Y in shown)
    flipped = {float(v) for v in shown[0][:, 0, 0, 0].asnumpy()}
    assert len(flipped) == 2

    def apply_aug_list(img, augs):
        for f in augs:
            img = f(img)
        return img

    def get_transform(augs):
        def transform(data, label):
            # data: sample x height x width x channel label: sample
            data = data.astype("float32")
            if augs is not None:
                data = nd.stack(*[apply_aug_list(d, augs) for d in data])
            data = nd.transpose(data, (0, 3, 1, 2))  # sample x channel x height x width
            return data, label.astype("float32")

        return transform

    data, label = get_transform([image.HorizontalFlipAug(0.5), image.RandomCropAug((16, 16))])(
        nd.zeros((5, 32, 32, 3), dtype="uint8"), nd.arange(5)
    )
    assert data.shape == (5, 3, 16, 16) and label.dtype == np.float32


def test_8_2_fine_tuning(tmp_path, monkeypatch, capsys):
    import hashlib, io, zipfile
    import requests
    from time import time
    from mxnet import autograd, gluon

    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        for part in ("train", "test"):
            for kind, color in (("hotdog", (220, 60, 60)), ("not-hotdog", (60, 60, 220))):
                for i in range(2):
                    file.writestr(f"hotdog/{part}/{kind}/{i}.png", encoded(color))
    content = archive.getvalue()

    class Answer:
        status_code = 200

        def iter_content(self, chunk_size):
            yield content

    monkeypatch.setattr(requests, "get", lambda url, **kwargs: Answer())

    ## 获取数据集
    data_dir = str(tmp_path)
    fname = gluon.utils.download(
        "https://apache-mxnet.s3-accelerate.amazonaws.com/gluon/dataset/hotdog.zip",
        path=data_dir,
        sha1_hash=hashlib.sha1(content).hexdigest(),
    )

    with zipfile.ZipFile(fname, "r") as f:
        f.extractall(data_dir)
    ## 图片增强
    from mxnet import nd
    from mxnet import image
    from mxnet import gluon

    train_augs = [image.HorizontalFlipAug(0.5), image.RandomCropAug((32, 32))]
    test_augs = [image.CenterCropAug((32, 32))]

    def transform(data, label, augs):
        data = data.astype("float32")
        for aug in augs:
            data = aug(data)
        data = nd.transpose(data, (2, 0, 1))
        return data, nd.array([label]).asscalar().astype("float32")

    train_imgs = gluon.data.vision.ImageFolderDataset(
        data_dir + "/hotdog/train", transform=lambda X, y: transform(X, y, train_augs)
    )
    test_imgs = gluon.data.vision.ImageFolderDataset(
        data_dir + "/hotdog/test", transform=lambda X, y: transform(X, y, test_augs)
    )
    ## 读取数据
    data = gluon.data.DataLoader(train_imgs, 32, shuffle=True)
    ## 获取预训练模型
    from mxnet.gluon.model_zoo import vision as models

    pretrained_net = models.resnet18_v2()  # pretrained_net = features + output
    pretrained_net.initialize()
    pretrained_net(nd.ones((1, 3, 32, 32)))
    ## 模型定义
    from mxnet import init

    finetune_net = models.resnet18_v2(classes=2)
    finetune_net.features = pretrained_net.features  # features与预训练模型一致
    finetune_net.output.initialize(init.Xavier())  # 仅初始化output部分

    def _get_batch(batch, ctx):
        if isinstance(batch, mx.io.DataBatch):
            data, label = batch.data[0], batch.label[0]
        else:
            data, label = batch
        return (gluon.utils.split_and_load(data, ctx), gluon.utils.split_and_load(label, ctx), data.shape[0])

    def evaluate_accuracy(data_iterator, net, ctx):
        acc = n = 0
        for batch in data_iterator:
            data, label, batch_size = _get_batch(batch, ctx)
            for X, y in zip(data, label):
                acc += (net(X).argmax(axis=1) == y).sum().asscalar()
                n += y.size
        return acc / n

    class utils:
        @staticmethod
        def train(train_data, test_data, net, loss, trainer, ctx, num_epochs, print_batches=None):
            """Train a network"""
            print("Start training on ", ctx)
            if isinstance(ctx, mx.Context):
                ctx = [ctx]
            for epoch in range(num_epochs):
                train_loss, train_acc, n, m = 0.0, 0.0, 0.0, 0.0
                if isinstance(train_data, mx.io.MXDataIter):
                    train_data.reset()
                start = time()
                for i, batch in enumerate(train_data):
                    data, label, batch_size = _get_batch(batch, ctx)
                    losses = []
                    with autograd.record():
                        outputs = [net(X) for X in data]
                        losses = [loss(yhat, y) for yhat, y in zip(outputs, label)]
                    for l in losses:
                        l.backward()
                    train_acc += sum([(yhat.argmax(axis=1) == y).sum().asscalar() for yhat, y in zip(outputs, label)])
                    train_loss += sum([l.sum().asscalar() for l in losses])
                    trainer.step(batch_size)
                    n += batch_size
                    m += sum([y.size for y in label])
                    if print_batches and (i + 1) % print_batches == 0:
                        print("Batch %d. Loss: %f, Train acc %f" % (n, train_loss / n, train_acc / m))

                test_acc = evaluate_accuracy(test_data, net, ctx)
                print(
                    "Epoch %d. Loss: %.3f, Train acc %.2f, Test acc %.2f, Time %.1f sec"
                    % (epoch, train_loss / n, train_acc / m, test_acc, time() - start)
                )

    ## 训练
    def train(net, ctx, batch_size=64, epochs=10, learning_rate=0.01, wd=0.001):
        train_data = gluon.data.DataLoader(train_imgs, batch_size, shuffle=True)
        test_data = gluon.data.DataLoader(test_imgs, batch_size)
        net.collect_params().reset_ctx(ctx)  # 确保net的初始化在ctx上
        net.hybridize()
        loss = gluon.loss.SoftmaxCrossEntropyLoss()
        trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": learning_rate, "wd": wd})
        utils.train(train_data, test_data, net, loss, trainer, ctx, epochs)

    train(finetune_net, [mx.cpu(0), mx.cpu(1)], batch_size=4, epochs=2)
    assert "Epoch 1. Loss: " in capsys.readouterr().out
