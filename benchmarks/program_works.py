"""Steps of programs as books and repositories have them, written for MXNet's API: on ReMX and on real MXNet."""

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.gluon import nn, rnn
from mxnet.gluon.model_zoo import vision


def normal(*shape):
    return nd.random.normal(shape=shape)


def whole(high, *shape):
    """Whole numbers below `high`, as floats."""
    return nd.floor(nd.random.uniform(0, high, shape=shape))


def step_of(net, forward, optimizer="adam", hybrid=True, clip=None, **options):
    """A training step: `forward(net)` gives the loss."""
    net.initialize(mx.init.Xavier())
    if hybrid:
        net.hybridize()
    options.setdefault("learning_rate", 1e-3)
    forward(net)
    trainer = gluon.Trainer(net.collect_params(), optimizer, options)
    parameters = [p for p in net.collect_params().values() if p.grad_req != "null"]

    def step():
        with autograd.record():
            loss = forward(net)
        loss.backward()
        if clip:
            gluon.utils.clip_global_norm([p.grad() for p in parameters], clip)
        trainer.step(len(loss))
        nd.waitall()

    return step


def classifying(net, shape, classes=10, **options):
    """A step of a network that tells classes."""
    data, label = normal(*shape), whole(classes, shape[0])
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    if options.get("hybrid", True):
        loss_of.hybridize()
    return step_of(net, lambda net: loss_of(net(data), label), **options)


def chain(*layers):
    net = nn.HybridSequential()
    net.add(*layers)
    return net


# Networks


def mlp_with_dropout(hybrid=True):
    layers = [nn.Dense(256, activation="relu"), nn.Dropout(0.2), nn.Dense(256, activation="relu"), nn.Dropout(0.5)]
    return classifying(chain(*layers, nn.Dense(10)), (256, 784), hybrid=hybrid)


def convolutions(channels, stride=1):
    return [
        nn.Conv2D(channels, 3, stride, 1, use_bias=False),
        nn.BatchNorm(),
        nn.Activation("relu"),
    ]


class Residual(gluon.HybridBlock):
    def __init__(self, channels, stride):
        super().__init__()
        self.body = chain(*convolutions(channels, stride), nn.Conv2D(channels, 3, 1, 1), nn.BatchNorm())
        self.shortcut = nn.Conv2D(channels, 1, stride) if stride > 1 else None

    def hybrid_forward(self, F, x):
        return F.relu(self.body(x) + (self.shortcut(x) if self.shortcut else x))


def cifar_resnet(hybrid):
    blocks = [Residual(c, s) for c, s in ((16, 1), (16, 1), (32, 2), (32, 1), (64, 2), (64, 1))]
    net = chain(*convolutions(16), *blocks, nn.GlobalAvgPool2D(), nn.Dense(10))
    return classifying(net, (32, 3, 32, 32), optimizer="sgd", momentum=0.9, wd=1e-4, hybrid=hybrid)


