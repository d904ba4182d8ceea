"""A program whose workers come and go: `elastic_worker.py FOLDER STEPS KIND`; it goes on from the last common step."""

import os
import sys
import time

import numpy as np

import mxnet as mx

TOTAL = 12  # rows of a batch, whatever the number of workers


def say(text):
    os.write(1, f"{text}\n".encode())  # in one piece: several workers write to the same pipe


def main(folder, steps, kind="plain"):
    store = mx.kv.create("dist_sync")
    mx.random.seed(3)
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Dense(8, activation="tanh", in_units=6), mx.gluon.nn.Dense(4, in_units=8))
    net.initialize(mx.init.Xavier())
    settings = {"learning_rate": 0.05, "momentum": 0.9}
    options = {"update_on_kvstore": False, "shard_optimizer": kind == "shards"}
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", settings, store, **options)
    run = mx.checkpoint.Run(os.path.join(folder, "run"), net, trainer, store=store)
    run.resume()
    begin = run.values.get("step", 0)
    say(f"worker {store.rank} of {store.num_workers} begins with step {begin} as process {os.getpid()}")
    share = TOTAL // store.num_workers
    for step in range(begin, int(steps)):
        data = np.random.RandomState(step).normal(size=(TOTAL, 6)).astype("float32")
        x = mx.nd.array(data[store.rank * share : (store.rank + 1) * share])
        with mx.autograd.record():
            loss = ((net(x) - x[:, :4]) ** 2).sum()
        loss.backward()
        trainer.step(TOTAL)
        run.values["step"] = step + 1
        run.save()
        if not os.path.exists(os.path.join(folder, "fast")):
            time.sleep(float(os.environ.get("PAUSE", "0")))
    if store.rank == 0:
        net.save_parameters(os.path.join(folder, "end.params"))
    store.barrier()
    say("ok")


if __name__ == "__main__":
    main(*sys.argv[1:])
