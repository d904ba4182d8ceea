"""Samples of operators that the bundled conformance data lacks or covers thinly: one line a case.

Only NumPy is needed here: `tools/record_operators.py` runs the table on real MXNet and keeps what came out.
"""

import numpy as np

F16, F32, F64, U8, I8, I32, I64 = "float16", "float32", "float64", "uint8", "int8", "int32", "int64"
_random = np.random.RandomState(7)


class Case:
    """Inputs and attributes of one call. `train` is the mode, `grad` says whether (or for which inputs) gradients
    are recorded.

    `outs` are the inputs like which outputs are made beforehand: MXNet cannot deduce those of multi-tensor updates.
    A `seed` is planted before the call; random operators have no gradient here.
    """

    def __init__(self, *inputs, train=False, grad=True, outs=(), seed=None, **attrs):
        self.inputs, self.train, self.outs, self.seed = inputs, train, outs, seed
        self.grad = grad if seed is None else False
        self.attrs = {key: str(value) for key, value in attrs.items()}


def real(*shape, low=-2.0, high=2.0, dtype=F32):
    return _random.uniform(low, high, shape).astype(dtype)


def positive(*shape, dtype=F32):
    return real(*shape, low=0.3, high=2.0, dtype=dtype)


def whole(limit, *shape, dtype=F32, low=0):
    return _random.randint(low, limit, shape).astype(dtype)


def image(*shape, dtype=U8):
    return _random.randint(0, 256, shape).astype(dtype)


def given(values, dtype=F32):
    return np.array(values, dtype)


def small(*shape):
    """8-bit integers for quantized layers."""
    return _random.randint(-60, 61, shape).astype(I8)


def ends(reach):
    """The range that goes with them."""
    return given([-reach]), given([reach])


def boxes(*shape, dtype=F32):
    corner = _random.uniform(0, 0.6, (*shape, 2))
    return np.concatenate([corner, corner + _random.uniform(0.05, 0.4, (*shape, 2))], -1).astype(dtype)


def regions(number, images, limit, dtype=F32):
    corner = _random.uniform(0, limit * 0.5, (number, 2))
    size = _random.uniform(1, limit * 0.5, (number, 2))
    return np.concatenate([_random.randint(0, images, (number, 1)), corner, corner + size], 1).astype(dtype)


def detections(*shape, dtype=F32):
    """Rows [class, score, left, top, right, bottom]."""
    kind, score = whole(3, *shape, 1), _random.uniform(0, 1, (*shape, 1))
    return np.concatenate([kind, score, boxes(*shape)], -1).astype(dtype)


def labels(batch, number, present):
    rows = np.full((batch, number, 5), -1, F32)
    for i, count in enumerate(present):
        rows[i, :count] = np.concatenate([whole(3, count, 1), boxes(count)], 1)
    return rows


def spd(*shape, dtype=F64):
    matrix = real(*shape, dtype=dtype)
    return np.matmul(matrix, matrix.swapaxes(-1, -2)) + 2 * np.eye(shape[-1], dtype=dtype)


def states(number, *shape, dtype=F32):
    """A weight, its gradient and optimizer states (not negative)."""
    return [
        real(*shape, dtype=dtype),
        real(*shape, dtype=dtype),
        *(positive(*shape, dtype=dtype) for _ in range(number)),
    ]


def mixed(number, *shape):
    """Half-precision weight and gradient, float32 states, float32 master copy."""
    weight = real(*shape, dtype=F16)
    return [weight, real(*shape, dtype=F16), *(positive(*shape) for _ in range(number)), weight.astype(F32)]


def hawkes(samples, processes, length):
    return (
        positive(samples, processes),
        positive(processes) * 0.3,
        positive(processes),
        positive(samples, processes),
        positive(samples, length),
        whole(processes, samples, length, dtype=I32),
        whole(length + 1, samples, low=1),
        np.full(samples, 2.5 * length, F32),
    )


