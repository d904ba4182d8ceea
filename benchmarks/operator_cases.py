"""What `operators.py` measures: arrays by name, and calls by group; a call that begins with a minus has no gradient."""

import more_cases
import vision_cases

ARRAYS = """
image uniform 8 32 56 56
matrix uniform 1024 1024
other uniform 1024 1024
positive positive 1024 1024
above above 1024 1024
zeroone integers 2 1024 1024
whole integers 9 1024 1024
column uniform 1024 1
row uniform 1 1024
steps uniform 32 128 256
first uniform 128 32 256
places integers 1024 64 64
labels integers 1000 1024
columns integers 1024 1024
pairs integers 1024 2 1024
wide uniform 256
narrow uniform 32
few uniform 4
slopes positive 32
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
lengths integers 128 32
square uniform 256 256
squares uniform 64 32 32
tall uniform 256 64
thin uniform 64 256
means uniform 300
spreads positive 300
chances positive 64 1000
draws positive 300 300
counts integers 9 300 300
grads uniform 1024 1024
states uniform 1024 1024
means2 positive 1024 1024
third uniform 1024 1024
cube uniform 64 64 128
"""

VISION = """
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
- box_iou = nd.contrib.box_iou(boxes, boxes)
- box_nms = nd.contrib.box_nms(found, overlap_thresh=0.5, topk=400, coord_start=2, score_index=1, id_index=0)
- Proposal = nd.contrib.Proposal(scores, shifts, size, rpn_pre_nms_top_n=6000, rpn_post_nms_top_n=300)
SpatialTransformer = nd.SpatialTransformer(image, affine, (56, 56), "affine", "bilinear")
Correlation = nd.Correlation(small, small, kernel_size=1, max_displacement=4, pad_size=4)
im2col = nd.im2col(image, kernel=(3, 3), pad=(1, 1))
"""

LAYERS = """
softmax = nd.softmax(matrix)
softmax of axis 1 = nd.softmax(image, axis=1)
softmax of lengths = nd.softmax(steps, sizes, use_length=True)
log_softmax = nd.log_softmax(matrix)
softmin = nd.softmin(matrix)
SoftmaxActivation = nd.SoftmaxActivation(image, mode="channel")
SoftmaxOutput = nd.SoftmaxOutput(matrix, labels)
softmax_cross_entropy = nd.softmax_cross_entropy(matrix, labels)
LinearRegressionOutput = nd.LinearRegressionOutput(matrix, other)
MAERegressionOutput = nd.MAERegressionOutput(matrix, other)
LogisticRegressionOutput = nd.LogisticRegressionOutput(matrix, other)
SVMOutput = nd.SVMOutput(matrix, labels)
MakeLoss = nd.MakeLoss(matrix)
LayerNorm = nd.LayerNorm(steps, wide, wide)
InstanceNorm = nd.InstanceNorm(image, narrow, narrow)
GroupNorm = nd.GroupNorm(image, few, few, num_groups=4)
L2Normalization = nd.L2Normalization(image)
L2Normalization of channels = nd.L2Normalization(image, mode="channel")
LRN = nd.LRN(image, nsize=5)
BatchNorm = nd.BatchNorm(image, narrow, narrow, narrow, slopes)
relu = nd.relu(image)
Activation relu = nd.Activation(image, act_type="relu")
Activation tanh = nd.Activation(image, act_type="tanh")
Activation sigmoid = nd.Activation(image, act_type="sigmoid")
Activation softrelu = nd.Activation(image, act_type="softrelu")
Activation softsign = nd.Activation(image, act_type="softsign")
leaky = nd.LeakyReLU(image, act_type="leaky")
elu = nd.LeakyReLU(image, act_type="elu")
selu = nd.LeakyReLU(image, act_type="selu")
gelu = nd.LeakyReLU(image, act_type="gelu")
prelu = nd.LeakyReLU(image, slopes, act_type="prelu")
rrelu = nd.LeakyReLU(image, act_type="rrelu")
hard_sigmoid = nd.hard_sigmoid(image)
Dropout = nd.Dropout(matrix, p=0.5, mode="always")
Dropout of axes = nd.Dropout(image, p=0.5, mode="always", axes=(2, 3))
Embedding = nd.Embedding(places, matrix, input_dim=1024, output_dim=1024)
CTCLoss = nd.CTCLoss(sounds, words)
SequenceMask = nd.SequenceMask(first, lengths, use_sequence_length=True)
SequenceMask of axis 1 = nd.SequenceMask(steps, lengths, use_sequence_length=True, axis=1)
SequenceLast = nd.SequenceLast(first, ends, use_sequence_length=True)
SequenceReverse = nd.SequenceReverse(first, lengths, use_sequence_length=True)
smooth_l1 = nd.smooth_l1(matrix, scalar=1.0)
Flatten = nd.Flatten(image)
Pad = nd.Pad(image, mode="constant", pad_width=(0, 0, 0, 0, 1, 1, 1, 1))
Pad reflect = nd.Pad(image, mode="reflect", pad_width=(0, 0, 0, 0, 1, 1, 1, 1))
Pad edge = nd.Pad(image, mode="edge", pad_width=(0, 0, 0, 0, 1, 1, 1, 1))
Crop = nd.Crop(image, offset=(4, 4), h_w=(48, 48))
div_sqrt_dim = nd.contrib.div_sqrt_dim(matrix)
quadratic = nd.contrib.quadratic(matrix, a=1, b=2, c=3)
gradientmultiplier = nd.contrib.gradientmultiplier(matrix, scalar=2)
"""

