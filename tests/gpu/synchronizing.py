"""Operators that may make the host wait for a GPU, each with the reason; a test fails for any other.

Those in `SELDOM` do so only for inputs larger than the samples, or for attributes that the samples lack.
"""

SYNCHRONIZING = {
    "_contrib_RROIAlign": "with sampling_ratio <= 0 sizes decide how many points are sampled; MXNet has no GPU kernel",
    "_contrib_boolean_mask": "the size of the result depends on values",
    "_contrib_calibrate_entropy": "a search on the host, once for a network",
    "_cvcopyMakeBorder": "OpenCV works on the host",
    "_cvimdecode": "OpenCV works on the host",
    "_cvimresize": "OpenCV works on the host",
    "_image_resize": "OpenCV works on the host",
    "_linalg_syevd": "the solver tells the host whether it has converged",
}
SELDOM = {
    "_imdecode": "a mean image on the GPU is subtracted on the host",
    "_contrib_bipartite_matching": "more than 1,024 pairs are found on the host",
}
