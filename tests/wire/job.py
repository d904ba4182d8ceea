"""What the jobs of these tests run: python job.py train KIND FOLDER, python job.py resumed KIND FOLDER STEPS."""

import itertools
import os
import sys
import time

import numpy as np

import mxnet as mx

STEPS = 5


def say(text):
    """One line in one piece: several workers write to the same pipe."""
    os.write(1, f"{text}\n".encode())


def network():
    mx.random.seed(3)
    net = mx.gluon.nn.Dense(4, in_units=6)
    net.initialize(mx.init.Xavier())
    return net


def gradient_step(net, trainer, rank, step):
    data = mx.nd.array(np.random.default_rng([rank, step]).normal(size=(8, 6)))
    target = data[:, :4] + rank
    with mx.autograd.record():
        loss = ((net(data) - target) ** 2).sum()
    loss.backward()
    trainer.step(8)


def here(folder, name):
    return os.path.exists(os.path.join(folder, name))


def wait_for(file):
    while not os.path.exists(file):
        time.sleep(0.01)


def meet(folder):
    """Wait until all have loaded what they need: on a busy machine that takes longer than some of them may wait."""
    net = network()
    gradient_step(net, mx.gluon.Trainer(net.collect_params(), "sgd", kvstore=None), 0, 0)
    attempt = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
    with open(os.path.join(folder, f"loaded-{attempt}-{os.environ['DMLC_WORKER_ID']}"), "w"):
        pass
    for rank in range(int(os.environ["DMLC_NUM_WORKER"])):
        wait_for(os.path.join(folder, f"loaded-{attempt}-{rank}"))


def train(kind, folder):
    """Train until the file `enough` is there."""
    store, net = mx.kv.create(kind), network()
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.05}, kvstore=store)
    for step in itertools.count():
        gradient_step(net, trainer, store.rank, step)
        if step == STEPS:
            say(f"worker {store.rank} is process {os.getpid()}")
        if step >= STEPS and here(folder, "enough"):
            break
        time.sleep(0.02)
    say("ok")


def wait_if_told():
    """The last worker joins when the file LAST_WAITS_FOR is there: until then the others' ports stay open."""
    file = os.environ.get("LAST_WAITS_FOR")
    if file and int(os.environ["DMLC_WORKER_ID"]) == int(os.environ["DMLC_NUM_WORKER"]) - 1:
        wait_for(file)


def resumed(kind, folder, steps):
    """Train `steps` steps with a checkpoint after each; goes on from the last one. Weights go to a file.

    All wait before step HOLD_AT for the file `go`.
    """
    wait_if_told()
    hold = int(os.environ.get("HOLD_AT", "-1"))
    if hold >= 0:
        meet(folder)
    store, net = mx.kv.create(kind), network()
    path, begin = os.path.join(folder, "checkpoint.params"), 0
    if here(folder, "checkpoint.params"):
        saved = mx.nd.load(path)
        begin = int(saved["step"].asscalar())
        for name, param in net._collect_params_with_prefix().items():
            param.set_data(saved[name])
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.05}, kvstore=store)
    say(f"worker {store.rank} begins with step {begin} as process {os.getpid()}")
    for step in range(begin, int(steps)):
        if step == hold:
            wait_for(os.path.join(folder, "go"))
        gradient_step(net, trainer, store.rank, step)
        store.barrier()
        if store.rank == 0:
            values = {name: param.data() for name, param in net._collect_params_with_prefix().items()}
            mx.nd.save(path, {**values, "step": mx.nd.array([step + 1])})
        store.barrier()
        time.sleep(float(os.environ.get("PAUSE", "0")))
    if store.rank == 0:
        net.save_parameters(os.path.join(folder, "end.params"))
    say("ok")


def hanging(kind, folder):
    """The last worker's program hangs somewhere else than in the store, while the others train."""
    meet(folder)
    store, net = mx.kv.create(kind), network()
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.05}, kvstore=store)
    for step in itertools.count():
        gradient_step(net, trainer, store.rank, step)
        if store.rank == store.num_workers - 1 and step == STEPS:
            say(f"worker {store.rank} hangs")
            time.sleep(600)
        time.sleep(0.02)


def raising(kind):
    """The last worker has a fault of its own while the others wait for it."""
    store = mx.kv.create(kind)
    if store.rank == store.num_workers - 1:
        raise KeyError("a fault of the program")
    store.barrier()


if __name__ == "__main__":
    {"train": train, "resumed": resumed, "hanging": hanging, "raising": raising}[sys.argv[1]](*sys.argv[2:])