UNARY = """
sigmoid = nd.sigmoid(matrix)
softsign = nd.softsign(matrix)
tanh = nd.tanh(matrix)
exp = nd.exp(matrix)
expm1 = nd.expm1(matrix)
log = nd.log(positive)
log2 = nd.log2(positive)
log10 = nd.log10(positive)
log1p = nd.log1p(positive)
sqrt = nd.sqrt(positive)
rsqrt = nd.rsqrt(positive)
cbrt = nd.cbrt(positive)
rcbrt = nd.rcbrt(positive)
square = nd.square(matrix)
reciprocal = nd.reciprocal(positive)
abs = nd.abs(matrix)
sign = nd.sign(matrix)
negative = nd.negative(matrix)
round = nd.round(matrix)
rint = nd.rint(matrix)
ceil = nd.ceil(matrix)
floor = nd.floor(matrix)
trunc = nd.trunc(matrix)
fix = nd.fix(matrix)
sin = nd.sin(matrix)
cos = nd.cos(matrix)
tan = nd.tan(matrix)
arcsin = nd.arcsin(matrix)
arccos = nd.arccos(matrix)
arctan = nd.arctan(matrix)
sinh = nd.sinh(matrix)
cosh = nd.cosh(matrix)
arcsinh = nd.arcsinh(matrix)
arccosh = nd.arccosh(above)
arctanh = nd.arctanh(matrix)
degrees = nd.degrees(matrix)
radians = nd.radians(matrix)
gamma = nd.gamma(positive)
gammaln = nd.gammaln(positive)
erf = nd.erf(matrix)
erfinv = nd.erfinv(matrix)
- logical_not = nd.logical_not(zeroone)
clip = nd.clip(matrix, -0.5, 0.5)
Cast = nd.Cast(matrix, dtype="float64")
Cast to half = nd.Cast(matrix, dtype="float16")
Cast to int = nd.Cast(matrix, dtype="int32")
identity = nd.identity(matrix)
BlockGrad = nd.BlockGrad(matrix)
- zeros_like = nd.zeros_like(matrix)
- ones_like = nd.ones_like(matrix)
- isnan = nd.contrib.isnan(matrix)
- isfinite = nd.contrib.isfinite(matrix)
round_ste = nd.contrib.round_ste(matrix)
sign_ste = nd.contrib.sign_ste(matrix)
exp of halves = nd.exp(halves)
tanh of doubles = nd.tanh(doubles)
- all_finite = nd.all_finite(matrix)
- shape_array = nd.shape_array(matrix)
"""

