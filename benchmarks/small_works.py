"""Small calls, written for MXNet's API and for torch: what an eager call costs beside the work it does."""

CALLS = 200  # in one burst


def repeated(call, wait=None):
    """CALLS calls as one step; `wait` lets an asynchronous engine come to its end."""

    def step():
        for _ in range(CALLS):
            call()
        if wait is not None:
            wait()

    step.calls = CALLS
    return step


def mx_calls():
    """name -> the call, on MXNet or ReMX."""
    from mxnet import nd

    a, c = nd.array([[1, 2, 3], [4, 5, 6]]), nd.array([[1, 2], [3, 4], [5, 6]])
    b, zero, filled, one = a + 1, a * 0, a.copy(), nd.array([3])
    index = nd.array([0, 1], dtype="int32")
    nd.waitall()
    return {
        "a + b": lambda: a + b,
        "a * 2.5": lambda: a * 2.5,
        "nd.exp(a)": lambda: nd.exp(a),
        "a[1]": lambda: a[1],
        "a[0:1]": lambda: a[0:1],
        "a.sum()": lambda: a.sum(),
        "a.sum(axis=1)": lambda: a.sum(axis=1),
        "nd.dot(a, c)": lambda: nd.dot(a, c),
        "a > b": lambda: a > b,
        "a.asnumpy()": lambda: a.asnumpy(),
        "a - 1": lambda: a - 1,
        "1 - a": lambda: 1 - a,
        "a += b": lambda: a.__iadd__(zero),
        "a[:] = 0": lambda: filled.__setitem__(slice(None), 0),
        "a[0, 1]": lambda: a[0, 1],
        "a[:, 1]": lambda: a[:, 1],
        "a[index]": lambda: a[index],
        "a.reshape((3, 2))": lambda: a.reshape((3, 2)),
        "a.T": lambda: a.T,
        "a.mean()": lambda: a.mean(),
        "a.argmax(axis=1)": lambda: a.argmax(axis=1),
        "a.copy()": lambda: a.copy(),
        "a.astype('int32')": lambda: a.astype("int32"),
        "x.asscalar()": lambda: one.asscalar(),
        "nd.softmax(a)": lambda: nd.softmax(a),
        "nd.concat(a, b)": lambda: nd.concat(a, b, dim=0),
        "nd.array(list)": lambda: nd.array([[1, 2, 3], [4, 5, 6]]),
        "nd.zeros((2, 3))": lambda: nd.zeros((2, 3)),
    }


def torch_calls():
    """The same calls in torch."""
    import torch

    a, c = torch.tensor([[1.0, 2, 3], [4, 5, 6]]), torch.tensor([[1.0, 2], [3, 4], [5, 6]])
    b, zero, filled, one = a + 1, a * 0, a.clone(), torch.tensor([3.0])
    index = torch.tensor([0, 1], dtype=torch.int32)
    return {
        "a + b": lambda: a + b,
        "a * 2.5": lambda: a * 2.5,
        "nd.exp(a)": lambda: torch.exp(a),
        "a[1]": lambda: a[1],
        "a[0:1]": lambda: a[0:1],
        "a.sum()": lambda: a.sum(),
        "a.sum(axis=1)": lambda: a.sum(1),
        "nd.dot(a, c)": lambda: torch.mm(a, c),
        "a > b": lambda: (a > b).float(),  # numbers, as in MXNet; so are the places of maxima
        "a.asnumpy()": lambda: a.numpy().copy(),
        "a - 1": lambda: a - 1,
        "1 - a": lambda: 1 - a,
        "a += b": lambda: a.__iadd__(zero),
        "a[:] = 0": lambda: filled.__setitem__(slice(None), 0),
        "a[0, 1]": lambda: a[0, 1],
        "a[:, 1]": lambda: a[:, 1].clone(),  # a copy, as in MXNet; so are the transpose and other views
        "a[index]": lambda: a[index],
        "a.reshape((3, 2))": lambda: a.reshape((3, 2)),
        "a.T": lambda: a.T.contiguous(),
        "a.mean()": lambda: a.mean(),
        "a.argmax(axis=1)": lambda: a.argmax(1).float(),
        "a.copy()": lambda: a.clone(),
        "a.astype('int32')": lambda: a.to(torch.int32),
        "x.asscalar()": lambda: one.item(),
        "nd.softmax(a)": lambda: torch.softmax(a, -1),
        "nd.concat(a, b)": lambda: torch.cat((a, b), 0),
        "nd.array(list)": lambda: torch.tensor([[1.0, 2, 3], [4, 5, 6]]),
        "nd.zeros((2, 3))": lambda: torch.zeros((2, 3)),
    }


NAMES = """a + b|a * 2.5|nd.exp(a)|a[1]|a[0:1]|a.sum()|a.sum(axis=1)|nd.dot(a, c)|a > b|a.asnumpy()|a - 1|1 - a|a += b
a[:] = 0|a[0, 1]|a[:, 1]|a[index]|a.reshape((3, 2))|a.T|a.mean()|a.argmax(axis=1)|a.copy()|a.astype('int32')
x.asscalar()|nd.softmax(a)|nd.concat(a, b)|nd.array(list)|nd.zeros((2, 3))""".replace("\n", "|").split("|")


def mx_works():
    from mxnet import nd

    return {"small call: " + n: lambda n=n: repeated(mx_calls()[n], nd.waitall) for n in NAMES}


def torch_works():
    return {"small call: " + n: lambda n=n: repeated(torch_calls()[n]) for n in NAMES}
