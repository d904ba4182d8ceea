"""`Trainer(shard_optimizer=True)`: the weights of a plain run, bit for bit, with 1/n of the optimizer's memory."""

import pytest
from test_distributed import HERE, LAUNCH, SURROUNDINGS, subprocess, sys

import mxnet as mx
from mxnet.kvstore import cuts


@pytest.mark.parametrize("workers", [2, pytest.param(4, marks=pytest.mark.slow)])
def test_shards_give_the_weights_of_a_plain_run(workers, tmp_path):
    program = [sys.executable, str(HERE / "sharded_worker.py"), str(tmp_path)]
    done = subprocess.run(
        [*LAUNCH, "-n", str(workers), *program], env=SURROUNDINGS, capture_output=True, text=True, timeout=180
    )
    assert done.returncode == 0 and done.stdout.count("ok\n") == workers, done.stdout + done.stderr


@pytest.mark.parametrize(("count", "world"), [(1000, 4), (1, 3), (0, 2), (64 * 7 + 5, 3)])
def test_spans_cover_everything_once(count, world):
    for kind, unit in cuts.UNIT.items():
        spans = cuts.even(kind, count, world).spans
        assert len(spans) == world and spans[0][0] == 0 and spans[-1][1] == count
        assert all(a[1] == b[0] and a[1] % unit == 0 for a, b in zip(spans, spans[1:], strict=False))
        sizes = [end - begin for begin, end in spans]
        assert max(sizes) - min(sizes) <= 2 * unit


@pytest.mark.parametrize("kvstore", ["device", None])
def test_one_process_has_no_shards(kvstore):
    net = mx.gluon.nn.Dense(1, in_units=2)
    net.initialize()
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", kvstore=kvstore, shard_optimizer=True)
    with mx.autograd.record():
        loss = net(mx.nd.ones((1, 2)))
    loss.backward()
    with pytest.raises(ValueError, match="shard_optimizer=True needs a dist_sync or dist_device_sync kvstore"):
        trainer.step(1)
