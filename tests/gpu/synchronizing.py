"""Operators that may make the host wait for a GPU, or need float64, with the reasons; a test fails for any other.

Sizes are a question to the host, which allocates the results; solvers of torch ask it whether they have converged.

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
_SIZE, _SOLVER = SYNCHRONIZING["_contrib_boolean_mask"], SYNCHRONIZING["_linalg_syevd"]
NUMPY = {
    "_npi_bincount": _SIZE,
    "_npi_delete": f"{_SIZE}, if the places to delete are an array",
    "_npi_eig": _SOLVER,
    "_npi_eigh": _SOLVER,
    "_npi_eigvals": _SOLVER,
    "_npi_eigvalsh": _SOLVER,
    "_npi_nonzero": _SIZE,
    "_npi_norm": f"{_SOLVER}, if the norm is one of singular values",
    "_npi_pinv": _SOLVER,
    "_npi_pinv_scalar_rcond": _SOLVER,
    "_npi_svd": _SOLVER,
    "_npi_unique": _SIZE,
    "_npx_nonzero": _SIZE,
}
# Functions of `mx.np` without an operator
NUMPY_FUNCTIONS = {
    "np.cov": "NumPy computes it",
    "np.interp": "NumPy computes it",
    "np.linalg.lstsq": "NumPy computes it",
    "np.linalg.matrix_rank": "NumPy computes it",
    "np.unravel_index": "NumPy computes it",
    "a[a > 0]": _SIZE,
    "_assigned(np.copy(a), a.reshape(-1))": "the test counts the places",
}
SELDOM = {
    "_imdecode": "a mean image on the GPU is subtracted on the host",
    "_contrib_bipartite_matching": "more than 1,024 pairs are found on the host",
}
# What makes the host wait in each step of a training program that asks for it: how often, where, and why
STEPS = {
    "clip_global_norm": (1, "item", "asscalar", "it returns the norm as a number and warns if it is not finite"),
    "mixed precision": (1, "item", "asscalar", "a step whose gradients overflow is left out, which the host decides"),
    "PCC": (2, "copy to the host", "_numpy", "its table grows with the classes that occur"),
    "sparse embedding": (1, "aten::_unique2", "_pull_rows", "the size of the weight's part depends on the indices"),
    "sparse embedding, gradient": (1, "aten::_coalesce", "rows_of_coo", "as many rows as there are different indices"),
}
# Operators that compute in float64 whatever their inputs are; on Apple's GPUs, which lack it, they run on the CPU.
IN_FLOAT64 = {
    "SpatialTransformer": "the grid of MXNet's CPU kernel is computed in double precision",
    "_contrib_MultiBoxTarget": "as many negatives as ratio x positives, which float32 would round",
    "_contrib_PSROIPooling": "differences of running sums over the whole image lose digits",
    "_contrib_quantized_elemwise_add": "float32 does not hold all integers of 32 bits",
    "_histogram": "the places of equal bins are rounded as MXNet's",
    "_linspace": "MXNet steps in double precision",
    "_sample_multinomial": "running sums of probabilities lose digits",
    "gamma": "the function grows faster than float32 can be accurate",
}
