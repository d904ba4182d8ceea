"""Training runs that are killed at random moments and started again: do they end as if nothing had happened?

A server with everything imported forks the processes that train. Each run has dropout, batch normalization, shuffling,
a learning-rate schedule and metrics; its result is a hash of parameters, optimizer states, counters and metric values.
"""

import contextlib
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np

EPOCHS, EVERY = 5, 3
TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def data():
    rng = np.random.RandomState(0)
    return rng.rand(45, 2, 6, 6).astype("float32"), rng.randint(0, 3, 45).astype("float32")


def begun():
    """Tell the one who kills that training has begun."""
    os.write(1, b"begun\n")


def digest(arrays, states, *counters):
    """A hash of parameters by name, optimizer states and whatever else must come out the same."""
    words = hashlib.sha256(repr(counters).encode())
    for _, array in sorted(arrays.items()):
        words.update(array.asnumpy().tobytes())
    for _, state in sorted(states.items()):
        for part in state if isinstance(state, (tuple, list)) else [state]:
            words.update(b"" if part is None else part.asnumpy().tobytes())
    return words.hexdigest()


def of_gluon(net, trainer, *metrics):
    arrays = {name: parameter.data() for name, parameter in net._collect_params_with_prefix().items()}
    rule = trainer.optimizer
    counters = rule.num_update, sorted(rule._index_update_count.items()), trainer.learning_rate
    return digest(arrays, trainer._updaters[0].states, *counters, *metrics)


def of_module(module, *metrics):
    arguments, auxiliary = module.get_params()
    inner = getattr(module, "_curr_module", module)
    rule = inner._optimizer
    counters = rule.num_update, sorted(rule._index_update_count.items()), rule.learning_rate
    return digest({**arguments, **auxiliary}, inner._updater.states, *counters, *metrics)


def network():
    from mxnet import gluon, init

    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Conv2D(4, 3), gluon.nn.BatchNorm(), gluon.nn.Activation("relu"), gluon.nn.Dropout(0.4))
    net.add(gluon.nn.Dense(3))
    net.initialize(init.Xavier())
    net.hybridize()
    return net


def trainer_of(net, kind, **options):
    from mxnet import gluon, lr_scheduler

    schedule = lr_scheduler.FactorScheduler(step=7, factor=0.8, base_lr=0.05)
    return gluon.Trainer(net.collect_params(), kind, {"learning_rate": 0.05, "lr_scheduler": schedule, **options})


def augmented(x):
    """Noise from MXNet's stream and a shift from NumPy's and Python's."""
    from mxnet import nd

    return nd.array(x + np.random.rand() * random.random()) + nd.random.normal(shape=x.shape) * 0.1


def loader(workers=0):
    from mxnet import gluon

    dataset = gluon.data.ArrayDataset(*data()).transform_first(augmented)
    return gluon.data.DataLoader(dataset, batch_size=6, shuffle=True, last_batch="rollover", num_workers=workers)


def loop(folder):
    """A plain Gluon loop with Adam: the recipe of docs/reliability.md."""
    import mxnet as mx

    net, loss = network(), mx.gluon.loss.SoftmaxCrossEntropyLoss()
    trainer, batches = trainer_of(net, "adam"), loader()
    metric = mx.metric.CompositeEvalMetric([mx.metric.Accuracy(), mx.metric.CrossEntropy(), mx.metric.PCC()])
    run = mx.checkpoint.Run(os.path.join(folder, "net"), net, trainer, metric, every=EVERY)
    for epoch in run.epochs(EPOCHS):
        for x, y in run.batches(batches):
            with mx.autograd.record():
                out = net(x)
                value = loss(out, y)
            value.backward()
            trainer.step(len(x))
            metric.update(y, mx.nd.softmax(out))
            begun()
        run.values[f"epoch {epoch}"] = repr(metric.get())
    return of_gluon(net, trainer, sorted(run.values.items()))