def text_cnn():
    class TextCNN(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.embedding = nn.Embedding(20000, 100)
            self.convs = [nn.Conv1D(100, size, activation="relu") for size in (3, 4, 5)]
            self.register_child(chain(*self.convs))
            self.pool, self.dropout, self.dense = nn.GlobalMaxPool1D(), nn.Dropout(0.5), nn.Dense(2)

        def hybrid_forward(self, F, x):
            x = self.embedding(x).transpose((0, 2, 1))
            return self.dense(self.dropout(F.concat(*[F.flatten(self.pool(c(x))) for c in self.convs], dim=1)))

    words, label = whole(20000, 64, 200), whole(2, 64)
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    return step_of(TextCNN(), lambda net: loss_of(net(words), label))


def gan():
    def up(channels, *more):
        return [nn.Conv2DTranspose(channels, 4, *more, use_bias=False), nn.BatchNorm(), nn.Activation("relu")]

    generator = chain(*up(256, 1, 0), *up(128, 2, 1), *up(64, 2, 1), *up(32, 2, 1))
    generator.add(nn.Conv2DTranspose(3, 4, 2, 1, activation="tanh"))
    judge = chain()
    for channels in (32, 64, 128, 256):
        judge.add(nn.Conv2D(channels, 4, 2, 1, use_bias=False), nn.BatchNorm(), nn.LeakyReLU(0.2))
    judge.add(nn.Conv2D(1, 4))
    both, noise = chain(generator, judge), normal(16, 100, 1, 1)
    loss_of = gluon.loss.SigmoidBCELoss()
    return step_of(both, lambda net: loss_of(net(noise).reshape((-1,)), nd.ones(16)), beta1=0.5)


class Level(gluon.HybridBlock):
    """A level of a U-Net around the next."""

    def __init__(self, channels, inner):
        super().__init__()
        self.down, self.inner = chain(*convolutions(channels), *convolutions(channels)), inner
        self.up = nn.Conv2DTranspose(channels, 2, 2) if inner else None
        self.after = chain(*convolutions(channels)) if inner else None

    def hybrid_forward(self, F, x):
        x = self.down(x)
        if self.inner is None:
            return x
        deep = self.up(self.inner(F.Pooling(x, kernel=(2, 2), stride=(2, 2), pool_type="max")))
        return self.after(F.concat(x, deep, dim=1))


def u_net():
    level = None
    for channels in (128, 64, 32, 16):
        level = Level(channels, level)
    net, data, mask = chain(level, nn.Conv2D(2, 1)), normal(4, 3, 96, 96), whole(2, 4, 96, 96)
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss(axis=1)
    return step_of(net, lambda net: loss_of(net(data), mask))


def style_transfer():
    """Changing an image by the gradients of a network's features."""
    features = vision.vgg11().features[:11]
    features.initialize()
    features.hybridize()
    image = normal(1, 3, 128, 128)
    image.attach_grad()

    def step():
        with autograd.record():
            found = features(image).reshape((0, 0, -1))[0]
            gram = nd.dot(found, found, transpose_b=True) / found.size
            loss = (gram**2).sum() + (image[:, :, 1:] - image[:, :, :-1]).abs().mean()
        loss.backward()
        image[:] -= 0.1 * image.grad
        nd.waitall()

    return step


def tiny_ssd():
    """The detector of a book: anchors, targets, two losses."""
    base = chain()
    for channels in (16, 32, 64):
        base.add(*convolutions(channels), *convolutions(channels), nn.MaxPool2D(2))
    classes, boxes = nn.Conv2D(4 * 2, 3, padding=1), nn.Conv2D(4 * 4, 3, padding=1)
    net, data = chain(base, classes, boxes), normal(8, 3, 128, 128)
    corners = nd.random.uniform(0, 0.5, shape=(8, 1, 2))
    label = nd.concat(nd.zeros((8, 1, 1)), corners, corners + 0.4, dim=2)
    class_loss, box_loss = gluon.loss.SoftmaxCrossEntropyLoss(), gluon.loss.L1Loss()

    def forward(_):
        found = base(data)
        anchors = nd.contrib.MultiBoxPrior(found, sizes=(0.2, 0.3), ratios=(1, 2, 0.5))
        scores = classes(found).transpose((0, 2, 3, 1)).reshape((0, -1, 2))
        places = boxes(found).transpose((0, 2, 3, 1)).flatten()
        target, mask, wanted = nd.contrib.MultiBoxTarget(anchors, label, scores.transpose((0, 2, 1)))
        return class_loss(scores, wanted) + box_loss(places * mask, target * mask)

    for part in (base, classes, boxes):
        part.initialize(mx.init.Xavier())
        part.hybridize()
    forward(None)
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1, "wd": 5e-4})

    def step():
        with autograd.record():
            loss = forward(None)
        loss.backward()
        trainer.step(8)
        nd.waitall()

    return step