BINARY = """
plus number = matrix + 2
minus from number = 2 - matrix
times number = matrix * 2
divided by number = matrix / 2
number divided = 2 / positive
modulo number = matrix % 0.3
number modulo = 2 % positive
to the power = positive ** 1.7
squared = matrix ** 2
number to the power = 2 ** matrix
- equal to number = whole == 2
- greater than number = matrix > 0
maximum with number = nd.maximum(matrix, 0.2)
hypot with number = nd._internal._hypot_scalar(matrix, scalar=2)
- logical_and with number = nd._internal._logical_and_scalar(zeroone, scalar=1)
add = matrix + other
subtract = matrix - other
multiply = matrix * other
divide = matrix / positive
modulo = matrix % positive
power = positive ** other
maximum = nd.maximum(matrix, other)
minimum = nd.minimum(matrix, other)
hypot = nd._internal._hypot(matrix, other)
- equal = whole == zeroone
- greater = matrix > other
- lesser_equal = matrix <= other
- logical_and = nd.logical_and(zeroone, whole)
- logical_xor = nd.logical_xor(zeroone, whole)
broadcast_add of column = nd.broadcast_add(matrix, column)
broadcast_add of row = nd.broadcast_add(matrix, row)
broadcast_add of both = nd.broadcast_add(column, row)
broadcast_mul of column = nd.broadcast_mul(matrix, column)
broadcast_mul of row = nd.broadcast_mul(matrix, row)
broadcast_div of column = nd.broadcast_div(matrix, column)
broadcast_power of row = nd.broadcast_power(positive, row)
broadcast_maximum of row = nd.broadcast_maximum(matrix, row)
broadcast_mod of row = nd.broadcast_mod(matrix, row)
broadcast_hypot of row = nd.broadcast_hypot(matrix, row)
- broadcast_greater of row = nd.broadcast_greater(matrix, row)
- broadcast_logical_or of row = nd.broadcast_logical_or(matrix, row)
broadcast channels = nd.broadcast_mul(image, narrow.reshape((1, 32, 1, 1)))
broadcast_to = nd.broadcast_to(row, (1024, 1024))
broadcast_axis = nd.broadcast_axis(column, axis=1, size=1024)
broadcast_like = nd.broadcast_like(row, matrix)
add_n = nd.add_n(matrix, other, positive)
where = nd.where(zeroone, matrix, other)
add of halves = halves + halves
add of doubles = doubles + doubles
- add of ints = ints + ints
- multiply of bytes = bytes_ * bytes_
- iadd = third.__iadd__(other)
"""

REDUCE = """
sum = nd.sum(matrix)
sum of axis 1 = nd.sum(matrix, axis=1)
sum of axis 0 = nd.sum(matrix, axis=0)
sum of images = nd.sum(image, axis=(0, 2, 3))
sum of channels = nd.sum(image, axis=1)
sum kept = nd.sum(cube, axis=1, keepdims=True)
sum without = nd.sum(image, axis=1, exclude=True)
mean = nd.mean(matrix)
mean of axis 0 = nd.mean(matrix, axis=0)
mean of axis 1 = nd.mean(matrix, axis=1)
mean of images = nd.mean(image, axis=(2, 3))
prod of axis 1 = nd.prod(above, axis=1)
nansum = nd.nansum(matrix, axis=1)
nanprod = nd.nanprod(above, axis=1)
max = nd.max(matrix)
max of axis 0 = nd.max(matrix, axis=0)
max of axis 1 = nd.max(matrix, axis=1)
max of images = nd.max(image, axis=(2, 3))
min of axis 1 = nd.min(matrix, axis=1)
norm = nd.norm(matrix)
norm of axis 1 = nd.norm(matrix, axis=1)
norm of axis 0 = nd.norm(matrix, axis=0)
norm of order 1 = nd.norm(matrix, ord=1, axis=1)
moments = nd.moments(matrix, axes=(0,))[1]
- argmax of axis 1 = nd.argmax(matrix, axis=1)
- argmax of axis 0 = nd.argmax(matrix, axis=0)
- argmax = nd.argmax(matrix)
- argmin of axis 1 = nd.argmin(matrix, axis=1)
- argmax_channel = nd.argmax_channel(matrix)
- square_sum = nd._internal._square_sum(rowsparse, axis=1)
cumsum = nd.cumsum(matrix, axis=1)
cumsum of axis 0 = nd.cumsum(matrix, axis=0)
cumsum of all = nd.cumsum(matrix)
- histogram = nd.histogram(matrix, bins=50, range=(-1, 1))[0]
- histogram of edges = nd.histogram(matrix, bins=edges)[0]
- multi_sum_sq = nd.multi_sum_sq(matrix, other, num_arrays=2)
- allclose = nd.contrib.allclose(matrix, other)
- sum of ints = nd.sum(ints, axis=1)
- max of ints = nd.max(ints, axis=1)
sum of halves = nd.sum(halves, axis=1)
- topk = nd.topk(matrix, k=10, axis=1)
- topk of both = nd.topk(matrix, k=10, axis=1, ret_typ="both")[0]
- topk of axis 0 = nd.topk(matrix, k=10, axis=0)
- topk of one = nd.topk(matrix, k=1, axis=1)
- topk mask = nd.topk(matrix, k=10, axis=1, ret_typ="mask")
topk values = nd.topk(matrix, k=10, axis=1, ret_typ="value")
sort = nd.sort(matrix, axis=1)
sort of axis 0 = nd.sort(matrix, axis=0)
- argsort = nd.argsort(matrix, axis=1)
- shuffle = nd.random.shuffle(matrix)
"""

