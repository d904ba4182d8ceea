"""What `operators.py` measures of recurrent layers, transposed convolutions, orders of axes, ties and sparse arrays."""

from vision_cases import drawn

ARRAYS = """
box uniform 64 96 128
sentence uniform 35 16 100
tanh_parameters uniform 29440
gru_parameters uniform 88320
deep_gru_parameters uniform 473088
lstm_parameters uniform 117760
start uniform 1 16 128
starts uniform 4 16 128
pixels uniform 8 28 28 64
doubling uniform 32 32 2 2
sound uniform 8 32 128
filters uniform 64 32 5
hundred integers 100 512 512
table uniform 5000 32
"""
LEAVES = (
    "box sentence tanh_parameters gru_parameters deep_gru_parameters lstm_parameters pixels doubling filters".split()
)

CASES = """
RNN tanh = nd.RNN(sentence, tanh_parameters, start, mode="rnn_tanh", state_size=128, num_layers=1)
RNN gru = nd.RNN(sentence, gru_parameters, start, mode="gru", state_size=128, num_layers=1)
RNN gru both ways = nd.RNN(sentence, deep_gru_parameters, starts, bidirectional=True, mode="gru", **two_layers)
RNN lstm = nd.RNN(sentence, lstm_parameters, start, start, mode="lstm", state_size=128, num_layers=1)
Deconvolution side by side = nd.Deconvolution(image, doubling, kernel=(2, 2), stride=(2, 2), num_filter=32)
Convolution of one axis = nd.Convolution(sound, filters, kernel=(5,), pad=(2,), num_filter=64, no_bias=True)
Pooling of all, max = nd.Pooling(image, global_pool=True, pool_type="max")
Pooling lp = nd.Pooling(image, kernel=(2, 2), stride=(2, 2), pool_type="lp", p_value=2)
swapaxes of the last = nd.swapaxes(box, 1, 2)
transpose reversed = nd.transpose(box, (2, 1, 0))
transpose to the front = nd.transpose(box, (2, 0, 1))
transpose to channels first = nd.transpose(pixels, (0, 3, 1, 2))
BilinearResize2D to less = nd.contrib.BilinearResize2D(image, height=28, width=28)
- argmax of the middle = nd.argmax(box, axis=1)
- topk of equal ones = nd.topk(hundreds, k=5, axis=1)
- topk of all = nd.topk(box, k=100, axis=None)
- topk of the first axis = nd.topk(box, k=5, axis=0)
- dot of few csr = nd.sparse.dot(sparse_rows, table)
- csr times csr = nd.sparse.elemwise_mul(sparse_rows, sparse_rows)
- norm of csr = nd.sparse.norm(sparse_rows)
- seed and uniform = (mx.random.seed(3), nd.random.uniform(shape=(100, 100)))[1]
- seed and much uniform = (mx.random.seed(3), nd.random.uniform(shape=(1000, 100)))[1]
- few gamma numbers = nd.random.gamma(2, 1, shape=(20, 20))
- some normal numbers = nd.random.normal(shape=(64, 100))
- random_hue = nd.image.random_hue(picture, 0.5, 1.5)
- random_color_jitter = nd.image.random_color_jitter(picture, 0.4, 0.4, 0.4, 0.1)
- random_lighting = nd.image.random_lighting(picture, 0.1)
"""


def arrays(nd, np):
    """What the cases call by name."""
    random = np.random.RandomState(2)
    made = {name: nd.array(values) for name, values in (drawn(line, random) for line in ARRAYS.strip().splitlines())}
    for name in LEAVES:
        if name.endswith("parameters"):
            made[name] = made[name] * 0.1
    few = random.rand(256, 5000) * (random.rand(256, 5000) < 0.01)
    return made | {
        "hundreds": made["hundred"].astype("int32"),
        "sparse_rows": nd.array(few).tostype("csr"),
        "picture": nd.array(random.randint(0, 256, (224, 224, 3))),
        "two_layers": {"state_size": 128, "num_layers": 2},
    }
