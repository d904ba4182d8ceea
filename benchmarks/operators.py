"""Single operators on arrays of middling size beside real MXNet: which are slower here?

REMX_MXNET_PYTHON=/path/to/python python benchmarks/operators.py [NAME ...]

Each interpreter runs all cases, with and without gradients; the table lists the ratio MXNet / ReMX, the smallest first.
"""

import json
import os
import subprocess
import sys
import time

ARRAYS = """
image uniform 8 32 56 56
matrix uniform 1024 1024
steps uniform 32 128 256
places integers 1024 64 64
labels integers 1000 1024
pairs integers 1024 2 1024
wide uniform 256
narrow uniform 32
positive positive 32
window uniform 32 32 3 3
single uniform 32 1 3 3
across uniform 32 16 4 4
offsets uniform 8 18 56 56
parts uniform 8 196 28 28
boxes positive 1000 4
found positive 2 4000 6
scores positive 1 24 38 50
shifts uniform 1 48 38 50
affine uniform 8 6
small uniform 2 16 40 40
sounds uniform 100 16 40
words integers 40 16 20
lengths integers 32 128
"""
CASES = """
exp = nd.exp(matrix)
sum = nd.sum(matrix, axis=1)
softmax = nd.softmax(matrix)
dot = nd.dot(matrix, matrix)
batch_dot = nd.batch_dot(steps, steps, transpose_b=True)
transpose = nd.transpose(image, (0, 2, 3, 1))
topk = nd.topk(matrix, k=10, axis=1)
sort = nd.sort(matrix, axis=1)
take = nd.take(matrix, places)
Embedding = nd.Embedding(places, matrix, input_dim=1024, output_dim=1024)
pick = nd.pick(matrix, labels)
one_hot = nd.one_hot(labels, 1000)
gather_nd = nd.gather_nd(matrix, pairs)
concat = nd.concat(matrix, matrix, dim=1)
LayerNorm = nd.LayerNorm(steps, wide, wide)
InstanceNorm = nd.InstanceNorm(image, narrow, narrow)
LRN = nd.LRN(image, nsize=5)
BatchNorm = nd.BatchNorm(image, narrow, narrow, narrow, positive)
Pooling = nd.Pooling(image, kernel=(3, 3), stride=(2, 2), pool_type="max")
UpSampling = nd.UpSampling(image, scale=2, sample_type="nearest")
BilinearResize2D = nd.contrib.BilinearResize2D(image, height=112, width=112)
Convolution = nd.Convolution(image, window, narrow, kernel=(3, 3), pad=(1, 1), num_filter=32)
Depthwise = nd.Convolution(image, single, narrow, kernel=(3, 3), pad=(1, 1), num_filter=32, num_group=32)
Deconvolution = nd.Deconvolution(image, across, kernel=(4, 4), stride=(2, 2), pad=(1, 1), num_filter=16)
Deformable = nd.contrib.DeformableConvolution(image, offsets, window, narrow, kernel=(3, 3), pad=(1, 1), num_filter=32)
ROIPooling = nd.ROIPooling(image, regions, pooled_size=(7, 7), spatial_scale=0.25)
ROIAlign = nd.contrib.ROIAlign(image, regions, pooled_size=(7, 7), spatial_scale=0.25, sample_ratio=2)
PSROIPooling = nd.contrib.PSROIPooling(parts, regions, spatial_scale=0.25, output_dim=4, pooled_size=7)
box_iou = nd.contrib.box_iou(boxes, boxes)
box_nms = nd.contrib.box_nms(found, overlap_thresh=0.5, topk=400, coord_start=2, score_index=1, id_index=0)
Proposal = nd.contrib.Proposal(scores, shifts, size, rpn_pre_nms_top_n=6000, rpn_post_nms_top_n=300)
SpatialTransformer = nd.SpatialTransformer(image, affine, (56, 56), "affine", "bilinear")
Correlation = nd.Correlation(small, small, kernel_size=1, max_displacement=4, pad_size=4)
CTCLoss = nd.CTCLoss(sounds, words)
SequenceMask = nd.SequenceMask(steps, lengths, use_sequence_length=True)
Dropout = nd.Dropout(matrix, p=0.5, mode="always")
histogram = nd.histogram(matrix, bins=50, range=(-1, 1))[0]
normal = nd.random.normal(shape=(1000, 1000))
gamma = nd.random.gamma(2, 1, shape=(300, 300))
smooth_l1 = nd.smooth_l1(matrix, scalar=1.0)
gelu = nd.LeakyReLU(image, act_type="gelu")
im2col = nd.im2col(image, kernel=(3, 3), pad=(1, 1))
"""
WITHOUT_GRADIENT = {"topk", "one_hot", "box_iou", "box_nms", "Proposal", "histogram", "normal", "gamma"}
SECONDS, FEWEST = 0.3, 3  # of each case, and runs of it


def arrays(nd, np):
    """The arrays by name, the same in both interpreters."""
    random, made = np.random.RandomState(0), {"nd": nd}
    for line in ARRAYS.strip().splitlines():
        name, kind, *sizes = line.split()
        if kind == "integers":
            values = random.randint(0, int(sizes.pop(0)), tuple(map(int, sizes)))
        else:
            values = random.uniform(0.1 if kind == "positive" else -1, 1, tuple(map(int, sizes)))
        made[name] = nd.array(values)
    corners = random.rand(200, 2) * 100
    made["regions"] = nd.array(np.concatenate([np.zeros((200, 1)), corners, corners + random.rand(200, 2) * 100], 1))
    made["size"] = nd.array([[600, 800, 1]])
    return made


def timed(step):
    """Milliseconds of a run, a quick one of many."""
    step()
    seconds, end = [], time.perf_counter() + SECONDS
    while len(seconds) < FEWEST or time.perf_counter() < end:
        start = time.perf_counter()
        step()
        seconds.append(time.perf_counter() - start)
    return sorted(seconds)[len(seconds) // 3] * 1e3


def measure(names):
    """All cases in this interpreter."""
    import numpy as np

    from mxnet import autograd, nd

    made, taken = arrays(nd, np), {}
    for name in ("image", "matrix", "steps", "parts", "small", "sounds"):
        made[name].attach_grad()
    for line in CASES.strip().splitlines():
        name, code = line.split(" = ", 1)
        if names and name not in names:
            continue
        call = compile(code, name, "eval")

        def forward(call=call):
            result = eval(call, made)
            nd.waitall()
            return result[0] if isinstance(result, (list, tuple)) else result

        def backward(forward=forward):
            with autograd.record():
                result = forward()
            result.backward()
            nd.waitall()

        taken[name] = timed(forward)
        if name not in WITHOUT_GRADIENT:
            taken[name + ", gradient"] = timed(backward)
    return taken


def main(names):
    command = [os.environ["REMX_MXNET_PYTHON"], __file__, "--measure", *names]
    theirs = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1])
    ours = measure(names)
    print("| operator | ReMX, ms | MXNet, ms | MXNet / ReMX |\n|---|---|---|---|")
    for name in sorted(ours, key=lambda name: theirs[name] / ours[name]):
        print(f"| {name} | {ours[name]:.2f} | {theirs[name]:.2f} | {theirs[name] / ours[name]:.2f} |")


if __name__ == "__main__":
    if "--measure" in sys.argv:
        print(json.dumps(measure([name for name in sys.argv[1:] if name != "--measure"])))
    else:
        main(sys.argv[1:])