SHAPES = """
transpose = nd.transpose(matrix)
transpose of images = nd.transpose(image, (0, 2, 3, 1))
transpose of heads = nd.transpose(steps.reshape((32, 128, 8, 32)), (0, 2, 1, 3))
swapaxes = nd.swapaxes(steps, 0, 1)
reshape = nd.reshape(matrix, (512, -1))
reshape_like = nd.reshape_like(matrix, other)
expand_dims = nd.expand_dims(matrix, 1)
squeeze = nd.squeeze(column)
flip = nd.flip(matrix, axis=1)
flip of axis 0 = nd.flip(matrix, axis=0)
tile = nd.tile(square, (4, 4))
repeat = nd.repeat(square, 4, axis=1)
repeat of axis 0 = nd.repeat(square, 4, axis=0)
stack = nd.stack(matrix, other, axis=0)
stack of axis 1 = nd.stack(matrix, other, axis=1)
concat = nd.concat(matrix, other, dim=1)
concat of axis 0 = nd.concat(matrix, other, dim=0)
concat of images = nd.concat(image, image, dim=1)
split = nd.split(matrix, 4, axis=1)[0]
split_v2 = nd.split_v2(matrix, 4, axis=0)[0]
SliceChannel of steps = nd.SliceChannel(steps, 128, axis=1, squeeze_axis=True)[0]
slice = nd.slice(matrix, begin=(10, 10), end=(1000, 1000))
slice of steps = nd.slice(matrix, begin=(0, 0), end=(1024, 1024), step=(2, 2))
slice_axis = nd.slice_axis(matrix, axis=1, begin=10, end=1000)
slice_like = nd.slice_like(matrix, square)
getitem = matrix[10:1000]
getitem of columns = matrix[:, 10:1000]
getitem of places = matrix[places.reshape(-1)]
- setitem = third.__setitem__(slice(10, 1000), 1)
depth_to_space = nd.depth_to_space(image, 2)
space_to_depth = nd.space_to_depth(image, 2)
diag = nd.diag(matrix)
diag of vector = nd.diag(means)
- arange = nd.arange(1000000)
- arange_like = nd.contrib.arange_like(matrix)
- zeros = nd.zeros((1024, 1024))
- ones = nd.ones((1024, 1024))
- full = nd.full((1024, 1024), 3)
- eye = nd.eye(1024)
- linspace = nd.linspace(0, 1, 1000000)
- index_array = nd.contrib.index_array(square)
- copy = matrix.copy()
- copyto = matrix.copyto(third)
- astype = matrix.astype("float64")
- asnumpy = matrix.asnumpy()
- array = nd.array(numbers)
"""

INDEXING = """
take = nd.take(matrix, places)
take of axis 1 = nd.take(matrix, columns, axis=1)
take wrapped = nd.take(matrix, places, mode="wrap")
- batch_take = nd.batch_take(matrix, labels_int)
pick = nd.pick(matrix, labels)
pick of axis 0 = nd.pick(matrix, labels, axis=0)
- one_hot = nd.one_hot(labels, 1000)
gather_nd = nd.gather_nd(matrix, pairs)
scatter_nd = nd.scatter_nd(values, pairs, shape=(1024, 1024))
- ravel_multi_index = nd.ravel_multi_index(pairs, shape=(1024, 1024))
- unravel_index = nd.unravel_index(columns, shape=(32, 32))
boolean_mask = nd.contrib.boolean_mask(matrix, halved)
- index_copy = nd.contrib.index_copy(third, several, square2)
- fill_element_0index = nd.fill_element_0index(matrix, labels, labels)
- choose_element_0index = nd.choose_element_0index(matrix, labels)
- bipartite_matching = nd.contrib.bipartite_matching(chances, threshold=0.1)[0]
- getnnz = nd.contrib.getnnz(csr)
"""