# Sequences


def language_model(kind, cells=False, **options):
    """Words to words: 35 steps, a batch of 32, as in the books."""

    class Model(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.embedding, self.dense = nn.Embedding(5000, 128), nn.Dense(5000, flatten=False)
            self.dropout = nn.Dropout(0.2)
            self.rnn = getattr(rnn, kind + "Cell" if cells else kind)(128, **options)

        def hybrid_forward(self, F, words):
            x = self.dropout(self.embedding(words))
            x = self.rnn.unroll(35, x, layout="TNC", merge_outputs=True)[0] if cells else self.rnn(x)
            return self.dense(self.dropout(x))

    words, following = whole(5000, 35, 32), whole(5000, 35, 32)
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    return step_of(Model(), lambda net: loss_of(net(words), following), "sgd", clip=0.25)


def rnn_from_scratch():
    weights = [normal(28, 256) * 0.01, normal(256, 256) * 0.01, nd.zeros(256), normal(256, 28) * 0.01, nd.zeros(28)]
    for weight in weights:
        weight.attach_grad()
    inputs, labels = nd.one_hot(whole(28, 35, 32), 28), whole(28, 35 * 32)
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()

    def step():
        w_in, w_hidden, b_hidden, w_out, b_out = weights
        with autograd.record():
            state, outputs = nd.zeros((32, 256)), []
            for x in inputs:
                state = nd.tanh(nd.dot(x, w_in) + nd.dot(state, w_hidden) + b_hidden)
                outputs.append(nd.dot(state, w_out) + b_out)
            loss = loss_of(nd.concat(*outputs, dim=0), labels).mean()
        loss.backward()
        norm = sum((w.grad**2).sum() for w in weights).sqrt().asscalar()
        for weight in weights:
            weight[:] -= 0.1 * min(1, 1 / norm) * weight.grad
        nd.waitall()

    return step


def translation():
    """Encoder, decoder with attention, masked loss."""

    class Model(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.source, self.target = nn.Embedding(3000, 128), nn.Embedding(3000, 128)
            self.encoder, self.decoder = rnn.GRU(128, layout="NTC"), rnn.GRU(128, layout="NTC")
            self.dense = nn.Dense(3000, flatten=False)

        def hybrid_forward(self, F, source, target, lengths):
            memory, queries = self.encoder(self.source(source)), self.decoder(self.target(target))
            scores = F.batch_dot(queries, memory, transpose_b=True).transpose((2, 0, 1))
            scores = F.SequenceMask(scores, lengths, use_sequence_length=True, value=-1e6).transpose((1, 2, 0))
            context = F.batch_dot(F.softmax(scores), memory)
            return self.dense(F.concat(context, queries, dim=2))

    source, target, lengths = whole(3000, 32, 20), whole(3000, 32, 20), nd.arange(32) % 20 + 1
    weights = nd.SequenceMask(nd.ones((20, 32, 1)), lengths, use_sequence_length=True).transpose((1, 0, 2))
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    return step_of(Model(), lambda net: loss_of(net(source, target, lengths), target, weights))


class TransformerBlock(gluon.HybridBlock):
    def __init__(self, units, heads):
        super().__init__()
        self.units, self.heads = units, heads
        self.query, self.key, self.value, self.out = (nn.Dense(units, flatten=False) for _ in range(4))
        self.first, self.second = nn.Dense(4 * units, activation="relu", flatten=False), nn.Dense(units, flatten=False)
        self.norms = chain(nn.LayerNorm(), nn.LayerNorm())
        self.dropout = nn.Dropout(0.1)

    def split(self, x):
        x = x.reshape((0, 0, self.heads, -1)).transpose((0, 2, 1, 3))
        return x.reshape((-1, 0, 0), reverse=True)

    def hybrid_forward(self, F, x):
        query, key, value = (self.split(part(x)) for part in (self.query, self.key, self.value))
        scores = F.batch_dot(query, key, transpose_b=True) / (self.units / self.heads) ** 0.5
        mixed = F.batch_dot(self.dropout(F.softmax(scores)), value).reshape((-1, self.heads, 0, 0), reverse=True)
        mixed = mixed.transpose((0, 2, 1, 3)).reshape((0, 0, -1))
        x = self.norms[0](x + self.dropout(self.out(mixed)))
        return self.norms[1](x + self.dropout(self.second(self.first(x))))


def transformer(hybrid):
    net = chain(TransformerBlock(256, 4), TransformerBlock(256, 4), nn.Dense(10))
    return classifying(net, (16, 40, 256), hybrid=hybrid)


def reading():
    """Letters of an image's columns: a bidirectional LSTM and CTC."""
    net = chain(rnn.LSTM(128, 2, layout="NTC", bidirectional=True), nn.Dense(40, flatten=False))
    data, label, loss_of = normal(16, 60, 64), whole(38, 16, 12), gluon.loss.CTCLoss()
    return step_of(net, lambda net: loss_of(net(data), label))


# Words, users, sparse features


def word_vectors(sparse):
    centers, contexts = whole(20000, 256, 1), whole(20000, 256, 30)
    label, mask = whole(2, 256, 30), nd.ones((256, 30))
    net = chain(*(nn.Embedding(20000, 100, sparse_grad=sparse) for _ in range(2)))
    loss_of = gluon.loss.SigmoidBCELoss()

    def forward(net):
        scores = nd.batch_dot(net[0](centers), net[1](contexts).swapaxes(1, 2))
        return loss_of(scores.reshape(label.shape), label, mask)

    return step_of(net, forward, hybrid=False)


def recommender():
    users, items, ratings = whole(6000, 512), whole(4000, 512), whole(5, 512)
    parts = chain(nn.Embedding(6000, 32), nn.Embedding(4000, 32), nn.Embedding(6000, 1), nn.Embedding(4000, 1))
    loss_of = gluon.loss.L2Loss()

    def forward(net):
        product = (net[0](users) * net[1](items)).sum(axis=1, keepdims=True)
        return loss_of(product + net[2](users) + net[3](items), ratings)

    return step_of(parts, forward, hybrid=False)


def sparse_regression():
    """Rows of few features out of many, FTRL, as in click prediction."""
    features = mx.test_utils.rand_ndarray((256, 100000), "csr", density=0.001)
    label, loss_of = whole(2, 256), gluon.loss.SigmoidBCELoss()
    weight, bias = normal(100000, 1).tostype("row_sparse"), nd.zeros(1)
    weight.attach_grad(stype="row_sparse")
    bias.attach_grad()
    update = mx.optimizer.get_updater(mx.optimizer.Ftrl(learning_rate=0.1))

    def step():
        with autograd.record():
            loss = loss_of(nd.sparse.dot(features, weight) + bias, label)
        loss.backward()
        update(0, weight.grad, weight)
        update(1, bias.grad, bias)
        nd.waitall()

    return step


def factorization_machine():
    """One of 10,000 features, 39 of them in a row, as click prediction has them."""
    width, rank, batch, filled = 10000, 16, 512, 39
    places = mx.nd.random.randint(0, width, shape=(batch, filled)).asnumpy()
    places.sort(axis=1)
    starts = list(range(0, batch * filled + 1, filled))
    features = nd.sparse.csr_matrix((nd.ones(batch * filled), places.ravel(), starts), shape=(batch, width))
    label, loss_of = whole(2, batch), gluon.loss.SigmoidBCELoss()
    factors, weight, bias = normal(width, rank) * 0.01, normal(width, 1) * 0.01, nd.zeros(1)
    parameters = [factors.tostype("row_sparse"), weight.tostype("row_sparse"), bias]
    for array in parameters:
        array.attach_grad(stype=array.stype)
    factors, weight, bias = parameters
    update = mx.optimizer.get_updater(mx.optimizer.Adam(learning_rate=1e-3, lazy_update=True))

    def step():
        with autograd.record():
            mixed = nd.sparse.dot(features, factors)
            alone = nd.sparse.dot(nd.sparse.square(features), nd.sparse.square(factors))
            score = nd.sparse.dot(features, weight) + bias + 0.5 * (mixed.square() - alone).sum(axis=1, keepdims=True)
            loss = loss_of(score, label)
        loss.backward()
        for index, array in enumerate(parameters):
            update(index, array.grad, array)
        nd.waitall()

    return step


# The classic interface


def symbols(kind):
    data = mx.sym.var("data")
    if kind == "mlp":
        net = mx.sym.Activation(mx.sym.FullyConnected(data, num_hidden=256), act_type="relu")
    else:
        net = mx.sym.Convolution(data, kernel=(5, 5), num_filter=20)
        net = mx.sym.Pooling(mx.sym.Activation(net, act_type="tanh"), kernel=(2, 2), stride=(2, 2), pool_type="max")
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.flatten(net), num_hidden=10), name="softmax")


