"""Summaries of the reference in Chinese, by name; what is not here shows its English summary alone."""

MODULES = {
    "attribute": "给符号加属性的作用域。",
    "autograd": "自动求梯度：记录运算，反向计算梯度。",
    "base": "所有模块共用的错误类型和工具。",
    "callback": "训练中调用的回调函数：速度、进度、检查点。",
    "checkpoint": "可以中断后继续的训练，以及同时生效的成组文件。",
    "compat": "让旧程序在新的 Python 和 NumPy 上运行。",
    "context": "设备：CPU、GPU，以及当前设备。",
    "contrib.amp": "自动混合精度：16 位训练与推理。",
    "contrib.onnx": "ONNX 的读入与写出（旧的位置）。",
    "contrib.quantization": "8 位整数量化与校准。",
    "contrib.tensorboard": "TensorBoard 日志。",
    "contrib.text": "词表与词向量。",
    "contrib.torch": "与 PyTorch 模块互相转换。",
    "deploy": "只做预测的程序：用导出的文件计算。",
    "engine": "执行引擎的设置。",
    "error": "错误类型。",
    "executor": "绑定了数组的计算图。",
    "gluon": "块、参数和训练器。",
    "gluon.contrib.cnn": "实验性的卷积层。",
    "gluon.contrib.data": "实验性的数据集。",
    "gluon.contrib.estimator": "现成的训练循环和事件处理器。",
    "gluon.contrib.nn": "实验性的层。",
    "gluon.contrib.rnn": "实验性的循环单元。",
    "gluon.data": "数据集、采样器和加载器。",
    "gluon.data.batchify": "把样本合成批量的方法。",
    "gluon.data.vision": "图像数据集。",
    "gluon.data.vision.transforms": "图像变换与增广。",
    "gluon.loss": "损失函数。",
    "gluon.model_zoo.vision": "模型库：常见的图像网络。",
    "gluon.nn": "层：基本层、卷积、池化、激活。",
    "gluon.rnn": "循环单元和循环层。",
    "gluon.utils": "分批、下载、梯度裁剪等工具。",
    "image": "图像的读取、变换、增广和迭代。",
    "initializer": "参数的初始化方法。",
    "io": "数据迭代器。",
    "kvstore": "键值存储：设备和机器之间的同步。",
    "lr_scheduler": "学习率计划。",
    "metric": "评价指标。",
    "model": "检查点的保存与载入。",
    "module": "Module：用符号训练网络。",
    "monitor": "训练中查看中间值。",
    "name": "符号名字的管理。",
    "ndarray.ndarray": "NDArray 类及其方法。",
    "ndarray.random": "随机数组。",
    "ndarray.sparse": "稀疏数组。",
    "ndarray.utils": "数组的保存与载入。",
    "notebook.callback": "笔记本里的训练图表。",
    "numpy": "NumPy 风格的数组与函数。",
    "numpy.linalg": "NumPy 风格的线性代数。",
    "numpy.random": "NumPy 风格的随机数。",
    "numpy_extension": "NumPy 接口之外的神经网络函数。",
    "onnx": "ONNX 的写出。",
    "operator": "用 Python 写自己的算子。",
    "optimizer": "优化器。",
    "profiler": "性能分析。",
    "random": "随机数与种子。",
    "recordio": "记录文件。",
    "rnn": "符号接口的循环单元和分桶迭代器。",
    "runtime": "这台机器上有哪些功能和内核。",
    "symbol.random": "随机数的符号。",
    "symbol.symbol": "Symbol 类及其方法。",
    "test_utils": "测试工具：比较数组、检查梯度。",
    "util": "NumPy 模式等开关。",
    "visualization": "画图：网络、图像、训练曲线。",
    "operators/array.creation": "创建数组的算子。",
    "operators/array.indexing": "按下标取值和写值。",
    "operators/array.joining": "拼接、拆分、广播。",
    "operators/array.reshape": "改变形状、转置、重复、填充。",
    "operators/array.slicing": "切片与截断。",
    "operators/array.sorting": "排序与取前 k 个。",
    "operators/contrib.arithmetic": "逐元素算术：二次函数、按末轴长度缩放、比较两个数组。",
    "operators/contrib.compact_bilinear": "计数略图与傅里叶变换，可用来构造紧凑双线性池化。",
    "operators/contrib.rows_and_indices": "按下标或掩码选取、替换行，以及由下标组成的数组。",
    "operators/contrib.straight_through": "梯度原样通过的函数，以及把梯度乘以一个数的函数。",
    "operators/control_flow": "图中的循环与分支。",
    "operators/custom": "用 Python 定义的算子。",
    "operators/elementwise.activation": "激活函数。",
    "operators/elementwise.amp_cast": "混合精度的类型转换。",
    "operators/elementwise.binary": "两个数组逐元素的运算。",
    "operators/elementwise.identity": "不改变数值的算子：类型、存储、梯度。",
    "operators/elementwise.scalar": "数组与标量的运算。",
    "operators/elementwise.unary": "一个数组逐元素的函数。",
    "operators/linalg.dot": "矩阵乘法。",
    "operators/linalg.matrix": "线性代数：分解、求逆、行列式。",
    "operators/nn.attention": "注意力。",
    "operators/nn.batch_norm": "批量归一化。",
    "operators/nn.batch_norm_variants": "批量归一化的变体。",
    "operators/nn.convolution": "卷积与转置卷积。",
    "operators/nn.ctc": "CTC 损失。",
    "operators/nn.dropout": "丢弃法。",
    "operators/nn.fully_connected": "全连接层。",
    "operators/nn.im2col": "图像块与列的转换。",
    "operators/nn.loss_outputs": "同时是损失的输出层。",
    "operators/nn.normalization": "层、组、实例归一化等。",
    "operators/nn.pooling": "池化。",
    "operators/nn.recurrent": "循环层。",
    "operators/nn.sequence": "变长序列。",
    "operators/nn.softmax": "softmax 及其变体。",
    "operators/nn.upsampling": "上采样。",
    "operators/optimizer.adaptive": "自适应优化器的更新。",
    "operators/optimizer.multi": "一次更新多个参数。",
    "operators/optimizer.updates": "SGD 等优化器的更新。",
    "operators/quantized.arrays": "8 位数组的运算。",
    "operators/quantized.calibration": "量化范围的校准。",
    "operators/quantized.layers": "8 位的层。",
    "operators/quantized.quantize": "浮点数与整数之间的转换。",
    "operators/random.distributions": "按分布取随机数。",
    "operators/random.pdf": "概率密度。",
    "operators/reduce.histogram": "直方图。",
    "operators/reduce.reduction": "沿轴归约：求和、均值、最大值等。",
    "operators/sparse.rows": "稀疏行。",
    "operators/vision.boxes": "检测框：交并比、抑制、编码。",
    "operators/vision.deformable_convolution": "可变形卷积。",
    "operators/vision.image_transform": "图像变换。",
    "operators/vision.multibox": "单次检测器的锚框。",
    "operators/vision.proposal": "候选区域。",
    "operators/vision.resize": "缩放与自适应池化。",
    "operators/vision.roi_align": "区域对齐。",
    "operators/vision.roi_pooling": "区域池化与相关。",
    "operators/vision.spatial_transformer": "空间变换。",
}