LINALG = """
dot = nd.dot(matrix, other)
dot transposed = nd.dot(matrix, other, transpose_a=True)
dot of vectors = nd.dot(means, means)
dot of matrix and vector = nd.dot(matrix, labels)
dot of three = nd.dot(cube, squarish)
batch_dot = nd.batch_dot(steps, steps, transpose_b=True)
gemm = nd.linalg.gemm(square, square, square)
gemm2 = nd.linalg.gemm2(steps, steps, transpose_b=True)
potrf = nd.linalg.potrf(definite)
potri = nd.linalg.potri(lower)
trmm = nd.linalg.trmm(lower, square)
trsm = nd.linalg.trsm(lower, square)
syrk = nd.linalg.syrk(square)
gelqf = nd.linalg.gelqf(thin)[0]
syevd = nd.linalg.syevd(definite)[0]
inverse = nd.linalg.inverse(definite)
inverse of many = nd.linalg.inverse(definites)
potrf of many = nd.linalg.potrf(definites)
det = nd.linalg.det(definites)
slogdet = nd.linalg.slogdet(definites)[1]
sumlogdiag = nd.linalg.sumlogdiag(definites)
extractdiag = nd.linalg.extractdiag(squares)
makediag = nd.linalg.makediag(tall)
extracttrian = nd.linalg.extracttrian(squares)
maketrian = nd.linalg.maketrian(trian)
- khatri_rao = nd.khatri_rao(tall, tall)
interleaved selfatt_qk = nd.contrib.interleaved_matmul_selfatt_qk(joint, heads=8)
"""

RANDOM = """
- uniform = nd.random.uniform(shape=(1000, 1000))
- normal = nd.random.normal(shape=(1000, 1000))
- randint = nd.random.randint(0, 100, shape=(1000, 1000))
- gamma numbers = nd.random.gamma(2, 1, shape=(300, 300))
- gamma numbers below 1 = nd.random.gamma(0.5, 1, shape=(300, 300))
- exponential = nd.random.exponential(2, shape=(1000, 1000))
- poisson = nd.random.poisson(4, shape=(300, 300))
- poisson of many = nd.random.poisson(40, shape=(300, 300))
- negative_binomial = nd.random.negative_binomial(4, 0.5, shape=(300, 300))
- generalized_negative_binomial = nd.random.generalized_negative_binomial(4, 0.5, shape=(300, 300))
- multinomial = nd.random.multinomial(chances2, shape=200)
- sample_uniform = nd.sample_uniform(means, spreads + 2, shape=1000)
- sample_normal = nd.sample_normal(means, spreads, shape=1000)
- sample_gamma = nd.sample_gamma(spreads, spreads, shape=300)
- sample_exponential = nd.sample_exponential(spreads, shape=1000)
- sample_poisson = nd.sample_poisson(spreads, shape=300)
- sample_negative_binomial = nd.sample_negative_binomial(spreads * 9, spreads, shape=300)
- uniform_like = nd.random.uniform_like(matrix)
- normal_like = nd.random.normal_like(matrix)
- sample_unique_zipfian = nd._internal._sample_unique_zipfian(100000, shape=(4, 2000))[0]
pdf_uniform = nd.random_pdf_uniform(draws, means - 1, spreads + 1)
pdf_normal = nd.random_pdf_normal(draws, means, spreads)
pdf_gamma = nd.random_pdf_gamma(draws, spreads, spreads)
pdf_exponential = nd.random_pdf_exponential(draws, spreads)
- pdf_poisson = nd.random_pdf_poisson(counts, spreads)
- pdf_negative_binomial = nd.random_pdf_negative_binomial(counts, spreads, spreads)
pdf_dirichlet = nd.random_pdf_dirichlet(shares, spreads)
- small uniform = nd.random.uniform(shape=(10, 10))
- small normal = nd.random.normal(shape=(10, 10))
"""