def estimator(folder, workers=0):
    """`Estimator.fit(resume="auto")` with momentum, validation, a checkpoint handler and early stopping."""
    import logging

    from mxnet import gluon
    from mxnet.gluon.contrib.estimator import Estimator, event_handler

    class Begun(event_handler.BatchEnd):
        def batch_end(self, estimator, *args, **kwargs):
            begun()

    net = network()
    trainer = trainer_of(net, "sgd", momentum=0.9)
    fitting = Estimator(net, gluon.loss.SoftmaxCrossEntropyLoss(), trainer=trainer)
    fitting.logger.setLevel(logging.ERROR)
    saving = event_handler.CheckpointHandler(folder, batch_period=EVERY, max_checkpoints=2)
    patience = event_handler.EarlyStoppingHandler(fitting.val_metrics[0], patience=50, mode="max")
    validation = gluon.data.DataLoader(gluon.data.ArrayDataset(*data()), batch_size=9)
    fitting.fit(loader(workers), validation, EPOCHS, [Begun(), saving, patience], resume="auto")
    metrics = [metric.get() for metric in (*fitting.train_metrics, *fitting.val_metrics)]
    return of_gluon(net, trainer, metrics, patience.best, patience.wait)


def estimator_with_workers(folder):
    """The same, its batches made by two worker processes."""
    return estimator(folder, workers=2)


def symbol(data_name="data"):
    import mxnet as mx

    hidden = mx.sym.Convolution(mx.sym.var(data_name), num_filter=4, kernel=(3, 3), name="c")
    hidden = mx.sym.Activation(mx.sym.BatchNorm(hidden, fix_gamma=False, name="bn"), act_type="relu")
    hidden = mx.sym.FullyConnected(mx.sym.Dropout(hidden, p=0.4), num_hidden=3, name="f")
    return mx.sym.SoftmaxOutput(hidden, name="softmax")


def fit(module, batches, validation, folder, **options):
    """`Module.fit(resume="auto")`; returns the metric."""
    import mxnet as mx

    metric = mx.metric.create(["ce"] if validation is None else ["acc", "ce"])
    schedule = mx.lr_scheduler.FactorScheduler(step=7, factor=0.8, base_lr=0.05)
    module.fit(
        batches, validation, metric, num_epoch=EPOCHS, initializer=mx.init.Xavier(),
        optimizer_params={"learning_rate": 0.05, "lr_scheduler": schedule, **options.pop("rule", {})},
        batch_end_callback=[mx.callback.Speedometer(6, 4), lambda param: begun()],
        epoch_end_callback=mx.callback.do_checkpoint(os.path.join(folder, "net")),
        resume="auto", resume_every=EVERY, **options,
    )  # fmt: skip
    return metric


def module(folder):
    """`Module.fit` with Adam over a shuffling iterator."""
    import mxnet as mx

    batches = mx.io.NDArrayIter(*data(), batch_size=6, shuffle=True, last_batch_handle="roll_over")
    net = mx.mod.Module(symbol())
    metric = fit(net, batches, mx.io.NDArrayIter(*data(), batch_size=9), folder, optimizer="adam")
    return of_module(net, metric.get(), metric.get_global())


def bucketing(folder):
    """`BucketingModule.fit` with momentum over sentences of several lengths."""
    import mxnet as mx

    rng = np.random.RandomState(1)
    sentences = [rng.randint(1, 9, length).tolist() for length in rng.choice([3, 5, 7], 60)]
    batches = mx.rnn.BucketSentenceIter(sentences, batch_size=6, buckets=[3, 5, 7], invalid_label=0)

    def symbol_of(length):
        embedded = mx.sym.Dropout(mx.sym.Embedding(mx.sym.var("data"), input_dim=9, output_dim=6, name="e"), p=0.3)
        out = mx.sym.FullyConnected(mx.sym.reshape(embedded, shape=(-1, 6)), num_hidden=9, name="f")
        label = mx.sym.reshape(mx.sym.var("softmax_label"), shape=(-1,))
        return mx.sym.SoftmaxOutput(out, label, name="softmax"), ("data",), ("softmax_label",)

    net = mx.mod.BucketingModule(symbol_of, default_bucket_key=batches.default_bucket_key)
    metric = fit(net, batches, None, folder, optimizer="sgd", rule={"momentum": 0.9})
    return of_module(net, metric.get(), metric.get_global())


RUNS = {
    "Gluon loop": loop,
    "Module": module,
    "Estimator": estimator,
    "BucketingModule": bucketing,
    "Estimator with workers": estimator_with_workers,
}