TINY = (2, 3)
SAMPLES = {
    # optimizer updates
    "_adamw_update": [
        Case(*states(2, *TINY), given([1.0]), lr=0.1, eta=0.5, wd=0.01),
        Case(*states(2, *TINY), given([0.5]), lr=0.1, eta=1.0, clip_gradient=0.3, beta1=0.8, beta2=0.99),
        Case(*states(2, *TINY, dtype=F64), given([2.0]), lr=0.1, eta=1.0, epsilon=1e-3),
    ],
    "_mp_adamw_update": [
        Case(*mixed(2, *TINY), given([1.0]), lr=0.1, eta=0.5, wd=0.01),
        Case(*mixed(2, *TINY), given([0.5]), lr=0.1, eta=1.0, clip_gradient=0.3),
    ],
    "_multi_adamw_update": [
        Case(
            *states(2, 3),
            *states(2, 2, 2),
            given([0.5]),
            outs=(0, 4),
            grad=False,
            num_weights=2,
            lrs=(0.1, 0.2),
            wds=(0.0, 0.1),
            etas=(1.0, 0.5),
        ),
        Case(
            *states(2, 3),
            given([2.0]),
            outs=(0,),
            grad=False,
            num_weights=1,
            lrs=(0.1,),
            wds=(0.1,),
            etas=(1.0,),
            clip_gradient=0.5,
        ),
    ],
    "_multi_mp_adamw_update": [
        Case(
            *mixed(2, 3),
            *mixed(2, 2, 2),
            given([0.5]),
            outs=(0, 5),
            grad=False,
            num_weights=2,
            lrs=(0.1, 0.2),
            wds=(0.0, 0.1),
            etas=(1.0, 0.5),
        ),
    ],
    "_multi_lamb_update": [
        Case(
            *states(2, 3),
            *states(2, 2, 2),
            outs=(0, 4),
            grad=False,
            num_tensors=2,
            learning_rates=(0.1, 0.2),
            wds=(0.0, 0.1),
            step_count=(1, 4),
        ),
        Case(
            *states(2, 3),
            outs=(0,),
            grad=False,
            num_tensors=1,
            learning_rates=(0.1,),
            wds=(0.1,),
            step_count=(2,),
            bias_correction=False,
        ),
        Case(
            *states(2, 3),
            outs=(0,),
            grad=False,
            num_tensors=1,
            learning_rates=(0.1,),
            wds=(0.1,),
            step_count=(2,),
            lower_bound=1.0,
            upper_bound=1.5,
            clip_gradient=0.5,
            rescale_grad=0.5,
        ),
        Case(
            np.zeros(3, F32),
            *states(2, 3)[1:],
            outs=(0,),
            grad=False,
            num_tensors=1,
            learning_rates=(0.1,),
            wds=(0.1,),
            step_count=(1,),
        ),
    ],
    "_multi_mp_lamb_update": [
        Case(
            *mixed(2, 3),
            *mixed(2, 2, 2),
            outs=(0, 5),
            grad=False,
            num_tensors=2,
            learning_rates=(0.1, 0.2),
            wds=(0.0, 0.1),
            step_count=(1, 4),
        ),
    ],
    "mp_sgd_mom_update": [
        Case(*mixed(1, *TINY), lr=0.1, momentum=0.9, wd=0.01, rescale_grad=0.5),
        Case(*mixed(1, *TINY), lr=0.1, momentum=0.9, clip_gradient=0.2),
    ],
    "multi_sgd_update": [
        Case(
            *states(0, 3),
            *states(0, 2, 2),
            outs=(0, 2),
            grad=False,
            num_weights=2,
            lrs=(0.1, 0.2),
            wds=(0.0, 0.1),
            rescale_grad=0.5,
        ),
        Case(*states(0, 3, dtype=F64), outs=(0,), grad=False, num_weights=1, lrs=(0.1,), wds=(0.1,), clip_gradient=0.3),
    ],
    "multi_sgd_mom_update": [
        Case(
            *states(1, 3),
            *states(1, 2, 2),
            outs=(0, 3),
            grad=False,
            num_weights=2,
            lrs=(0.1, 0.2),
            wds=(0.0, 0.1),
            momentum=0.9,
        ),
        Case(
            *states(1, 3),
            outs=(0,),
            grad=False,
            num_weights=1,
            lrs=(0.1,),
            wds=(0.1,),
            clip_gradient=0.3,
            momentum=0.5,
            rescale_grad=2.0,
        ),
    ],
    "multi_mp_sgd_update": [
        Case(
            *mixed(0, 3),
            *mixed(0, 2, 2),
            outs=(0, 3),
            grad=False,
            num_weights=2,
            lrs=(0.1, 0.2),
            wds=(0.0, 0.1),
            clip_gradient=0.4,
        ),
    ],
    "multi_mp_sgd_mom_update": [
        Case(
            *mixed(1, 3),
            *mixed(1, 2, 2),
            outs=(0, 4),
            grad=False,
            num_weights=2,
            lrs=(0.1, 0.2),
            wds=(0.0, 0.1),
            momentum=0.9,
        ),
    ],
    "preloaded_multi_sgd_update": [
        Case(
            *states(0, 3),
            *states(0, 2, 2),
            given([0.1, 0.2]),
            given([0.0, 0.1]),
            outs=(0, 2),
            grad=False,
            num_weights=2,
            rescale_grad=0.5,
        ),
    ],
    "preloaded_multi_sgd_mom_update": [
        Case(
            *states(1, 3),
            *states(1, 2, 2),
            given([0.1, 0.2]),
            given([0.0, 0.1]),
            outs=(0, 3),
            grad=False,
            num_weights=2,
            momentum=0.9,
            clip_gradient=0.4,
        ),
    ],
    "preloaded_multi_mp_sgd_update": [
        Case(
            *mixed(0, 3), *mixed(0, 2, 2), given([0.1, 0.2]), given([0.0, 0.1]), outs=(0, 3), grad=False, num_weights=2
        ),
    ],
    "preloaded_multi_mp_sgd_mom_update": [
        Case(
            *mixed(1, 3),
            *mixed(1, 2, 2),
            given([0.1, 0.2]),
            given([0.0, 0.1]),
            outs=(0, 4),
            grad=False,
            num_weights=2,
            momentum=0.9,
        ),
    ],
    "multi_lars": [
        Case(positive(4), given([1, 0, 2, 3]), given([1, 2, 0, 3]), positive(4), eta=0.1, eps=1e-3, rescale_grad=0.5)
    ],
    "multi_sum_sq": [Case(real(3), real(2, 2), num_arrays=2), Case(real(3, dtype=F16), num_arrays=1)],
    "all_finite": [Case(given([1, np.nan])), Case(given([1, 1e300], F64))],
    "multi_all_finite": [Case(given([1.0]), given([np.inf, 2]), num_arrays=2)],
    # boxes and regions
    "_contrib_box_nms": [
        Case(detections(2, 12), overlap_thresh=0.3, id_index=0, topk=5, valid_thresh=0.2),
        Case(detections(12, dtype=F64), overlap_thresh=0.1, id_index=0, force_suppress=True, background_id=1),
        Case(detections(2, 6), overlap_thresh=0.4, out_format="center"),
        Case(detections(2, 6), in_format="center", out_format="corner", coord_start=2, score_index=1, topk=3),
        Case(detections(1, 4), topk=0),
        Case(detections(1, 4), valid_thresh=5.0),
    ],
    "_contrib_box_iou": [
        Case(boxes(2, 3), boxes(4), format="center"),
        Case(boxes(3, dtype=F64), boxes(2, 2, dtype=F64)),
    ],
    "_contrib_bipartite_matching": [
        Case(real(2, 4, 3), threshold=-0.5, topk=1),
        Case(real(4, 5), threshold=0.5, is_ascend=True),
        Case(real(2, 2, 3, 4), threshold=1e-9),
    ],
    "_contrib_box_encode": [
        Case(
            given([[1, -1, 0, 1]]),
            given([[0, 1, 1, 0]]),
            boxes(1, 4),
            boxes(1, 2),
            given([0, 0.1, 0, 0]),
            given([0.1, 0.1, 0.2, 0.2]),
        ),
    ],
    "_contrib_box_decode": [
        Case(real(2, 3, 4), boxes(1, 3), format="corner", std0=0.1, std1=0.2, std2=0.3, clip=0.2),
        Case(real(2, 3, 4, dtype=F64), boxes(1, 3, dtype=F64)),
    ],
    "_contrib_MultiBoxPrior": [
        Case(real(1, 2, 2, 3), sizes=(0.3, 0.5), ratios=(1.0, 2.0, 0.5)),
        Case(real(1, 2, 3, 2), sizes=(0.9,), ratios=(2.0,), clip=True, steps=(0.2, 0.4), offsets=(0.1, 0.7)),
    ],
    "_contrib_MultiBoxTarget": [
        Case(boxes(1, 12), labels(2, 3, (3, 1)), real(2, 4, 12), overlap_threshold=0.3),
        Case(boxes(1, 12), labels(2, 3, (2, 0)), real(2, 4, 12), negative_mining_ratio=1.0, negative_mining_thresh=0.5),
        Case(
            boxes(1, 6),
            labels(1, 2, (2,)),
            real(1, 4, 6),
            overlap_threshold=-1.0,
            ignore_label=-2.0,
            variances=(1, 1, 1, 1),
        ),
    ],
    "_contrib_MultiBoxDetection": [
        Case(positive(2, 4, 8) / 3, real(2, 32), boxes(1, 8)),
        Case(
            positive(2, 3, 8) / 2,
            real(2, 32),
            boxes(1, 8),
            threshold=0.5,
            nms_threshold=0.1,
            force_suppress=True,
            clip=False,
        ),
        Case(positive(1, 3, 8) / 2, real(1, 32), boxes(1, 8), nms_topk=3, variances=(1, 1, 1, 1)),
        Case(positive(1, 3, 8) / 2, real(1, 32), boxes(1, 8), nms_threshold=-1.0),
    ],
    "_contrib_Proposal": [
        Case(
            positive(1, 12, 3, 4) / 2,
            real(1, 24, 3, 4) * 0.2,
            given([[48, 64, 1.0]]),
            scales=(1, 2),
            ratios=(0.5, 1, 2),
            rpn_post_nms_top_n=7,
            rpn_pre_nms_top_n=30,
            output_score=True,
        ),
        Case(
            positive(1, 2, 3, 3) / 2,
            real(1, 4, 3, 3),
            given([[40, 30, 0.5]]),
            scales=(1,),
            ratios=(1,),
            rpn_post_nms_top_n=4,
            threshold=0.3,
            rpn_min_size=4,
            iou_loss=True,
        ),
    ],
    "_contrib_MultiProposal": [
        Case(
            positive(2, 12, 3, 4) / 2,
            real(2, 24, 3, 4) * 0.2,
            given([[48, 64, 1.0], [40, 50, 1.0]]),
            scales=(1, 2),
            ratios=(0.5, 1, 2),
            rpn_post_nms_top_n=6,
            rpn_pre_nms_top_n=30,
            output_score=True,
        ),
    ],
    "_contrib_ROIAlign": [
        Case(real(2, 3, 8, 8), regions(4, 2, 8), pooled_size=(2, 3), spatial_scale=1.0),
        Case(real(2, 3, 8, 8), regions(4, 2, 16), pooled_size=(2, 2), spatial_scale=0.5, sample_ratio=2, aligned=True),
        Case(real(2, 8, 6, 7), regions(3, 2, 6), pooled_size=(2, 2), spatial_scale=1.0, position_sensitive=True),
        Case(
            real(1, 2, 6, 6, dtype=F64),
            regions(3, 1, 6, dtype=F64),
            pooled_size=(2, 2),
            spatial_scale=1.0,
            sample_ratio=1,
        ),
    ],
    "_contrib_RROIAlign": [
        Case(
            real(2, 3, 8, 8),
            given([[0, 4, 4, 3, 5, 30], [1, 2, 5, 4, 2, -75], [1, 7, 7, 6, 6, 0]]),
            pooled_size=(2, 3),
            spatial_scale=1.0,
            grad=False,
        ),
        Case(
            real(1, 2, 8, 8),
            given([[0, 8, 8, 6, 10, 45]]),
            pooled_size=(2, 2),
            spatial_scale=0.5,
            sampling_ratio=2,
            grad=False,
        ),
    ],
    "_contrib_PSROIPooling": [
        Case(real(2, 18, 8, 8), regions(4, 2, 12), spatial_scale=0.7, output_dim=2, pooled_size=3),
        Case(real(1, 8, 6, 6), regions(3, 1, 6), spatial_scale=1.0, output_dim=2, pooled_size=4, group_size=2),
    ],
    "_contrib_DeformablePSROIPooling": [
        Case(
            real(2, 8, 8, 8),
            regions(3, 2, 8),
            real(3, 2, 2, 2),
            spatial_scale=1.0,
            output_dim=2,
            group_size=2,
            pooled_size=2,
            sample_per_part=2,
            trans_std=0.1,
        ),
        Case(
            real(1, 18, 8, 8),
            regions(3, 1, 8),
            real(3, 4, 3, 3),
            spatial_scale=0.9,
            output_dim=2,
            group_size=3,
            pooled_size=3,
            part_size=3,
            sample_per_part=3,
            trans_std=0.2,
        ),
        Case(
            real(1, 8, 8, 8),
            regions(3, 1, 8),
            spatial_scale=1.0,
            output_dim=2,
            group_size=2,
            pooled_size=4,
            no_trans=True,
            sample_per_part=2,
        ),
    ],
    "_contrib_DeformableConvolution": [
        Case(real(2, 4, 6, 6), real(2, 18, 6, 6), real(3, 4, 3, 3), real(3), kernel=(3, 3), pad=(1, 1), num_filter=3),
        Case(
            real(1, 4, 7, 6),
            real(1, 36, 3, 2),
            real(4, 2, 3, 3),
            kernel=(3, 3),
            stride=(2, 2),
            dilate=(1, 1),
            num_filter=4,
            num_group=2,
            num_deformable_group=2,
            no_bias=True,
        ),
        Case(real(1, 2, 6, 6), real(1, 8, 4, 4), real(2, 2, 2, 2), real(2), kernel=(2, 2), dilate=(2, 2), num_filter=2),
    ],
    "_contrib_ModulatedDeformableConvolution": [
        Case(
            real(2, 4, 6, 6),
            real(2, 18, 6, 6),
            positive(2, 9, 6, 6),
            real(3, 4, 3, 3),
            real(3),
            kernel=(3, 3),
            pad=(1, 1),
            num_filter=3,
        ),
        Case(
            real(2, 4, 7, 6),
            real(2, 36, 3, 2),
            positive(2, 18, 3, 2),
            real(4, 4, 3, 3),
            kernel=(3, 3),
            stride=(2, 2),
            num_filter=4,
            num_deformable_group=2,
            no_bias=True,
        ),
    ],
    # contrib, others
    "_contrib_BatchNormWithReLU": [
        Case(real(2, 3, 4, 4), positive(3), real(3), np.zeros(3, F32), np.ones(3, F32), train=True, fix_gamma=False),
        Case(real(2, 3, 4, 4), positive(3), real(3), real(3), positive(3), fix_gamma=False, grad=False),
    ],
    "_contrib_BilinearResize2D": [
        Case(real(1, 2, 4, 5), height=1, width=7, align_corners=False),
        Case(real(1, 2, 5, 4), real(1, 1, 3, 7), mode="like"),
        Case(real(1, 2, 5, 4), scale_height=2.0, scale_width=1.5, mode="odd_scale"),
        Case(real(1, 2, 5, 4), scale_height=0.7, scale_width=1.3),
        *(Case(real(1, 2, 5, 4), mode=m) for m in ("to_even_down", "to_even_up", "to_odd_down", "to_odd_up")),
    ],
    "_contrib_arange_like": [
        Case(real(2, 3, dtype=F64), start=1.5, step=-0.5, repeat=2),
        Case(whole(3, 4, dtype=I32), start=2, step=3),
        Case(real(3, 4), axis=-1, start=1),
    ],
    "_contrib_boolean_mask": [
        Case(real(4, 2, 3), given([0, 2, 0, 1])),
        Case(real(3, dtype=F64), given([1, 0, 1], I32)),
    ],
    "_contrib_index_array": [Case(real(2, 3, 2), axes=(-1, 0)), Case(real(3))],
    "_contrib_index_copy": [Case(real(4, 2), given([3, 0], I64), real(2, 2)), Case(real(4), given([1], I32), real(1))],
    "_contrib_allclose": [
        Case(given([1, np.nan]), given([1, np.nan])),
        Case(given([1, np.nan]), given([1, np.nan]), equal_nan=False),
    ],
    "_contrib_hawkesll": [Case(*hawkes(3, 2, 5), grad=(0, 1, 2)), Case(*hawkes(2, 4, 8), grad=(0, 1, 2))],
    "_contrib_interleaved_matmul_selfatt_qk": [Case(real(4, 2, 24), heads=2), Case(real(3, 2, 12), heads=1)],
    "_contrib_interleaved_matmul_selfatt_valatt": [Case(real(4, 2, 24), real(4, 4, 4), heads=2)],
    "_contrib_interleaved_matmul_encdec_qk": [Case(real(3, 2, 8), real(5, 2, 16), heads=2)],
    "_contrib_interleaved_matmul_encdec_valatt": [Case(real(5, 2, 16), real(4, 3, 5), heads=2)],
    "_contrib_round_ste": [Case(given([-1.5, -0.5, 0.5, 1.5, 2.5, 0.2]))],
    "_contrib_sign_ste": [Case(given([-1.5, 0, 2]))],
    "_contrib_quantize": [
        Case(real(2, 4), given([-1.0]), given([2.0]), grad=False),
        Case(real(2, 4), given([-3.0]), given([2.0]), out_type="int8", grad=False),
    ],
    "_contrib_quantize_v2": [
        Case(real(2, 5), grad=False),
        Case(real(2, 5), out_type="uint8", grad=False),
        Case(real(2, 5), out_type="auto", min_calib_range=0.0, max_calib_range=1.5, grad=False),
        Case(real(2, 5), out_type="auto", min_calib_range=-1.0, max_calib_range=1.5, grad=False),
        Case(image(2, 3), out_type="uint8", grad=False),
        Case(whole(100, 2, 3, dtype=I8, low=-100), grad=False),
    ],
    "_contrib_dequantize": [
        Case(image(2, 3), given([-1.0]), given([2.0]), grad=False),
        Case(whole(100, 2, 3, dtype=I8, low=-100), given([-1.0]), given([0.5]), grad=False),
    ],
    "_contrib_requantize": [
        Case(whole(3000000, 2, 3, dtype=I32, low=-3000000), given([-100.0]), given([200.0]), grad=False),
        Case(
            whole(3000000, 2, 3, dtype=I32, low=-3000000), given([-100.0]), given([200.0]), out_type="uint8", grad=False
        ),
        Case(
            whole(3000000, 2, 3, dtype=I32),
            given([-100.0]),
            given([200.0]),
            min_calib_range=-0.1,
            max_calib_range=0.2,
            grad=False,
        ),
    ],
    # images
    "_cvcopyMakeBorder": [
        Case(image(3, 4, 3), top=1, bot=2, left=0, right=1, value=7, grad=False),
        Case(image(3, 4, 3), top=1, bot=0, left=2, right=0, values=(1, 2, 3), grad=False),
        Case(image(3, 4, 3), top=1, bot=1, left=1, right=1, type=1, grad=False),
        Case(image(3, 4, 3), top=1, bot=1, left=1, right=1, type=2, grad=False),
    ],
    "_cvimresize": [
        Case(image(6, 8, 3), w=5, h=4, grad=False),
        Case(image(6, 8, 3), w=16, h=9, interp=0, grad=False),
        Case(image(6, 8, 3), w=3, h=2, interp=3, grad=False),
        Case(image(6, 8, 3, dtype=F32), w=10, h=7, grad=False),
    ],
    "_image_adjust_lighting": [
        Case(image(3, 4, 3), alpha=(0.1, -0.2, 0.3), grad=False),
        Case(real(3, 4, 3), alpha=(0.1, 0.2, 0.3)),
    ],
    "_image_flip_left_right": [Case(image(3, 4, 3), grad=False), Case(real(3, 4, 3))],
    "_image_flip_top_bottom": [Case(image(4, 3, 3), grad=False), Case(real(4, 3, 1))],
    "_image_resize": [
        Case(image(6, 8, 3), size=(5, 4), grad=False),
        Case(image(6, 8, 3), size=4, keep_ratio=True, grad=False),
        Case(image(2, 6, 8, 3), size=5, interp=0, grad=False),
        Case(image(6, 8, 1, dtype=F32), size=(12, 3), grad=False),
    ],
    "_image_random_flip_left_right": [Case(image(3, 4, 3), seed=n) for n in range(4)],
    "_image_random_flip_top_bottom": [Case(image(4, 3, 3), seed=n) for n in range(4)],
    "_image_random_brightness": [
        Case(image(2, 2, 3), seed=3, min_factor=0.5, max_factor=1.5),
        Case(image(3, 4, 3), min_factor=1.5, max_factor=1.5, grad=False),
    ],
    "_image_random_contrast": [
        Case(image(3, 4, 3), min_factor=1.5, max_factor=1.5, grad=False),
        Case(image(3, 4, 1), min_factor=0.5, max_factor=0.5, grad=False),
    ],
    "_image_random_saturation": [Case(image(3, 4, 3, dtype=F32), min_factor=0.5, max_factor=0.5)],
    "_image_random_hue": [
        Case(image(3, 4, 3, dtype=F32), min_factor=0.3, max_factor=0.3),
        Case(image(3, 4, 3), min_factor=0.7, max_factor=0.7, grad=False),
    ],
    "_image_random_color_jitter": [
        Case(image(3, 4, 3, dtype=F32), brightness=0, contrast=0, saturation=0, hue=1e-9, grad=False),
        *(Case(image(2, 3, 3), seed=n, brightness=0.4, contrast=0.3, saturation=0.2, hue=0.1) for n in range(6)),
    ],
    "_image_random_lighting": [
        Case(image(3, 4, 3, dtype=F32), alpha_std=0.0),
        Case(image(3, 4, 3), seed=5, alpha_std=0.5),
    ],
    # tensors
    "Convolution_v1": [Case(real(2, 4, 5, 5), real(2, 4, 3, 3), real(2), kernel=(3, 3), num_filter=2, pad=(1, 1))],
    "Crop": [
        Case(real(1, 2, 5, 6), num_args=1, offset=(1, 2), h_w=(3, 3)),
        Case(real(1, 2, 5, 6), real(1, 1, 3, 2), num_args=2, center_crop=True),
    ],
    "Dropout": [Case(real(3, 4), p=0.5), Case(real(3, 4), p=0.0, train=True)],
    "MakeLoss": [
        Case(real(2, 3), grad_scale=2.0),
        Case(real(2, 3), normalization="batch"),
        Case(positive(2, 3), normalization="valid", valid_thresh=1.0),
    ],
    "Pooling_v1": [
        Case(real(1, 2, 5, 5), kernel=(2, 2), stride=(2, 2), pool_type="max"),
        Case(real(1, 2, 6, 6), kernel=(3, 3), stride=(3, 3), pool_type="avg"),
    ],
    "_copy": [Case(real(2, 3)), Case(whole(5, 2, dtype=I64), grad=False)],
    "_grad_add": [Case(real(2, 3), real(2, 3))],
    "_greater": [Case(real(2, 3), real(2, 3), grad=False)],
    "_lesser": [Case(real(2, 3), real(2, 3), grad=False)],
    "_hypot_scalar": [Case(real(2, 3), scalar=1.5)],
    "_identity_with_attr_like_rhs": [Case(real(2, 3), real(2, 3))],
    "_linalg_det": [Case(spd(2, 3, 3))],
    "_linalg_inverse": [Case(spd(2, 3, 3))],
    "_linalg_slogdet": [Case(spd(2, 3, 3))],
    **{f"_logical_{n}": [Case(whole(2, 2, 3), whole(2, 2, 3), grad=False)] for n in ("and", "or", "xor")},
    **{
        f"_logical_{n}_scalar": [
            Case(whole(2, 2, 3), scalar=1.0, grad=False),
            Case(whole(2, 2, 3), scalar=0.0, grad=False),
        ]
        for n in ("and", "or", "xor")
    },
    "_mod_scalar": [Case(real(2, 3), scalar=0.7), Case(real(2, 3), scalar=-0.7)],
    "_rmod_scalar": [Case(positive(2, 3), scalar=1.7)],
    "_random_pdf_uniform": [Case(positive(2, 3), given([0.1, 0.5]), given([1.5, 3]), is_log=False)],
    "_random_pdf_normal": [Case(real(2, 3), real(2), positive(2)), Case(real(2, 3), real(2), positive(2), is_log=True)],
    "_random_pdf_gamma": [Case(positive(2, 3), positive(2), positive(2))],
    "_random_pdf_exponential": [Case(positive(2, 3), positive(2)), Case(positive(2, 3), positive(2), is_log=True)],
    "_random_pdf_poisson": [Case(whole(5, 2, 3), positive(2))],
    "_random_pdf_negative_binomial": [Case(whole(5, 2, 3), given([3, 4]), given([0.3, 0.6]), grad=False)],
    "_random_pdf_generalized_negative_binomial": [Case(whole(5, 2, 3), positive(2), positive(2), grad=False)],
    "_random_pdf_dirichlet": [Case(given([[[0.2, 0.3, 0.5]], [[0.1, 0.6, 0.3]]]), positive(2, 3))],
    "amp_cast": [Case(real(2, 3), dtype="float16"), Case(whole(3, 2, dtype=I32), dtype="float16", grad=False)],
    "broadcast_hypot": [Case(real(2, 1), real(1, 3))],
    "cast_storage": [Case(real(2, 3), stype="default", grad=False)],
    "col2im": [Case(real(1, 8, 9), output_size=(4, 4), kernel=(2, 2), stride=(1, 1))],
    "im2col": [
        Case(real(1, 2, 4, 4), kernel=(2, 2), stride=(1, 1)),
        Case(real(1, 2, 5, 5), kernel=(3, 3), stride=(2, 2), pad=(1, 1)),
    ],
    "cumsum": [Case(real(2, 3), axis=1), Case(real(2, 3))],
    "erf": [Case(real(2, 3))],
    "erfinv": [Case(real(2, 3) / 2.5)],
    "negative": [Case(real(2, 3))],
    "scatter_nd": [Case(real(2), given([[0, 1], [1, 2]], I64), shape=(2, 3))],
    "softmax_cross_entropy": [Case(real(3, 4), given([0, 3, 1]), grad=(0,))],
    # random numbers
    "_random_uniform": [Case(low=-1.0, high=2.0, shape=(3, 50), seed=1), Case(shape=(4,), dtype="float64", seed=2)],
    "_random_normal": [Case(loc=1.0, scale=2.0, shape=(3, 50), seed=1)],
    "_random_gamma": [Case(alpha=2.0, beta=0.5, shape=(30,), seed=1), Case(alpha=0.5, beta=1.0, shape=(30,), seed=1)],
    "_random_exponential": [Case(lam=2.0, shape=(30,), seed=1)],
    "_random_poisson": [Case(lam=3.0, shape=(30,), seed=1), Case(lam=40.0, shape=(30,), seed=1)],
    "_random_negative_binomial": [Case(k=3, p=0.4, shape=(30,), seed=1)],
    "_random_generalized_negative_binomial": [Case(mu=2.0, alpha=0.3, shape=(30,), seed=1)],
    "_random_randint": [
        Case(low=-5, high=50, shape=(30,), seed=1),
        Case(low=0, high=7, shape=(3, 4), dtype="int64", seed=1),
    ],
    "_random_uniform_like": [Case(real(3, 4), low=0.0, high=2.0, seed=1)],
    "_random_normal_like": [Case(real(3, 4), loc=1.0, scale=0.5, seed=1)],
    "_random_gamma_like": [Case(real(3, 4), alpha=2.0, beta=0.5, seed=1)],
    "_random_exponential_like": [Case(real(3, 4), lam=2.0, seed=1)],
    "_random_poisson_like": [Case(real(3, 4), lam=3.0, seed=1)],
    "_random_negative_binomial_like": [Case(real(3, 4), k=3, p=0.4, seed=1)],
    "_random_generalized_negative_binomial_like": [Case(real(3, 4), mu=2.0, alpha=0.3, seed=1)],
    "_sample_uniform": [Case(given([0, 1]), given([1, 3]), shape=5, seed=1)],
    "_sample_normal": [Case(given([0, 1]), given([1, 3]), shape=(2, 3), seed=1)],
    "_sample_gamma": [Case(given([2, 1]), given([1, 3]), shape=5, seed=1)],
    "_sample_exponential": [Case(given([2, 1]), shape=5, seed=1)],
    "_sample_poisson": [Case(given([2, 5]), shape=5, seed=1)],
    "_sample_negative_binomial": [Case(given([2, 5]), given([0.3, 0.5]), shape=5, seed=1)],
    "_sample_generalized_negative_binomial": [Case(given([2, 5]), given([0.3, 0.5]), shape=5, seed=1)],
    "_sample_multinomial": [
        Case(given([[0.2, 0.3, 0.5], [0.1, 0.8, 0.1]]), shape=8, seed=1),
        Case(given([0.2, 0.8]), get_prob=True, seed=1),
    ],
    "_sample_unique_zipfian": [Case(range_max=50, shape=(2, 6), seed=1)],
    "_shuffle": [Case(real(7), seed=1), Case(real(5, 2), seed=2)],
    "_scatter_elemwise_div": [Case(real(2, 3), positive(2, 3), grad=False)],
    "_scatter_minus_scalar": [Case(real(2, 3), scalar=1.5, grad=False)],
    "_scatter_plus_scalar": [Case(real(2, 3), scalar=1.5, grad=False)],
    "_copyto": [Case(real(2, 3), outs=(0,), grad=False)],
    # 8-bit layers; values small enough that MXNet's 16-bit sums do not overflow
    "_contrib_quantized_fully_connected": [
        Case(small(2, 5), small(3, 5), small(3), *ends(2.0), *ends(3.0), *ends(5.0), num_hidden=3, grad=False),
        Case(image(2, 2, 2), small(3, 4), *ends(2.0), *ends(3.0), num_hidden=3, no_bias=True, grad=False),
        Case(
            small(2, 3, 2), small(3, 2), *ends(2.0), *ends(3.0), num_hidden=3, no_bias=True, flatten=False, grad=False
        ),
    ],
    "_contrib_quantized_act": [Case(small(2, 3, 4), *ends(2.0), act_type="relu", grad=False)],
    "_contrib_quantized_flatten": [
        Case(small(2, 3, 4), *ends(2.0), grad=False),
        Case(image(3, 2, 2, 2), *ends(0.5), grad=False),
    ],
    "_contrib_quantized_pooling": [
        Case(small(1, 2, 5, 5), *ends(2.0), kernel=(2, 2), stride=(2, 2), grad=False),
        Case(image(1, 2, 5, 5), *ends(2.0), kernel=(3, 3), pad=(1, 1), pool_type="avg", grad=False),
        Case(small(1, 2, 4, 4), *ends(2.0), kernel=(2, 2), pool_type="avg", global_pool=True, grad=False),
        Case(image(1, 2, 5, 5), *ends(2.0), kernel=(2, 2), stride=(2, 2), pooling_convention="full", grad=False),
    ],
    "_contrib_quantized_concat": [
        Case(small(2, 3), small(2, 2), *ends(2.0), *ends(3.0), num_args=2, grad=False),
        Case(small(2, 3), image(2, 3), *ends(2.0), given([0.0]), given([3.0]), num_args=2, dim=0, grad=False),
        Case(image(2, 3), image(2, 1), given([0.0]), given([2.0]), given([0.0]), given([3.0]), num_args=2, grad=False),
    ],
    "_contrib_quantized_elemwise_add": [
        Case(small(2, 4), small(2, 4), *ends(2.0), *ends(3.0), grad=False),
        Case(image(2, 4), image(2, 4), *ends(2.0), *ends(3.0), grad=False),
        Case(small(2, 4), small(2, 4), *ends(2.0), *ends(3.0), min_calib_range=-4.0, max_calib_range=4.5, grad=False),
        Case(image(2, 4), image(2, 4), *ends(2.0), *ends(3.0), min_calib_range=0.0, max_calib_range=4.5, grad=False),
        Case(small(2, 4), image(2, 4), *ends(2.0), *ends(3.0), min_calib_range=-4.0, max_calib_range=4.5, grad=False),
        Case(image(2, 4), small(2, 4), *ends(2.0), *ends(3.0), min_calib_range=-4.0, max_calib_range=4.5, grad=False),
    ],
    "_contrib_quantized_batch_norm": [
        Case(data, *(positive(2) for _ in range(4)), *ends(2.0), min_calib_range=-4.0, max_calib_range=4.5, grad=False)
        for data in (small(2, 2, 3, 3), image(2, 2, 3, 3))
    ],
    "_contrib_quantized_embedding": [
        Case(given([0, 3, 9, -1]), small(5, 3), *ends(2.0), input_dim=5, output_dim=3, grad=False)
    ],
    "_contrib_calibrate_entropy": [
        Case(whole(40, 301), np.linspace(-3, 3, 302).astype(F32), num_quantized_bins=steps, grad=False)
        for steps in (31, 127)
    ],
}