UPDATES = """
- sgd_update = nd.sgd_update(third, grads, lr=0.1, wd=0.01, out=third)
- sgd_mom_update = nd.sgd_mom_update(third, grads, states, lr=0.1, momentum=0.9, out=third)
- nag_mom_update = nd.nag_mom_update(third, grads, states, lr=0.1, momentum=0.9, out=third)
- adam_update = nd.adam_update(third, grads, states, means2, lr=0.1, out=third)
- rmsprop_update = nd.rmsprop_update(third, grads, means2, lr=0.1, out=third)
- rmspropalex_update = nd.rmspropalex_update(third, grads, n2, g2, states, lr=0.1, out=third)
- ftrl_update = nd.ftrl_update(third, grads, states, means2, lr=0.1, out=third)
- ftml_update = nd.ftml_update(third, grads, g2, means2, states, lr=0.1, t=1, out=third)
- signsgd_update = nd.signsgd_update(third, grads, lr=0.1, out=third)
- signum_update = nd.signum_update(third, grads, states, lr=0.1, momentum=0.9, out=third)
- lamb_update_phase1 = nd.lamb_update_phase1(third, grads, g2, means2, t=1, wd=0.1)
- adamw_update = nd.contrib.adamw_update(third, grads, g2, means2, rate, lr=0.1, wd=0.01, eta=1, out=third)
- group_adagrad_update = nd.contrib.group_adagrad_update(third, grads, history, lr=0.1, out=third)
- multi_sgd_update = nd.multi_sgd_update(third, grads, lrs=(0.1,), wds=(0.1,), num_weights=1, out=third)
- mp_sgd_update = nd.mp_sgd_update(halves, halves2, third, lr=0.1, out=halves)
"""

SPARSE = """
- dot of csr = nd.sparse.dot(csr, tall1024)
- dot of csr transposed = nd.sparse.dot(csr, tall1024, transpose_a=True)
- to csr = matrixlike.tostype("csr")
- csr to dense = csr.tostype("default")
- to row_sparse = matrixlike.tostype("row_sparse")
- row_sparse to dense = rowsparse.tostype("default")
- add row_sparse = nd.sparse.add(rowsparse, rowsparse)
- add csr = nd.sparse.add(csr, csr)
- retain = nd.sparse.retain(rowsparse, several)
- sqrt of csr = nd.sparse.sqrt(nd.sparse.abs(csr))
- slice of csr = csr[10:500]
- sum of csr = nd.sparse.sum(csr, axis=1)
- times number csr = csr * 2
- sparse sgd_update = nd.sparse.sgd_update(third, rowsparse, lr=0.1, out=third)
- sparse adam_update = nd.sparse.adam_update(third, rowsparse, states, means2, lr=0.1, out=third)
- sparse adagrad_update = nd.sparse.adagrad_update(third, rowsparse, means2, lr=0.1, out=third)
- csr_matrix = nd.sparse.csr_matrix(parts_of_csr, shape=(1024, 1024))
"""

