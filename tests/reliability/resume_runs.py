"""Training runs that can be killed after some epoch and started again; the last line is a hash of the weights."""

import hashlib
import os
import signal
import sys

import numpy as np

import mxnet as mx
from mxnet import gluon

EPOCHS = 4


def digest(arrays):
    return hashlib.sha256(b"".join(array.asnumpy().tobytes() for array in arrays)).hexdigest()


def data():
    rng = np.random.RandomState(0)
    return rng.rand(24, 5).astype("float32"), rng.randint(0, 3, 24).astype("float32")


def network():
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dense(8, in_units=5, activation="relu"), gluon.nn.Dropout(0.5), gluon.nn.Dense(3, in_units=8))
    net.initialize(mx.init.Xavier())
    return net


def trainer_of(net):
    schedule = mx.lr_scheduler.FactorScheduler(step=3, factor=0.8, base_lr=0.1)
    return gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.1, "lr_scheduler": schedule})


def die_after(epoch, last):
    if epoch == last:
        os.kill(os.getpid(), signal.SIGKILL)


def loop(folder, last):
    """A plain Gluon loop: the recipe of docs/reliability.md."""
    net, loss = network(), gluon.loss.SoftmaxCrossEntropyLoss()
    trainer = trainer_of(net)
    loader = gluon.data.DataLoader(gluon.data.ArrayDataset(*data()), batch_size=6, shuffle=True)
    prefix, progress = os.path.join(folder, "net"), os.path.join(folder, "progress")
    start = 0
    if os.path.exists(progress):
        start = mx.model.load_progress(progress)["epoch"]
        net.load_parameters(f"{prefix}-{start:04d}.params")
        trainer.load_states(f"{prefix}-{start:04d}.states")
    for epoch in range(start, EPOCHS):
        for x, y in loader:
            with mx.autograd.record():
                value = loss(net(x), y)
            value.backward()
            trainer.step(len(x))
        net.save_parameters(f"{prefix}-{epoch + 1:04d}.params")
        trainer.save_states(f"{prefix}-{epoch + 1:04d}.states")
        mx.model.save_progress(progress, epoch=epoch + 1)
        die_after(epoch, last)
    return [p.data() for p in net.collect_params().values()]


def estimator(folder, last):
    """`fit(resume="auto")`; the handler that kills comes after the one that saves."""
    from mxnet.gluon.contrib.estimator import Estimator
    from mxnet.gluon.contrib.estimator.event_handler import EpochEnd

    class Killer(EpochEnd):
        priority, epoch = float("inf"), -1

        def epoch_end(self, estimator, *args, **kwargs):
            self.epoch += 1
            die_after(self.epoch, last)

    net = network()
    loader = gluon.data.DataLoader(gluon.data.ArrayDataset(*data()), batch_size=6, shuffle=True)
    fitting = Estimator(net, gluon.loss.SoftmaxCrossEntropyLoss(), trainer=trainer_of(net))
    fitting.fit(loader, epochs=EPOCHS, event_handlers=[Killer()], resume="auto", resume_dir=folder)
    return [p.data() for p in net.collect_params().values()]


def module(folder, last):
    """Module with checkpoints of parameters and optimizer states."""
    prefix = os.path.join(folder, "net")
    hidden = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=8, name="a")
    out = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.Dropout(hidden), num_hidden=3, name="b"), name="softmax")
    done = mx.model.latest_checkpoint(prefix)
    if done is None:
        mod, done = mx.mod.Module(out), 0
    else:
        mod = mx.mod.Module.load(prefix, done, load_optimizer_states=True)
    batches = mx.io.NDArrayIter(*data(), batch_size=6)
    mod.bind(batches.provide_data, batches.provide_label)
    mod.init_params(mx.init.Xavier())
    mod.init_optimizer(optimizer="sgd", optimizer_params={"learning_rate": 0.1, "momentum": 0.9})
    if done:
        mx.model.load_progress(f"{prefix}-{done:04d}.progress")
    for epoch in range(done, EPOCHS):
        batches.reset()
        for batch in batches:
            mod.forward_backward(batch)
            mod.update()
        mx.model.save_progress(f"{prefix}-{epoch + 1:04d}.progress")
        mod.save_checkpoint(prefix, epoch + 1, save_optimizer_states=True)
        die_after(epoch, last)
    arguments, _ = mod.get_params()
    return [arguments[name] for name in sorted(arguments)]


RUNS = {"loop": loop, "estimator": estimator, "module": module}

if __name__ == "__main__":
    mx.random.seed(3)
    np.random.seed(4)
    print(digest(RUNS[sys.argv[1]](sys.argv[2], int(sys.argv[3]))))
