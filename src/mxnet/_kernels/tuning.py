"""All limits that decide when a kernel is used, with the processor and the date of each measurement.

Processors: Z4 = AMD EPYC, Zen 4 (AVX-512), 2 cores; A2 = a processor with AVX2 only, 2 cores; SR and ER = Intel Xeon,
Sapphire and Emerald Rapids (AVX-512), 2 cores. Runs were interleaved with runs of torch 2.13's own operators. Each line
has the limit, its unit, the behaviour beyond it, and the processor and date of the measurement; where no processor is
named, it was not recorded.
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
GRADIENT_BUFFER = 1 << 22  # elements of all weights; for more, one buffer of gradients saves no time (2026-11)
GRADIENT_CALLS = 1 << 13  # elements of each tensor; for more, a second pass takes longer than calls (2026-11)

# When the first training on a machine changes over to compiled code (see runtime.first_run): what torch computes while
# it is compiled. 300 steps of a net of 3x3 convolutions, 7 * 10**10 of this work, took two cores 8.5 s (ER, 2026-11);
# that compilation beside them ends in four times as long is an estimate, not measured
FIRST_RUN_CALLS, FIRST_RUN_WORK, FIRST_RUN_MOST_CALLS = 1_000, 3 * 10**11, 50_000

# Work per thread, of all kernels for convolution, matrix products and normalization
MULTIPLICATIONS_PER_THREAD = (
    1 << 20
)  # multiplications in a part of the work; less takes longer to hand over (Z4, 2026-11)
CHANNELS_LAST_PER_THREAD = 1 << 14  # floats that one pass over memory reads in a part of the work (Z4, 2026-11)
COPY_PER_THREAD = 1 << 15  # floats that are copied in a part of the work (Z4, 2026-11)

# Convolution, recorded, NCHW in memory
CONV_WORK = 1 << 22  # multiplications; below, a way through Python costs more than it saves (Z4, 2026-11)
CONV_COMPILED_WORK = 1 << 24  # multiplications; below, nobody waits for code that is compiled (Z4, 2026-11)
CONV_FEW_CHANNELS = 4  # channels up to which the NCHW kernels beat oneDNN (Z4, A2, 2026-11)
CONV_FEW_CHANNELS_WINDOW = 5  # pixels, the largest side of a window for them (Z4, 2026-11)
CONV_BLOCK = 8  # channels of oneDNN's blocks; numbers that fill none are faster channels-last (Z4, A2, 2026-11)
CONV_FEW_PIXELS = 16  # pixels of a result from which on the product by torch's im2col is as fast (Z4, 2026-11)
CONV_FEW_PIXELS_IN_ALL = 64  # pixels of all images of the batch (Z4, 2026-11)
CONV_FEW_PIXELS_WEIGHT = 1 << 15  # elements of the weight; for fewer torch's one call is as fast (Z4, 2026-11)
CONV_PATCHES = 1 << 22  # elements of the im2col matrix that are made at a time: they stay in the cache (Z4, 2026-11)

# Convolution by Winograd tiles; dictionaries are by the side of the windows
WINOGRAD_CHANNELS = {3: 32, 5: 48}  # channels and filters; with fewer, the direct sum is faster (Z4, A2, 2026-11)
WINOGRAD_CHANNELS_PARTIAL = {3: 24, 5: 20}  # the same where they fill no panels of 16, which slows the direct sum (Z4)
WINOGRAD_TILES = {3: 4, 5: 512}  # tiles, of a weight that is transformed for one call (Z4, 2026-11)
WINOGRAD_TILES_PARTIAL = {3: 96, 5: 512}  # the same where channels fill no panels (Z4, 2026-11)
WINOGRAD_PACKED_TILES = 8  # tiles, of a constant weight (Z4, A2, 2026-11)
WINOGRAD_PACKED_TILES_PARTIAL = 32  # the same where filters fill no panels (Z4, A2, 2026-11)
WINOGRAD_TORCH_CHANNELS = 128  # channels and filters, by torch's matrix products instead of kernels (A2, 2026-11)
WINOGRAD_TORCH_TILES = 32  # tiles, by torch's matrix products (A2, 2026-11)
WINOGRAD_F2X2_CHANNELS = 128  # channels and filters of F(2x2, 3x3); with fewer, the direct sum is as fast (Z4, 2026-11)
WINOGRAD_F2X2_TILES = 12  # tiles of F(2x2, 3x3) (Z4, 2026-11)
WINOGRAD_FLOATS = (
    1 << 20
)  # floats of transformed tiles for each thread at a time: they stay in the cache (Z4, A2, 2026-11)
WINOGRAD_TILES_AT_ONCE = 128  # tiles at least, or the transformed weight is read too often (Z4, A2, 2026-11)
WINOGRAD_WEIGHT_FLOATS = 36 << 16  # floats of a transformed weight that are used while in the cache (Z4, A2, 2026-11)
WINOGRAD_TILES_PER_THREAD = 48  # tiles; with fewer, threads divide the filters (Z4, 2026-11)
WINOGRAD_GRADIENT_FLOATS = 1 << 25  # floats of the threads' sums of weight gradients, at most (Z4, 2026-11)
WINOGRAD_STRIP_ROWS = 2  # rows of tiles in a strip of an image that one thread differentiates (Z4, 2026-11)
WINOGRAD_FLOATS_PER_THREAD = 1 << 15  # floats of a transform in a part of the work (Z4, 2026-11)

# Convolution with constant weights, by direct kernels
DIRECT_THREADS = 16  # threads; with more nobody measured how well they divide the work (Z4, 2026-11)
DIRECT_STRIP = 1 << 18  # bytes between two fused convolutions: they stay in the cache (Z4, A2, 2026-11)
DIRECT_PANEL_IMAGE = 1 << 16  # bytes of one panel of channels of an image that stay in the cache (Z4, 2026-11)
DIRECT_ROWS = 320 << 10  # bytes of rows that stay in the cache while all filters pass (Z4, 2026-11)
DIRECT_LINES = 3  # lines of results, at least, in a part of two fused convolutions (Z4, 2026-11)
DIRECT_SEVERAL = 8  # images, or blocks of windows, from which on threads take several parts each (Z4, 2026-11)

# Convolution, others
DECONV_LAST_CHANNELS = 16  # channels and filters from which a deconvolution is faster channels-last (Z4, 2026-11)
DECONV_LAST_PIXELS = 256  # of an image; smaller ones are slower, by up to a fifth (SR, 2026-11)
DECONV_LAST_WORK = 1 << 22  # multiplications of it; fewer take no longer than two copies of the images (Z4, 2026-11)
DECONV_FILTERS = 4  # filters up to which products and sums beat oneDNN's deconvolution (Z4, A2, 2026-11)

# Matrix products
GEMM_SIDE = 32  # rows, columns and depth; with fewer, nothing is gained over MKL (Z4, 2026-11)
GEMM_WORK = 1 << 22  # multiplications, likewise (Z4, 2026-11)
GEMM_RECORDED_WORK = (
    1 << 26
)  # multiplications of a product that torch would record in less time than we do (Z4, 2026-11)
GEMM_BEFORE = (
    1 << 34
)  # multiplications by MKL before kernels are compiled: always as many, for equal results (Z4, 2026-11)
GEMM_PARTIAL = 256  # rows or columns that need not fill panels of 16 (Z4, 2026-11)
GEMM_NARROW = 1024  # columns of a transposed left matrix that need no packing (Z4, 2026-11)

# Dense layers with constant weights
DENSE_ROWS = 96  # rows up to which packed weights beat MKL (Z4, 2026-11)
DENSE_COLUMNS = (
    1024  # columns of a weight that are packed at a time: a panel and its rows stay in the cache (Z4, 2026-11)
)
DENSE_WEIGHTS = 1 << 18  # elements of a weight; fewer are not packed (Z4, 2026-11)
DENSE_WEIGHTS_ONE_ROW = 1 << 20  # the same for a single row, which needs no packing (Z4, 2026-11)
DENSE_PACKED_BYTES = 1 << 29  # bytes of weights that a network keeps packed besides its own, at most

# Folded inference graphs
FOLD_CONV_WEIGHTS = (
    1 << 18
)  # elements of the weights of convolutions without batch norms that are worth packing (Z4, 2026-11)
FOLD_DENSE_WEIGHTS = 1 << 22  # elements of the weights of dense layers alone that are worth a compiler (Z4, 2026-11)
FOLD_WORKSPACE = 1 << 28  # bytes of workspace that a network keeps for its next run, at most

# Channels-last training graphs
CHANNELS_LAST_KERNEL = (
    11  # pixels, the largest side of a window that gains; longer sums round differently (Z4, 2026-11)
)
CHANNELS_LAST_FILTERS = 64  # filters of a convolution that gains (Z4, A2, 2026-11)
CHANNELS_LAST_CONVOLUTIONS = 2  # convolutions that gain; behind a single one the others lose as much (Z4, 2026-11)

# Normalization
NORM_FUSED_ELEMENTS = 1 << 17  # elements; batch norms of fewer are not fused with what follows (Z4, 2026-11)
NORM_RECOMPUTE_ELEMENTS = (
    1 << 18
)  # elements recomputed at a time by torch's calls: they stay in the cache (Z4, 2026-11)
NORM_SUM_PIXELS, NORM_SUMS = 128, 64  # pixels of a partial sum, at least, and sums, at most (accuracy, 2026-11)
NORM_CHUNK = 1 << 14  # floats whose sums are made together (Z4, 2026-11)
NORM_CHUNK_PIXELS = 16, 128  # pixels of such a chunk, at least and at most: longer sums lose digits (Z4, 2026-11)
LRN_ELEMENTS = 1 << 15  # elements; fewer are not worth loading a compiler (Z4, 2026-11)