# -- the server that forks ---------------------------------------------------------------------------------------------


def train(name, folder):
    """One process of a run, from wherever it was killed; the result is left in a file."""
    import mxnet as mx

    mx.random.seed(3)
    np.random.seed(4)
    random.seed(5)
    result = RUNS[name](folder)
    with open(os.path.join(folder, "result"), "w", encoding="ascii") as file:
        file.write(result)


def serve():
    """Fork a training process for each line (JSON: name, folder) of the input; tell its number and how it ended."""
    import mxnet.gluon.contrib.estimator
    import mxnet.module  # noqa: F401 - so that the children need not

    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            status = 1
            try:
                sys.stdin.close()
                train(*json.loads(line))
                status = 0
            except SystemExit as end:
                status = end.code
            except BaseException:
                sys.excepthook(*sys.exc_info())
            os._exit(status)
        os.write(1, b"child %d\n" % child)
        os.write(1, b"ended %d\n" % os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


class Server:
    """The server, and what came out of uninterrupted runs."""

    def __enter__(self):
        code = "import sys; sys.path.insert(0, sys.argv[1]); from reliability import resume_runs; resume_runs.serve()"
        # the first training on a machine begins with torch's operators: each process would begin so anew
        environment = {"MXNET_KERNELS": "wait", **os.environ, "OMP_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", code, TESTS], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, env=environment,
        )  # fmt: skip
        self._expected = {}
        return self

    def __exit__(self, *error):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()

    def start(self, name, folder):
        self.process.stdin.write(json.dumps([name, str(folder)]) + "\n")
        self.process.stdin.flush()
        return int(self._line("child"))

    def _line(self, *starts):
        while True:
            word, *rest = self.process.stdout.readline().split() or [""]
            if word in starts:
                return rest[0] if rest else word
            assert word, f"the server ended: {self.process.stderr.read()}"

    def wait(self):
        """The exit status of the process, negative for a signal."""
        return int(self._line("ended"))

    def wait_begun(self):
        """True when it trains; its status if it has ended without."""
        found = self._line("begun", "ended")
        return True if found == "begun" else int(found)

    def expected(self, name):
        """(result, seconds) of a run that nobody disturbs."""
        if name not in self._expected:
            with tempfile.TemporaryDirectory() as folder:
                self.start(name, folder)
                assert self.wait_begun() is True
                start = time.monotonic()
                assert self.wait() == 0, self.process.stderr.read()
                self._expected[name] = result_in(folder), time.monotonic() - start
        return self._expected[name]


def result_in(folder):
    with open(os.path.join(folder, "result"), encoding="ascii") as file:
        return file.read()


ENDS = {signal.SIGKILL: (-signal.SIGKILL,), signal.SIGTERM: (128 + signal.SIGTERM, -signal.SIGTERM)}


def kill_and_resume(server, name, rng, interruptions=3):
    """(SIGKILLs, SIGTERMs, what is wrong or None) of one run, interrupted at random moments, then left to its end."""
    result, seconds = server.expected(name)
    counts = {signal.SIGKILL: 0, signal.SIGTERM: 0}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(interruptions):
            number = signal.SIGTERM if rng.random() < 0.3 else signal.SIGKILL
            child = server.start(name, folder)
            status = server.wait_begun()
            if status is True:
                time.sleep(rng.uniform(0, 0.5 * seconds))
                with contextlib.suppress(ProcessLookupError):  # it has just ended
                    os.kill(child, number)
                status = server.wait()
            if status == 0:  # it was quicker
                break
            if status not in ENDS[number]:
                return *counts.values(), f"it ended with {status}"
            counts[number] += 1
        else:
            server.start(name, folder)
            status = server.wait()
        if status != 0:
            return *counts.values(), f"it ended with {status}"
        return *counts.values(), None if result_in(folder) == result else "it differs"


def campaign(runs, seed):
    """(name, SIGKILLs, SIGTERMs, what is wrong or None) of each run, the kinds in turn."""
    rng = random.Random(seed)
    with Server() as server:
        for number in range(runs):
            name = list(RUNS)[number % len(RUNS)]
            yield name, *kill_and_resume(server, name, rng)