def module(kind, shape):
    iterator = mx.io.NDArrayIter(normal(*shape), whole(10, shape[0]), 64)
    model = mx.mod.Module(symbols(kind))
    model.bind(iterator.provide_data, iterator.provide_label)
    model.init_params(mx.init.Xavier())
    model.init_optimizer(optimizer_params=(("learning_rate", 0.01), ("momentum", 0.9)))
    metric = mx.metric.Accuracy()

    def step():
        iterator.reset()
        metric.reset()
        for batch in iterator:
            model.forward_backward(batch)
            model.update()
            model.update_metric(metric, batch.label)
        metric.get()

    return step


def bucketing():
    def generate(length):
        stack = mx.rnn.SequentialRNNCell()
        stack.add(mx.rnn.LSTMCell(num_hidden=100, prefix="lstm_"))
        data, label = mx.sym.var("data"), mx.sym.var("softmax_label")
        embedded = mx.sym.Embedding(data, input_dim=1000, output_dim=64)
        stack.reset()
        outputs, _ = stack.unroll(length, embedded, merge_outputs=True)
        scores = mx.sym.FullyConnected(mx.sym.reshape(outputs, (-1, 100)), num_hidden=1000)
        return mx.sym.SoftmaxOutput(scores, mx.sym.reshape(label, (-1,)), name="softmax"), ("data",), ("softmax_label",)

    model = mx.mod.BucketingModule(generate, default_bucket_key=30)
    model.bind([("data", (32, 30))], [("softmax_label", (32, 30))])
    model.init_params(mx.init.Xavier())
    model.init_optimizer(optimizer="adam")
    batches = [
        mx.io.DataBatch([whole(1000, 32, n)], [whole(1000, 32, n)], bucket_key=n,
                        provide_data=[("data", (32, n))], provide_label=[("softmax_label", (32, n))])
        for n in (10, 20, 30)
    ]  # fmt: skip

    def step():
        for batch in batches:
            model.forward_backward(batch)
            model.update()
        nd.waitall()

    return step


