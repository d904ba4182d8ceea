"""Print what MXNet 1.9.1 pools of regions with extreme coordinates; run it with MXNet's own Python.

The lists go into tests/operators/test_region_limits.py.
"""

import numpy as np

import mxnet as mx

INF, NAN = float("inf"), float("nan")
ROIS = [
    [0, 0, 0, INF, INF],
    [0, -INF, 0, 3, 3],
    [0, NAN, 0, 3, 3],
    [0, -INF, -INF, INF, INF],
    [0, 1e30, 0, 1e31, 3],
    [0, 0, 0, 2.0**31, 2.0**31],
    [0, 0, 0, 1e9, 1e9],
    [0, 3e9, 3e9, 1, 1],
    [0, 2147483520, 0, 2147483520, 3],
    [INF, 0, 0, 3, 3],
    [NAN, 0, 0, 2, 2],
    [0.9, 0, 0, 3, 3],
]

data = mx.nd.array(1 + np.arange(16).reshape(1, 1, 4, 4))
for roi in ROIS:
    found = mx.nd.ROIPooling(data, mx.nd.array([roi]), pooled_size=(2, 2), spatial_scale=1.0)
    print((roi, [int(value) for value in found.asnumpy().ravel()]))