NUMPY = """
np add = np.add(matrix, other)
np add number = matrix + 2
np subtract = matrix - other
np multiply = matrix * other
np true_divide = matrix / positive
np mod = np.mod(matrix, positive)
np power = np.power(positive, other)
np power number = matrix ** 2
np maximum = np.maximum(matrix, other)
np arctan2 = np.arctan2(matrix, other)
np hypot = np.hypot(matrix, other)
np copysign = np.copysign(matrix, other)
np ldexp = np.ldexp(matrix, whole)
- np lcm = np.lcm(ints, ints)
- np bitwise_and = np.bitwise_and(ints, ints)
- np less = matrix < other
- np equal = np.equal(matrix, other)
- np logical_not = np.logical_not(matrix)
- np isnan = np.isnan(matrix)
- np isinf = np.isinf(matrix)
np exp = np.exp(matrix)
np log = np.log(positive)
np sin = np.sin(matrix)
np tanh = np.tanh(matrix)
np sqrt = np.sqrt(positive)
np cbrt = np.cbrt(positive)
np around = np.around(matrix, 2)
np clip = np.clip(matrix, -0.5, 0.5)
np nan_to_num = np.nan_to_num(matrix)
np where = np.where(matrix > 0, matrix, other)
np sum = np.sum(matrix)
np sum of axis 0 = np.sum(matrix, axis=0)
np mean = np.mean(matrix)
np mean of axis 1 = np.mean(matrix, axis=1)
np std = np.std(matrix, axis=1)
np var = np.var(matrix)
np prod = np.prod(above, axis=1)
np max = np.max(matrix, axis=1)
np min = np.min(matrix)
np cumsum = np.cumsum(matrix, axis=1)
- np argmax = np.argmax(matrix, axis=1)
- np argsort = np.argsort(matrix, axis=1)
np sort = np.sort(matrix, axis=1)
- np unique = np.unique(whole)
- np bincount = np.bincount(columns_int)
- np histogram = np.histogram(matrix, bins=50, range=(-1, 1))[0]
- np percentile = np.percentile(matrix, 50, axis=1)
np average = np.average(matrix, axis=1)
- np any = np.any(matrix > 2)
- np all = np.all(matrix > 2)
np diff = np.diff(matrix)
np dot = np.dot(matrix, other)
np matmul = np.matmul(steps, steps.transpose(0, 2, 1))
np tensordot = np.tensordot(cube, squarish, axes=1)
np einsum = np.einsum("bij,bkj->bik", steps, steps)
np einsum of vectors = np.einsum("ij,ij->i", matrix, other)
np inner = np.inner(matrix, other)
np outer = np.outer(means, means)
np trace = np.trace(matrix)
np norm = np.linalg.norm(matrix)
np inv = np.linalg.inv(definite)
np cholesky = np.linalg.cholesky(definite)
- np svd = np.linalg.svd(thin)[1]
np solve = np.linalg.solve(definite, square)
- np eigh = np.linalg.eigh(definite)[0]
np det = np.linalg.det(definites)
np transpose = np.transpose(matrix)
np concatenate = np.concatenate([matrix, other], axis=1)
np stack = np.stack([matrix, other])
np vstack = np.vstack([matrix, other])
np hstack = np.hstack([matrix, other])
np split = np.split(matrix, 4, axis=1)[0]
np tile = np.tile(square, (4, 4))
np repeat = np.repeat(square, 4, axis=1)
np roll = np.roll(matrix, 3, axis=1)
np flip = np.flip(matrix, 1)
np rot90 = np.rot90(matrix)
np pad = np.pad(matrix, ((1, 1), (1, 1)), mode="constant")
np tril = np.tril(matrix)
np diag = np.diag(matrix)
np expand_dims = np.expand_dims(matrix, 0)
np broadcast_to = np.broadcast_to(row, (1024, 1024))
np take = np.take(matrix, places, axis=0)
np getitem of mask = matrix[matrix > 0]
np getitem of places = matrix[columns_int]
- np nonzero = np.nonzero(matrix > 0)
- np delete = np.delete(matrix, 3, axis=0)
- np insert = np.insert(matrix, 3, row, axis=0)
np polyval = np.polyval(tiny[0], matrix)
- np interp = np.interp(means, wide2, wide2)
- np zeros = np.zeros((1024, 1024))
- np ones = np.ones((1024, 1024))
- np full = np.full((1024, 1024), 2)
- np arange = np.arange(1000000)
- np linspace = np.linspace(0, 1, 1000000)
- np eye = np.eye(1024)
- np meshgrid = np.meshgrid(wide, means)[0]
- np indices = np.indices((512, 512))
- np small zeros = np.zeros((2, 2))
- np small times number = tiny * 2
- np small add = tiny + tiny
- np small getitem = tiny[0]
- np small sum = tiny.sum()
- np small array = np.array([1, 2, 3])
- np random uniform = np.random.uniform(size=(1000, 1000))
- np random normal = np.random.normal(size=(1000, 1000))
- np random randint = np.random.randint(0, 100, size=(1000, 1000))
- np random gamma = np.random.gamma(2, 1, size=(300, 300))
- np random exponential = np.random.exponential(2, size=(300, 300))
- np random beta = np.random.beta(2, 2, size=(100, 100))
- np random choice = np.random.choice(1000, 100)
- np random shuffle = np.random.shuffle(third)
- np random multinomial = np.random.multinomial(100, [0.2, 0.8], size=1000)
- np random gumbel = np.random.gumbel(size=(300, 300))
- np random logistic = np.random.logistic(size=(300, 300))
- np random pareto = np.random.pareto(2, size=(300, 300))
- np random weibull = np.random.weibull(2, size=(300, 300))
npx softmax = npx.softmax(matrix)
npx log_softmax = npx.log_softmax(matrix)
npx relu = npx.relu(matrix)
npx sigmoid = npx.sigmoid(matrix)
- npx one_hot = npx.one_hot(labels, 1000)
npx pick = npx.pick(matrix, labels)
npx topk = npx.topk(matrix, k=10, axis=1)
npx layer_norm = npx.layer_norm(steps, wide, wide)
npx batch_dot = npx.batch_dot(steps, steps, transpose_b=True)
npx gamma = npx.gamma(positive)
npx erf = npx.erf(matrix)
npx smooth_l1 = npx.smooth_l1(matrix)
npx embedding = npx.embedding(places, matrix, 1024, 1024)
npx dropout = npx.dropout(matrix, p=0.5, mode="always")
npx leaky_relu = npx.leaky_relu(image, act_type="gelu")
npx sequence_mask = npx.sequence_mask(first, lengths, use_sequence_length=True)
"""

