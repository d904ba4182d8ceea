"""What `operators.py` measures of detection, regions of interest and sampling: arrays, and calls on them."""

ARRAYS = """
moves uniform 8 18 56 56
masks positive 8 9 56 56
kernels uniform 32 32 3 3
unfolded uniform 8 288 3136
part_moves uniform 200 2 7 7
grid uniform 8 2 56 56
flow uniform 8 2 56 56
turns uniform 8 6
likely positive 8 21 4000
predicted uniform 8 16000
anchors boxes 1 4000 4
two_anchors boxes 2 4000 4
truths boxes 8 20 5
near boxes 2 20 4
pairings positive 8 300 40
classes integers 2 2 4000
matched integers 20 2 4000
two_scores positive 2 24 38 50
two_shifts uniform 2 48 38 50
"""
LEAVES = "moves masks kernels unfolded part_moves grid flow turns".split()

CASES = """
col2im = nd.col2im(unfolded, output_size=(56, 56), kernel=(3, 3), pad=(1, 1))
Deformable of all learnt = nd.contrib.DeformableConvolution(image, moves, kernels, narrow, **around)
- Modulated = nd.contrib.ModulatedDeformableConvolution(image, moves, masks, kernels, narrow, **around)
DeformablePS = nd.contrib.DeformablePSROIPooling(parts, regions, part_moves, **in_parts)
- RROIAlign = nd.contrib.RROIAlign(image, rotated, pooled_size=(7, 7), spatial_scale=0.25, sampling_ratio=2)
- MultiProposal = nd.contrib.MultiProposal(two_scores, two_shifts, two_sizes)
- MultiBoxPrior = nd.contrib.MultiBoxPrior(image, sizes=(0.5, 0.25), ratios=(1, 2, 0.5))
- MultiBoxTarget = nd.contrib.MultiBoxTarget(anchors, truths, likely, negative_mining_ratio=3)
- MultiBoxDetection = nd.contrib.MultiBoxDetection(likely, predicted, anchors, nms_topk=400)
- bipartite_matching of many = nd.contrib.bipartite_matching(pairings, threshold=0.1)
- box_encode = nd.contrib.box_encode(classes, matched, two_anchors, near, few, few)
- box_decode = nd.contrib.box_decode(predicted.reshape((8, 4000, 4)), anchors)
BilinearSampler = nd.BilinearSampler(image, grid)
GridGenerator = nd.GridGenerator(turns, "affine", (56, 56))
GridGenerator of flow = nd.GridGenerator(flow, "warp")
AdaptiveAvgPooling2D = nd.contrib.AdaptiveAvgPooling2D(image, output_size=(7, 7))
"""


def drawn(line, random):
    """The name and the numbers of one line of `ARRAYS`."""
    name, kind, *sizes = line.split()
    if kind == "integers":
        return name, random.randint(0, int(sizes[0]), tuple(map(int, sizes[1:])))
    values = random.uniform(-1 if kind == "uniform" else 0.1, 1, tuple(map(int, sizes)))
    if kind == "boxes":  # corners in their order, perhaps behind a class
        values[..., -4:] = values[..., -4:] * 0.5 + [0, 0, 0.45, 0.45]
        values[..., :-4] = (values[..., :-4] * 20).astype(int)
    return name, values


def arrays(nd, np):
    """What the cases call by name."""
    random = np.random.RandomState(1)
    made = {name: nd.array(values) for name, values in (drawn(line, random) for line in ARRAYS.strip().splitlines())}
    places = [np.zeros((200, 1)), random.rand(200, 2) * 100 + 50, random.rand(200, 3) * 100 + 1]
    parts = {"spatial_scale": 0.25, "output_dim": 4, "trans_std": 0.1, "sample_per_part": 4}
    return made | {
        "around": {"kernel": (3, 3), "pad": (1, 1), "num_filter": 32},
        "in_parts": parts | dict.fromkeys(("group_size", "pooled_size", "part_size"), 7),
        "rotated": nd.array(np.concatenate(places, 1)),
        "two_sizes": nd.array([[600, 800, 1]] * 2),
    }
