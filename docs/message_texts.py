"""Texts of docs/messages.md in English and Chinese: the titles, and the Chinese explanations of causes and remedies."""
# ruff: noqa: E501 - Chinese characters count double

# mistake -> (English title, Chinese title, why and what to do in Chinese)
TITLES = {
    "layer_argument_misspelt": (
        "The argument of a layer is misspelt",
        "层的参数名写错了",
        "提示会给出最相近的参数名。",
    ),
    "layer_argument_of_the_operator": (
        "A layer is called with an argument name of the operator",
        "给层写了算子的参数名",
        "Gluon 的层和算子的参数名不同：`kernel_size`、`strides`、`padding`，而不是 `kernel`、`stride`、`pad`。",
    ),
    "optimizer_argument_for_the_trainer": (
        "An optimizer argument is passed to the Trainer directly",
        "把优化器的参数直接给了 Trainer",
        "优化器的参数放在一个字典里，作为第三个参数。",
    ),
    "metric_argument_of_another_library": (
        "A metric's argument has another name in MXNet",
        "评价指标的参数名不同",
        "MXNet 中这个参数叫 `top_k`。",
    ),
    "initializer_argument_misspelt": (
        "The argument of an initializer is misspelt",
        "初始化器的参数名写错了",
        "提示会给出最相近的参数名。",
    ),
    "initializer_misspelt": (
        "The name of an initializer is misspelt",
        "初始化器的名字写错了",
        "提示会给出最相近的名字。",
    ),
    "kvstore_misspelt": (
        "The name of a key-value store is misspelt",
        "键值存储的名字写错了",
        "MXNet 接受任何名字，当作 `local`；ReMX 也接受，但会给出警告。",
    ),
    "layers_for_the_constructor": (
        "Layers are passed to the constructor of Sequential",
        "把层传给了 Sequential 的构造函数",
        "构造函数的第一个参数是前缀；用 `net.add(...)` 加入层。",
    ),
    "activation_misspelt": (
        "The name of an activation is misspelt",
        "激活函数的名字写错了",
        "提示会列出所有可用的值，并给出最相近的一个。",
    ),
    "data_type_misspelt": (
        "The name of a data type is misspelt",
        "数据类型的名字写错了",
        "提示会给出最相近的类型。",
    ),
    "sample_that_cannot_be_read": (
        "A sample of a data set cannot be read",
        "数据集里有一个样本读不出来",
        "数据集抛出的异常原样传出，并注明样本的下标；多进程和多线程时也一样。`on_error=\"skip\"` 会跳过它。",
    ),
    "loader_without_a_batch_size": (
        "A DataLoader is created without a batch size",
        "DataLoader 没有给出批量大小",
        "写明 `batch_size`，或者给出 `batch_sampler`。",
    ),
    "label_with_another_name": (
        "The label of a Module has a different name",
        "Module 的标签名不同",
        "标签的名字是输出层的名字加上 `_label`。把输出层命名为 `softmax`，或写 `label_names=['out_label']`。",
    ),
    "fit_without_labels": (
        "`fit` is called with an iterator without labels",
        "给 `fit` 的迭代器没有标签",
        "训练需要标签：给 `NDArrayIter` 传入标签，并让两边的名字一致。",
    ),
    "fit_without_epochs": (
        "`fit` is called without the number of epochs",
        "`fit` 没有给出训练轮数",
        "写明 `num_epoch`。",
    ),
    "rows_of_different_lengths": (
        "An array is created from rows of different lengths",
        "各行长度不同，不能组成数组",
        "先把各行补到同样的长度。",
    ),
    "numpy_beside_an_array": (
        "An operation mixes an NDArray and a NumPy array",
        "NDArray 和 NumPy 数组一起运算",
        "先用 `mx.nd.array` 转换。",
    ),
    "shapes_that_do_not_broadcast": (
        "Shapes cannot be broadcast",
        "形状不能广播",
        "从最后一个轴往前看，两个长度必须相等，或者其中一个是 1。",
    ),
    "shapes_that_cannot_be_joined": (
        "Arrays cannot be concatenated",
        "数组不能拼接",
        "除了拼接的轴以外，其余各轴的长度必须相同。",
    ),
    "another_number_of_elements": (
        "A new shape has more elements than the array",
        "新形状的元素个数不对",
        "改变形状不会改变元素的个数；可以用 -1 让一个长度自动算出。",
    ),
    "index_out_of_range": (
        "An index is out of range",
        "下标越界",
        "长度为 2 的轴只有下标 0 和 1（或 -1 和 -2）。",
    ),
    "picture_smaller_than_the_kernel": (
        "An image is smaller than the kernel",
        "图片比卷积核还小",
        "加上填充（padding），或者在这一层之前少做一些池化。",
    ),
    "exported_before_the_first_batch": (
        "A network is exported before its first batch",
        "第一个小批量之前就导出网络",
        "先 `hybridize()`，再运行一次前向计算，然后 `export`。",
    ),
    "gradient_of_a_frozen_parameter": (
        "The gradient of a frozen parameter is read",
        "读取被冻结参数的梯度",
        "`grad_req=\"null\"` 的参数没有梯度；要梯度就设为 `write` 或 `add`。",
    ),
    "batch_that_cannot_be_divided": (
        "A batch cannot be divided among the devices",
        "一个批量不能平均分给各个设备",
        "换一个批量大小，或写 `even_split=False`。",
    ),
    "bound_without_shapes": (
        "`simple_bind` is called without the shapes of the inputs",
        "`simple_bind` 没有给出输入的形状",
        "给出推断不出来的形状，例如 `simple_bind(mx.cpu(), data=(2, 3))`。",
    ),
    "argument_of_another_library": (
        "An argument has another name in MXNet",
        "参数名来自别的库",
        "MXNet 的优化器把学习率叫作 `learning_rate`，把权重衰减叫作 `wd`。",
    ),
    "misspelt_optimizer": (
        "The name of an optimizer is misspelt",
        "优化器的名字写错了",
        "提示会给出最相近的名字。",
    ),
    "misspelt_operator_argument": (
        "The name of an operator's argument is misspelt",
        "算子的参数名写错了",
        "提示会列出所有参数及其含义，最后给出最相近的名字。",
    ),
    "one_hot_labels": (
        "One-hot labels are passed to a loss that expects class indices",
        "损失函数要类别编号，给的却是 one-hot 标签",
        "`SoftmaxCrossEntropyLoss` 默认要类别编号；one-hot 标签要用 `sparse_label=False`。",
    ),
    "data_elsewhere": (
        "The data and the network are on different devices",
        "数据和网络不在同一个设备上",
        "网络的参数只在 `cpu(0)` 上，数据却在 `cpu(1)` 上。用 `x.as_in_context(...)` 把数据复制过去，或用 `net.initialize(ctx=[...])` 在每个设备上都初始化。",
    ),
    "not_initialized": (
        "`initialize` was forgotten",
        "忘记了 `initialize`",
        "参数还没有值。第一次使用网络之前调用 `net.initialize()`。",
    ),
    "touched_early": (
        "A parameter is read before the first batch",
        "第一个小批量之前就读取参数",
        "延后初始化的参数要等第一次前向计算时才知道形状。先让一个小批量通过网络，或者在建层时写明 `in_units` 等。",
    ),
    "other_input_size": (
        "The input size differs from the size that the layer was created for",
        "输入的大小与层不符",
        "层的大小在第一个小批量时就已确定。请给它同样大小的数据，或者重新建层。",
    ),
    "pictures_with_channels_last": (
        "Images have their channels last",
        "图像的通道放在了最后",
        "卷积层要求 (批量, 通道, 高, 宽)。请转置 (高, 宽, 通道) 的图像，例如用 `transforms.ToTensor()`。",
    ),
    "mixed_dtypes": (
        "An operation mixes two dtypes",
        "一次运算里有两种数据类型",
        "数据类型不会自动提升。用 `astype` 转换其中一个，NumPy 数组常常是 `float64`。",
    ),
    "numpy_into_a_network": (
        "A NumPy array is passed to a network",
        "把 NumPy 数组直接送进网络",
        "先用 `mx.nd.array` 把它变成 NDArray。",
    ),
    "written_while_recording": (
        "An array is modified in place while recording",
        "记录时原地写入数组",
        "数组已经在计算图里，改写它会使梯度出错。请改成生成新数组，或者移到 `record` 之外。",
    ),
    "nothing_recorded": (
        "`record` was forgotten",
        "忘记了 `record`",
        "没有任何计算被记录。把前向计算和损失写进 `with autograd.record():`。",
    ),
    "backward_twice": (
        "`backward` is called twice on the same graph",
        "对同一个计算图两次 `backward`",
        "第一次 `backward` 之后计算图已被释放。需要两次时，第一次写 `backward(retain_graph=True)`。",
    ),
    "step_without_backward": (
        "`step` is called without a new gradient",
        "没有新的梯度就 `step`",
        "上次 `step` 以来没有调用过 `backward`，或者前向计算不在 `record` 里。",
    ),
    "parameter_missing_in_file": (
        "A parameter is missing from a file",
        "文件里缺少某个参数",
        "文件与网络的结构不同。允许缺少时写 `load_parameters(..., allow_missing=True)`。",
    ),
    "parameter_of_another_shape": (
        "A parameter in a file has a different shape",
        "文件里的参数形状不同",
        "保存文件的网络各层大小不同。按同样的大小建网络，或者不读入这一层、重新训练它。",
    ),
    "another_prefix": (
        "The file was saved by a network with a different prefix",
        "文件由另一个前缀的网络保存",
        "`collect_params().save` 按带前缀的全名保存。改用 `net.save_parameters` 和 `net.load_parameters`，或者给网络同样的 `prefix`。",
    ),
    "no_such_file": (
        "The file does not exist",
        "没有这个文件",
        "提示里列出了那个文件夹里同类的文件。检查路径和当前目录。",
    ),
    "label_of_another_length": (
        "The numbers of labels and predictions differ",
        "标签和预测的个数不同",
        "小批量里每个样本要有一个标签。",
    ),
    "label_of_another_shape": (
        "The shapes of labels and predictions differ",
        "标签和预测的形状不同",
        "`L2Loss` 一类的损失要求两者元素个数相同。",
    ),
    "gpu_that_is_not_there": (
        "A GPU is requested on a machine without one",
        "没有 GPU 却要用 GPU",
        "用 `mx.cpu()`；只想在 CPU 上试运行 GPU 代码时，设 `MXNET_VIRTUAL_GPUS=2`。",
    ),
    "branch_on_a_symbol": (
        "`hybrid_forward` uses `if` on a value",
        "在 `hybrid_forward` 里对数值用 `if`",
        "混合式编程时符号还没有数值，Python 无法据此分支。用 `F.where` 或 `F.contrib.cond`，或者不对这个块调用 `hybridize`。",
    ),
    "shape_of_a_symbol": (
        "`hybrid_forward` uses `x.shape`",
        "在 `hybrid_forward` 里用 `x.shape`",
        "符号没有形状。`F.reshape` 里用 0 保持某一维，用 -1 让它自动推断。",
    ),
    "samples_of_different_shapes": (
        "Samples of one batch have different shapes",
        "一个小批量里的样本形状不同",
        "在变换里缩放到同样大小，或者用 `batchify.Pad()` 填充。",
    ),
    "argument_misspelt": (
        "An argument is misspelt",
        "参数名拼写错误",
        "提示里列出了这个算子的全部参数。",
    ),
    "products_that_do_not_fit": (
        "The sizes of two matrices do not match",
        "矩阵的大小不相配",
        "第一个的最后一维要与第二个的第一维相等；`transpose_a` 和 `transpose_b` 可以转置。",
    ),
    "scalar_of_many": (
        "`asscalar` is called on an array with several elements",
        "对多个元素用 `asscalar`",
        "先求和或求平均，或者用 `asnumpy()`。",
    ),
    "module_not_bound": (
        "A Module is used before `bind`",
        "Module 还没有 `bind` 就使用",
        "依次调用 `bind`、`init_params`、`init_optimizer`；`fit` 会自动完成这些步骤。",
    ),
    "mixed_dtypes_in_a_graph": (
        "A hybridized network mixes two dtypes",
        "两种数据类型（hybridize 之后）",
        "与命令式时相同；提示里多了出错的层的名字。",
    ),
    "other_input_size_in_a_graph": (
        "A hybridized network gets another input size",
        "输入大小不符（hybridize 之后）",
        "与命令式时相同；提示里多了出错的层的名字。",
    ),
    "module_of_other_sizes": (
        "A Module gets parameters of other sizes",
        "给 Module 的参数大小不同",
        "`bind` 时的数据形状与参数不符，或者参数属于另一个网络。",
    ),
    "module_lacks_a_parameter": (
        "A Module does not get all parameters",
        "给 Module 的参数不全",
        "缺少的参数可以用 `allow_missing=True` 另行初始化（微调时常用）。",
    ),
    "module_with_another_name": (
        "The input of a Module has a different name",
        "Module 的输入另有名字",
        "用 `data_names` 和 `label_names` 说明符号里输入变量的名字。",
    ),
    "device_as_a_word": (
        "A device is given as a string",
        "用字符串表示设备",
        '设备写成 `mx.cpu()`、`mx.gpu(0)`，不要写 `"gpu"`。',
    ),
    "super_forgotten": (
        "A block class does not call `super().__init__()`",
        "自定义的块忘记了 `super().__init__()`",
        "先调用 `super().__init__()`，才能登记子块和参数。",
    ),
    "constant_in_a_hybrid_block": (
        "`hybrid_forward` uses an array",
        "在 `hybrid_forward` 里用了数组",
        "混合式的块被追踪时，`F` 是 `mx.sym`，数组不能与符号相加。常数写成参数：在 `__init__` 里 `self.params.get_constant(名字, 值)`。",
    ),
    "sequence_without_a_batch": (
        "A recurrent layer gets data without a batch axis",
        "循环层的输入没有批量轴",
        "循环层要求 (时间步, 批量, 输入大小) 三个轴；一个样本也要有批量轴，可用 `expand_dims`。",
    ),
    "metric_misspelt": (
        "The name of a metric is misspelt",
        "评价指标的名字写错了",
        "提示会给出相近的名字；自定义的指标要先用 `mx.metric.register` 登记。",
    ),
    "pictures_of_other_channels": (
        "Batch norm gets another number of channels",
        "批量归一化层遇到了不同的通道数",
        "层记住了建立时的通道数。检查数据的轴的顺序，或者重新建层。",
    ),
    "one_state_for_an_lstm": (
        "An LSTM is given one state",
        "只给了 LSTM 一个状态",
        "LSTM 有隐藏状态和记忆两个状态；`begin_state(batch_size)` 会生成它们。GRU 和 RNN 只有一个。",
    ),
    "arrays_without_a_tuple": (
        "The arrays to concatenate are not in a tuple",
        "要拼接的数组没有放进元组",
        "`mx.np.concatenate` 的第一个参数是所有的数组，第二个是轴；`nd.concat(a, b, dim=0)` 则逐个接收数组。",
    ),
    "written_into_a_symbol": (
        "A hybridized block writes into its input",
        "混合式的块写入了它的输入",
        "混合化之后输入是符号，没有可以写的值。用 `F.where`、`F.concat`、`F.stack` 算出新的结果，或者不要混合化这个块。",
    ),
    "array_beside_a_symbol": (
        "An array is added to a symbol",
        "符号与数组相加",
        "符号是还没有值的计算图。把数组作为输入（`mx.sym.Variable`）传进去；在块里可以用 `self.params.get_constant`。",
    ),
    "bound_with_a_misspelt_name": (
        "A shape is given for a name that the symbol lacks",
        "给出形状的名字不在计算图里",
        "`simple_bind` 需要输入的形状，名字必须与 `list_arguments()` 一致。提示会给出最相近的名字。",
    ),
    "file_of_another_network": (
        "Parameters were saved by a network of another structure",
        "参数文件来自结构不同的网络",
        "用同样的结构重新建立网络，或者把文件读进网络里与它对应的那一部分。",
    ),
    "weights_initializer_for_a_bias": (
        "A bias is initialized by Xavier",
        "用 Xavier 初始化偏置",
        "Xavier 按输入和输出的个数决定范围，只适用于二维以上的权重。偏置通常从零开始，这也是默认值。",
    ),
}  # fmt: skip
_CODE = """```python
import mxnet as mx
from mxnet import nd
from mxnet.gluon import nn

net = nn.HybridSequential()
net.add(nn.Dense(4), nn.HybridLambda("log"), nn.Dense(2))
net.initialize(mx.init.Normal(1))
x = nd.ones((2, 3))
for layer in net:
    x = layer(x)
    if not nd.contrib.isfinite(x).min().asscalar():
        print(f"the output of {layer.name} is not finite")
        break
```
"""
HEAD = """# Mistakes and their messages

This page lists the most common mistakes of MXNet users, with code that causes each mistake and the message of ReMX. The class and the
text of every error are MXNet's; advice is added at the end or on the following lines. `docs/make_messages.py` generates this page, and
`tests/test_messages.py` checks it.

```text
def dense(**names):                       # used below
    net = nn.Dense(3, in_units=4, **names)
    net.initialize()
    return net
```
"""
HEAD_ZH = """# 常见错误与提示

这里列出 MXNet 用户最常犯的错误、引发错误的代码，以及 ReMX 的提示。错误的类型和文字都沿用 MXNet，末尾或下面几行补上该怎么做。提示由 `docs/make_messages.py`
实际运行得到，`tests/test_messages.py` 保证这些文字不变。

```text
def dense(**names):                       # 下面要用到
    net = nn.Dense(3, in_units=4, **names)
    net.initialize()
    return net
```
"""
TAIL = """
## The loss becomes NaN
There is no message: like MXNet, ReMX continues to compute. `MXNET_CHECK_NAN=1 python train.py` raises an error at the first operator
that produces a NaN, with its name, the ranges of its inputs and the block. You can also check each layer yourself:

{code}
Usual causes: a learning rate that is too large, the logarithm of zero (add a small number first), or `float16` without
loss scaling.
""".replace("{code}", _CODE)
TAIL_ZH = """
## 损失变成 NaN
没有提示：与 MXNet 一样，ReMX 会继续算下去。`MXNET_CHECK_NAN=1 python train.py` 会在第一个产生 NaN 的算子处报错，给出它的名字、输入的范围
和所在的块。也可以自己逐层检查：

{code}
常见原因：学习率太大；对零取对数（先加上一个小的数）；`float16` 没有做损失缩放。
""".replace("{code}", _CODE)