GROUPS = {
    "vision": VISION + vision_cases.CASES.lstrip(),
    "layers": LAYERS,
    "unary": UNARY,
    "binary": BINARY,
    "reduce": REDUCE,
    "shapes": SHAPES,
    "indexing": INDEXING,
    "linalg": LINALG,
    "random": RANDOM,
    "updates": UPDATES,
    "sparse": SPARSE,
    "more": more_cases.CASES,
    "numpy": NUMPY,  # the last: it turns NumPy's semantics on
}


def drawn(line, random):
    """The name and the numbers of one line of `ARRAYS`."""
    name, kind, *sizes = line.split()
    if kind == "integers":
        return name, random.randint(0, int(sizes[0]), tuple(map(int, sizes[1:])))
    low, high = {"positive": (0.1, 1), "above": (1, 1.01)}.get(kind, (-1, 1))
    return name, random.uniform(low, high, tuple(map(int, sizes)))


def derived(made, nd, np, random):
    """Arrays that are made from others, or of other types and storages."""
    corners = random.rand(200, 2) * 100
    made["regions"] = nd.array(np.concatenate([np.zeros((200, 1)), corners, corners + random.rand(200, 2) * 100], 1))
    made["size"] = nd.array([[600, 800, 1]])
    made["ends"] = made["lengths"] + 1
    made["sizes"] = nd.array(random.randint(1, 256, (32, 128)), dtype="int32")
    made["edges"] = nd.array(np.linspace(-1, 1, 51))
    made["values"] = nd.array(random.rand(1024))
    made["halved"] = nd.array(random.randint(0, 2, 1024))
    made["several"], made["square2"] = nd.array(np.arange(0, 1024, 4)), nd.array(random.rand(256, 1024))
    made["halves"], made["doubles"] = made["matrix"].astype("float16"), made["matrix"].astype("float64")
    made["halves2"] = made["halves"].copy()
    made["ints"], made["bytes_"] = made["whole"].astype("int32"), made["whole"].astype("uint8")
    made["squarish"] = nd.array(random.rand(128, 256))
    made["trian"] = nd.array(random.rand(64, 528))
    made["joint"] = nd.array(random.rand(128, 8, 8 * 3 * 32))
    made["shares"] = nd.array(random.dirichlet(np.ones(300), 300))
    made["chances2"] = nd.array(random.dirichlet(np.ones(1000), 64))
    made["rate"], made["history"] = nd.array([1.0]), nd.array(random.rand(1024, 1))
    made["n2"], made["g2"] = nd.array(random.rand(1024, 1024) + 2), nd.array(random.rand(1024, 1024))
    made["tiny"], made["numbers"] = nd.array(random.rand(8, 8)), random.rand(1024, 1024)
    made["wide2"] = nd.array(np.linspace(-1, 1, 256))
    made["labels_int"] = made["labels"].astype("int32")
    made["columns_int"] = made["columns"].astype("int32")
    for name, shape in (("definite", (256, 256)), ("definites", (64, 32, 32))):
        values = random.rand(*shape)
        values = np.matmul(values, np.swapaxes(values, -1, -2)) + np.eye(shape[-1]) * 10
        made[name] = nd.array(values)
    made["lower"] = nd.linalg.potrf(made["definite"])
    few = random.rand(1024, 1024) * (random.rand(1024, 1024) < 0.02)
    made["matrixlike"], made["tall1024"] = nd.array(few), nd.array(random.rand(1024, 256))
    made["csr"] = made["matrixlike"].tostype("csr")
    rows = random.rand(1024, 1024) * (random.rand(1024, 1) < 0.2)
    made["rowsparse"] = nd.array(rows).tostype("row_sparse")
    made["parts_of_csr"] = tuple(part.asnumpy() for part in (made["csr"].data, made["csr"].indices, made["csr"].indptr))


def arrays(nd, np):
    """The arrays by name, the same in both interpreters."""
    random = np.random.RandomState(0)
    made = {name: nd.array(values) for name, values in (drawn(line, random) for line in ARRAYS.strip().splitlines())}
    derived(made, nd, np, random)
    return made | vision_cases.arrays(nd, np) | more_cases.arrays(nd, np)


LEAVES = """image matrix positive above column row steps first parts small sounds square squares tall thin cube definite
definites lower halves doubles joint draws means shares chances values trian tiny squarish""".split()
LEAVES += vision_cases.LEAVES + more_cases.LEAVES
