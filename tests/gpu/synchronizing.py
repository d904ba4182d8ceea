"""Operators that may make the host wait for a GPU, each with the reason; a test fails for any other.

Those in `SELDOM` do so only for inputs larger than the samples, or for attributes that the samples lack.
"""

SYNCHRONIZING = {
    "CTCLoss": "torch's kernel takes the lengths of the sequences on the host",
    "_contrib_ROIAlign": "with sample_ratio <= 0 the size of a region decides how many points it is sampled at",
    "_contrib_RROIAlign": "with sampling_ratio <= 0 the size of a region decides how many points it is sampled at",
    "_contrib_Proposal": "thousands of boxes are suppressed on the host",
    "_contrib_MultiProposal": "thousands of boxes are suppressed on the host",
    "_contrib_boolean_mask": "the size of the result depends on values",
    "_contrib_calibrate_entropy": "a search on the host, once for a network",
    "_cvcopyMakeBorder": "OpenCV works on the host",
    "_cvimdecode": "OpenCV works on the host",
    "_cvimresize": "OpenCV works on the host",
    "_image_resize": "OpenCV works on the host",
    "_linalg_syevd": "the solver tells the host whether it has converged",
}
SELDOM = {
    "RNN": "with use_sequence_length torch's kernel takes the lengths on the host",
    "_contrib_box_nms": "more than 1,024 boxes of an image are suppressed on the host",
    "_contrib_MultiBoxDetection": "more than 1,024 boxes of an image are suppressed on the host",
    "_imdecode": "a mean image on the GPU is subtracted on the host",
    "_contrib_bipartite_matching": "more than 1,024 pairs are found on the host",
}