# What is around the networks


def linear_regression_from_scratch():
    features, labels = normal(1000, 2), normal(1000, 1)
    weight, bias = normal(2, 1), nd.zeros(1)
    for array in (weight, bias):
        array.attach_grad()

    def step():
        for first in range(0, 1000, 10):
            chosen = nd.array(range(first, first + 10))
            x, y = features.take(chosen), labels.take(chosen)
            with autograd.record():
                loss = (nd.dot(x, weight) + bias - y) ** 2 / 2
            loss.backward()
            for array in (weight, bias):
                array[:] = array - 0.03 * array.grad / 10
        float(((nd.dot(features, weight) + bias - labels) ** 2).mean().asscalar())

    return step


def beginning(name):
    """Making and initializing a network."""

    def step():
        net = getattr(vision, name)()
        net.initialize(mx.init.Xavier())
        net(nd.zeros((1, 3, 64, 64))).wait_to_read()

    return step


def loading(workers):
    images = (mx.nd.random.uniform(0, 255, shape=(1024, 28, 28, 1))).astype("uint8")
    labels = whole(10, 1024).asnumpy()
    dataset = gluon.data.ArrayDataset(images.asnumpy(), labels)
    transform = gluon.data.vision.transforms.ToTensor()
    dataset = dataset.transform_first(lambda image: transform(nd.array(image, dtype="uint8")))
    loader = gluon.data.DataLoader(dataset, 64, shuffle=True, num_workers=workers)

    def step():
        for data, _ in loader:
            data.wait_to_read()

    return step