# One line each: names, then the summary.
_TABLE = """
Block: 所有层和网络的基类：保存参数和子块，由输入计算输出。
HybridBlock: 可以变成计算图的块：计算写在 `hybrid_forward` 里。
SymbolBlock: 由符号计算图构成的块，用来载入导出的网络。
Parameter: 一个参数：各设备上的值和梯度。
ParameterDict: 按名字保存的一组参数。
Constant: 不学习的常数参数。
Trainer: 用优化器更新一组参数。
DeferredInitializationError: 参数的形状还不知道，无法读取。
Sequential: 依次运行的块。
HybridSequential: 依次运行的块，可以变成计算图。
Dense: 全连接层：输入乘以权重，加上偏差。
Conv1D: 一维卷积层。
Conv2D: 二维卷积层，用于图像。
Conv3D: 三维卷积层。
Conv1DTranspose: 一维转置卷积层。
Conv2DTranspose: 二维转置卷积层，把图像变大。
Conv3DTranspose: 三维转置卷积层。
MaxPool1D MaxPool2D MaxPool3D: 最大池化：取窗口里的最大值。
AvgPool1D AvgPool2D AvgPool3D: 平均池化：取窗口里的平均值。
GlobalMaxPool1D GlobalMaxPool2D GlobalMaxPool3D: 全局最大池化：每个通道取最大值。
GlobalAvgPool1D GlobalAvgPool2D GlobalAvgPool3D: 全局平均池化：每个通道取平均值。
BatchNorm BatchNorm_v1: 批量归一化：每个通道在一批数据上归一化。
BatchNormReLU _contrib_BatchNormWithReLU: 批量归一化后接 ReLU。
_contrib_SyncBatchNorm: 多设备同步的批量归一化。
LayerNorm: 层归一化：沿一个轴归一化。
GroupNorm: 组归一化：通道分组归一化。
InstanceNorm: 实例归一化：每个样本的每个通道归一化。
Dropout: 丢弃法：训练时随机把一部分值置零。
Embedding: 嵌入层：把编号变成向量。
_contrib_SparseEmbedding: 梯度为稀疏行的嵌入。
Flatten: 展平：保留第一个轴，其余合成一个轴。
Lambda HybridLambda: 把函数包装成块。
Activation: 激活函数。
LeakyReLU: 带泄漏的 ReLU。
PReLU: 负半轴斜率可学习的 ReLU。
ELU: 指数线性单元。
SELU: 自归一化的指数线性单元。
GELU: 高斯误差线性单元。
Swish: x 乘以 sigmoid(x)。
ReflectionPad2D: 用反射填充图像边缘。
RNN: 普通循环层。
LSTM: 长短期记忆循环层。
GRU: 门控循环单元层。
RNNCell: 普通循环单元，算一步。
LSTMCell: LSTM 单元，算一步。
GRUCell: GRU 单元，算一步。
RecurrentCell HybridRecurrentCell: 循环单元的基类。
SequentialRNNCell HybridSequentialRNNCell: 叠起来的循环单元。
BidirectionalCell: 双向循环单元。
DropoutCell: 对输入做丢弃的单元。
ResidualCell: 输出加上输入的单元。
ZoneoutCell: 随机保留上一步状态的单元。
ModifierCell: 改变其他单元的单元的基类。
Loss: 损失的基类。
L1Loss: 绝对误差损失。
L2Loss: 平方误差的一半。
SoftmaxCrossEntropyLoss SoftmaxCELoss: softmax 与交叉熵合在一起的分类损失。
SigmoidBinaryCrossEntropyLoss SigmoidBCELoss: sigmoid 与二元交叉熵合在一起的损失。
KLDivLoss: KL 散度损失。
CTCLoss: 连接时序分类损失，用于没有对齐的序列。
HuberLoss: 小误差平方、大误差线性的损失。
HingeLoss: 合页损失。
SquaredHingeLoss: 平方合页损失。
LogisticLoss: 逻辑斯谛损失。
TripletLoss: 三元组损失。
CosineEmbeddingLoss: 余弦嵌入损失。
PoissonNLLLoss: 泊松分布的负对数似然损失。
SDMLLoss: 平滑深度度量学习损失。
EvalMetric: 评价指标的基类。
Accuracy: 分类精度。
TopKAccuracy: 正确类别在前 k 名中的比例。
F1: F1 分数。
MCC: 马修斯相关系数。
PCC: 多类的相关系数。
Perplexity: 困惑度。
MAE: 平均绝对误差。
MSE: 均方误差。
RMSE: 均方根误差。
CrossEntropy: 交叉熵。
NegativeLogLikelihood: 负对数似然。
PearsonCorrelation: 皮尔逊相关系数。
CompositeEvalMetric: 几个指标合在一起。
CustomMetric: 由函数定义的指标。
Optimizer: 优化器的基类。
SGD: 随机梯度下降，可带动量。
NAG: Nesterov 加速梯度。
Adam: Adam 优化器。
AdamW: 权重衰减与梯度分开的 Adam。
Adamax: 使用无穷范数的 Adam。
Nadam: 带 Nesterov 动量的 Adam。
AdaGrad: 按累积梯度缩放的优化器。
AdaDelta: 不需要学习率的自适应优化器。
RMSProp: 按梯度均方根缩放的优化器。
Ftrl: FTRL 优化器，使权重稀疏。
FTML: FTML 优化器。
LAMB: 用于大批量的逐层自适应优化器。
LARS: 用于大批量的逐层学习率 SGD。
LBSGD: 大批量 SGD。
DCASGD: 补偿延迟的异步 SGD。
SGLD: 随机梯度朗之万动力学。
Signum: 只用梯度符号的 SGD。
Updater: 保存优化器状态、更新权重的对象。
Initializer: 初始化方法的基类。
Uniform: 均匀分布初始化。
Normal: 正态分布初始化。
Xavier: 按输入输出个数缩放的初始化。
MSRAPrelu: 适合 ReLU 的 Xavier 变体。
Orthogonal: 正交矩阵初始化。
Zero: 全零初始化。
One: 全一初始化。
Bilinear: 双线性插值初始化，用于上采样。
LSTMBias: LSTM 偏差的初始化。
Mixed: 按名字选择初始化方法。
Load: 从文件取值的初始化。
LRScheduler: 学习率计划的基类。
FactorScheduler: 每隔若干步乘以系数。
MultiFactorScheduler: 在指定的步数乘以系数。
PolyScheduler: 按多项式下降。
CosineScheduler: 按余弦下降。
OneCycleScheduler: 先升后降的一个周期。
Dataset: 数据集的基类。
ArrayDataset: 由数组构成的数据集。
SimpleDataset: 由列表构成的数据集。
RecordFileDataset: 由记录文件构成的数据集。
DataLoader: 从数据集取样本，组成批量。
Sampler: 采样器的基类。
SequentialSampler: 按顺序采样。
RandomSampler: 随机采样。
BatchSampler: 成批采样。
FilterSampler: 只取满足条件的样本。
MNIST: 手写数字数据集。
FashionMNIST: 服装图像数据集。
CIFAR10: 十类彩色图像数据集。
CIFAR100: 一百类彩色图像数据集。
ImageFolderDataset: 按文件夹分类的图像。
ImageRecordDataset: 记录文件里的图像。
ImageListDataset: 列表文件里的图像。
Compose HybridCompose: 依次做几个变换。
Cast: 转换 dtype。
ToTensor: 字节图像变成 0 到 1 的浮点数，通道在前。
Normalize: 减去均值，除以标准差。
Resize: 缩放图像。
CenterCrop: 中心裁剪。
CropResize: 裁剪后缩放。
RandomResizedCrop: 随机裁剪后缩放。
RandomFlipLeftRight: 随机左右翻转。
RandomFlipTopBottom: 随机上下翻转。
RandomBrightness: 随机改变亮度。
RandomContrast: 随机改变对比度。
RandomSaturation: 随机改变饱和度。
RandomHue: 随机改变色调。
RandomColorJitter: 随机改变颜色。
RandomLighting: 随机改变光照。
RandomRotation: 随机旋转。
Rotate: 旋转图像。
RandomApply: 以一定概率做变换。
DataIter: 数据迭代器的基类。
DataBatch: 一批数据。
DataDesc: 数据的名字、形状和类型。
NDArrayIter: 内存数组的迭代器。
CSVIter: CSV 文件的迭代器。
LibSVMIter: LibSVM 文件的迭代器。
MNISTIter: MNIST 文件的迭代器。
ImageRecordIter: 图像记录文件的迭代器，多线程解码和增广。
ImageDetRecordIter: 检测用记录文件的迭代器。
PrefetchingIter: 预先读取的迭代器。
ResizeIter: 改变每轮批数的迭代器。
Function: 自定义前向和反向的函数。
record: 记录里面的运算，以便求梯度。
pause: 里面的运算不记录。
train_mode: 切换到训练模式。
predict_mode: 切换到预测模式。
is_recording: 是否正在记录。
is_training: 是否是训练模式。
backward: 计算梯度并写到变量里。
grad: 计算并返回梯度。
mark_variables: 为数组分配梯度。
get_symbol: 把记录变成符号。
plot_network: 画出网络的计算图。
print_summary: 打印各层的表格。
show_images: 把数组显示成图像网格。
plot_curves: 一次画出训练曲线。
split_data: 沿批量轴拆分数据。
split_and_load: 拆分数据并放到各设备。
clip_global_norm: 按总范数裁剪梯度。
download: 下载文件并校验。
check_sha1: 检查文件的 SHA-1。
BaseModule: 模块的基类。
Module: 用一个符号训练和预测。
BucketingModule: 按长度分桶、共享权重的模块。
SequentialModule: 串起来的模块。
PythonModule: 用 Python 写的模块。
KVStore: 键值存储：推送、拉取、更新。
Speedometer: 记录训练速度的回调。
ProgressBar: 显示进度条的回调。
do_checkpoint: 每轮保存检查点的回调。
module_checkpoint: 保存模块的回调。
log_train_metric: 记录训练指标的回调。
MXRecordIO: 读写记录文件。
MXIndexedRecordIO: 可以按编号读取的记录文件。
IRHeader: 图像记录的头。
pack: 头和字节合成记录。
unpack: 把记录拆成头和字节。
pack_img: 头和图像合成记录。
unpack_img: 把记录拆成头和图像。
imread: 读取图像文件。
imdecode: 解码图像。
imresize: 缩放图像。
imrotate: 旋转图像。
resize_short: 按短边缩放。
fixed_crop: 固定位置裁剪。
center_crop: 中心裁剪。
random_crop: 随机裁剪。
random_size_crop: 随机大小裁剪。
color_normalize: 颜色归一化。
CreateAugmenter: 生成一组增广。
ImageIter: 图像迭代器。
ImageDetIter: 检测用图像迭代器。
Estimator: 现成的训练循环：`fit` 训练，`evaluate` 评价。
CheckpointHandler: 定期保存检查点。
EarlyStoppingHandler: 指标不再改善时停止。
LoggingHandler: 记录指标和时间。
ProgressBarHandler: 显示进度条。
HistoryHandler: 保存每轮的指标。
NotebookHandler: 在笔记本里显示进度条和曲线。
StoppingHandler: 到达轮数或批数时停止。
MetricHandler: 更新指标。
ValidationHandler: 定期评价。
GradientUpdateHandler: 更新参数，可累加和裁剪梯度。
EMAHandler: 权重的指数滑动平均。
ReduceLROnPlateauHandler: 指标停滞时降低学习率。
TopKCheckpointHandler: 保留最好的 k 个检查点。
find_learning_rate: 寻找合适的学习率。
Context: 设备。
cpu: CPU 设备。
gpu: GPU 设备。
cpu_pinned: 锁页内存。
num_gpus: GPU 的个数。
current_context: 当前的默认设备。
gpu_memory_info: GPU 的空闲和总内存。
seed: 设定随机数种子。
uniform: 均匀分布的随机数。
normal: 正态分布的随机数。
randn: 标准正态分布的随机数。
randint: 整数随机数。
poisson: 泊松分布的随机数。
exponential: 指数分布的随机数。
gamma: 伽马函数（`mx.random` 里是伽马分布的随机数）。
multinomial: 按概率抽取类别。
shuffle: 沿第一个轴打乱。
Predictor: 用导出的文件做预测。
Run: 可以随时中断、之后继续的训练。
NDArray: 多维数组，存放在设备上，可以求梯度。
Symbol: 计算图里的一个或几个值。
Convolution Convolution_v1: 卷积。
Deconvolution: 转置卷积。
Pooling Pooling_v1: 池化。
FullyConnected: 全连接：data 乘以权重的转置，加上偏差。
Concat: 沿一个轴拼接。
SliceChannel: 沿一个轴平均拆分。
stack: 沿新轴堆叠。
broadcast_to: 广播到给定形状。
broadcast_like: 广播到另一个数组的形状。
broadcast_axis: 沿给定轴广播。
Reshape: 改变形状；0 保留，-1 推算。
SwapAxis: 交换两个轴。
transpose: 转置，交换轴的顺序。
expand_dims: 增加长度为 1 的轴。
squeeze: 去掉长度为 1 的轴。
repeat: 重复元素。
tile: 平铺重复整个数组。
reverse: 沿轴反转。
Pad: 填充边缘。
diag: 取对角线或构成对角矩阵。
depth_to_space: 把通道移到空间。
space_to_depth: 把空间移到通道。
clip: 把值限制在范围内。
slice: 切片。
slice_axis: 沿一个轴切片。
slice_like: 切成另一个数组的形状。
take: 按下标取值。
batch_take: 每行按下标取一个值。
pick: 沿轴按下标取一个值。
one_hot: 编号变成独热向量。
gather_nd: 按多维下标取值。
scatter_nd: 按多维下标写值。
where: 按条件从两个数组取值。
sort: 排序。
argsort: 排序后的下标。
topk: 最大的 k 个。
add_n: 几个数组相加。
elemwise_add: 逐元素加，形状相同。
elemwise_sub: 逐元素减，形状相同。
elemwise_mul: 逐元素乘，形状相同。
elemwise_div: 逐元素除，形状相同。
broadcast_add: 加，带广播。
broadcast_sub: 减，带广播。
broadcast_mul: 乘，带广播。
broadcast_div: 除，带广播。
broadcast_mod: 取余，带广播。
broadcast_power: 乘方，带广播。
broadcast_maximum: 较大值，带广播。
broadcast_minimum: 较小值，带广播。
broadcast_hypot: 直角三角形的斜边，带广播。
broadcast_equal: 是否相等，带广播。
broadcast_not_equal: 是否不等，带广播。
broadcast_greater: 是否大于，带广播。
broadcast_greater_equal: 是否大于等于，带广播。
broadcast_lesser: 是否小于，带广播。
broadcast_lesser_equal: 是否小于等于，带广播。
broadcast_logical_and: 逻辑与，带广播。
broadcast_logical_or: 逻辑或，带广播。
broadcast_logical_xor: 逻辑异或，带广播。
abs: 绝对值。
arccos: 反余弦。
arcsin: 反正弦。
arctan: 反正切。
arccosh: 反双曲余弦。
arcsinh: 反双曲正弦。
arctanh: 反双曲正切。
cbrt: 立方根。
rcbrt: 立方根的倒数。
ceil: 向上取整。
floor: 向下取整。
trunc fix: 向零取整。
rint round: 四舍五入。
cos: 余弦。
sin: 正弦。
tan: 正切。
cosh: 双曲余弦。
sinh: 双曲正弦。
tanh: 双曲正切。
degrees: 弧度变成角度。
radians: 角度变成弧度。
erf: 误差函数。
erfinv: 误差函数的反函数。
exp: 指数。
expm1: 指数减一。
log: 自然对数。
log10: 以 10 为底的对数。
log1p: 一加 x 的对数。
log2: 以 2 为底的对数。
gammaln: 伽马函数的对数。
logical_not: 逻辑非。
negative: 相反数。
reciprocal: 倒数。
relu: ReLU：负数变成 0。
sigmoid: S 形函数 1 / (1 + exp(-x))。
hard_sigmoid: 分段线性的 sigmoid。
softsign: x / (1 + |x|)。
sign: 符号。
sqrt: 平方根。
rsqrt: 平方根的倒数。
square: 平方。
smooth_l1: 平滑的绝对值损失。
BlockGrad: 原样输出，梯度不通过。
make_loss MakeLoss: 把输出当作损失。
cast_storage: 转换存储方式。
ones_like: 同形状的全一数组。
zeros_like: 同形状的全零数组。
reshape_like: 变成另一个数组的形状。
shape_array: 形状，作为数组。
size_array: 元素个数，作为数组。
amp_cast: 混合精度的类型转换。
dot: 矩阵乘法。
batch_dot: 成批的矩阵乘法。
_linalg_det: 行列式。
_linalg_inverse: 逆矩阵。
_linalg_potrf: Cholesky 分解。
_linalg_potri: 由 Cholesky 因子求逆。
_linalg_gemm _linalg_gemm2: 矩阵乘法，可加另一个矩阵。
_linalg_syevd: 对称矩阵的特征分解。
_linalg_slogdet: 行列式的符号和对数。
_linalg_trmm: 三角矩阵的乘法。
_linalg_trsm: 解三角方程组。
softmax: softmax：指数除以总和。
log_softmax: softmax 的对数。
softmin: 对相反数做 softmax。
SoftmaxActivation: 旧的 softmax。
SoftmaxOutput: softmax 输出，梯度是交叉熵的梯度。
LinearRegressionOutput: 线性回归的输出，梯度是平方误差的梯度。
LogisticRegressionOutput: 逻辑回归的输出。
MAERegressionOutput: 绝对误差回归的输出。
SVMOutput: 支持向量机的输出。
softmax_cross_entropy: softmax 交叉熵之和。
L2Normalization: 按 2 范数归一化。
LRN: 局部响应归一化。
SequenceLast: 每条序列的最后一步。
SequenceMask: 把序列结尾之后的部分置为给定值。
SequenceReverse: 每条序列按自己的长度反转。
UpSampling: 上采样。
im2col: 把图像块排成列。
col2im: 把列还原成图像。
argmax: 最大值的下标。
argmin: 最小值的下标。
argmax_channel: 每行最大值的下标。
max: 最大值。
min: 最小值。
mean: 均值。
sum: 和。
prod: 积。
nansum: 和，忽略 NaN。
nanprod: 积，忽略 NaN。
norm: 范数。
moments: 均值和方差。
Custom: 用 Python 定义的算子。
Crop: 裁剪。
khatri_rao: Khatri–Rao 积。
ROIPooling: 区域池化。
_contrib_ROIAlign: 区域对齐。
Correlation: 两个特征图的相关。
BilinearSampler: 按网格双线性取样。
GridGenerator: 生成取样网格。
SpatialTransformer: 空间变换。
_contrib_box_iou: 框的交并比。
_contrib_box_nms: 框的非极大值抑制。
_contrib_box_encode: 把框编码成偏移。
_contrib_box_decode: 把偏移解码成框。
_contrib_bipartite_matching: 二分匹配。
_contrib_MultiBoxPrior: 生成锚框。
_contrib_MultiBoxTarget: 锚框的训练目标。
_contrib_MultiBoxDetection: 由锚框得到检测结果。
_contrib_AdaptiveAvgPooling2D: 自适应平均池化。
_contrib_BilinearResize2D: 双线性缩放。
_contrib_DeformableConvolution _contrib_ModulatedDeformableConvolution: 可变形卷积。
_contrib_interleaved_matmul_selfatt_qk: 自注意力的分数，交错内存。
_contrib_interleaved_matmul_selfatt_valatt: 自注意力的加权和，交错内存。
_contrib_interleaved_matmul_encdec_qk: 编码器与解码器注意力的分数。
_contrib_interleaved_matmul_encdec_valatt: 编码器与解码器注意力的加权和。
_contrib_boolean_mask: 按布尔值取行。
_contrib_quantize _contrib_quantize_v2: 浮点数变成 8 位整数。
_contrib_dequantize: 8 位整数变成浮点数。
_contrib_requantize: 32 位整数变成 8 位整数。
_contrib_quantized_conv: 8 位卷积。
_contrib_quantized_fully_connected: 8 位全连接。
sgd_update: SGD 的更新。
sgd_mom_update: 带动量的 SGD 的更新。
adam_update: Adam 的更新。
rmsprop_update: RMSProp 的更新。
ftrl_update: FTRL 的更新。
nag_mom_update: Nesterov 动量的更新。
signsgd_update: 符号 SGD 的更新。
create: 按名字创建。
register: 登记一个类，以便按名字创建。
"""
SUMMARIES = {}
for _line in _TABLE.strip().split("\n"):
    _names, _, _text = _line.partition(": ")
    SUMMARIES |= dict.fromkeys(_names.split(), _text)
