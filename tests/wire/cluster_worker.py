"""A training program that knows nothing of who started it: all distributed stores, then a line of what it saw."""

import mxnet as mx
from mxnet import nd

kv = mx.kv.create("dist_sync")
for kind in ("dist_sync", "dist_device_sync", "dist_async"):
    store = kv if kind == "dist_sync" else mx.kv.create(kind)
    if kind == "dist_async":
        store.set_optimizer(mx.optimizer.SGD(learning_rate=1.0))
    out = nd.zeros(2)
    store.init(0, nd.zeros(2))
    store.push(0, nd.full(2, kv.rank + 1))
    store._barrier()
    store.pull(0, out=out)
    assert abs(out.asnumpy()).tolist() == [3, 3], (kind, out)
print(f"worker {kv.rank} of {kv.num_workers}", flush=True)
