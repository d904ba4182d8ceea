"""The names under which MXNet's monitors report values: inputs, outputs and gradients of every operator."""

from ..ir.node import Node
from ..lower.program import LOSSES

# Operators of one input that MXNet gave a name; to its monitors the input of any other is `input0`.
_NAMED_INPUT = frozenset(
    [
        "Dropout", "GridGenerator", "L2Normalization", "LRN", "LeakyReLU", "Pad", "Pooling", "SliceChannel", "SwapAxis",
        "UpSampling", "_contrib_BilinearResize2D", "_contrib_interleaved_matmul_selfatt_qk", "_contrib_quadratic",
        "_image_normalize", "_linalg_extractdiag", "_linalg_extracttrian", "_linalg_gelqf", "_linalg_makediag",
        "_linalg_maketrian", "_linalg_potrf", "_linalg_potri", "_linalg_sumlogdiag", "_linalg_syevd", "_linalg_syrk",
        "_ravel_multi_index", "_split_v2", "_unravel_index", "all_finite", "col2im", "depth_to_space", "diag", "im2col",
        "log_softmax", "moments", "one_hot", "repeat", "reverse", "softmax", "space_to_depth", "squeeze", "tile",
    ]
)  # fmt: skip
# Old operators call the gradient of an input by the input's name, the others by its number.
_NAMED_GRADIENTS = frozenset(
    [
        "BilinearSampler", "Correlation", "GridGenerator", "InstanceNorm", "L2Normalization", "MakeLoss", "Pad",
        "ROIPooling", "SVMOutput", "SequenceLast", "SequenceMask", "SequenceReverse", "SliceChannel",
        "SpatialTransformer", "SwapAxis", "_contrib_MultiBoxTarget", "_contrib_PSROIPooling", "_contrib_SyncBatchNorm",
    ]
)  # fmt: skip
# Comparisons and the like: in MXNet the zero gradient of each input has a node of its own.
_ZEROS = frozenset(
    [
        "_contrib_box_decode", "_contrib_box_encode", "_contrib_dequantize", "_equal", "_greater", "_greater_equal",
        "_lesser", "_lesser_equal", "_not_equal", "broadcast_equal", "broadcast_greater", "broadcast_greater_equal",
        "broadcast_lesser", "broadcast_lesser_equal", "broadcast_logical_and", "broadcast_logical_or",
        "broadcast_logical_xor", "broadcast_not_equal",
    ]
)  # fmt: skip
_SPECIAL_NAMES = {
    "batch_dot": ("backward_lhs_output", "backward_rhs_output"),
    "broadcast_like": ("backward_output", "rhs_backward_output"),
    "gather_nd": ("backward_output", "backward_indices_output"),
    "pick": ("backward_output", "index_backward_output"),
    "reshape_like": ("backward_output", "rhs_backward_output"),
    "where": ("cond_backward_output", "backward_output0", "backward_output1"),
}
# The head gradient is the gradient of the inputs: MXNet has no node for it.
_IDENTITY_GRADIENT = frozenset(["_contrib_round_ste", "_contrib_sign_ste", "elemwise_add"])


def input_name(node: Node, index: int) -> str:
    """The name of an operator's input number `index`."""
    names = node.input_names()
    named = len(names) > 1 or node.op.name in _NAMED_INPUT  # type: ignore[union-attr]
    return f"{node.name}_{names[index] if named else f'input{index}'}"


def gradient_names(node: Node) -> list[str]:
    """The names of the gradients of an operator's inputs without its states; empty if MXNet does not report them."""
    name = node.op.name  # type: ignore[union-attr]
    states = set(node.mutated())
    inputs = [n for i, n in enumerate(node.input_names()) if i not in states][: len(node.inputs) - len(states)]
    if name in _IDENTITY_GRADIENT:
        return []
    if name == "add_n":
        return ["output"] * len(inputs)
    if name in _SPECIAL_NAMES:
        return [f"{node.name}_{suffix}" for suffix in _SPECIAL_NAMES[name]]
    if name in _ZEROS:
        return [f"{node.name}_in{i}_backward_output" for i in range(len(inputs))]
    if name in _NAMED_GRADIENTS:
        return [f"{node.name}_backward_{n}" for n in inputs]
    return [f"{node.name}_backward_output{i if len(inputs) > 1 else ''}" for i in range(len(inputs))]


def takes_head(node: Node) -> bool:
    """Does the operator need a head gradient?"""
    return node.op is not None and node.op.name not in LOSSES and node.op.name not in _ZEROS and node.op.differentiable
