"""Every limit at which a kernel begins, or ceases, to be faster: one place, with what was measured where and when.

Processors: Z4 = AMD EPYC, Zen 4 (AVX-512), 2 cores; A2 = a processor with AVX2 only, 2 cores. Times were taken in turns
with torch 2.13's own operators. Each line: the limit, its unit, what lies beyond it, where and when it was measured.
"""

# Elementwise
ELU_ELEMENTS = 1 << 15  # elements; fewer are not worth loading a compiler (Z4, 2026-11)
ELEMENTWISE_PER_THREAD = 1 << 14  # elements in a part of the work; less takes longer to hand over (Z4, 2026-11)

# Transposition
TRANSPOSE_ELEMENTS = 1 << 13  # elements; torch copies fewer in the time of a call (Z4, 2026-11)
TRANSPOSE_COMPILE = 1 << 22  # elements transposed so far; for fewer no compiler is loaded (Z4, 2026-11)
TRANSPOSE_PER_THREAD = 1 << 16  # elements in a thread's part of the work (Z4, 2026-11)

# Predicates with bool results, by NumPy
BOOL_ELEMENTS = 1 << 13  # elements; torch computes fewer in the time of a call (Z4, 2026-11)

# Pooling
POOL_NCHW_ELEMENTS = 1 << 12  # input elements; torch pools fewer in the time of a call (Z4, 2026-11)
POOL_NCHW_COMPILE = 1 << 22  # input elements pooled so far; for fewer no compiler is loaded (Z4, 2026-11)
POOL_NCHW_PER_THREAD = 1 << 16  # elements of the larger tensor in a thread's part of the work (Z4, 2026-11)
POOL_2X2_WIDTH = 8  # input columns; narrower rows do not fill half a vector (Z4, 2026-11)
POOL_2X2_PER_THREAD = 1 << 14  # output elements in a thread's part of the work (Z4, 2026-11)
POOL_SLICES_ELEMENTS = 1 << 15  # input elements; for fewer torch's one call is faster than several (Z4, 2026-11)
POOL_SLICES_CACHED = 1 << 20  # input elements at a time, which stay in the cache (Z4, 2026-11)
POOL_NHWC_PER_THREAD = 1 << 14  # floats in a thread's part of the work (Z4, 2026-11)
POOL_GLOBAL_PIXELS = 256  # pixels in one sum; for more, torch's pairwise sums are more accurate (Z4, 2026-11)

# Recurrent layers
RNN_BATCH = 4  # rows of the batch, also in a thread's part of the work; fewer do not fill the pipeline (Z4, 2026-11)
LSTM_WORK = 1 << 26  # multiplications by the recurrent weight; less is not worth loading a compiler (Z4, 2026-11)
GRU_STEPS = 2  # time steps; torch computes a single one as fast (Z4, 2026-11)
GRU_COMPILE = 1 << 30  # multiplications by recurrent weights so far; for fewer no compiler is loaded (Z4, 2026-11)

# Attention
ATTENTION_KEYS = 1024  # keys; the scores of more do not stay in the cache, and torch is as fast (Z4, 2026-11)
ATTENTION_WORK = 1 << 22  # multiplications of the scores; less is not worth loading a compiler (Z4, 2026-11)
ATTENTION_PER_THREAD = 1 << 21  # multiplications in a thread's part of the work (Z4, 2026-11)

# Vision
NMS_COMPILE = 1 << 25  # pairs of boxes so far; for fewer no compiler is loaded (Z4, 2026-11)
BOX_CALL = 1 << 11  # boxes that are encoded in the time of a call (Z4, 2026-11)
BOX_COMPILE = 1 << 22  # boxes so far, with those of a call; for fewer no compiler is loaded (Z4, 2026-11)
RESIZE_COMPILE = 1 << 22  # pixels so far; for fewer no compiler is loaded (Z4, 2026-11)
RESIZE_PER_THREAD = 1 << 15  # pixels in a thread's part of the work (Z4, 2026-11)
COLOUR_CALL = 1 << 13  # channel values that are changed in the time of a call (Z4, 2026-11)
COLOUR_COMPILE = 1 << 24  # channel values so far, with those of a call; for fewer no compiler is loaded (Z4, 2026-11)
ROI_BINS = 1 << 14  # bins of all channels; so many load the compiler at the next call (Z4, 2026-11)
ROI_COMPILE = 1 << 24  # elements of feature maps so far; for fewer no compiler is loaded (Z4, 2026-11)
ROI_PER_THREAD = 1 << 16  # bins in a thread's part of the work (Z4, 2026-11)

# Sorting
TOPK_RATIO = 8  # elements for each that is wanted; fewer are sorted completely in the same time (Z4, 2026-11)
TOPK_HEAP = 1 << 12  # elements of a heap; for more a partition is faster (Z4, 2026-11)
TOPK_COMPILE = 1 << 22  # elements so far; for fewer no compiler is loaded (Z4, 2026-11)

# Sparse arrays
SPARSE_ELEMENTS = 1 << 12  # elements of both arrays; so many load the compiler at the next call (Z4, 2026-11)
SPARSE_CALL = 1 << 12  # elements that are gathered in the time of a call (Z4, 2026-11)
SPARSE_COMPILE = 1 << 22  # elements so far, with those of a call; for fewer no compiler is loaded (Z4, 2026-11)

# Random numbers; see also `_core.engines`, which counts words
RANDOM_CALL = 1 << 18  # words that are drawn in the time of a call for numbers by rejection (Z4, 2026-11)
RANDOM_REJECTION = 64  # words that are drawn in the time of one number by rejection (Z4, 2026-11)
RANDOM_CHOICE = 1 << 14  # words that are drawn in the time of a call for categorical samples (Z4, 2026-11)

# Optimizer steps
SINGLE_PASS_ELEMENTS = 1 << 17  # elements of all weights; fewer are not worth loading a compiler (Z4, 2026-11)
SINGLE_PASS_AFTER = 1 << 27  # elements that torch's kernel has changed before, in all steps (Z4, 2026-11)
SINGLE_PASS_PER_THREAD = 1 << 15  # elements in a part of the work (Z4, 2026-11)