def metrics():
    scores, label = nd.softmax(normal(256, 1000)), whole(1000, 256)
    every = mx.metric.CompositeEvalMetric([mx.metric.Accuracy(), mx.metric.TopKAccuracy(5), mx.metric.CrossEntropy()])

    def step():
        every.update([label], [scores])
        every.get()

    return step


def predicting(name, size=224):
    net, data = getattr(vision, name)(), normal(1, 3, size, size)
    net.initialize(mx.init.Xavier())
    net.hybridize(static_alloc=True, static_shape=True)
    return lambda: net(data).wait_to_read()


def works():
    """name -> a function that prepares the work and returns one run of it."""
    table = {
        "MLP with dropout": mlp_with_dropout,
        "MLP with dropout, eager": lambda: mlp_with_dropout(False),
        "small ResNet, 32 x 32": lambda: cifar_resnet(True),
        "small ResNet, eager": lambda: cifar_resnet(False),
        "AlexNet learns, batch 8": lambda: classifying(vision.alexnet(), (8, 3, 224, 224), 1000, optimizer="sgd"),
        "MobileNet learns, batch 4": lambda: classifying(vision.mobilenet0_5(), (4, 3, 224, 224), 1000),
        "text CNN": text_cnn,
        "DCGAN": gan,
        "U-Net": u_net,
        "style transfer": style_transfer,
        "SSD of a book": tiny_ssd,
        "GRU language model": lambda: language_model("GRU"),
        "LSTM language model": lambda: language_model("LSTM"),
        "RNN language model": lambda: language_model("RNN"),
        "LSTM cells, unrolled": lambda: language_model("LSTM", cells=True),
        "RNN from scratch": rnn_from_scratch,
        "translation with attention": translation,
        "transformer": lambda: transformer(True),
        "transformer, eager": lambda: transformer(False),
        "reading with CTC": reading,
        "word vectors": lambda: word_vectors(False),
        "word vectors, sparse": lambda: word_vectors(True),
        "recommender": recommender,
        "sparse regression, FTRL": sparse_regression,
        "Module, MLP": lambda: module("mlp", (640, 784)),
        "Module, convolutions": lambda: module("cnn", (640, 1, 28, 28)),
        "BucketingModule": bucketing,
        "linear regression from scratch": linear_regression_from_scratch,
        "ResNet-50 begins": lambda: beginning("resnet50_v1"),
        "VGG-11 begins": lambda: beginning("vgg11"),
        "DataLoader, 1,024 images": lambda: loading(0),
        "DataLoader, two workers": lambda: loading(2),
        "metrics": metrics,
    }
    for name, size in (("densenet121", 224), ("inception_v3", 299), ("vgg11", 224), ("squeezenet1_1", 224),
                       ("alexnet", 224), ("mobilenet1_0", 224), ("resnet50_v2", 224)):  # fmt: skip
        table[f"{name} predicts"] = lambda n=name, s=size: predicting(n, s)
    return table
